//! What several of the tests need.

mod programs;
mod sample;

pub use programs::programs;
pub use sample::sample;
