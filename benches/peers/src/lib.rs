//! The workloads that compare the project with its alternatives, written as users write them.
//!
//! A [`Case`] is a workload at a size with its inputs. A [`Program`] is a case that is ready to be called. [`programs`]
//! has the project's own programs; other crates can implement the same cases by other means and time both alike.
//! [`Limits`] are what the machine can do, [`Cost`] is what a case needs.
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
