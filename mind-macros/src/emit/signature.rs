//! The signature of a function in Rust types, and the expressions that convert between it and the plan.

use mind_core::{
    dim::Dim,
    surface::lower::{Leaf, Structure},
    ty::Type,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{
    Item, Root,
    extent::{Arithmetic, extent, symbol_variable},
    interface::Interface,
    names::{self, Names},
};

/// The pieces that the forms of a function share.
pub(super) struct Signature<'a> {
    /// The signature of the function that the user calls.
    pub(super) interface: Interface,
    /// The tensors and numbers that the functions of the module take. Structs are replaced by their fields.
    pub(super) inputs: Vec<Input<'a>>,
    /// `<N: Dim>` of the functions of the module, or nothing.
    pub(super) generics: TokenStream,
    /// The parameters of the functions of the module.
    pub(super) parameters: Vec<TokenStream>,
    /// The tensors among these, as shared borrows.
    pub(super) tensors: Vec<TokenStream>,
    /// Shared borrows of the tensors, as arguments.
    pub(super) borrows: Vec<TokenStream>,
    /// The parameter for results, unless there are none.
    pub(super) out: Option<TokenStream>,
    /// The type of the result. Structs are tuples of their fields.
    pub(super) result: TokenStream,
}

/// A tensor or number that the functions of the module take: a parameter, or a field of one.
pub(super) struct Input<'a> {
    /// The name in messages, such as `p.w`.
    pub(super) path: String,
    /// A name that does not collide with names of the emitter.
    pub(super) name: Ident,
    pub(super) leaf: Leaf<'a>,
    pub(super) update: bool,
}

impl<'a> Signature<'a> {
    pub(super) fn new(item: &'a Item<'_>) -> Self {
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
            interface: Interface::new(item),
            inputs: inputs(item, &mut names),
            generics: TokenStream::new(),
            parameters: Vec::new(),
            tensors: Vec::new(),
            borrows: Vec::new(),
            out: None,
            result: result_type(&item.result, item),
        };
        let mut generics: Vec<Ident> = item.symbols.clone();
        for Input { name, leaf, update, .. } in &signature.inputs {
            let ty = parameter_type(leaf, name, &mut generics, item);
            if leaf.ty.rank() == 0 {
                let ty = if *update {
                    quote! { &mut #ty }
                } else {
                    ty
                };
                signature.parameters.push(quote! { #name: #ty });
                continue;
            }
            let borrow = if *update {
                quote! { &mut }
            } else {
                quote! { & }
            };
            signature.parameters.push(quote! { #name: #borrow #ty });
            signature.tensors.push(quote! { #name: &#ty });
            signature.borrows.push(quote! { &*#name });
        }
        if !generics.is_empty() {
            let root = item.root;
            signature.generics = quote! { <#(#generics: #root::Dim),*> };
        }
        if !item.result.leaves().is_empty() {
            signature.out = Some(out_type(&item.result, item));
        }
        signature
    }

    /// `out: …,`, or nothing.
    pub(super) fn out_parameter(&self) -> Option<TokenStream> {
        self.out.as_ref().map(|ty| quote! { out: #ty, })
    }

    /// Whether the Rust types leave an extent open that the program determines.
    pub(super) fn has_open_extents(&self) -> bool {
        self.inputs.iter().any(|input| input.leaf.axes.iter().any(|axis| !axis.typed))
    }
}

fn inputs<'a>(item: &'a Item<'_>, names: &mut Names) -> Vec<Input<'a>> {
    let mut inputs = Vec::new();
    for parameter in &item.parameters {
        for leaf in parameter.structure.named_leaves() {
            let fields: String = leaf.path.iter().map(|field| format!(".{field}")).collect();
            let path = format!("{}{fields}", parameter.name);
            let name = names::ident(&names.fresh(&path));
            inputs.push(Input { path, name, leaf, update: parameter.update });
        }
    }
    inputs
}

/// The value of type `N` for a symbol: the dim of the first input that contains the symbol.
pub(super) fn symbol_value(signature: &Signature<'_>, symbol: &Ident) -> TokenStream {
    let symbol = symbol.to_string();
    for Input { name, leaf, .. } in &signature.inputs {
        let mut axes = leaf.ty.shape.iter().zip(&leaf.axes);
        let is_symbol = |dim: &Dim| dim.as_symbol().is_some_and(|known| **known == *symbol);
        if let Some(axis) = axes.position(|(dim, axis)| axis.typed && is_symbol(dim)) {
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

/// The inputs as arguments of `run`: slices and numbers.
pub(super) fn slices(item: &Item<'_>, signature: &Signature<'_>) -> Vec<TokenStream> {
    let inputs = signature.inputs.iter().zip(&item.plan.inputs);
    let slices = inputs.map(|(Input { name, leaf, update, .. }, planned)| match (leaf.ty.rank(), update) {
        (0, true) if !planned.updated => quote! { *#name },
        (0, _) => quote! { #name },
        (_, false) => quote! { #name.as_slice() },
        (_, true) => quote! { #name.as_mut_slice() },
    });
    slices.collect()
}

/// The shape of a result as a Rust type.
pub(super) fn shape_type(leaf: &Leaf<'_>, item: &Item<'_>) -> TokenStream {
    let dims = leaf.ty.shape.iter().zip(&leaf.axes);
    let dims = dims.map(|(dim, axis)| {
        dim_type(dim, item).filter(|_| axis.typed).unwrap_or_else(|| quote! { ::core::primitive::usize })
    });
    quote! { (#(#dims,)*) }
}

/// The shape of a result as a value, given `sizes` and the symbols' variables.
pub(super) fn shape_value(leaf: &Leaf<'_>, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    let dims = leaf.ty.shape.iter().zip(&leaf.axes).map(|(dim, axis)| {
        if dim.as_literal().is_some() && axis.typed {
            return quote! { #root::Const };
        }
        let symbol = dim.as_symbol().filter(|_| axis.typed);
        match symbol.and_then(|symbol| item.symbols.iter().position(|known| *known == **symbol)) {
            Some(position) => {
                let position = Literal::usize_unsuffixed(position);
                quote! { sizes.#position }
            }
            // A size that overflows saturates, and then cannot be allocated.
            None => super::parse(&extent(dim, Arithmetic::Saturating)),
        }
    });
    quote! { (#(#dims,)*) }
}

/// The result built from `result_0`, `result_1`, … and the numbers in `scalars`.
pub(super) fn result_value(item: &Item<'_>) -> TokenStream {
    let mut scalar = 0usize;
    build(&item.result, &mut |position, leaf| {
        if leaf.ty.rank() > 0 {
            let name = format_ident!("result_{}", position);
            return quote! { #name };
        }
        let number = Literal::usize_unsuffixed(scalar);
        scalar += 1;
        quote! { scalars.#number }
    })
}

/// The pattern that destructures results into `out_0`, `out_1`, …
pub(super) fn out_pattern(item: &Item<'_>) -> TokenStream {
    build(&item.result, &mut |position, _| {
        let name = format_ident!("out_{}", position);
        quote! { #name }
    })
}

/// A tuple of the tokens that `make` returns for each leaf. Structs become tuples too.
pub(super) fn build(
    structure: &Structure,
    make: &mut dyn FnMut(usize, &Leaf<'_>) -> TokenStream,
) -> TokenStream {
    fn part(structure: &Structure, made: &mut dyn Iterator<Item = TokenStream>) -> TokenStream {
        let parts: Vec<_> = match structure {
            Structure::Value(_) => {
                return made.next().expect("there is one for each leaf of the structure");
            }
            Structure::Tuple(parts) => parts.iter().map(|inner| part(inner, made)).collect(),
            Structure::Struct(ty) => ty.fields.iter().map(|inner| part(inner, made)).collect(),
        };
        quote! { (#(#parts,)*) }
    }
    let leaves = structure.named_leaves();
    let made: Vec<_> = leaves.iter().enumerate().map(|(position, leaf)| make(position, leaf)).collect();
    part(structure, &mut made.into_iter())
}

fn result_type(result: &Structure, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    build(result, &mut |_, leaf| {
        let dtype = dtype(leaf.ty);
        if leaf.ty.rank() == 0 {
            return quote! { #dtype };
        }
        let shape = shape_type(leaf, item);
        quote! { #root::Tensor<#dtype, #shape> }
    })
}

fn out_type(result: &Structure, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    build(result, &mut |_, leaf| {
        let dtype = dtype(leaf.ty);
        if leaf.ty.rank() == 0 {
            return quote! { &mut #dtype };
        }
        let shape = shape_type(leaf, item);
        quote! { &mut #root::TensorRef<#dtype, #shape> }
    })
}

/// The Rust type that a parameter refers to. A dim that the type leaves open becomes a new generic parameter.
pub(super) fn parameter_type(
    leaf: &Leaf<'_>,
    name: &Ident,
    generics: &mut Vec<Ident>,
    item: &Item<'_>,
) -> TokenStream {
    let (root, dtype) = (item.root, dtype(leaf.ty));
    if leaf.ty.rank() == 0 {
        return dtype;
    }
    let dims = parameter_dims(leaf, name, generics, item);
    let dims = dims.iter().map(|dim| dim.ty(root));
    quote! { #root::TensorRef<#dtype, (#(#dims,)*)> }
}

/// A dim of a parameter.
pub(super) enum ParameterDim {
    /// A generic parameter of this name.
    Open(Ident),
    /// A static extent.
    Fixed(Literal),
}

impl ParameterDim {
    /// The Rust type of the dim.
    pub(super) fn ty(&self, root: &Root) -> TokenStream {
        match self {
            Self::Open(ty) => quote! { #ty },
            Self::Fixed(extent) => quote! { #root::Const<#extent> },
        }
    }
}

/// The dims of the tensor that a parameter refers to. A dim that the type leaves open becomes a new generic parameter.
pub(super) fn parameter_dims(
    leaf: &Leaf<'_>,
    name: &Ident,
    generics: &mut Vec<Ident>,
    item: &Item<'_>,
) -> Vec<ParameterDim> {
    let dims = leaf.ty.shape.iter().zip(&leaf.axes).enumerate().map(|(axis, (dim, known))| {
        parameter_dim(dim, item).filter(|_| known.typed).unwrap_or_else(|| {
            let name = format_ident!("Dim{}Of_{}", axis, name);
            generics.push(name.clone());
            ParameterDim::Open(name)
        })
    });
    dims.collect()
}

/// The type of a dim that is a number or a symbol. `None` for other dims.
pub(super) fn dim_type(dim: &Dim, item: &Item<'_>) -> Option<TokenStream> {
    parameter_dim(dim, item).map(|dim| dim.ty(item.root))
}

/// The dim if it is a number or a symbol.
fn parameter_dim(dim: &Dim, item: &Item<'_>) -> Option<ParameterDim> {
    if let Some(extent) = dim.as_literal() {
        return Some(ParameterDim::Fixed(Literal::i64_unsuffixed(extent)));
    }
    let symbol = dim.as_symbol()?;
    let symbol = item.symbols.iter().find(|known| **known == **symbol)?;
    Some(ParameterDim::Open(symbol.clone()))
}

pub(super) fn dtype(ty: &Type) -> TokenStream {
    let name = format_ident!("{}", ty.dtype.name());
    quote! { ::core::primitive::#name }
}

/// The doc section with the shapes as the program writes them.
pub(super) fn shape_section(item: &Item<'_>) -> TokenStream {
    let mut lines = vec![" # Shapes".to_string(), String::new()];
    for parameter in &item.parameters {
        let update = if parameter.update { ", updated in place" } else { "" };
        lines.push(format!(" - `{}`: `{}`{update}", parameter.name, parameter.structure));
    }
    lines.push(format!(" - returns `{}`", item.result));
    if !item.attributes.is_empty() {
        lines.insert(0, String::new());
    }
    quote! { #(#[doc = #lines])* }
}
