//! The length of a measurement, for benches that measure all rows in turn.

use std::time::{Duration, Instant};

/// The number of calls that take at least `sample`, estimated from one call after a warm-up call.
pub fn calls_in(sample: Duration, call: &mut dyn FnMut()) -> u32 {
    call();
    let start = Instant::now();
    call();
    (sample.as_nanos() / start.elapsed().as_nanos().max(1)) as u32 + 1
}
