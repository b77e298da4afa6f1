//! The rules by which the run time splits work among threads. `mind stats --threads` predicts times by the same rules.
//!
//! Each rule takes the sizes at which it decides, since tests of the run time lower them.

/// The work of a product that is worth waking a thread for, in multiply-adds, by the bytes of a vector: about 20 µs.
#[must_use]
pub const fn worth_waking(vector_bytes: usize) -> usize {
    if vector_bytes >= 64 {
        2 << 20
    } else if vector_bytes >= 32 {
        3 << 18
    } else {
        1 << 19
    }
}

/// The factor by which less work of a product is worth a thread that is awake.
pub const WAKING: usize = 4;

/// A power of two. A product whose extents are all less is not split. A quick answer matters to the smallest products.
pub const SMALL_PRODUCT: usize = 128;

/// Parts of rows of a product begin at multiples of this many rows: those of the tallest tile.
pub const GRAIN_OF_ROWS: usize = 8;

/// The multiply-adds of a convolution that are worth a thread.
pub const WORTH_OF_CONVOLUTION: usize = 1 << 20;

/// The most parts of a convolution.
pub const PARTS_OF_CONVOLUTION: usize = 32;

/// The cost of an element, in additions, of a copy of elements that are not contiguous: their cache lines are far
/// apart.
pub const COST_OF_COPY: usize = 3;

/// The number of threads that pay for a product of `rows` rows in total, of `[rows, k, n]`, where a part is worth
/// `worth` multiply-adds.
#[must_use]
pub const fn product_parts([rows, k, n]: [usize; 3], threads: usize, worth: usize, small: usize) -> usize {
    /// The cost of reading an element that is read only once, in multiply-adds: of the left operand, and of the right
    /// one, whose rows are longer.
    const COST_OF_READING: [usize; 2] = [8, 3];

    if rows | k | n < small {
        return 1;
    }
    let [left, right] = COST_OF_READING;
    let reading = left.saturating_mul(rows).saturating_add(right.saturating_mul(n));
    let work = k.saturating_mul(rows.saturating_mul(n).saturating_add(reading));
    let parts = work / worth;
    let parts = if parts < threads { parts } else { threads };
    if parts == 0 { 1 } else { parts }
}

/// Whether `elements` elements of a fused loop, of `cost` additions each, are worth more than one thread.
#[must_use]
pub const fn loop_is_split(threads: usize, elements: usize, cost: usize, worth: usize) -> bool {
    threads > 1 && elements.saturating_mul(cost) >= worth
}

/// The sizes into which the steps of an axis of a fused loop are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The largest number of steps that is not cut further. Cuts are at multiples of it.
    pub leaf: usize,
    /// The largest number of steps that stays on one thread.
    pub alone: usize,
}

/// The axis that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The number of steps.
    pub steps: usize,
    /// The number of elements of a step.
    pub elements: usize,
    /// The cost of an element in additions.
    pub cost: usize,
}

impl Cut {
    /// The cut of a loop that only writes.
    #[inline]
    #[must_use]
    pub const fn of_writes(Axis { steps, elements, cost }: Axis, threads: usize, worth: usize) -> Self {
        /// Elements in a cache line. Parts begin at cache lines, if the whole does.
        const LINE: usize = 16;

        if !loop_is_split(threads, steps.saturating_mul(elements), cost, worth) {
            return Self { leaf: steps, alone: steps };
        }
        let grain = LINE.div_ceil(if elements == 0 { 1 } else { elements });
        let part = steps.div_ceil(threads).next_multiple_of(grain);
        Self { leaf: part, alone: part }
    }

    /// The cut of a loop that folds, along a tree whose leaves have `leaf` elements.
    #[inline]
    #[must_use]
    pub const fn of_folds(
        Axis { steps, elements, cost }: Axis,
        threads: usize,
        worth: usize,
        leaf: usize,
    ) -> Self {
        /// Parts per thread: more than one part balances threads of unequal speed.
        const SHARE: usize = 4;

        let leaf = leaf / if elements == 0 { 1 } else { elements };
        let leaf = if leaf == 0 { 1 } else { leaf };
        if !loop_is_split(threads, steps.saturating_mul(elements), cost, worth) {
            return Self { leaf, alone: steps };
        }
        let alone = steps / (SHARE * threads);
        Self { leaf, alone: if alone < leaf { leaf } else { alone } }
    }

    /// The cut of the columns of a loop that sums over rows, `elements` per column. A part has at least `fewest`
    /// columns, and no more than `widest` are summed at once.
    #[inline]
    #[must_use]
    pub const fn of_columns(
        Axis { steps, elements, cost }: Axis,
        threads: usize,
        worth: usize,
        [fewest, widest]: [usize; 2],
    ) -> Self {
        let is_split = loop_is_split(threads, steps.saturating_mul(elements), cost, worth);
        let most = steps / fewest;
        let sharing = if !is_split || most == 0 {
            1
        } else if most < threads {
            most
        } else {
            threads
        };
        let leaves = steps.div_ceil(widest).next_multiple_of(sharing);
        let leaves = if leaves == 0 { 1 } else { leaves };
        let leaf = steps.div_ceil(leaves).next_multiple_of(fewest);
        Self { leaf, alone: leaf * (leaves / sharing) }
    }
}

/// The number of parts that are worth their threads, for a convolution of `work` multiply-adds.
#[must_use]
pub const fn convolution_parts(work: usize, threads: usize, worth: usize) -> usize {
    let parts = work / worth;
    let parts = if parts < 1 { 1 } else { parts };
    let parts = if parts > PARTS_OF_CONVOLUTION { PARTS_OF_CONVOLUTION } else { parts };
    if parts < threads { parts } else { threads }
}

/// The sizes at which a product is split by columns.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSizes {
    /// From this many rows on, threads take rows, or columns on demand.
    pub rows_to_share: usize,
    /// Parts begin at multiples of this many columns, which are more than the widest tile has and whole cache lines.
    pub grain: usize,
    /// A last part of fewer columns might be computed by another kernel with another order of sums: the one for small
    /// products, or the one for a single vector.
    pub narrowest: usize,
    /// The usual number of parts per thread, if the product is wide enough. With more parts, threads wait less for the
    /// last one.
    pub parts_of_a_thread: usize,
    /// The fewest columns of a part of many rows, or a quarter of the fewest if left rows are packed: each part reads,
    /// or packs anew, all left rows.
    pub fewest: usize,
    /// Up to this many products per sum, computing tiles takes less time than writing results that are not in the cache.
    pub shallow: usize,
}

/// The sizes of the run time.
pub const COLUMN_SIZES: ColumnSizes = ColumnSizes {
    rows_to_share: 32,
    grain: 64,
    narrowest: 16,
    parts_of_a_thread: 4,
    fewest: 128,
    shallow: 32,
};

impl ColumnSizes {
    /// The number of columns that each of `parts` threads takes of a product of few rows; `None` if threads should take
    /// rows.
    #[must_use]
    pub const fn width_of_few_rows(&self, m: usize, n: usize, parts: usize) -> Option<usize> {
        let width = n.div_ceil(parts).next_multiple_of(self.grain);
        if m < self.rows_to_share && width < n && self.keep_their_kernel(n, width) {
            Some(width)
        } else {
            None
        }
    }

    /// The number of columns that threads take at a time, for a product of many rows; `None` if threads should take
    /// rows.
    #[must_use]
    pub const fn width_on_demand(
        &self,
        [m, k, n]: [usize; 3],
        threads: usize,
        may_pack_left: bool,
    ) -> Option<usize> {
        if m < self.rows_to_share || k <= self.shallow {
            return None;
        }
        let fewest = if may_pack_left { 4 * self.fewest } else { self.fewest };
        let mut parts = self.parts_of_a_thread;
        while parts > 0 {
            let width = n.div_ceil(threads * parts).next_multiple_of(self.grain);
            let width = if width < fewest { fewest } else { width };
            // All others may wait for the thread with the most columns at most an eighth of the time.
            let is_even = most_columns(n, width, threads) * threads / 8 * 7 <= n;
            if is_even && self.keep_their_kernel(n, width) {
                return Some(width);
            }
            parts -= 1;
        }
        None
    }

    /// Whether parts of `width` of `n` columns are computed by the same kernel as the whole product: the last part must
    /// not be too narrow.
    #[must_use]
    pub const fn keep_their_kernel(&self, n: usize, width: usize) -> bool {
        n.is_multiple_of(width) || n % width >= self.narrowest
    }
}

/// The number of columns of the thread with the most, if `threads` threads take `width` of `n` columns at a time.
#[must_use]
pub const fn most_columns(n: usize, width: usize, threads: usize) -> usize {
    let (whole, rest) = (n / width, n % width);
    if whole.is_multiple_of(threads) { whole / threads * width + rest } else { (whole / threads + 1) * width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_stays_on_one_thread() {
        let worth = worth_waking(64) / WAKING;
        assert_eq!(product_parts([64, 64, 64], 8, worth, SMALL_PRODUCT), 1);
        assert_eq!(product_parts([512, 512, 512], 8, worth, SMALL_PRODUCT), 8);
        assert_eq!(product_parts([32, 784, 256], 64, worth, SMALL_PRODUCT), 13);
        assert!(!loop_is_split(1, 1 << 30, 1, 1), "there is one thread");
        assert!(!loop_is_split(2, 1000, 8, 8001) && loop_is_split(2, 1000, 8, 8000));
        assert_eq!([0, 5, 1000].map(|work| convolution_parts(work, 64, 1)), [1, 5, 32]);
    }

    #[test]
    fn columns_are_split_at_whole_grains() {
        assert_eq!(COLUMN_SIZES.width_of_few_rows(8, 1024, 2), Some(512));
        assert_eq!(COLUMN_SIZES.width_of_few_rows(32, 1024, 2), None, "there are enough rows");
        assert_eq!(COLUMN_SIZES.width_on_demand([512, 512, 512], 2, false), Some(128));
        assert_eq!(COLUMN_SIZES.width_on_demand([512, 16, 512], 2, false), None, "sums are short");
        assert_eq!([most_columns(512, 128, 2), most_columns(300, 128, 2)], [256, 172]);
    }
}
