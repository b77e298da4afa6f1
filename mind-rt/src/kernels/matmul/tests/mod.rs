//! Products against a naive loop.

mod floats;
mod threads;

use super::*;
use crate::kernels::epilogue::Block;
use crate::kernels::number::Number;
use crate::sample::sample;

/// Small whole numbers, so that every order of summing gives the same float.
fn small<T: Number>(len: usize, seed: usize) -> Vec<T> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (0..(state >> 60) % 8).fold(T::ZERO, |x, _| x.plus(T::ONE))
        })
        .collect()
}

fn naive<T: Number>(
    batch: &[BatchDim],
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
) -> Vec<T> {
    let Some((outer, inner)) = batch.split_first() else {
        let at = |mat: MatRef<'_, T>, i, j| -> T {
            mat.data[mat.offset + i * mat.row_stride + j * mat.col_stride]
        };
        let element = |i, j| (0..k).fold(T::ZERO, |sum, l| sum.plus(at(lhs, i, l).times(at(rhs, l, j))));
        return (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect();
    };
    (0..outer.extent)
        .flat_map(|b| {
            let lhs = MatRef { offset: lhs.offset + b * outer.lhs_stride, ..lhs };
            let rhs = MatRef { offset: rhs.offset + b * outer.rhs_stride, ..rhs };
            naive(inner, [m, k, n], lhs, rhs)
        })
        .collect()
}

fn agrees<T: Gemm>(batch: &[BatchDim], dims: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>) {
    let expected = naive(batch, dims, lhs, rhs);
    // The previous values must not matter, since they are never read.
    let mut out = vec![T::POISON; expected.len()];
    let mut scratch = vec![T::POISON; matmul_scratch::<T>(dims[0], dims[1], dims[2], lhs.col_stride)];
    matmul_into(batch, dims, lhs, rhs, &mut scratch, &mut out);
    assert_eq!(out, expected, "{batch:?} {dims:?}");
    let rows = batch.iter().map(|dim| dim.extent).product::<usize>() * dims[0];
    let mut taken = vec![None; expected.len()];
    matmul_with(
        batch,
        dims,
        lhs,
        rhs,
        &mut scratch,
        Collect { first: 0, end: rows, columns: dims[2], taken: &mut taken },
    );
    assert!(taken.into_iter().eq(expected.into_iter().map(Some)), "epilogue: {batch:?} {dims:?}");
}

/// Takes every element once.
struct Collect<'a, T> {
    first: usize,
    end: usize,
    columns: usize,
    taken: &'a mut [Option<T>],
}

impl<T: Number> Epilogue<T> for Collect<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let Self { first, end, columns, taken } = self;
        assert!((first..=end).contains(&row));
        let (above, below) = taken.split_at_mut((row - first) * columns);
        (Self { first, end: row, columns, taken: above }, Self { first: row, end, columns, taken: below })
    }

    fn block(&mut self, block: Block<'_, T>) {
        assert!(self.first <= block.row && block.row + block.rows <= self.end);
        assert!(block.column + block.columns <= self.columns && block.columns <= block.stride);
        for r in 0..block.rows {
            for c in 0..block.columns {
                let at = (block.row - self.first + r) * self.columns + block.column + c;
                let before = self.taken[at].replace(block.sums[r * block.stride + c]);
                assert_eq!(before, None, "an element came twice");
            }
        }
    }
}

/// Row-major, transposed, with gaps, repeated rows, repeated columns, one element for all.
fn layouts(rows: usize, cols: usize) -> [[usize; 2]; 6] {
    [[cols, 1], [1, rows], [2 * cols + 3, 2], [0, 1], [1, 0], [0, 0]]
}

fn all_layouts<T: Gemm>(sizes: &[usize]) {
    let data = (small::<T>(20_000, 1), small::<T>(20_000, 2));
    let with = |[m, k]: [usize; 2]| sizes.iter().map(move |&n| [m, k, n]);
    let pairs = sizes.iter().flat_map(|&m| sizes.iter().map(move |&k| [m, k]));
    for [m, k, n] in sample("sizes of products", pairs.flat_map(with)) {
        for [row_stride, col_stride] in layouts(m, k) {
            let lhs = MatRef { data: &data.0, offset: 3, row_stride, col_stride };
            for [row_stride, col_stride] in layouts(k, n) {
                let rhs = MatRef { data: &data.1, offset: 1, row_stride, col_stride };
                agrees(&[], [m, k, n], lhs, rhs);
            }
        }
    }
}

#[test]
fn products_of_small_matrices_in_all_layouts() {
    all_layouts::<f32>(&[1, 2, 3, 4, 7, 8, 9, 17, 33]);
    all_layouts::<f64>(&[1, 2, 5, 8, 16, 17]);
    all_layouts::<i32>(&[1, 2, 3, 8, 17]);
    all_layouts::<i64>(&[1, 2, 3, 17]);
}

/// Every extent from 0 to 40 in each place, together with odd ones; operands are row-major, transposed and with gaps.
#[test]
fn every_size_up_to_forty() {
    fn of<T: Gemm>(others: [usize; 2]) {
        let data = (small::<T>(4000, 9), small::<T>(4000, 10));
        for size in 0..=40 {
            for place in 0..3 {
                let mut dims = [size, others[0], others[1]];
                dims.rotate_right(place);
                let [m, k, n] = dims;
                for layout in 0..3 {
                    let [row_stride, col_stride] = layouts(m, k)[layout];
                    let lhs = MatRef { data: &data.0, offset: 3, row_stride, col_stride };
                    let [row_stride, col_stride] = layouts(k, n)[(layout + size) % 3];
                    agrees(&[], dims, lhs, MatRef { data: &data.1, offset: 1, row_stride, col_stride });
                }
            }
        }
    }
    of::<f32>([17, 31]);
    of::<f64>([1, 13]);
    of::<i32>([5, 3]);
}

#[test]
fn empty_extents() {
    let mat = MatRef { data: &[] as &[f32], offset: 0, row_stride: 1, col_stride: 1 };
    matmul(&[], [0, 3, 4], mat, mat, &mut []);
    matmul(&[], [3, 0, 0], mat, mat, &mut []);
    let mut out = [1.0; 6];
    matmul(&[], [2, 0, 3], mat, mat, &mut out);
    assert_eq!(out, [0.0; 6]);
}

#[test]
fn batches_broadcast() {
    let data = (small::<f64>(5000, 3), small::<f64>(5000, 4));
    let dim = |extent, lhs_stride, rhs_stride| BatchDim { extent, lhs_stride, rhs_stride };
    for [m, k, n] in [[1, 1, 1], [1, 5, 4], [3, 5, 1], [3, 4, 6], [9, 8, 2]] {
        let (a, b) = (m * k, k * n);
        let batches = [
            vec![dim(3, a, b)],
            vec![dim(3, a, 0)],
            vec![dim(3, 0, b)],
            vec![dim(3, 0, 0)],
            vec![dim(3, a + 2, 0)],
            vec![dim(2, 3 * a, 3 * b), dim(3, a, b)],
            vec![dim(2, 3 * a, 0), dim(3, a, 0)],
            vec![dim(2, 3 * a, b), dim(3, a, 0)],
            vec![dim(2, a, 0), dim(3, 0, b)],
            vec![dim(2, a, b), dim(1, 77, 99)],
            vec![dim(1, 77, 99), dim(2, a, 0), dim(1, 0, 0), dim(2, 2 * a, 3 * b)],
        ];
        for batch in batches {
            let lhs = MatRef { data: &data.0, offset: 0, row_stride: k, col_stride: 1 };
            let rhs = MatRef { data: &data.1, offset: 5, row_stride: n, col_stride: 1 };
            agrees(&batch, [m, k, n], lhs, rhs);
            agrees(&batch, [m, k, n], MatRef { row_stride: 1, col_stride: m, ..lhs }, rhs);
            agrees(&batch, [m, k, n], lhs, MatRef { row_stride: 1, col_stride: k, ..rhs });
        }
    }
}

#[test]
fn large_products() {
    let data = (small::<f32>(300 * 300, 5), small::<f32>(300 * 300, 6));
    for dims @ [m, k, n] in [[200, 130, 150], [1, 300, 300], [300, 300, 1], [65, 257, 33]] {
        for [lhs_layout, rhs_layout] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let [row_stride, col_stride] = layouts(m, k)[lhs_layout];
            let lhs = MatRef { data: &data.0, offset: 0, row_stride, col_stride };
            let [row_stride, col_stride] = layouts(k, n)[rhs_layout];
            agrees(&[], dims, lhs, MatRef { data: &data.1, offset: 0, row_stride, col_stride });
        }
    }
}

#[test]
fn what_out_held_does_not_matter() {
    let data = [2.0_f32; 16];
    let mat = MatRef { data: &data, offset: 0, row_stride: 4, col_stride: 1 };
    for dims in [[4, 4, 4], [1, 4, 4], [4, 4, 1]] {
        let mut out = vec![f32::NAN; dims[0] * dims[2]];
        matmul(&[], dims, mat, mat, &mut out);
        assert!(out.iter().all(|x| *x == 16.0));
    }
}

#[test]
fn integers_wrap() {
    let mut out = [0];
    let mat = MatRef { data: &[i32::MAX, i32::MAX], offset: 0, row_stride: 1, col_stride: 1 };
    matmul(&[], [1, 2, 1], mat, mat, &mut out);
    assert_eq!(out, [2]);
}

#[test]
#[should_panic(expected = "internal error in mind: matmul: right operand too short")]
fn an_operand_too_short_panics() {
    let lhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    matmul(&[], [2, 2, 2], lhs, MatRef { offset: 1, ..lhs }, &mut [0.0; 4]);
}

#[test]
#[should_panic(expected = "matmul: left operand too short")]
fn strides_that_overflow_panic() {
    let rhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    matmul(&[], [2, 2, 2], MatRef { row_stride: usize::MAX, ..rhs }, rhs, &mut [0.0; 4]);
}

/// Operands that lack their last element are refused, whichever kernel would multiply.
#[test]
fn operands_too_short_reach_no_kernel() {
    let panics = |name: &str, multiply: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(multiply)).expect_err(name);
        let said = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(said.contains("operand too short"), "{name}: {said}");
    };
    for dims @ [m, k, n] in
        [[1, 1, 1], [2, 2, 2], [4, 4, 4], [3, 20, 3], [1, 40, 40], [40, 40, 1], [4, 40, 300], [40, 40, 40]]
    {
        let data = vec![0.0_f64; 40 * 300];
        for [right_row, right_col] in [[n, 1], [1, k]] {
            let whole = [m * k, k * n];
            for [left, right] in [[whole[0] - 1, whole[1]], [whole[0], whole[1] - 1]] {
                let lhs = MatRef { data: &data[..left], offset: 0, row_stride: k, col_stride: 1 };
                let rhs =
                    MatRef { data: &data[..right], offset: 0, row_stride: right_row, col_stride: right_col };
                let name = format!("{dims:?} {left} {right}");
                panics(&name, &|| matmul(&[], dims, lhs, rhs, &mut vec![0.0; m * n]));
                let batch = &[BatchDim { extent: 1, lhs_stride: 0, rhs_stride: 0 }];
                panics(&name, &|| matmul(batch, dims, lhs, rhs, &mut vec![0.0; m * n]));
                panics(&name, &|| {
                    let mut taken = vec![None; m * n];
                    let collect = Collect { first: 0, end: m, columns: n, taken: &mut taken };
                    matmul_with(&[], dims, lhs, rhs, &mut [], collect);
                });
            }
        }
    }
}

#[test]
#[should_panic(expected = "matmul: nothing to multiply")]
fn an_empty_product_reaches_no_kernel() {
    let mat = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    let _ = InBounds::new(product::Product { dims: &[2, 0, 2], all_rows: 2, lhs: &mat, rhs: &mat });
}

#[test]
#[should_panic(expected = "matmul: wrong output length")]
fn a_wrong_output_length_panics() {
    let mat = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    matmul(&[], [2, 2, 2], mat, mat, &mut [0.0; 3]);
}

fn tiny<const M: usize, const K: usize, const N: usize>() {
    let data = (small::<f32>(400, 7), small::<f32>(400, 8));
    for [row_stride, col_stride] in layouts(M, K) {
        let lhs = MatRef { data: &data.0, offset: 3, row_stride, col_stride };
        for [row_stride, col_stride] in layouts(K, N) {
            let rhs = MatRef { data: &data.1, offset: 1, row_stride, col_stride };
            let product = TinyProduct::<_, M, K, N>::new(lhs, rhs);
            let out: Vec<_> = (0..M).flat_map(|i| product.row(i)).collect();
            assert_eq!(out, naive(&[], [M, K, N], lhs, rhs), "{M} {K} {N}");
        }
    }
}

#[test]
fn tiny_products() {
    tiny::<1, 1, 1>();
    tiny::<1, 4, 8>();
    tiny::<1, 8, 2>();
    tiny::<3, 5, 4>();
    tiny::<2, 13, 1>();
    tiny::<0, 3, 4>();
    tiny::<3, 0, 4>();
    tiny::<3, 4, 0>();
    tiny::<7, 8, 9>();
}

#[test]
#[should_panic(expected = "matmul: right operand too short")]
fn a_tiny_operand_too_short_panics() {
    let lhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    let _ = TinyProduct::<_, 2, 2, 2>::new(lhs, MatRef { offset: 1, ..lhs });
}

#[test]
#[should_panic(expected = "matmul: no such row")]
fn a_row_beyond_a_tiny_product_panics() {
    let lhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
    let _ = TinyProduct::<_, 2, 2, 2>::new(lhs, lhs).row(2);
}

#[test]
fn a_tiny_product_without_columns_reads_nothing() {
    let nothing = MatRef { data: &[] as &[f32], offset: 0, row_stride: 1, col_stride: 1 };
    assert_eq!(TinyProduct::<_, 1, 1, 0>::new(nothing, nothing).row(0), [0.0; 0]);
}

/// A stride that is never taken may have any value, and so may the stride of prefetched operands.
#[test]
fn strides_never_taken_may_be_any() {
    let data = [1.0_f32; 64];
    let lhs = MatRef { data: &data, offset: 0, row_stride: 1, col_stride: usize::MAX };
    let rhs = MatRef { data: &data, offset: 0, row_stride: usize::MAX, col_stride: 1 };
    let mut out = vec![0.0; 64 * 63];
    matmul(&[], [64, 1, 63], lhs, MatRef { offset: 1, ..rhs }, &mut out);
    assert!(out.iter().all(|x| *x == 1.0));
}
