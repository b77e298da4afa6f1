//! The proc macros of the mind tensor language: the thin edge over `mind-core`, and the emitter.
#![forbid(unsafe_code)]

mod emit;
mod expand;
mod report;

use proc_macro::TokenStream;

/// Tensor programs, compiled while Rust compiles.
///
/// Takes either items, `fn f<N>(x: f32[N, 3]) -> f32[N] { … }` and `const H: dim = 64;`, or a closure,
/// `|x: f32[2, 3]| relu(x)`. The facade crate `mind` describes the language.
#[proc_macro]
pub fn mind(input: TokenStream) -> TokenStream {
    expand::expand(input.into()).into()
}
