//! The shape rules of the mind tensor language as `const fn`.
#![no_std]
#![forbid(unsafe_code)]
