//! Calls of functions that are elsewhere: a module that names them as the block does, and the calls in `run`.

use std::fmt::Write;

use mind_core::{
    plan::{Argument, Extern, Plan, Step},
    ty::DType,
};

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;

use super::{Item, body::Body, parse};

/// The module that holds a function for each such step. What rustc says of it is said at the call in the block.
pub(super) fn functions(item: &Item<'_>) -> TokenStream {
    if !has_any(item.plan) {
        return TokenStream::new();
    }
    let span_of = |call: &Extern| (item.value_span)(item.plan.buffers[call.result.0].value);
    let functions = calls(item.plan).enumerate().map(|(position, call)| {
        let tokens = parse(&function(position, call));
        // A derivative is written nowhere: the call that it is of is.
        let mut others = calls(item.plan).filter(|other| other.function == call.function);
        let span = span_of(call).or_else(|| others.find_map(span_of));
        span.map_or_else(|| tokens.clone(), |span| at(tokens.clone(), span))
    });
    // What is imported by name comes before what `*` finds.
    quote! {
        #[allow(warnings, clippy::all)]
        mod externs {
            use super::super::*;
            use super::rt as __mind_rt;
            #(#functions)*
        }
    }
}

/// The same tokens at one place, meaning what they mean.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut tree| {
        let place = span.resolved_at(tree.span());
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        tree.set_span(place);
        tree
    });
    moved.collect()
}

/// Whether there is such a step.
pub(super) fn has_any(plan: &Plan) -> bool {
    calls(plan).next().is_some()
}

/// The step of `run`.
pub(super) fn emit(body: &mut Body<'_>, call: &Extern) {
    let position = calls(body.plan).position(|other| std::ptr::eq(other, call));
    let position = position.expect("the step is one of the plan's");
    let mut text = String::new();
    for argument in &call.arguments {
        let _ = match argument {
            Argument::Tensor(buffer, ty) => {
                let extents: String = ty.shape.iter().map(|dim| body.extent(dim) + ", ").collect();
                write!(text, "{}, [{extents}], ", body.read(*buffer))
            }
            Argument::Scalar(scalar, _) => write!(text, "{}, ", body.scalar_text(scalar)),
        };
    }
    let extents: String = call.ty.shape.iter().map(|dim| body.extent(dim) + ", ").collect();
    let result = body.write(call.result);
    let _ = writeln!(body.text, "externs::{}({text}[{extents}], {result})?;", name(position));
}

fn calls(plan: &Plan) -> impl Iterator<Item = &Extern> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Extern(call) => Some(call),
        _ => None,
    })
}

fn name(position: usize) -> String {
    format!("__mind_call_{position}")
}

/// Takes slices and extents, calls the function with tensors of dynamic extents, and stores what it gives.
fn function(position: usize, call: &Extern) -> String {
    let mut text = String::new();
    let Extern { function, derivative, arguments, ty, .. } = call;
    let (mut signature, mut given) = (String::new(), String::new());
    for (position, argument) in arguments.iter().enumerate() {
        let _ = match argument {
            Argument::Tensor(_, ty) => {
                let (dtype, rank) = (ty.dtype, ty.rank());
                let dims: String = (0..rank).map(|axis| format!("s{position}[{axis}], ")).collect();
                let _ = write!(
                    given,
                    "&*__mind_rt::TensorView::<{dtype}, _>::from_slice(({dims}), x{position})?, "
                );
                write!(signature, "x{position}: &[{dtype}], s{position}: [usize; {rank}], ")
            }
            Argument::Scalar(_, dtype) => {
                let _ = write!(given, "x{position}, ");
                write!(signature, "x{position}: {dtype}, ")
            }
        };
    }
    let (dtype, rank) = (ty.dtype, ty.rank());
    let _ = writeln!(
        text,
        "pub(super) fn {}({signature}shape: [usize; {rank}], result: &mut [{dtype}]) \
         -> ::core::result::Result<(), __mind_rt::Error> {{",
        name(position)
    );
    if !derivative {
        let _ = writeln!(text, "let given = {}({given})?;", path(function, "try_"));
        let _ = writeln!(text, "__mind_rt::put({function:?}, &given, shape, result)?;");
    } else {
        let operands = &arguments[..arguments.len() - 1];
        let is_float = |argument: &Argument| match argument {
            Argument::Tensor(_, ty) => ty.dtype.is_float(),
            Argument::Scalar(_, dtype) => DType::is_float(*dtype),
        };
        let names = operands.iter().enumerate().map(|(position, argument)| match is_float(argument) {
            true => format!("d{position}"),
            false => "_".into(),
        });
        let names: Vec<_> = names.collect();
        let pattern = if let [one] = &names[..] { one.clone() } else { format!("({})", names.join(", ")) };
        let _ = writeln!(text, "let {pattern} = {}({given})?;", path(function, "try_rev_"));
        for (position, argument) in operands.iter().enumerate().filter(|(_, argument)| is_float(argument)) {
            let shape = match argument {
                Argument::Tensor(..) => format!("s{position}"),
                Argument::Scalar(..) => "[]".into(),
            };
            let _ =
                writeln!(text, "let result = __mind_rt::put({function:?}, &d{position}, {shape}, result)?;");
        }
    }
    text.push_str("::core::result::Result::Ok(()) }\n");
    text
}

/// A path of the module that the block stands in, with a prefix before its last word, as the module of calls has it.
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
