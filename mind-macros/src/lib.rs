//! The proc macros of the mind tensor language.
#![forbid(unsafe_code)]
