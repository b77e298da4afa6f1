//! Transforms of `2 m` real numbers by one of `m` complex numbers, whose parts are the even and the odd elements.
//!
//! Source: W. H. Press et al., *Numerical Recipes*, 3rd edition, section 12.3.2.

use std::f64::consts::PI;

use rustfft::FftNum;

use crate::kernels::memory::Storable;
use crate::simd::Kernel;

/// The elements that are combined at once. More lanes do not fit the registers: `cargo bench -p mind-benches --bench
/// fourier -- rfft` measures them.
const LANES: usize = 8;

/// The factors `-i exp(-2πi k / 2m) / 2` for each `k` from 1 to below `m / 2`: [`LANES`] real parts, as many imaginary
/// parts, and so on; then pairs.
pub(super) fn factors<T: FftNum>(m: usize) -> Vec<T> {
    let real = |number: f64| T::from_f64(number).expect("floats are converted from f64");
    let factor = |k: usize| {
        let (sin, cos) = (PI * k as f64 / m as f64).sin_cos();
        [real(-0.5 * sin), real(-0.5 * cos)]
    };
    let all: Vec<[T; 2]> = (1..=pairs(m)).map(factor).collect();
    let (chunks, rest) = all.as_chunks::<LANES>();
    let chunks = chunks.iter().flat_map(|chunk| [0, 1].map(|part| chunk.map(|factor| factor[part])));
    chunks.flatten().chain(rest.iter().copied().flatten()).collect()
}

/// The number of pairs of different elements `k` and `m - k`.
const fn pairs(m: usize) -> usize {
    (m - 1) / 2
}

/// A direction of the transform.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the transform of `m` complex numbers to the first half of that of `2 m` real numbers.
    Forward,
    /// Back, from the first half to the numbers whose inverse transform is the `2 m` real numbers.
    Back,
}

/// Combines the elements `k` and `m - k` of `m` complex numbers, for all `k` from 1 to `m - 1`. Products and sums are
/// rounded one by one, so each SIMD level gives the same bits.
pub(super) struct Combine<'a, T> {
    pub(super) direction: Direction,
    pub(super) factors: &'a [T],
    /// The numbers from the second one on.
    pub(super) elements: &'a mut [T],
}

impl<T: FftNum + Storable> Kernel for Combine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { direction, factors, elements } = self;
        let sign = if direction == Direction::Forward { T::one() } else { -T::one() };
        let floats = 2 * pairs(elements.len() / 2 + 1);
        let (low, rest) = elements.split_at_mut(floats);
        let (middle, high) = rest.split_at_mut(rest.len() - floats);
        // Of an even number of elements, the middle one is its own pair.
        if let [_, imaginary] = middle {
            *imaginary = -*imaginary;
        }
        let (low, low_rest) = low.as_chunks_mut::<{ 2 * LANES }>();
        let (high_rest, high) = high.as_rchunks_mut::<{ 2 * LANES }>();
        let (in_chunks, rest) = factors.split_at(low.len() * 2 * LANES);
        let factors = in_chunks.as_chunks::<{ 2 * LANES }>().0;
        for ((low, high), factors) in low.iter_mut().zip(high.iter_mut().rev()).zip(factors) {
            combine_chunk(sign, factors, low, high);
        }
        let pairs = low_rest.as_chunks_mut().0.iter_mut().zip(high_rest.as_chunks_mut().0.iter_mut().rev());
        for ((low, high), factor) in pairs.zip(rest.as_chunks::<2>().0) {
            (*low, *high) = combined(sign, *factor, *low, *high);
        }
    }
}

/// Combines [`LANES`] elements with those at the other end, which are in descending order.
#[inline(always)]
fn combine_chunk<T: FftNum>(
    sign: T,
    factors: &[T; 2 * LANES],
    low: &mut [T; 2 * LANES],
    high: &mut [T; 2 * LANES],
) {
    let zeros = [T::zero(); LANES];
    let (mut a, mut b, mut x, mut y) = ([zeros; 2], [zeros; 2], [zeros; 2], [zeros; 2]);
    for lane in 0..LANES {
        for part in 0..2 {
            a[part][lane] = low[2 * lane + part];
            b[part][lane] = high[2 * (LANES - 1 - lane) + part];
        }
    }
    for lane in 0..LANES {
        let factor = [factors[lane], factors[LANES + lane]];
        let both = combined(sign, factor, [a[0][lane], a[1][lane]], [b[0][lane], b[1][lane]]);
        ([x[0][lane], x[1][lane]], [y[0][lane], y[1][lane]]) = both;
    }
    for lane in 0..LANES {
        for part in 0..2 {
            low[2 * lane + part] = x[part][lane];
            high[2 * (LANES - 1 - lane) + part] = y[part][lane];
        }
    }
}

/// The elements `k` and `m - k`, from the same elements `a` and `b` before. With `e` and `d` for the half of the sum of
/// `a` and the conjugate of `b`, and for their difference, they are `e + f d` and the conjugate of `e - f d`. The
/// imaginary part of the factor `f` is multiplied by `sign`.
#[inline(always)]
fn combined<T: FftNum>(sign: T, factor: [T; 2], a: [T; 2], b: [T; 2]) -> ([T; 2], [T; 2]) {
    let half = T::one() / (T::one() + T::one());
    let (re, im) = (factor[0], sign * factor[1]);
    let even = [half * (a[0] + b[0]), half * (a[1] - b[1])];
    let odd = [a[0] - b[0], a[1] + b[1]];
    let turned = [re * odd[0] - im * odd[1], re * odd[1] + im * odd[0]];
    ([even[0] + turned[0], even[1] + turned[1]], [even[0] - turned[0], turned[1] - even[1]])
}
