//! The measurements of `mind bench`: the limits of the machine, and programs.

pub mod limits;
pub mod machine;
pub mod programs;
pub mod table;
