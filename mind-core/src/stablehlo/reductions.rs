//! Lowers reductions over axes, cumulations along an axis, and searches for the largest or smallest elements.

use super::{
    elements,
    tensor::{Tensor, comparison, list, neutral, number, operation},
    writer::{SsaValue, Writer, fold},
};
use crate::{
    cumulate::{Combine, Cumulate},
    ir::{Cumulation, Reduction},
    map::{Hlo, Map},
    ops::position,
    reduce::{ArgReduce, Neutral, Reduce},
    ty::DType,
};

pub(super) fn reduce(
    writer: &mut Writer,
    reduce: Reduce,
    reduction: &Reduction,
    operand: SsaValue,
    to: &Tensor,
) -> SsaValue {
    let row = reduce.row();
    let from = writer.tensor(operand).clone();
    let axes = reduction.positions(from.rank());
    let neutral = neutral(row.monoid.neutral, from.dtype);
    let start = writer.constant(&neutral, Tensor::scalar(from.dtype));
    let kept = from.with_shape(without(&from.shape, &axes));
    let mut result = reduced(writer, operation(row.monoid.combine), [operand, start], &axes, kept.clone());
    if drops_nan(row.monoid.combine) && from.dtype.is_float() {
        result = with_nan(writer, operand, result, |writer, is_nan, no, to| {
            reduced(writer, "stablehlo.or", [is_nan, no], &axes, to)
        });
    }
    if row.divides {
        let count: i64 = axes.iter().map(|axis| from.shape[*axis]).product();
        let count = writer.constant(&number(count as f64, from.dtype), kept.clone());
        result = elements::of_elements(writer, "stablehlo.divide", &[result, count], kept);
    }
    writer.reshaped(result, &to.shape)
}

/// Combines the elements over some axes by an operation.
fn reduced(writer: &mut Writer, combine: &str, names: [SsaValue; 2], axes: &[usize], to: Tensor) -> SsaValue {
    let types = writer.types(&names, &to);
    let [operand, start] = names.map(|value| writer.name(value));
    let axes = list(axes);
    writer.line(
        to,
        format_args!(
            "stablehlo.reduce({operand} init: {start}) applies {combine} across dimensions = {axes} : {types}"
        ),
    )
}

/// Whether engines may drop NaN when they combine elements.
fn drops_nan(combine: Map) -> bool {
    matches!(combine.row().hlo, Hlo::ByType { .. })
}

/// NaN where a combined element is NaN, else the result. `any` emits a second reduction, of truth values. It receives
/// whether each element is NaN, and the neutral element. A region with comparisons would do too, but engines split only
/// single operations over devices and combine the parts.
fn with_nan(
    writer: &mut Writer,
    operand: SsaValue,
    result: SsaValue,
    any: impl FnOnce(&mut Writer, SsaValue, SsaValue, Tensor) -> SsaValue,
) -> SsaValue {
    let to = Tensor::new(DType::Bool, &*writer.tensor(result).shape);
    let is_nan = elements::evaluate(writer, "ne(x, x)", &[("x", operand)]);
    let no = writer.constant(&false.to_string(), Tensor::scalar(DType::Bool));
    let any = any(writer, is_nan, no, to);
    let result_type = writer.tensor(result).clone();
    let nan = writer.constant(&number(f64::NAN, result_type.dtype), result_type);
    elements::evaluate(writer, "where(any, nan, y)", &[("any", any), ("nan", nan), ("y", result)])
}

/// Reduces pairs of an element and its position. The first NaN wins, else the first of the best elements. The position
/// of the start value is larger than all others. It never wins, since each group has an element.
pub(super) fn arg_reduce(
    writer: &mut Writer,
    arg: ArgReduce,
    reduction: &Reduction,
    operand: SsaValue,
    to: &Tensor,
) -> SsaValue {
    let from = writer.tensor(operand).clone();
    let axes = reduction.positions(from.rank());
    if axes.is_empty() {
        return writer.constant("0", to.clone());
    }
    let (start, direction) = match arg {
        ArgReduce::Max => (Neutral::Least, "GT"),
        ArgReduce::Min => (Neutral::Greatest, "LT"),
    };
    let reduced: Vec<_> = axes.iter().map(|axis| from.shape[*axis]).collect();
    let positions = writer.iota(0, Tensor::new(DType::I64, [reduced.iter().product::<i64>()]));
    let positions = writer.reshaped(positions, &reduced);
    let positions = writer.broadcast_along(positions, axes.iter().copied(), &from.shape);
    let (element, place) = (Tensor::scalar(from.dtype), Tensor::scalar(DType::I64));
    let start = writer.constant(&neutral(start, from.dtype), element.clone());
    let end = writer.constant(&i64::MAX.to_string(), place.clone());
    let (kept, truth) = (without(&from.shape, &axes), Tensor::scalar(DType::Bool));
    let (best, at) = (from.with_shape(&*kept), Tensor::new(DType::I64, &*kept));
    let operands = [operand, positions, start, end];
    let (names, types) = (writer.names(&operands), writer.types(&operands, format!("({best}, {at})")));
    let compare = |name: &str, direction: &str, of: [&str; 2], ty: &Tensor| {
        let [a, b] = of;
        let unsigned = comparison(ty.dtype);
        format!(
            "      %{name} = stablehlo.compare {direction}, %{a}, %{b}{unsigned} : ({ty}, {ty}) -> {truth}\n"
        )
    };
    let combine = |name: &str, by: &str, of: [&str; 2]| {
        format!("      %{name} = stablehlo.{by} %{}, %{} : {truth}\n", of[0], of[1])
    };
    let region = [
        format!("    ^bb0(%lhs: {element}, %left: {place}, %rhs: {element}, %right: {place}):\n"),
        compare("beats", direction, ["lhs", "rhs"], &element),
        compare("lhs_nan", "NE", ["lhs", "lhs"], &element),
        compare("rhs_number", "EQ", ["rhs", "rhs"], &element),
        compare("rhs_nan", "NE", ["rhs", "rhs"], &element),
        compare("equal", "EQ", ["lhs", "rhs"], &element),
        compare("first", "LT", ["left", "right"], &place),
        combine("only_nan", "and", ["lhs_nan", "rhs_number"]),
        combine("both_nan", "and", ["lhs_nan", "rhs_nan"]),
        combine("ties", "or", ["equal", "both_nan"]),
        combine("leads", "and", ["ties", "first"]),
        combine("wins", "or", ["beats", "only_nan"]),
        combine("stays", "or", ["wins", "leads"]),
        format!("      %best = stablehlo.select %stays, %lhs, %rhs : {truth}, {element}\n"),
        format!("      %at = stablehlo.select %stays, %left, %right : {truth}, {place}\n"),
        format!("      stablehlo.return %best, %at : {element}, {place}\n"),
    ];
    let region = region.concat();
    let axes = list(&axes);
    let axes = axes.trim_matches(['[', ']']);
    let reduced = format_args!(
        "\"stablehlo.reduce\"({names}) <{{dimensions = array<i64: {axes}>}}> ({{\n{region}    }}) : {types}"
    );
    let result = writer.second_result(at, reduced);
    writer.reshaped(result, &to.shape)
}

/// Combines at each place the elements up to it along an axis.
pub(super) fn cumulate(
    writer: &mut Writer,
    cumulate: Cumulate,
    cumulation: Cumulation,
    operands: &[SsaValue],
    to: Tensor,
) -> SsaValue {
    match cumulate.row().combine {
        Combine::Monoid(monoid) => {
            let start = writer.constant(&neutral(monoid.neutral, to.dtype), Tensor::scalar(to.dtype));
            let is_float = to.dtype.is_float();
            let result = window(writer, operation(monoid.combine), cumulation, [operands[0], start], to);
            if !(is_float && drops_nan(monoid.combine)) {
                return result;
            }
            with_nan(writer, operands[0], result, |writer, is_nan, no, to| {
                window(writer, "stablehlo.or", cumulation, [is_nan, no], to)
            })
        }
        Combine::Recurrence => recurrence(writer, cumulation, [operands[0], operands[1]], &to),
    }
}

/// Lowers a recurrence by doubling: the number of places that each place combines doubles in each round.
fn recurrence(writer: &mut Writer, cumulation: Cumulation, [a, b]: [SsaValue; 2], to: &Tensor) -> SsaValue {
    let Cumulation { axis, reverse, exclusive } = cumulation;
    let axis = position(axis);
    let shifted = |writer: &mut Writer, value: SsaValue, by: i64, fill: f64| {
        let fill = writer.constant(&number(fill, to.dtype), Tensor::scalar(to.dtype));
        let along = |at: i64| list((0..to.rank()).map(|other| if other == axis { at } else { 0 }));
        let [low, high] = if reverse { [-by, by] } else { [by, -by] };
        let (low, high, none) = (along(low), along(high), along(0));
        let between = format_args!(", low = {low}, high = {high}, interior = {none}");
        writer.operation("stablehlo.pad", &[value, fill], between, to.clone())
    };
    let (mut factors, mut sums, mut by) = (a, b, 1);
    while by < to.shape[axis] {
        let [factors_before, sums_before] =
            [(factors, 1.0), (sums, 0.0)].map(|(value, fill)| shifted(writer, value, by, fill));
        let carried = elements::lower(writer, Map::MulKeepZero, &[factors, sums_before], &to.shape);
        sums = elements::of_elements(writer, "stablehlo.add", &[carried, sums], to.clone());
        factors = elements::lower(writer, Map::MulKeepZero, &[factors, factors_before], &to.shape);
        by *= 2;
    }
    if exclusive { shifted(writer, sums, 1, 0.0) } else { sums }
}

/// Reduces windows as long as the axis. The padding leaves the elements up to each place.
fn window(
    writer: &mut Writer,
    combine: &str,
    cumulation: Cumulation,
    names: [SsaValue; 2],
    to: Tensor,
) -> SsaValue {
    let Cumulation { axis, reverse, exclusive } = cumulation;
    let axis = position(axis);
    let extent = to.shape[axis];
    let [before, after] = if exclusive { [extent, -1] } else { [extent - 1, 0] };
    let ends = if reverse { [after, before] } else { [before, after] };
    let along = |at: i64, elsewhere: i64| {
        let all = (0..to.rank()).map(|other| if other == axis { at } else { elsewhere });
        all.collect::<Vec<_>>()
    };
    let padding = along(ends[0], 0).into_iter().zip(along(ends[1], 0)).map(|(low, high)| list([low, high]));
    let window = list(along(extent, 1));
    let (names, types) = (writer.names(&names), writer.types(&names, &to));
    let region = fold(combine, &Tensor::scalar(to.dtype));
    let pairs = format!("dense<{}> : tensor<{}x2xi64>", list(padding), to.rank());
    writer.line(
        to,
        format_args!(
            "\"stablehlo.reduce_window\"({names}) <{{window_dimensions = array<i64: {}>, padding = {pairs}}}> \
             {region} : {types}",
            window.trim_matches(['[', ']'])
        ),
    )
}

/// The extents of the axes that are not in `axes`.
fn without(shape: &[i64], axes: &[usize]) -> Vec<i64> {
    let kept = shape.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    kept.map(|(_, extent)| *extent).collect()
}
