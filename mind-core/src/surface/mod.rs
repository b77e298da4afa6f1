//! The surface language: from tokens to an AST, and from the AST to Core IR.
//!
//! [`parse()`] reads the contents of `mind!`, and [`lower()`] resolves names, types and calls. Both collect every
//! independent error: an error invalidates its statement, seldom its function, and never another function. Neither
//! recurses into constructs that a program can nest or chain without limit, so no input overflows the stack of the
//! compiler that runs them.

pub mod ast;
mod format;
#[cfg(test)]
pub(crate) mod golden;
pub(crate) mod habits;
pub mod lex;
pub mod lower;
pub mod nesting;
pub mod parse;
pub mod print;
pub mod reused_keys;
pub mod unused;

#[cfg(feature = "testing")]
pub(crate) use format::essence;
pub use format::{expression_in_file, format};
pub use lex::lex;
pub use lower::{function_names, lower, lower_with, lower_with_calls, parameter_names};
pub use parse::{parse, parse_block, parse_closure, parse_expression, parse_function, resolve_library_calls};
