//! Warnings. Macros cannot emit any, so they generate items for which rustc warns: unused variables with the names that
//! a program binds but does not read, and uses of deprecated constants at the random keys that it draws with twice.

use mind_core::{
    diag::Site,
    surface::{
        ast::{Block, Body, Function, Parameter, Program, Template, WrtTarget},
        reused_keys::{ReusedKey, reused_keys},
        unused::unused_names,
    },
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

/// Items for which rustc warns. The warnings have the spans of the user's tokens and the lint levels of the user's
/// functions.
pub(crate) fn warnings(program: &Program) -> TokenStream {
    let none = TokenStream::new();
    match program {
        Program::Block(Block { functions, templates, .. }) => {
            functions.iter().map(of_function).chain(templates.iter().map(of_template)).collect()
        }
        Program::Closure(closure) => {
            let unused = unused(&none, &closure.parameters, closure.body.as_ref(), &[]);
            unused.into_iter().chain(reused(&none, closure.body.as_ref())).collect()
        }
        Program::Expression(expression) => {
            let body = Some(&expression.body);
            unused(&none, &[], body, &[]).into_iter().chain(reused(&none, body)).collect()
        }
    }
}

fn of_function(function: &Function) -> TokenStream {
    let wrt = function.gradient.as_ref().map_or(&[][..], |gradient| &gradient.targets);
    let (levels, body) = (lint_levels(&function.attributes), function.body.as_ref());
    unused(&levels, &function.parameters, body, wrt).into_iter().chain(reused(&levels, body)).collect()
}

fn of_template(template: &Template) -> TokenStream {
    reused(&lint_levels(&template.attributes), template.body.as_ref())
}

/// Uses of deprecated constants, whose notes are the messages.
fn reused(levels: &TokenStream, body: Option<&Body>) -> TokenStream {
    let keys = body.map(reused_keys).unwrap_or_default();
    let uses = keys.iter().map(|key @ ReusedKey { site, .. }| {
        let span = match site {
            Site::Tokens { first, .. } => *first,
            Site::Text { .. } | Site::Nowhere => Span::call_site(),
        };
        let (name, note) = (Ident::new("random_key_used_twice", span), key.to_string());
        quote! {
            #levels
            const _: () = {
                #[deprecated(note = #note)]
                #[allow(non_upper_case_globals)]
                const #name: () = ();
                #name
            };
        }
    });
    uses.collect()
}

fn unused(
    levels: &TokenStream,
    parameters: &[Parameter],
    body: Option<&Body>,
    wrt: &[WrtTarget],
) -> TokenStream {
    let mut names = body.map(|body| unused_names(parameters, body)).unwrap_or_default();
    // `#[grad(zero_ok x)]` states that the value may not depend on `x`.
    names.retain(|name| !wrt.iter().any(|target| target.path.name == *name));
    if names.is_empty() {
        return TokenStream::new();
    }
    // One function per name, since names can be equal.
    let binds = (0..names.len()).map(|number| format_ident!("binds_{number}"));
    quote! {
        #levels
        const _: () = {
            #(#[allow(dead_code, non_snake_case)] fn #binds(#names: ()) {})*
        };
    }
}

/// The attributes that set lint levels, such as `#[allow(…)]`.
fn lint_levels(attributes: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = attributes.clone().into_iter().collect();
    let is_level = |attribute: &&[TokenTree]| {
        let Some(TokenTree::Group(group)) = attribute.get(1) else { return false };
        let name = group.stream().into_iter().next();
        let Some(TokenTree::Ident(name)) = name else { return false };
        ["allow", "warn", "deny", "forbid"].iter().any(|level| name == level)
    };
    trees.chunks(2).filter(is_level).flatten().cloned().collect()
}
