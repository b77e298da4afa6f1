//! Rows of a table that are measured in turn, many times, so that they are comparable. The shortest time of each is
//! kept.

use std::time::{Duration, Instant};

use super::timing::calls_in;

/// A row, with the call to measure.
pub struct Row<'a> {
    pub name: String,
    call: Box<dyn FnMut() + 'a>,
    /// The shortest time of a call.
    pub best: Duration,
}

impl<'a> Row<'a> {
    pub fn new(name: impl Into<String>, call: impl FnMut() + 'a) -> Self {
        Self { name: name.into(), call: Box::new(call), best: Duration::MAX }
    }
}

/// Measures all rows in each round. A measurement of a row repeats its call until `sample` has passed.
pub fn measure(rows: &mut [Row<'_>], rounds: u32, sample: Duration) {
    let calls: Vec<u32> = rows.iter_mut().map(|row| calls_in(sample, &mut *row.call)).collect();
    for _ in 0..rounds {
        for (row, calls) in rows.iter_mut().zip(&calls) {
            // This call refills the caches, which the other rows have used.
            (row.call)();
            let start = Instant::now();
            for _ in 0..*calls {
                (row.call)();
            }
            row.best = row.best.min(start.elapsed() / *calls);
        }
    }
}
