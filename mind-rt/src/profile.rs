//! Records how long the steps of generated functions take, for functions compiled with `MIND_PROFILE` set.
//!
//! Each thread keeps a separate record of the functions that it called.

use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    static RECORDS: RefCell<Vec<Record>> = const { RefCell::new(Vec::new()) };
}

/// A step of a function, and the least work that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the function.
    pub function: &'static str,
    /// The position of the step among the function's steps.
    pub position: usize,
    /// The title of the step in the listing of the function's plan.
    pub title: &'static str,
    /// The number of additions, multiplications and similar operations.
    pub flops: usize,
    /// The number of exponentials and logarithms.
    pub functions: usize,
    /// The number of bytes read and written, counting each element once.
    pub bytes: usize,
}

/// The times of a step.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The step.
    pub step: Step,
    /// The number of runs.
    pub runs: u64,
    /// The shortest time of a run, including the time to read the clock.
    pub least: Duration,
    /// The time of all runs together.
    pub total: Duration,
}

/// Reads the clock.
#[inline(always)]
pub fn start() -> Instant {
    Instant::now()
}

/// Records that a step began at `start` and ends now.
#[inline]
pub fn stop(start: Instant, step: Step) {
    let took = start.elapsed();
    // While a thread ends, steps are not recorded.
    let _ = RECORDS.try_with(|records| {
        let mut records = records.borrow_mut();
        let same = |record: &&mut Record| record.step.position == step.position && record.step == step;
        match records.iter_mut().find(same) {
            Some(record) => {
                record.runs += 1;
                record.least = record.least.min(took);
                record.total += took;
            }
            None => records.push(Record { step, runs: 1, least: took, total: took }),
        }
    });
}

/// Returns the records of this thread, in the order in which the steps first ran, and clears them.
#[must_use]
pub fn take() -> Vec<Record> {
    RECORDS.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_noted_once_and_its_runs_are_counted() {
        let step = Step { function: "f", position: 0, title: "a", flops: 1, functions: 0, bytes: 8 };
        let other = Step { bytes: 16, ..step };
        let later = Instant::now();
        for step in [step, other, step] {
            stop(later, step);
        }
        let records = take();
        let runs: Vec<_> = records.iter().map(|record| (record.step, record.runs)).collect();
        assert_eq!(runs, [(step, 2), (other, 1)]);
        assert!(records[0].least <= records[0].total - records[0].least);
        assert!(take().is_empty());
    }

    #[test]
    fn steps_that_run_while_a_thread_ends_are_not_noted() {
        struct Last;

        const STEP: Step = Step { function: "f", position: 0, title: "a", flops: 1, functions: 0, bytes: 8 };

        impl Drop for Last {
            fn drop(&mut self) {
                stop(start(), STEP);
            }
        }

        thread_local! {
            static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
        }

        // Thread-local values may be dropped in either order of their first use, so both orders are tested.
        for notes_first in [true, false] {
            let notes = move || {
                if notes_first {
                    stop(start(), STEP);
                }
                LAST.set(Some(Last));
                stop(start(), STEP);
                take().len()
            };
            assert_eq!(std::thread::spawn(notes).join().expect("no panic"), 1);
        }
    }
}
