//! How far results may be off: sums over whatever axes by `4 ε log2(n)` times the sum of magnitudes, where `n` elements are
//! added up and `ε` is the distance of 1 to the next number; elements of products by `γ(k)`, see `products`.
//!
//! Exact sums are those of pairs of `f64`, which hold twice the digits.
#![forbid(unsafe_code)]

mod exact;
mod functions;
mod products;
mod sums;
