//! Operations along an axis, for shapes that are values, not types: cumulations, reordering, positions.

use mind_shape::{Type, rules::axis_of};

use super::{
    Argument, count, extent,
    number::{Datum, Number},
};
use crate::kernels::{
    cumulate::{self, Along, By},
    iota, order,
};

/// Defines a function for each monoid.
macro_rules! cumulations {
    ($($what:literal $name:ident $monoid:ident;)*) => {$(
        #[doc = concat!($what, " of the elements along an axis up to each place.")]
        pub fn $name<T: Number>(x: Argument<'_, T>, axis: i64, reverse: bool, exclusive: bool, out: &mut [T]) {
            let along = Along { extents: around(x.ty, axis_of(axis, x.ty.rank())), reverse, exclusive };
            cumulate::cumulate(By::$monoid, along, x.elements, &mut out[..x.elements.len()]);
        }
    )*};
}

cumulations! {
    "The sum" cumsum Sum;
    "The product" cumprod Product;
    "The largest" cummax Max;
    "The smallest" cummin Min;
}

/// A linear recurrence along an axis.
pub fn recurrence<T: Number>(
    a: Argument<'_, T>,
    b: Argument<'_, T>,
    axis: i64,
    reverse: bool,
    exclusive: bool,
    out: &mut [T],
) {
    let along = Along { extents: around(a.ty, axis_of(axis, a.ty.rank())), reverse, exclusive };
    cumulate::recurrence(along, a.elements, b.elements, &mut out[..a.elements.len()]);
}

/// Reverses the elements along an axis.
pub fn flip<T: Datum>(x: Argument<'_, T>, axis: i64, out: &mut [T]) {
    T::flip(around(x.ty, axis_of(axis, x.ty.rank())), x.elements, &mut out[..x.elements.len()]);
}

/// Rotates the elements along an axis by `shift` positions.
pub fn roll<T: Datum>(x: Argument<'_, T>, shift: i64, axis: i64, out: &mut [T]) {
    order::roll(around(x.ty, axis_of(axis, x.ty.rank())), shift, x.elements, &mut out[..x.elements.len()]);
}

/// The first elements along an axis in sorted order: as many as the type of the result has there.
pub fn sort<T: Number>(x: Argument<'_, T>, axis: i64, descending: bool, ty: &Type, out: &mut [T]) {
    let axis = axis_of(axis, x.ty.rank());
    let (extents, first) = (around(x.ty, axis), extent(ty, axis));
    order::sort(extents, first, descending, x.elements, &mut out[..count(ty)]);
}

/// The positions of these elements.
pub fn argsort<T: Number>(x: Argument<'_, T>, axis: i64, descending: bool, ty: &Type, out: &mut [i64]) {
    let axis = axis_of(axis, x.ty.rank());
    let (extents, first) = (around(x.ty, axis), extent(ty, axis));
    order::argsort(extents, first, descending, x.elements, &mut out[..count(ty)]);
}

/// The index of each element along an axis; `I` is `i64`.
pub fn iota<I: Number>(axis: i64, ty: &Type, out: &mut [I]) {
    let extents = around(ty, axis_of(axis, ty.rank()));
    iota::iota(extents, I::cast_mut(&mut out[..count(ty)]));
}

/// The numbers of positions of a type before an axis, along it, and after it.
pub(super) fn around(ty: &Type, axis: usize) -> [usize; 3] {
    let count = |axes: std::ops::Range<usize>| axes.map(|axis| extent(ty, axis)).product();
    [count(0..axis), extent(ty, axis), count(axis + 1..ty.rank())]
}
