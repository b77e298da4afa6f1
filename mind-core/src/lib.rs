//! The compiler behind `mind!` as a library.
#![forbid(unsafe_code)]

pub mod data;
pub mod diag;
pub mod dim;
pub mod ty;
