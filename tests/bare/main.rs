//! Bare expressions, `mind!(relu(x @ w + b))`, among Rust variables.
//!
//! Rustc takes a minute for five of these modules, so they are compiled only where `MIND_TESTS` is `gate` or `all`.
#![forbid(unsafe_code)]

#[cfg(gate)]
mod gradients;
mod hygiene;
mod leaves;
#[cfg(gate)]
mod operations;
mod results;
mod rows;
#[cfg(gate)]
mod states;
#[cfg(gate)]
mod structs;
#[cfg_attr(not(gate), allow(dead_code, reason = "modules of the gate call it"))]
mod support;
#[cfg(gate)]
mod templates;
mod truths;
