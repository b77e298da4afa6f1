//! The proc macros of the mind tensor language: the thin edge over `mind-core`, and the emitter.
#![forbid(unsafe_code)]

mod emit;
mod expand;
mod report;

use std::time::Instant;

use proc_macro::TokenStream;

/// Tensor programs, compiled while Rust compiles.
///
/// Takes either items, `fn f<N>(x: f32[N, 3]) -> f32[N] { … }` and `const H: dim = 64;`, or a closure,
/// `|x: f32[2, 3]| relu(x)`. The facade crate `mind` describes the language.
///
/// With `MIND_TIMINGS` set in the environment of the build, each expansion says on standard error how long it took.
#[proc_macro]
pub fn mind(input: TokenStream) -> TokenStream {
    let start = Instant::now();
    let expansion = expand::expand(input.into()).into();
    if std::env::var_os("MIND_TIMINGS").is_some() {
        let site = proc_macro::Span::call_site();
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        eprintln!("mind!: {}:{}: expanded in {milliseconds:.1} ms", site.file(), site.line());
    }
    expansion
}
