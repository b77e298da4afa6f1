//! The rules of `mind-shape` against the compiler's own, through programs: each expression is given to both, on every
//! shape of ranks 0 to 4 with extents 1 to 3, with attributes enumerated around what is valid. Both infer the same type, or
//! both refuse with the same code and the same sentence.

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
mod ordering;
mod products;
mod reductions;
mod support;
mod taking;
mod unknown;
