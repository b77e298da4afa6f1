//! Emits structs of tensors as Rust structs.

use mind_core::{
    diag::Site,
    dim::Dim,
    surface::lower::{Leaf, Seen, Struct, StructType, Structure},
};
use mind_shape::Kind;
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use super::{
    Root, bounds,
    extent::{Arithmetic, extent, symbol_variable},
    names::{self, Names},
    signature::dtype,
    stand_at,
};

/// The Rust struct, its constructors, and its implementation of `Parameters`.
pub fn structure(root: &Root, item: &Struct) -> TokenStream {
    let Struct { attributes, visibility, name, symbols, fields, sound, site, element } = item;
    let generics = generics(root, symbols);
    let declared = fields.iter().map(|field| {
        let (attributes, visibility, name) = (&field.attributes, &field.visibility, &field.name);
        let ty = field
            .structure
            .as_ref()
            .map_or_else(|| quote! { () }, |structure| field_type(root, structure, symbols));
        let doc = element.as_ref().map(|_| {
            let doc = format!("The field `{name}` of all elements.");
            quote! { #[doc = #doc] }
        });
        quote! { #doc #attributes #visibility #name: #ty, }
    });
    let declared: Vec<_> = declared.collect();
    // If a field has an error, possibly no field uses a symbol.
    let unused = (!sound && !symbols.is_empty()).then(|| {
        quote! { #[doc(hidden)] __symbols: ::core::marker::PhantomData<(#(#symbols,)*)>, }
    });
    let (parts, visits) = (parts(root, item), visits(root, item));
    let stack = element.as_ref().map(|element| stack(root, item, element));
    let doc = element.as_ref().map(|element| {
        let doc = format!("A stack of `{element}` values. Each field has an additional leading axis.");
        quote! { #[doc = #doc] #[allow(unreachable_pub, non_camel_case_types)] }
    });
    let (keyword, braces) = written_at(*site, name, quote! { #(#declared)* #unused });
    // The span is that of the keyword. With the span of the name, a language server would resolve the name to these
    // items.
    let constructors = stand_at(keyword.span(), constructors(root, item));
    quote! {
        #doc
        #attributes
        #[allow(dead_code)]
        #visibility #keyword #name #generics #braces
        #constructors
        #parts
        #visits
        #stack
    }
}

/// `struct` and the braces with the fields, with the user's spans. rustc shows a struct from its first to its last
/// token, and proposes a `derive` before the first.
fn written_at(site: Site, name: &Ident, fields: TokenStream) -> (Ident, Group) {
    let (first, last) = match site {
        Site::Tokens { first, last } => (first, last),
        Site::Text { .. } | Site::Nowhere => (name.span(), name.span()),
    };
    let mut braces = Group::new(Delimiter::Brace, fields);
    braces.set_span(last);
    (Ident::new("struct", first), braces)
}

/// `zeros` and the initialisers. If there are symbols, also the forms that take the dims.
fn constructors(root: &Root, item: &Struct) -> TokenStream {
    let Struct { visibility, name, symbols, sound, .. } = item;
    let generics = generics(root, symbols);
    let arguments = arguments(symbols);
    let lints = quote! { #[allow(dead_code, unused, clippy::all, clippy::pedantic)] };
    let mut names = Names::default();
    names.fresh("random");
    let dims: Vec<Ident> =
        symbols.iter().map(|symbol| names::ident(&names.fresh(&symbol.to_string().to_lowercase()))).collect();
    let parameters = quote! { #(#dims: #symbols),* };
    let bindings = symbols.iter().zip(&dims).map(|(symbol, dim)| {
        let variable = names::ident(&symbol_variable(&symbol.to_string()));
        quote! { #[allow(non_snake_case)] let #variable = #root::Dim::extent(#dim); }
    });
    let fields = item.fields.iter().filter_map(|field| {
        let name = &field.name;
        let value = zeros(root, field.structure.as_ref()?, symbols, &dims);
        Some(quote! { #name: #value })
    });
    let zeros = match sound {
        true => quote! { #(#bindings)* Self { #(#fields),* } },
        false => quote! { ::core::unreachable!() },
    };
    let initialisers = ["GlorotUniform", "GlorotNormal", "HeUniform", "HeNormal"].map(|variant| {
        let method = match variant {
            "GlorotUniform" => "glorot_uniform",
            "GlorotNormal" => "glorot_normal",
            "HeUniform" => "he_uniform",
            _ => "he_normal",
        };
        let variant = format_ident!("{variant}");
        let doc = format!("Draws weights by `Initialiser::{variant}`. Fields of rank 0 and 1 are zero.");
        (doc, format_ident!("{method}"), format_ident!("{method}_with"), variant)
    });
    let random = quote! { random: &mut (impl #root::Rng + ?::core::marker::Sized) };
    let with_dims = |zeros_name: &Ident| {
        let draw = initialisers.iter().map(|(doc, method, method_with, variant)| {
            let method = if symbols.is_empty() { method } else { method_with };
            quote! {
                #[doc = #doc]
                #[must_use]
                #[track_caller]
                #visibility fn #method(#(#dims: #symbols,)* #random) -> Self {
                    let mut parameters = Self::#zeros_name(#(#dims),*);
                    #root::Initialiser::#variant.fill(&mut parameters, random);
                    parameters
                }
            }
        });
        let draw: TokenStream = draw.collect();
        quote! {
            #lints
            impl #generics #name #arguments {
                /// Sets every field to zero.
                #[must_use]
                #[track_caller]
                #visibility fn #zeros_name(#parameters) -> Self { #zeros }
                #draw
            }
        }
    };
    if symbols.is_empty() {
        return with_dims(&format_ident!("zeros"));
    }
    let with_dims = with_dims(&format_ident!("zeros_with"));
    let statics = bounds(root, symbols, "StaticDim");
    let values = quote! { #(<#symbols as #root::StaticDim>::DIM),* };
    let draw = initialisers.iter().map(|(doc, method, method_with, _)| {
        quote! {
            #[doc = #doc]
            #[must_use]
            #[track_caller]
            #visibility fn #method(#random) -> Self { Self::#method_with(#values, random) }
        }
    });
    quote! {
        #with_dims
        #lints
        impl<#statics> #name #arguments {
            /// Sets every field to zero.
            #[must_use]
            #[track_caller]
            #visibility fn zeros() -> Self { Self::zeros_with(#values) }
            #(#draw)*
        }
    }
}

/// An expression for zeros of a type whose dimensions are all numbers.
#[cfg(feature = "safetensors")]
pub(crate) fn zeros_of(root: &Root, structure: &Structure) -> TokenStream {
    zeros(root, structure, &[], &[])
}

/// An expression for a field of zeros.
fn zeros(root: &Root, structure: &Structure, symbols: &[Ident], dims: &[Ident]) -> TokenStream {
    let dim = |dim: &Dim| {
        if dim.as_literal().is_some() {
            return quote! { #root::Const };
        }
        let symbol = dim.as_symbol().and_then(|dim| symbols.iter().position(|symbol| *symbol == **dim));
        match symbol {
            Some(position) => {
                let name = &dims[position];
                quote! { #name }
            }
            // A size that overflows saturates, and then cannot be allocated.
            None => super::parse(&extent(dim, Arithmetic::Saturating)),
        }
    };
    match structure {
        Structure::Value(ty) if ty.rank() == 0 => {
            let zero = match ty.dtype.kind() {
                Kind::Float => quote! { 0.0 },
                Kind::Signed | Kind::Unsigned => quote! { 0 },
                Kind::Truth => quote! { false },
            };
            quote! { #zero }
        }
        Structure::Value(ty) => {
            let dims = ty.shape.iter().map(dim);
            quote! { #root::Tensor::zeros_with((#(#dims,)*)) }
        }
        Structure::Tuple(_) => unreachable!("the fields of a struct are no tuples"),
        Structure::Struct(ty) if ty.over().is_some() => {
            let name = struct_name(root, ty);
            let fields = ty.field_names().zip(&ty.fields).map(|(field, structure)| {
                let value = zeros(root, structure, symbols, dims);
                quote! { #field: #value }
            });
            quote! { #name { #(#fields),* } }
        }
        Structure::Struct(ty) if ty.dims.is_empty() => {
            let name = ty.rust_name();
            quote! { #name::zeros() }
        }
        Structure::Struct(ty) => {
            let (name, dims) = (ty.rust_name(), ty.dims.iter().map(dim));
            quote! { #name::zeros_with(#(#dims),*) }
        }
    }
}

/// The methods by which generated code reads and constructs the struct's tensors and numbers. The fields themselves may
/// be private where that code is.
fn parts(root: &Root, item: &Struct) -> TokenStream {
    let Struct { name, symbols, fields, sound, .. } = item;
    if !sound {
        return TokenStream::new();
    }
    let (generics, arguments) = (generics(root, symbols), arguments(symbols));
    let (mut types, mut names, mut shared, mut unique, mut whole) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let [mut bind_shared, mut bind_unique] = [TokenStream::new(), TokenStream::new()];
    for field in fields {
        let (field, structure) = (&field.name, field.structure.as_ref().expect("a sound struct has types"));
        let leaves = structure.named_leaves();
        let own: Vec<Ident> =
            (names.len()..names.len() + leaves.len()).map(|part| format_ident!("part_{}", part)).collect();
        types.extend(leaves.iter().map(|leaf| leaf_type(root, leaf, symbols)));
        match structure {
            Structure::Struct(ty) => {
                let inner = whole_of(root, ty, &mut own.iter().map(ToTokens::to_token_stream));
                let (pattern, value) =
                    destructuring(ty, &quote! { self.#field }, Borrow::Shared, &mut own.iter());
                bind_shared.extend(quote! { let #pattern = #value; });
                let (pattern, value) =
                    destructuring(ty, &quote! { self.#field }, Borrow::Unique, &mut own.iter());
                bind_unique.extend(quote! { let #pattern = #value; });
                shared.extend(own.iter().map(ToTokens::to_token_stream));
                unique.extend(own.iter().map(ToTokens::to_token_stream));
                whole.push(quote! { #field: #inner });
            }
            Structure::Value(_) | Structure::Tuple(_) => {
                shared.push(quote! { &self.#field });
                unique.push(quote! { &mut self.#field });
                whole.extend(own.iter().map(|part| quote! { #field: #part }));
            }
        }
        names.extend(own);
    }
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused, unreachable_pub, clippy::all, clippy::pedantic)]
        impl #generics #name #arguments {
            #[inline]
            pub fn __mind_parts(&self) -> (#(&#types,)*) { #bind_shared (#(#shared,)*) }
            #[inline]
            pub fn __mind_parts_mut(&mut self) -> (#(&mut #types,)*) { #bind_unique (#(#unique,)*) }
            #[inline]
            pub fn __mind_whole(#(#names: #types),*) -> Self { Self { #(#whole),* } }
        }
    }
}

/// The conversions of a stack from its elements, and the methods that read them.
fn stack(root: &Root, item: &Struct, element: &StructType) -> TokenStream {
    let Struct { visibility, name, symbols, .. } = item;
    let (count, symbols_of_element) = symbols.split_first().expect("a stack has the number of its elements");
    let of_element = element.rust_name();
    let dims = arguments(symbols_of_element);
    let of_element = quote! { #of_element #dims };
    let (generics, arguments) = (generics(root, symbols), arguments(symbols));
    let (text, structure) = (name.to_string(), Structure::Struct(element.clone()));
    let leaves = structure.named_leaves();
    let stacked = leaves.iter().enumerate().map(|(position, leaf)| {
        let position = Literal::usize_unsuffixed(position);
        match leaf.ty.rank() {
            0 => quote! { #root::stacked_numbers(#text, parts.iter().map(|parts| *parts.#position))? },
            _ => quote! { #root::stacked_tensors(#text, parts.iter().map(|parts| parts.#position))? },
        }
    });
    let taken = leaves.iter().enumerate().map(|(position, leaf)| {
        let position = Literal::usize_unsuffixed(position);
        match leaf.ty.rank() {
            0 => quote! { *parts.#position.as_slice().get(index)? },
            _ => quote! { #root::tensor_of_stack(parts.#position, index)? },
        }
    });
    let of_arrays = {
        let statics = symbols_of_element.iter().map(|symbol| quote! { #symbol: #root::StaticDim });
        let dims = symbols_of_element.iter().map(|symbol| quote! { #symbol });
        quote! {
            impl<#(#statics,)* const #count: ::core::primitive::usize>
                ::core::convert::From<[#of_element; #count]>
                for #name<#root::Const<{ #count }>, #(#dims),*>
            {
                #[track_caller]
                fn from(elements: [#of_element; #count]) -> Self {
                    const { ::core::assert!(#count > 0, "a stack has one element or more") };
                    match Self::__mind_stack(&elements) {
                        ::core::result::Result::Ok(stack) => stack,
                        ::core::result::Result::Err(error) => #root::fail(error),
                    }
                }
            }
        }
    };
    quote! {
        #[allow(dead_code, unused, private_interfaces, unreachable_pub, clippy::all, clippy::pedantic)]
        impl #generics #name #arguments {
            /// Returns the number of elements.
            #[must_use]
            #visibility fn len(&self) -> ::core::primitive::usize {
                self.__mind_parts().0.dims()[0]
            }
            /// Returns a copy of an element, or `None` if the index is out of range.
            #[must_use]
            #[track_caller]
            #visibility fn get(
                &self,
                index: ::core::primitive::usize,
            ) -> ::core::option::Option<#of_element> {
                let parts = self.__mind_parts();
                ::core::option::Option::Some(<#of_element>::__mind_whole(#(#taken),*))
            }
            fn __mind_stack(elements: &[#of_element]) -> ::core::result::Result<Self, #root::Error> {
                let parts: #root::std::vec::Vec<_> =
                    elements.iter().map(|element| element.__mind_parts()).collect();
                ::core::result::Result::Ok(Self::__mind_whole(#(#stacked),*))
            }
        }
        #[allow(unused, private_interfaces, clippy::all, clippy::pedantic)]
        #of_arrays
        #[allow(unused, private_interfaces, clippy::all, clippy::pedantic)]
        impl #generics ::core::convert::TryFrom<#root::std::vec::Vec<#of_element>> for #name #arguments {
            type Error = #root::Error;
            fn try_from(
                elements: #root::std::vec::Vec<#of_element>,
            ) -> ::core::result::Result<Self, #root::Error> {
                Self::__mind_stack(&elements)
            }
        }
    }
}

/// How the parts of a struct are borrowed.
#[derive(Clone, Copy)]
pub(super) enum Borrow {
    Shared,
    Unique,
}

/// A pattern that binds the parts of a struct's value to `names`, and the expression to match it with. A struct of the
/// library is destructured by its fields, which are public, since it is generic over a struct whose parts it does not
/// know.
pub(super) fn destructuring(
    ty: &StructType,
    value: &TokenStream,
    borrow: Borrow,
    names: &mut dyn Iterator<Item = &Ident>,
) -> (TokenStream, TokenStream) {
    let all = match borrow {
        Borrow::Shared => quote! { #value.__mind_parts() },
        Borrow::Unique => quote! { #value.__mind_parts_mut() },
    };
    if ty.over().is_none() {
        let own = (&mut *names).take(Structure::Struct(ty.clone()).leaves().len());
        return (quote! { (#(#own,)*) }, all);
    }
    let fields = ty.field_names().zip(&ty.fields).map(|(field, structure)| match structure {
        Structure::Struct(inner) => destructuring(inner, &quote! { #value.#field }, borrow, names),
        Structure::Value(_) | Structure::Tuple(_) => {
            let name = names.next().expect("there is a name for each part");
            let part = match borrow {
                Borrow::Shared => quote! { &#value.#field },
                Borrow::Unique => quote! { &mut #value.#field },
            };
            (quote! { #name }, part)
        }
    });
    let (patterns, parts): (Vec<_>, Vec<_>) = fields.unzip();
    (quote! { (#(#patterns,)*) }, quote! { (#(#parts,)*) })
}

/// A reference to one part of the struct in a variable or field. rustc reports an error if that is no such struct.
pub(crate) fn part(
    root: &Root,
    ty: &StructType,
    position: usize,
    place: &TokenStream,
    at: Span,
) -> TokenStream {
    let whole = Ident::new("__whole", at.resolved_at(Span::mixed_site()));
    if ty.over().is_none() {
        let mut name = ty.rust_name().clone();
        name.set_span(at.resolved_at(name.span()));
        let position = Literal::usize_unsuffixed(position);
        let dims = (!ty.dims.is_empty()).then(|| {
            let dims = ty.dims.iter().map(|_| quote! { _ });
            quote! { <#(#dims),*> }
        });
        // With a `let`, rustc reports a mismatch at the variable alone. For an argument it would also show the method.
        return quote_spanned! { at => { let #whole: &#name #dims = &#place; #whole.__mind_parts().#position } };
    }
    let (name, mut start) = (struct_name(root, ty), 0);
    for (field, structure) in ty.field_names().zip(&ty.fields) {
        let leaves = structure.leaves().len();
        if position >= start + leaves {
            start += leaves;
            continue;
        }
        let mut field = field.clone();
        field.set_span(at.resolved_at(field.span()));
        let of_field = quote_spanned! { at => #whole.#field };
        let part = match structure {
            Structure::Struct(inner) => part(root, inner, position - start, &of_field, at),
            Structure::Value(_) | Structure::Tuple(_) => quote_spanned! { at => &#of_field },
        };
        return quote_spanned! { at => { let #whole: &#name<_> = &#place; #part } };
    }
    unreachable!("a leaf of a struct is in one of its fields")
}

/// An expression that constructs the struct from its parts.
pub(crate) fn whole_of(
    root: &Root,
    ty: &StructType,
    parts: &mut dyn Iterator<Item = TokenStream>,
) -> TokenStream {
    let name = struct_name(root, ty);
    if ty.over().is_none() {
        let own = (&mut *parts).take(Structure::Struct(ty.clone()).leaves().len());
        return quote! { #name::__mind_whole(#(#own),*) };
    }
    let fields = ty.field_names().zip(&ty.fields).map(|(field, structure)| {
        let value = match structure {
            Structure::Struct(inner) => whole_of(root, inner, parts),
            Structure::Value(_) | Structure::Tuple(_) => parts.next().expect("each part is given"),
        };
        quote! { #field: #value }
    });
    quote! { #name { #(#fields),* } }
}

/// The name of a struct in Rust, without its arguments in `<…>`.
fn struct_name(root: &Root, ty: &StructType) -> TokenStream {
    let name = ty.rust_name();
    match ty.over() {
        Some((file, _)) => {
            let file = format_ident!("{file}");
            quote! { #root::#file::#name }
        }
        None => quote! { #name },
    }
}

/// `Mlp`, `Dense<N, Const<3>>`, `optim::Adam<Mlp>`
pub(super) fn struct_type(root: &Root, ty: &StructType, dims: &[TokenStream]) -> TokenStream {
    let name = struct_name(root, ty);
    match ty.over() {
        // Its dims are the arguments of the struct that it is generic over.
        Some((_, over)) => {
            let over = struct_type(root, over, dims);
            quote! { #name<#over> }
        }
        None if dims.is_empty() => quote! { #name },
        None => quote! { #name<#(#dims),*> },
    }
}

/// Code that reads each used field of imported structs, so that rustc reports a private field at the place where the
/// program names it.
pub fn seen(root: &Root, seen: &[Seen]) -> TokenStream {
    let fields = seen.iter().map(|Seen { alias, dims, field }| {
        let symbols: Vec<Ident> = (0..*dims).map(|dim| format_ident!("N{}", dim)).collect();
        let (generics, arguments) = (generics(root, &symbols), arguments(&symbols));
        quote! {
            #[allow(unused, clippy::all, clippy::pedantic)]
            const _: () = { fn sees #generics(of: &#alias #arguments) { _ = &of.#field; } };
        }
    });
    fields.collect()
}

/// The type of a tensor or number in a struct.
fn leaf_type(root: &Root, leaf: &Leaf<'_>, symbols: &[Ident]) -> TokenStream {
    let dtype = dtype(leaf.ty);
    if leaf.ty.rank() == 0 {
        return dtype;
    }
    let dims = leaf.ty.shape.iter().zip(&leaf.axes).map(|(dim, axis)| match axis.typed {
        true => dim_type(root, dim, symbols),
        false => quote! { ::core::primitive::usize },
    });
    quote! { #root::Tensor<#dtype, (#(#dims,)*)> }
}

/// The implementation of `Parameters`. It visits every tensor and number with its name; names in nested structs are
/// like `first.w`.
fn visits(root: &Root, item: &Struct) -> TokenStream {
    let Struct { name, symbols, fields, sound, .. } = item;
    let (generics, arguments) = (generics(root, symbols), arguments(symbols));
    let (mut shared, mut unique, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        for leaf in field.structure.iter().flat_map(Structure::named_leaves) {
            let path: Vec<&Ident> = [&field.name].into_iter().chain(leaf.path.iter().copied()).collect();
            let text: Vec<_> =
                path.iter().map(|field| field.to_string().trim_start_matches("r#").to_owned()).collect();
            let text = text.join(".");
            let make = format_ident!("{}", if leaf.ty.rank() == 0 { "number" } else { "tensor" });
            let part = format_ident!("part_{}", parts.len());
            let stacked =
                item.element.as_ref().map_or(0, |element| element.counts().len() + 1).max(leaf.stacked);
            let stacked = (stacked > 0).then(|| {
                let stacked = Literal::usize_unsuffixed(stacked);
                quote! { .stacked(#stacked) }
            });
            shared.push(quote! { visitor(#root::Parameter::#make(#text, #part)); });
            unique.push(quote! { visitor(#root::ParameterMut::#make(#text, #part)#stacked); });
            parts.push(part);
        }
    }
    let [shared, unique] = match sound {
        true => [
            quote! { let (#(#parts,)*) = self.__mind_parts(); #(#shared)* },
            quote! { let (#(#parts,)*) = self.__mind_parts_mut(); #(#unique)* },
        ],
        false => [TokenStream::new(), TokenStream::new()],
    };
    quote! {
        #[allow(unused, clippy::all, clippy::pedantic)]
        impl #generics #root::Parameters for #name #arguments {
            fn visit<'a>(&'a self, visitor: &mut dyn ::core::ops::FnMut(#root::Parameter<'a>)) {
                #shared
            }
            fn visit_mut<'a>(
                &'a mut self,
                visitor: &mut dyn ::core::ops::FnMut(#root::ParameterMut<'a>),
            ) {
                #unique
            }
        }
    }
}

/// `<I, O>`, or nothing.
fn arguments(symbols: &[Ident]) -> TokenStream {
    match symbols.is_empty() {
        true => TokenStream::new(),
        false => quote! { <#(#symbols),*> },
    }
}

/// `<I: Dim, O: Dim>`, or nothing.
fn generics(root: &Root, symbols: &[Ident]) -> TokenStream {
    match symbols.is_empty() {
        true => TokenStream::new(),
        false => {
            let bounds = bounds(root, symbols, "Dim");
            quote! { <#bounds> }
        }
    }
}

fn field_type(root: &Root, structure: &Structure, symbols: &[Ident]) -> TokenStream {
    match structure {
        Structure::Value(ty) if ty.rank() == 0 => dtype(ty),
        Structure::Value(ty) => {
            let (dtype, dims) = (dtype(ty), ty.shape.iter().map(|dim| dim_type(root, dim, symbols)));
            quote! { #root::Tensor<#dtype, (#(#dims,)*)> }
        }
        Structure::Tuple(parts) => {
            let parts = parts.iter().map(|part| field_type(root, part, symbols));
            quote! { (#(#parts,)*) }
        }
        Structure::Struct(ty) => {
            let dims: Vec<_> = ty.dims.iter().map(|dim| dim_type(root, dim, symbols)).collect();
            struct_type(root, ty, &dims)
        }
    }
}

/// The type of a dim of a field. A computed dim is dynamic.
fn dim_type(root: &Root, dim: &Dim, symbols: &[Ident]) -> TokenStream {
    if let Some(extent) = dim.as_literal() {
        let extent = Literal::i64_unsuffixed(extent);
        return quote! { #root::Const<#extent> };
    }
    let symbol = dim.as_symbol().and_then(|dim| symbols.iter().find(|symbol| **symbol == **dim));
    symbol.map_or_else(|| quote! { ::core::primitive::usize }, |symbol| quote! { #symbol })
}
