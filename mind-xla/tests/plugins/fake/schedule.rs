//! The schedule of the fake plugin: when its operations end, and how.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What happens to an execution.
pub enum Entry {
    /// It finds no memory.
    Full,
    /// It ends after the delay, and fails then or not.
    Ends { delay: Duration, fails: bool },
}

/// The entries of executions, in order.
pub fn entries(text: &str) -> VecDeque<Entry> {
    let entries = text.split(',').filter(|entry| !entry.is_empty()).map(|entry| {
        let (kind, delay) = entry.split_once(' ').unwrap_or((entry, "0"));
        let delay = Duration::from_millis(delay.parse().expect("a schedule has numbers of milliseconds"));
        if kind == "full" { Entry::Full } else { Entry::Ends { delay, fails: kind == "fail" } }
    });
    entries.collect()
}

/// Ends executions after their arguments and the executions before are there.
pub struct Work {
    pub before: Arc<Completion>,
    pub delay: Duration,
    /// The results: the data from which each is computed, and whether 1 is added.
    pub results: Vec<(Arc<Data>, Arc<Data>, bool)>,
    /// The ends of the devices with their failures, and the end of all.
    pub ends: Vec<(Arc<Completion>, Option<&'static str>)>,
    pub end: Arc<Completion>,
    /// Counts the execution as ended.
    pub uncount: Box<dyn FnOnce() + Send>,
}

impl Work {
    pub fn run(self) {
        self.before.wait();
        thread::sleep(self.delay);
        for (from, to, updates) in &self.results {
            from.ready.wait();
            let mut bytes = from.bytes.lock().expect("no thread panics").clone();
            if *updates {
                for number in bytes.chunks_exact_mut(4) {
                    let value = f32::from_ne_bytes([number[0], number[1], number[2], number[3]]) + 1.0;
                    number.copy_from_slice(&value.to_ne_bytes());
                }
            }
            *to.bytes.lock().expect("no thread panics") = bytes;
        }
        (self.uncount)();
        self.end.end(None);
        for (end, failure) in &self.ends {
            end.end(*failure);
        }
    }
}

/// Elements, which are there once an execution has ended.
pub struct Data {
    pub bytes: Mutex<Vec<u8>>,
    pub ready: Arc<Completion>,
}

impl Data {
    pub fn new(bytes: Vec<u8>, ready: Arc<Completion>) -> Arc<Self> {
        Arc::new(Self { bytes: Mutex::new(bytes), ready })
    }
}

pub type Callback = Box<dyn FnOnce(Option<&'static str>) + Send>;

/// The end of an operation, with its failure.
#[derive(Default)]
pub struct Completion {
    ended: Mutex<Option<Option<&'static str>>>,
    signal: Condvar,
    callbacks: Mutex<Vec<Callback>>,
}

impl Completion {
    pub fn done(failure: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self { ended: Mutex::new(Some(failure)), ..Self::default() })
    }

    pub fn is_done(&self) -> bool {
        self.ended.lock().expect("no thread panics").is_some()
    }

    pub fn wait(&self) -> Option<&'static str> {
        let mut ended = self.ended.lock().expect("no thread panics");
        loop {
            match *ended {
                Some(failure) => return failure,
                None => ended = self.signal.wait(ended).expect("no thread panics"),
            }
        }
    }

    pub fn end(&self, failure: Option<&'static str>) {
        *self.ended.lock().expect("no thread panics") = Some(failure);
        self.signal.notify_all();
        let callbacks = std::mem::take(&mut *self.callbacks.lock().expect("no thread panics"));
        callbacks.into_iter().for_each(|callback| callback(failure));
    }

    pub fn then(&self, callback: Callback) {
        let mut callbacks = self.callbacks.lock().expect("no thread panics");
        let ended = *self.ended.lock().expect("no thread panics");
        match ended {
            Some(failure) => {
                drop(callbacks);
                callback(failure);
            }
            None => callbacks.push(callback),
        }
    }
}
