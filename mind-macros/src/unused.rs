//! Warnings for names that a program binds but does not read. Macros cannot emit warnings, so they generate unused
//! variables with these names.

use mind_core::surface::{
    ast::{Block, Body, Function, Parameter, Program, WrtTarget},
    unused::unused_names,
};
use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

/// Items with unused variables, for which rustc warns. The warnings have the spans of the user's names and the lint
/// levels of the user's functions.
pub(crate) fn warnings(program: &Program) -> TokenStream {
    match program {
        Program::Block(Block { functions, .. }) => functions.iter().map(of_function).collect(),
        Program::Closure(closure) => {
            of_body(&TokenStream::new(), &closure.parameters, closure.body.as_ref(), &[])
        }
        Program::Expression(expression) => of_body(&TokenStream::new(), &[], Some(&expression.body), &[]),
    }
}

fn of_function(function: &Function) -> TokenStream {
    let wrt = function.gradient.as_ref().map_or(&[][..], |gradient| &gradient.targets);
    of_body(&lint_levels(&function.attributes), &function.parameters, function.body.as_ref(), wrt)
}

fn of_body(
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
