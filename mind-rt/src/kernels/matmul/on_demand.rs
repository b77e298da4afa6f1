//! Products on several threads, which take parts until there are no more: a core that is slower, or has other work, takes fewer and
//! does not hold all up.
//!
//! What is stored as it is, of many rows and columns, has parts of columns: each packs its own of the right operand, so that parts may
//! be small. Of many matrices some are a part, see [`Products::by_rows`](super::products::Products::by_rows). What an epilogue takes of
//! one matrix, which is cut along rows alone, has one part for each thread: each packs all columns.

use std::sync::{Mutex, PoisonError};

use super::operands::MatRef;
use super::product::{InBounds, MultiplyColumns, Product};
use super::region::Region;
use super::sizes::{FEWEST_COLUMNS, GRAIN_OF_COLUMNS, PARTS_OF_A_THREAD, ROWS_TO_SHARE, SHALLOW};
use super::{choices, columns};
use crate::kernels::number::Number;
use crate::parallel::join;

/// How many columns threads take at a time of a product of many rows; nothing if they had better take rows.
pub fn width<T>(product: &Product<'_, T>, threads: usize) -> Option<usize> {
    let [m, k, n] = *product.dims;
    let fewest = if choices::may_pack_left(product) { 4 * FEWEST_COLUMNS } else { FEWEST_COLUMNS };
    let widths = (1..=PARTS_OF_A_THREAD)
        .rev()
        .map(|parts| n.div_ceil(threads * parts).next_multiple_of(GRAIN_OF_COLUMNS).max(fewest));
    // What the thread with the most of them has, which all others are to wait for no more than an eighth of the time.
    let is_even = |width: &usize| {
        let (whole, rest) = (n / width, n % width);
        let most = if whole.is_multiple_of(threads) {
            whole / threads * width + rest
        } else {
            (whole / threads + 1) * width
        };
        most * threads / 8 * 7 <= n && columns::keep_their_kernel(n, *width)
    };
    (m >= ROWS_TO_SHARE && k > SHALLOW).then(|| widths.into_iter().find(is_even)).flatten()
}

/// Multiplies, `width` columns at a time.
pub fn multiply<T: Number>(
    product: &InBounds<'_, T>,
    width: usize,
    threads: usize,
    scratch: &mut [T],
    mut region: Region<'_, T>,
    by_columns: MultiplyColumns<T>,
) {
    let Product { dims: &[m, k, n], all_rows, lhs, rhs } = **product;
    let next = || {
        let [_, left] = region.extents();
        (left > 0).then(|| (n - left, region.take_columns(width.min(left))))
    };
    by_threads(threads, scratch, next, |(start, region), scratch| {
        let rhs = &MatRef { offset: rhs.offset + start * rhs.col_stride, ..*rhs };
        let dims = &[m, k, region.extents()[1]];
        by_columns(&InBounds::new(Product { dims, all_rows, lhs, rhs }), scratch, region);
    });
}

/// Has so many threads `work` at the parts that come `next`, each with its share of the scratch memory.
pub fn by_threads<T: Send, P>(
    threads: usize,
    scratch: &mut [T],
    next: impl FnMut() -> Option<P> + Send,
    work: impl Fn(P, &mut [T]) + Sync,
) {
    let next = Mutex::new(next);
    // What a thread panicked at was no part of taking one.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner)();
    each_thread(threads, scratch, &|scratch| {
        while let Some(part) = take() {
            work(part, scratch);
        }
    });
}

/// Has so many threads work, each with its share of the scratch memory.
fn each_thread<T: Send>(threads: usize, scratch: &mut [T], work: &(dyn Fn(&mut [T]) + Sync)) {
    if threads == 1 {
        return work(scratch);
    }
    let (first, later) = scratch.split_at_mut(scratch.len() / threads * (threads / 2));
    join(|| each_thread(threads / 2, first, work), || each_thread(threads - threads / 2, later, work));
}
