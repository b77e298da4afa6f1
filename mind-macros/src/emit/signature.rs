//! The signature of a function in Rust types, and the expressions that go between it and the plan.

use mind_core::{
    dim::Dim,
    ty::{Shape, Type},
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use super::{
    Item, Parameter, ResultType,
    extent::{Arithmetic, extent, symbol_variable},
    names::{self, Names},
};

/// The pieces that the forms of a function share.
pub(super) struct Signature {
    /// `<N: Dim>`, or nothing.
    pub(super) generics: TokenStream,
    /// The parameters under the user's names.
    pub(super) parameters: Vec<TokenStream>,
    /// The user's names.
    pub(super) arguments: Vec<Ident>,
    /// The parameters under names that meet no name of the emitter's.
    pub(super) inner_parameters: Vec<TokenStream>,
    /// Those names.
    pub(super) inner_arguments: Vec<Ident>,
    /// The tensors among the inner parameters, to be read only.
    pub(super) tensors: Vec<TokenStream>,
    /// Borrows of the tensors among the inner parameters.
    pub(super) borrows: Vec<TokenStream>,
    /// The parameter for results, unless there are none.
    pub(super) out: Option<(Ident, TokenStream)>,
    /// The parameter for the workspace.
    pub(super) workspace: Ident,
    result: TokenStream,
}

impl Signature {
    pub(super) fn new(item: &Item<'_>) -> Self {
        let mut names = Names::new();
        for own in ["out", "scalars", "needed", "value", "error"] {
            names.fresh(own);
        }
        item.symbols.iter().for_each(|symbol| _ = names.fresh(&symbol_variable(&symbol.to_string())));
        for position in 0..item.plan.results.len() {
            names.fresh(&format!("result_{position}"));
            names.fresh(&format!("out_{position}"));
        }
        let mut signature = Self {
            generics: TokenStream::new(),
            parameters: Vec::new(),
            arguments: Vec::new(),
            inner_parameters: Vec::new(),
            inner_arguments: Vec::new(),
            tensors: Vec::new(),
            borrows: Vec::new(),
            out: None,
            workspace: Ident::new("workspace", Span::call_site()),
            result: result_type(&item.result, item),
        };
        let mut generics: Vec<Ident> = item.symbols.clone();
        let mut outer = Names::default();
        for parameter in &item.parameters {
            let name = &parameter.name;
            outer.fresh(&name.to_string());
            let inner = names::ident(&names.fresh(&name.to_string()));
            let ty = parameter_type(parameter, &mut generics, item);
            signature.parameters.push(quote! { #name: #ty });
            signature.arguments.push(name.clone());
            signature.inner_parameters.push(quote! { #inner: #ty });
            if parameter.ty.rank() > 0 {
                let ty =
                    parameter_type(&Parameter { update: false, ..parameter.clone() }, &mut Vec::new(), item);
                signature.tensors.push(quote! { #inner: #ty });
                signature.borrows.push(quote! { &*#inner });
            }
            signature.inner_arguments.push(inner);
        }
        if !generics.is_empty() {
            let root = item.root;
            signature.generics = quote! { <#(#generics: #root::Dim),*> };
        }
        if !item.result.leaves().is_empty() {
            let name = names::ident(&outer.fresh("out"));
            signature.out = Some((name, out_type(&item.result, item)));
        }
        signature.workspace = names::ident(&outer.fresh("workspace"));
        signature
    }

    /// The type that a call returns.
    pub(super) fn result_type(&self) -> &TokenStream {
        &self.result
    }

    /// `out: …,` under this name, or nothing.
    pub(super) fn out_parameter(&self, name: Option<&Ident>) -> Option<TokenStream> {
        self.out.as_ref().map(|(outer, ty)| {
            let name = name.unwrap_or(outer);
            quote! { #name: #ty, }
        })
    }
}

/// The value of type `N` that a symbol is bound to: the dim of the first parameter that has it.
pub(super) fn symbol_value(item: &Item<'_>, signature: &Signature, symbol: &Ident) -> TokenStream {
    let symbol = symbol.to_string();
    for (parameter, name) in item.parameters.iter().zip(&signature.inner_arguments) {
        let is_symbol = |dim: &Dim| dim.as_symbol().is_some_and(|known| **known == *symbol);
        if let Some(axis) = parameter.ty.shape.iter().position(is_symbol) {
            let axis = Literal::usize_unsuffixed(axis);
            return quote! { #name.shape().#axis };
        }
    }
    unreachable!("lowering refuses a symbol that no parameter binds")
}

/// `let dim_n = …;` for each symbol.
pub(super) fn bind_sizes(item: &Item<'_>) -> TokenStream {
    let bindings = item.plan.symbols.iter().enumerate().map(|(position, symbol)| {
        let variable = variable(symbol);
        let position = Literal::usize_unsuffixed(position);
        quote! { let #variable = rt::Dim::extent(sizes.#position); }
    });
    bindings.collect()
}

pub(super) fn variable(symbol: &str) -> Ident {
    names::ident(&symbol_variable(symbol))
}

/// What the inner parameters are to `run`: slices and numbers.
pub(super) fn slices(item: &Item<'_>, signature: &Signature) -> Vec<TokenStream> {
    let parameters = item.parameters.iter().zip(&signature.inner_arguments);
    let slices = parameters.map(|(parameter, name)| match (parameter.ty.rank(), parameter.update) {
        (0, _) => quote! { #name },
        (_, false) => quote! { #name.as_slice() },
        (_, true) => quote! { #name.as_mut_slice() },
    });
    slices.collect()
}

/// The shape of a result as a Rust type.
pub(super) fn shape_type(shape: &Shape, item: &Item<'_>) -> TokenStream {
    let dims = shape.iter().map(|dim| dim_type(dim, item).unwrap_or_else(|| quote! { usize }));
    quote! { (#(#dims,)*) }
}

/// The shape of a result as a value, given `sizes` and the symbols' variables.
pub(super) fn shape_value(shape: &Shape, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    let dims = shape.iter().map(|dim| {
        if dim.as_literal().is_some() {
            return quote! { #root::Const };
        }
        match dim.as_symbol().and_then(|symbol| item.symbols.iter().position(|known| *known == **symbol)) {
            Some(position) => {
                let position = Literal::usize_unsuffixed(position);
                quote! { sizes.#position }
            }
            // A size that does not fit is one that cannot be allocated.
            None => super::parse(&extent(dim, Arithmetic::Saturating)),
        }
    });
    quote! { (#(#dims,)*) }
}

/// The result built from `result_0`, `result_1`, … and the numbers in `scalars`.
pub(super) fn result_value(item: &Item<'_>) -> TokenStream {
    let (mut leaf, mut scalar) = (0usize, 0usize);
    build(&item.result, &mut |ty| {
        let value = if ty.rank() == 0 {
            let position = Literal::usize_unsuffixed(scalar);
            scalar += 1;
            quote! { scalars.#position }
        } else {
            let name = format_ident!("result_{}", leaf);
            quote! { #name }
        };
        leaf += 1;
        value
    })
}

/// The pattern that takes `out` apart into `out_0`, `out_1`, …
pub(super) fn out_pattern(item: &Item<'_>) -> TokenStream {
    let mut leaf = 0usize;
    build(&item.result, &mut |_| {
        let name = format_ident!("out_{}", leaf);
        leaf += 1;
        quote! { #name }
    })
}

fn build(result: &ResultType, leaf: &mut dyn FnMut(&Type) -> TokenStream) -> TokenStream {
    match result {
        ResultType::Leaf(ty) => leaf(ty),
        ResultType::Tuple(parts) => {
            let parts = parts.iter().map(|part| build(part, leaf));
            quote! { (#(#parts,)*) }
        }
    }
}

fn result_type(result: &ResultType, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    build(result, &mut |ty| {
        let dtype = dtype(ty);
        if ty.rank() == 0 {
            return quote! { #dtype };
        }
        let shape = shape_type(&ty.shape, item);
        quote! { #root::Tensor<#dtype, #shape> }
    })
}

fn out_type(result: &ResultType, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    build(result, &mut |ty| {
        let dtype = dtype(ty);
        if ty.rank() == 0 {
            return quote! { &mut #dtype };
        }
        let shape = shape_type(&ty.shape, item);
        quote! { &mut #root::TensorRef<#dtype, #shape> }
    })
}

/// The Rust type of a parameter; a computed dim becomes a generic parameter of its own.
fn parameter_type(parameter: &Parameter, generics: &mut Vec<Ident>, item: &Item<'_>) -> TokenStream {
    let (root, dtype) = (item.root, dtype(&parameter.ty));
    let borrow = if parameter.update {
        quote! { &mut }
    } else {
        quote! { & }
    };
    if parameter.ty.rank() == 0 {
        return if parameter.update {
            quote! { &mut #dtype }
        } else {
            quote! { #dtype }
        };
    }
    let dims = parameter.ty.shape.iter().enumerate().map(|(axis, dim)| {
        dim_type(dim, item).unwrap_or_else(|| {
            let name = format_ident!("Dim{}Of_{}", axis, parameter.name);
            generics.push(name.clone());
            quote! { #name }
        })
    });
    let dims: Vec<_> = dims.collect();
    quote! { #borrow #root::TensorRef<#dtype, (#(#dims,)*)> }
}

/// The type of a dim that is known or a symbol.
fn dim_type(dim: &Dim, item: &Item<'_>) -> Option<TokenStream> {
    let root = item.root;
    if let Some(extent) = dim.as_literal() {
        let extent = Literal::i64_unsuffixed(extent);
        return Some(quote! { #root::Const<#extent> });
    }
    let symbol = dim.as_symbol()?;
    item.symbols.iter().find(|known| **known == **symbol).map(|symbol| quote! { #symbol })
}

fn dtype(ty: &Type) -> TokenStream {
    let name = format_ident!("{}", ty.dtype.name());
    quote! { ::core::primitive::#name }
}

/// The doc section that tells the shapes in the user's words.
pub(super) fn shape_section(item: &Item<'_>) -> TokenStream {
    let mut lines = vec![" # Shapes".to_string(), String::new()];
    for parameter in &item.parameters {
        let update = if parameter.update { ", updated in place" } else { "" };
        lines.push(format!(" - `{}`: `{}`{update}", parameter.name, parameter.ty));
    }
    lines.push(format!(" - returns `{}`", result_text(&item.result)));
    if !item.attributes.is_empty() {
        lines.insert(0, String::new());
    }
    quote! { #(#[doc = #lines])* }
}

fn result_text(result: &ResultType) -> String {
    match result {
        ResultType::Leaf(ty) => ty.to_string(),
        ResultType::Tuple(parts) => {
            format!("({})", parts.iter().map(result_text).collect::<Vec<_>>().join(", "))
        }
    }
}
