//! Tests gradients against central differences and against the documentation.

mod determinism;
mod errors;
mod exact;
#[path = "../../../tests/support/extents.rs"]
mod extents;
mod forms;
mod forward;
mod golden;
pub mod loops;
mod lowering;
mod masks;
mod nested;
mod programs;
mod recorded;
mod scale;
mod second_order;
mod special;
pub mod support;
mod table;
