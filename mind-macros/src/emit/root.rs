//! The path of the facade crate in generated code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// The facade crate, under whatever name the user's manifest gives it.
///
/// Its tokens are the path of the items for generated code, `$crate::__private`.
#[derive(Clone, Debug)]
pub struct Root {
    facade: TokenStream,
}

impl Root {
    /// A placeholder for `$crate` in an expansion that is converted to text, since `$crate` has no meaning there.
    pub const PLACEHOLDER: &str = "__mind_facade";

    /// Splits the root off an input: every macro of the facade passes `[$crate]` before its input. Without it the
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

    /// The path of the module `files`.
    #[cfg(feature = "safetensors")]
    pub fn files(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { #facade::files }
    }

    /// The path of the items for language servers.
    pub fn editor(&self) -> TokenStream {
        let facade = &self.facade;
        quote! { #facade::__editor }
    }

    /// Whether the expansion is converted to text.
    pub fn is_placeholder(&self) -> bool {
        matches!(self.facade.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name == Self::PLACEHOLDER)
    }

    /// The prefix `[$crate]`, which [`Root::take`] splits off again.
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
