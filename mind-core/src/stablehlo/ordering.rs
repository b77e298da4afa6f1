//! Lowers operations that reorder the elements along an axis.

use super::{
    tensor::{Tensor, comparison, list},
    writer::{SsaValue, Writer},
};
use crate::{ir::Reorder, ops::position, ty::DType};

pub(super) fn lower(writer: &mut Writer, reorder: Reorder, operand: SsaValue, to: Tensor) -> SsaValue {
    match reorder {
        Reorder::Flip { axis } => {
            writer.operation("stablehlo.reverse", &[operand], format_args!(", dims = [{axis}]"), to)
        }
        Reorder::Roll { shift, axis } => roll(writer, shift, position(axis), operand, to),
        Reorder::Sort { axis, descending } => sort(writer, axis, descending, operand, to, None),
        Reorder::ArgSort { axis, descending } => {
            let positions = writer.iota(position(axis), to.clone());
            sort(writer, axis, descending, operand, to, Some(positions))
        }
    }
}

/// Writes the part that comes to the front, then the part that was before it.
fn roll(writer: &mut Writer, shift: i64, axis: usize, operand: SsaValue, to: Tensor) -> SsaValue {
    let extent = to.shape[axis];
    let cut = (-i128::from(shift)).rem_euclid(i128::from(extent)) as i64;
    if cut == 0 {
        return operand;
    }
    let mut part = |from: i64, end: i64| {
        let mut shape = to.shape.clone();
        shape[axis] = end - from;
        let ranges = to.shape.iter().enumerate().map(|(other, extent)| {
            if other == axis { format!("{from}:{end}") } else { format!("0:{extent}") }
        });
        let to = to.with_shape(shape);
        writer.operation("stablehlo.slice", &[operand], format_args!(" {}", list(ranges)), to)
    };
    let parts = [part(cut, extent), part(0, cut)];
    writer.operation("stablehlo.concatenate", &parts, format_args!(", dim = {axis}"), to)
}

/// Sorts elements. Returns `beside` in their order if it is given, else the elements. NaN is greater than every number.
pub(super) fn sort(
    writer: &mut Writer,
    axis: i64,
    descending: bool,
    operand: SsaValue,
    to: Tensor,
    beside: Option<SsaValue>,
) -> SsaValue {
    let operands: Vec<SsaValue> = [operand].into_iter().chain(beside).collect();
    let types: Vec<String> = operands.iter().map(|operand| writer.tensor(*operand).to_string()).collect();
    let results = if types.len() == 1 { types[0].clone() } else { format!("({})", types.join(", ")) };
    let (names, types) = (writer.names(&operands), writer.types(&operands, results));
    let element = Tensor::scalar(writer.tensor(operand).dtype);
    let truth = Tensor::scalar(DType::Bool);
    let unsigned = comparison(element.dtype);
    let others = beside.map_or_else(String::new, |beside| {
        let own = Tensor::scalar(writer.tensor(beside).dtype);
        format!(", %left: {own}, %right: {own}")
    });
    let compare = |name: &str, direction: &str, [a, b]: [&str; 2]| {
        format!(
            "      %{name} = stablehlo.compare {direction}, %{a}, %{b}{unsigned} : ({element}, {element}) -> {truth}\n"
        )
    };
    let combine = |name: &str, by: &str, [a, b]: [&str; 2]| {
        format!("      %{name} = stablehlo.{by} %{a}, %{b} : {truth}\n")
    };
    let (low, high) = if descending { ("rhs", "lhs") } else { ("lhs", "rhs") };
    let region = [
        format!("    ^bb0(%lhs: {element}, %rhs: {element}{others}):\n"),
        compare("before", if descending { "GT" } else { "LT" }, ["lhs", "rhs"]),
        compare("number", "EQ", [low, low]),
        compare("nan", "NE", [high, high]),
        combine("only_nan", "and", ["number", "nan"]),
        combine("first", "or", ["before", "only_nan"]),
        format!("      stablehlo.return %first : {truth}\n"),
    ];
    let region = region.concat();
    let sorted = format_args!(
        "\"stablehlo.sort\"({names}) <{{dimension = {axis} : i64, is_stable = true}}> ({{\n{region}    }}) : {types}"
    );
    if beside.is_some() { writer.second_result(to, sorted) } else { writer.line(to, sorted) }
}
