//! The functions that the user calls: parameters and results have the user's names, and structs are passed as a whole.
//! The functions of the module take and return the fields of structs one by one, since the structs may not be in scope
//! there.

use mind_core::surface::lower::{StructType, Structure};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use super::{
    Arguments, Item, Parameter, Root, bounds,
    names::{self, Names},
    signature::{ParameterDim, dim_type, dtype, parameter_dims, parameter_type, shape_type},
    structs::{self, Borrow},
};

/// The pieces of the functions that the user calls.
pub(super) struct Interface {
    /// `<N: Dim>`, or nothing.
    pub(super) generics: TokenStream,
    /// `x: &TensorRef<…>`, `p: &Mlp`
    pub(super) parameters: Vec<TokenStream>,
    /// The arguments for the functions of the module: `x`, and the tensors and numbers of a struct.
    pub(super) arguments: Vec<TokenStream>,
    /// The type of the result.
    pub(super) result: TokenStream,
    /// The parameter for results, `out: &mut Mlp,`, or nothing.
    pub(super) out: Option<TokenStream>,
    /// The argument for results, for the functions of the module.
    pub(super) out_argument: Option<TokenStream>,
    /// Destructures `out` if it contains structs.
    pub(super) out_binding: Option<TokenStream>,
    /// The pattern for the result of a function of the module, and the user's result built from it. `None` if the two
    /// are the same.
    pub(super) rebuilt: Option<(TokenStream, TokenStream)>,
    /// The parameter for the workspace.
    pub(super) workspace: Ident,
    /// The parameters that must be converted to tensors first, and whether they are updated.
    pub(super) opened: Vec<(Ident, bool)>,
    /// For each parameter that is a struct, the pattern of its parts and the expression to match.
    taken: Vec<(TokenStream, TokenStream)>,
}

impl Interface {
    pub(super) fn new(item: &Item<'_>) -> Self {
        let mut names = Names::default();
        let mut generics: Vec<Ident> = item.symbols.clone();
        let (mut parameters, mut arguments, mut opened) = (Vec::new(), Vec::new(), Vec::new());
        let mut structs = Vec::new();
        for parameter in &item.parameters {
            names.fresh(&parameter.name.to_string());
            if let Some(ty) = any_type(parameter, &mut generics, item) {
                let (name, borrow) = (&parameter.name, borrow(parameter.update));
                let ty = ending_at(quote! { (impl #ty + ?::core::marker::Sized) }, parameter.end);
                parameters.push(quote! { #name: #borrow #ty });
                arguments.push(quote! { #borrow #name });
                opened.push((name.clone(), parameter.update));
                continue;
            }
            parameters.push(declaration(parameter, &mut generics, item));
            match &parameter.structure {
                Structure::Value(_) | Structure::Tuple(_) => arguments.push(parameter.name.to_token_stream()),
                Structure::Struct(_) => structs.push((arguments.len(), parameter)),
            }
        }
        // The names of parts must not collide with those of parameters.
        let mut taken = Vec::new();
        for (position, parameter) in structs.into_iter().rev() {
            let (parts, own) = destructured(parameter, &mut names);
            taken.push(parts);
            arguments.splice(position..position, own);
        }
        let root = item.root;
        let generics = match generics.is_empty() {
            true => TokenStream::new(),
            false => {
                let bounds = bounds(root, &generics, "Dim");
                quote! { <#bounds> }
            }
        };
        let mut interface = Self {
            generics,
            parameters,
            arguments,
            result: result_type(&item.result, item),
            out: None,
            out_argument: None,
            out_binding: None,
            rebuilt: has_struct(&item.result).then(|| rebuilt(root, &item.result, &mut names)),
            workspace: names::ident("workspace"),
            opened,
            taken,
        };
        if !item.result.leaves().is_empty() {
            let out = names::ident(&names.fresh("out"));
            let ty = out_type(&item.result, item);
            interface.out = Some(quote! { #out: #ty, });
            let (binding, argument) = out_argument(&item.result, &out, &mut names);
            interface.out_binding = binding;
            interface.out_argument = Some(quote! { #argument, });
        }
        interface.workspace = names::ident(&names.fresh("workspace"));
        interface
    }

    /// Wraps `body` in code that converts the parameters in `opened` to tensors and destructures the structs. If a
    /// conversion fails, the value is `failed`, which can use `__mind_error`.
    pub(super) fn opened(&self, item: &Item<'_>, body: TokenStream, failed: &TokenStream) -> TokenStream {
        let (root, function) = (item.root, item.name.to_string());
        let body = self
            .taken
            .iter()
            .fold(body, |body, (pattern, parts)| quote! { match #parts { #pattern => #body } });
        // The first parameter is converted first, so its `match` is the outermost.
        self.opened.iter().rev().fold(body, |body, (name, update)| {
            let text = name.to_string();
            let (open, pattern) = match update {
                true => (quote! { #root::ArgumentMut::write }, quote! { mut #name }),
                false => (quote! { #root::Argument::read }, quote! { #name }),
            };
            quote! {
                match #open(#name, #function, #text) {
                    ::core::result::Result::Ok(#pattern) => #body,
                    ::core::result::Result::Err(__mind_error) => #failed,
                }
            }
        })
    }
}

fn borrow(update: bool) -> TokenStream {
    match update {
        true => quote! { &mut },
        false => quote! { & },
    }
}

/// The trait for the argument types of a tensor parameter. `None` if the parameter has a single type.
fn any_type(parameter: &Parameter, generics: &mut Vec<Ident>, item: &Item<'_>) -> Option<TokenStream> {
    let Parameter { name, structure, update, .. } = parameter;
    let root = item.root;
    match (item.arguments, structure) {
        (Arguments::Any, Structure::Value(ty)) if ty.rank() > 0 => {
            let leaves = structure.named_leaves();
            let (dtype, dims) = (dtype(ty), parameter_dims(&leaves[0], name, generics, item));
            let declared = dims.iter().map(|dim| match dim {
                ParameterDim::Open(ty) => quote! { #root::Open<#ty> },
                ParameterDim::Fixed(extent) => quote! { #root::Fixed<#extent> },
            });
            let bound = match update {
                true => quote! { ArgumentMut },
                false => quote! { Argument },
            };
            let types = dims.iter().map(|dim| dim.ty(root));
            Some(quote! { #root::#bound<#dtype, (#(#types,)*), (#(#declared,)*)> })
        }
        (
            Arguments::Any | Arguments::Tensors,
            Structure::Value(_) | Structure::Tuple(_) | Structure::Struct(_),
        ) => None,
    }
}

fn declaration(parameter: &Parameter, generics: &mut Vec<Ident>, item: &Item<'_>) -> TokenStream {
    let Parameter { name, structure, update, end } = parameter;
    let ty = match structure {
        Structure::Struct(ty) => {
            let dims = ty.dims.iter().enumerate().map(|(position, dim)| {
                dim_type(dim, item).unwrap_or_else(|| {
                    let name = format_ident!("Dim{}Of_{}", position, name);
                    generics.push(name.clone());
                    quote! { #name }
                })
            });
            let dims: Vec<_> = dims.collect();
            structs::struct_type(item.root, ty, &dims)
        }
        Structure::Value(_) | Structure::Tuple(_) => {
            let leaves = structure.named_leaves();
            let leaf = leaves.first().expect("a parameter is a tensor, a number or a struct");
            parameter_type(leaf, name, generics, item)
        }
    };
    let ty = ending_at(ty, *end);
    let is_number = matches!(structure, Structure::Value(ty) if ty.rank() == 0);
    match (is_number, update) {
        (_, true) => quote! { #name: &mut #ty },
        (true, false) => quote! { #name: #ty },
        (false, false) => quote! { #name: &#ty },
    }
}

/// The type with the span of its last token moved to the end of the user's declaration, since rustc shows a parameter
/// from its first to its last token.
fn ending_at(ty: TokenStream, end: Span) -> TokenStream {
    let mut tokens: Vec<TokenTree> = ty.into_iter().collect();
    if let Some(last) = tokens.last_mut() {
        last.set_span(end);
    }
    tokens.into_iter().collect()
}

/// The pattern of the parts of a struct and the expression to match, and the arguments for the functions of the module.
fn destructured(parameter: &Parameter, names: &mut Names) -> ((TokenStream, TokenStream), Vec<TokenStream>) {
    let Parameter { name, structure, update, .. } = parameter;
    let leaves = structure.named_leaves();
    let parts: Vec<Ident> = leaves.iter().map(|_| names::ident(&names.fresh("__mind_part"))).collect();
    let arguments = leaves.iter().zip(&parts).map(|(leaf, part)| match (leaf.ty.rank(), update) {
        (0, false) => quote! { *#part },
        (0, true) => quote! { #part },
        (_, false) => quote! { &**#part },
        (_, true) => quote! { &mut **#part },
    });
    let arguments = arguments.collect();
    let Structure::Struct(ty) = structure else { unreachable!("the caller has seen the struct") };
    let borrow = if *update { Borrow::Unique } else { Borrow::Shared };
    (structs::destructuring(ty, &name.to_token_stream(), borrow, &mut parts.iter()), arguments)
}

fn has_struct(structure: &Structure) -> bool {
    match structure {
        Structure::Value(_) => false,
        Structure::Tuple(parts) => parts.iter().any(has_struct),
        Structure::Struct(_) => true,
    }
}

fn result_type(structure: &Structure, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    match structure {
        Structure::Value(ty) => {
            let dtype = dtype(ty);
            if ty.rank() == 0 {
                return dtype;
            }
            let leaves = structure.named_leaves();
            let shape = shape_type(&leaves[0], item);
            quote! { #root::Tensor<#dtype, #shape> }
        }
        Structure::Tuple(parts) => {
            let parts = parts.iter().map(|part| result_type(part, item));
            quote! { (#(#parts,)*) }
        }
        Structure::Struct(ty) => result_struct(ty, item),
    }
}

/// The type of a struct as a result. Computed dims are dynamic.
fn result_struct(ty: &StructType, item: &Item<'_>) -> TokenStream {
    let dims = ty.dims.iter();
    let dims = dims.map(|dim| dim_type(dim, item).unwrap_or_else(|| quote! { ::core::primitive::usize }));
    structs::struct_type(item.root, ty, &dims.collect::<Vec<_>>())
}

fn out_type(structure: &Structure, item: &Item<'_>) -> TokenStream {
    let root = item.root;
    match structure {
        Structure::Value(ty) if ty.rank() > 0 => {
            let (dtype, leaves) = (dtype(ty), structure.named_leaves());
            let shape = shape_type(&leaves[0], item);
            quote! { &mut #root::TensorRef<#dtype, #shape> }
        }
        Structure::Value(ty) => {
            let dtype = dtype(ty);
            quote! { &mut #dtype }
        }
        Structure::Tuple(parts) => {
            let parts = parts.iter().map(|part| out_type(part, item));
            quote! { (#(#parts,)*) }
        }
        Structure::Struct(ty) => {
            let ty = result_struct(ty, item);
            quote! { &mut #ty }
        }
    }
}

/// The pattern of a result in which structs are tuples, and the result with structs built from it.
fn rebuilt(root: &Root, structure: &Structure, names: &mut Names) -> (TokenStream, TokenStream) {
    match structure {
        Structure::Value(_) => {
            let name = names::ident(&names.fresh("__mind_result"));
            (quote! { #name }, quote! { #name })
        }
        Structure::Tuple(parts) => {
            let parts = parts.iter().map(|part| rebuilt(root, part, names));
            let (patterns, values): (Vec<_>, Vec<_>) = parts.unzip();
            (quote! { (#(#patterns,)*) }, quote! { (#(#values,)*) })
        }
        Structure::Struct(ty) => {
            let mut parts = Vec::new();
            let pattern = parts_pattern(structure, names, &mut parts);
            (pattern, structs::whole_of(root, ty, &mut parts.iter().map(ToTokens::to_token_stream)))
        }
    }
}

/// The pattern of a struct as tuples. Adds the names in it to `parts`.
fn parts_pattern(structure: &Structure, names: &mut Names, parts: &mut Vec<Ident>) -> TokenStream {
    let inner = match structure {
        Structure::Value(_) => {
            let name = names::ident(&names.fresh("__mind_result"));
            parts.push(name.clone());
            return quote! { #name };
        }
        Structure::Tuple(inner) => inner,
        Structure::Struct(ty) => &ty.fields,
    };
    let patterns: Vec<_> = inner.iter().map(|part| parts_pattern(part, names, parts)).collect();
    quote! { (#(#patterns,)*) }
}

/// `let (out_2, …) = out;` if it is needed, and the argument for the functions of the module.
fn out_argument(structure: &Structure, out: &Ident, names: &mut Names) -> (Option<TokenStream>, TokenStream) {
    match structure {
        _ if !has_struct(structure) => (None, quote! { #out }),
        Structure::Struct(ty) => {
            let mut parts = Vec::new();
            let argument = out_parts(structure, names, &mut parts);
            let (pattern, value) =
                structs::destructuring(ty, &out.to_token_stream(), Borrow::Unique, &mut parts.iter());
            (Some(quote! { let #pattern = #value; }), argument)
        }
        Structure::Value(_) => (None, quote! { #out }),
        Structure::Tuple(parts) => {
            let elements: Vec<_> = parts.iter().map(|_| names::ident(&names.fresh("out"))).collect();
            let inner: Vec<_> =
                parts.iter().zip(&elements).map(|(part, name)| out_argument(part, name, names)).collect();
            let bindings = inner.iter().map(|(binding, _)| binding);
            let arguments = inner.iter().map(|(_, argument)| argument);
            (Some(quote! { let (#(#elements,)*) = #out; #(#bindings)* }), quote! { (#(#arguments,)*) })
        }
    }
}

/// Mutable borrows of the parts of a struct, as tuples. Adds the names of the parts to `parts`.
fn out_parts(structure: &Structure, names: &mut Names, parts: &mut Vec<Ident>) -> TokenStream {
    let inner = match structure {
        Structure::Value(ty) => {
            let name = names::ident(&names.fresh("__mind_part"));
            parts.push(name.clone());
            return if ty.rank() == 0 {
                quote! { #name }
            } else {
                quote! { &mut **#name }
            };
        }
        Structure::Tuple(inner) => inner,
        Structure::Struct(ty) => &ty.fields,
    };
    let inner: Vec<_> = inner.iter().map(|part| out_parts(part, names, parts)).collect();
    quote! { (#(#inner,)*) }
}
