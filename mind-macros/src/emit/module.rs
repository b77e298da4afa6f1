//! Emits the two modules beside a function: one with the functions that its forms call, and one for users.

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
    steps::{self, Compiled},
    tokens::{braces_at, keyword_at, parse, stand_at, visibility_at},
    watched::WatchedText,
};

impl Emitter<'_> {
    /// Both modules beside the function.
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
            item.watched_text,
            item.lengths,
            // Other crates can call a function that is public, and would compile it again.
            if item.visibility.is_empty() { Compiled::InEachCrate } else { Compiled::Once },
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

    /// The modules of a function whose body has an error.
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

/// The module for users, with the constants of the function.
fn public_module(item: &Item<'_>, plan: &str) -> TokenStream {
    let (root, name, import) = (item.root, &item.name, &item.import);
    let visibility = visibility_at(&item.visibility);
    let doc = format!("Constants that describe [`{name}`]({name}()).");
    let Constants { core_ir, mic, updates, params, flops } = &item.constants;
    let params = quantity(item, "params", "The number of elements in the parameters.", params);
    let flops = quantity(item, "flops", "The arithmetic operations of a call.", flops);
    let (preamble, sizes) = (preamble(root), sizes(item));
    let loops = loops(item, item.plan, 0, Loops::Sizes);
    let inside = quote! {
        #preamble
        /// The program as Core IR text.
        pub const CORE_IR: &str = #core_ir;
        /// The program in MIC, the compact text form.
        pub const MIC: &str = #mic;
        /// The positions of the inputs that the last outputs update, in the order of these outputs.
        pub const UPDATES: &[usize] = &[#(#updates),*];
        /// The execution plan: each step with its kernel, the operations fused into it, and the memory of temporaries.
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

/// The first items of both modules.
fn preamble(root: &Root) -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use #root as rt;
        // For modules without a prelude.
        #[allow(unused_imports)]
        use ::core::prelude::v1::*;
        #[allow(unused_imports)]
        use rt::Dim as _;
    }
}

/// The contents of the modules of loops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    /// The memory that a step needs.
    Sizes,
    /// The same, and the function that runs a step.
    Run,
}

/// A module for each loop of a plan. `plan` is the body of `depth` nested loops.
fn loops(item: &Item<'_>, plan: &Plan, depth: usize, held: Loops) -> TokenStream {
    let modules = iteration::loops(plan).enumerate().map(|(position, of)| {
        let (body, name) = (&*of.body, format_ident!("{}", iteration::module(position)));
        let (preamble, lens) = (preamble(item.root), parse(&lens(body)));
        let (geometries, inner) = (parse(&product::geometries(body)), loops(item, body, depth + 1, held));
        let run = (held == Loops::Run).then(|| {
            let (function, none) = (item.name.to_string(), &|_| None);
            let run = steps::run(
                body,
                &function,
                none,
                &|_| WatchedText::default(),
                item.lengths,
                Compiled::InEachCrate,
            );
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

/// The memory that a call needs. Both modules contain it, since neither can name the other if the block is in a
/// function.
fn sizes(item: &Item<'_>) -> TokenStream {
    let (peak, lens) = (peak_bytes(item), parse(&lens(item.plan)));
    let geometries = parse(&product::geometries(item.plan));
    let bound = constant_bound(item);
    quote! { #peak #lens #geometries #bound }
}

/// A constant, or a function of the symbols if there are any.
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

/// The check of the bound on memory while Rust compiles. The compiler has checked the temporaries; the memory of kernels
/// is known here.
fn constant_bound(item: &Item<'_>) -> TokenStream {
    let Some(bound) = item.memory.filter(|_| item.plan.symbols.is_empty()) else { return TokenStream::new() };
    let (name, max) = (item.name.to_string(), bound.bytes);
    let message = format!(
        "E6011: `{name}` needs more than {} ({max} bytes): see `{name}::PEAK_BYTES`, which includes the memory of kernels",
        bound.text
    );
    quote! { const _: () = rt::check_constant_memory(PEAK_BYTES, #max, #message); }
}

/// `fn check`: binds the symbols, and checks every requirement of the signature and the shapes on dynamic dims.
fn check(item: &Item<'_>, signature: &Signature<'_>) -> TokenStream {
    let (generics, tensors) = (&signature.generics, &signature.tensors);
    let symbols = &item.symbols;
    let function = item.name.to_string();
    let (mut bindings, mut checks) = (String::new(), String::new());
    let mut bound: Vec<String> = Vec::new();
    for Input { path: name, name: variable, leaf, .. } in &signature.inputs {
        // Knowing the length makes later bounds checks superfluous. Here no results exist yet that a failed bounds
        // check would have to drop.
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
    // Derived extents are checked to be positive before anything is compared with them.
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
    if let Some(bound) = item.memory.filter(|_| !item.plan.symbols.is_empty()) {
        let sizes: Vec<_> = item.plan.symbols.iter().map(|symbol| symbol_variable(symbol)).collect();
        let named = item.plan.symbols.iter().zip(&sizes);
        let named: Vec<_> =
            named.map(|(symbol, size)| format!("({:?}, {size} as usize)", symbol.to_string())).collect();
        checks.push_str(&format!(
            "rt::check_memory({function:?}, peak_bytes({}), {}, &[{}])?;\n",
            sizes.join(", "),
            bound.bytes,
            named.join(", ")
        ));
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

/// The element counts of loops that depend on symbols and differ from the element count of every input.
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

/// The origin of a symbol for messages: ``N, from `x` ``.
fn first_use(signature: &Signature<'_>, symbol: &str) -> Option<String> {
    let names = |input: &&Input<'_>| {
        let mut axes = input.leaf.ty.shape.iter().zip(&input.leaf.axes);
        axes.any(|(dim, axis)| axis.typed && dim.as_symbol().is_some_and(|known| &**known == symbol))
    };
    signature.inputs.iter().find(names).map(|input| format!("{symbol}, from `{}`", input.path))
}

/// `fn call`: checks, allocates the results and runs in the workspace of this thread.
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

/// `fn into`: checks and runs with the results and the workspace of the caller.
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
