//! The schedule of the fake plugin: when its operations end, and how.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What happens to an execution or a copy.
pub enum Entry {
    /// It finds no memory.
    Full,
    /// It ends after the wait, and fails then or not.
    Ends { after: Wait, fails: bool },
}

/// The condition on which an operation ends.
#[derive(Clone)]
pub enum Wait {
    For(Duration),
    /// The line that [`Log`] writes when another operation starts or ends.
    Until(String),
}

/// The entries of operations, in order.
pub fn entries(text: &str) -> VecDeque<Entry> {
    let entries = text.split(',').filter(|entry| !entry.is_empty()).map(|entry| {
        let (kind, rest) = entry.split_once(' ').unwrap_or((entry, "0"));
        let after = match kind {
            "until" => Wait::Until(rest.to_owned()),
            _ => Wait::For(Duration::from_millis(rest.parse().expect("a schedule has milliseconds"))),
        };
        if kind == "full" { Entry::Full } else { Entry::Ends { after, fails: kind == "fail" } }
    });
    entries.collect()
}

/// The starts and ends of executions and copies, in order, as in `copy 1 starts`.
pub struct Log {
    lines: Mutex<Vec<String>>,
    changed: Condvar,
}

impl Log {
    pub const fn new() -> Self {
        Self { lines: Mutex::new(Vec::new()), changed: Condvar::new() }
    }

    pub fn write(&self, line: String) {
        self.lines.lock().expect("no thread panics").push(line);
        self.changed.notify_all();
    }

    pub fn text(&self) -> String {
        self.lines.lock().expect("no thread panics").join(", ")
    }

    /// Waits, and returns a failure if there is nothing to wait for.
    fn wait(&self, wait: &Wait) -> Option<&'static str> {
        match wait {
            Wait::For(delay) => {
                thread::sleep(*delay);
                None
            }
            Wait::Until(line) => {
                let lines = self.lines.lock().expect("no thread panics");
                let limit = Duration::from_secs(20);
                let missing = |lines: &mut Vec<String>| !lines.contains(line);
                let (lines, waited) =
                    self.changed.wait_timeout_while(lines, limit, missing).expect("no thread panics");
                drop(lines);
                waited.timed_out().then_some("the device waited in vain")
            }
        }
    }
}

/// A copy to a device.
pub struct Copy {
    pub name: String,
    pub log: &'static Log,
    pub after: Wait,
    /// The address and the number of the bytes in host memory.
    pub from: (usize, usize),
    /// The bytes at the start of the copy. They must not change before its end.
    pub first: Vec<u8>,
    pub to: Arc<Data>,
    /// The end of reading.
    pub done: Arc<Completion>,
    pub failure: Option<&'static str>,
    /// Counts bytes that changed too early.
    pub misused_if: fn(bool),
}

impl Copy {
    /// # Safety
    /// The bytes must be readable until the end of reading.
    pub unsafe fn run(self) {
        let failure = self.log.wait(&self.after).or(self.failure);
        let from = std::ptr::with_exposed_provenance::<u8>(self.from.0);
        let bytes = unsafe { std::slice::from_raw_parts(from, self.from.1) }.to_vec();
        (self.misused_if)(bytes != self.first);
        *self.to.bytes.lock().expect("no thread panics") = bytes;
        self.log.write(format!("{} ends", self.name));
        self.done.end(None);
        self.to.ready.end(failure);
    }
}

pub type Meet = Box<dyn FnOnce() -> Option<&'static str> + Send>;

/// Ends executions after their arguments and the executions before are there.
pub struct Work {
    pub name: String,
    pub log: &'static Log,
    pub before: Arc<Completion>,
    pub after: Wait,
    pub arguments: Vec<Arc<Data>>,
    /// The results: the data from which each is computed, and whether 1 is added.
    pub results: Vec<(Arc<Data>, Arc<Data>, bool)>,
    /// Meets the executions of other processes, and returns a failure if they are absent.
    pub meet: Option<Meet>,
    /// The ends of the devices with their failures, and the end of all.
    pub ends: Vec<(Arc<Completion>, Option<&'static str>)>,
    pub end: Arc<Completion>,
    /// Counts the execution as ended.
    pub uncount: Box<dyn FnOnce() + Send>,
}

impl Work {
    pub fn run(self) {
        self.before.wait();
        for argument in &self.arguments {
            argument.ready.wait();
        }
        self.log.write(format!("{} starts", self.name));
        let failure = self.log.wait(&self.after).or_else(|| self.meet.and_then(|meet| meet()));
        for (from, to, updates) in &self.results {
            let mut bytes = from.bytes.lock().expect("no thread panics").clone();
            if *updates {
                for number in bytes.chunks_exact_mut(4) {
                    let value = f32::from_ne_bytes([number[0], number[1], number[2], number[3]]) + 1.0;
                    number.copy_from_slice(&value.to_ne_bytes());
                }
            }
            *to.bytes.lock().expect("no thread panics") = bytes;
        }
        self.log.write(format!("{} ends", self.name));
        (self.uncount)();
        self.end.end(None);
        for (end, device_failure) in &self.ends {
            end.end(failure.or(*device_failure));
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
