//! A tensor language inside Rust.
#![forbid(unsafe_code)]
