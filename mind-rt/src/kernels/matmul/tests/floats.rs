//! Products of floats at every SIMD level, against sums in `f64`, against `matrixmultiply`, and bit by bit against
//! themselves.

use super::super::choices::right_bytes;
use super::super::foreign::{self, Foreign};
use super::super::product::{InBounds, Product, Sink};
use super::super::sizes::COMBINED_ROWS;
use super::super::{Gemm, few_rows, floats, matmul_scratch};
use super::{Collect, MatRef};
use crate::kernels::caches::Caches;
use crate::kernels::epilogue::Epilogue;
use crate::kernels::tile::Micro;
use crate::sample::{every_case, sample};
use crate::simd::{SimdLevel, simd_level};

const LEVELS: [SimdLevel; 3] = [SimdLevel::Portable, SimdLevel::Avx2, SimdLevel::Avx512];

pub(super) trait Float: Foreign + Gemm {
    const NAN: Self;
    const EPSILON: f64;

    fn from_f64(x: f64) -> Self;

    fn to_f64(self) -> f64;

    /// Tiles of arrays, which other architectures use.
    fn arrays() -> &'static Micro<Self>;
}

macro_rules! float {
    ($($ty:ident: $micro:ident),*) => {
        $(impl Float for $ty {
            const NAN: Self = $ty::NAN;
            const EPSILON: f64 = $ty::EPSILON as f64;

            fn from_f64(x: f64) -> Self {
                x as Self
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn arrays() -> &'static Micro<Self> {
                &crate::kernels::tile::portable::$micro
            }
        })*
    };
}

float!(f32: F32, f64: F64);

/// Numbers between -1 and 1.
pub(super) fn random<T: Float>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| T::from_f64(next())).collect()
}

pub(super) fn bits<T: Float>(sums: &[T]) -> Vec<u64> {
    sums.iter().map(|sum| sum.to_f64().to_bits()).collect()
}

/// A product, with the largest error that sums may have: `k + 1` roundings of the sum of absolute values.
fn exact<T: Float>([m, k, n]: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>) -> Vec<(f64, f64)> {
    let products =
        |i, j| (0..k).map(move |l| lhs.data[lhs.index(i, l)].to_f64() * rhs.data[rhs.index(l, j)].to_f64());
    let element = |i, j| {
        let absolute: f64 = products(i, j).map(f64::abs).sum();
        (products(i, j).sum(), absolute * (k + 1) as f64 * T::EPSILON)
    };
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The first way to get a product: stored.
fn stored<T: Float>(
    product: &InBounds<'_, T>,
    scratch: usize,
    multiply: impl Fn(&InBounds<'_, T>, &mut [T], Sink<'_, T>),
) -> Vec<T> {
    let mut out = vec![T::NAN; product.dims[0] * product.dims[2]];
    multiply(product, &mut vec![T::NAN; scratch], Sink::Store(&mut out));
    out
}

/// The second way: passed to an epilogue.
fn handed_over<T: Float>(
    product: &InBounds<'_, T>,
    scratch: usize,
    multiply: impl Fn(&InBounds<'_, T>, &mut [T], Sink<'_, T>),
) -> Vec<T> {
    let (rows, columns) = (product.dims[0], product.dims[2]);
    let mut taken = vec![None; rows * columns];
    let mut collect = Collect { first: 5, end: 5 + rows, columns, taken: &mut taken };
    let epilogue: &mut dyn Epilogue<T> = &mut collect;
    multiply(product, &mut vec![T::NAN; scratch], Sink::Epilogue { epilogue, row: 5 });
    taken.into_iter().map(|sum| sum.expect("every element comes once")).collect()
}

/// All ways to compute a product give the same bits, near enough to the exact sums.
fn right_at_every_level<T: Float>(dims: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>) {
    let exact = exact(dims, lhs, rhs);
    let product = InBounds::new(Product { dims: &dims, all_rows: dims[0], lhs: &lhs, rhs: &rhs });
    let near = |sums: &[T]| {
        sums.iter().zip(&exact).all(|(sum, (exact, bound))| (sum.to_f64() - exact).abs() <= *bound)
    };
    let levels = LEVELS.into_iter().filter(|level| *level <= simd_level());
    let kernels = levels.map(|level| (format!("{level:?}"), T::micro(level)));
    for (name, micro) in kernels.chain([("arrays".to_string(), T::arrays())]) {
        right(&product, &name, &near, |product, scratch, sink| {
            floats::multiply_by(micro, Caches::of_this_processor(), product, scratch, sink);
        });
    }
    right(&product, "matrixmultiply", &near, foreign::multiply);
}

/// All ways to compute a product by some kernels give the same bits, near enough to the exact sums.
fn right<T: Float>(
    product: &InBounds<'_, T>,
    kernels: &str,
    near: &impl Fn(&[T]) -> bool,
    multiply: impl Fn(&InBounds<'_, T>, &mut [T], Sink<'_, T>),
) {
    let Product { dims: dims @ &[m, k, n], all_rows, lhs, rhs } = **product;
    let name =
        format!("{kernels} {dims:?} {:?}", [lhs.row_stride, lhs.col_stride, rhs.row_stride, rhs.col_stride]);
    let scratch = matmul_scratch::<T>(m, k, n, lhs.col_stride);
    let sums = stored(product, scratch, &multiply);
    assert!(near(&sums), "{name}");
    let same = bits(&sums);
    for scratch in [scratch, 0, scratch / 2 + 7] {
        assert_eq!(bits(&stored(product, scratch, &multiply)), same, "{name}, {scratch} of scratch");
        assert_eq!(bits(&handed_over(product, scratch, &multiply)), same, "{name}, {scratch} of scratch");
    }
    // The first rows and the others separately, as two threads compute them.
    let mut parts = Vec::new();
    for (first, len) in [(0, m / 2), (m / 2, m - m / 2)] {
        if len > 0 {
            let lhs = &MatRef { offset: lhs.index(first, 0), ..*lhs };
            let dims = &[len, k, n];
            let part = InBounds::new(Product { dims, all_rows, lhs, rhs });
            parts.extend(stored(&part, scratch, &multiply));
        }
    }
    assert_eq!(bits(&parts), same, "{name}, in two parts");
}

/// Row-major, transposed, with gaps.
fn layouts(rows: usize, columns: usize) -> [[usize; 2]; 3] {
    [[columns, 1], [1, rows], [2 * columns + 3, 2]]
}

fn all_layouts<T: Float>(dims: [usize; 3], data: &[Vec<T>; 2]) {
    let [m, k, n] = dims;
    for [row_stride, col_stride] in layouts(m, k) {
        let lhs = MatRef { data: &data[0], offset: 3, row_stride, col_stride };
        for [row_stride, col_stride] in layouts(k, n) {
            right_at_every_level(dims, lhs, MatRef { data: &data[1], offset: 1, row_stride, col_stride });
        }
    }
}

/// Each layout of each operand once.
fn some_layouts<T: Float>(dims: [usize; 3], data: &[Vec<T>; 2]) {
    let [m, k, n] = dims;
    for (i, [row_stride, col_stride]) in layouts(m, k).into_iter().enumerate() {
        let lhs = MatRef { data: &data[0], offset: 3, row_stride, col_stride };
        let [row_stride, col_stride] = layouts(k, n)[(i + k) % 3];
        right_at_every_level(dims, lhs, MatRef { data: &data[1], offset: 1, row_stride, col_stride });
    }
}

/// Sizes from 1 to 40, each in each place, in pairs that vary.
fn small<T: Float>(step: usize) {
    let data = [random::<T>(4000, 1), random::<T>(4000, 2)];
    for size in (1..=40).step_by(step) {
        let (other, third) = ((size * 7) % 40 + 1, (size * 23) % 40 + 1);
        all_layouts([size, other, third], &data);
        all_layouts([other, size, third], &data);
        all_layouts([other, third, size], &data);
        some_layouts([1, other, size], &data);
        some_layouts([size, other, 1], &data);
    }
}

/// All products around the most multiplications and the longest extent for which no kernel is chosen.
#[test]
fn the_smallest_products() {
    let data = [random::<f64>(600, 1), random::<f64>(600, 2)];
    for m in 1..=5 {
        for k in 1..=5 {
            (1..=5).for_each(|n| some_layouts([m, k, n], &data));
        }
    }
    for long in 6..=17 {
        let other = 64 / long;
        for dims in [[1, long, other], [long, 1, other], [other, 1, long], [1, other, long], [long, other, 1]]
        {
            some_layouts(dims, &data);
        }
    }
}

/// A single path computes all of these: no level's vector instructions give another sum.
#[test]
#[cfg(not(feature = "__small_blocks"))]
fn small_products_are_added_up_in_order() {
    let data = [random::<f32>(100, 1), random::<f32>(100, 2)];
    for [m, k, n] in
        [[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4], [3, 4, 5], [1, 12, 5], [5, 12, 1], [7, 9, 1]]
    {
        let lhs = &MatRef { data: &data[0], offset: 3, row_stride: k, col_stride: 1 };
        let rhs = &MatRef { data: &data[1], offset: 1, row_stride: n, col_stride: 1 };
        let dims = &[m, k, n];
        let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
        let element =
            |i, j| (0..k).fold(0.0, |sum, l| sum + lhs.data[lhs.index(i, l)] * rhs.data[rhs.index(l, j)]);
        let expected: Vec<f32> =
            (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect();
        assert_eq!(bits(&stored(&product, 0, f32::multiply)), bits(&expected), "{m}x{k}x{n}");
    }
}

#[test]
fn small_products_of_f32() {
    small::<f32>(if every_case() { 3 } else { 9 });
}

#[test]
fn small_products_of_f64() {
    small::<f64>(if every_case() { 7 } else { 13 });
}

/// Extents larger than those of tiles, of blocks and of operands packed on the stack.
#[test]
fn blocks_of_every_kind() {
    let data = [random::<f32>(200_000, 3), random::<f32>(400_000, 4)];
    for dims in sample("sizes around blocks", [[19, 1100, 21], [20, 1101, 21], [21, 1102, 21], [9, 515, 290]])
    {
        some_layouts(dims, &data);
    }
    let data = [random::<f64>(200_000, 5), random::<f64>(200_000, 6)];
    some_layouts([21, 1030, 31], &data);
}

/// Sizes of the second-level cache, such that a right operand of some ten kilobytes is far beyond, just beyond, within,
/// and a small part of it.
const SECOND: [usize; 6] = [0, 3 << 10, 24 << 10, 40 << 10, 96 << 10, usize::MAX];

/// A product has the same bits for all caches, whether it is stored, or passed to an epilogue with little scratch
/// memory.
fn same_by_any_caches<T: Float>(dims: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>) {
    let [m, k, n] = dims;
    let product = InBounds::new(Product { dims: &dims, all_rows: m, lhs: &lhs, rhs: &rhs });
    let scratch = matmul_scratch::<T>(m, k, n, lhs.col_stride);
    let levels = LEVELS.into_iter().filter(|level| *level <= simd_level());
    for micro in levels.map(T::micro).chain([T::arrays()]) {
        let sums = SECOND.map(|second| {
            let multiply = |product: &InBounds<'_, T>, scratch: &mut [T], sink: Sink<'_, T>| {
                floats::multiply_by(micro, Caches::new(second), product, scratch, sink);
            };
            let first = bits(&stored(&product, scratch, multiply));
            let other = bits(&handed_over(&product, scratch / 3, multiply));
            assert!(other == first, "{dims:?}, {second} bytes of cache");
            first
        });
        let mut others = sums.iter().zip(SECOND).skip(1);
        let differs = others.find(|(other, _)| **other != sums[0]).map(|(_, second)| second);
        assert_eq!(differs, None, "{dims:?}, {} lanes: other bits with such a cache", micro.lanes);
    }
    right_at_every_level(dims, lhs, rhs);
}

/// Numbers of rows around those at which the way changes, with operands around the size of each cache.
#[test]
fn caches_do_not_show() {
    fn of<T: Float>() {
        let data = [random::<T>(70 * 70, 21), random::<T>(70 * 600, 22)];
        let rows = [2, 4, 5, 8, 9, 13, 30, 31, 49, 65];
        let dims = rows.into_iter().flat_map(|m| [[m, 33, 257], [m, 24, 256], [m, 70, 140], [m, 9, 600]]);
        for (i, dims @ [m, k, n]) in sample("rows by operands around caches", dims).into_iter().enumerate() {
            let [row_stride, col_stride] = if i % 3 == 2 { [1, m] } else { [k, 1] };
            let lhs = MatRef { data: &data[0], offset: 0, row_stride, col_stride };
            let [row_stride, col_stride] = if i % 5 == 4 { [1, k] } else { [n, 1] };
            same_by_any_caches(dims, lhs, MatRef { data: &data[1], offset: 0, row_stride, col_stride });
        }
    }
    of::<f32>();
    of::<f64>();
}

/// Depths and columns around the blocks that follow from the caches.
#[test]
fn blocks_that_caches_make_do_not_show() {
    const M: usize = 27;
    let data = [random::<f64>(M * 70, 23), random::<f64>(70 * 70, 24)];
    let mut cases = Vec::new();
    for second in SECOND {
        let len = right_bytes(Caches::new(second)) / size_of::<f64>();
        for columns in [4, 8, 24] {
            let depth = len / columns - 1;
            cases.extend([depth - 1, depth, depth + 1, 2 * depth + 1].map(|k| [k, 2 * columns + 1]));
            cases.extend([len / 31, len / 31 + 1].map(|n| [30, n]));
        }
    }
    cases.retain(|[k, n]| (1..=70).contains(k) && (1..=70).contains(n));
    for [k, n] in sample("blocks of caches", cases) {
        let lhs = MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
        same_by_any_caches(
            [M, k, n],
            lhs,
            MatRef { data: &data[1], offset: 0, row_stride: n, col_stride: 1 },
        );
    }
}

/// Up to eight rows are combined, or the right operand is read where it lies; with more rows it is packed, or
/// prefetched.
#[test]
fn few_rows_have_the_bits_of_more() {
    let [m, k, n] = [14, 420, 1900];
    let data = [random::<f32>(m * k, 25), random::<f32>(k * n, 26)];
    let lhs = &MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
    let rhs = &MatRef { data: &data[1], offset: 0, row_stride: n, col_stride: 1 };
    let sums = |m| {
        let dims = &[m, k, n];
        let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
        let scratch = matmul_scratch::<f32>(m, k, n, lhs.col_stride);
        let stored = bits(&stored(&product, scratch, floats::multiply));
        assert!(stored == bits(&handed_over(&product, scratch, floats::multiply)), "{m} rows");
        stored
    };
    let all = sums(m);
    for rows in 2..m {
        assert!(sums(rows) == all[..rows * n], "{rows} rows");
    }
}

/// Rows of the right operand that begin in the same cache sets are packed.
#[test]
fn rows_a_page_apart() {
    let data = [random::<f32>(66 * 40, 7), random::<f32>(40 * 1024, 8)];
    let lhs = MatRef { data: &data[0], offset: 0, row_stride: 40, col_stride: 1 };
    let rhs = MatRef { data: &data[1], offset: 0, row_stride: 1024, col_stride: 1 };
    right_at_every_level([66, 40, 60], lhs, rhs);
}

/// Few rows by contiguous columns, with more columns than an epilogue takes at once, shallow and deep.
#[test]
fn few_rows_by_columns() {
    let data = [random::<f32>(8 * 130, 27), random::<f32>(140 * 1100, 28)];
    for dims @ [_, k, n] in
        sample("few rows", [[4, 65, 1100], [8, 130, 600], [5, 97, 1030], [2, 33, 1100], [3, 47, 1100]])
    {
        let lhs = MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
        for [row_stride, col_stride] in [[1, k], [n, 1], [1, k + 3]] {
            right_at_every_level(dims, lhs, MatRef { data: &data[1], offset: 0, row_stride, col_stride });
        }
    }
}

/// The result does not depend on where in a cache line an operand begins, although whole vectors of combined rows begin
/// with a line.
#[test]
fn operands_that_begin_anywhere() {
    fn check<T: Float>() {
        const K: usize = 19;
        const LINE: usize = 64;
        let levels = LEVELS.into_iter().filter(|level| *level <= simd_level());
        for (micro, n) in
            levels.map(T::micro).chain([T::arrays()]).flat_map(|it| [(it, 150), (it, 300), (it, 1100)])
        {
            for m in 1..=COMBINED_ROWS {
                let [left, right] = [random::<T>(m * K, 29), random::<T>(K * n, 30)];
                let at = |behind: usize| {
                    let mut shifted = vec![T::NAN; right.len() + 2 * LINE];
                    let offset = shifted.as_ptr().align_offset(LINE) + behind;
                    shifted[offset..][..right.len()].copy_from_slice(&right);
                    let lhs = &MatRef { data: &left, offset: 0, row_stride: K, col_stride: 1 };
                    let rhs = &MatRef { data: &shifted, offset, row_stride: n, col_stride: 1 };
                    let dims = &[m, K, n];
                    let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
                    bits(&stored(&product, 0, |product, _, sink| few_rows::combine(micro, product, sink)))
                };
                let first = at(0);
                for behind in 1..LINE / size_of::<T>() {
                    assert!(at(behind) == first, "{m} rows of {n}, {} lanes, {behind} behind", micro.lanes);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

/// Large right operands of `f64` are packed for any strides. The result is the same as that of few rows, for which they
/// are not packed.
#[test]
fn large_right_operands() {
    let [m, k, n] = [264, 300, 290];
    let data = [random::<f64>(m * k, 13), random::<f64>(k * n, 14)];
    for [row_stride, col_stride] in [[k, 1], [1, m]] {
        let lhs = &MatRef { data: &data[0], offset: 0, row_stride, col_stride };
        let rhs = &MatRef { data: &data[1], offset: 0, row_stride: n, col_stride: 1 };
        let product = |m| {
            let mut out = vec![f64::NAN; m * n];
            let mut scratch = vec![f64::NAN; matmul_scratch::<f64>(m, k, n, lhs.col_stride)];
            let dims = &[m, k, n];
            let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
            floats::multiply(&product, &mut scratch, Sink::Store(&mut out));
            bits(&out)
        };
        assert!(product(m)[..16 * n] == product(16), "left operand by {row_stride} and {col_stride}");
    }
}

/// Few rows are combined with rows of a far right operand. For more rows, blocks of it are prefetched. The result is
/// the same as that of some of its columns alone.
#[test]
fn far_right_operands() {
    let [k, n] = [1030, 1040];
    let columns = 100..300;
    let data = [random::<f64>(70 * k, 15), random::<f64>(k * n, 16)];
    let lhs = &MatRef { data: &data[0], offset: 0, row_stride: k, col_stride: 1 };
    let whole = &MatRef { data: &data[1], offset: 0, row_stride: n, col_stride: 1 };
    let some = &MatRef { offset: columns.start, ..*whole };
    for m in sample("numbers of rows", [2, 3, 4, 5, 19, 70]) {
        let sums = |n, rhs, scratch| {
            let dims = &[m, k, n];
            let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
            let stored = stored(&product, scratch, f64::multiply);
            let handed_over = handed_over(&product, scratch, f64::multiply);
            assert!(bits(&stored) == bits(&handed_over), "{m} rows, {scratch} of scratch");
            stored
        };
        let expected = sums(columns.len(), some, 0);
        for scratch in [matmul_scratch::<f64>(m, k, n, 1), 0, m * 100] {
            let sums = sums(n, whole, scratch);
            let found: Vec<_> = sums.chunks(n).flat_map(|row| &row[columns.clone()]).copied().collect();
            assert!(bits(&found) == bits(&expected), "{m} rows, {scratch} of scratch");
        }
    }
}

/// A thread's share of the scratch memory may have any size: memory for less than a tile of packed rows is not used.
#[test]
fn any_scratch_memory_gives_the_bits_of_none() {
    const DEPTH: usize = 513;
    let [m, k, n] = [128, 520, 72];
    let data = [random::<f64>(m * k, 17), random::<f64>(k * n, 18)];
    let lhs = &MatRef { data: &data[0], offset: 0, row_stride: 1, col_stride: m };
    for [row_stride, col_stride] in [[n, 1], [1, k]] {
        let rhs = &MatRef { data: &data[1], offset: 0, row_stride, col_stride };
        let dims = &[m, k, n];
        let product = InBounds::new(Product { dims, all_rows: m, lhs, rhs });
        let expected = bits(&stored(&product, 0, f64::multiply));
        let shares = [4095, 4096, 8 * DEPTH - 1, 8 * DEPTH, 32 * DEPTH - 1, 32 * DEPTH, 40 * DEPTH];
        let sizes = shares.into_iter().flat_map(|share| [share, 2 * share, 3 * share, 3 * share + 2]);
        for scratch in sample("sizes of scratch memory", sizes) {
            let stored = bits(&stored(&product, scratch, f64::multiply));
            assert!(stored == expected, "{scratch} of scratch, stored");
            let handed_over = bits(&handed_over(&product, scratch, f64::multiply));
            assert!(handed_over == expected, "{scratch} of scratch, handed over");
        }
    }
}

/// Products by the crate, larger than the parts that it sums and that an epilogue takes at once: no split affects the
/// result, and the features determine which products the crate computes.
#[test]
fn products_of_another_crate() {
    fn of<T: Float>(dims: [usize; 3]) {
        let [m, k, n] = dims;
        let data = [random::<T>(3 * m * k + 10, 17), random::<T>(3 * k * n + 10, 18)];
        let pairs = layouts(m, k).into_iter().zip(layouts(k, n));
        for ([row_stride, col_stride], rhs_strides) in sample("pairs of layouts", pairs) {
            let lhs = &MatRef { data: &data[0], offset: 3, row_stride, col_stride };
            let [row_stride, col_stride] = rhs_strides;
            let rhs = &MatRef { data: &data[1], offset: 1, row_stride, col_stride };
            let product = InBounds::new(Product { dims: &dims, all_rows: m, lhs, rhs });
            let ours = stored(&product, 0, floats::multiply);
            let bound = 2.0 * (k * (k + 1)) as f64 * T::EPSILON;
            let near = |sums: &[T]| {
                sums.iter().zip(&ours).all(|(sum, ours)| (sum.to_f64() - ours.to_f64()).abs() <= bound)
            };
            right(&product, "matrixmultiply", &near, foreign::multiply);
            let [ours, theirs] = [ours, stored(&product, 0, foreign::multiply)].map(|sums| bits(&sums));
            assert_ne!(ours, theirs, "the crate adds up other parts");
            let by_crate = cfg!(any(feature = "matrixmultiply", not(target_arch = "x86_64")));
            assert!(bits(&stored(&product, 0, T::multiply)) == if by_crate { theirs } else { ours });
        }
    }
    of::<f32>([140, 600, 530]);
    of::<f64>([33, 270, 20]);
}
