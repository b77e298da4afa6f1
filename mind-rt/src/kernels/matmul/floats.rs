//! Products of floats: which kernel multiplies.

use std::mem::MaybeUninit;

use super::products::{Product, Sink};
use super::room::Room;
use super::{MatRef, TinyProduct, blocked, combined};
use crate::element::Element;
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::tile::{Micro, Tiles, Vectors};
use crate::simd::simd_level;

/// One product, at the SIMD level in use.
#[inline(always)]
pub fn multiply<T: Element + Tiles>(product: &Product<'_, T>, scratch: &mut [T], sink: Sink<'_, T>) {
    if is_few(product) {
        return few(product, sink);
    }
    many(product, scratch, sink);
}

/// A product of more than [`FEW`] multiplications.
#[inline(never)]
fn many<T: Element + Tiles>(product: &Product<'_, T>, scratch: &mut [T], sink: Sink<'_, T>) {
    multiply_by(T::micro(simd_level()), product, scratch, sink);
}

/// Whether a product has at most [`FEW`] multiplications.
#[inline(always)]
fn is_few<T>(&Product { dims: &[_, k, n], all_rows, .. }: &Product<'_, T>) -> bool {
    all_rows.max(k).max(n) <= FEW && all_rows * k * n <= FEW
}

/// One product, by kernels that the processor has.
///
/// Which kernel it is depends on all of a product, whichever rows these are, since with a vector on the right the order
/// of sums is another.
pub fn multiply_by<T: Element + Tiles>(
    micro: &Micro<T>,
    product: &Product<'_, T>,
    scratch: &mut [T],
    sink: Sink<'_, T>,
) {
    let Product { dims: &[m, k, n], all_rows, lhs, rhs } = *product;
    if is_few(product) {
        return few(product, sink);
    }
    assert!(m > 0 && k > 0 && n > 0 && lhs.reach(m, k) < lhs.data.len() && rhs.reach(k, n) < rhs.data.len());
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
    if combined::pays(product) {
        return combined::multiply(micro, product, sink);
    }
    blocked::multiply(micro, product, scratch, sink);
}

/// Up to so many multiplications a product is done before any kernel is found.
const FEW: usize = 8;

/// A product of at most [`FEW`] multiplications.
#[inline(never)]
fn few<T: Element>(product: &Product<'_, T>, sink: Sink<'_, T>) {
    match product.dims {
        [1, 1, 1] => cube::<T, 1, 1>(product, sink),
        [2, 2, 2] => cube::<T, 2, 4>(product, sink),
        _ => in_loops(product, sink),
    }
}

/// The same, whatever the extents.
#[inline(never)]
fn in_loops<T: Element>(&Product { dims: &[m, k, n], lhs, rhs, .. }: &Product<'_, T>, sink: Sink<'_, T>) {
    let mut room = [T::ZERO; FEW];
    let (sums, taken) = match sink {
        Sink::Store(out) => (out, None),
        Sink::Epilogue { epilogue, row } => (&mut room[..m * n], Some((epilogue, row))),
    };
    for i in 0..m {
        for j in 0..n {
            let mut sum = T::ZERO;
            for l in 0..k {
                sum = sum.plus(lhs.data[lhs.index(i, l)].times(rhs.data[rhs.index(l, j)]));
            }
            sums[i * n + j] = sum;
        }
    }
    if let Some((epilogue, row)) = taken {
        epilogue.block(Block { row, column: 0, rows: m, columns: n, sums, stride: n });
    }
}

/// The same where each extent is `N`, and the result has `SQUARE` elements: here a loop costs more than what it does.
#[inline(always)]
fn cube<T: Element, const N: usize, const SQUARE: usize>(product: &Product<'_, T>, sink: Sink<'_, T>) {
    let tiny = TinyProduct::<T, N, N, N>::new(*product.lhs, *product.rhs);
    let multiply = |sums: &mut [T; SQUARE]| {
        for (i, row) in sums.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            *row = tiny.row(i);
        }
    };
    match sink {
        Sink::Store(out) => multiply(out.try_into().expect("the result has the product's extents")),
        Sink::Epilogue { epilogue, row } => {
            let mut sums = [T::ZERO; SQUARE];
            multiply(&mut sums);
            epilogue.block(Block { row, column: 0, rows: N, columns: N, sums: &sums, stride: N });
        }
    }
}

/// Which way a result that is a vector lies in its matrix.
#[derive(Clone, Copy)]
enum Line {
    Row,
    Column,
}

/// A matrix times a vector. What is reached is in bounds.
struct ByVector<'a, T: 'static> {
    micro: &'a Micro<T>,
    /// Elements of the result.
    len: usize,
    k: usize,
    /// The matrix, by rows that are contiguous, be they its rows or its columns.
    rows: *const T,
    stride: usize,
    vector: *const T,
    step: usize,
}

/// Elements of a result that an epilogue takes at once.
const TAKEN: usize = limit(1024, 16);

/// Elements of a vector that are made contiguous at once.
const GATHERED: usize = limit(2048, 32);

impl<'a, T: Element> ByVector<'a, T> {
    fn new(
        micro: &'a Micro<T>,
        [len, k]: [usize; 2],
        matrix: &MatRef<'_, T>,
        (vector, step): (*const T, usize),
    ) -> Self {
        Self { micro, len, k, rows: matrix.pointer(), stride: matrix.row_stride, vector, step }
    }

    /// Multiplies if the matrix has contiguous rows or columns; else hands back the sink.
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

    /// Inner products of each row with the vector.
    #[inline(never)]
    fn dots(&self, sink: Sink<'_, T>, line: Line) {
        if self.step == 1 || self.k == 1 {
            // SAFETY: the rows and the vector have `k` elements each, and the level is the processor's.
            return hand_over(self.len, sink, line, |start, len, to| unsafe {
                let rows = self.rows.add(start * self.stride);
                (self.micro.dots)(rows, self.stride, len, self.vector, self.k, to, false);
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
                    (self.micro.dots)(rows, self.stride, len, room.as_ptr().cast(), k, to, first > 0);
                }
            }
        });
    }

    /// The sum of all rows, each times its element of the vector.
    #[inline(never)]
    fn combine(&self, sink: Sink<'_, T>, line: Line) {
        // SAFETY: there are `k` rows, of `len` elements, and as many elements of the vector; the level is the processor's.
        hand_over(self.len, sink, line, |start, len, to| unsafe {
            let vectors = Vectors { first: self.vector, step: self.step, stride: 0, count: 1 };
            (self.micro.combine)(self.rows.add(start), self.stride, len, vectors, self.k, to, len);
        });
    }
}

/// Has `compute` write results, from an index on and so many, to where they belong or to where an epilogue takes them.
fn hand_over<T: Element>(
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
    let mut room = [MaybeUninit::<T>::uninit(); TAKEN];
    for start in (0..len).step_by(TAKEN) {
        let len = TAKEN.min(len - start);
        Room { data: room.as_mut_ptr().cast::<T>(), len: TAKEN }.poison();
        compute(start, len, room.as_mut_ptr().cast());
        // SAFETY: so many were written just now.
        let sums = unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), len) };
        epilogue.block(match line {
            Line::Row => Block { row, column: start, rows: 1, columns: len, sums, stride: len },
            Line::Column => Block { row: row + start, column: 0, rows: len, columns: 1, sums, stride: 1 },
        });
    }
}
