//! The kinds of cases and their sizes.

use std::fmt::Debug;

use clap::ValueEnum;
use mind_core::testing::Random;

use crate::{convolution, emitted, movement, product, random_programs, sums};

/// A computation whose results can be checked.
pub trait Case: Debug + Send + Sync {
    /// Computes the results, checks them, and returns a digest of their bits.
    ///
    /// # Errors
    /// A message about the first wrong result.
    fn run(&self) -> Result<u64, String>;

    /// Smaller cases of the same kind, largest reductions first.
    fn smaller(&self) -> Vec<Box<dyn Case>>;
}

/// The kinds of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Products of matrices and vectors, of all layouts, in batches, stored or passed to an epilogue.
    Products,
    /// Convolutions and their derivatives.
    Convolutions,
    /// Sums of all elements and of rows, and loops that are split for threads.
    Sums,
    /// Copies between layouts, gathers, scatters and gradients of slices.
    Movements,
    /// Random programs, with updates in place, and their gradients: plans compared with the interpreter.
    Programs,
    /// Programs that `mind!` compiled.
    Emitted,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Products, Self::Convolutions, Self::Sums, Self::Movements, Self::Programs, Self::Emitted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Convolutions => "convolutions",
            Self::Sums => "sums",
            Self::Movements => "movements",
            Self::Programs => "programs",
            Self::Emitted => "emitted",
        }
    }

    /// A random kind. Products are the most frequent because they have the most code paths. Programs are rare because
    /// they take the longest.
    pub fn random(random: &mut Random) -> Self {
        match random.below(100) {
            0..52 => Self::Products,
            52..74 => Self::Convolutions,
            74..86 => Self::Sums,
            86..98 => Self::Movements,
            98 => Self::Programs,
            _ => Self::Emitted,
        }
    }

    pub fn case(self, random: &mut Random) -> Box<dyn Case> {
        match self {
            Self::Products => Box::new(product::Product::random(random)),
            Self::Convolutions => Box::new(convolution::Convolution::random(random)),
            Self::Sums => Box::new(sums::Sum::random(random)),
            Self::Movements => Box::new(movement::Movement::random(random)),
            Self::Programs => Box::new(random_programs::Program::random(random)),
            Self::Emitted => Box::new(emitted::Call::random(random)),
        }
    }
}

/// Whether blocks and thresholds are so small that sizes below 64 cross them.
pub const SMALL: bool = cfg!(feature = "small-blocks");

/// A random extent of at most `most`: a small one, a block size or threshold, one less or one more than those, or any.
pub fn extent(random: &mut Random, most: usize) -> usize {
    /// Sizes of tiles, lanes and panels in builds with small blocks. `STEPS` are those of ordinary builds.
    const SMALL_STEPS: [usize; 12] = [2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 60, 63];
    const STEPS: [usize; 20] =
        [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 240, 256, 264, 480, 512, 1024, 2048, 4096, 8192, 16384];
    let steps: &[usize] = if SMALL { &SMALL_STEPS } else { &STEPS };
    let fitting = steps.partition_point(|step| *step <= most).max(1);
    let any = if SMALL { 63 } else { 700 };
    let extent = match random.below(10) {
        0..3 => 1 + random.below(12),
        3..8 => steps[random.below(fitting)] + random.below(3) - 1,
        _ => 1 + random.below(any),
    };
    extent.clamp(1, most.max(1))
}

/// Smaller values to try instead of `extent`, `least` first.
pub fn smaller_extents(extent: usize, least: usize) -> Vec<usize> {
    let mut values = vec![least, extent / 2, extent.saturating_sub(8), extent.saturating_sub(1)];
    values.retain(|value| (least..extent).contains(value));
    values.dedup();
    values
}
