//! Under which path generated code finds the facade crate.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

const PLACEHOLDER: &str = "__mind_facade";

/// The facade crate, whatever the user's manifest calls it.
///
/// As tokens it is the path of what generated code may name, `$crate::__private`.
#[derive(Clone, Debug)]
pub struct Root {
    facade: TokenStream,
}

impl Root {
    /// Takes the root off an input: every macro of the facade hands its input on behind `[$crate]`. Without it the
    /// facade is `::mind`.
    pub fn take(input: TokenStream) -> (Self, TokenStream) {
        let mut rest = input.clone().into_iter();
        if let Some(TokenTree::Group(group)) = rest.next()
            && group.delimiter() == Delimiter::Bracket
        {
            let mut inside = group.stream().into_iter();
            if let (Some(TokenTree::Ident(name)), None) = (inside.next(), inside.next())
                && name == "$crate"
            {
                return (Self { facade: group.stream() }, rest.collect());
            }
        }
        (Self { facade: quote! { ::mind } }, input)
    }

    /// A root that is one word, for an expansion that goes through text, where `$crate` would lose what it means.
    pub fn placeholder() -> Self {
        let name = format_ident!("{}", PLACEHOLDER);
        Self { facade: quote! { #name } }
    }

    /// What is meant by `word`, if it is [`Self::placeholder`].
    pub fn meant_by(&self, word: &Ident) -> Option<TokenStream> {
        (word == PLACEHOLDER).then(|| self.facade.clone())
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let facade = &self.facade;
        tokens.extend(quote! { #facade::__private });
    }
}
