//! The modules beside a function: what its forms call, and what users see of it.

use std::collections::BTreeSet;

use mind_core::{
    dim::{Bindings, Dim},
    ops::Requirement,
    plan::{Listing, Plan, Returned, Scalar, Step, listing},
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    Emitter, Root,
    body::size_parameters,
    extent::{Arithmetic, extent, symbol_variable},
    external,
    item::{Constants, Item},
    iteration, parts, product,
    signature::{self, Input, Signature},
    steps,
    tokens::{braces_at, keyword_at, parse, stand_at, visibility_at},
    watched::WatchedText,
};

impl Emitter<'_> {
    /// The modules beside the function: what it calls, and what it is made of.
    pub fn module(&self) -> TokenStream {
        let Self { item, signature } = self;
        let plan =
            listing(&Listing { plan: item.plan, value_name: item.value_name, bindings: &Bindings::new() });
        let (parts, public) = (parts(&item.name), public_module(item, &plan));
        let (preamble, sizes) = (preamble(item.root), sizes(item));
        let externs = external::functions(item.plan, item.value_span, 0);
        let loops = loops(item, item.plan, 0, Loops::Run);
        let run = parse(&steps::run(
            item.plan,
            &item.name.to_string(),
            item.value_name,
            item.value_said,
            item.lengths,
        ));
        let check = check(item, signature);
        let call = call(item, signature);
        let into = into(item, signature);
        quote! {
            #[allow(non_snake_case, non_camel_case_types, dead_code)]
            mod #parts {
                #preamble
                #sizes
                #check
                #call
                #into
                #externs
                #loops
                #run
            }
            #public
        }
    }

    /// The module of a function whose body is in error.
    pub fn fallback_module(&self) -> TokenStream {
        let Self { item, signature } = self;
        let (root, parts, public) = (item.root, parts(&item.name), public_module(item, ""));
        let Signature { generics, parameters, result, .. } = &signature;
        let out = signature.out_parameter();
        quote! {
            #[allow(unused, warnings, clippy::all)]
            mod #parts {
                use #root as rt;
                pub(super) fn call #generics (#(#parameters),*) -> ::core::result::Result<#result, rt::Error> {
                    ::core::unreachable!()
                }
                pub(super) fn into #generics (#(#parameters,)* #out workspace: &mut rt::Workspace)
                    -> ::core::result::Result<(), rt::Error> {
                    ::core::unreachable!()
                }
            }
            #public
        }
    }
}

/// The module that users see: what the function is made of.
fn public_module(item: &Item<'_>, plan: &str) -> TokenStream {
    let (root, name, import) = (item.root, &item.name, &item.import);
    let visibility = visibility_at(&item.visibility);
    let doc = format!("What [`{name}`]({name}()) is made of.");
    let Constants { core_ir, mic, updates, params, flops } = &item.constants;
    let params = quantity(item, "params", "The number of elements in the parameters.", params);
    let flops = quantity(item, "flops", "The arithmetic operations of a call.", flops);
    let (preamble, sizes) = (preamble(root), sizes(item));
    let loops = loops(item, item.plan, 0, Loops::Sizes);
    let inside = quote! {
        #preamble
        /// The Core IR, as text.
        pub const CORE_IR: &str = #core_ir;
        /// The same as MIC, the compact form.
        pub const MIC: &str = #mic;
        /// The positions of the inputs that the last outputs of the module update, in order.
        pub const UPDATES: &[usize] = &[#(#updates),*];
        /// What runs, step by step: kernels, what was fused into them, and where temporaries lie.
        pub const PLAN: &str = #plan;
        #params
        #flops
        #sizes
        #loops
        #import
    };
    let (module, inside) = (keyword_at("mod", name), braces_at(name, stand_at(name.span(), inside)));
    quote! {
        #[doc = #doc]
        #[allow(non_snake_case, non_camel_case_types, dead_code)]
        #visibility #module #name #inside
    }
}

/// What both modules of a function begin with.
fn preamble(root: &Root) -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use #root as rt;
        // For modules that are without.
        #[allow(unused_imports)]
        use ::core::prelude::v1::*;
        #[allow(unused_imports)]
        use rt::Dim as _;
    }
}

/// What the modules of loops hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    /// How much memory a step needs.
    Sizes,
    /// That, and the function that runs it.
    Run,
}

/// A module for each loop of a plan, which is the body of so many loops that stand in each other.
fn loops(item: &Item<'_>, plan: &Plan, depth: usize, held: Loops) -> TokenStream {
    let modules = iteration::loops(plan).enumerate().map(|(position, of)| {
        let (body, name) = (&*of.body, format_ident!("{}", iteration::module(position)));
        let (preamble, lens) = (preamble(item.root), parse(&lens(body)));
        let (geometries, inner) = (parse(&product::geometries(body)), loops(item, body, depth + 1, held));
        let run = (held == Loops::Run).then(|| {
            let (function, none) = (item.name.to_string(), &|_| None);
            let run = steps::run(body, &function, none, &|_| WatchedText::default(), item.lengths);
            let (run, externs) = (parse(&run), external::functions(body, &|_| None, depth + 1));
            quote! { #externs #run }
        });
        quote! {
            #[allow(dead_code)]
            mod #name {
                #preamble
                #lens
                #geometries
                #inner
                #run
            }
        }
    });
    modules.collect()
}

/// How much memory a call needs; in both modules, since neither sees the other where a block stands in a function.
fn sizes(item: &Item<'_>) -> TokenStream {
    let (peak, lens) = (peak_bytes(item), parse(&lens(item.plan)));
    let geometries = parse(&product::geometries(item.plan));
    quote! { #peak #lens #geometries }
}

/// A constant, or a function of the symbols.
fn quantity(item: &Item<'_>, name: &str, doc: &str, dim: &Dim) -> TokenStream {
    let upper = name.to_uppercase();
    if item.plan.symbols.is_empty() {
        let value = extent(dim, Arithmetic::Saturating);
        return parse(&format!("/// {doc}\npub const {upper}: u64 = {value};"));
    }
    let parameters = size_parameters(item.plan);
    parse(&format!(
        "/// {doc}\n#[must_use] #[allow(unused)] pub const fn {name}({parameters}) -> u64 {{ ({}) as u64 }}",
        extent(dim, Arithmetic::Saturating)
    ))
}

/// The number of elements of each type that the workspace needs.
fn lens(plan: &Plan) -> String {
    let mut fields = String::new();
    for dtype in mind_core::ty::DType::ALL {
        let mut sum = "0_usize".to_string();
        for arena in plan.arenas.iter().filter(|arena| arena.dtype == dtype) {
            sum = format!("{sum}.saturating_add({})", extent(&arena.len, Arithmetic::Saturating));
        }
        let scratch = product::scratch(plan, dtype);
        if scratch != "0" {
            sum = format!("{sum}.saturating_add({scratch})");
        }
        fields.push_str(&format!("{dtype}: {sum}, "));
    }
    let parameters = size_parameters(plan);
    format!(
        "#[allow(unused)] pub(super) const fn lens({parameters}) -> rt::Lens {{ rt::Lens {{ {fields} }} }}"
    )
}

fn peak_bytes(item: &Item<'_>) -> TokenStream {
    let doc = "The bytes of workspace that a call needs beside its arguments and results.";
    let variables: Vec<_> = item.plan.symbols.iter().map(|symbol| symbol_variable(symbol)).collect();
    if variables.is_empty() {
        return parse(&format!("/// {doc}\npub const PEAK_BYTES: usize = rt::segment_bytes(lens());"));
    }
    parse(&format!(
        "/// {doc}\n#[must_use] #[allow(unused)] pub const fn peak_bytes({}) -> usize {{ rt::segment_bytes(lens({})) }}",
        size_parameters(item.plan),
        variables.join(", ")
    ))
}

/// `fn check`: binds the symbols and checks all that signature and shapes require of dynamic dims.
fn check(item: &Item<'_>, signature: &Signature<'_>) -> TokenStream {
    let (generics, tensors) = (&signature.generics, &signature.tensors);
    let symbols = &item.symbols;
    let function = item.name.to_string();
    let (mut bindings, mut checks) = (String::new(), String::new());
    let mut bound: Vec<String> = Vec::new();
    for Input { path: name, name: variable, leaf, .. } in &signature.inputs {
        // Here there are no results yet, which the checks of bounds that this makes superfluous would have to drop.
        let typed = leaf.axes.iter().all(|axis| axis.typed);
        if let Some(len) = leaf.ty.shape.element_count().ok().and_then(|count| count.as_literal())
            && leaf.ty.rank() > 0
            && typed
        {
            bindings.push_str(&format!("rt::check_whole({variable}, {len});\n"));
        }
        for (axis, (dim, known)) in leaf.ty.shape.iter().zip(&leaf.axes).enumerate() {
            if dim.as_literal().is_some() && known.typed {
                continue;
            }
            let found = format!("rt::extents({variable})[{axis}]");
            let first = dim.as_symbol().filter(|symbol| !bound.iter().any(|known| **known == ***symbol));
            if let Some(symbol) = first.filter(|_| known.typed) {
                let extent = symbol_variable(symbol);
                let what = format!("parameter `{name}`");
                bindings.push_str(&format!(
                    "let {extent} = {found};\nrt::check_positive({function:?}, {what:?}, {axis}, {extent} as i64)?;\n"
                ));
                bound.push(symbol.to_string());
                continue;
            }
            let why = match dim.as_literal() {
                Some(_) => "as declared".to_owned(),
                None => dim
                    .as_symbol()
                    .and_then(|symbol| first_use(signature, symbol))
                    .unwrap_or_else(|| dim.to_string()),
            };
            let needed = extent(dim, Arithmetic::Saturating);
            checks.push_str(&format!(
                "rt::check_dim({function:?}, {name:?}, {axis}, {found}, {needed}, {why:?})?;\n"
            ));
        }
    }
    // What is derived is known to be positive before anything is compared with it.
    for requirement in &item.plan.requirements {
        bindings.push_str(&match requirement {
            Requirement::Positive(dim) => {
                format!("rt::check_positive({function:?}, {:?}, 0, {})?;\n", format!("`{dim}`"), signed(dim))
            }
            Requirement::AtMost(low, high) => format!(
                "rt::check_at_most({function:?}, {:?}, {:?}, {}, {})?;\n",
                low.to_string(),
                high.to_string(),
                signed(low),
                signed(high)
            ),
        });
    }
    for count in counts(item.plan) {
        let value = extent(&count, Arithmetic::Saturating);
        checks.push_str(&format!("rt::check_count({:?}, {value})?;\n", count.to_string()));
    }
    let (bindings, checks) = (parse(&bindings), parse(&checks));
    let sizes: Vec<_> = symbols.iter().map(|symbol| signature::symbol_value(signature, symbol)).collect();
    quote! {
        #[allow(unused, clippy::all, clippy::pedantic)]
        #[inline]
        pub(super) fn check #generics (#(#tensors),*) -> ::core::result::Result<(#(#symbols,)*), rt::Error> {
            #bindings
            #checks
            ::core::result::Result::Ok((#(#sizes,)*))
        }
    }
}

/// The numbers of elements that loops go over, where symbols decide them and no tensor of the caller has as many.
fn counts(plan: &Plan) -> BTreeSet<Dim> {
    let known: BTreeSet<Dim> =
        plan.inputs.iter().filter_map(|input| input.ty.shape.element_count().ok()).collect();
    let space = "the indices of a nest are those of a value, which are within the limits";
    let loops = plan.steps.iter().filter_map(|step| match step {
        Step::Nest(nest) => Some(Dim::product(&nest.extents).expect(space)),
        _ => None,
    });
    let mut asked = Vec::new();
    let mut ask = |scalar: &Scalar| {
        if let Scalar::Count { count, .. } = scalar {
            asked.push(count.clone());
        }
    };
    plan.steps.iter().for_each(|step| step.for_each_scalar(&mut ask));
    plan.returned.iter().for_each(|returned| match returned {
        Returned::Scalar(scalar) => ask(scalar),
        Returned::Buffer(_) => {}
    });
    let is_open = |count: &Dim| count.as_literal().is_none() && count.as_symbol().is_none();
    loops.chain(asked).filter(|count| is_open(count) && !known.contains(count)).collect()
}

fn signed(dim: &Dim) -> String {
    match dim.as_literal() {
        Some(value) => format!("{value}_i64"),
        None => extent(dim, Arithmetic::Signed),
    }
}

/// Where a symbol is bound, for messages: ``N, from `x` ``.
fn first_use(signature: &Signature<'_>, symbol: &str) -> Option<String> {
    let names = |input: &&Input<'_>| {
        let mut axes = input.leaf.ty.shape.iter().zip(&input.leaf.axes);
        axes.any(|(dim, axis)| axis.typed && dim.as_symbol().is_some_and(|known| &**known == symbol))
    };
    signature.inputs.iter().find(names).map(|input| format!("{symbol}, from `{}`", input.path))
}

/// `fn call`: checks, allocates the results and runs with this thread's workspace.
fn call(item: &Item<'_>, signature: &Signature<'_>) -> TokenStream {
    let Signature { generics, parameters, borrows, result, .. } = signature;
    let bind = signature::bind_sizes(item);
    let variables: Vec<_> = item.plan.symbols.iter().map(|symbol| signature::variable(symbol)).collect();
    let (mut allocations, mut slices) = (TokenStream::new(), Vec::new());
    let leaves = item.result.named_leaves();
    for (position, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.ty.rank() > 0) {
        let name = format_ident!("result_{}", position);
        let (ty, shape) = (signature::shape_type(leaf, item), signature::shape_value(leaf, item));
        let dtype = format_ident!("{}", leaf.ty.dtype.name());
        allocations.extend(quote! { let mut #name = rt::allocate::<#dtype, #ty>(#shape)?; });
        slices.push(quote! { #name.as_mut_slice() });
    }
    let inputs = signature::slices(item, signature);
    let value = signature::result_value(item);
    let (lens, with) = match variables.is_empty() {
        true => (quote! { const { lens() } }, quote! { rt::with_scratch::<PEAK_BYTES, _> }),
        false => (quote! { lens(#(#variables),*) }, quote! { rt::with_segments }),
    };
    quote! {
        #[allow(unused, clippy::all, clippy::pedantic)]
        #[inline]
        pub(super) fn call #generics (#(#parameters),*) -> ::core::result::Result<#result, rt::Error> {
            let sizes = check(#(#borrows),*)?;
            #bind
            #allocations
            let lens = #lens;
            let scalars = #with(lens, |segments| run(sizes, #(#inputs,)* #(#slices,)* segments))?;
            ::core::result::Result::Ok(#value)
        }
    }
}

/// `fn into`: checks and runs with the caller's results and workspace.
fn into(item: &Item<'_>, signature: &Signature<'_>) -> TokenStream {
    let Signature { generics, parameters, borrows, .. } = signature;
    let bind = signature::bind_sizes(item);
    let variables: Vec<_> = item.plan.symbols.iter().map(|symbol| signature::variable(symbol)).collect();
    let function = item.name.to_string();
    let out = signature.out_parameter();
    let pattern = signature::out_pattern(item);
    let pattern = signature.out.is_some().then(|| quote! { let #pattern = out; });
    let (mut checks, mut slices, mut stores) = (String::new(), Vec::new(), TokenStream::new());
    let mut scalar = 0;
    for (position, leaf) in item.result.named_leaves().into_iter().enumerate() {
        let name = format_ident!("out_{}", position);
        if leaf.ty.rank() == 0 {
            let position = proc_macro2::Literal::usize_unsuffixed(scalar);
            stores.extend(quote! { *#name = scalars.#position; });
            scalar += 1;
            continue;
        }
        slices.push(quote! { #name.as_mut_slice() });
        for (axis, (dim, known)) in leaf.ty.shape.iter().zip(&leaf.axes).enumerate() {
            if dim.as_literal().is_some() && known.typed {
                continue;
            }
            checks.push_str(&format!(
                "rt::check_dim({function:?}, \"out\", {axis}, rt::extents({name})[{axis}], {}, {:?})?;\n",
                extent(dim, Arithmetic::Saturating),
                dim.to_string()
            ));
        }
    }
    let checks = parse(&checks);
    let inputs = signature::slices(item, signature);
    quote! {
        #[allow(unused, clippy::all, clippy::pedantic)]
        #[inline]
        pub(super) fn into #generics (#(#parameters,)* #out workspace: &mut rt::Workspace)
            -> ::core::result::Result<(), rt::Error> {
            let sizes = check(#(#borrows),*)?;
            #bind
            #pattern
            #checks
            let segments = workspace.segments(lens(#(#variables),*))?;
            let scalars = run(sizes, #(#inputs,)* #(#slices,)* segments)?;
            #stores
            ::core::result::Result::Ok(())
        }
    }
}
