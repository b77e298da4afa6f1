//! Emits the shape rules of a program, one statement per node. A statement computes the type of the result from those
//! of the operands, or fails with the message.

use mind_core::{
    diag::Site,
    open::{Check, CheckKind, Constant, Contract, Demand, Misfit, Node, Op, Program},
    ty::{DType, Type},
    written::{Axes, Text, Texts, rule_text},
};
use mind_shape::{Written, rules::Elements};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::call_at;
use crate::emit::parse;

/// `let n0 = …; let n1 = …;` for every node, and the checks, each as early as possible. The types of the leaves are in
/// `known_0`, …
pub(super) fn statements(program: &Program) -> TokenStream {
    let mut tokens = TokenStream::new();
    let mut checks: Vec<&Check> = program.checks.iter().collect();
    for (id, node) in program.iter() {
        let name = format_ident!("n{}", id.index());
        let statement = statement(program, node);
        tokens.extend(quote! { let #name = #statement; });
        checks.retain(|check| {
            let ready = check.after() <= id;
            if ready {
                let statement = checked(check);
                tokens.extend(quote! { _ = #statement; });
            }
            !ready
        });
    }
    if let Some(annotation) = &program.annotation {
        let types = annotation.structure.leaves();
        for (node, ty) in program.result.nodes().into_iter().zip(types) {
            let rule = format!("{RULES}::expect(n{}, {})", node.index(), type_value(ty));
            let own = format!("n{}", node.index());
            let context = context("the result", &[operand("the result", "", &own)]);
            let statement = or_fail(annotation.site, &[], &rule, &context);
            tokens.extend(quote! { _ = #statement; });
        }
    }
    tokens
}

fn statement(program: &Program, node: &Node) -> TokenStream {
    if let Some(leaf) = node.op.input_name() {
        let known = format!("known_{}", leaf.index());
        let leaf = &program.leaves[leaf.index()];
        let input = format!("{RULES}::input({known})");
        let read =
            or_fail(leaf.site, &[], &input, &context(&leaf.text, &[operand(&leaf.text, &leaf.text, &known)]));
        let Some((ty, site)) = &leaf.annotation else { return read };
        let label = format!("`{}`", leaf.text);
        let declared = format!("{RULES}::expect({known}, {})", type_value(ty));
        let declared =
            or_fail(*site, &[], &declared, &context(&label, &[operand(&leaf.text, &leaf.text, &known)]));
        return quote! {{ _ = #read; #declared }};
    }
    if node.op.axes() == Some(Axes::Any) {
        // The Rust types determine which axes are removed, since the rank depends on it.
        let (own, position) = (format!("n{}", node.operands[0].index()), node.operands[0].index());
        return parse(&format!("rt::squeeze({own}, __known, {position})"));
    }
    let rule = rule(node);
    let Some(spot) = &node.spot else { return parse(&format!("rt::holds({rule})")) };
    let mut operands: Vec<String> = Vec::new();
    if let Op::Const(constant) = &node.op {
        let own = format!("rt::Type::new({}, {})", dtype(constant.dtype), argument(&constant.shape));
        operands.push(operand(&constant.text, constant.text.trim_matches('`'), &own));
    }
    for (written, id) in spot.operands.iter().zip(&node.operands) {
        operands.push(operand(&written.text, &written.operand_text, &format!("n{}", id.index())));
    }
    let rank = node.operands.first().map_or("0".to_owned(), |operand| format!("n{}.rank()", operand.index()));
    let places: Vec<_> = spot.places().map(|(written, site)| (is_about(written, &rank), site)).collect();
    or_fail(spot.site, &places, &rule, &context(&spot.message_name(), &operands))
}

/// A condition: whether `failure` is about this attribute or subscript.
fn is_about(written: Written<'_>, rank: &str) -> TokenStream {
    let written = match written {
        Written::Attribute(name) => format!("rt::Written::Attribute({name:?})"),
        Written::Subscript(place) => format!("rt::Written::Subscript({place})"),
    };
    parse(&format!("failure.is_about({written}, {rank})"))
}

/// The type that a rule returns, or a call of `rt::or_fail(…)` if the rule fails. rustc and a panic report the failure
/// at the user's tokens: at the first place whose condition holds, otherwise at `site`. The message is built only after
/// a failure, since that takes longer than the rule.
fn or_fail(site: Site, places: &[(TokenStream, Site)], rule: &str, context: &str) -> TokenStream {
    let broken = format!("::core::result::Result::Err(failure), {context}");
    let fails = |site| {
        let (path, arguments) = call_at(site, "or_fail", parse(&broken));
        quote! { #path #arguments }
    };
    let arms = places.iter().map(|(condition, site)| {
        let fails = fails(*site);
        quote! { ::core::result::Result::Err(failure) if #condition => #fails, }
    });
    let (result, fails) = (parse(rule), fails(site));
    quote! {
        match #result {
            ::core::result::Result::Ok(ty) => ty,
            #(#arms)*
            ::core::result::Result::Err(failure) => #fails,
        }
    }
}

fn checked(check: &Check) -> TokenStream {
    let node = format!("n{}", check.node.index());
    let mut operands = vec![operand(&check.text, &check.text, &node)];
    let (rule, label) = match &check.kind {
        CheckKind::Scalar(transform) => (format!("{RULES}::seed({node})"), transform.name().to_string()),
        CheckKind::Differentiable => (format!("{RULES}::differentiable({node})"), String::new()),
        CheckKind::CotangentOf(value) => (
            format!("{RULES}::expect({node}, n{})", value.index()),
            "argument `cotangent` of `vjp`".to_string(),
        ),
        CheckKind::Axis(axis) => (format!("{RULES}::has_axis({node}, {axis})"), "extent".to_string()),
        CheckKind::Argument(contract) => {
            let others = contract.others.iter().map(|(other, text)| (format!("n{}", other.index()), text));
            operands.extend(others.clone().map(|(other, text)| operand(text, text, &other)));
            let types: Vec<String> = [node].into_iter().chain(others.map(|(other, _)| other)).collect();
            (requirement_rule(contract, &types), contract.label.clone())
        }
        CheckKind::Is(ty) => (format!("{RULES}::expect({node}, {})", type_value(ty)), check.text.clone()),
    };
    or_fail(check.site, &[], &rule, &context(&label, &operands))
}

/// The rule for a template's requirement on an argument, which is the first of the types.
fn requirement_rule(contract: &Contract, types: &[String]) -> String {
    let (text, own) = (&contract.pattern, &types[0]);
    let tie = |name: &str| format!("{RULES}::Tie {{ text: {text:?}, name: {name:?} }}");
    match &contract.demand {
        Demand::Fits { elements, rank, open } => {
            let elements = match elements {
                Elements::Of(takes) => format!("Of({RULES}::Takes::{takes:?})"),
                Elements::Is(dtype) => format!("Is(rt::DType::{dtype:?})"),
            };
            format!(
                "{RULES}::matches({own}, {RULES}::Pattern {{ text: {text:?}, elements: {RULES}::Elements::{elements}, rank: {rank}, open: {open} }})"
            )
        }
        Demand::Extent { axis, name, extent } => {
            let extent = extent.text(&Texts::of_rule(RULES, types));
            format!("{RULES}::has_extent({own}, {axis}, {extent}, {})", tie(name))
        }
        Demand::Leading { name, last } => {
            format!("{RULES}::same_leading({own}, {}, {last:?}, {})", types[1], tie(name))
        }
        Demand::Type => format!("{RULES}::expect({own}, {})", types[1]),
        Demand::Elements { name } => format!("{RULES}::same_elements({own}, {}, {})", types[1], tie(name)),
    }
}

fn context(label: &str, operands: &[String]) -> String {
    format!("&rt::Context {{ label: {label:?}, operands: &[{}] }}", operands.join(", "))
}

fn operand(text: &str, base: &str, ty: &str) -> String {
    format!("rt::Operand::new({text:?}, {base:?}, {ty})")
}

/// The rule of a node, applied to `n0`, `n1`, …
fn rule(node: &Node) -> String {
    let operands: Vec<String> = node.operands.iter().map(|operand| format!("n{}", operand.index())).collect();
    let Op::Const(constant) = &node.op else { return rule_text(&node.op, &Texts::of_rule(RULES, &operands)) };
    let like = operands.first().map(|like| format!("{like}.dtype()"));
    let like = like.unwrap_or_else(|| dtype(constant.dtype));
    format!("{RULES}::literal({}, {like}, {})", literal(constant), argument(&constant.shape))
}

/// An attribute as an argument of rules.
fn argument(attribute: &impl Text) -> String {
    attribute.text(&Texts::of_rule(RULES, &[]))
}

/// The path of the rules.
pub(super) const RULES: &str = "rt::rules";

/// A literal as an argument of rules.
fn literal(constant: &Constant) -> String {
    let fits = DType::ALL.map(|dtype| match constant.values_in(dtype) {
        Ok(_) => "rt::rules::Fit::Yes".to_string(),
        Err(Misfit::Kind { help }) => {
            format!("rt::rules::Fit::OtherKind {{ help: {:?} }}", help.as_deref().unwrap_or_default())
        }
        Err(Misfit::Value { code, message, .. }) => {
            format!("rt::rules::Fit::Fault {{ code: {:?}, message: {message:?} }}", code.info().name)
        }
    });
    format!("rt::rules::Literal {{ description: {:?}, fits: [{}] }}", constant.describe(), fits.join(", "))
}

/// `rt::Type::new(…)`.
fn type_value(ty: &Type) -> String {
    let dims: Vec<i64> = ty.shape.iter().map(|dim| dim.as_literal().unwrap_or(-1)).collect();
    format!("rt::Type::new({}, {})", dtype(ty.dtype), argument(&dims))
}

fn dtype(dtype: DType) -> String {
    format!("rt::DType::{:?}", dtype)
}
