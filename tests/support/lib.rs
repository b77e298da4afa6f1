//! Helpers for several of the tests.

mod child;
mod exact;
mod programs;
mod project;
mod sample;

pub use child::child;
pub use exact::{Exact, Line, Worst, bound, narrow_error, wide_error};
pub use programs::programs;
pub use project::{Project, folder_of_crates};
pub use sample::{chain, every_case, few, in_turn, is_in_gate, is_tried, sample, some};
