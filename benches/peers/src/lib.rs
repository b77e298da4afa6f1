//! The workloads by which the project is compared with what people would use instead, written as its users write them.
//!
//! A [`Case`] is a workload at a size with its inputs, a [`Program`] is a case made ready to be called. [`programs`] has the
//! project's own; other crates may implement the same cases by other means and time both alike. [`Limits`] are what the machine can
//! do, [`Cost`] what a case needs of it.
#![forbid(unsafe_code)]

pub mod case;
pub mod cost;
pub mod limits;
pub mod program;
pub mod programs;

pub use case::Case;
pub use cost::Cost;
pub use limits::Limits;
pub use program::{Outputs, Program, Timing};
