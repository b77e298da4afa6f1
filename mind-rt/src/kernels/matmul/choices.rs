//! Chooses how a product is computed, by its extents and strides, the panel that its tiles read, and the caches. All
//! such decisions are made here. Only [`is_inner`] affects the result: see [`blocked`](super::blocked) and
//! [`few_rows`](super::few_rows).

use super::product::Product;
use super::shares::{bytes, left_pays};
use super::sizes::{
    BEYOND_CACHES, COMBINED_ROWS, FETCHED, FETCHED_ROWS, INNER_ROWS, INNER_STEPS, LONG, READS, RIGHT_BYTES,
    WIDE_LINES,
};
use crate::kernels::caches::Caches;
use crate::kernels::tile::{LINE, MAX_ROWS, MOST_VECTORS, Micro};

/// How tiles read a right operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// The operand is read where it lies.
    InPlace,
    /// The operand is read where it lies, in blocks. Each block is prefetched while the one before it is read.
    FetchedAhead,
    /// A copy of the operand is read, panel by panel.
    Packed,
}

/// Whether rows of the right operand are combined, from end to end, instead of being read by tiles. This pays if there
/// are so few rows that a tile waits for the elements that it reads, or has too few sums to keep the multiply-adds
/// busy.
pub fn combines<T>(micro: &Micro<T>, caches: Caches, product: &Product<'_, T>) -> bool {
    let Product { dims: &[m, k, n], rhs, .. } = *product;
    let size = bytes::<T>(k, n);
    let pays = if reads_lines(micro) {
        // A tile that is tall enough reads the right operand once, and need not load and store sums.
        let one_tile = m <= micro.rows;
        m <= MOST_VECTORS
            || m <= COMBINED_ROWS && size > if one_tile { BEYOND_CACHES } else { caches.level_2() }
    } else {
        m <= 2 || m <= MOST_VECTORS && size > if rhs.rows_share_sets() { RIGHT_BYTES } else { BEYOND_CACHES }
    };
    pays && m > 1 && rhs.col_stride == 1 && n >= LONG
}

/// Whether a product of few rows is computed as inner products of contiguous rows and contiguous columns, without
/// copies of the columns. This changes the order of sums. So the choice depends on the number of all rows, whichever of
/// them are computed, and on nothing that is divided among threads.
pub fn is_inner<T>(product: &Product<'_, T>) -> bool {
    let Product { dims: &[_, k, _], all_rows, lhs, rhs } = *product;
    all_rows <= INNER_ROWS.min(k / INNER_STEPS)
        && lhs.col_stride == 1
        && rhs.row_stride == 1
        && rhs.col_stride != 1
}

/// How tiles read the right operand. If it is read often enough, packing it takes less time than reading single cache
/// lines that are usually each in a different page, which no processor prefetches. How often is enough depends on where
/// the operand lies.
pub fn right<T>(micro: &Micro<T>, caches: Caches, product: &Product<'_, T>) -> Right {
    let Product { dims: &[m, k, n], rhs, .. } = *product;
    if fetches_right(micro, product) {
        return Right::FetchedAhead;
    }
    let size = bytes::<T>(k, n);
    let reads = if size < caches.level_2() / 8 && !rhs.rows_share_sets() {
        // All its lines and pages are cached, and a panel of it stays in the first-level cache.
        usize::MAX
    } else if size <= caches.level_2() || !reads_lines(micro) {
        READS
    } else if size < BEYOND_CACHES / 2 {
        // In the third-level cache: each read waits longer.
        READS * 5 / 8
    } else {
        1
    };
    let pays = k > MAX_ROWS && m > reads.saturating_mul(micro.rows);
    if n > 1 && rhs.col_stride != 1 || pays { Right::Packed } else { Right::InPlace }
}

/// Whether it pays to copy left rows that are not contiguous to contiguous memory. Wide panels read left factors less
/// often.
pub fn packs_left<T>(micro: &Micro<T>, product: &Product<'_, T>) -> bool {
    may_pack_left(product) && (reads_lines(micro) || product.dims[2] > WIDE_LINES * LINE / size_of::<T>())
}

/// Whether left rows may be packed, by the tiles of any level.
pub fn may_pack_left<T>(&Product { dims, lhs, .. }: &Product<'_, T>) -> bool {
    left_pays::<T>(*dims, lhs.col_stride)
}

/// The most bytes of a block of the right operand. If the second-level cache has less than [`RIGHT_BYTES`], this is
/// three quarters of it: with larger blocks, left rows and sums would evict elements that the next tile reads. So two
/// of eight ways are left to rows and sums, as in BLIS's model.
pub fn right_bytes(caches: Caches) -> usize {
    let second = caches.level_2();
    if second + second / 512 < RIGHT_BYTES { second / 4 * 3 } else { RIGHT_BYTES }
}

/// Whether a right operand that is not packed is read in one block.
pub fn is_whole<T>(caches: Caches, &Product { dims: &[m, k, n], .. }: &Product<'_, T>) -> bool {
    m <= MAX_ROWS || bytes::<T>(k, n) <= caches.level_2() / 8 * 5
}

/// Whether a result is usually not in the cache when it is written.
pub fn is_far_result<T>(caches: Caches, &Product { dims: &[m, _, n], .. }: &Product<'_, T>) -> bool {
    bytes::<T>(m, n) > 2 * caches.level_2()
}

/// Whether a panel is at most a cache line wide. If so, and the panel is read where it lies, no earlier read has
/// fetched its lines.
fn reads_lines<T>(micro: &Micro<T>) -> bool {
    micro.columns() * size_of::<T>() <= LINE
}

/// Whether blocks of the right operand are prefetched: if there are too few rows to make up for the time that the first
/// ones wait.
fn fetches_right<T>(micro: &Micro<T>, &Product { dims: &[m, k, n], lhs, rhs, .. }: &Product<'_, T>) -> bool {
    !reads_lines(micro)
        && (2..=FETCHED_ROWS).contains(&m)
        && lhs.col_stride == 1
        && rhs.col_stride == 1
        && k.min(n) > FETCHED
        && bytes::<T>(k, n) > BEYOND_CACHES
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::MatRef;
    use super::*;
    use crate::kernels::tile::{avx2, avx512};

    #[test]
    fn a_right_operand_whose_columns_are_contiguous_is_always_packed() {
        let lhs = &MatRef { data: &[], offset: 0, row_stride: 1, col_stride: 1 };
        for dims in [[1, 2, 2], [2, 500, 3], [600, 600, 600], [9, 3000, 3000]] {
            let rhs = &MatRef { data: &[], offset: 0, row_stride: 1, col_stride: dims[1] };
            let product = Product { dims: &dims, all_rows: dims[0], lhs, rhs };
            for micro in [&avx2::F32, &avx512::F32] {
                assert!(right(micro, Caches::new(512 << 10), &product) == Right::Packed, "{dims:?}");
                assert!(!combines(micro, Caches::new(512 << 10), &product), "{dims:?}");
            }
        }
    }
}
