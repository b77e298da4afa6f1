//! Bare expressions, `mind!(relu(x @ w + b))`, among Rust variables.
#![forbid(unsafe_code)]

mod hygiene;
mod leaves;
mod operations;
mod support;
