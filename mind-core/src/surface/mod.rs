//! The surface language: from tokens to a syntax tree.
//!
//! [`parse`] reads what stands in `mind!`, collecting every independent mistake: an error costs the statement it is
//! in, seldom the function, never the others.

pub mod ast;
#[cfg(test)]
mod golden;
pub mod lower;
pub mod nesting;
pub mod parse;
pub mod print;

pub use lower::lower;
pub use parse::{parse, parse_block, parse_closure};
