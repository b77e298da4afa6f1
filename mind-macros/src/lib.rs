//! The proc macros of the mind tensor language: the thin edge over `mind-core`, and the emitter.
//!
//! Users call them through the facade crate `mind`, whose macros hand over `[$crate]` before the input.
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
#[cfg(test)]
mod unfinished;
mod unused;
mod watch;
#[cfg(feature = "safetensors")]
mod weights;

use std::time::Instant;

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// `mind::mind!`.
#[proc_macro]
pub fn mind(input: TokenStream) -> TokenStream {
    timed("mind!", input, |input| positions::in_rustc(|| expand::expand(angle::strip(input))))
}

/// The functions of the language for rust-analyzer, in the facade.
#[doc(hidden)]
#[proc_macro]
pub fn __editor(_: TokenStream) -> TokenStream {
    let facade = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    editor_functions::items(facade.as_ref()).into()
}

/// `mind::angle!`.
#[proc_macro]
pub fn angle(input: TokenStream) -> TokenStream {
    timed("angle!", input, |input| positions::in_rustc(|| angle::expand(input)))
}

/// `mind::angle_include!`.
#[proc_macro]
pub fn angle_include(input: TokenStream) -> TokenStream {
    timed("angle_include!", input, angle_include::expand)
}

/// `mind::include!`.
#[proc_macro]
pub fn include(input: TokenStream) -> TokenStream {
    timed("include!", input, include::expand)
}

/// `mind::include_mic!`.
#[proc_macro]
pub fn include_mic(input: TokenStream) -> TokenStream {
    timed("include_mic!", input, |input| positions::in_rustc(|| include_mic::expand(input)))
}

/// `mind::include_ks!`.
#[proc_macro]
pub fn include_ks(input: TokenStream) -> TokenStream {
    timed("include_ks!", input, |input| positions::in_rustc(|| knossos::expand_file(input)))
}

/// `mind::ks!`.
#[proc_macro]
pub fn ks(input: TokenStream) -> TokenStream {
    timed("ks!", input, |input| positions::in_rustc(|| knossos::expand_text(input)))
}

/// What a block with imports becomes once the functions that it imports are known.
#[proc_macro]
pub fn linked(input: TokenStream) -> TokenStream {
    timed("mind!, linked", input, |input| positions::in_rustc(|| expand::expand_linked(input)))
}

/// `mind::weights!`.
#[cfg(feature = "safetensors")]
#[proc_macro]
pub fn weights(input: TokenStream) -> TokenStream {
    timed("weights!", input, |input| positions::in_rustc(|| weights::expand(input)))
}

/// What a call of `weights!` becomes once the struct that it names is known.
#[cfg(feature = "safetensors")]
#[proc_macro]
pub fn weights_linked(input: TokenStream) -> TokenStream {
    timed("weights!, linked", input, |input| positions::in_rustc(|| weights::expand_linked(input)))
}

/// Expands, and with `MIND_TIMINGS` in the environment says how long that took.
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

/// Where the program begins. The call itself stands in the facade, and so does the `[$crate]` before the program.
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
