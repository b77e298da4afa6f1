//! Diagnostics as compile errors.

use mind_core::diag::{Diag, Site};
use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};

/// `compile_error!` items, one a diagnostic.
///
/// rustc underlines from the path's span to the braces' span, so the path stands at the first token of what is at
/// fault and the braces at the last.
pub fn compile_errors(diags: &[Diag]) -> TokenStream {
    diags.iter().map(compile_error).collect()
}

/// A `compile_error!` item, which is an expression too.
pub fn compile_error(diag: &Diag) -> TokenStream {
    let (first, last) = match diag.site {
        Site::Tokens { first, last } => (first, last),
        Site::Nowhere | Site::Text { .. } => (Span::call_site(), Span::call_site()),
    };
    compile_error_at(first, last, &diag.to_string())
}

/// The `compile_error!` item that says `message` of what stands from `first` to `last`.
pub fn compile_error_at(first: Span, last: Span, message: &str) -> TokenStream {
    let mut braces = Group::new(Delimiter::Brace, quote! { #message });
    braces.set_span(last);
    quote_spanned! { first => ::core::compile_error! #braces }
}
