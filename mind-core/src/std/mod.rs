//! The standard library of the language: composites as text in the language itself, inlined where they are called.

/// The files, each under the name that its functions are called by.
pub const FILES: [(&str, &str); 4] = [
    ("nn", include_str!("nn.mind")),
    ("num", include_str!("num.mind")),
    ("stats", include_str!("stats.mind")),
    ("optim", include_str!("optim.mind")),
];
