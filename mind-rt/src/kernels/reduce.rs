//! Folds in a fixed order: sums, whose error hardly grows with their length, and folds by another
//! [monoid](super::monoid), for which each lane is one chain.
//!
//! Element `i` of a sum belongs to lane `i % LANES`, and the lanes are added as a tree at the end. A lane adds chains
//! of [`CHAIN_IN_LANES`] elements in order. [`combine_chains`] adds each chain to the lane's sum and corrects for the
//! rounding error so far. The last chain also takes the elements after the last whole block. So an element is rounded
//! [`CHAIN_IN_LANES`] times and a few more, however many elements the sum has. The order depends only on the length,
//! so a sum has the same bits at every SIMD level.
//!
//! Sums over outer axes are chains of rows that are added up likewise, here and in generated loops.
//!
//! Three rules keep the lanes of a loop in the fewest registers that hold them. Without each of them, loops were
//! measured to take three to nine times as long:
//!
//! - Whole blocks are read as arrays, `&x.as_chunks::<LANES>().0[block]`, not as slices `&x[start..][..LANES]`.
//! - The elements after the last whole block go to a copy of the lanes: an array that is also indexed by a variable
//!   stays in memory throughout the main loop.
//! - [`reduce_lanes`] takes its lanes from memory. Otherwise the compiler pairs the lanes in the loop as the tree does.

use std::{hint::black_box, marker::PhantomData};

use mind_shape::element_types;
use mind_shape::loops::{CHAIN, CHAIN_IN_LANES, LANE_BYTES, lanes_of};

use super::check;
use super::compiled::SumKernels;
use super::monoid::{Monoid, Sum};

use crate::kernels::number::Number;
use crate::simd::{Kernel, dispatch};

/// Adds one chain to each sum and corrects it by `lost`, the sum's rounding error so far, which is 0 before the first
/// chain. A monoid other than a sum combines chains without a correction.
///
/// For sums this is Kahan's compensated summation: any number of chains is added with an error of one epsilon (Higham,
/// *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 4.3).
///
/// # Panics
/// If the slices differ in length.
#[inline(always)]
pub fn combine_chains<M: Monoid<T>, T: Number>(sums: &mut [T], lost: &mut [T], chains: &[T]) {
    check(sums.len() == lost.len() && sums.len() == chains.len(), "sums and their chains differ in number");
    let len = opaque(sums.len());
    for ((sum, lost), chain) in sums[..len].iter_mut().zip(lost).zip(chains) {
        (*sum, *lost) = M::combine_chain(*sum, *lost, *chain);
    }
}

/// A length that the compiler does not know, so that it does not unroll the loop over it: a program with hundreds of
/// sums would take minutes to compile.
#[inline(always)]
fn opaque(len: usize) -> usize {
    black_box(len).min(len)
}

/// As [`combine_chains`], for chains that were added up in registers, and stay in registers throughout their loop.
#[inline(always)]
pub fn combine_lane_chains<M: Monoid<T>, T: Number, const L: usize>(
    sums: &mut [T],
    lost: &mut [T; L],
    chains: [T; L],
) {
    combine_chains::<M, T>(sums, lost, &from_registers(chains));
}

/// Moves lanes that were added up in a loop to memory. The loop keeps them in registers, however the lanes are used
/// later.
#[inline(always)]
fn from_registers<T: Number, const L: usize>(lanes: [T; L]) -> [T; L] {
    black_box(lanes)
}

/// Combines the sums with their last chains. The rounding errors after that are not needed.
#[inline(always)]
pub fn combine_last_chains<M: Monoid<T>, T: Number, const L: usize>(
    mut sums: [T; L],
    lost: [T; L],
    chains: [T; L],
) -> [T; L] {
    for ((sum, lost), chain) in sums[..opaque(L)].iter_mut().zip(&lost).zip(&chains) {
        *sum = M::combine_last_chain(*sum, *lost, *chain);
    }
    sums
}

/// Sums of columns: adds up rows that are `stride` apart, in chains.
///
/// # Panics
/// If a row is not inside `elements`, or `chain` or `lost` has fewer elements than `sums`.
pub fn sum_columns<T: SumKernels>(
    sums: &mut [T],
    lost: &mut [T],
    chain: &mut [T],
    elements: &[T],
    stride: usize,
    rows: usize,
) {
    T::sum_columns(sums, lost, chain, elements, stride, rows);
}

pub(super) fn columns<T: Number>(
    sums: &mut [T],
    lost: &mut [T],
    chain: &mut [T],
    elements: &[T],
    stride: usize,
    rows: usize,
) {
    struct ColumnSums<'a, T> {
        sums: &'a mut [T],
        lost: &'a mut [T],
        chain: &'a mut [T],
        elements: &'a [T],
        stride: usize,
        rows: usize,
    }

    impl<T: Number> Kernel for ColumnSums<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            let Self { sums, lost, chain, elements, stride, rows } = self;
            columns_at_level(sums, lost, chain, elements, stride, rows);
        }
    }

    dispatch(ColumnSums { sums, lost, chain, elements, stride, rows });
}

/// As [`sum_columns`], to be called from a [`Kernel`].
#[inline(always)]
fn columns_at_level<T: Number>(
    sums: &mut [T],
    lost: &mut [T],
    chain: &mut [T],
    elements: &[T],
    stride: usize,
    rows: usize,
) {
    let (lost, chain) = (&mut lost[..sums.len()], &mut chain[..sums.len()]);
    sums.fill(T::ZERO);
    lost.fill(T::ZERO);
    // The rows that are added at once are one term of a chain, so an element is rounded `CHAIN` times and a few more.
    for first in (0..rows).step_by(CHAIN * ROWS_AT_ONCE) {
        chain.fill(T::ZERO);
        let rows = (rows - first).min(CHAIN * ROWS_AT_ONCE);
        let row = |i: usize| &elements[(first + i) * stride..][..sums.len()];
        let whole = rows / ROWS_AT_ONCE * ROWS_AT_ONCE;
        for i in (0..whole).step_by(ROWS_AT_ONCE) {
            add_rows(chain, std::array::from_fn(|next| row(i + next)));
        }
        for i in whole..rows {
            combine_row::<Sum, _>(chain, row(i));
        }
        combine_chains::<Sum, T>(sums, lost, chain);
    }
}

/// The number of rows that are read at once, as streams. Their chain is then read and written once for all of them.
const ROWS_AT_ONCE: usize = 4;

/// Adds rows to a chain. The iterators are zipped, so that whole registers are added, except for the last few elements.
#[inline(always)]
fn add_rows<T: Number>(chain: &mut [T], [a, b, c, d]: [&[T]; ROWS_AT_ONCE]) {
    for ((((sum, a), b), c), d) in chain.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *sum = sum.plus(a.plus(*b).plus(c.plus(*d)));
    }
}

/// Combines a row with a chain.
#[inline(always)]
pub fn combine_row<M: Monoid<T>, T: Number>(chain: &mut [T], row: &[T]) {
    let row = &row[..chain.len()];
    for (all, element) in chain.iter_mut().zip(row) {
        *all = M::combine(*all, *element);
    }
}

/// The number of scratch elements for `len` chains of sums in memory, or for their rounding errors: whole cache lines.
#[must_use]
pub const fn chain_scratch<T>(len: usize) -> usize {
    let line = const { 64 / size_of::<T>() };
    len.saturating_add(line - 1) / line * line
}

/// The sum of all elements; 0 if there are none.
pub fn sum<T: SumKernels>(elements: &[T]) -> T {
    T::sum_all(elements)
}

/// Combines all elements.
pub fn all<M: Monoid<T>, T: Reduce>(elements: &[T]) -> T {
    struct LaneFold<'a, M, T>(&'a [T], PhantomData<M>);

    impl<M: Monoid<T>, T: Reduce> Kernel for LaneFold<'_, M, T> {
        type Output = T;

        #[inline(always)]
        fn run(self) -> T {
            T::lane_fold::<M>(self.0)
        }
    }

    dispatch(LaneFold::<M, T>(elements, PhantomData))
}

/// Combines lanes as a tree: lane `i` and lane `i + L / 2` first. `L` must be a power of two.
#[inline(always)]
pub fn reduce_lanes<M: Monoid<T>, T: Number, const L: usize>(lanes: [T; L]) -> T {
    // A full set of lanes comes from a loop; fewer lanes belong to a row that is shorter than a full set.
    combine_lanes::<M, T, L>(if size_of::<[T; L]>() < LANE_BYTES { lanes } else { black_box(lanes) })
}

/// As [`reduce_lanes`], compiled once per type, for loops with many folds: inlined trees take most of the time of their
/// compilation.
#[inline(never)]
pub fn reduce_lanes_apart<M: Monoid<T>, T: Number, const L: usize>(lanes: [T; L]) -> T {
    combine_lanes::<M, T, L>(lanes)
}

/// As [`reduce_lanes`], for lanes that were not accumulated in a loop.
#[inline(always)]
pub fn combine_lanes<M: Monoid<T>, T: Number, const L: usize>(mut lanes: [T; L]) -> T {
    const { assert!(L.is_power_of_two()) };
    let mut half = L / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = M::combine(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Combines the lanes of each of `COLUMNS` columns as a tree. `lanes` has `R` rows of `COLUMNS` lanes, one after the
/// other. Rows `i` and `i + R / 2` are combined first. `R` must be a power of two.
#[inline(always)]
pub fn combine_columns<M: Monoid<T>, T: Number, const L: usize, const COLUMNS: usize>(
    lanes: [T; L],
) -> [T; COLUMNS] {
    const { assert!(L.is_multiple_of(COLUMNS) && (L / COLUMNS).is_power_of_two()) };
    // The lanes were accumulated in a loop.
    let mut lanes = black_box(lanes);
    let mut half = L / 2;
    while half >= COLUMNS {
        for lane in 0..half {
            lanes[lane] = M::combine(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    std::array::from_fn(|column| lanes[column])
}

/// Reductions with the lane count of the type. To be called from a [`Kernel`].
pub trait Reduce: Number {
    /// Combines all elements.
    fn lane_fold<M: Monoid<Self>>(elements: &[Self]) -> Self;

    /// The sum.
    fn lane_sum(elements: &[Self]) -> Self;

    /// Writes the lanes of a fold to `lanes`, before they are combined. `lanes` must have one element per lane of the
    /// type.
    fn fold_lanes<M: Monoid<Self>>(elements: &[Self], lanes: &mut [Self]);

    /// The inner product of two slices of one length.
    fn lane_dot(lhs: &[Self], rhs: &[Self]) -> Self;
}

macro_rules! reduce {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Reduce for $ty {
            #[inline(always)]
            fn lane_fold<M: Monoid<Self>>(elements: &[Self]) -> Self {
                reduce_lanes::<M, _, _>(by_lanes::<M, $ty, { lanes_of(size_of::<$ty>()) }>(elements))
            }

            #[inline(always)]
            fn lane_sum(elements: &[Self]) -> Self {
                Self::lane_fold::<Sum>(elements)
            }

            #[inline(always)]
            fn fold_lanes<M: Monoid<Self>>(elements: &[Self], lanes: &mut [Self]) {
                lanes.copy_from_slice(&by_lanes::<M, $ty, { lanes_of(size_of::<$ty>()) }>(elements));
            }

            #[inline(always)]
            fn lane_dot(lhs: &[Self], rhs: &[Self]) -> Self {
                dot_by_lanes::<$ty, { lanes_of(size_of::<$ty>()) }>(lhs, rhs)
            }
        })*
    };
}

element_types!(numbers => reduce!);

#[inline(always)]
fn by_lanes<M: Monoid<T>, T: Number, const L: usize>(elements: &[T]) -> [T; L] {
    let (blocks, rest) = elements.as_chunks::<L>();
    if !M::IS_COMPENSATED || blocks.len() <= CHAIN_IN_LANES {
        return with_rest::<M, T, L>(chain_by_lanes::<M, T, L>(blocks), rest);
    }
    let (mut sums, mut lost, mut last) = ([T::ZERO; L], [T::ZERO; L], [T::ZERO; L]);
    for (i, blocks) in blocks.chunks(CHAIN_IN_LANES).enumerate() {
        if i > 0 {
            combine_chains::<M, T>(&mut sums, &mut lost, &last);
        }
        last = chain_by_lanes::<M, T, L>(blocks);
    }
    combine_last_chains::<M, T, L>(sums, lost, with_rest::<M, T, L>(last, rest))
}

/// The lanes of [`Reduce::lane_fold`] for elements that are computed while they are folded. The loop itself is in the
/// generated code: a closure would be compiled for no SIMD level. Only long rows have several chains. Combining
/// chains is compiled once per type.
pub struct Chains<M, T, const L: usize> {
    sums: [T; L],
    lost: [T; L],
    last: [T; L],
    /// Whether an earlier chain has been added to the sums.
    are_several: bool,
    by: PhantomData<M>,
}

impl<M: Monoid<T>, T: Number, const L: usize> Chains<M, T, L> {
    /// Lanes of no elements.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::new_without_default, reason = "for generated code")]
    pub fn new() -> Self {
        let (sums, lost, last) = ([T::ZERO; L], [T::ZERO; L], [M::NEUTRAL; L]);
        Self { sums, lost, last, are_several: false, by: PhantomData }
    }

    /// Begins a chain at block `at` of `blocks`, and returns the block before which it ends. The caller folds the
    /// chain's elements into new lanes, which start as [`Monoid::NEUTRAL`].
    #[inline(always)]
    pub fn begin(&mut self, at: usize, blocks: usize) -> usize {
        if !M::IS_COMPENSATED {
            return blocks;
        }
        if at > 0 {
            combine_chains_outlined::<M, T>(&mut self.sums, &mut self.lost, &self.last);
            self.are_several = true;
        }
        blocks.min(at + CHAIN_IN_LANES)
    }

    /// Takes the lanes of the chain that [`begin`](Self::begin) started.
    #[inline(always)]
    pub fn end(&mut self, lanes: [T; L]) {
        self.last = lanes;
    }

    /// The lanes with which the elements after the last block are combined.
    #[inline(always)]
    pub fn last(&self) -> [T; L] {
        self.last
    }

    /// Combines all elements. `last` are the lanes of the last chain.
    #[inline(always)]
    pub fn fold(&self, mut last: [T; L]) -> T {
        if self.are_several {
            combine_last_chains_outlined::<M, T>(&self.sums, &self.lost, &mut last);
        }
        reduce_lanes::<M, _, _>(last)
    }
}

#[inline(never)]
fn combine_chains_outlined<M: Monoid<T>, T: Number>(sums: &mut [T], lost: &mut [T], chains: &[T]) {
    combine_chains::<M, T>(sums, lost, chains);
}

#[inline(never)]
fn combine_last_chains_outlined<M: Monoid<T>, T: Number>(sums: &[T], lost: &[T], chains: &mut [T]) {
    for ((sum, lost), chain) in sums.iter().zip(lost).zip(chains) {
        *chain = M::combine_last_chain(*sum, *lost, *chain);
    }
}

#[inline(always)]
fn with_rest<M: Monoid<T>, T: Number, const L: usize>(mut lanes: [T; L], rest: &[T]) -> [T; L] {
    for (lane, element) in lanes.iter_mut().zip(rest) {
        *lane = M::combine(*lane, *element);
    }
    lanes
}

#[inline(always)]
fn chain_by_lanes<M: Monoid<T>, T: Number, const L: usize>(blocks: &[[T; L]]) -> [T; L] {
    let mut lanes = [M::NEUTRAL; L];
    for block in blocks {
        for lane in 0..L {
            lanes[lane] = M::combine(lanes[lane], block[lane]);
        }
    }
    lanes
}

#[inline(always)]
fn dot_by_lanes<T: Number, const L: usize>(lhs: &[T], rhs: &[T]) -> T {
    check(lhs.len() == rhs.len(), "the factors of an inner product differ in length");
    let mut lanes = [T::ZERO; L];
    let (lhs_blocks, lhs_rest) = lhs.as_chunks::<L>();
    let (rhs_blocks, rhs_rest) = rhs.as_chunks::<L>();
    for (x, y) in lhs_blocks.iter().zip(rhs_blocks) {
        for lane in 0..L {
            lanes[lane] = lanes[lane].plus(x[lane].times(y[lane]));
        }
    }
    let mut last = lanes;
    for (lane, (x, y)) in last.iter_mut().zip(lhs_rest.iter().zip(rhs_rest)) {
        *lane = lane.plus(x.times(*y));
    }
    reduce_lanes::<Sum, _, _>(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::run_portable;

    const LANES: usize = lanes_of(size_of::<f32>());

    /// The documented order, written out.
    fn by_definition(elements: &[f32]) -> f32 {
        let whole = elements.len() / LANES;
        let sum_of_lane = |lane: usize| {
            let (mut sum, mut lost, mut chain) = (0.0_f32, 0.0, 0.0);
            for (block, element) in elements.iter().skip(lane).step_by(LANES).enumerate() {
                if block > 0 && block % CHAIN_IN_LANES == 0 && block < whole {
                    let next = sum + (chain - lost);
                    (lost, sum, chain) = ((next - sum) - (chain - lost), next, 0.0);
                }
                chain += element;
            }
            sum + (chain - lost)
        };
        tree((0..LANES).map(sum_of_lane).collect())
    }

    fn tree(mut lanes: Vec<f32>) -> f32 {
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            lanes.iter_mut().zip(upper).for_each(|(lane, other)| *lane += other);
        }
        lanes[0]
    }

    fn uneven(len: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 7919) % 1013) as f32 * 0.137 - 30.0).collect()
    }

    #[test]
    fn a_sum_has_the_documented_order() {
        for len in (0..100).chain([1000, 2048, 2079, 2080, 4099, 10_000]) {
            let elements = uneven(len);
            assert_eq!(sum(&elements).to_bits(), by_definition(&elements).to_bits(), "{len}");
        }
    }

    /// The loop that generated code runs over elements that are summed while they are computed.
    fn as_they_are_made(elements: &[f32]) -> f32 {
        let (blocks, rest) = elements.as_chunks::<LANES>();
        let (mut chains, mut at) = (Chains::<Sum, f32, LANES>::new(), 0);
        while at < blocks.len() {
            let end = chains.begin(at, blocks.len());
            let mut lanes = [0.0; LANES];
            for block in &blocks[at..end] {
                lanes.iter_mut().zip(block).for_each(|(lane, element)| *lane += element);
            }
            at = end;
            chains.end(lanes);
        }
        let mut last = chains.last();
        last.iter_mut().zip(rest).for_each(|(lane, element)| *lane += element);
        chains.fold(last)
    }

    #[test]
    fn elements_are_summed_as_they_are_made_in_the_documented_order() {
        for len in (0..100).chain([1000, 2047, 2048, 2079, 2080, 4096, 4099, 10_000]) {
            // Elements of both signs: a sum as large as its chains would not show where the chains end.
            let elements: Vec<f32> =
                (0..len).map(|i| ((i * i % 10_007 * 79 % 10_007) as f32 - 5003.0) / 3.0).collect();
            assert_eq!(as_they_are_made(&elements).to_bits(), by_definition(&elements).to_bits(), "{len}");
        }
    }

    struct Dot<'a>(&'a [f32]);

    impl Kernel for Dot<'_> {
        type Output = f32;

        #[inline(always)]
        fn run(self) -> f32 {
            f32::lane_dot(self.0, self.0)
        }
    }

    #[test]
    fn an_inner_product_is_the_same_to_the_bit_at_every_level() {
        for len in (0..100).chain([4099]) {
            let elements = uneven(len);
            let squares: Vec<f32> = elements.iter().map(|x| x * x).collect();
            let mut lanes = vec![0.0; LANES];
            squares.iter().enumerate().for_each(|(i, square)| lanes[i % LANES] += square);
            let expected = tree(lanes).to_bits();
            assert_eq!(dispatch(Dot(&elements)).to_bits(), expected);
            assert_eq!(run_portable(Dot(&elements)).to_bits(), expected);
        }
    }

    #[test]
    fn sums_of_every_type() {
        for len in 0..70_i32 {
            let expected = len * (len + 1) / 2;
            let ints: Vec<i32> = (1..=len).collect();
            assert_eq!(sum(&ints), expected);
            assert_eq!(sum(&ints.iter().map(|x| i64::from(*x)).collect::<Vec<_>>()), i64::from(expected));
            assert_eq!(sum(&ints.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()), f64::from(expected));
        }
        assert_eq!(sum(&[i32::MAX, 1]), i32::MIN);
        assert_eq!(sum(&[i64::MAX, 1]), i64::MIN);
    }

    #[test]
    fn lanes_of_columns_add_up_as_a_tree_each() {
        assert_eq!(combine_columns::<Sum, f32, 3, 3>([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        let lanes = [1e30_f32, 1.0, 1.0, 10.0, -1e30, 100.0, 1.0, 1000.0];
        assert_eq!(combine_columns::<Sum, f32, 8, 2>(lanes), [2.0, 1111.0]);
    }

    #[test]
    fn lanes_add_up_as_a_tree() {
        assert_eq!(reduce_lanes::<Sum, _, _>([1.0_f32]), 1.0);
        assert_eq!(reduce_lanes::<Sum, _, _>([1e30_f32, 1.0, -1e30, 1.0]), 2.0);
    }
}
