//! Kernels that are compiled with this crate, once per element type.
//!
//! A generic function is compiled in the crate that calls it. In a debug build that is the user's program, which is not
//! optimised even where `[profile.dev.package."*"]` optimises its libraries. A loop over elements that is the same in
//! every program is therefore a method here, and the generic functions of the other modules call it. The methods are
//! `#[inline(never)]`, because the caller's crate also compiles a function that may be inlined.

use super::cumulate::{Along, By};
use super::gather::{Indices, Picked};
use super::memory::Storable;
use super::number::Number;
use super::pooling::{Pool, PoolOf};

/// The kernels of an element type.
#[allow(private_bounds, reason = "sealed")]
pub trait Compiled: Storable {
    /// Sets every element.
    fn fill(elements: &mut [Self], value: Self);

    /// Whether both slices have the same length and equal elements.
    fn are_equal(lhs: &[Self], rhs: &[Self]) -> bool;

    /// [`copy::copy_strided`](super::copy::copy_strided).
    fn copy_strided(dims: &[usize], strides: &[usize], offset: usize, src: &[Self], dst: &mut [Self]);

    /// `to[r * strides[0] + c] = from[r * strides[1] + c]`.
    fn copy_rows(to: &mut [Self], from: &[Self], strides: [usize; 2], rows: usize, columns: usize);

    /// [`order::flip`](super::order::flip).
    fn flip(extents: [usize; 3], x: &[Self], out: &mut [Self]);

    /// [`gather::gather`](super::gather::gather).
    fn gather(table: &[Self], picked: Picked, indices: Indices<'_>, out: &mut [Self]);

    /// [`gather::scatter`](super::gather::scatter).
    fn scatter(out: &mut [Self], row_len: usize, indices: Indices<'_>, updates: &[Self]);
}

/// The kernels of an element type that has sums.
pub trait SumKernels: Number {
    /// [`copy::slice_grad`](super::copy::slice_grad).
    fn slice_grad(
        dims: &[usize],
        starts: &[usize],
        steps: &[usize],
        update_dims: &[usize],
        updates: &[Self],
        out: &mut [Self],
    );

    /// Zeros to which updates are added: `out = 0; out[Σ i · steps] += updates[i]` for every index `i` below `dims`, in
    /// row-major order. Updates may share elements of `out`.
    fn add_strided(dims: &[usize], steps: &[usize], updates: &[Self], out: &mut [Self]);

    /// [`pooling::pool`](super::pooling::pool).
    fn pool(pool: &Pool, of: PoolOf<'_, Self>, out: &mut [Self]);

    /// [`gather::scatter_add`](super::gather::scatter_add).
    fn scatter_add(out: &mut [Self], picked: Picked, indices: Indices<'_>, updates: &[Self]);

    /// [`gather::add_rows`](super::gather::add_rows).
    fn add_rows(out: &mut [Self], row_len: usize, indices: Indices<'_>, updates: &[Self]);

    /// [`cumulate`](super::cumulate::cumulate).
    fn cumulate(by: By, along: Along, x: &[Self], out: &mut [Self]);

    /// [`order::sort`](super::order::sort).
    fn sort(extents: [usize; 3], first: usize, descending: bool, x: &[Self], out: &mut [Self]);

    /// [`order::argsort`](super::order::argsort).
    fn argsort(extents: [usize; 3], first: usize, descending: bool, x: &[Self], out: &mut [i64]);

    /// [`recurrence`](super::cumulate::recurrence).
    fn recurrence(along: Along, a: &[Self], b: &[Self], out: &mut [Self]);

    /// [`reduce::sum`](super::reduce::sum).
    fn sum_all(elements: &[Self]) -> Self;

    /// [`reduce::sum_columns`](super::reduce::sum_columns).
    fn sum_columns(
        sums: &mut [Self],
        lost: &mut [Self],
        chain: &mut [Self],
        elements: &[Self],
        stride: usize,
        rows: usize,
    );
}
