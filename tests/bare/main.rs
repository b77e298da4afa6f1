//! Bare expressions, `mind!(relu(x @ w + b))`, among Rust variables.
#![forbid(unsafe_code)]

mod gradients;
mod hygiene;
mod leaves;
mod operations;
mod results;
mod rows;
mod states;
mod structs;
mod support;
mod templates;
mod truths;
