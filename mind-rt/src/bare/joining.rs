//! Concatenated and stacked tensors, and their parts, for shapes that are values, not types.

use mind_shape::{
    Type,
    rules::{Taken, axis_of},
};

use super::{
    Argument, extent,
    number::{Datum, Number},
    ops::{give_back, take},
};
use crate::{kernels::join, shape::MAX_RANK};

/// Concatenates tensors along an axis.
pub fn concat<T: Datum>(parts: &[Argument<'_, T>], axis: i64, out: &mut [T]) {
    behind(parts, axis_of(axis, parts[0].ty.rank()), out);
}

/// Stacks tensors along a new axis.
pub fn stack<T: Datum>(parts: &[Argument<'_, T>], axis: i64, out: &mut [T]) {
    behind(parts, axis_of(axis, parts[0].ty.rank() + 1), out);
}

/// Copies a row of each part, one after the other, for each index of the first `axes` axes.
fn behind<T: Datum>(parts: &[Argument<'_, T>], axes: usize, out: &mut [T]) {
    let elements = parts.iter().map(|part| part.elements);
    let rows = (0..axes).map(|axis| parts[0].extent(axis)).product();
    join::concat(rows, elements.clone(), &mut out[..elements.map(<[T]>::len).sum()]);
}

/// The part of `whole` for the last of `types`, which follows the others along an axis.
pub fn joined_part<T: Datum>(whole: Argument<'_, T>, types: &[&Type], axis: i64, out: &mut [T]) {
    take(whole, &place(types, types[types.len() - 1], axis), out);
}

/// The cotangent of `whole` in [`joined_part`]: zeros of the last of `types`, except for `part`, which follows the
/// others along an axis.
pub fn joined_part_grad<T: Number>(part: Argument<'_, T>, types: &[&Type], axis: i64, out: &mut [T]) {
    give_back(part, types[types.len() - 1], &place(types, part.ty, axis), out);
}

/// The box of a part that follows all but the last of `types` along an axis.
fn place(types: &[&Type], part: &Type, axis: i64) -> [Taken; MAX_RANK] {
    let axis = axis_of(axis, part.rank());
    let before = types[..types.len() - 1].iter().map(|other| extent(other, axis) as i64).sum();
    std::array::from_fn(|along| Taken {
        start: if along == axis { before } else { 0 },
        extent: if along < part.rank() { part.extent(along) } else { 1 },
        step: 1,
        dropped: false,
    })
}
