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
