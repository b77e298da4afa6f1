//! The emitter: turns a plan into the Rust items of a function, which are the function, its `try_` and `_into` forms,
//! and its module.

mod body;
mod call;
mod extent;
mod external;
mod interface;
mod item;
mod iteration;
pub(crate) mod literal;
mod module;
pub(crate) mod names;
mod nest;
mod outline;
mod product;
mod profile;
mod root;
mod signature;
mod steps;
pub mod structs;
mod tokens;
mod watched;

use mind_core::plan::Step;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

pub use item::{Arguments, Constants, Item, Parameter};
pub use outline::Lengths;
pub use root::Root;
pub(crate) use tokens::parse;
pub use tokens::{braces_at, keyword_at, visibility_at};
pub use watched::WatchedText;

use interface::Interface;
use signature::Signature;
use tokens::{bounds, stand_at};

/// A transformation of the body of an item before it is emitted.
pub type Guard<'a> = dyn Fn(TokenStream) -> TokenStream + 'a;

/// Emits one function. It holds the function and the pieces that its forms share.
pub struct Emitter<'a> {
    item: &'a Item<'a>,
    signature: Signature<'a>,
}

impl<'a> Emitter<'a> {
    /// The emitter for a function.
    pub fn new(item: &'a Item<'a>) -> Self {
        Self { item, signature: Signature::new(item) }
    }

    /// The Rust items of the function.
    pub fn items(&self) -> TokenStream {
        let (forms, module) = (self.forms(&|body| body), self.module());
        let try_form = self.is_fallible().then(|| self.try_form(&|body| body));
        quote! { #forms #try_form #module }
    }

    /// The same items with bodies that never run, for a function whose body has an error. Callers see the right
    /// signatures.
    pub fn fallback(&self) -> TokenStream {
        let (forms, module) = (self.forms(&|body| body), self.fallback_module());
        let try_form = self.try_form(&|body| body);
        quote! { #forms #try_form #module }
    }

    /// The function and its `_into` form, which call the functions in the module.
    pub fn forms(&self, guard: &Guard<'_>) -> TokenStream {
        let Self { item, signature } = self;
        let (root, attributes, name) = (item.root, &item.attributes, &item.name);
        let visibility = visibility_at(&item.visibility);
        let shapes = signature::shape_section(item);
        let (into_name, parts) = (format_ident!("{}_into", name), parts(name));
        let Interface {
            generics,
            parameters,
            arguments,
            result,
            out,
            out_argument,
            out_binding,
            rebuilt,
            workspace,
            ..
        } = &signature.interface;
        let (pattern, value) =
            rebuilt.clone().unwrap_or_else(|| (quote! { __mind_value }, quote! { __mind_value }));
        let into_doc = format!(
            "Calls [`{name}`]({name}()), writes the results into `out` and uses `workspace` for temporaries. The workspace \
             needs `{name}::{}` bytes; one made by `Workspace::new()` grows to that size. Nothing else is allocated{}.",
            if item.plan.symbols.is_empty() { "PEAK_BYTES" } else { "peak_bytes(…)" },
            if external::has_any(item.plan) { ", except by the functions that it calls" } else { "" }
        );
        let (lints, error) = (lints(), quote! { #root::Error });
        let call = quote! {
            match #parts::call(#(#arguments),*) {
                ::core::result::Result::Ok(#pattern) => #value,
                ::core::result::Result::Err(__mind_error) => #root::fail(__mind_error),
            }
        };
        let call = guard(signature.interface.opened(item, call, &quote! { #root::fail(__mind_error) }));
        // The binding is outside of the guard, which accepts only an expression.
        let into = quote! { #parts::into(#(#arguments,)* #out_argument #workspace) };
        let into = guard(signature.interface.opened(
            item,
            into,
            &quote! { ::core::result::Result::Err(__mind_error) },
        ));
        let (function, out) = (keyword_at("fn", name), out.clone().map(|out| stand_at(name.span(), out)));
        let workspace = stand_at(name.span(), quote! { #workspace: &mut #root::Workspace });
        let (call, into) = (braces_at(name, call), braces_at(name, quote! { #out_binding #into }));
        quote! {
            #attributes
            #shapes
            #[track_caller]
            #lints
            #visibility #function #name #generics (#(#parameters),*) -> #result #call
            #[doc = #into_doc]
            #lints
            #visibility #function #into_name #generics (#(#parameters,)* #out #workspace)
                -> ::core::result::Result<(), #error>
                #into
        }
    }

    /// The `try_` form.
    pub fn try_form(&self, guard: &Guard<'_>) -> TokenStream {
        let Self { item, signature } = self;
        let (root, visibility, name) = (item.root, visibility_at(&item.visibility), &item.name);
        let (try_name, parts) = (format_ident!("try_{}", name), parts(name));
        let Interface { generics, parameters, arguments, result, rebuilt, .. } = &signature.interface;
        // The `Result` is returned unchanged if there is nothing to rebuild.
        let map = rebuilt.as_ref().map(|(pattern, value)| quote! { .map(|#pattern| #value) });
        let lints = lints();
        let doc = format!("Calls [`{name}`]({name}()) and returns errors at run time instead of panicking.");
        let call = quote! { #parts::call(#(#arguments),*) };
        let reports = call::refuses_matrices(self.item.plan);
        let call = if reports {
            quote! { #root::reporting(|| #call) }
        } else {
            call
        };
        let call = quote! { #call #map };
        let call = guard(signature.interface.opened(
            item,
            call,
            &quote! { ::core::result::Result::Err(__mind_error) },
        ));
        let (function, call) = (keyword_at("fn", name), braces_at(name, call));
        quote! {
            #[doc = #doc]
            #lints
            #visibility #function #try_name #generics (#(#parameters),*) -> ::core::result::Result<#result, #root::Error> #call
        }
    }

    /// Whether a call can fail at run time.
    pub fn is_fallible(&self) -> bool {
        self.is_fallible_anyhow()
            || !self.item.plan.requirements.is_empty()
            || self.item.plan.steps.iter().any(Step::can_fail)
    }

    /// Whether the signature alone makes a call fallible.
    pub fn is_fallible_anyhow(&self) -> bool {
        !self.item.plan.symbols.is_empty() || self.signature.has_open_extents()
    }
}

/// The name of the module with the functions that the forms call. No module of the user can have it.
fn parts(name: &Ident) -> Ident {
    let place = name.span().start();
    format_ident!("__mind_parts_{}_{}_{}", name, place.line, place.column, span = Span::call_site())
}

/// Lints that must not apply to the forms.
fn lints() -> TokenStream {
    quote! {
        #[allow(
            clippy::too_many_arguments, clippy::type_complexity, clippy::used_underscore_binding, dead_code,
            non_camel_case_types, non_snake_case,
        )]
    }
}
