//! Composition: how a block asks for the functions that it imports, and how it hands over its own.
//!
//! A proc macro sees its own tokens only, so sources travel as arguments of macros. In the module of each function `f` stand
//! two hidden macros: `f::__mind_function` appends to its arguments which function `f` is, and `f::__mind_source` the
//! [package] of its block; both then call the macro that their first argument lists first. A block with imports becomes a
//! call of these macros, in turn and with its own tokens among the arguments, that ends in the macro `linked`, which has
//! all that `mind!` has for a block without imports.
//!
//! Where an import does not resolve, rustc says so at its path and expands nothing that goes through it, without a word.
//! So the forms of the functions are written at once, and only their bodies go through the imports.

pub(crate) mod fingerprint;
mod package;

use mind_core::surface::{
    ast::{Block, Import, Program},
    lower::{Foreign, ForeignBlock, ForeignItem, Library, Lowered},
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use crate::emit::Root;
pub(crate) use fingerprint::Place;
pub(crate) use package::Received;

/// The names under which a program imports, and the way to what they stand for.
pub(crate) struct Imports {
    /// The two macros of each import.
    aliases: Vec<[Ident; 2]>,
    uses: TokenStream,
}

impl Imports {
    pub(crate) fn new(imports: &[Import], place: &Place) -> Self {
        let place = place.fingerprint(&TokenStream::new(), &[]);
        let mut uses = TokenStream::new();
        let alias = |(position, import): (usize, &Import)| {
            let path = &import.path;
            let last = path.clone().into_iter().last().map_or_else(Span::call_site, |last| last.span());
            // The path as it is written, so that rustc says which name is near if it does not resolve; what goes through this
            // import is not told again. Where it is found to be something else, rustc names it.
            let name = import.name.name.to_string();
            let name = name.trim_start_matches("r#");
            let whole =
                format_ident!("{name}_is_no_function_of_mind_{}", fingerprint::readable(last), span = last);
            let mut add = |imported: TokenStream, alias: &Ident| {
                uses.extend(quote! {
                    #[allow(unused_imports, unused_qualifications, non_snake_case)]
                    use #imported as #alias;
                });
            };
            add(path.clone(), &whole);
            ["function", "source"].map(|what| {
                let alias = format_ident!("__mind_import_{place}_{position}_{what}", span = last);
                let imported = format_ident!("__mind_{what}", span = last);
                add(quote_spanned! { last => #whole::#imported }, &alias);
                alias
            })
        };
        let aliases = imports.iter().enumerate().map(alias).collect();
        Self { aliases, uses }
    }

    /// Tokens that vanish where an import does not resolve, and stay as they are elsewhere.
    pub(crate) fn guard(&self, tokens: TokenStream) -> TokenStream {
        let functions = self.aliases.iter().rev().map(|[function, _]| function);
        functions.fold(tokens, |tokens, function| quote! { #function! { @then #tokens } })
    }

    /// The `use` items, and the call that ends in `linked` for the program of these tokens.
    pub(crate) fn ask(&self, root: &Root, program: TokenStream) -> (&TokenStream, TokenStream) {
        let mut steps = self.aliases.iter().flatten();
        let first = steps.next();
        let macros = root.macros();
        let facade = root.prefix();
        (&self.uses, quote! { #first! { [#([#steps])* [#macros::linked]] #facade { #program } } })
    }
}

/// What a block hands over.
pub(crate) struct Exports {
    /// Names the block.
    hash: Ident,
    /// The macro with the sources.
    pub(crate) source: TokenStream,
}

impl Exports {
    /// Of a program with the tokens `written`; nothing where it has no functions to import.
    pub(crate) fn new(
        program: &Program,
        place: &Place,
        written: &TokenStream,
        lowered: &Lowered,
        received: &Received,
    ) -> Option<Self> {
        let block = match program {
            Program::Block(block) if !(lowered.functions.is_empty() && lowered.templates.is_empty()) => block,
            Program::Block(_) | Program::Closure(_) | Program::Expression(_) => return None,
        };
        let hash = place.fingerprint(written, &received.hashes());
        let package = package::write(&hash, block, lowered, received);
        let others = received.needed_by(block);
        let name = macro_name("block", &hash);
        let functions = lowered.functions.iter().map(|function| &function.visibility);
        let mut all = functions.chain(lowered.templates.iter().map(|template| &template.visibility));
        let exported = all.any(is_public).then(|| quote! { #[macro_export] });
        // Where a block stands in the place of an expression, rustc names what comes first: a `fn`, as the user has written.
        let first = macro_name("first", &hash);
        let source = quote! {
            #[doc(hidden)]
            #[allow(dead_code, clippy::missing_const_for_fn)]
            fn #first() {}
            #[doc(hidden)]
            #exported
            #[allow(unused_macros, non_local_definitions)]
            macro_rules! #name {
                ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => {
                    $($next)* ! { [$($more)*] $($rest)* #package #others }
                };
            }
        };
        Some(Self { hash, source })
    }

    /// What stands in the module of a function or template of the block.
    pub(crate) fn import(&self, name: &Ident, visibility: &TokenStream) -> TokenStream {
        let hash = &self.hash;
        // No function is called `block` here, whatever its name.
        let key = macro_name(&format!("fn_{}", name.to_string().trim_start_matches("r#")), hash);
        let source = macro_name("block", hash);
        let (exported, visibility) = match is_public(visibility) {
            true => (Some(quote! { #[macro_export] }), quote! { pub }),
            // As far as a macro that is not exported can be seen; the module around it is private where the function is.
            false => (None, quote! { pub(crate) }),
        };
        quote! {
            #[doc(hidden)]
            #exported
            #[allow(unused_macros, unused_macro_rules, non_local_definitions)]
            macro_rules! #key {
                (@then $($tokens:tt)*) => { $($tokens)* };
                ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => {
                    $($next)* ! { [$($more)*] $($rest)* (#name #hash) }
                };
            }
            #[doc(hidden)]
            #[allow(unused_imports, unreachable_pub)]
            #visibility use {#key as __mind_function, #source as __mind_source};
        }
    }
}

fn macro_name(what: &str, hash: &Ident) -> Ident {
    format_ident!("__mind_{what}_{hash}", span = Span::call_site())
}

fn is_public(visibility: &TokenStream) -> bool {
    let mut tokens = visibility.clone().into_iter();
    matches!((tokens.next(), tokens.next()), (Some(TokenTree::Ident(_)), None))
}
