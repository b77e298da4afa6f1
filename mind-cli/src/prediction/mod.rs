//! Predicts the time of a program from measured limits of a machine.
//!
//! - [`machine`]: the measured limits, and their text file.
//! - [`work`]: the work of the steps of a plan, as numbers.
//! - [`time`]: the time of this work on a number of threads, and its limit.
//! - [`table`]: the times as text.

pub mod machine;
pub mod table;
pub mod time;
pub mod work;
