//! Measures what one core of the machine can do: multiply-adds, and reading from each level of its caches.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use crate::cost::Cost;

/// Sizes in bytes of working sets that fit into the caches of a core, into a shared cache, and into memory.
const SETS: [usize; 4] = [24 << 10, 512 << 10, 16 << 20, 256 << 20];

/// The limits of one core: the best measured values, because a machine with other users has slow spells.
#[derive(Default)]
pub struct Limits {
    /// Operations per microsecond. A fused multiply-add counts as two.
    operations: f64,
    /// Bytes read per microsecond for each of [`SETS`].
    bytes: [f64; SETS.len()],
}

impl Limits {
    /// Measures, and keeps the values that are better than before.
    pub fn measure(&mut self) {
        self.operations = self.operations.max(multiply_adds());
        for (bytes, set) in self.bytes.iter_mut().zip(SETS) {
            *bytes = bytes.max(reading(set));
        }
    }

    /// The shortest time in microseconds in which one core can do work of this cost.
    pub fn time(&self, cost: &Cost) -> f64 {
        let level = SETS.iter().position(|&set| cost.bytes <= set as f64).unwrap_or(SETS.len() - 1);
        (cost.operations / self.operations).max(cost.bytes / self.bytes[level])
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one core: {:.0} GFLOP/s; reads", self.operations / 1e3)?;
        for (set, bytes) in SETS.iter().zip(self.bytes) {
            write!(f, " {:.0} GB/s of {} KiB,", bytes / 1e3, set >> 10)?;
        }
        write!(f, " over and over")
    }
}

/// Does `work`, of size `amount`, several times and returns the best rate: amount per microsecond.
fn rate(amount: f64, mut work: impl FnMut()) -> f64 {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    });
    amount / times.fold(f64::INFINITY, f64::min)
}

/// The number of `f32` lanes in the widest vector of the target, which `-C target-cpu=native` sets.
const LANES: usize = if cfg!(target_feature = "avx512f") {
    16
} else if cfg!(target_feature = "avx") {
    8
} else {
    4
};

/// The number of independent chains: enough to hide the latency of a multiply-add.
const CHAINS: usize = 12;

fn multiply_adds() -> f64 {
    const STEPS: usize = 1_000_000;
    let (factor, addend) = (black_box(0.999), black_box(0.001));
    rate((STEPS * CHAINS * LANES * 2) as f64, || {
        let mut chains = [[black_box(1.0_f32); LANES]; CHAINS];
        for _ in 0..STEPS {
            for lane in chains.as_flattened_mut() {
                *lane = lane.mul_add(factor, addend);
            }
        }
        black_box(chains);
    })
}

fn reading(bytes: usize) -> f64 {
    let data = vec![1.0_f32; bytes / 4];
    let times = ((1 << 27) / bytes).max(2);
    rate((times * bytes) as f64, || {
        for _ in 0..times {
            let mut sums = [0.0_f32; 8 * LANES];
            for chunk in black_box(&data).as_chunks::<{ 8 * LANES }>().0 {
                for (sum, element) in sums.iter_mut().zip(chunk) {
                    *sum += element;
                }
            }
            black_box(sums);
        }
    })
}
