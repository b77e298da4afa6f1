//! Runs work on many cases on all threads of the machine.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The results of `work` for all cases, in no particular order.
pub fn on_all_threads<T: Sync, R: Send>(cases: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(cases.len())));
    let work_through = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let answer = work(case);
            answers.lock().expect("no thread holds it as it panics").push(answer);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work_through)));
    answers.into_inner().expect("no thread holds it as it panics")
}
