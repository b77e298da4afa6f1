//! Gradients against central differences and against what the documentation says of them.

mod determinism;
mod errors;
mod exact;
#[path = "../../../tests/support/extents.rs"]
mod extents;
mod forms;
mod golden;
mod loops;
mod lowering;
mod masks;
mod nested;
mod programs;
mod recorded;
mod scale;
mod second_order;
mod special;
mod support;
mod table;
