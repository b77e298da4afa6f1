//! How a product is computed: every question of it is asked here, of its extents and strides, of the panel that its tiles read and
//! of the caches. No answer but [`is_inner`] shows in the result: see [`blocked`](super::blocked) and [`few_rows`](super::few_rows).

use super::product::Product;
use super::shares::{bytes, left_pays};
use super::sizes::{
    BEYOND_CACHES, COMBINED_ROWS, FAR_RIGHT, FETCHED, FETCHED_ROWS, INNER_ROWS, INNER_STEPS, LONG, READS,
    READS_OF_LINES, RIGHT_BYTES, WIDE_LINES, WORTH_COMBINING,
};
use crate::kernels::caches::Caches;
use crate::kernels::tile::{LINE, MAX_ROWS, MOST_VECTORS, Micro};

/// How tiles read a right operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Where it lies.
    InPlace,
    /// Where it lies, in blocks each of which is fetched while the one before is read.
    FetchedAhead,
    /// From a copy, panel behind panel.
    Packed,
}

/// Whether rows of the right operand are combined, from end to end, instead of tiles: where rows are so few that a tile waits for what
/// it reads, or has too few sums to keep the multiply-adds busy.
pub fn combines<T>(micro: &Micro<T>, caches: Caches, product: &Product<'_, T>) -> bool {
    let Product { dims: &[m, k, n], rhs, .. } = *product;
    let size = bytes::<T>(k, n);
    let pays = if reads_lines(micro) {
        // A tile that is tall enough reads it once, and need not load and store sums.
        let one_tile = m <= micro.rows;
        m <= MOST_VECTORS || m <= COMBINED_ROWS && size > if one_tile { FAR_RIGHT } else { caches.second() }
    } else {
        m <= 2
            || m <= MOST_VECTORS && size > if rhs.rows_share_sets() { WORTH_COMBINING } else { BEYOND_CACHES }
    };
    pays && m > 1 && rhs.col_stride == 1 && n >= LONG
}

/// Whether few rows are multiplied with each column of the right operand, all contiguous, instead of copies of the columns. Sums have
/// another order then, so that this is asked of all rows, whichever these are, and of nothing that threads share.
pub fn is_inner<T>(product: &Product<'_, T>) -> bool {
    let Product { dims: &[_, k, _], all_rows, lhs, rhs } = *product;
    all_rows <= INNER_ROWS.min(k / INNER_STEPS)
        && lhs.col_stride == 1
        && rhs.row_stride == 1
        && rhs.col_stride != 1
}

/// How tiles read the right operand. To pack it takes less time than to read a line here and a line there, each from a page of its
/// own as a rule, which no processor fetches by itself, if it is read often enough: how often depends on where it lies.
pub fn right<T>(micro: &Micro<T>, caches: Caches, product: &Product<'_, T>) -> Right {
    let Product { dims: &[m, k, n], rhs, .. } = *product;
    if fetches_right(micro, product) {
        return Right::FetchedAhead;
    }
    let size = bytes::<T>(k, n);
    let reads = if size < caches.second() / 8 && !rhs.rows_share_sets() {
        // Its lines and pages are all at hand, and a panel of it stays in the first cache.
        usize::MAX
    } else if size <= caches.second() || !reads_lines(micro) {
        READS
    } else if size <= FAR_RIGHT {
        READS_OF_LINES
    } else {
        1
    };
    let pays = k > MAX_ROWS && m > reads.saturating_mul(micro.rows);
    if n > 1 && rhs.col_stride != 1 || pays { Right::Packed } else { Right::InPlace }
}

/// Whether left rows are copied to where they are contiguous: where they are not, and that pays. Wide panels read left factors less
/// often.
pub fn packs_left<T>(micro: &Micro<T>, product: &Product<'_, T>) -> bool {
    may_pack_left(product) && (reads_lines(micro) || product.dims[2] > WIDE_LINES * LINE / size_of::<T>())
}

/// Whether they may be, by tiles of whatever level.
pub fn may_pack_left<T>(&Product { dims, lhs, .. }: &Product<'_, T>) -> bool {
    left_pays::<T>(*dims, lhs.col_stride)
}

/// Most bytes of a block of the right operand: three quarters of a second cache that has less than [`RIGHT_BYTES`], where left rows and sums
/// would push out of it what the next tile reads. So two of eight ways are theirs, as in BLIS's model.
pub fn right_bytes(caches: Caches) -> usize {
    let second = caches.second();
    if second + second / 512 < RIGHT_BYTES { second / 4 * 3 } else { RIGHT_BYTES }
}

/// Whether a right operand that is not packed is read in one block.
pub fn is_whole<T>(caches: Caches, &Product { dims: &[m, k, n], .. }: &Product<'_, T>) -> bool {
    m <= MAX_ROWS || bytes::<T>(k, n) <= caches.second() / 8 * 5
}

/// Whether a result is not in cache when it is written, as a rule.
pub fn is_far_result<T>(caches: Caches, &Product { dims: &[m, _, n], .. }: &Product<'_, T>) -> bool {
    bytes::<T>(m, n) > 2 * caches.second()
}

/// Whether a panel is a line of a cache wide or less: read where it lies, each line is then one that nothing else has fetched.
fn reads_lines<T>(micro: &Micro<T>) -> bool {
    micro.columns() * size_of::<T>() <= LINE
}

/// Whether blocks of the right operand are fetched ahead: where rows are too few to make up for what the first ones wait.
fn fetches_right<T>(micro: &Micro<T>, &Product { dims: &[m, k, n], lhs, rhs, .. }: &Product<'_, T>) -> bool {
    let far = if m > READS * MAX_ROWS { FAR_RIGHT } else { BEYOND_CACHES };
    !reads_lines(micro)
        && (2..=FETCHED_ROWS).contains(&m)
        && lhs.col_stride == 1
        && rhs.col_stride == 1
        && k.min(n) > FETCHED
        && bytes::<T>(k, n) > far
}

#[cfg(all(test, target_arch = "x86_64", not(feature = "__small_blocks")))]
mod tests {
    use super::super::MatRef;
    use super::*;
    use crate::kernels::tile::{avx2, avx512};

    /// What is asked of a product of `f32` whose right operand lies in order, or transposed.
    struct Choice {
        combined: bool,
        right: Right,
    }

    fn ask(micro: &Micro<f32>, second: usize, dims: [usize; 3], transposed: bool) -> Choice {
        let [m, k, n] = dims;
        let lhs = &MatRef { data: &[], offset: 0, row_stride: k, col_stride: 1 };
        let [row_stride, col_stride] = if transposed { [1, k] } else { [n, 1] };
        let rhs = &MatRef { data: &[], offset: 0, row_stride, col_stride };
        let product = Product { dims: &dims, all_rows: m, lhs, rhs };
        let caches = Caches::new(second);
        Choice { combined: combines(micro, caches, &product), right: right(micro, caches, &product) }
    }

    /// The most rows that read a right operand where it lies, of up to 1000.
    fn most_in_place(micro: &Micro<f32>, second: usize, [k, n]: [usize; 2]) -> usize {
        let in_place = |m: &usize| ask(micro, second, [*m, k, n], false).right == Right::InPlace;
        (1..=1000).take_while(in_place).last().unwrap_or(0)
    }

    #[test]
    fn how_often_an_operand_is_read_before_it_is_packed_depends_on_the_second_cache() {
        let lines = &avx2::F32;
        assert_eq!(most_in_place(lines, 512 << 10, [127, 127]), 1000, "all of it at hand");
        assert_eq!(most_in_place(lines, 512 << 10, [128, 128]), 8 * 6, "an eighth of the cache");
        assert_eq!(most_in_place(lines, 512 << 10, [256, 256]), 8 * 6, "within the second cache");
        assert_eq!(most_in_place(lines, 512 << 10, [512, 256]), 8 * 6, "just within");
        assert_eq!(most_in_place(lines, 512 << 10, [512, 257]), 5 * 6, "just beyond");
        assert_eq!(most_in_place(lines, 512 << 10, [1000, 1000]), 6, "in no cache");
        assert_eq!(most_in_place(lines, 2 << 20, [512, 512]), 8 * 6);
        assert_eq!(most_in_place(lines, 16 << 20, [512, 512]), 1000);
        assert_eq!(most_in_place(&avx512::F32, 512 << 10, [512, 512]), 8 * 8, "a panel has three lines");
    }

    #[test]
    fn blocks_leave_a_quarter_of_a_small_second_cache() {
        let blocks = [256 << 10, 512 << 10, 1 << 20].map(|second| right_bytes(Caches::new(second)));
        assert_eq!(blocks, [192 << 10, 513 << 10, 513 << 10]);
    }

    #[test]
    fn what_shares_sets_of_a_cache_is_packed_however_small() {
        assert_eq!(most_in_place(&avx512::F32, 1 << 20, [16, 1000]), 1000);
        assert_eq!(most_in_place(&avx512::F32, 1 << 20, [16, 1024]), 8 * 8);
        assert_eq!(most_in_place(&avx512::F32, 1 << 20, [8, 1024]), 1000, "a set has room for so many rows");
        let packs_left = |micro, dims: [usize; 3], row_stride, col_stride| {
            let lhs = &MatRef { data: &[], offset: 0, row_stride, col_stride };
            packs_left(micro, &Product::<f32> { dims: &dims, all_rows: dims[0], lhs, rhs: lhs })
        };
        for micro in [&avx2::F32, &avx512::F32] {
            assert!(
                packs_left(micro, [1024, 32, 256], 1, 1024) && packs_left(micro, [512, 32, 256], 1, 1024)
            );
            assert!(!packs_left(micro, [1024, 8, 256], 1, 1024), "a set has room for so many columns");
            assert!(
                !packs_left(micro, [1000, 32, 256], 1, 1000) && packs_left(micro, [1000, 132, 256], 1, 1000)
            );
            assert!(
                !packs_left(micro, [1000, 132, 128], 1, 1000) && !packs_left(micro, [1024, 32, 32], 1, 1024)
            );
            assert!(!packs_left(micro, [1024, 1024, 1024], 1024, 1), "rows are contiguous");
        }
        let some_columns = [1024, 32, 128];
        assert!(
            packs_left(&avx2::F32, some_columns, 1, 1024) && !packs_left(&avx512::F32, some_columns, 1, 1024)
        );
    }

    #[test]
    fn columns_that_are_no_rows_are_always_packed() {
        for dims in [[1, 2, 2], [2, 500, 3], [600, 600, 600], [9, 3000, 3000]] {
            for micro in [&avx2::F32, &avx512::F32] {
                assert!(ask(micro, 512 << 10, dims, true).right == Right::Packed, "{dims:?}");
            }
        }
    }

    #[test]
    fn few_rows_fetch_wide_panels_of_what_is_far_away() {
        let right = |micro, m| ask(micro, 1 << 20, [m, 2000, 2000], false).right;
        assert!(
            right(&avx512::F32, 2) == Right::FetchedAhead && right(&avx512::F32, 128) == Right::FetchedAhead
        );
        assert!(right(&avx512::F32, 129) == Right::Packed);
        let from_third_cache = |m| ask(&avx512::F32, 1 << 20, [m, 1000, 1000], false).right;
        assert!(from_third_cache(64) == Right::InPlace && from_third_cache(65) == Right::FetchedAhead);
        assert!(right(&avx2::F32, 6) == Right::InPlace && right(&avx2::F32, 7) == Right::Packed);
    }

    #[test]
    fn few_rows_are_combined_with_rows() {
        let combined = |micro, second, dims| ask(micro, second, dims, false).combined;
        for m in 0..12 {
            let lines = |k, n| combined(&avx2::F32, 512 << 10, [m, k, n]);
            assert_eq!(lines(100, 256), (2..=4).contains(&m), "{m} rows, within the second cache");
            assert_eq!(lines(512, 512), matches!(m, 2..=4 | 7 | 8), "{m} rows, beyond it");
            assert_eq!(lines(1000, 1000), (2..=8).contains(&m), "{m} rows, of what is in no cache");
            let wide = |k, n| combined(&avx512::F32, 1 << 20, [m, k, n]);
            assert_eq!(wide(1000, 1000), m == 2, "{m} rows");
            assert_eq!(wide(100, 1024), m == 2, "{m} rows, of the same sets, near");
            assert_eq!(wide(256, 1024), (2..=4).contains(&m), "{m} rows, of the same sets");
            assert_eq!(wide(2000, 2000), (2..=4).contains(&m), "{m} rows, of what is in no cache");
        }
        assert!(!combined(&avx2::F32, 2 << 20, [7, 512, 512]), "it is in the cache");
        assert!(!combined(&avx2::F32, 512 << 10, [4, 2000, 255]), "short rows");
        assert!(!ask(&avx2::F32, 512 << 10, [4, 512, 512], true).combined, "no rows");
    }
}
