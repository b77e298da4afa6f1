//! Compares open programs with Core IR: for given types of their leaves, they mean the same as functions.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

mod forms;
mod gradients;
mod random;
mod soup;
mod support;
