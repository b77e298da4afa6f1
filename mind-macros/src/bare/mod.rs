//! Emits an expression over Rust variables. Its program is open: the types of its leaves are not known.
//!
//! `relu(x @ w + b)` expands as follows, where `rt` is the module `bare` of the run time:
//!
//! ```text
//! match (&x, &w, &b) { (leaf_0, leaf_1, leaf_2) => {
//!     let (read_0, owner_0) = (rt::Leaf::read(leaf_0), rt::leaf(leaf_0));
//!     let (view_0, view_1, view_2) = (read_0.view(), …);
//!     struct Types<T0, S0, T1, S1, T2, S2>(…);             // element and shape type of each leaf
//!     impl<…> rt::Leaves for Types<…> { … }              // the types of the leaves as values
//!     struct Expression<C>(…);                                   // C: a closure that returns `Types`
//!     impl<…> rt::Expr for Expression<…> {
//!         const OK: rt::Checked<Self> = {                    // the rules, each at the user's operator
//!             let n0 = …;
//!             let n3 = rt::or_fail(rt::rules::at(n0, n1), …);
//!             …
//!         };
//!         const NODES: &'static [rt::Type] = &nodes(…);
//!         const RESULTS: &'static [rt::Type] = &[Self::NODES[5]];
//!     }
//!     const fn nodes(…) -> [rt::Type; 6] { … }               // the same rules, for extents known on entry
//!     fn tie<…>(…) -> rt::Checked<impl rt::Expr> { … }
//!     fn run<P: rt::Expr, F: rt::Form, R0: rt::Shape, …>(…) -> (rt::Tensor<T0, R0>,) { … }
//!     let __expr = tie(view_0, view_1, view_2);
//!     if let <_ as rt::Expr>::OK = __expr {}           // the pattern that `cargo check` evaluates
//!     let ((form_0, shape_0, element_0, owner_0), …) = …;  // form: tensor or ndarray; shape and element types
//!     let __form = rt::join(rt::join(form_0, form_1), form_2);
//!     let axes_3 = rt::axes::at(axes_0, axes_1);
//!     let axes_4 = rt::axes::broadcast(axes_3, axes_2);
//!     // For `x + b` the shape of a leaf, if it is known.
//!     let __shapes = (rt::axes::inferred::<0, _, _>(__expr, axes_4),);
//!     let __results = run(__expr, __form, __shapes, …);
//!     rt::give(__form, axes_4, __results.0)
//! } }
//! ```
//!
//! In messages about the type of a result, or about a constant that fails, rustc should print a short type for all
//! leaves. Outside of `tie` the type of the expression is therefore opaque. Inside, it is the type of a closure, of
//! which rustc prints only the place. The closure is in a separate function, since it would otherwise depend on the
//! generic parameters of the user's function.
//!
//! The rules are in the body of a constant and not in a function that it calls, since rustc reports a failed constant
//! at the innermost call in the constant's body.

mod axes;
mod by_row;
mod elements;
mod fused;
mod rules;
mod run;
mod values;

use mind_core::{
    diag::{Diag, Diags, Site},
    open::{self, FieldType, Plan, Program, Structure},
    surface::{ast::Expression, lower::Library},
};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::emit::{Root, parse, structs};
use crate::{transforms, watch};
use axes::Bindings;
use values::{ResultType, Results, Values};

/// Expands an expression of the language to a Rust expression, or to an error for each mistake that can be detected
/// without types.
pub(crate) fn expand(
    root: &Root,
    expression: &Expression,
    library: &Library,
    mut diags: Diags,
    report: impl FnOnce(&[Diag]) -> TokenStream,
) -> TokenStream {
    let (program, more) = open::lower_with(expression, library);
    diags.extend(more);
    // If every leaf has a stated type, errors are reported like those of a closure.
    if let Some(Err(diag)) = program.as_ref().map(open::check_annotated) {
        diags.push(diag);
    }
    if let Some(Err(diag)) = program.as_ref().map(open::check_truths) {
        diags.push(diag);
    }
    if diags.is_empty() {
        diags.extend(program.as_ref().and_then(transforms::refused_in_expression));
    }
    match program {
        Some(program) if diags.is_empty() => {
            self::expression(root, &program, &open::plan_watching(&program, watch::watching()))
        }
        Some(_) | None => {
            let errors = report(diags.as_slice());
            // An expression of any type, which does not cause a warning about unreachable code.
            quote! {{ #errors (|| loop {})() }}
        }
    }
}

/// The Rust expression of a program.
fn expression(root: &Root, program: &Program, plan: &Plan) -> TokenStream {
    let values = Values::new(program, plan);
    let numbered = |prefix: &str| -> Vec<Ident> {
        (0..program.leaves.len()).map(|leaf| format_ident!("{}_{}", prefix, leaf)).collect()
    };
    let [leaves, owners, reads, views] = ["leaf", "owner", "read", "view"].map(numbered);
    let viewed = program.leaves.iter().map(|leaf| {
        let (first, tokens) = (ends(leaf.site).0, &leaf.tokens);
        match &leaf.part {
            Some(part) => structs::part(root, &part.of, part.position, tokens, first),
            None if leaf.is_place => quote_spanned! { first => &#tokens },
            None => quote_spanned! { first => &{ #tokens } },
        }
    });
    let read = program.leaves.iter().zip(&leaves).map(|(leaf, value)| {
        // All tokens of a leaf have one span, so that rustc reports one error for it.
        let first = ends(leaf.site).0;
        let path = quote! { rt::Leaf::read }.into_iter().map(|mut token| {
            token.set_span(first.resolved_at(token.span()));
            token
        });
        let mut value = value.clone();
        value.set_span(first.resolved_at(value.span()));
        let (_, arguments) = call_at(leaf.site, "read", quote_spanned! { first => (#value) });
        quote! { #(#path)* #arguments }
    });
    let items = items(program, plan, &values);
    let check = (!program.late).then(|| check(program));
    let (form, bindings) = form(program, &values, &owners);
    let result = result(root, program, &program.result, &mut 0, &values.results, &bindings);
    let axes = &bindings.statements;
    let shapes = shapes(program, &values.results, &bindings);
    let seen = structs::seen(root, &program.seen);
    quote! {
        match (#(#viewed,)*) {
            (#(#leaves,)*) => {
                // If nothing is checked and the results are plain numbers, no code below uses it.
                #[allow(unused_imports)]
                use #root::bare as rt;
                #(let (#reads, #owners) = (#read, rt::leaf(#leaves));)*
                #(let #views = #reads.view();)*
                #items
                #seen
                let __expr = tie(#(#views),*);
                #check
                #form
                #axes
                #shapes
                // `mind!(())` has no results.
                #[allow(clippy::unused_unit, clippy::let_unit_value)]
                let __results = run(__expr, __form, __shapes, #(#views),*);
                #result
            }
        }
    }
}

/// The statements that bind `__form`, which decides whether results are tensors or ndarray's arrays, and the bindings
/// for the axes of the results that need them.
fn form(program: &Program, values: &Values<'_>, owners: &[Ident]) -> (TokenStream, Bindings) {
    let asked = values.results.inferred_rank_nodes(program);
    let bindings = Bindings::new(program, &asked);
    let numbered = |prefix: &str, leaf: usize| format_ident!("{}_{}", prefix, leaf);
    let leaves = owners.iter().enumerate().map(|(leaf, owner)| {
        let [form, axes, shape, element, view] =
            ["form", "axes", "shape", "element", "view"].map(|prefix| numbered(prefix, leaf));
        quote! {
            #[allow(unused_variables)]
            let (#form, #shape, #element, #owner) = (&&&#owner).__form(&#view);
            #[allow(unused_variables)]
            let #axes = rt::axes::of(#shape);
        }
    });
    // Each leaf of a class is compared with the first leaf of the class.
    let class = |leaf: usize| program.nodes[leaf].class;
    let same_elements = (0..owners.len()).filter_map(|leaf| {
        let first = (0..leaf).find(|first| class(*first) == class(leaf))?;
        let [first, element] = [first, leaf].map(|leaf| numbered("element", leaf));
        Some(quote! { (&rt::both(#first, #element)).__alike(); })
    });
    let joined = (0..owners.len()).map(|leaf| numbered("form", leaf).into_token_stream());
    let joined = joined.reduce(|all, form| quote! { rt::join(#all, #form) });
    let joined = joined.unwrap_or_else(|| quote! { rt::plain() });
    let form = quote! {
        #[allow(unused_imports)]
        use rt::{Alike as _, OfLeaf as _, OfNothing as _, OfNumber as _, OfReference as _, Unlike as _};
        #(#leaves)*
        #(#same_elements)*
        let __form = #joined;
    };
    (form, bindings)
}

/// The statements that bind `__shapes`: the shape types of the results for which the program states no type.
fn shapes(program: &Program, results: &Results, bindings: &Bindings) -> TokenStream {
    let nodes = program.result.nodes();
    let shapes = nodes.iter().enumerate().filter_map(|(position, node)| {
        let inferred = |entry: &usize| {
            let (axes, entry) = (bindings.of(program, *node), Literal::usize_unsuffixed(*entry));
            quote! { rt::axes::inferred::<#entry, _, _>(__expr, #axes) }
        };
        match results.kind(position) {
            ResultType::Inferred(entry) => Some(inferred(entry)),
            ResultType::Broadcast(entry, leaves) => {
                let leaves =
                    leaves.iter().map(|leaf| format_ident!("shape_{}", leaf.index()).into_token_stream());
                let decided = leaves.reduce(|all, shape| quote! { (&&&rt::both(#all, #shape)).__decided() });
                let inferred = inferred(entry);
                Some(quote! { (&&rt::both(#decided, #inferred)).__or_inferred() })
            }
            ResultType::Number | ResultType::Written(_) | ResultType::Like(_) => None,
        }
    });
    quote! {
        #[allow(unused_imports)]
        use rt::{
            OfDecided as _, OfInferred as _, Equal as _, First as _, Neither as _, OrInferred as _, OrNumber as _, OrShape as _, Second as _,
        };
        let __shapes = (#(#shapes,)*);
    }
}

/// The items of the expansion: the types with the shape rules, and the function that runs.
fn items(program: &Program, plan: &Plan, values: &Values<'_>) -> TokenStream {
    // The code is generated for all shapes, so parts may be unused for the user's shapes. Its style is not the user's,
    // so lints must not apply.
    let lints = quote! {
        #[allow(non_snake_case, dead_code, unused, clippy::all, clippy::pedantic)]
    };
    let [bounds, arguments] = [values.generics(": "), values.generics("")].map(|text| parse(&text));
    let statements = rules::statements(program);
    let types: Vec<Ident> = (0..program.nodes.len()).map(|node| format_ident!("n{}", node)).collect();
    let count = Literal::usize_unsuffixed(types.len());
    let leaves: Vec<Ident> = (0..program.leaves.len()).map(|leaf| format_ident!("known_{}", leaf)).collect();
    let leaf_count = Literal::usize_unsuffixed(leaves.len());
    let known = parse(&values.known());
    let table = program.result.nodes();
    let table = table.iter().map(|node| Literal::usize_unsuffixed(node.index()));
    let rows = parse(&fused::rows(program, plan));
    let parameters = parse(&values.parameters());
    let result_types = parse(&values.result_types());
    let result_shapes: Vec<Ident> =
        values.result_shapes().into_iter().map(|entry| format_ident!("R{}", entry)).collect();
    let run = parse(&run::body(program, plan, values));
    let tracking = watch::tracking();
    let (opaque, closure) = (opaque(program, &arguments), closure(program, &arguments));
    quote! {
        #tracking
        #lints
        struct Types<#arguments>(::core::marker::PhantomData<fn() -> (#arguments)>);
        #lints
        impl<#bounds> rt::Leaves for Types<#arguments> {
            const KNOWN: &'static [rt::Type] = &[#known];
        }
        #lints
        struct Expression<C>(C);
        #rows
        #lints
        impl<L: rt::Leaves, C: ::core::ops::Fn() -> L + 'static> rt::Expr for Expression<C> {
            const KNOWN: &'static [rt::Type] = L::KNOWN;
            const OK: rt::Checked<Self> = {
                let [#(#leaves),*] = rt::array::<#leaf_count>(L::KNOWN);
                let __known: &[rt::Type] = &[];
                #statements
                ::core::marker::PhantomData
            };
            const NODES: &'static [rt::Type] = {
                _ = <Self as rt::Expr>::OK;
                &nodes(rt::array(L::KNOWN), &[])
            };
            const RESULTS: &'static [rt::Type] = &[#(<Self as rt::Expr>::NODES[#table]),*];
        }
        #lints
        const fn nodes([#(#leaves),*]: [rt::Type; #leaf_count], __known: &[rt::Type]) -> [rt::Type; #count] {
            #statements
            [#(#types),*]
        }
        #lints
        fn tie<#bounds>(#parameters) -> rt::Checked<#opaque> {
            fn expression<C>(_: C) -> rt::Checked<Expression<C>> {
                ::core::marker::PhantomData
            }
            expression(#closure)
        }
        #lints
        fn run<P: rt::Expr, F: rt::Form, #(#result_shapes: rt::Shape,)* #bounds>(
            _: rt::Checked<P>,
            __form: ::core::marker::PhantomData<F>,
            _: (#(::core::marker::PhantomData<#result_shapes>,)*),
            #parameters
        ) -> (#result_types) {
            #run
        }
    }
}

/// The type of the expression outside of `tie`. It has the spans of the expression's tokens, which rustc shows in
/// messages about it.
fn opaque(program: &Program, arguments: &TokenStream) -> TokenStream {
    let (first, last) = ends(program.site);
    let bounds = quote_spanned! { last => rt::Expr + use<#arguments> };
    quote_spanned! { first => impl #bounds }
}

/// The closure whose type rustc prints for the expression, with the spans of the expression's tokens.
fn closure(program: &Program, arguments: &TokenStream) -> TokenStream {
    let (first, last) = ends(program.site);
    let mut body = Group::new(Delimiter::Brace, quote! { loop {} });
    body.set_span(last);
    quote_spanned! { first => || -> Types<#arguments> #body }
}

/// The pattern that `cargo check` evaluates. It has the spans of the expression's tokens, which rustc shows if the
/// pattern fails.
fn check(program: &Program) -> TokenStream {
    let (first, last) = ends(program.site);
    let ok = Ident::new("OK", last);
    let pattern = quote_spanned! { first => <_ as rt::Expr>::#ok };
    quote! { if let #pattern = __expr {} }
}

/// The value of the expression from the tuple `__results`.
fn result(
    root: &Root,
    program: &Program,
    structure: &Structure,
    position: &mut usize,
    results: &Results,
    bindings: &Bindings,
) -> TokenStream {
    match structure {
        Structure::Node(node) => {
            let index = Literal::usize_unsuffixed(*position);
            let kind = results.kind(*position);
            *position += 1;
            match kind {
                ResultType::Number => quote! { __results.#index },
                ResultType::Like(leaf) => {
                    let owner = format_ident!("owner_{}", leaf.index());
                    quote! { rt::owned(#owner, __results.#index) }
                }
                ResultType::Inferred(_) | ResultType::Broadcast(..) => {
                    let axes = bindings.of(program, *node);
                    quote! { rt::give(__form, #axes, __results.#index) }
                }
                ResultType::Written(ty) if ty.rank() == 0 => quote! { __results.#index },
                ResultType::Written(ty) => {
                    let axes = parse(&axes::known(ty.rank()));
                    quote! { rt::give(__form, #axes, __results.#index) }
                }
            }
        }
        Structure::Tuple(parts) => {
            let parts: Vec<_> =
                parts.iter().map(|part| result(root, program, part, position, results, bindings)).collect();
            quote! { (#(#parts,)*) }
        }
        Structure::Struct { ty, parts } => {
            let mut parts = parts.iter().map(|(_, field)| {
                let kind = results.kind(*position);
                let index = Literal::usize_unsuffixed(*position);
                let shape = results.shape(*position).map(Literal::usize_unsuffixed);
                *position += 1;
                let is_number = match kind {
                    ResultType::Number => true,
                    ResultType::Written(ty) => ty.rank() == 0,
                    ResultType::Like(_) | ResultType::Inferred(_) | ResultType::Broadcast(..) => false,
                };
                match (field, shape) {
                    (FieldType::Number, _) if is_number => quote! { __results.#index },
                    (FieldType::Number, _) => quote! { rt::number_field(__results.#index) },
                    (FieldType::Decided, Some(shape)) => {
                        quote! { (&__shapes.#shape).__field(__results.#index) }
                    }
                    (FieldType::Decided, None) => quote! { __results.#index },
                    (FieldType::Open, _) => quote! { rt::open_field(__results.#index) },
                }
            });
            structs::whole_of(root, ty, &mut parts)
        }
    }
}

/// `rt::name` and `(arguments)`, with spans that make rustc underline from the first to the last token of `site`.
fn call_at(site: Site, name: &str, arguments: TokenStream) -> (TokenStream, Group) {
    let (first, last) = ends(site);
    let name = Ident::new(name, first);
    let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
    arguments.set_span(last);
    (quote_spanned! { first => rt::#name }, arguments)
}

/// The spans of the first and the last token of a place.
fn ends(site: Site) -> (Span, Span) {
    match site {
        Site::Tokens { first, last } => (first, last),
        Site::Nowhere | Site::Text { .. } => (Span::call_site(), Span::call_site()),
    }
}
