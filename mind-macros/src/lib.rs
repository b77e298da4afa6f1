//! The proc macros of [`mind-dsl`](https://docs.rs/mind-dsl), a tensor language inside Rust. Programs depend on
//! `mind-dsl` and use these macros through it.
//!
//! The crate is a thin layer over the compiler `mind-core`, and it contains the emitter, which writes Rust code from
//! plans. The macros of `mind-dsl`, the facade crate, call the macros here with `[$crate]` before the input, so that
//! generated code finds the facade.
#![forbid(unsafe_code)]

mod angle;
mod angle_include;
mod bare;
mod configured;
#[cfg(test)]
mod configured_tests;
mod editor;
mod editor_functions;
mod emit;
mod expand;
mod include;
mod include_mic;
#[cfg(feature = "knossos")]
mod knossos;
#[cfg(not(feature = "knossos"))]
#[path = "without_knossos.rs"]
mod knossos;
mod link;
mod positions;
mod report;
#[cfg(test)]
#[path = "../../tests/support/sample.rs"]
mod sample;
mod transforms;
#[cfg(test)]
mod unfinished;
mod warnings;
mod watch;
#[cfg(feature = "safetensors")]
mod weights;

use std::time::Instant;

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// Implements `mind::mind!`.
#[proc_macro]
pub fn mind(input: TokenStream) -> TokenStream {
    timed("mind!", input, |input| positions::in_rustc(|| expand::expand(angle::strip(input))))
}

/// Generates the functions of the language that rust-analyzer shows, in the facade.
#[doc(hidden)]
#[proc_macro]
pub fn __editor(_: TokenStream) -> TokenStream {
    let facade = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    editor_functions::items(facade.as_ref()).into()
}

/// Implements `mind::angle!`.
#[proc_macro]
pub fn angle(input: TokenStream) -> TokenStream {
    timed("angle!", input, |input| positions::in_rustc(|| angle::expand(input)))
}

/// Implements `mind::angle_include!`.
#[proc_macro]
pub fn angle_include(input: TokenStream) -> TokenStream {
    timed("angle_include!", input, angle_include::expand)
}

/// Implements `mind::include!`.
#[proc_macro]
pub fn include(input: TokenStream) -> TokenStream {
    timed("include!", input, include::expand)
}

/// Implements `mind::include_mic!`.
#[proc_macro]
pub fn include_mic(input: TokenStream) -> TokenStream {
    timed("include_mic!", input, |input| positions::in_rustc(|| include_mic::expand(input)))
}

/// Implements `mind::include_ks!`.
#[proc_macro]
pub fn include_ks(input: TokenStream) -> TokenStream {
    timed("include_ks!", input, |input| positions::in_rustc(|| knossos::expand_file(input)))
}

/// Implements `mind::ks!`.
#[proc_macro]
pub fn ks(input: TokenStream) -> TokenStream {
    timed("ks!", input, |input| positions::in_rustc(|| knossos::expand_text(input)))
}

/// Expands a program with imports, after the macros of its imports have appended their sources.
#[proc_macro]
pub fn linked(input: TokenStream) -> TokenStream {
    timed("mind!, linked", input, |input| positions::in_rustc(|| expand::expand_linked(input)))
}

/// Implements `mind::weights!`.
#[cfg(feature = "safetensors")]
#[proc_macro]
pub fn weights(input: TokenStream) -> TokenStream {
    timed("weights!", input, |input| positions::in_rustc(|| weights::expand(input)))
}

/// Expands a call of `weights!`, after the macro of the struct has appended its source.
#[cfg(feature = "safetensors")]
#[proc_macro]
pub fn weights_linked(input: TokenStream) -> TokenStream {
    timed("weights!, linked", input, |input| positions::in_rustc(|| weights::expand_linked(input)))
}

/// Expands `input`. If `MIND_TIMINGS` is set in the environment, prints how long the expansion took.
fn timed(
    name: &str,
    input: TokenStream,
    expand: impl FnOnce(proc_macro2::TokenStream) -> proc_macro2::TokenStream,
) -> TokenStream {
    if std::env::var_os("MIND_TIMINGS").is_none() {
        return expand(input.into()).into();
    }
    let site = first_of_program(input.clone());
    let start = Instant::now();
    let expansion = expand(input.into()).into();
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    eprintln!("{name}: {}:{}: expanded in {milliseconds:.1} ms", site.file(), site.line());
    expansion
}

/// The span of the first token of the program. The call itself and the `[$crate]` before the program have spans in the
/// facade.
fn first_of_program(input: TokenStream) -> Span {
    let is_bracket =
        |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    let first = input.into_iter().find(|tree| !is_bracket(tree));
    let first = match first {
        Some(TokenTree::Group(group)) => group.stream().into_iter().next().or(Some(group.into())),
        other => other,
    };
    first.map_or_else(Span::call_site, |tree| tree.span())
}
