//! Bare expressions over Rust variables, `mind!(relu(x @ w + b))`.
//!
//! Rustc takes a minute for five of these modules, so they are compiled only if `MIND_TESTS` is `gate` or `all`.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(every_case),
    allow(
        clippy::all,
        clippy::undocumented_unsafe_blocks,
        clippy::unwrap_used,
        reason = "clippy takes a sixth of the time of rustc here, `macros::lints` denies more of emitted code"
    )
)]

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
