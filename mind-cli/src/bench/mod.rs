//! The measurements of `mind bench`: the limits of the machine, and programs.

pub mod calibration;
pub mod check;
pub mod limits;
pub mod machine;
pub mod programs;
pub mod table;
