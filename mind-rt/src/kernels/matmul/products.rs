//! The code around a single product: checks, batches, threads.

use std::ops::Range;

use mind_shape::{MAX_RANK, threads as split};

use super::operands::{BatchDim, MatRef, last_index};
use super::product::{InBounds, Multiply, MultiplyColumns, Product, Sink};
use super::region::Region;
use super::sizes::COLUMN_SIZES;
use super::{columns, on_demand};
use crate::kernels::check;
use crate::kernels::compiled::Compiled;
use crate::kernels::epilogue::{Block, Epilogue, Stored};
use crate::kernels::limit::limit;
use crate::kernels::memory::poison;
use crate::kernels::number::Number;
use crate::kernels::reduce::Reduce;
use crate::kernels::roofline::vector_bytes;
use crate::parallel::{has_awake_thread, threads};

/// The work that is worth a part of its own, in multiply-adds: about 20 µs if a thread must be woken for it, which
/// takes a few, and a quarter of that if one is awake.
fn worth_a_part() -> usize {
    let worth_waking = limit(split::worth_waking(vector_bytes()), 64);
    if has_awake_thread() { worth_waking / split::WAKING } else { worth_waking }
}

/// Parts begin at multiples of this many rows of a matrix: those of the tallest tile.
const GRAIN: usize = split::GRAIN_OF_ROWS;

/// The products of an element type, compiled once and not for each program.
pub trait Gemm: Reduce + Compiled {
    /// As [`matmul_into`](super::matmul_into).
    fn store(
        batch: &[BatchDim],
        dims: &[usize; 3],
        lhs: &MatRef<'_, Self>,
        rhs: &MatRef<'_, Self>,
        scratch: &mut [Self],
        out: &mut [Self],
    );

    /// Computes one product.
    fn multiply(product: &InBounds<'_, Self>, scratch: &mut [Self], sink: Sink<'_, Self>);

    /// Passes some rows of the result of a batch to the epilogue.
    fn some_rows(
        products: &Products<'_, Self>,
        rows: Range<usize>,
        scratch: &mut [Self],
        epilogue: &mut dyn Epilogue<Self>,
    );
}

/// As [`matmul_into`](super::matmul_into).
#[inline(always)]
pub fn store<T: Gemm>(
    batch: &[BatchDim],
    dims: &[usize; 3],
    lhs: &MatRef<'_, T>,
    rhs: &MatRef<'_, T>,
    scratch: &mut [T],
    out: &mut [T],
    (multiply, by_columns): (Multiply<T>, Option<MultiplyColumns<T>>),
) {
    let [m, k, n] = *dims;
    check(rows(batch, m).checked_mul(n) == Some(out.len()), "matmul: wrong output length");
    poison(out);
    poison(scratch);
    if is_empty(batch, dims) {
        return out.fill(T::ZERO);
    }
    let parts = parts(rows(batch, m), k, n);
    if batch.is_empty() {
        let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
        if parts == 1 {
            return multiply(&product, scratch, Sink::Store(out));
        }
        if let Some(width) = columns::width(m, n, parts, scratch.len()) {
            let mut stored = Stored::new(out, n);
            return columns::multiply(&product, width, scratch, multiply, |block| stored.block(block));
        }
        if let Some(by_columns) = by_columns
            && let Some(width) = on_demand::width(&product, parts)
        {
            return on_demand::multiply(&product, width, parts, scratch, Region::new(out, n), by_columns);
        }
    }
    let products = Products::new(batch, dims, lhs, rhs);
    products.by_rows(
        parts,
        scratch,
        out,
        |out, start, at| out.split_at_mut((at - start) * n),
        |out, rows, scratch| products.multiply(rows, scratch, Sink::Store(out), multiply),
    );
}

/// As [`matmul_with`](super::matmul_with).
#[inline]
pub fn hand_over<T: Gemm, E: Epilogue<T>>(
    batch: &[BatchDim],
    dims: &[usize; 3],
    lhs: &MatRef<'_, T>,
    rhs: &MatRef<'_, T>,
    scratch: &mut [T],
    mut epilogue: E,
) {
    let [m, k, n] = *dims;
    poison(scratch);
    if is_empty(batch, dims) {
        return zeros(rows(batch, m), n, &mut epilogue);
    }
    let parts = parts(rows(batch, m), k, n);
    if batch.is_empty() {
        let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
        if parts == 1 {
            return T::multiply(&product, scratch, Sink::Epilogue { epilogue: &mut epilogue, row: 0 });
        }
        if let Some(width) = columns::width(m, n, parts, scratch.len()) {
            return columns::multiply(&product, width, scratch, T::multiply, |block| epilogue.block(block));
        }
    }
    let products = Products::new(batch, dims, lhs, rhs);
    products.by_rows(
        parts,
        scratch,
        epilogue,
        |epilogue, _, at| epilogue.split(at),
        |mut epilogue, rows, scratch| T::some_rows(&products, rows, scratch, &mut epilogue),
    );
}

/// Whether there is nothing to multiply.
#[inline(always)]
fn is_empty(batch: &[BatchDim], &[m, k, n]: &[usize; 3]) -> bool {
    check(batch.len() <= MAX_RANK, "matmul: too many batch dimensions");
    k == 0 || n == 0 || rows(batch, m) == 0
}

/// The number of threads that pay for a result of `rows` rows.
fn parts(rows: usize, k: usize, n: usize) -> usize {
    const SMALL: usize = limit(split::SMALL_PRODUCT, 1);
    if rows | k | n < SMALL {
        return 1;
    }
    split::product_parts([rows, k, n], threads(), worth_a_part(), SMALL)
}

/// Passes the zeros of empty sums to the epilogue.
#[cold]
fn zeros<T: Number>(rows: usize, n: usize, epilogue: &mut dyn Epilogue<T>) {
    const WIDTH: usize = limit(128, 8);
    let sums = &[T::ZERO; WIDTH];
    for row in 0..rows {
        for column in (0..n).step_by(WIDTH) {
            let columns = WIDTH.min(n - column);
            epilogue.block(Block { row, column, rows: 1, columns, sums, stride: WIDTH });
        }
    }
}

/// The number of rows of the result.
fn rows(batch: &[BatchDim], m: usize) -> usize {
    batch.iter().fold(m, |product, dim| product.saturating_mul(dim.extent))
}

/// A batch of products. None is empty, and the operands hold all elements that are reached.
pub struct Products<'a, T> {
    batch: &'a [BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
    /// The number of rows of the result, which are those of all matrices.
    rows: usize,
}

impl<'a, T: Number> Products<'a, T> {
    pub fn new(
        batch: &'a [BatchDim],
        [m, k, n]: &[usize; 3],
        lhs: &MatRef<'a, T>,
        rhs: &MatRef<'a, T>,
    ) -> Self {
        let lhs_batch = batch.iter().map(|dim| (dim.extent, dim.lhs_stride));
        let rhs_batch = batch.iter().map(|dim| (dim.extent, dim.rhs_stride));
        check(last_index(lhs.reach(*m, *k), lhs_batch) < lhs.data.len(), "matmul: left operand too short");
        check(last_index(rhs.reach(*k, *n), rhs_batch) < rhs.data.len(), "matmul: right operand too short");
        let rows = rows(batch, *m);
        let (batch, m, lhs) = stack(batch, *m, *lhs);
        Self { batch, dims: [m, *k, *n], lhs, rhs: *rhs, rows }
    }

    /// Runs `work` for all rows of the result, on up to `threads` threads, each with its share of the scratch memory.
    /// `split(sink, start, at)` splits the sink of the rows from `start` on before row `at`.
    pub fn by_rows<S: Send>(
        &self,
        threads: usize,
        scratch: &mut [T],
        sink: S,
        split: impl Fn(S, usize, usize) -> (S, S) + Sync,
        work: impl Fn(S, Range<usize>, &mut [T]) + Sync,
    ) {
        let threads = threads.min(self.rows / GRAIN).max(1);
        if threads == 1 {
            return work(sink, 0..self.rows, scratch);
        }
        let mut ends = self.ends(threads);
        let mut rest = Some((sink, 0));
        let next = || {
            let (sink, start) = rest.take()?;
            let end = ends.find(|end| *end > start).expect("the last part ends with the last row");
            if end == self.rows {
                return Some((sink, start..end));
            }
            let (part, later) = split(sink, start, end);
            rest = Some((later, end));
            Some((part, start..end))
        };
        on_demand::by_threads(threads, scratch, next, |(part, rows), scratch| work(part, rows, scratch));
    }

    /// The ends of the parts of the rows. If there are enough matrices, each thread has several parts of whole
    /// matrices. Otherwise each thread has one part, of whole tiles, because the right operand is packed anew for each
    /// part.
    fn ends(&self, threads: usize) -> impl Iterator<Item = usize> {
        let (rows, [m, ..]) = (self.rows, self.dims);
        let (matrices, many) = (rows / m, threads.saturating_mul(COLUMN_SIZES.parts_of_a_thread));
        let are_whole = matrices >= many;
        let parts = if are_whole { many } else { threads };
        (1..=parts).map(move |part| {
            let share = |count: usize| count / parts * part + count % parts * part / parts;
            if are_whole {
                return share(matrices) * m;
            }
            let (row, within) = (share(rows), share(rows) % m);
            row - within + ((within + GRAIN / 2) / GRAIN * GRAIN).min(m)
        })
    }

    /// Computes some rows of the result.
    pub fn multiply(
        &self,
        rows: Range<usize>,
        scratch: &mut [T],
        mut sink: Sink<'_, T>,
        multiply: Multiply<T>,
    ) {
        let [m, k, n] = self.dims;
        let mut row = rows.start;
        while row < rows.end {
            let (matrix, first) = (row / m, row % m);
            let len = (m - first).min(rows.end - row);
            let sink = match &mut sink {
                Sink::Store(out) => Sink::Store(&mut out[(row - rows.start) * n..][..len * n]),
                Sink::Epilogue { epilogue, .. } => Sink::Epilogue { epilogue: *epilogue, row },
            };
            let (mut lhs, rhs) = self.matrices(matrix);
            lhs.offset += first * lhs.row_stride;
            let product = Product { dims: &[len, k, n], all_rows: m, lhs: &lhs, rhs: &rhs };
            multiply(&InBounds::new(product), scratch, sink);
            row += len;
        }
    }

    /// The operands of one product of the batch.
    fn matrices(&self, mut index: usize) -> (MatRef<'a, T>, MatRef<'a, T>) {
        let (mut lhs, mut rhs) = (self.lhs, self.rhs);
        for dim in self.batch.iter().rev() {
            let i = index % dim.extent;
            index /= dim.extent;
            lhs.offset += i * dim.lhs_stride;
            rhs.offset += i * dim.rhs_stride;
        }
        (lhs, rhs)
    }
}

/// Merges left matrices that lie one below the other and are multiplied by the same right matrix into one taller
/// product. Removes such batch dimensions, and those of extent 1, from the innermost one on.
fn stack<'b, 'a, T>(
    mut batch: &'b [BatchDim],
    mut rows: usize,
    mut lhs: MatRef<'a, T>,
) -> (&'b [BatchDim], usize, MatRef<'a, T>) {
    while let Some((inner, outer)) = batch.split_last() {
        if inner.extent > 1 {
            if rows == 1 {
                lhs.row_stride = inner.lhs_stride;
            }
            if inner.rhs_stride != 0 || rows.checked_mul(lhs.row_stride) != Some(inner.lhs_stride) {
                break;
            }
            rows *= inner.extent;
        }
        batch = outer;
    }
    (batch, rows, lhs)
}
