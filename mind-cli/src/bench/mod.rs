//! What `mind bench` measures: the machine's limits, and programs beside them.

pub mod limits;
pub mod machine;
pub mod programs;
pub mod table;
