//! Open programs against Core IR: with types for their leaves they mean what functions mean.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

mod forms;
mod gradients;
mod random;
mod soup;
mod support;
