//! Composition: how a block asks for what it imports, and how it hands over its own.
//!
//! A proc macro sees its own tokens only, so sources travel as arguments of macros. In the module of each function `f` stand
//! two hidden macros: `f::__mind_function` appends to its arguments which function `f` is and which [`VERSION`] of this crate
//! says so, and `f::__mind_source` the [package] of its block; both then call the macro that their first argument lists first. Beside a struct or constant `S`
//! stands a macro `S`, which a `use` of the struct brings along, and which appends which it is and what the block's structs
//! and constants are. A block with imports becomes a call of these macros, in turn and with its own tokens among the
//! arguments, that ends in the macro `linked`, which has all that `mind!` has for a block without imports.
//!
//! Where an import does not resolve, rustc says so at its path and expands nothing that goes through it, without a word.
//! So the forms of the functions are written at once, and only their bodies go through the imports. What has an imported
//! struct or constant in its type waits for it. Structs and constants that have not are handed over at once, so that two
//! blocks may import them from each other.

pub(crate) mod fingerprint;
mod package;

use mind_core::surface::{
    ast::{Block, Import, ImportKind, Program},
    lower::{ConstantValue, Foreign, ForeignBlock, ForeignItem, ForeignName, Imported, Library, Lowered},
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use crate::emit::Root;
pub(crate) use fingerprint::CallSite;
pub(crate) use package::{Received, Unreadable};

/// What stands in all that a block hands over. Packages are read by the version that wrote them only: what a text means may
/// differ in another, and types of its run time are other types.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The names under which a program imports, and the way to what they stand for.
pub(crate) struct Imports {
    /// The macros of each import: two of a function, one of a struct or constant, by which the program's Rust also names it.
    aliases: Vec<Vec<Ident>>,
    uses: TokenStream,
}

impl Imports {
    pub(crate) fn new(imports: &[Import], place: &CallSite) -> Self {
        let place = place.fingerprint(&TokenStream::new(), &[]);
        let mut uses = TokenStream::new();
        let alias = |(position, import): (usize, &Import)| {
            let path = &import.path;
            let last = path.clone().into_iter().last().map_or_else(Span::call_site, |last| last.span());
            // The path as it is written, so that rustc says which name is near if it does not resolve; what goes through this
            // import is not told again. Where it is found to be something else, rustc names it.
            let name = import.name.name.to_string();
            let name = name.trim_start_matches("r#");
            let (at, what) = (
                fingerprint::readable(last),
                match import.kind {
                    ImportKind::Function => "function",
                    ImportKind::Item => "struct_or_constant",
                },
            );
            let whole = format_ident!("{name}_is_no_{what}_of_mind_{at}", span = last);
            let mut add = |imported: TokenStream, alias: &Ident| {
                uses.extend(quote! {
                    #[allow(unused_imports, unused_qualifications, non_snake_case, non_camel_case_types)]
                    use #imported as #alias;
                });
            };
            add(path.clone(), &whole);
            if import.kind == ImportKind::Item {
                return vec![whole];
            }
            let alias = |what: &str| {
                let alias = format_ident!("__mind_import_{place}_{position}_{what}", span = last);
                let imported = format_ident!("__mind_{what}", span = last);
                add(quote_spanned! { last => #whole::#imported }, &alias);
                alias
            };
            ["function", "source"].map(alias).to_vec()
        };
        let aliases = imports.iter().enumerate().map(alias).collect();
        Self { aliases, uses }
    }

    /// What each import is called in Rust.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        self.aliases.iter().map(|aliases| &aliases[0])
    }

    /// Tokens that vanish where an import does not resolve, and stay as they are elsewhere.
    pub(crate) fn guard(&self, tokens: TokenStream) -> TokenStream {
        let names: Vec<_> = self.names().collect();
        names.iter().rev().fold(tokens, |tokens, name| quote! { #name! { @then #tokens } })
    }

    /// The `use` items, and the call that ends in a macro of the facade for the program of these tokens: [`Linked`].
    pub(crate) fn ask(&self, root: &Root, program: TokenStream, end: &str) -> (&TokenStream, TokenStream) {
        let (mut steps, names) = (self.aliases.iter().flatten(), self.names());
        let first = steps.next();
        let (macros, end) = (root.macros(), format_ident!("{end}"));
        let facade = root.prefix();
        (&self.uses, quote! { #first! { [#([#steps])* [#macros::#end]] #facade { #program } [#(#names)*] } })
    }
}

/// What the macro at the end of [`Imports::ask`] is given: `[] [$crate] { program } [names] (f hash) { package } …`.
pub(crate) struct Linked {
    pub(crate) root: Root,
    /// The tokens of the program.
    pub(crate) written: TokenStream,
    /// What the imports are called in Rust.
    pub(crate) names: Vec<Ident>,
    /// What the imports are.
    pub(crate) received: Result<Received, Unreadable>,
}

impl Linked {
    pub(crate) fn read(input: TokenStream) -> Self {
        let (root, rest) = Root::take(input.into_iter().skip(1).collect());
        let mut rest = rest.into_iter();
        let written = match rest.next() {
            Some(TokenTree::Group(group)) => group.stream(),
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => {
                TokenStream::new()
            }
        };
        let names = match rest.next() {
            Some(TokenTree::Group(group)) => group.stream().into_iter().filter_map(package::name).collect(),
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => Vec::new(),
        };
        Self { root, written, names, received: Received::read(rest.collect()) }
    }
}

/// What a block hands over.
pub(crate) struct Exports {
    /// Names the block.
    hash: Ident,
    /// What the expansion begins with.
    pub(crate) first: TokenStream,
    /// The macro with the sources of functions and templates.
    pub(crate) source: TokenStream,
    /// The macros of structs and constants.
    pub(crate) items: TokenStream,
}

impl Exports {
    /// Of a program with the tokens `written`; nothing where it has nothing to import. Of structs and constants that are not
    /// `here` the macros are elsewhere.
    pub(crate) fn new(
        program: &Program,
        place: &CallSite,
        written: &TokenStream,
        lowered: &Lowered,
        received: &Received,
        here: impl Fn(&Ident) -> bool,
    ) -> Option<Self> {
        let Program::Block(block) = program else { return None };
        let Lowered { constants, structs, functions, templates } = lowered;
        let has_sources = !(functions.is_empty() && templates.is_empty());
        if !has_sources && constants.is_empty() && structs.is_empty() {
            return None;
        }
        let hash = place.fingerprint(written, &received.hashes());
        let package = package::write(&hash, block, lowered, received);
        let structs = structs.iter().map(|item| (&item.name, &item.visibility));
        let constants = constants.iter().map(|constant| (&constant.name, &constant.visibility));
        let named = package::write_items(&hash, block, lowered, received);
        let others = received.named_by(block);
        // Macros of Rust's own have small letters, and none is to be hidden.
        let is_capital =
            |name: &Ident| name.to_string().trim_start_matches("r#").starts_with(char::is_uppercase);
        let items = structs.chain(constants).filter(|(name, _)| here(name) && is_capital(name));
        let items = items.map(|(name, visibility)| {
            let key = plain_name("item", name, &hash);
            let answer = quote! { (#name #hash #VERSION) #named #others };
            let (exported, visibility) = match is_public(visibility) {
                true => (Some(quote! { #[macro_export] }), quote! { pub }),
                false => (None, visibility.clone()),
            };
            let answering = answering(&key, exported.as_ref(), &answer);
            quote! {
                #answering
                #[doc(hidden)]
                #[allow(unused_imports, unreachable_pub)]
                #visibility use #key as #name;
            }
        });
        let items = items.collect();
        let others = received.needed_by(block);
        let name = macro_name("block", &hash);
        let functions = lowered.functions.iter().map(|function| &function.visibility);
        let mut all = functions.chain(lowered.templates.iter().map(|template| &template.visibility));
        let exported = all.any(is_public).then(|| quote! { #[macro_export] });
        // Where a block stands in the place of an expression, rustc names what comes first: a `fn`, as the user has written.
        let first = macro_name("first", &hash);
        let first = quote! {
            #[doc(hidden)]
            #[allow(dead_code, clippy::missing_const_for_fn)]
            fn #first() {}
        };
        let source = quote! {
            #[doc(hidden)]
            #exported
            #[allow(unused_macros, non_local_definitions)]
            macro_rules! #name {
                ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => {
                    $($next)* ! { [$($more)*] $($rest)* #package #others }
                };
            }
        };
        let [first, source] =
            if has_sources { [first, source] } else { [TokenStream::new(), TokenStream::new()] };
        Some(Self { hash, first, source, items })
    }

    /// What stands in the module of a function or template of the block.
    pub(crate) fn import(&self, name: &Ident, visibility: &TokenStream) -> TokenStream {
        let hash = &self.hash;
        // No function is called `block` here, whatever its name.
        let key = plain_name("fn", name, hash);
        let source = macro_name("block", hash);
        let (exported, visibility) = match is_public(visibility) {
            true => (Some(quote! { #[macro_export] }), quote! { pub }),
            // As far as a macro that is not exported can be seen; the module around it is private where the function is.
            false => (None, quote! { pub(crate) }),
        };
        let answering = answering(&key, exported.as_ref(), &quote! { (#name #hash #VERSION) });
        quote! {
            #answering
            #[doc(hidden)]
            #[allow(unused_imports, unreachable_pub)]
            #visibility use {#key as __mind_function, #source as __mind_source};
        }
    }
}

/// A macro that answers who imports something, and lets through what the import guards.
fn answering(key: &Ident, exported: Option<&TokenStream>, answer: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #exported
        #[allow(unused_macros, unused_macro_rules, non_local_definitions)]
        macro_rules! #key {
            (@then $($tokens:tt)*) => { $($tokens)* };
            ([[$($next:tt)*] $($more:tt)*] $($rest:tt)*) => {
                $($next)* ! { [$($more)*] $($rest)* #answer }
            };
        }
    }
}

fn plain_name(what: &str, name: &Ident, hash: &Ident) -> Ident {
    macro_name(&format!("{what}_{}", name.to_string().trim_start_matches("r#")), hash)
}

fn macro_name(what: &str, hash: &Ident) -> Ident {
    format_ident!("__mind_{what}_{hash}", span = Span::call_site())
}

fn is_public(visibility: &TokenStream) -> bool {
    let mut tokens = visibility.clone().into_iter();
    matches!((tokens.next(), tokens.next()), (Some(TokenTree::Ident(_)), None))
}
