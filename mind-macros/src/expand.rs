//! From the tokens in `mind!` to Rust.

use mind_core::{
    diag::{Code, Diag, Diags, Site},
    dim::Dim,
    ir::ValueId,
    pipeline::{self, Compiled},
    plan::Plan,
    surface::{
        self,
        ast::Program,
        lower::{Function, Structure},
    },
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::{
    bare,
    emit::{self, Constants, Item, Parameter, Root},
    report::compile_errors,
};

/// The expansion of `mind!`: what the program means, and an error for each mistake in it.
///
/// A function in error keeps its signature, so that one mistake is one error and editors keep working.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    expand_with(input, compile_errors)
}

/// As [`expand`], with the items that `report` makes of the mistakes.
pub(crate) fn expand_with(input: TokenStream, report: impl FnOnce(&[Diag]) -> TokenStream) -> TokenStream {
    let (root, input) = Root::take(input);
    let (program, mut diags) = surface::parse(input);
    if let Program::Expression(expression) = &program {
        return bare::expand(&root, expression, diags, report);
    }
    let (lowered, more) = surface::lower(&program);
    diags.extend(more);
    let constants = lowered.constants.iter().map(|constant| {
        let (attributes, visibility, name) = (&constant.attributes, &constant.visibility, &constant.name);
        let value = proc_macro2::Literal::i64_unsuffixed(constant.value);
        quote! {
            #attributes
            #[allow(dead_code)]
            #visibility const #name: ::core::primitive::usize = #value;
        }
    });
    let constants: TokenStream = constants.collect();
    let structs: TokenStream =
        lowered.structs.iter().map(|item| emit::structs::structure(&root, item)).collect();
    let functions: TokenStream =
        lowered.functions.iter().map(|function| items(&root, function, &mut diags)).collect();
    let errors = report(diags.as_slice());
    match program {
        Program::Expression(_) => errors,
        Program::Block(_) => quote! { #errors #constants #structs #functions },
        Program::Closure(_) => {
            let name = lowered.functions.first().map(|function| &function.name);
            quote! {{ #errors #functions #name }}
        }
    }
}

/// The Rust items of a function and of the gradient it asks for.
pub(crate) fn items(root: &Root, function: &Function, diags: &mut Diags) -> TokenStream {
    // A symbol is a type parameter, and would hide the modules that the items call.
    let hides = |symbol: &&Ident| **symbol == function.name || *symbol == "rt";
    if let Some(symbol) = function.symbols.iter().find(hides) {
        let message = format!("the symbol `{symbol}` of `{}` has a name that its items use", function.name);
        let diag = Diag::new(Code::E2008, Site::token(symbol.span()), message);
        diags.push(diag.help("give the symbol another name, such as `N`"));
        return TokenStream::new();
    }
    let own = pipeline::compile(function).and_then(|compiled| diags.keep(compiled));
    let result = function.result.clone();
    let item =
        emit_item(root, function, function.name.clone(), function.attributes.clone(), result, own.as_ref());
    let Some(request) = &function.gradient else { return item };
    let compiled = pipeline::compile_gradient(function, request).and_then(|compiled| diags.keep(compiled));
    let result = pipeline::gradient_result(function, request);
    let doc = format!(" [`{0}`]({0}()) and its gradient.", function.name);
    let configuration = emit::configuration(&function.attributes);
    let name = format_ident!("{}_grad", function.name);
    let gradient =
        emit_item(root, function, name, quote! { #configuration #[doc = #doc] }, result, compiled.as_ref());
    quote! { #item #gradient }
}

fn emit_item(
    root: &Root,
    function: &Function,
    name: Ident,
    attributes: TokenStream,
    result: Structure,
    compiled: Option<&Compiled>,
) -> TokenStream {
    let symbols = function.symbols.iter().map(|symbol| symbol.to_string().as_str().into()).collect();
    let plan = match compiled {
        // The symbols in the order of the signature.
        Some(compiled) => Plan { symbols, ..compiled.plan.clone() },
        None => Plan { symbols, ..Plan::default() },
    };
    let value_name = |value: ValueId| {
        let origin = compiled.and_then(|compiled| *compiled.origins.get(value.index())?)?;
        function.program.as_ref()?.names.get(origin.index())?.as_ref().map(ToString::to_string)
    };
    let parameters = function.parameters.iter().map(|parameter| Parameter {
        name: parameter.name.clone(),
        structure: parameter.structure.clone(),
        update: parameter.update,
    });
    let item = Item {
        root,
        attributes,
        visibility: function.visibility.clone(),
        name,
        symbols: function.symbols.clone(),
        parameters: parameters.collect(),
        result,
        plan: &plan,
        value_name: &value_name,
        constants: Constants {
            core_ir: compiled.map(|compiled| compiled.core_ir.clone()).unwrap_or_default(),
            mic: compiled.map(|compiled| compiled.mic.clone()).unwrap_or_default(),
            params: trained_elements(function),
            flops: compiled.map_or(Dim::ZERO, |compiled| compiled.flops.clone()),
        },
    };
    if compiled.is_some() { emit::item(&item) } else { emit::fallback(&item) }
}

/// The elements that training changes: those of the inputs that are updated or differentiated, or of all where none is.
fn trained_elements(function: &Function) -> Dim {
    let mut trained = Vec::new();
    let mut shapes = Vec::new();
    for parameter in &function.parameters {
        for leaf in parameter.structure.leaves() {
            let mut targets = function.gradient.iter().flat_map(|request| &request.targets);
            trained.push(parameter.update || targets.any(|target| target.inputs.contains(&shapes.len())));
            shapes.push(&leaf.shape);
        }
    }
    let any = trained.contains(&true);
    let counted = shapes.iter().zip(trained).filter(|(_, trained)| !any || *trained);
    counted.fold(Dim::ZERO, |sum, (shape, _)| {
        let count = shape.element_count().unwrap_or(Dim::literal(i64::MAX));
        sum.add(&count).unwrap_or(Dim::literal(i64::MAX))
    })
}
