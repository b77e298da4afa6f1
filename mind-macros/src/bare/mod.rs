//! From an open program to the Rust expression that a bare form becomes.
//!
//! For `relu(x @ w + b)` that is, with `rt` for the run time's module of this name:
//!
//! ```text
//! match (&x, &w, &b) { (leaf_0, leaf_1, leaf_2) => {
//!     let (read_0, owner_0) = (rt::Leaf::read(leaf_0), rt::leaf(leaf_0));
//!     let (view_0, view_1, view_2) = (read_0.view(), …);
//!     struct Types<T0, S0, T1, S1, T2, S2>(…);             // element and shape type of each leaf
//!     impl<…> rt::Leaves for Types<…> { … }              // what they tell of the leaves
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
//!     const fn nodes(…) -> [rt::Type; 6] { … }               // the rules again, for extents known on entry
//!     fn tie<…>(…) -> rt::Checked<impl rt::Expr> { … }
//!     fn run<P: rt::Expr, F: rt::Form, R0: rt::Shape, …>(…) -> (rt::Tensor<T0, R0>,) { … }
//!     let __expr = tie(view_0, view_1, view_2);
//!     if let <_ as rt::Expr>::OK = __expr {}           // what `cargo check` evaluates
//!     let ((form_0, shape_0, element_0, owner_0), …) = …;  // whose arrays the leaves are, and of what
//!     let __form = rt::join(rt::join(form_0, form_1), form_2);
//!     let axes_3 = rt::axes::at(axes_0, axes_1);
//!     let axes_4 = rt::axes::broadcast(axes_3, axes_2);
//!     let __shapes = (rt::axes::inferred::<0, _, _>(__expr, axes_4),); // of `x + b` that of a leaf, if that is decided
//!     let __results = run(__expr, __form, __shapes, …);
//!     rt::give(__form, axes_4, __results.0)
//! } }
//! ```
//!
//! What rustc prints of the type of a result, and of a constant that fails, is to be short whatever the leaves are. So
//! outside of `tie` the type of the expression is opaque, and inside it is that of a closure, of which rustc prints the
//! place alone. The closure is in a function of its own, or it would depend on the generic parameters of the user's.
//!
//! The rules stand in the body of a constant, not in a function that it calls, since rustc reports a failed constant at
//! the innermost call of its own body.

mod axes;
mod by_row;
mod elements;
mod fused;
mod rules;
mod run;
mod values;

use mind_core::{
    diag::{Diag, Diags, Site},
    open::{self, Field, Plan, Program, Structure},
    surface::{ast::Expression, lower::Library},
};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::emit::{Root, parse, structs};
use crate::watch;
use axes::Bindings;
use values::{ResultType, Results, Values};

/// The Rust expression that an expression of the language becomes, or an error for each mistake that shows without types.
pub(crate) fn expand(
    root: &Root,
    expression: &Expression,
    library: &Library,
    mut diags: Diags,
    report: impl FnOnce(&[Diag]) -> TokenStream,
) -> TokenStream {
    let (program, more) = open::lower_with(expression, library);
    diags.extend(more);
    // Where every type is written, mistakes are told as those of a closure are.
    if let Some(Err(diag)) = program.as_ref().map(open::check_annotated) {
        diags.push(diag);
    }
    if let Some(Err(diag)) = program.as_ref().map(open::check_truths) {
        diags.push(diag);
    }
    match program {
        Some(program) if diags.is_empty() => {
            self::expression(root, &program, &open::plan_watching(&program, watch::watching()))
        }
        Some(_) | None => {
            let errors = report(diags.as_slice());
            // Of whatever type is needed, and without a warning that what follows is not reached.
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
        // All that rustc says of a leaf is at one place, and so is one error.
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
                // Where nothing is checked and the results are plain, nothing below names it.
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

/// `__form`, whose arrays the results are, and the axes of those results of which that is asked.
fn form(program: &Program, values: &Values<'_>, owners: &[Ident]) -> (TokenStream, Bindings) {
    let asked = values.results.asked(program);
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
    // Leaves of one class beside its first.
    let class = |leaf: usize| program.nodes[leaf].class;
    let alike = (0..owners.len()).filter_map(|leaf| {
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
        #(#alike)*
        let __form = #joined;
    };
    (form, bindings)
}

/// `__shapes`, of which types the shapes of results are that nobody wrote.
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

/// The struct that knows the shapes, and how it runs.
fn items(program: &Program, plan: &Plan, values: &Values<'_>) -> TokenStream {
    // What is generated for every shape is no style of the user's: some of it goes unused for his, and lints are not for him.
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

/// The type of the expression as everything outside of `tie` sees it. It stands at the tokens of the expression: where
/// rustc names it, that is what it shows.
fn opaque(program: &Program, arguments: &TokenStream) -> TokenStream {
    let (first, last) = ends(program.site);
    let bounds = quote_spanned! { last => rt::Expr + use<#arguments> };
    quote_spanned! { first => impl #bounds }
}

/// The closure as whose type rustc prints the expression, at the tokens of the expression.
fn closure(program: &Program, arguments: &TokenStream) -> TokenStream {
    let (first, last) = ends(program.site);
    let mut body = Group::new(Delimiter::Brace, quote! { loop {} });
    body.set_span(last);
    quote_spanned! { first => || -> Types<#arguments> #body }
}

/// The pattern that `cargo check` evaluates. It stands at the tokens of the expression: where rustc refuses it, that is
/// what it shows.
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
                    (Field::Number, _) if is_number => quote! { __results.#index },
                    (Field::Number, _) => quote! { rt::number_field(__results.#index) },
                    (Field::Decided, Some(shape)) => quote! { (&__shapes.#shape).__field(__results.#index) },
                    (Field::Decided, None) => quote! { __results.#index },
                    (Field::Open, _) => quote! { rt::open_field(__results.#index) },
                }
            });
            structs::whole_of(root, ty, &mut parts)
        }
    }
}

/// `rt::name` and `(arguments)`, which rustc underlines from the first to the last token of a place.
fn call_at(site: Site, name: &str, arguments: TokenStream) -> (TokenStream, Group) {
    let (first, last) = ends(site);
    let name = Ident::new(name, first);
    let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
    arguments.set_span(last);
    (quote_spanned! { first => rt::#name }, arguments)
}

/// The first and the last token of a place.
fn ends(site: Site) -> (Span, Span) {
    match site {
        Site::Tokens { first, last } => (first, last),
        Site::Nowhere | Site::Text { .. } => (Span::call_site(), Span::call_site()),
    }
}
