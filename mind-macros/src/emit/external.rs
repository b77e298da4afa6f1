//! Emits calls of `extern` functions: a module whose functions call them by the paths of the block, and the calls of
//! that module in `run`.

use std::fmt::Write;

use mind_core::{
    ir::{External, ValueId},
    plan::{KernelCall, KernelOperand, Plan, Step},
    ty::DType,
};

use proc_macro2::{Span, TokenStream};
use quote::quote;

use super::{
    body::Body,
    iteration,
    tokens::{at, parse},
};

/// The module with a function for each call of an `extern` function. rustc reports errors in it at the call in the
/// block.
///
/// The module is nested in the module of the function and in `depth` modules of loops.
pub(super) fn functions(
    plan: &Plan,
    value_span: &dyn Fn(ValueId) -> Option<Span>,
    depth: usize,
) -> TokenStream {
    if calls(plan).next().is_none() {
        return TokenStream::new();
    }
    let span_of = |call: &KernelCall| value_span(plan.buffers[call.result.0].value);
    let functions = calls(plan).enumerate().map(|(position, call)| {
        let tokens = parse(&function(position, call));
        // The call of a derivative does not appear in the source, so it gets the span of the call that it
        // differentiates.
        let mut others = calls(plan).filter(|other| called(other).0 == called(call).0);
        let span = span_of(call).or_else(|| others.find_map(span_of));
        span.map_or_else(|| tokens.clone(), |span| at(tokens.clone(), span))
    });
    let around = (0..2 + depth).map(|_| quote! { super:: });
    // An import by name takes precedence over `*`.
    quote! {
        #[allow(warnings, clippy::all)]
        mod externs {
            use #(#around)* *;
            use super::rt as __mind_rt;
            #(#functions)*
        }
    }
}

/// Whether a plan or one of its loops calls an `extern` function.
pub(super) fn has_any(plan: &Plan) -> bool {
    calls(plan).next().is_some() || iteration::loops(plan).any(|of| has_any(&of.body))
}

/// Emits the step in `run`.
pub(super) fn emit(body: &mut Body<'_>, call: &KernelCall) {
    let position = calls(body.plan).position(|other| std::ptr::eq(other, call));
    let position = position.expect("the step is one of the plan's");
    let mut text = String::new();
    for argument in &call.operands {
        let _ = match argument {
            KernelOperand::Tensor(buffer, ty) => {
                let extents: String = ty.shape.iter().map(|dim| body.extent(dim) + ", ").collect();
                write!(text, "{}, [{extents}], ", body.read(*buffer))
            }
            KernelOperand::Scalar(scalar, _) => write!(text, "{}, ", body.scalar_text(scalar)),
        };
    }
    let extents: String = call.ty.shape.iter().map(|dim| body.extent(dim) + ", ").collect();
    let result = body.write(call.result);
    let _ = writeln!(body.text, "externs::{}({text}[{extents}], {result})?;", name(position));
}

fn calls(plan: &Plan) -> impl Iterator<Item = &KernelCall> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Call(call) => call.external().map(|_| call),
        _ => None,
    })
}

/// The path of the function, and the order of the derivative.
///
/// The last operand of a derivative is the cotangent of the differentiated function's result. The result of a
/// derivative is a vector with the cotangents of all other float operands, one after the other. All cotangents after
/// the first are therefore such vectors.
fn called(call: &KernelCall) -> (&str, usize) {
    match call.external().expect("only calls of functions that are elsewhere are asked") {
        External::Call { function, .. } => (function, 0),
        External::Grad { function, order } => {
            (function, usize::try_from(*order).expect("a verified order is one of operands"))
        }
    }
}

fn name(position: usize) -> String {
    format!("__mind_call_{position}")
}

/// The function for one call. It takes slices and extents, calls the `extern` function with tensors of dynamic extents,
/// and stores the result.
fn function(position: usize, call: &KernelCall) -> String {
    let KernelCall { operands: arguments, ty, .. } = call;
    let (function, order) = called(call);
    let (dtype, rank) = (ty.dtype, ty.rank());
    let mut signature = String::new();
    for (position, argument) in arguments.iter().enumerate() {
        let _ = match argument {
            KernelOperand::Tensor(_, ty) => {
                write!(signature, "x{position}: &[{}], s{position}: [usize; {}], ", ty.dtype, ty.rank())
            }
            KernelOperand::Scalar(_, dtype) => write!(signature, "x{position}: {dtype}, "),
        };
    }
    let mut text = format!(
        "pub(super) fn {}({signature}shape: [usize; {rank}], result: &mut [{dtype}]) \
         -> ::core::result::Result<(), __mind_rt::Error> {{\n",
        name(position)
    );
    let (operands, cotangents) = arguments.split_at(arguments.len() - order);
    let mut given = String::new();
    for (position, argument) in operands.iter().chain(cotangents.first()).enumerate() {
        let _ = match argument {
            KernelOperand::Tensor(_, ty) => write!(
                given,
                "{}, ",
                tensor(&format!("x{position}"), &format!("s{position}"), ty.dtype, ty.rank())
            ),
            KernelOperand::Scalar(..) => write!(given, "x{position}, "),
        };
    }
    // The cotangent of a derivative's result is a vector here. The Rust function takes a tuple of the type that the
    // derivative returns.
    for cotangent in 2..=order {
        let given_back = Back::of_order(arguments, operands.len(), cotangent - 1);
        let position = operands.len() + cotangent - 1;
        let _ = writeln!(text, "let rest = x{position};");
        let mut part = 0;
        let argument = given_back.map(&mut |leaf| {
            part += 1;
            let name = format!("x{position}_{part}");
            match leaf.argument {
                KernelOperand::Tensor(_, ty) => {
                    let extents = format!("s{}", leaf.position);
                    let _ = writeln!(
                        text,
                        "let ({name}, rest) = rest.split_at({extents}.iter().product::<usize>());"
                    );
                    tensor(&name, &extents, dtype, ty.rank())
                }
                KernelOperand::Scalar(..) => {
                    let _ = writeln!(text, "let ({name}, rest) = rest.split_at(1);");
                    format!("{name}[0]")
                }
            }
        });
        given += &(argument + ", ");
    }
    let prefix = format!("try_{}", "rev_".repeat(order));
    let call = format!("{}({given})?;\n", path(function, &prefix));
    if order == 0 {
        text += &format!("let given = {call}__mind_rt::put({function:?}, &given, shape, result)?;\n");
    } else {
        let mut stores = String::new();
        let mut part = 0;
        let pattern = Back::of_order(arguments, operands.len(), order).map(&mut |leaf| {
            part += 1;
            let shape = match leaf.argument {
                KernelOperand::Tensor(..) => format!("s{}", leaf.position),
                KernelOperand::Scalar(..) => "[]".into(),
            };
            stores += &format!("let result = __mind_rt::put({function:?}, &d{part}, {shape}, result)?;\n");
            format!("d{part}")
        });
        text += &format!("let {pattern} = {call}{stores}");
    }
    text + "::core::result::Result::Ok(()) }\n"
}

/// An argument: a tensor of dynamic extents.
fn tensor(elements: &str, extents: &str, dtype: DType, rank: usize) -> String {
    let dims: String = (0..rank).map(|axis| format!("{extents}[{axis}], ")).collect();
    format!("&*__mind_rt::TensorView::<{dtype}, _>::from_slice(({dims}), {elements})?")
}

/// The Rust result of a derivative: cotangents in tuples, and `()` for an operand without a cotangent.
enum Back<'a> {
    /// The cotangent of one operand, with the operand's type.
    Leaf(Leaf<'a>),
    /// The cotangents of an argument that is a tuple.
    Tuple(Vec<Self>),
}

/// An operand or cotangent of the call, for which a derivative returns the cotangent.
struct Leaf<'a> {
    position: usize,
    argument: &'a KernelOperand,
}

impl<'a> Back<'a> {
    /// The result of the derivative of this order. The derivative of `f : S → T` takes `S` and a cotangent of type `T`,
    /// and returns a cotangent of type `S`. The next derivative takes both of these and a cotangent of type `S`.
    fn of_order(arguments: &'a [KernelOperand], operands: usize, order: usize) -> Self {
        let leaf = |position: usize| Self::Leaf(Leaf { position, argument: &arguments[position] });
        match order {
            0 => leaf(operands),
            1 if operands == 1 => leaf(0),
            1 => Self::Tuple((0..operands).map(leaf).collect()),
            _ => {
                let before = |order: usize| Self::of_order(arguments, operands, order);
                Self::Tuple(vec![before(order - 1), before(order - 2)])
            }
        }
    }

    /// The text of the result, in which `text` gives the text of each leaf with a cotangent, in order.
    fn map(&self, text: &mut impl FnMut(&Leaf<'a>) -> String) -> String {
        match self {
            Self::Leaf(leaf) => {
                let dtype = match leaf.argument {
                    KernelOperand::Tensor(_, ty) => ty.dtype,
                    KernelOperand::Scalar(_, dtype) => *dtype,
                };
                if dtype.is_float() { text(leaf) } else { "()".into() }
            }
            Self::Tuple(members) => {
                let members: String = members.iter().map(|member| member.map(text) + ", ").collect();
                format!("({members})")
            }
        }
    }
}

/// Rewrites a path relative to the module of the block for use in the module of calls, with `prefix` before its last
/// segment.
fn path(function: &str, prefix: &str) -> String {
    let (before, last) = function.rsplit_once("::").map_or(("", function), |(before, last)| (before, last));
    let before = match before.split_once("::").unwrap_or((before, "")) {
        ("self", "") => "super::super".to_owned(),
        ("self", rest) => format!("super::super::{rest}"),
        ("super", _) => format!("super::super::{before}"),
        _ => before.to_owned(),
    };
    let between = if before.is_empty() { "" } else { "::" };
    format!("{before}{between}{prefix}{last}")
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn paths_are_those_of_the_module_around() {
        assert_eq!(path("cell", "try_"), "try_cell");
        assert_eq!(path("cells::cell", "try_rev_"), "cells::try_rev_cell");
        assert_eq!(path("self::cell", "try_"), "super::super::try_cell");
        assert_eq!(path("super::a::cell", "try_"), "super::super::super::a::try_cell");
        assert_eq!(path("crate::a::cell", "try_"), "crate::a::try_cell");
    }
}
