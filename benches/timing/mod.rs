//! How long a measurement takes, for benches that measure all rows in turn.

use std::time::{Duration, Instant};

/// So many calls take this long at least, after one that is not measured.
pub fn calls_in(sample: Duration, call: &mut dyn FnMut()) -> u32 {
    call();
    let start = Instant::now();
    call();
    (sample.as_nanos() / start.elapsed().as_nanos().max(1)) as u32 + 1
}
