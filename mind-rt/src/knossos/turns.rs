//! Loops whose turns compute Floats from Floats. They are written once here and compiled for the machine's SIMD
//! vectors. A turn is one iteration.

use super::number::Real;
use crate::{
    kernels::{math::MultiplyAdd, monoid::Sum, reduce::reduce_lanes},
    simd::{Kernel, dispatch, run_portable},
};

/// The number of lanes in a sum over turns.
const LANES: usize = 16;

/// The computation of a turn. It reads `X` elements. It reads and replaces `Y` elements. It computes the terms of `S`
/// sums.
pub trait Turn<T, const X: usize, const Y: usize, const S: usize> {
    /// The largest number of turns that run without dispatch, since dispatch would take longer.
    const FEW: usize;

    /// Computes the new elements and the terms. Implementations should be `#[inline(always)]`.
    fn turn<A: MultiplyAdd>(&self, x: [T; X], y: [T; Y]) -> ([T; Y], [T; S]);
}

/// Runs `count` turns over rows of `count` elements. Returns the sums; a sum of no turns is -0.
///
/// Turn `i` adds to lane `i % 16` of each sum. Each lane is summed in order, then the lanes are combined as a tree. The
/// order depends on the count alone.
///
/// # Panics
/// If a row has fewer than `count` elements, which is an internal error.
#[inline(always)]
pub fn turns<T, F, const X: usize, const Y: usize, const S: usize>(
    count: usize,
    x: [&[T]; X],
    y: [&mut [T]; Y],
    turn: F,
) -> [T; S]
where
    T: Real,
    F: Turn<T, X, Y, S>,
{
    if count <= F::FEW {
        return run_portable(Turns { count, x, y, turn });
    }
    dispatch(Turns { count, x, y, turn })
}

struct Turns<'a, T, F, const X: usize, const Y: usize, const S: usize> {
    count: usize,
    x: [&'a [T]; X],
    y: [&'a mut [T]; Y],
    turn: F,
}

impl<T: Real, F: Turn<T, X, Y, S>, const X: usize, const Y: usize, const S: usize> Kernel
    for Turns<'_, T, F, X, Y, S>
{
    type Output = [T; S];

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) -> [T; S] {
        let Self { count, x, y, turn } = self;
        assert!(x.iter().all(|row| row.len() >= count), "the caller looked up as much");
        assert!(y.iter().all(|row| row.len() >= count), "the caller looked up as much");
        // Lengths are only checked, since an array's `map` to shorter slices would put the slices into memory. A single
        // pass that sums and writes would not be vectorised. Sums come first, since they read elements that are then
        // replaced.
        let sums = if const { S == 0 } { [T::ZERO; S] } else { sum::<A, _, _, X, Y, S>(count, x, &y, &turn) };
        if const { Y > 0 } {
            write::<A, _, _, X, Y, S>(count, x, y, &turn);
        }
        sums
    }
}

#[inline(always)]
fn write<A, T, F, const X: usize, const Y: usize, const S: usize>(
    count: usize,
    x: [&[T]; X],
    y: [&mut [T]; Y],
    turn: &F,
) where
    A: MultiplyAdd,
    T: Real,
    F: Turn<T, X, Y, S>,
{
    for i in 0..count {
        let (mut read, mut there) = ([T::ZERO; X], [T::ZERO; Y]);
        for k in 0..X {
            read[k] = x[k][i];
        }
        for k in 0..Y {
            there[k] = y[k][i];
        }
        let (next, _) = turn.turn::<A>(read, there);
        for k in 0..Y {
            y[k][i] = next[k];
        }
    }
}

#[inline(always)]
fn sum<A, T, F, const X: usize, const Y: usize, const S: usize>(
    count: usize,
    x: [&[T]; X],
    y: &[&mut [T]; Y],
    turn: &F,
) -> [T; S]
where
    A: MultiplyAdd,
    T: Real,
    F: Turn<T, X, Y, S>,
{
    // -0 leaves every number unchanged when it is added, including the sign of a zero.
    let mut lanes = [[T::rounded(-0.0); LANES]; S];
    let y_rows: [&[T]; Y] = std::array::from_fn(|k| &y[k][..count]);
    for block in 0..count / LANES {
        let x_block = x.map(|row| &row.as_chunks::<LANES>().0[block]);
        let y_block = y_rows.map(|row| &row.as_chunks::<LANES>().0[block]);
        for lane in 0..LANES {
            let terms = terms::<A, _, _, X, Y, S>(turn, |k| x_block[k][lane], |k| y_block[k][lane]);
            for s in 0..S {
                lanes[s][lane] = lanes[s][lane].plus(terms[s]);
            }
        }
    }
    // A copy, since an array that is also indexed by a variable would stay in memory in the loop above.
    let mut last = lanes;
    let done = count / LANES * LANES;
    for lane in 0..count - done {
        let terms = terms::<A, _, _, X, Y, S>(turn, |k| x[k][done + lane], |k| y_rows[k][done + lane]);
        for s in 0..S {
            last[s][lane] = last[s][lane].plus(terms[s]);
        }
    }
    last.map(reduce_lanes::<Sum, _, _>)
}

/// The terms that one turn adds to the sums.
#[inline(always)]
fn terms<A, T, F, const X: usize, const Y: usize, const S: usize>(
    turn: &F,
    x: impl Fn(usize) -> T,
    y: impl Fn(usize) -> T,
) -> [T; S]
where
    A: MultiplyAdd,
    T: Real,
    F: Turn<T, X, Y, S>,
{
    turn.turn::<A>(std::array::from_fn(x), std::array::from_fn(y)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scales elements in place, stores a difference, and sums both.
    struct Both(f64);

    impl Turn<f64, 2, 2, 2> for Both {
        const FEW: usize = 32;

        #[inline(always)]
        fn turn<A: MultiplyAdd>(&self, [a, b]: [f64; 2], [there, _]: [f64; 2]) -> ([f64; 2], [f64; 2]) {
            let (scaled, less) = (there * self.0, a - b);
            ([scaled, less], [scaled, less])
        }
    }

    struct Double;

    impl Turn<f64, 1, 1, 0> for Double {
        const FEW: usize = 8;

        #[inline(always)]
        fn turn<A: MultiplyAdd>(&self, [x]: [f64; 1], _: [f64; 1]) -> ([f64; 1], [f64; 0]) {
            ([x + x], [])
        }
    }

    #[test]
    fn turns_of_every_count_read_write_and_sum() {
        for count in (0..70).chain([1000]) {
            let a: Vec<f64> = (0..count).map(|i| i as f64).collect();
            let b = vec![1.0; count];
            let (mut scaled, mut less) = (a.clone(), vec![f64::NAN; count]);
            let [of_scaled, of_less] = turns(count, [&a, &b], [&mut scaled, &mut less], Both(3.0));
            assert!(scaled.iter().zip(&a).all(|(scaled, a)| *scaled == 3.0 * a));
            assert!(less.iter().zip(&a).all(|(less, a)| *less == a - 1.0));
            let sum: f64 = a.iter().sum();
            assert_eq!((of_scaled, of_less), (3.0 * sum, sum - count as f64));
            turns(count, [&a], [&mut less], Double);
            assert!(less.iter().zip(&a).all(|(less, a)| *less == 2.0 * a));
        }
    }

    #[test]
    fn sums_of_zeros_keep_their_sign() {
        for count in [0, 1, 15, 16, 40] {
            let zeros = vec![-0.0; count];
            let [_, sum] =
                turns(count, [&zeros, &zeros], [&mut zeros.clone(), &mut zeros.clone()], Both(1.0));
            assert_eq!(sum, 0.0);
            let [sum, _] =
                turns(count, [&zeros, &zeros], [&mut zeros.clone(), &mut zeros.clone()], Both(1.0));
            assert!(sum.is_sign_negative(), "{count}");
        }
    }
}
