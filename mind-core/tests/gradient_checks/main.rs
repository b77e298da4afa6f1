//! Gradients against central differences and against what the documentation says of them.

mod determinism;
mod errors;
mod forms;
mod lowering;
mod scale;
mod second_order;
mod special;
mod support;
mod table;
