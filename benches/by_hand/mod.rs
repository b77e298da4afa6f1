//! Loops fused by hand for a known formula, shape and processor:
//!
//! - Each row is read from memory once.
//! - Sums use enough chains to hide the latency of an addition.
//! - All loops are compiled for the SIMD level in use, and call the same elementary functions as the compiler's loops.
//! - They run on one thread and write to memory that is already allocated.

use mind_rt::private::{Kernel, MultiplyAdd, Separate, dispatch};

/// The number of features in a row, and the number of rows.
pub const WIDTH: usize = 1024;

/// The number of chains of a sum: enough vectors at any level.
const CHAINS: usize = 64;

const EPS: f32 = 1e-5;

/// The function of a row.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    Softmax,
    LogSoftmax,
    LayerNorm { scale: &'a [f32], bias: &'a [f32] },
    RmsNorm { scale: &'a [f32] },
}

/// Applies a function to each row.
pub fn rows(which: Rows<'_>, x: &[f32], out: &mut [f32]) {
    dispatch(EachRow { which, x, out });
}

/// `x · Φ(x)`.
pub fn gelu(x: &[f32], out: &mut [f32]) {
    dispatch(Gelu { x, out });
}

/// The mean over rows of minus the log softmax at the row's target.
pub fn cross_entropy(x: &[f32], target: &[i64]) -> f32 {
    dispatch(CrossEntropy { x, target })
}

/// One step of Adam.
pub fn adam(w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], t: f32, rate: f32) {
    dispatch(Adam { w, g, m, v, t, rate });
}

struct EachRow<'a> {
    which: Rows<'a>,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for EachRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_by::<Separate>();
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { which, x, out } = self;
        for (x, out) in x.chunks_exact(WIDTH).zip(out.chunks_exact_mut(WIDTH)) {
            match which {
                Rows::Softmax => {
                    let top = fold(x, f32::NEG_INFINITY, larger, |x| x);
                    x.iter().zip(&mut *out).for_each(|(x, out)| *out = A::exp(x - top));
                    let scale = 1.0 / sum(out, |x| x);
                    out.iter_mut().for_each(|out| *out *= scale);
                }
                Rows::LogSoftmax => {
                    let less = log_of_sum::<A>(x);
                    x.iter().zip(out).for_each(|(x, out)| *out = x - less);
                }
                Rows::LayerNorm { scale, bias } => {
                    let mean = sum(x, |x| x) / WIDTH as f32;
                    let square = sum(x, |x| (x - mean) * (x - mean)) / WIDTH as f32;
                    let factor = 1.0 / (square + EPS).sqrt();
                    for (((x, out), scale), bias) in x.iter().zip(out).zip(scale).zip(bias) {
                        *out = A::multiply_add((x - mean) * factor, *scale, *bias);
                    }
                }
                Rows::RmsNorm { scale } => {
                    let square = sum(x, |x| x * x) / WIDTH as f32;
                    let factor = 1.0 / (square + EPS).sqrt();
                    x.iter().zip(out).zip(scale).for_each(|((x, out), scale)| *out = x * factor * scale);
                }
            }
        }
    }
}

#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// The logarithm of the sum of the exponentials of a row.
#[inline(always)]
fn log_of_sum<A: MultiplyAdd>(x: &[f32]) -> f32 {
    let top = fold(x, f32::NEG_INFINITY, larger, |x| x);
    top + A::ln(sum(x, |x| A::exp(x - top)))
}

/// The sum of `of` over all elements.
#[inline(always)]
fn sum(x: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    fold(x, 0.0, |a, b| a + b, of)
}

/// Combines the results of `of` over all elements, in chains.
#[inline(always)]
fn fold(x: &[f32], first: f32, combine: impl Fn(f32, f32) -> f32, of: impl Fn(f32) -> f32) -> f32 {
    let mut chains = [first; CHAINS];
    for part in x.chunks_exact(CHAINS) {
        for (chain, x) in chains.iter_mut().zip(part) {
            *chain = combine(*chain, of(*x));
        }
    }
    chains.into_iter().fold(first, combine)
}

struct Gelu<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_by::<Separate>();
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let half_root = 0.5_f32.sqrt();
        for (x, out) in self.x.iter().zip(self.out) {
            *out = 0.5 * x * A::erfc(-half_root * x);
        }
    }
}

struct CrossEntropy<'a> {
    x: &'a [f32],
    target: &'a [i64],
}

impl Kernel for CrossEntropy<'_> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        self.run_by::<Separate>()
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) -> f32 {
        let mut sum = 0.0;
        // A closure would not be compiled for the level, so this is a loop.
        for (x, target) in self.x.chunks_exact(WIDTH).zip(self.target) {
            sum += log_of_sum::<A>(x) - x[*target as usize];
        }
        sum / self.target.len() as f32
    }
}

struct Adam<'a> {
    w: &'a mut [f32],
    g: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    t: f32,
    rate: f32,
}

impl Kernel for Adam<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { w, g, m, v, t, rate } = self;
        let (b1, b2) = (0.9_f32, 0.999_f32);
        let (m_scale, v_scale) = (1.0 - b1.powf(t), 1.0 - b2.powf(t));
        let (rate, root) = (rate / m_scale, 1.0 / v_scale.sqrt());
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            *m = b1 * *m + (1.0 - b1) * g;
            *v = b2 * *v + (1.0 - b2) * g * g;
            *w -= rate * *m / ((*v).sqrt() * root + 1e-8);
        }
    }
}
