//! Tokens with the places that rustc and editors need.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use super::root::Root;

/// A keyword where the user's name is: an item is where its first and last tokens are, and so is what rustc says of two of one name.
pub fn keyword_at(keyword: &str, name: &Ident) -> Ident {
    Ident::new(keyword, name.span().resolved_at(Span::call_site()))
}

/// Braces where the user's name is.
pub fn braces_at(name: &Ident, inside: TokenStream) -> Group {
    let mut braces = Group::new(Delimiter::Brace, inside);
    braces.set_span(name.span().resolved_at(Span::call_site()));
    braces
}

/// A visibility where it is written, and of the same origin as [`keyword_at`]: else rustc shows an item as all of the block.
pub fn visibility_at(visibility: &TokenStream) -> TokenStream {
    let moved = visibility.clone().into_iter().map(|mut tree| {
        tree.set_span(tree.span().resolved_at(Span::call_site()));
        tree
    });
    moved.collect()
}

/// `N: Dim` of each, or of another trait, at the symbol: there rustc says that the bound is not met.
pub(super) fn bounds(root: &Root, symbols: &[Ident], bound: &str) -> TokenStream {
    let bound = Ident::new(bound, Span::call_site());
    let bounds = symbols.iter().map(|symbol| {
        let bound = at(quote! { #root::#bound }, symbol.span());
        quote! { #symbol: #bound }
    });
    quote! { #(#bounds),* }
}

/// The same tokens, of which those that the user did not write stand where a token of the user's does.
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

/// The same tokens at one place, meaning what they mean.
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
        // rustc's lexer alone: proc-macro2 would first run its own, unoptimised in most builds, over the same text.
        let tokens = text.parse::<proc_macro::TokenStream>();
        return tokens.map_or_else(|error| failed(error.to_string()), TokenStream::from);
    }
    text.parse().unwrap_or_else(|error: proc_macro2::LexError| failed(error.to_string()))
}
