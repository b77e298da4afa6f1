//! Reductions over inner axes with the loops around them, a few rows at a time.
//!
//! An expansion provides a [`Block`], which computes some rows of all steps of a group: elementwise loops over these
//! rows, and reductions of each row. Values that only the group reads are held for these rows alone, so they stay in
//! the fastest cache. The results equal those of separate steps to the bit, since the functions here also reduce whole
//! tensors. Threads share the rows. Each part of the rows has separate memory for the held values.

use mind_shape::Type;

use super::{
    fused::{first_of, halves},
    number::Number,
};
use crate::{
    kernels::{limit::limit, math::MultiplyAdd},
    parallel::{self, Split},
    simd::{Kernel, dispatch},
};

pub use super::reduce::rows::*;
pub use crate::kernels::{
    monoid::{Max, Min, Monoid, Product, Sum},
    reduce::Chains,
};

/// The largest number of rows that are computed at a time.
pub const ROWS: usize = limit(32, 3);
/// The largest number of elements that are computed at a time, unless one row has more.
const ELEMENTS: usize = limit(2048, 8);

/// Rows of fewer bytes are folded several at a time, by [`sum`] and similar functions.
const LONG: usize = limit(512, 64);

/// Whether rows of `len` elements are folded as they are computed, rather than from memory.
#[inline(always)]
#[must_use]
pub const fn are_long<T>(len: usize) -> bool {
    len >= LONG / size_of::<T>()
}

/// The computation of some rows in a group of steps, from `N` tensors and `S` single numbers. The outputs are `M`
/// tensors, and `K` vectors with one number per row.
pub trait Block<T, const N: usize, const S: usize, const M: usize, const K: usize>: Copy + Sync {
    /// Computes `rows` rows of `len` elements each. Row `i` of an input begins at `i` times the number beside the
    /// input. Implementations must be `#[inline(always)]`.
    fn block<A: MultiplyAdd>(
        self,
        rows: usize,
        len: usize,
        inputs: [(&[T], usize); N],
        scalars: [T; S],
        elements: [&mut [T]; M],
        numbers: [&mut [T]; K],
    );
}

/// The layout of `N` tensors along the rows of a shape, whose extents are at least 1.
#[derive(Clone, Copy)]
pub struct Rows<const N: usize> {
    /// The number of rows.
    rows: usize,
    /// The number of elements in a row.
    len: usize,
    /// The number of rows computed at a time.
    at_once: usize,
    /// The largest number of parts into which threads split the rows.
    parts: usize,
    forms: [RowLayout; N],
}

/// The layout of a tensor along rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowLayout {
    /// One row for each row.
    Whole,
    /// A single row, the same for all rows.
    Row,
    /// One number for each row.
    Number,
    /// A single number.
    Single,
}

impl<const N: usize> Rows<N> {
    /// The rows along `axes`, or `None` if the shapes do not fit:
    ///
    /// - `axes` must be the inner axes of the shape that all nodes in `of_one_shape` have.
    /// - Each of `inputs` must be a tensor of this shape, one row, one number per row or a single number.
    /// - Each of `scalars` must be a single number.
    pub const fn new(
        nodes: &[Type],
        axes: &[i64],
        of_one_shape: &[usize],
        inputs: [usize; N],
        scalars: &[usize],
    ) -> Option<Self> {
        let space = &nodes[of_one_shape[0]];
        // Rustc may evaluate this for unknown extents where the result is not used.
        if !super::all_static(nodes)
            || !super::have_one_shape(nodes, of_one_shape, of_one_shape[0])
            || !are_inner(axes, space.rank())
        {
            return None;
        }
        let mut i = 0;
        while i < scalars.len() {
            if product(&nodes[scalars[i]], 0) != 1 {
                return None;
            }
            i += 1;
        }
        let len = product(space, space.rank() - axes.len());
        let rows = product(space, 0) / len;
        let mut forms = [RowLayout::Whole; N];
        let mut n = 0;
        while n < N {
            match form(&nodes[inputs[n]], (rows, len), axes.len()) {
                Some(form) => forms[n] = form,
                None => return None,
            }
            n += 1;
        }
        let most = if rows < ROWS { rows } else { ROWS };
        let at_once = match ELEMENTS / len {
            0 => 1,
            held if held < most => held,
            _ => most,
        };
        Some(Self { rows, len, at_once, parts: 1, forms })
    }

    /// The same rows, split into as many parts as pay on several threads if an element costs `cost` additions.
    #[must_use]
    pub fn shared(self, cost: usize) -> Self {
        Self { parts: parallel::parts(self.blocks(), self.block(), cost), ..self }
    }

    /// The number of elements that [`run`] needs for each tensor that it holds only for the rows being computed.
    pub fn held(&self) -> usize {
        self.parts * self.block()
    }

    /// The number of elements that [`run`] needs for the tensors that it expands along rows.
    pub fn spread(&self) -> usize {
        self.parts * self.spread_in_part()
    }

    fn block(&self) -> usize {
        self.at_once * self.len
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.at_once)
    }

    fn spread_in_part(&self) -> usize {
        (0..N).map(|n| self.spread_of(n)).sum()
    }

    fn spread_of(&self, n: usize) -> usize {
        match self.forms[n] {
            RowLayout::Number | RowLayout::Single => self.block(),
            RowLayout::Whole | RowLayout::Row => 0,
        }
    }
}

/// The layout of a tensor that broadcasts to `rows` rows of `len` elements, which span `axes` axes. `None` if the
/// layout is not one of [`RowLayout`].
const fn form(ty: &Type, (rows, len): (usize, usize), axes: usize) -> Option<RowLayout> {
    let count = product(ty, 0);
    let along = product(ty, ty.rank().saturating_sub(axes));
    if count == rows * len {
        Some(RowLayout::Whole)
    } else if count == 1 {
        Some(RowLayout::Single)
    } else if count == len && along == count {
        Some(RowLayout::Row)
    } else if count == rows && along == 1 {
        Some(RowLayout::Number)
    } else {
        None
    }
}

/// Whether `axes` are the last axes, in any order. No axis may occur twice.
const fn are_inner(axes: &[i64], rank: usize) -> bool {
    let mut i = 0;
    while i < axes.len() {
        let axis = if axes[i] < 0 { axes[i] + rank as i64 } else { axes[i] };
        if axis < (rank - axes.len()) as i64 {
            return false;
        }
        i += 1;
    }
    true
}

/// The product of the extents from an axis on.
const fn product(ty: &Type, from: usize) -> usize {
    let (mut count, mut axis) = (1, from);
    while axis < ty.rank() {
        count *= ty.extent(axis) as usize;
        axis += 1;
    }
    count
}

/// The memory in which a group stores the elements of an output.
pub enum Target<'a, T> {
    /// Memory for all rows.
    Whole(&'a mut [T]),
    /// Memory for the rows being computed, of [`Rows::held`] elements.
    Block(&'a mut [T]),
}

/// Runs a block on all rows. `spread` has room for [`Rows::spread`] elements.
pub fn run<
    T: Number,
    B: Block<T, N, S, M, K>,
    const N: usize,
    const S: usize,
    const M: usize,
    const K: usize,
>(
    block: B,
    rows: &Rows<N>,
    inputs: [&[T]; N],
    scalars: [T; S],
    elements: [Target<'_, T>; M],
    numbers: [&mut [T]; K],
    spread: &mut [T],
) {
    // Only the loops of the block are instantiated for it, once per SIMD level.
    let each: Each<'_, T, N, M, K> = &|rows, len, inputs, elements, numbers| {
        dispatch(BlockKernel { block, rows, len, inputs, scalars, elements, numbers });
    };
    in_parts(rows, inputs, elements, numbers, spread, each);
}

struct BlockKernel<'a, T, B, const N: usize, const S: usize, const M: usize, const K: usize> {
    block: B,
    rows: usize,
    len: usize,
    inputs: [(&'a [T], usize); N],
    scalars: [T; S],
    elements: [&'a mut [T]; M],
    numbers: [&'a mut [T]; K],
}

impl<T: Number, B: Block<T, N, S, M, K>, const N: usize, const S: usize, const M: usize, const K: usize>
    Kernel for BlockKernel<'_, T, B, N, S, M, K>
{
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { block, rows, len, inputs, scalars, elements, numbers } = self;
        block.block::<A>(rows, len, inputs, scalars, elements, numbers);
    }
}

type Each<'f, T, const N: usize, const M: usize, const K: usize> =
    &'f (dyn Fn(usize, usize, [(&[T], usize); N], [&mut [T]; M], [&mut [T]; K]) + Sync);

/// Calls `each` with some rows at a time, on several threads.
#[inline(never)]
fn in_parts<T: Number, const N: usize, const M: usize, const K: usize>(
    all: &Rows<N>,
    inputs: [&[T]; N],
    elements: [Target<'_, T>; M],
    numbers: [&mut [T]; K],
    spread: &mut [T],
    each: Each<'_, T, N, M, K>,
) {
    let part = RowBlocks { all, first: 0, rows: all.rows, inputs, elements, numbers, spread, each };
    parallel::run_in(all.parts, part, all.blocks());
}

/// The rows from `first` on: whole blocks, of which the last may be shorter.
struct RowBlocks<'a, 'e, T, const N: usize, const M: usize, const K: usize> {
    all: &'a Rows<N>,
    first: usize,
    rows: usize,
    inputs: [&'a [T]; N],
    /// The outputs of this part.
    elements: [Target<'a, T>; M],
    numbers: [&'a mut [T]; K],
    spread: &'a mut [T],
    each: Each<'e, T, N, M, K>,
}

impl<T: Number, const N: usize, const M: usize, const K: usize> Kernel for RowBlocks<'_, '_, T, N, M, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // The loops over elements are dispatched separately.
        self.walk();
    }
}

impl<T: Number, const N: usize, const M: usize, const K: usize> Split for RowBlocks<'_, '_, T, N, M, K> {
    fn split(self, blocks: usize) -> (Self, Self) {
        let Self { all, first, rows, inputs, mut elements, numbers, spread, each } = self;
        let at = blocks * all.at_once;
        // The number of parts before the cut, each of which has separate memory.
        let parts = blocks / parallel::steps_in(all.parts, all.blocks());
        let own = elements.each_mut().map(|target| match target {
            Target::Whole(rows) => Target::Whole(first_of(rows, at * all.len)),
            Target::Block(held) => Target::Block(first_of(held, parts * all.block())),
        });
        let (own_numbers, numbers) = halves(numbers, at);
        let (own_spread, spread) = spread.split_at_mut(parts * all.spread_in_part());
        (
            Self {
                all,
                first,
                rows: at,
                inputs,
                elements: own,
                numbers: own_numbers,
                spread: own_spread,
                each,
            },
            Self { all, first: first + at, rows: rows - at, inputs, elements, numbers, spread, each },
        )
    }
}

impl<T: Number, const N: usize, const M: usize, const K: usize> RowBlocks<'_, '_, T, N, M, K> {
    #[inline(never)]
    fn walk(self) {
        let Self { all, rows, inputs, mut elements, mut numbers, mut spread, .. } = self;
        let Rows { len, at_once, forms, .. } = *all;
        let tiles: [&mut [T]; N] = std::array::from_fn(|n| first_of(&mut spread, all.spread_of(n)));
        for n in (0..N).filter(|n| forms[*n] == RowLayout::Single) {
            T::fill(tiles[n], inputs[n][0]);
        }
        for done in (0..rows).step_by(at_once) {
            let (first, count) = (self.first + done, at_once.min(rows - done));
            for n in (0..N).filter(|n| forms[*n] == RowLayout::Number) {
                for (i, row) in tiles[n].chunks_exact_mut(len).take(count).enumerate() {
                    T::fill(row, inputs[n][first + i]);
                }
            }
            let inputs = std::array::from_fn(|n| match forms[n] {
                RowLayout::Whole => (&inputs[n][first * len..][..count * len], len),
                RowLayout::Row => (&inputs[n][..len], 0),
                RowLayout::Number | RowLayout::Single => (&tiles[n][..count * len], len),
            });
            let elements = elements.each_mut().map(|target| match target {
                Target::Whole(all) => &mut all[done * len..][..count * len],
                Target::Block(some) => &mut some[..count * len],
            });
            let numbers = numbers.each_mut().map(|all| &mut all[done..][..count]);
            (self.each)(count, len, inputs, elements, numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::tests::Threads;
    use mind_shape::DType;

    /// `h = (x + row + number + single) * factor`. Stores the sum of each row, and `h` minus that sum.
    #[derive(Clone, Copy)]
    struct Centred;

    impl<T: Number> Block<T, 4, 1, 2, 1> for Centred {
        fn block<A: MultiplyAdd>(
            self,
            rows: usize,
            len: usize,
            inputs: [(&[T], usize); 4],
            [factor]: [T; 1],
            [h, less]: [&mut [T]; 2],
            [total]: [&mut [T]; 1],
        ) {
            assert!(rows <= ROWS && (rows == 1 || rows * len <= ELEMENTS));
            for (i, j) in (0..rows).flat_map(|i| (0..len).map(move |j| (i, j))) {
                let terms = inputs.map(|(elements, row)| elements[i * row + j]);
                h[i * len + j] = terms.into_iter().fold(T::ZERO, T::plus).times(factor);
            }
            sum(&h[..rows * len], len, total);
            for (i, j) in (0..rows).flat_map(|i| (0..len).map(move |j| (i, j))) {
                less[i * len + j] = h[i * len + j].minus(total[i]);
            }
        }
    }

    fn ty(dims: &[usize]) -> Type {
        let dims: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
        Type::new(DType::I64, &dims)
    }

    #[test]
    fn blocks_see_every_row_with_what_lies_along_it() {
        for (rows, len) in [(1, 1), (1, 5), (6, 1), (3, 4), (100, 9), (65, 64), (5, ELEMENTS + 3)] {
            blocks_see(rows, len);
        }
    }

    #[test]
    fn threads_see_every_row_with_what_lies_along_it() {
        for threads in [2, 7, 128] {
            let _held = Threads::set(threads);
            for (rows, len) in [(70_000, 1), (3001, 50), (65, 1100), (5, 15_000), (1, 70_000)] {
                let parts = blocks_see(rows, len);
                assert!((threads.min(rows).min(60)..=threads).contains(&parts), "{parts} of {rows}x{len}");
            }
        }
    }

    /// Checks all results. Returns the number of parts in which they were computed.
    fn blocks_see(rows: usize, len: usize) -> usize {
        let nodes = [ty(&[rows, len]), ty(&[len]), ty(&[rows, 1]), ty(&[]), ty(&[1, 1])];
        let sizes = [rows * len, len, rows, 1, 1];
        let data: Vec<Vec<i64>> = sizes
            .iter()
            .enumerate()
            .map(|(n, size)| (0..*size as i64).map(|i| i * i % 1009 + n as i64).collect())
            .collect();
        let along =
            Rows::new(&nodes, &[-1], &[0], [0, 1, 2, 3], &[4]).expect("they lie along rows").shared(2);
        let (mut h, mut less) = (vec![-1; along.held()], vec![-1; rows * len]);
        let (mut total, mut spread) = (vec![-1; rows], vec![-1; along.spread()]);
        let elements = [Target::Block(&mut h), Target::Whole(&mut less)];
        let inputs = [0, 1, 2, 3].map(|n| &data[n][..]);
        run(Centred, &along, inputs, [data[4][0]], elements, [&mut total], &mut spread);
        for i in 0..rows {
            let h: Vec<i64> = (0..len)
                .map(|j| (data[0][i * len + j] + data[1][j] + data[2][i] + data[3][0]) * data[4][0])
                .collect();
            assert_eq!(total[i], h.iter().sum::<i64>(), "row {i} of {rows}x{len}");
            (0..len).for_each(|j| assert_eq!(less[i * len + j], h[j] - total[i], "{rows}x{len}"));
        }
        along.parts
    }

    #[test]
    fn shapes_are_those_of_rows_if_inner_axes_are_reduced() {
        let nodes =
            [ty(&[2, 3, 4]), ty(&[3, 4]), ty(&[3, 1]), ty(&[2, 1, 1]), ty(&[2, 3, 1]), ty(&[2, 1, 4])];
        let rows = |axes: &[i64], input: usize, scalars: &[usize]| {
            Rows::new(&nodes, axes, &[0], [input], scalars).map(|rows| (rows.rows, rows.len))
        };
        assert_eq!(rows(&[-1], 0, &[]), Some((6, 4)));
        assert_eq!(rows(&[2, 1], 1, &[]), Some((2, 12)));
        assert_eq!(rows(&[1, 2], 3, &[]), Some((2, 12)));
        assert_eq!(rows(&[2], 4, &[]), Some((6, 4)));
        assert_eq!(rows(&[0, 1, 2], 0, &[]), Some((1, 24)));
        // Outer axes, inputs that repeat in another way, a scalar with several elements, and another shape.
        assert_eq!(rows(&[0], 0, &[]), None);
        assert_eq!(rows(&[0, 2], 0, &[]), None);
        assert_eq!(rows(&[2], 1, &[]), None);
        assert_eq!(rows(&[2], 5, &[]), None);
        assert_eq!(rows(&[1, 2], 2, &[]), None);
        assert_eq!(rows(&[2], 0, &[3]), None);
        assert!(Rows::new(&nodes, &[2], &[0, 1], [0], &[]).is_none());
        let unknown = [Type::new(DType::I64, &[mind_shape::UNKNOWN, 4])];
        assert!(Rows::new(&unknown, &[1], &[0], [0], &[]).is_none());
    }
}
