//! Runs of programs that were started, and their ends.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::abi::{self, FunctionIndex, Opaque};
use super::table::{Table, start};
use crate::error::Failure;

/// A run of a program that was started.
pub struct Step {
    table: Arc<Table>,
    /// The executable that runs.
    executable: Opaque,
    /// The events of the devices. Empty once the run has ended.
    events: RefCell<Vec<Opaque>>,
    signal: Arc<Signal>,
    /// The runs whose results this one takes, if their end is not known.
    earlier: RefCell<Vec<Rc<Self>>>,
    /// Whether the run is known to have failed, or to fail because an earlier one has.
    has_failed: Cell<bool>,
    /// Set once the run has ended and its events are destroyed.
    outcome: OnceCell<Option<StepFailure>>,
}

/// The failure of a run.
#[derive(Clone, Debug)]
pub struct StepFailure {
    pub doing: &'static str,
    pub failure: Failure,
}

/// The number of devices that have not ended, and the first failure of a device.
struct Signal {
    state: Mutex<(usize, Option<Failure>)>,
    changed: Condvar,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, (usize, Option<Failure>)> {
        // The state is valid after every statement that changes it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the end of a device.
    fn end(&self, failure: Option<Failure>) {
        let (pending, first) = &mut *self.lock();
        *pending = pending.saturating_sub(1);
        if first.is_none() {
            *first = failure;
        }
        self.changed.notify_all();
    }

    fn is_done(&self) -> bool {
        self.lock().0 == 0
    }

    /// Blocks until all devices have ended, and returns the first failure.
    fn wait(&self) -> Option<Failure> {
        let state = self.changed.wait_while(self.lock(), |(pending, _)| *pending > 0);
        state.unwrap_or_else(PoisonError::into_inner).1.take()
    }
}

/// The argument of the callback for an event.
struct Listener {
    table: Arc<Table>,
    signal: Arc<Signal>,
}

/// The callback for an event. The plugin may call it on any thread.
///
/// # Safety
/// `listener` must be a box of a [`Listener`] that nothing else owns, and `error` an error that nothing else owns, or
/// null.
unsafe extern "C" fn end(error: Opaque, listener: Opaque) {
    // SAFETY: the caller promises it.
    let listener = unsafe { Box::from_raw(listener.cast::<Listener>()) };
    let failure = (!error.is_null()).then(|| listener.table.failure(error));
    listener.signal.end(failure);
}

impl Step {
    /// A run that ends with these events, and takes the results of earlier runs.
    ///
    /// # Safety
    /// Each event must be an event of the plugin that nothing else owns, or null.
    pub(super) unsafe fn new(
        table: &Arc<Table>,
        executable: Opaque,
        mut events: Vec<Opaque>,
        earlier: Vec<Rc<Self>>,
    ) -> Self {
        events.retain(|event| !event.is_null());
        let signal = Arc::new(Signal { state: Mutex::new((events.len(), None)), changed: Condvar::new() });
        for event in events.iter().copied() {
            let listener = Box::into_raw(Box::new(Listener { table: table.clone(), signal: signal.clone() }));
            let arguments = abi::OnReady {
                start: start::<abi::OnReady>(),
                event,
                callback: end,
                argument: listener.cast(),
            };
            // SAFETY: the function takes these arguments. The plugin calls `end` at most once with the listener, which
            // nothing else owns then. The waiting function takes an event.
            unsafe {
                if table.call(FunctionIndex::EventOnReady, arguments).is_err() {
                    // The listener stays allocated, since the plugin may have stored it in spite of the error.
                    signal.end(table.tell(FunctionIndex::EventAwait, event).err());
                }
            }
        }
        let (events, earlier) = (RefCell::new(events), RefCell::new(earlier));
        let (has_failed, outcome) = (Cell::new(false), OnceCell::new());
        Self { table: table.clone(), executable, events, signal, earlier, has_failed, outcome }
    }

    /// The failure of the run, if its end is known.
    pub fn failure(&self) -> Option<&StepFailure> {
        self.outcome.get()?.as_ref()
    }

    /// Whether the run is known to have failed, or to fail because an earlier one has.
    pub fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Whether the end of the run is known.
    pub fn has_ended(&self) -> bool {
        self.outcome.get().is_some()
    }

    /// Blocks until the run has ended, and destroys its events. The ends of earlier runs must be known.
    fn resolve(&self) {
        let own = self.signal.wait();
        let own = own.map(|failure| StepFailure { doing: "run the program", failure });
        // A plugin need not tell that an argument is the result of a failed run.
        let earlier = mem::take(&mut *self.earlier.borrow_mut());
        let earlier = earlier.iter().find_map(|step| step.failure().cloned());
        let earlier = earlier.map(|failed| StepFailure { doing: "run an earlier step", ..failed });
        self.destroy_events();
        let outcome = self.outcome.get_or_init(|| earlier.or(own));
        self.has_failed.set(outcome.is_some());
    }

    fn destroy_events(&self) {
        for event in mem::take(&mut *self.events.borrow_mut()) {
            // SAFETY: nothing else owns the event, and its callback was called. There is nothing to do about an error.
            let _ = unsafe { self.table.tell(FunctionIndex::EventDestroy, event) };
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.signal.wait();
            self.destroy_events();
        }
    }
}

/// The runs of a client that were started and whose ends are not known, in order.
pub struct Queue {
    limit: usize,
    steps: VecDeque<Rc<Step>>,
}

impl Queue {
    pub const fn new(limit: usize) -> Self {
        Self { limit, steps: VecDeque::new() }
    }

    /// Sets the number of runs in flight, at least 1.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
    }

    pub fn push(&mut self, step: Rc<Step>) {
        self.steps.push_back(step);
    }

    /// Waits until another run may start.
    pub fn make_room(&mut self) {
        while self.steps.len() >= self.limit {
            self.resolve_first();
        }
    }

    /// Takes note of the runs that have ended, without waiting.
    pub fn collect(&mut self) {
        while self.steps.front().is_some_and(|step| step.signal.is_done()) {
            self.resolve_first();
        }
    }

    /// Waits for the end of a run. Its arguments come from earlier runs, so these end first.
    pub fn wait_for(&mut self, step: &Step) {
        while !step.has_ended() && self.resolve_first() {}
    }

    /// Waits for all runs of an executable.
    pub fn wait_for_all_of(&mut self, executable: Opaque) {
        while self.steps.iter().any(|step| step.executable == executable) {
            self.resolve_first();
        }
    }

    /// Waits for all runs.
    pub fn wait_for_all(&mut self) {
        while self.resolve_first() {}
    }

    /// Marks the runs that take results of failed ones.
    fn mark_failures(&self) {
        for step in &self.steps {
            if step.earlier.borrow().iter().any(|earlier| earlier.has_failed()) {
                step.has_failed.set(true);
            }
        }
    }

    /// Waits for the oldest run. Returns `false` if there is none.
    fn resolve_first(&mut self) -> bool {
        let first = self.steps.pop_front();
        if let Some(step) = &first {
            step.resolve();
            if step.has_failed() {
                self.mark_failures();
            }
        }
        first.is_some()
    }
}
