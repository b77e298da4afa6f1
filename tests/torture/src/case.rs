//! What a case is, and how big.

use std::fmt::Debug;

use clap::ValueEnum;
use mind_core::testing::Random;

use crate::{convolution, emitted, movement, product, random_programs, sums};

/// Something to compute, and to judge.
pub trait Case: Debug + Send + Sync {
    /// Computes it; a digest of the results to the bit.
    ///
    /// # Errors
    /// What is wrong with a result.
    fn run(&self) -> Result<u64, String>;

    /// Smaller cases of its kind, those first that leave out most.
    fn smaller(&self) -> Vec<Box<dyn Case>>;
}

/// The kinds of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Products of matrices and vectors, of all layouts, in batches, stored or taken by an epilogue.
    Products,
    /// Convolutions and their derivatives.
    Convolutions,
    /// Sums, of rows too, and loops that are cut in parts.
    Sums,
    /// Copies between layouts, gathers, scatters, slices put back.
    Movements,
    /// Random programs, planned and run step by step, with updates in place, and their gradients.
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

    /// A kind by how often there is one: products have the most paths, and programs take the longest.
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

/// An extent that is a block or a threshold, or one less or more, or any: up to `most`.
pub fn extent(random: &mut Random, most: usize) -> usize {
    /// Rows of tiles, lanes and panels; and what the real blocks are.
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

/// Values to try instead of an extent: `least` first.
pub fn smaller_extents(extent: usize, least: usize) -> Vec<usize> {
    let mut values = vec![least, extent / 2, extent.saturating_sub(8), extent.saturating_sub(1)];
    values.retain(|value| (least..extent).contains(value));
    values.dedup();
    values
}
