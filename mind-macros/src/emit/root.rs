//! Under which path generated code finds the facade crate.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// The facade crate, whatever the user's manifest calls it.
///
/// As tokens it is the path of what generated code may name, `$crate::__private`.
#[derive(Clone, Debug)]
pub struct Root {
    facade: TokenStream,
}

impl Root {
    /// Stands for `$crate` in an expansion that goes through text, where that would lose what it means.
    pub const PLACEHOLDER: &str = "__mind_facade";

    /// Takes the root off an input: every macro of the facade hands its input on behind `[$crate]`. Without it the
    /// facade is `::mind`.
    pub fn take(input: TokenStream) -> (Self, TokenStream) {
        let mut rest = input.clone().into_iter();
        if let Some(TokenTree::Group(group)) = rest.next()
            && group.delimiter() == Delimiter::Bracket
        {
            let mut inside = group.stream().into_iter();
            if let (Some(TokenTree::Ident(name)), None) = (inside.next(), inside.next())
                && (name == "$crate" || name == Self::PLACEHOLDER)
            {
                return (Self { facade: group.stream() }, rest.collect());
            }
        }
        (Self { facade: quote! { ::mind } }, input)
    }
}

impl Root {
    /// The path of the proc macros.
    pub fn macros(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { #facade::__macros }
    }

    /// The path of the module of files.
    #[cfg(feature = "safetensors")]
    pub fn files(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { #facade::files }
    }

    /// The path of what language servers are to see.
    pub fn editor(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { #facade::__editor }
    }

    /// Whether the expansion goes through text.
    pub fn is_placeholder(&self) -> bool {
        matches!(self.facade.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name == Self::PLACEHOLDER)
    }

    /// What [`Root::take`] takes off again.
    pub fn prefix(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { [#facade] }
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let facade = &self.facade;
        tokens.extend(quote! { #facade::__private });
    }
}
