//! Lowers operations that read or add to the rows and elements that integer indices select.

use super::{
    elements::{apply, evaluate},
    tensor::{Tensor, list, number},
    writer::{SsaValue, Writer, fold},
};
use crate::{
    ir::Windows,
    map::Map,
    ops::position,
    ty::{DType, Kind},
};

pub(super) fn gather(writer: &mut Writer, table: SsaValue, indices: SsaValue, to: Tensor) -> SsaValue {
    let (from, depth) = (writer.tensor(table), writer.tensor(indices).rank());
    let sizes: Vec<_> = [1].into_iter().chain(from.shape[1..].iter().copied()).collect();
    let numbers = format!(
        "offset_dims = {}, collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {depth}",
        list(depth..to.rank())
    );
    gathered(writer, [table, indices], &numbers, &sizes, to)
}

pub(super) fn take_along(
    writer: &mut Writer,
    axis: usize,
    x: SsaValue,
    indices: SsaValue,
    to: Tensor,
) -> SsaValue {
    let others = list((0..to.rank()).filter(|other| *other != axis));
    let numbers = format!(
        "collapsed_slice_dims = [{axis}], operand_batching_dims = {others}, start_indices_batching_dims = {others}, \
         start_index_map = [{axis}], index_vector_dim = {}",
        to.rank()
    );
    let sizes = vec![1; to.rank()];
    gathered(writer, [x, indices], &numbers, &sizes, to)
}

fn gathered(
    writer: &mut Writer,
    [x, indices]: [SsaValue; 2],
    numbers: &str,
    sizes: &[i64],
    to: Tensor,
) -> SsaValue {
    let operands = [x, wide(writer, indices)];
    let (names, types) = (writer.names(&operands), writer.types(&operands, &to));
    let sizes = list(sizes);
    writer.line(
        to,
        format_args!(
            "\"stablehlo.gather\"({names}) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = \
             array<i64: {}>, indices_are_sorted = false}}> : {types}",
            sizes.trim_matches(['[', ']'])
        ),
    )
}

pub(super) fn scatter_add(writer: &mut Writer, indices: SsaValue, updates: SsaValue, to: Tensor) -> SsaValue {
    let zeros = writer.constant(&number(0.0, to.dtype), to.clone());
    add_rows(writer, [zeros, indices, updates], to)
}

pub(super) fn add_rows(writer: &mut Writer, operands: [SsaValue; 3], to: Tensor) -> SsaValue {
    let numbers = of_rows(writer, operands[1], operands[2]);
    added(writer, operands, &numbers, to)
}

/// Replaces rows. Engines write the updates of equal indices in any order, so only the last one keeps its index. The
/// others get one out of range, which engines skip.
pub(super) fn scatter(writer: &mut Writer, [x, indices, updates]: [SsaValue; 3], to: Tensor) -> SsaValue {
    let indices = match writer.tensor(indices).dtype {
        DType::I64 => indices,
        _ => apply(writer, Map::to(DType::I64), &[indices]),
    };
    let of_indices = writer.tensor(indices).clone();
    let positions = writer.iota(0, of_indices.clone());
    let places = of_indices.with_shape([to.shape[0]]);
    let first = writer.constant(&number(0.0, DType::I64), places.clone());
    let numbers = of_rows(writer, indices, positions);
    let region = fold("stablehlo.maximum", &Tensor::scalar(DType::I64));
    let last = scattered(writer, [first, indices, positions], &numbers, &region, places);
    let last = gather(writer, last, indices, of_indices.clone());
    let beyond = writer.constant(&to.shape[0].to_string(), of_indices);
    let names = [("last", last), ("position", positions), ("index", indices), ("beyond", beyond)];
    let indices = evaluate(writer, "where(eq(last, position), index, beyond)", &names);
    let (numbers, element) = (of_rows(writer, indices, updates), Tensor::scalar(to.dtype));
    let region = format!(
        "({{\n    ^bb0(%lhs: {element}, %rhs: {element}):\n      stablehlo.return %rhs : {element}\n    }})"
    );
    scattered(writer, [x, indices, updates], &numbers, &region, to)
}

/// Gathers the windows along each axis.
pub(super) fn unfold(writer: &mut Writer, windows: &Windows, x: SsaValue, to: &Tensor) -> SsaValue {
    let places: Vec<usize> = windows.places().collect();
    let axes = windows.axes.iter().map(|axis| position(*axis)).zip(places).enumerate();
    axes.rev().fold(x, |x, (at, (axis, place))| {
        let indices = window_indices(writer, windows, at, [to.shape[place], to.shape[place + 1]]);
        let (mut shape, mut sizes) = (writer.tensor(x).shape.clone(), writer.tensor(x).shape.clone());
        sizes[axis] = 1;
        shape.splice(axis..=axis, [to.shape[place], to.shape[place + 1]]);
        let others = list((0..shape.len()).filter(|other| *other != axis && *other != axis + 1));
        let numbers = format!(
            "offset_dims = {others}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], \
             index_vector_dim = 2"
        );
        let result = writer.tensor(x).with_shape(shape);
        gathered(writer, [x, indices], &numbers, &sizes, result)
    })
}

/// Adds the elements of windows along each axis.
pub(super) fn unfold_grad(writer: &mut Writer, windows: &Windows, dy: SsaValue, to: Tensor) -> SsaValue {
    let axes = windows.axes.iter().map(|axis| position(*axis)).enumerate();
    axes.fold(dy, |dy, (at, axis)| {
        let mut shape = writer.tensor(dy).shape.clone();
        let indices = window_indices(writer, windows, at, [shape[axis], shape[axis + 1]]);
        let others = list((0..shape.len()).filter(|other| *other != axis && *other != axis + 1));
        shape.splice(axis..=axis + 1, [to.shape[axis]]);
        let numbers = format!(
            "update_window_dims = {others}, inserted_window_dims = [{axis}], scatter_dims_to_operand_dims = \
             [{axis}], index_vector_dim = 2"
        );
        let result = writer.tensor(dy).with_shape(shape);
        let zeros = writer.constant(&number(0.0, result.dtype), result.clone());
        added(writer, [zeros, indices, dy], &numbers, result)
    })
}

/// The index that a window reads at each of its positions and elements.
fn window_indices(writer: &mut Writer, windows: &Windows, at: usize, extents: [i64; 2]) -> SsaValue {
    let of = Tensor::new(DType::I64, extents);
    let [positions, elements] = [0, 1].map(|axis| writer.iota(axis, of.clone()));
    let [stride, dilation] = [windows.strides[at], windows.dilations[at]]
        .map(|step| writer.constant(&step.to_string(), of.clone()));
    let names = [("p", positions), ("s", stride), ("k", elements), ("d", dilation)];
    evaluate(writer, "p * s + k * d", &names)
}

/// The attributes of a scatter of rows.
fn of_rows(writer: &Writer, indices: SsaValue, updates: SsaValue) -> String {
    let depth = writer.tensor(indices).rank();
    format!(
        "update_window_dims = {}, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], \
         index_vector_dim = {depth}",
        list(depth..writer.tensor(updates).rank())
    )
}

pub(super) fn add_along(
    writer: &mut Writer,
    axis: usize,
    indices: SsaValue,
    updates: SsaValue,
    to: Tensor,
) -> SsaValue {
    let others = list((0..to.rank()).filter(|other| *other != axis));
    let numbers = format!(
        "inserted_window_dims = [{axis}], input_batching_dims = {others}, scatter_indices_batching_dims = {others}, \
         scatter_dims_to_operand_dims = [{axis}], index_vector_dim = {}",
        to.rank()
    );
    let zeros = writer.constant(&number(0.0, to.dtype), to.clone());
    added(writer, [zeros, indices, updates], &numbers, to)
}

pub(super) fn dynamic_slice(
    writer: &mut Writer,
    axis: usize,
    [x, start]: [SsaValue; 2],
    to: Tensor,
) -> SsaValue {
    let operands: Vec<_> = [x].into_iter().chain(starts(writer, start, axis, to.rank())).collect();
    let sizes = list(&to.shape);
    writer.operation("stablehlo.dynamic_slice", &operands, format_args!(", sizes = {sizes}"), to)
}

pub(super) fn dynamic_update(
    writer: &mut Writer,
    axis: usize,
    [x, start, updates]: [SsaValue; 3],
    to: Tensor,
) -> SsaValue {
    let operands: Vec<_> = [x, updates].into_iter().chain(starts(writer, start, axis, to.rank())).collect();
    writer.operation("stablehlo.dynamic_update_slice", &operands, format_args!(""), to)
}

/// The first position along each axis.
fn starts(writer: &mut Writer, start: SsaValue, axis: usize, rank: usize) -> Vec<SsaValue> {
    let start = wide(writer, start);
    let dtype = writer.tensor(start).dtype;
    let zero = writer.constant(&number(0.0, dtype), Tensor::scalar(dtype));
    (0..rank).map(|other| if other == axis { start } else { zero }).collect()
}

/// Converts unsigned indices to signed ones. Engines compare indices with extents, which narrow types may not hold.
fn wide(writer: &mut Writer, indices: SsaValue) -> SsaValue {
    match writer.tensor(indices).dtype.kind() {
        Kind::Unsigned => apply(writer, Map::to(DType::I64), &[indices]),
        Kind::Truth | Kind::Signed | Kind::Float => indices,
    }
}

/// Adds updates to a tensor, at the places that indices select.
fn added(writer: &mut Writer, [x, indices, updates]: [SsaValue; 3], numbers: &str, to: Tensor) -> SsaValue {
    let operands = [x, wide(writer, indices), updates];
    let region = fold("stablehlo.add", &Tensor::scalar(to.dtype));
    scattered(writer, operands, numbers, &region, to)
}

fn scattered(
    writer: &mut Writer,
    operands: [SsaValue; 3],
    numbers: &str,
    region: &str,
    to: Tensor,
) -> SsaValue {
    let (names, types) = (writer.names(&operands), writer.types(&operands, &to));
    writer.line(
        to,
        format_args!(
            "\"stablehlo.scatter\"({names}) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, \
             indices_are_sorted = false, unique_indices = false}}> {region} : {types}"
        ),
    )
}
