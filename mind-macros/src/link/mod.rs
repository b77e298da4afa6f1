//! Imports and exports of blocks: how a block receives the sources of its imports, and passes on its own.
//!
//! A proc macro sees only its own tokens, so sources travel as arguments of `macro_rules!` macros:
//!
//! - The module of each function `f` has two hidden macros. `f::__mind_function` appends the identity of `f` and the
//!   [`VERSION`] of this crate to its arguments. `f::__mind_source` appends the [package] of its block.
//! - Beside a struct or constant `S` there is a macro `S`, which a `use` of the struct also imports. It appends the
//!   identity of `S`, and the structs and constants of the block.
//! - Each of these macros then calls the next macro: the first one in the list that is its first argument.
//!
//! A block with imports expands to a chain of calls of these macros, with its own tokens among the arguments. The chain
//! ends in the macro `linked`, which then has everything that `mind!` has for a block without imports.
//!
//! If an import does not resolve, rustc reports that at the path of the import, and silently drops every expansion that
//! goes through it. The forms of functions are therefore emitted at once, and only their bodies go through the imports.
//! An item with an imported struct or constant in its type waits for the import. Other structs and constants are
//! exported at once, so that two blocks can import them from each other.

pub(crate) mod fingerprint;
mod package;

use std::collections::BTreeSet;

use mind_core::surface::{
    ast::{Block, Import, ImportKind, Program},
    lower::{
        ConstantValue, ForeignBlock, ForeignItem, ForeignName, Imported, ImportedItem, Library, Lowered,
        stack_alias, stack_name,
    },
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use crate::emit::Root;
pub(crate) use fingerprint::CallSite;
pub(crate) use package::{Received, Unreadable};

/// The version in everything that a block exports. Only the version that wrote a package reads it: for another version
/// the text may have a different meaning, and the types of its run time are different types.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The imports of a program as Rust `use` items, and the macros that the items import.
pub(crate) struct Imports {
    /// The macros of each import: two for a function; one for a struct or constant, whose name generated code also uses
    /// for the item.
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
            // The path has the user's tokens, so that rustc suggests a similar name if it does not resolve. rustc
            // reports nothing else for items that go through this import. If the path resolves to something else, the
            // message contains the name of this alias.
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

    /// The Rust name of each import.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        self.aliases.iter().map(|aliases| &aliases[0])
    }

    /// Wraps tokens so that rustc drops them if an import does not resolve. Otherwise they are unchanged.
    pub(crate) fn guard(&self, tokens: TokenStream) -> TokenStream {
        let names: Vec<_> = self.names().collect();
        names.iter().rev().fold(tokens, |tokens, name| quote! { #name! { @then #tokens } })
    }

    /// The `use` items, and the chain of calls, which passes the tokens of `program` and the sources to the macro `end`
    /// of the facade: [`Linked`].
    pub(crate) fn call_chain(
        &self,
        root: &Root,
        program: TokenStream,
        end: &str,
    ) -> (&TokenStream, TokenStream) {
        let (mut steps, names) = (self.aliases.iter().flatten(), self.names());
        let first = steps.next();
        let (macros, end) = (root.macros(), format_ident!("{end}"));
        let facade = root.prefix();
        (&self.uses, quote! { #first! { [#([#steps])* [#macros::#end]] #facade { #program } [#(#names)*] } })
    }
}

/// The Rust types of stacks of imported structs that `expansion` names, as `use` items.
pub(crate) fn stacks_of_imports(
    imports: &[Import],
    library: &Library,
    expansion: &TokenStream,
) -> Option<TokenStream> {
    let mut stacks = Vec::new();
    for (import, imported) in imports.iter().zip(&library.imported) {
        let Imported::Item { block, name, alias } = imported else { continue };
        for level in 1..=library.stack_levels(*block, name) {
            stacks.push((&import.path, level, stack_alias(alias, level)));
        }
    }
    if stacks.is_empty() {
        return None;
    }
    let mut named = BTreeSet::new();
    let mut rest = vec![expansion.clone()];
    while let Some(tokens) = rest.pop() {
        for tree in tokens {
            match tree {
                TokenTree::Ident(name) => _ = named.insert(name.to_string()),
                TokenTree::Group(group) => rest.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    let uses = stacks.into_iter().filter(|(.., alias)| named.contains(&alias.to_string()));
    let uses = uses.map(|(path, level, alias)| {
        let mut path: Vec<TokenTree> = path.clone().into_iter().collect();
        if let Some(TokenTree::Ident(last)) = path.last_mut() {
            *last = stack_name(last, level);
        }
        quote! {
            #[allow(unused_imports, unused_qualifications, non_snake_case, non_camel_case_types)]
            use #(#path)* as #alias;
        }
    });
    Some(uses.collect())
}

/// The input of the macro at the end of the chain of [`Imports::call_chain`]:
/// `[] [$crate] { program } [names] (f hash version) { package } …`.
pub(crate) struct Linked {
    pub(crate) root: Root,
    /// The tokens of the program.
    pub(crate) written: TokenStream,
    /// The Rust names of the imports.
    pub(crate) names: Vec<Ident>,
    /// The sources of the imports.
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

/// The exports of a block.
pub(crate) struct Exports {
    /// A name that identifies the block.
    hash: Ident,
    /// The first item of the expansion.
    pub(crate) first: TokenStream,
    /// The macro with the sources of functions and templates.
    pub(crate) source: TokenStream,
    /// The macros of structs and constants.
    pub(crate) items: TokenStream,
}

impl Exports {
    /// The exports of a program with the tokens `written`. `None` if the program has nothing to import. `here` selects
    /// the structs and constants whose macros this expansion contains.
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
        // A stack is named by its struct.
        let structs = structs.iter().filter(|item| item.element.is_none());
        let structs = structs.map(|item| (&item.name, &item.visibility));
        let constants = constants.iter().map(|constant| (&constant.name, &constant.visibility));
        let named = package::write_items(&hash, block, lowered, received);
        let others = received.named_by(block);
        // The macros of Rust have lowercase names, and none of them must be shadowed.
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
        // If a block is used as an expression, rustc's message names the first item. This one is a `fn`, like the
        // user's items.
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

    /// The macros in the module of a function or template of the block.
    pub(crate) fn import(&self, name: &Ident, visibility: &TokenStream) -> TokenStream {
        let hash = &self.hash;
        // The prefix `fn` keeps the name apart from the macro `block`, also for a function with the name `block`.
        let key = plain_name("fn", name, hash);
        let source = macro_name("block", hash);
        let (exported, visibility) = match is_public(visibility) {
            true => (Some(quote! { #[macro_export] }), quote! { pub }),
            // The largest visibility of a macro that is not exported. If the function is private, so is the module
            // around it.
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

/// A macro that appends `answer` for a program that imports the item, and expands to the tokens that [`Imports::guard`]
/// wraps.
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
