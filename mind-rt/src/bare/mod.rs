//! The items that the expansion of a bare expression uses. A bare expression is one over Rust variables, such as
//! `mind!(relu(x @ w + b))`, whose macro does not see the types of `x`, `w` and `b`.
//!
//! The expansion is generic in the element and shape types of its leaves. The type of each node is a value,
//! [`Type`](mind_shape::Type), which the rules of `mind_shape` compute from the types of its operands. The rules run in
//! a constant where the Rust types of the leaves determine every extent, and on entry where some extents are known only
//! then. Kernels take elements and such types, so they are instantiated once per element type, not once per shape.

#[cfg(feature = "ndarray")]
mod arrays;
pub mod axes;
pub mod by_row;
mod cumulate;
mod decided;
mod field;
mod form;
#[cfg(feature = "fft")]
mod fourier;
mod fused;
mod inferred;
mod joining;
mod leaf;
mod matrices;
mod number;
mod ops;
mod product;
mod reduce;
#[cfg(test)]
mod tests;

#[cfg(feature = "ndarray")]
pub use arrays::{LeafRank, read_as};
pub use axes::Known;
pub use cumulate::*;
pub use decided::{EndsIn, Equal, First, Neither, OrInferred, OrNumber, OrShape, Second, Undecided, both};
pub use field::{OfDecided, OfInferred, number_field, open_field};
pub use form::{Alike, Form, OfLeaf, OfNothing, OfNumber, OfReference, Unlike, give, join, plain};
#[cfg(feature = "fft")]
pub use fourier::{fft, real_fft, real_fft_grad};
pub use fused::{Row, fused};
pub use inferred::{Checked, Expr, Inferred, Leaves, array};
pub use joining::{concat, joined_part, joined_part_grad, stack};
pub use leaf::{Leaf, LeafElement, Read, known, leaf, owned, type_of};
pub use matrices::{check_diagonals, check_factors, cholesky, eigh, lu, qr, solve_triangular, svd, triangle};
pub use mind_shape::{Context, DType, Operand, Type, Written, or_fail, rules};
pub use number::{Datum, Number};
pub use ops::{
    add_rows, add_rows_in_place, check_added, check_picked, conv2d, conv2d_grad_filter, conv2d_grad_input,
    converted, copy, count_reduced, depthwise, depthwise_grad_filter, depthwise_grad_input, dynamic_slice,
    dynamic_update, dynamic_update_in_place, filled, gather, gather_grad, max_pool, max_pool_grad,
    max_pool_take, number_like, pad, scatter, scatter_in_place, slice, slice_grad, squeeze, subscript,
    subscript_grad, sum_pool, sum_pool_grad, take_along, take_along_grad, transpose, unfold, unfold_grad,
};
pub use product::{product, product_grad_lhs, product_grad_rhs};
pub use reduce::{all, any, argmax, argmin, max, mean, min, prod, sum, sum_like};

pub use crate::{
    dims::Const,
    element::Arithmetic,
    kernels::math::*,
    tensor::storage::TensorView,
    watch,
    workspace::{carve, slot_bytes},
};
use std::marker::PhantomData;

use crate::{
    element::Element,
    error::Error,
    kernels::{internal_error, memory::Buffer},
    shape::MAX_RANK,
    workspace::with_workspace,
};
pub use crate::{shape::Shape, tensor::storage::Tensor};

/// The elements of a value, contiguous and row-major, with their type.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a, T> {
    /// The elements.
    pub elements: &'a [T],
    /// The type; every extent is known.
    pub ty: &'a Type,
}

impl<'a, T> Argument<'a, T> {
    /// Takes as many elements as the type has. A slot may be larger; the rest is left out.
    #[inline(always)]
    pub fn new(elements: &'a [T], ty: &'a Type) -> Self {
        Self { elements: &elements[..count(ty)], ty }
    }

    fn extent(&self, axis: usize) -> usize {
        extent(self.ty, axis)
    }
}

/// The number of elements of a type.
#[inline(always)]
pub fn count(ty: &Type) -> usize {
    (0..ty.rank()).map(|axis| extent(ty, axis)).product()
}

#[inline(always)]
fn extent(ty: &Type, axis: usize) -> usize {
    ty.extent(axis) as usize
}

/// Shows a value.
pub fn shown<T: Datum>(label: &str, value: Argument<'_, T>) {
    watch::show(label, &extents_of(value.ty), value.elements);
}

/// Searches a value for NaN.
///
/// # Panics
/// As [`watch::search`].
pub fn searched<T: Datum>(value: Argument<'_, T>, watched: watch::Watched) {
    watch::search(&extents_of(value.ty), value.elements, watched);
}

fn extents_of(ty: &Type) -> Vec<usize> {
    (0..ty.rank()).map(|axis| extent(ty, axis)).collect()
}

/// The number of an axis as the program writes it; a negative axis counts from the end.
fn axis_of(axis: i64, rank: usize) -> usize {
    (if axis < 0 { axis + rank as i64 } else { axis }) as usize
}

/// Whether the leaves' Rust types determine every extent.
pub const fn all_static(types: &[Type]) -> bool {
    let mut node = 0;
    while node < types.len() {
        if !types[node].is_static() {
            return false;
        }
        node += 1;
    }
    true
}

/// A tensor with one number in each element of a type.
#[track_caller]
pub fn full<T: Element>(value: T, ty: &Type) -> Tensor<T, (usize,)> {
    Tensor::full_with((count(ty),), value)
}

/// Whether the nodes in `same` have the shape of the node `like`; every extent must be known.
pub const fn have_one_shape(nodes: &[Type], same: &[usize], like: usize) -> bool {
    let mut i = 0;
    while i < same.len() {
        let (a, b) = (&nodes[same[i]], &nodes[like]);
        if a.rank() != b.rank() {
            return false;
        }
        let mut axis = 0;
        while axis < a.rank() {
            if a.extent(axis) != b.extent(axis) {
                return false;
            }
            axis += 1;
        }
        i += 1;
    }
    true
}

/// A tensor for a result of the form `F`. Its elements are arbitrary until they are computed.
#[track_caller]
pub fn allocate<F: Form, T: Element, S: Shape>(_: PhantomData<F>, ty: &Type) -> Tensor<T, S> {
    let (extents, buffer) = stale::<F, T>(ty);
    match S::from_extents(&extents[..ty.rank()]) {
        Some(shape) => Tensor::from_buffer(shape, buffer),
        None => internal_error("a result of another shape than its type's"),
    }
}

/// The extents of a type, and memory for its elements. This function is not instantiated per shape.
#[track_caller]
#[inline(never)]
fn stale<F: Form, T: Element>(ty: &Type) -> ([usize; MAX_RANK], Buffer<T>) {
    let mut extents = [0; MAX_RANK];
    (0..ty.rank()).for_each(|axis| extents[axis] = extent(ty, axis));
    let buffer = if F::IS_VEC { Buffer::vector(count(ty)) } else { Buffer::stale(count(ty)) };
    match buffer {
        Some(buffer) => (extents, buffer),
        None => panic!("{}", Error::Allocation { shape: ty.to_string() }),
    }
}

/// Calls `steps` with this thread's scratch memory, of at least `bytes` bytes. This function is not instantiated per
/// expression.
#[track_caller]
#[inline(never)]
pub fn with_memory(bytes: usize, steps: &mut dyn FnMut(&mut [u8])) {
    with_workspace(bytes, |workspace| steps(workspace.memory()));
}

/// The type of a node that differentiation added. Its rule holds where the rules of the program hold.
#[track_caller]
pub const fn holds(result: mind_shape::TypeResult<'_>) -> Type {
    match result {
        Ok(ty) => ty,
        Err(_) => panic!(
            "internal error in mind: a gradient breaks a rule that its program keeps; please report this"
        ),
    }
}
