//! Tokens with the spans that rustc and editors need.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::root::Root;

/// A keyword with the span of the user's name. rustc derives the span of an item from its first and last token, also
/// for an error about two items of one name.
pub fn keyword_at(keyword: &str, name: &Ident) -> Ident {
    Ident::new(keyword, name.span().resolved_at(Span::call_site()))
}

/// Braces with the span of the user's name.
pub fn braces_at(name: &Ident, inside: TokenStream) -> Group {
    let mut braces = Group::new(Delimiter::Brace, inside);
    braces.set_span(name.span().resolved_at(Span::call_site()));
    braces
}

/// A visibility with its own span and the hygiene of [`keyword_at`]. With different hygiene, rustc would show the whole
/// block as the item.
pub fn visibility_at(visibility: &TokenStream) -> TokenStream {
    let moved = visibility.clone().into_iter().map(|mut tree| {
        tree.set_span(tree.span().resolved_at(Span::call_site()));
        tree
    });
    moved.collect()
}

/// `N: Dim` for each symbol, or with another trait as the bound. The bound has the span of the symbol, where rustc
/// reports a violation.
pub(super) fn bounds(root: &Root, symbols: &[Ident], bound: &str) -> TokenStream {
    let bound = Ident::new(bound, Span::call_site());
    let bounds = symbols.iter().map(|symbol| {
        let bound = at(quote! { #root::#bound }, symbol.span());
        quote! { #symbol: #bound }
    });
    quote! { #(#bounds),* }
}

/// The same tokens. Those that the user did not write get the span `place`, that of a token of the user.
pub(super) fn stand_at(place: Span, tokens: TokenStream) -> TokenStream {
    let (start, end) = (Span::call_site().start(), Span::call_site().end());
    let moved = tokens.into_iter().map(|mut tree| {
        let span = tree.span();
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), stand_at(place, group.stream())).into();
        }
        let is_own = span.start() == start && span.end() == end;
        tree.set_span(if is_own { place.resolved_at(span) } else { span });
        tree
    });
    moved.collect()
}

/// The same tokens with one span, with unchanged hygiene.
pub(super) fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut tree| {
        let place = span.resolved_at(tree.span());
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        tree.set_span(place);
        tree
    });
    moved.collect()
}

/// The tokens of emitted text.
pub(crate) fn parse(text: &str) -> TokenStream {
    let failed = |error: String| {
        let message = format!("mind: internal error: the emitted code does not parse: {error}");
        quote! { ::core::compile_error!(#message); }
    };
    if proc_macro::is_available() {
        // Uses only rustc's lexer. proc-macro2 would first run its own lexer over the same text, which is not optimised
        // in most builds.
        let tokens = text.parse::<proc_macro::TokenStream>();
        return tokens.map_or_else(|error| failed(error.to_string()), TokenStream::from);
    }
    text.parse().unwrap_or_else(|error: proc_macro2::LexError| failed(error.to_string()))
}
