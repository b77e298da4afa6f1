//! The standard library of the language: composites as text in the language itself, inlined where they are called.

/// The files, each under the name that its functions are called by.
pub const FILES: [(&str, &str); 1] = [("nn", include_str!("nn.mind"))];
