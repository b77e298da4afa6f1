//! What several of the tests need.

mod programs;
mod project;
mod sample;

pub use programs::programs;
pub use project::{Project, folder_of_crates};
pub use sample::{few, sample};
