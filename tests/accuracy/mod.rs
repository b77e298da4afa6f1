//! The accuracy of results. A sum over any axes may be off by `4 ε log2(n)` times the sum of magnitudes, where `n` is
//! the number of elements and `ε` is the distance from 1 to the next number. The elements of products may be off by
//! `γ(k)`, see `products`.
//!
//! The exact sums are pairs of `f64`, which hold twice the digits.
#![forbid(unsafe_code)]

mod exact;
mod functions;
mod products;
mod sums;
