//! The compiler behind `mind!` as a library.
#![forbid(unsafe_code)]

pub mod diag;
