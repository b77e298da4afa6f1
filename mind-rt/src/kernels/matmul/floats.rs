//! Products of floats: chooses the kernel that multiplies.

use std::mem::MaybeUninit;

use super::blocked::To;
use super::operands::MatRef;
use super::product::{InBounds, Product, Sink};
use super::region::Region;
use super::room::Room;
use super::sizes::COLUMN_SIZES;
use super::tiny::TinyProduct;
use super::{blocked, choices, few_rows};
use crate::kernels::blocks::multiply_add;
use crate::kernels::caches::Caches;
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::number::Number;
use crate::kernels::tile::{Dots, Micro, Tiles, Vectors};
use crate::simd::simd_level;

/// Computes one product, at the SIMD level in use.
#[inline(always)]
pub fn multiply<T: Number + Tiles>(product: &InBounds<'_, T>, scratch: &mut [T], sink: Sink<'_, T>) {
    if is_small(product) {
        return small(product, sink);
    }
    not_small(product, scratch, sink);
}

/// Computes a product that is not small.
#[inline(never)]
fn not_small<T: Number + Tiles>(product: &InBounds<'_, T>, scratch: &mut [T], sink: Sink<'_, T>) {
    multiply_by(T::micro(simd_level()), Caches::of_this_processor(), product, scratch, sink);
}

/// Whether a product has at most [`SMALL_PRODUCT`] multiplications, and extents that no part of a larger product has:
/// parts that threads take have no fewer columns.
#[inline(always)]
fn is_small<T>(&Product { dims: &[_, k, n], all_rows, .. }: &Product<'_, T>) -> bool {
    all_rows.max(k).max(n) < COLUMN_SIZES.narrowest && all_rows * k * n <= SMALL_PRODUCT
}

/// Computes one product by the kernels `micro`, which the processor must have, in the way that is best for these
/// caches.
///
/// The kernels for small products, for a vector, and for few rows by columns may sum in another order. They are
/// therefore chosen by the whole product, whichever of its rows are computed.
pub fn multiply_by<T: Number + Tiles>(
    micro: &Micro<T>,
    caches: Caches,
    product: &InBounds<'_, T>,
    scratch: &mut [T],
    sink: Sink<'_, T>,
) {
    let Product { dims: &[m, k, n], all_rows, lhs, rhs } = **product;
    if is_small(product) {
        return small(product, sink);
    }
    let mut sink = sink;
    if n == 1 {
        let columns = ByVector::new(micro, [m, k], lhs, (rhs.pointer(), rhs.row_stride));
        match columns.multiply(lhs.col_stride, sink, Line::Column) {
            None => return,
            Some(unused) => sink = unused,
        }
    }
    if all_rows == 1 {
        let rows = ByVector::new(micro, [n, k], &rhs.transposed(), (lhs.pointer(), lhs.col_stride));
        match rows.multiply(rhs.row_stride, sink, Line::Row) {
            None => return,
            Some(unused) => sink = unused,
        }
    }
    if choices::combines(micro, caches, product) {
        return few_rows::combine(micro, product, sink);
    }
    if choices::is_inner(product) {
        return few_rows::inner(micro, product, sink);
    }
    let to = match sink {
        Sink::Store(out) => To::Region(Region::new(out, n)),
        Sink::Epilogue { epilogue, row } => To::Epilogue { epilogue, row },
    };
    blocked::multiply(micro, caches, product, scratch, to);
}

/// The function that computes some columns of a product of many rows and columns. It uses the same kernel as
/// [`multiply`] does for all columns.
#[cfg(any(test, not(any(feature = "matrixmultiply", not(target_arch = "x86_64")))))]
pub fn by_columns<T: Number + Tiles>() -> Option<super::product::MultiplyColumns<T>> {
    use super::sizes::INNER_ROWS;

    Some(|product, scratch, region| {
        let (micro, caches) = (T::micro(simd_level()), Caches::of_this_processor());
        let Product { dims: &[_, _, n], all_rows, .. } = **product;
        const { assert!(INNER_ROWS < COLUMN_SIZES.rows_to_share, "few rows have sums of another order") };
        let is_of_blocks = !is_small(product)
            && all_rows >= COLUMN_SIZES.rows_to_share
            && n > 1
            && !choices::combines(micro, caches, product);
        assert!(is_of_blocks, "sums have the order of the whole product");
        blocked::multiply(micro, caches, product, scratch, To::Region(region));
    })
}

/// Products of up to this many multiplications are computed before any kernel is chosen:
/// `cargo run --release --manifest-path benches/gemm/Cargo.toml -- 3x3x3 4x4x4 1x3x3 4x4x1`.
const SMALL_PRODUCT: usize = limit(64, 8);

/// Computes a small product.
#[inline(always)]
fn small<T: Number>(product: &InBounds<'_, T>, sink: Sink<'_, T>) {
    match sink {
        Sink::Store(out) => in_order(product, out),
        Sink::Epilogue { epilogue, row } => {
            let [m, _, n] = *product.dims;
            let mut room = [T::ZERO; SMALL_PRODUCT];
            let sums = &mut room[..m * n];
            in_order(product, sums);
            epilogue.block(Block { row, column: 0, rows: m, columns: n, sums, stride: n });
        }
    }
}

/// Computes each sum in the order of `k`.
#[inline(always)]
fn in_order<T: Number>(product: &InBounds<'_, T>, sums: &mut [T]) {
    // For the smallest products, setting up loops would take longer than all other work.
    match product.dims {
        [1, 1, 1] => cube::<T, 1>(product, sums),
        [2, 2, 2] => cube::<T, 2>(product, sums),
        _ => in_loops(product, sums),
    }
}

/// As [`in_order`], for matrices of `N` rows and columns.
#[inline(always)]
fn cube<T: Number, const N: usize>(product: &InBounds<'_, T>, sums: &mut [T]) {
    let tiny = TinyProduct::<T, N, N, N>::new(*product.lhs, *product.rhs);
    assert!(sums.len() == N * N);
    for (i, row) in sums.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        *row = tiny.row(i);
    }
}

/// Computes each sum in the order of `k`, some columns of all rows at a time. If the result is a column, some of its
/// rows are computed at a time.
#[inline(never)]
fn in_loops<T: Number>(product: &InBounds<'_, T>, sums: &mut [T]) {
    let Product { dims: &[m, k, n], lhs, rhs, .. } = **product;
    assert!(sums.len() == m * n);
    let lhs = Lines { first: lhs.pointer(), stride: lhs.row_stride, step: lhs.col_stride };
    let rhs = Lines { first: rhs.pointer(), stride: rhs.col_stride, step: rhs.row_stride };
    let (rows, columns, lhs, rhs) = if n == 1 { (1, m, rhs, lhs) } else { (m, n, lhs, rhs) };
    let mut column = 0;
    while column < columns {
        // SAFETY: this many columns are left, and all elements that are reached are in bounds.
        unsafe {
            let rhs = Lines { first: rhs.first.add(column * rhs.stride), ..rhs };
            let to = sums.as_mut_ptr().add(column);
            column += match columns - column {
                1 => some_columns::<T, 1>([rows, k, columns], lhs, rhs, to),
                2 | 3 => some_columns::<T, 2>([rows, k, columns], lhs, rhs, to),
                _ => some_columns::<T, 4>([rows, k, columns], lhs, rhs, to),
            };
        }
    }
}

/// Rows of a left operand, or columns of a right one.
#[derive(Clone, Copy)]
struct Lines<T> {
    first: *const T,
    /// The distance from one row or column to the next.
    stride: usize,
    /// The distance from one element of a row or column to the next.
    step: usize,
}

/// Computes `W` columns of a result whose rows have `n` elements; returns `W`.
///
/// # Safety
/// The operands must have `m` rows and `W` columns of `k` elements from their first ones on, and the result must have
/// `m` rows from `to` on.
#[inline(always)]
unsafe fn some_columns<T: Number, const W: usize>(
    [m, k, n]: [usize; 3],
    lhs: Lines<T>,
    rhs: Lines<T>,
    to: *mut T,
) -> usize {
    let (mut row, mut to) = (lhs.first, to);
    for _ in 0..m {
        let mut sums = [T::ZERO; W];
        let (mut left, mut right) = (row, rhs.first);
        if rhs.stride == 1 {
            for _ in 0..k {
                // SAFETY: the caller's promise.
                unsafe { multiply_add(&mut sums, *left, &*right.cast::<[T; W]>()) };
                (left, right) = (left.wrapping_add(lhs.step), right.wrapping_add(rhs.step));
            }
        } else {
            for _ in 0..k {
                // SAFETY: the caller's promise.
                unsafe {
                    multiply_add(&mut sums, *left, &std::array::from_fn(|j| *right.add(j * rhs.stride)))
                };
                (left, right) = (left.wrapping_add(lhs.step), right.wrapping_add(rhs.step));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[T; W]>().write(sums) };
        (row, to) = (row.wrapping_add(lhs.stride), to.wrapping_add(n));
    }
    W
}

/// Whether a result that is a vector is a row or a column of its matrix.
#[derive(Clone, Copy)]
enum Line {
    Row,
    Column,
}

/// A matrix times a vector. All elements that are reached are in bounds.
struct ByVector<'a, T: 'static> {
    micro: &'a Micro<T>,
    /// The number of elements of the result.
    len: usize,
    k: usize,
    /// The first of the contiguous rows of the matrix; these may also be its columns.
    rows: *const T,
    stride: usize,
    vector: *const T,
    step: usize,
}

/// The number of elements of a result that an epilogue takes at once.
const VECTOR_PART: usize = limit(1024, 16);

/// The number of elements of a vector that are copied to contiguous memory at once.
const GATHERED: usize = limit(2048, 32);

impl<'a, T: Number> ByVector<'a, T> {
    fn new(
        micro: &'a Micro<T>,
        [len, k]: [usize; 2],
        matrix: &MatRef<'_, T>,
        (vector, step): (*const T, usize),
    ) -> Self {
        Self { micro, len, k, rows: matrix.pointer(), stride: matrix.row_stride, vector, step }
    }

    /// Multiplies if the matrix has contiguous rows or columns; otherwise returns the sink.
    #[inline]
    fn multiply<'s>(self, column_stride: usize, sink: Sink<'s, T>, line: Line) -> Option<Sink<'s, T>> {
        if self.stride == 1 && (column_stride != 1 || self.k == 1) {
            Self { stride: column_stride, ..self }.combine(sink, line);
        } else if column_stride == 1 {
            self.dots(sink, line);
        } else {
            return Some(sink);
        }
        None
    }

    /// Computes the inner product of each row and the vector.
    #[inline(never)]
    fn dots(&self, sink: Sink<'_, T>, line: Line) {
        if self.step == 1 || self.k == 1 {
            // SAFETY: the rows and the vector have `k` elements each, and the level is the processor's.
            return hand_over(self.len, sink, line, |start, len, to| unsafe {
                let rows = self.rows.add(start * self.stride);
                let to = Dots { first: to, stride: 0, adds: false };
                self.micro.dots[0](rows, self.stride, len, &Vectors::one(self.vector, 1), self.k, to);
            });
        }
        let mut room = [MaybeUninit::<T>::uninit(); GATHERED];
        hand_over(self.len, sink, line, |start, len, to| {
            for first in (0..self.k).step_by(GATHERED) {
                let k = GATHERED.min(self.k - first);
                // SAFETY: as above; `k` elements of the vector are written before they are read.
                unsafe {
                    for (l, place) in room[..k].iter_mut().enumerate() {
                        place.write(*self.vector.add((first + l) * self.step));
                    }
                    let rows = self.rows.add(start * self.stride + first);
                    let vector = &Vectors::one(room.as_ptr().cast(), 1);
                    let to = Dots { first: to, stride: 0, adds: first > 0 };
                    self.micro.dots[0](rows, self.stride, len, vector, k, to);
                }
            }
        });
    }

    /// Adds up all rows, each multiplied by its element of the vector.
    #[inline(never)]
    fn combine(&self, sink: Sink<'_, T>, line: Line) {
        // SAFETY: there are `k` rows of `len` elements, and `k` elements of the vector; the level is the processor's.
        hand_over(self.len, sink, line, |start, len, to| unsafe {
            let vectors = Vectors::one(self.vector, self.step);
            (self.micro.combine)(self.rows.add(start), self.stride, len, vectors, self.k, to, len);
        });
    }
}

/// Calls `compute` with the first index, the number and the destination of results. The sink's memory is the
/// destination, or results that are then passed to its epilogue.
fn hand_over<T: Number>(
    len: usize,
    sink: Sink<'_, T>,
    line: Line,
    mut compute: impl FnMut(usize, usize, *mut T),
) {
    let (epilogue, row) = match sink {
        Sink::Store(out) => {
            assert!(out.len() == len);
            return compute(0, len, out.as_mut_ptr());
        }
        Sink::Epilogue { epilogue, row } => (epilogue, row),
    };
    let mut room = [MaybeUninit::<T>::uninit(); VECTOR_PART];
    for start in (0..len).step_by(VECTOR_PART) {
        let len = VECTOR_PART.min(len - start);
        Room { data: room.as_mut_ptr().cast::<T>(), len: VECTOR_PART }.poison();
        compute(start, len, room.as_mut_ptr().cast());
        // SAFETY: this many results have just been written.
        let sums = unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), len) };
        epilogue.block(match line {
            Line::Row => Block { row, column: start, rows: 1, columns: len, sums, stride: len },
            Line::Column => Block { row: row + start, column: 0, rows: len, columns: 1, sums, stride: 1 },
        });
    }
}
