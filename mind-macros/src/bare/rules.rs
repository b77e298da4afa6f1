//! The rules of a program, one statement a node: from the types of the operands to that of the result, or out with the
//! message.

use mind_core::{
    diag::Site,
    map::Shapes,
    open::{
        Check, CheckKind, Constant, Convolution, Extents, Misfit, Node, NodeId, Op, Own, Padding, Program,
        Reduction, Slice, Subscript, literals,
    },
    ty::{DType, Type},
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::call_at;
use crate::emit::parse;

/// `let n0 = …; let n1 = …;` for every node, and the checks, each as soon as it can be told. Leaves are in `known_0`, …
pub(super) fn statements(program: &Program) -> TokenStream {
    let mut tokens = TokenStream::new();
    let mut checks: Vec<&Check> = program.checks.iter().collect();
    for (id, node) in program.iter() {
        let name = format_ident!("n{}", id.index());
        let statement = statement(program, id, node);
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
            let rule = format!("expect(n{}, {})", node.index(), type_value(ty));
            let own = format!("n{}", node.index());
            let context = context("the result", &[operand("the result", "", &own)]);
            let statement = or_fail(annotation.site, &rule, &context);
            tokens.extend(quote! { _ = #statement; });
        }
    }
    tokens
}

fn statement(program: &Program, id: NodeId, node: &Node) -> TokenStream {
    if let Op::Input { name: leaf } = &node.op {
        let known = format!("known_{}", leaf.index());
        let leaf = &program.leaves[leaf.index()];
        let input = format!("input({known})");
        let read =
            or_fail(leaf.site, &input, &context(&leaf.text, &[operand(&leaf.text, &leaf.text, &known)]));
        let Some((ty, site)) = &leaf.annotation else { return read };
        let label = format!("`{}`", leaf.text);
        let declared = format!("expect({known}, {})", type_value(ty));
        let declared =
            or_fail(*site, &declared, &context(&label, &[operand(&leaf.text, &leaf.text, &known)]));
        return quote! {{ _ = #read; #declared }};
    }
    if let Op::Squeeze { axes: None } = &node.op {
        // Which axes go is decided by the Rust types, as the rank depends on it.
        let (own, position) = (format!("n{}", node.operands[0].index()), node.operands[0].index());
        return parse(&format!("rt::squeeze({own}, __known, {position})"));
    }
    let rule = rule(node);
    let Some(spot) = &node.spot else { return parse(&format!("rt::holds(rt::rules::{rule})")) };
    let mut operands: Vec<String> = Vec::new();
    if let Op::Const(constant) = &node.op {
        let own = format!("rt::Type::new({}, {})", dtype(constant.dtype), list(&constant.shape));
        operands.push(operand(&constant.text, constant.text.trim_matches('`'), &own));
    }
    for (written, id) in spot.operands.iter().zip(&node.operands) {
        operands.push(operand(&written.text, &written.operand_text, &format!("n{}", id.index())));
    }
    _ = id;
    or_fail(spot.site, &rule, &context(spot.label, &operands))
}

/// The type that a rule gives, or `rt::or_fail(…)`, which rustc and a panic place at the user's tokens. What that says is
/// put together only where the rule is broken: it would take longer than the rule.
fn or_fail(site: Site, rule: &str, context: &str) -> TokenStream {
    let broken = format!("::core::result::Result::Err(failure), {context}");
    let (path, arguments) = call_at(site, "or_fail", parse(&broken));
    let result = parse(&format!("rt::rules::{rule}"));
    quote! {
        match #result {
            ::core::result::Result::Ok(ty) => ty,
            ::core::result::Result::Err(failure) => #path #arguments,
        }
    }
}

fn checked(check: &Check) -> TokenStream {
    let node = format!("n{}", check.node.index());
    let operands = [operand(&check.text, &check.text, &node)];
    let (rule, label) = match &check.kind {
        CheckKind::Scalar(transform) => (format!("seed({node})"), transform.name().to_string()),
        CheckKind::Differentiable => (format!("differentiable({node})"), String::new()),
        CheckKind::CotangentOf(value) => {
            (format!("expect({node}, n{})", value.index()), "argument `cotangent` of `vjp`".to_string())
        }
        CheckKind::Is(ty) => (format!("expect({node}, {})", type_value(ty)), check.text.clone()),
    };
    or_fail(check.site, &rule, &context(&label, &operands))
}

fn context(label: &str, operands: &[String]) -> String {
    format!("&rt::Context {{ label: {label:?}, operands: &[{}] }}", operands.join(", "))
}

fn operand(text: &str, base: &str, ty: &str) -> String {
    format!("rt::Operand::new({text:?}, {base:?}, {ty})")
}

/// The rule of a node, on `n0`, `n1`, …
fn rule(node: &Node) -> String {
    let operands: Vec<String> = node.operands.iter().map(|operand| format!("n{}", operand.index())).collect();
    let all = operands.join(", ");
    match &node.op {
        Op::Input { .. } => unreachable!("leaves have no operands"),
        Op::Const(constant) => match operands.first() {
            Some(like) => {
                format!("literal({}, {like}.dtype(), {})", literal(constant), list(&constant.shape))
            }
            None => format!(
                "literal({}, {}, {})",
                literal(constant),
                dtype(constant.dtype),
                list(&constant.shape)
            ),
        },
        Op::Map(map) => {
            let row = map.row();
            let rule = match (row.arity(), row.shapes) {
                (1, _) => "unary",
                (_, Shapes::Broadcast) => "binary",
                (_, Shapes::Equal) => "alike",
            };
            format!("{rule}(rt::rules::Takes::{:?}, {all})", row.takes)
        }
        Op::Own(Own::At) => format!("at({all})"),
        Op::MatMul => format!("matmul({all})"),
        Op::Dot => format!("dot({all})"),
        Op::Reduce(kind, Reduction { axes, keepdims }) => {
            let axes = optional_list(axes.as_deref());
            format!("reduce(rt::rules::Takes::{:?}, {all}, {axes}, {keepdims})", kind.row().takes)
        }
        Op::Reshape { shape: Extents::Written(shape) } => {
            format!("reshape({all}, {})", list(&literals(shape)))
        }
        Op::Reshape { shape: Extents::Like } => format!("reshape_like({all})"),
        Op::Transpose { permutation } => {
            format!("transpose({all}, {})", optional_list(permutation.as_deref()))
        }
        Op::ExpandDims { axes } => format!("expand_dims({all}, {})", list(axes)),
        Op::Squeeze { axes } => format!("squeeze({all}, {})", optional_list(axes.as_deref())),
        Op::Index { indices: parts } => format!("subscript({all}, {})", subscripts(parts)),
        Op::Slice(slice) => format!("slice({all}, {})", bounds(slice)),
        Op::Gather => format!("gather({all})"),
        Op::Conv2d(c) => format!("conv2d({all}, {}, {})", list(&c.strides), padding(c)),
        Op::BroadcastTo { shape: Extents::Written(shape) } => {
            format!("broadcast_to({all}, {})", list(&literals(shape)))
        }
        Op::BroadcastTo { shape: Extents::Like } => format!("broadcast_like({all})"),
        Op::Own(Own::FilledLike { .. }) => format!("like({all})"),
        Op::Own(Own::CountReduced { .. }) => format!("like(rt::Type::scalar({all}.dtype()))"),
        Op::Own(Own::SumLike) => format!("sum_like({all})"),
        Op::Own(Own::ProductGradLhs) => format!("product_grad_lhs({all})"),
        Op::Own(Own::ProductGradRhs) => format!("product_grad_rhs({all})"),
        Op::Own(Own::IndexGrad(parts)) => format!("scatter_subscript({all}, {})", subscripts(parts)),
        Op::SliceGrad { slice, .. } => format!("scatter_slice({all}, {})", bounds(slice)),
        Op::ScatterAdd { .. } => {
            let [indices, updates, table] = [0, 1, 2].map(|position| &operands[position]);
            format!("gather_back({updates}, {indices}, {table})")
        }
        Op::Conv2dGradInput { convolution: c, .. } => {
            let [dy, filter, image] = [0, 1, 2].map(|position| &operands[position]);
            format!("conv2d_grad_input({dy}, {image}, {filter}, {}, {})", list(&c.strides), padding(c))
        }
        Op::Conv2dGradFilter { convolution: c, .. } => {
            let [image, dy, filter] = [0, 1, 2].map(|position| &operands[position]);
            format!("conv2d_grad_filter({dy}, {image}, {filter}, {}, {})", list(&c.strides), padding(c))
        }
    }
}

/// The bounds and steps of a slice as rules take them.
fn bounds(slice: &Slice) -> String {
    let (starts, ends) = (literals(&slice.starts), literals(&slice.ends));
    format!("{}, {}, Some({})", list(&starts), list(&ends), list(&slice.steps))
}

/// A literal as the rules know it.
fn literal(constant: &Constant) -> String {
    let fits =
        [DType::I32, DType::I64, DType::F32, DType::F64].map(|dtype| match constant.values_in(dtype) {
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
    format!("rt::Type::new({}, {})", dtype(ty.dtype), list(&dims))
}

fn dtype(dtype: DType) -> String {
    format!("rt::DType::{}", dtype.name().to_uppercase())
}

/// `&[1, -1]`.
pub(super) fn list(numbers: &[i64]) -> String {
    format!("&{numbers:?}")
}

/// `Some(&[1, -1])` or `None`.
pub(super) fn optional_list(numbers: Option<&[i64]>) -> String {
    match numbers {
        Some(numbers) => format!("::core::option::Option::Some(&{numbers:?})"),
        None => "::core::option::Option::None".to_string(),
    }
}

/// The parts of an index expression.
pub(super) fn subscripts(parts: &[Subscript]) -> String {
    let number = |number: &Option<i64>| match number {
        Some(number) => format!("::core::option::Option::Some({number})"),
        None => "::core::option::Option::None".to_string(),
    };
    let parts: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Subscript::At(at) => format!("rt::rules::Subscript::At({at})"),
            Subscript::Range { start, end, step } => format!(
                "rt::rules::Subscript::Range {{ start: {}, end: {}, step: {} }}",
                number(start),
                number(end),
                number(step)
            ),
            Subscript::Rest => "rt::rules::Subscript::Rest".to_string(),
        })
        .collect();
    format!("&[{}]", parts.join(", "))
}

/// What surrounds an image.
pub(super) fn padding(convolution: &Convolution) -> String {
    match &convolution.padding {
        Padding::Valid => "rt::rules::Padding::Valid".to_string(),
        Padding::Same => "rt::rules::Padding::Same".to_string(),
        Padding::Custom(pairs) => format!("rt::rules::Padding::Pairs(&{pairs:?})"),
    }
}
