//! Diagnostics as compile errors.

use mind_core::diag::{Diag, Site};
use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};

/// `compile_error!` items, one per diagnostic.
///
/// rustc underlines from the span of the path to the span of the braces. The path therefore has the span of the first
/// faulty token, and the braces that of the last one.
pub fn compile_errors(diags: &[Diag]) -> TokenStream {
    diags.iter().map(compile_error).collect()
}

/// A `compile_error!` item, which is also an expression.
pub fn compile_error(diag: &Diag) -> TokenStream {
    let (first, last) = match diag.site {
        Site::Tokens { first, last } => (first, last),
        Site::Nowhere | Site::Text { .. } => (Span::call_site(), Span::call_site()),
    };
    compile_error_at(first, last, &diag.to_string())
}

/// A `compile_error!` item that reports `message` for the tokens from `first` to `last`.
pub fn compile_error_at(first: Span, last: Span, message: &str) -> TokenStream {
    let mut braces = Group::new(Delimiter::Brace, quote! { #message });
    braces.set_span(last);
    quote_spanned! { first => ::core::compile_error! #braces }
}
