//! Products on several threads, which take parts until none are left: a core that is slower, or has other work, takes
//! fewer parts and does not delay the others.
//!
//! - A large product without an epilogue is split by columns. Each part packs its own slice of the right operand, so
//!   parts can be small.
//! - A batch of many matrices is split into parts of some matrices, see
//!   [`Products::by_rows`](super::products::Products::by_rows).
//! - A single matrix with an epilogue can only be split by rows. Each part packs all columns, so each thread has one
//!   part.

use std::sync::{Mutex, PoisonError};

use super::choices;
use super::operands::MatRef;
use super::product::{InBounds, MultiplyColumns, Product};
use super::region::Region;
use super::sizes::COLUMN_SIZES;
use crate::kernels::number::Number;
use crate::parallel::join;

/// The number of columns that threads take at a time, for a product of many rows; `None` if threads should take rows.
pub fn width<T>(product: &Product<'_, T>, threads: usize) -> Option<usize> {
    COLUMN_SIZES.width_on_demand(*product.dims, threads, choices::may_pack_left(product))
}

/// Multiplies `width` columns at a time.
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

/// Runs `work` on `threads` threads, for the parts that `next` returns. Each thread has its share of the scratch
/// memory.
pub fn by_threads<T: Send, P>(
    threads: usize,
    scratch: &mut [T],
    next: impl FnMut() -> Option<P> + Send,
    work: impl Fn(P, &mut [T]) + Sync,
) {
    let next = Mutex::new(next);
    // No thread panics while it takes a part, so a poisoned lock does not matter.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner)();
    each_thread(threads, scratch, &|scratch| {
        while let Some(part) = take() {
            work(part, scratch);
        }
    });
}

/// Runs `work` on `threads` threads, each with its share of the scratch memory.
fn each_thread<T: Send>(threads: usize, scratch: &mut [T], work: &(dyn Fn(&mut [T]) + Sync)) {
    if threads == 1 {
        return work(scratch);
    }
    let (first, later) = scratch.split_at_mut(scratch.len() / threads * (threads / 2));
    join(|| each_thread(threads / 2, first, work), || each_thread(threads - threads / 2, later, work));
}
