//! Products of matrices.

use mind_core::testing::Random;
use mind_rt::private as rt;

use crate::case::{Case, SMALL, extent, smaller_extents};
use crate::number::{DType, Digest, Number, fractions, numbers, operand, with_type};

/// The layout of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Rows,
    Columns,
    /// Contiguous rows with this many elements between them.
    ApartRows(usize),
    /// Contiguous columns with this many elements between them.
    ApartColumns(usize),
    /// Neither rows nor columns are contiguous.
    Gaps,
    RepeatedRow,
    RepeatedColumn,
    /// Rows whose starts fall in the same sets of a cache.
    Pages,
}

impl Layout {
    fn random(random: &mut Random) -> Self {
        match random.below(16) {
            0..5 => Self::Rows,
            5..10 => Self::Columns,
            10 => Self::ApartRows(1 + random.below(5)),
            11 => Self::ApartColumns(1 + random.below(5)),
            12 => Self::Gaps,
            13 => Self::RepeatedRow,
            14 => Self::RepeatedColumn,
            _ => Self::Pages,
        }
    }

    /// The distances from a row to the next, and from a column to the next.
    fn strides(self, rows: usize, columns: usize) -> [usize; 2] {
        let page = if SMALL { 16 } else { 1024 };
        match self {
            Self::Rows => [columns, 1],
            Self::Columns => [1, rows],
            Self::ApartRows(gap) => [columns + gap, 1],
            Self::ApartColumns(gap) => [1, rows + gap],
            Self::Gaps => [2 * columns + 3, 2],
            Self::RepeatedRow => [0, 1],
            Self::RepeatedColumn => [1, 0],
            Self::Pages => [columns.next_multiple_of(page), 1],
        }
    }
}

/// A batch of matrix products, and how it is called.
#[derive(Clone, Debug)]
pub struct Product {
    dtype: DType,
    /// The extent of each batch axis, and for each operand whether it has that axis or repeats along it.
    batch: Vec<(usize, [bool; 2])>,
    dims: [usize; 3],
    layouts: [Layout; 2],
    offsets: [usize; 2],
    /// The size of the scratch memory: sixteenths of the planned size, and additional elements.
    scratch: [usize; 2],
    /// Whether the result goes to an epilogue.
    epilogue: bool,
    /// Whether elements are fractions. The bits of their sums depend on the order of additions, and their values are
    /// not checked.
    fractions: bool,
}

impl Product {
    pub fn random(random: &mut Random) -> Self {
        let dims = dims(random);
        let batches = if random.below(4) == 0 { 1 + random.below(2) } else { 0 };
        let multiply_adds: usize = dims.iter().product();
        let most = (if SMALL { 1 << 15 } else { 1 << 26 }) / multiply_adds.max(1);
        let batch = (0..batches)
            .map(|_| ((1 + random.below(5)).min(most.max(1)), [random.below(4) > 0, random.below(3) > 0]))
            .collect();
        let dtypes = if random.below(6) == 0 { DType::ALL.len() } else { 2 };
        Self {
            dtype: DType::ALL[random.below(dtypes)],
            batch,
            dims,
            layouts: [Layout::random(random), Layout::random(random)],
            offsets: [random.below(20), random.below(20)],
            scratch: if random.below(3) == 0 { [random.below(16), random.below(9)] } else { [16, 0] },
            epilogue: random.below(2) == 0,
            fractions: random.below(5) == 0,
        }
    }

    /// Products whose results once kept the previous contents of their memory, and the number of threads. Their scratch
    /// memory was a little smaller than a tile of packed left rows.
    pub fn once_wrong() -> Vec<(Self, usize)> {
        let products = [
            ([512, 8192, 256], 32),
            ([224, 20000, 300], 17),
            ([128, 10000, 128], 12),
            ([320, 8192, 500], 22),
            ([896, 4096, 128], 48),
            ([512, 8192, 512], 32),
        ];
        let product = |(dims, threads, epilogue)| {
            let product = Self {
                dtype: DType::F64,
                batch: Vec::new(),
                dims,
                layouts: [Layout::Columns, Layout::Rows],
                offsets: [0, 0],
                scratch: [16, 0],
                epilogue,
                fractions: false,
            };
            (product, threads)
        };
        let both =
            products.into_iter().flat_map(|(dims, threads)| [(dims, threads, false), (dims, threads, true)]);
        both.map(product).collect()
    }

    fn compute<T: Number>(&self) -> Result<u64, String> {
        let [m, k, n] = self.dims;
        let operand_of = |side: usize, [rows, columns]: [usize; 2]| {
            let strides = self.layouts[side].strides(rows, columns);
            let matrix = (rows - 1) * strides[0] + (columns - 1) * strides[1] + 1;
            let mut count = 1;
            let mut batch: Vec<usize> = Vec::new();
            for (extent, has) in self.batch.iter().rev() {
                batch.push(if has[side] { matrix * count } else { 0 });
                count *= if has[side] { *extent } else { 1 };
            }
            batch.reverse();
            (strides, batch, self.offsets[side] + matrix * count)
        };
        let (lhs_strides, lhs_batch, lhs_len) = operand_of(0, [m, k]);
        let (rhs_strides, rhs_batch, rhs_len) = operand_of(1, [k, n]);
        let operand = if self.fractions { fractions } else { operand };
        let data: [Vec<T>; 2] = [operand(0, lhs_len), operand(1 << 40, rhs_len)];
        let batch: Vec<rt::BatchDim> = self
            .batch
            .iter()
            .enumerate()
            .map(|(axis, (extent, _))| rt::BatchDim {
                extent: *extent,
                lhs_stride: lhs_batch[axis],
                rhs_stride: rhs_batch[axis],
            })
            .collect();
        let matrix = |side: usize, strides: [usize; 2]| rt::MatRef {
            data: &data[side][..],
            offset: self.offsets[side],
            row_stride: strides[0],
            col_stride: strides[1],
        };
        let (lhs, rhs) = (matrix(0, lhs_strides), matrix(1, rhs_strides));
        let matrices: usize = self.batch.iter().map(|(extent, _)| extent).product();
        let planned = rt::matmul_scratch::<T>(m, k, n, lhs_strides[1]);
        let mut scratch = vec![T::POISON; planned * self.scratch[0] / 16 + self.scratch[1]];
        let mut out = vec![T::POISON; matrices * m * n];
        if self.epilogue {
            let taken = Taken::new(&mut out, n);
            rt::matmul_with(&batch, self.dims, lhs, rhs, &mut scratch, taken);
        } else {
            rt::matmul_into(&batch, self.dims, lhs, rhs, &mut scratch, &mut out);
        }
        let numbers = [numbers::<T>(0, lhs_len), numbers::<T>(1 << 40, rhs_len)];
        let element = |at: usize| -> i64 {
            let (mut matrix, i, j) = (at / (m * n), at / n % m, at % n);
            let [mut l, mut r] = self.offsets;
            for axis in (0..batch.len()).rev() {
                let index = matrix % batch[axis].extent;
                matrix /= batch[axis].extent;
                l += index * lhs_batch[axis];
                r += index * rhs_batch[axis];
            }
            let (l, r) = (&numbers[0][l + i * lhs_strides[0]..], &numbers[1][r + j * rhs_strides[1]..]);
            (0..k).fold(0, |sum: i64, p| {
                sum.wrapping_add(l[p * lhs_strides[1]].wrapping_mul(r[p * rhs_strides[0]]))
            })
        };
        if self.fractions {
            return finite(&out);
        }
        judge(&out, k, element)
    }
}

/// Random extents that are small enough for naive loops, at least if these check only some elements.
fn dims(random: &mut Random) -> [usize; 3] {
    // Few products are large, because naive loops take most of the time.
    let most = match (SMALL, random.below(8)) {
        (true, 0) => 1 << 16,
        (true, _) => 1 << 13,
        (false, 0) => 1 << 27,
        (false, _) => 1 << 22,
    };
    loop {
        let longest = if SMALL { 63 } else { 16385 };
        let mut dims = [0; 3].map(|_| extent(random, longest));
        if random.below(6) == 0 {
            dims[random.below(3)] = 1;
        }
        if dims.iter().product::<usize>() <= most {
            return dims;
        }
    }
}

/// Compares results with the values of `element`, each of which takes `terms` operations. If that takes too long, it
/// compares only some elements, the first and the last among them. It finds elements that were not written in any case.
pub fn judge<T: Number>(found: &[T], terms: usize, element: impl Fn(usize) -> i64) -> Result<u64, String> {
    const MOST: usize = 1 << 20;
    let step = (found.len().saturating_mul(terms) / MOST).max(1);
    // An odd step is not a multiple of block sizes or of most row lengths.
    let step = if step > 1 { step | 1 } else { 1 };
    let places = (0..found.len()).step_by(step).chain(found.len().checked_sub(1));
    for place in places {
        let expected = T::of(element(place));
        if found[place] != expected {
            return Err(format!("element {place} of {} is {}, not {expected}", found.len(), found[place]));
        }
    }
    // An integer result equals the poison by chance with probability 2⁻³².
    let unwritten = |element: &T| step > 1 && element.bits() == T::POISON.bits();
    if let Some(place) = found.iter().position(unwritten) {
        return Err(format!("element {place} of {} was not written", found.len()));
    }
    Ok(Digest::new().add(found).finish())
}

/// Checks that every element was written, and digests the results.
fn finite<T: Number>(found: &[T]) -> Result<u64, String> {
    match found.iter().position(|element| element.bits() == T::POISON.bits()) {
        Some(place) => Err(format!("element {place} of {} was not written", found.len())),
        None => Ok(Digest::new().add(found).finish()),
    }
}

/// An epilogue that stores every element, and panics if one arrives twice.
pub struct Taken<'a, T> {
    out: &'a mut [T],
    columns: usize,
    first: usize,
}

impl<'a, T> Taken<'a, T> {
    pub fn new(out: &'a mut [T], columns: usize) -> Self {
        Self { out, columns, first: 0 }
    }
}

impl<T: Number> rt::Epilogue<T> for Taken<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let Self { out, columns, first } = self;
        let (above, below) = out.split_at_mut((row - first) * columns);
        (Self { out: above, columns, first }, Self { out: below, columns, first: row })
    }

    fn block(&mut self, block: rt::Block<'_, T>) {
        for r in 0..block.rows {
            let at = (block.row - self.first + r) * self.columns + block.column;
            let to = &mut self.out[at..][..block.columns];
            for (to, sum) in to.iter_mut().zip(&block.sums[r * block.stride..][..block.columns]) {
                assert!(to.bits() == T::POISON.bits(), "an element came twice");
                *to = *sum;
            }
        }
    }

    fn destination(&self, row: usize, column: usize) -> Option<rt::Destination<T>> {
        let at = (row - self.first) * self.columns + column;
        Some(rt::Destination::new(self.out, at, self.columns))
    }
}

impl Case for Product {
    fn run(&self) -> Result<u64, String> {
        with_type!(self.dtype, T => self.compute::<T>())
    }

    fn smaller(&self) -> Vec<Box<dyn Case>> {
        let mut smaller: Vec<Self> = Vec::new();
        for axis in 0..self.batch.len() {
            let mut case = self.clone();
            case.batch.remove(axis);
            smaller.push(case);
        }
        for place in 0..3 {
            for extent in smaller_extents(self.dims[place], 1) {
                let mut case = self.clone();
                case.dims[place] = extent;
                smaller.push(case);
            }
        }
        for side in 0..2 {
            if self.layouts[side] != Layout::Rows {
                let mut case = self.clone();
                case.layouts[side] = Layout::Rows;
                smaller.push(case);
            }
            if self.offsets[side] > 0 {
                let mut case = self.clone();
                case.offsets[side] = 0;
                smaller.push(case);
            }
        }
        if self.epilogue {
            smaller.push(Self { epilogue: false, ..self.clone() });
        }
        if self.fractions {
            smaller.push(Self { fractions: false, ..self.clone() });
        }
        if self.scratch != [16, 0] {
            smaller.push(Self { scratch: [16, 0], ..self.clone() });
        }
        smaller.into_iter().map(|case| Box::new(case) as Box<dyn Case>).collect()
    }
}
