//! Compares the rules of `mind-shape` with the compiler's rules through programs. Each expression is checked by both,
//! on every shape of ranks 0 to 4 with extents 1 to 3, with attributes around the valid range. Both must infer the same
//! type, or report the same code and message.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

mod arrangement;
mod convolution;
mod cumulative;
mod elementwise;
mod gradients;
mod indexing;
mod joining;
mod limits;
mod making;
mod matrices;
mod ordering;
mod products;
mod reductions;
mod support;
mod taking;
mod unknown;
