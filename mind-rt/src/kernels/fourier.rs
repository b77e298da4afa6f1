//! Fourier transforms of rows, by the crate rustfft.
//!
//! A complex number is a pair of floats. All rows of a call use one plan, which holds the tables for a length. Threads
//! divide the rows. Each row is transformed by itself, so results have the same bits with any number of threads.

mod halves;

use std::{cell::RefCell, sync::Arc};

use rustfft::{Fft, FftDirection, FftNum, FftPlanner, num_complex::Complex};

use halves::{Combine, Direction};

use super::{check, memory::Storable};
use crate::{
    parallel::{self, Split},
    simd::{Kernel, dispatch},
    workspace::{carve, slot_bytes, with_workspace},
};

/// The transforms of an element type, compiled once and not for each program.
#[allow(private_bounds, reason = "sealed")]
pub trait Fourier: Real {
    /// Writes the transforms of rows of `n` complex numbers, with positive exponents if `inverse`.
    ///
    /// # Panics
    /// As an internal error, if a slice has the wrong length.
    fn fft(inverse: bool, n: usize, x: &[Self], out: &mut [Self]);

    /// Writes the elements `0` to `n / 2` of the transforms of rows of `n` real numbers.
    ///
    /// # Panics
    /// As [`fft`](Self::fft).
    fn real_fft(n: usize, x: &[Self], out: &mut [Self]);

    /// Writes rows of `n` real numbers: the transposed map of [`real_fft`](Self::real_fft).
    ///
    /// # Panics
    /// As [`fft`](Self::fft).
    fn real_fft_grad(n: usize, y: &[Self], out: &mut [Self]);
}

/// The number of plans that a thread keeps for each element type.
const KEPT: usize = 16;

/// A float with the plans that the thread has used, the last one first.
trait Real: FftNum + Storable {
    /// Calls `f` with the plans of this thread.
    fn with_plans<R>(f: impl FnOnce(&mut Vec<(Task, Plan<Self>)>) -> R) -> R;
}

/// A transform of rows of `n` numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Task {
    n: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Complex(FftDirection),
    Real,
    RealGrad,
}

#[derive(Clone)]
enum Plan<T> {
    /// A transform of as many complex numbers as a row has numbers.
    Whole(Arc<dyn Fft<T>>),
    /// A transform of half as many, and the factors that combine its elements.
    Half(Arc<dyn Fft<T>>, Arc<[T]>),
}

impl Task {
    /// The floats of a row and of its result.
    const fn lens(self) -> [usize; 2] {
        let (n, half) = (self.n, 2 * (self.n / 2 + 1));
        match self.kind {
            Kind::Complex(_) => [2 * n, 2 * n],
            Kind::Real => [n, half],
            Kind::RealGrad => [half, n],
        }
    }

    fn plan<T: Real>(self) -> Plan<T> {
        T::with_plans(|plans| {
            let found = plans.iter().position(|(task, _)| *task == self);
            let place = found.unwrap_or_else(|| {
                plans.truncate(KEPT - 1);
                plans.push((self, self.new_plan()));
                plans.len() - 1
            });
            plans[..=place].rotate_right(1);
            plans[0].1.clone()
        })
    }

    fn new_plan<T: Real>(self) -> Plan<T> {
        let direction = match self.kind {
            Kind::Complex(direction) => direction,
            Kind::Real => FftDirection::Forward,
            Kind::RealGrad => FftDirection::Inverse,
        };
        let is_complex = matches!(self.kind, Kind::Complex(_));
        if is_complex || !self.n.is_multiple_of(2) {
            return Plan::Whole(FftPlanner::new().plan_fft(self.n, direction));
        }
        let m = self.n / 2;
        Plan::Half(FftPlanner::new().plan_fft(m, direction), halves::factors(m).into())
    }

    fn run<T: Real>(self, x: &[T], out: &mut [T]) {
        let [len, out_len] = self.lens();
        let count = x.len() / len;
        check(x.len() == count * len && out.len() == count * out_len, "rows and transforms differ in number");
        let plan = &self.plan();
        let cost = self.n.ilog2() as usize + 1;
        parallel::run(Rows { task: self, plan, count, x, out }, count, len, cost);
    }
}

/// Rows, one after the other, and the room for their transforms.
struct Rows<'a, T> {
    task: Task,
    plan: &'a Plan<T>,
    count: usize,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Split for Rows<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { task, plan, count, x, out } = self;
        let [len, out_len] = task.lens();
        let (x, out) = (x.split_at(at * len), out.split_at_mut(at * out_len));
        let later = Self { task, plan, count: count - at, x: x.1, out: out.1 };
        (Self { task, plan, count: at, x: x.0, out: out.0 }, later)
    }
}

impl<T: Real> Kernel for Rows<'_, T> {
    type Output = ();

    /// Not compiled for a level: rustfft chooses the instructions itself.
    #[inline(never)]
    fn run(self) {
        let Self { task, plan, x, out, .. } = self;
        let ([len, out_len], n) = (task.lens(), task.n);
        let (plan, factors) = match plan {
            Plan::Whole(plan) => (plan, None),
            Plan::Half(plan, factors) => (plan, Some(factors)),
        };
        // Complex numbers are transformed from one slice to the other. An even number of real numbers is copied and then
        // transformed in the result, which takes less time for many rows. An odd number needs room for complex numbers.
        let (scratch, kept) = match (task.kind, factors) {
            (Kind::Complex(_), _) => (plan.get_immutable_scratch_len(), 0),
            (Kind::Real | Kind::RealGrad, Some(_)) => (plan.get_inplace_scratch_len(), 0),
            (Kind::Real | Kind::RealGrad, None) => (plan.get_inplace_scratch_len(), 2 * n),
        };
        with_workspace(slot_bytes::<T>(2 * scratch) + slot_bytes::<T>(kept), |workspace| {
            let (scratch, rest) = carve(workspace.memory(), 2 * scratch);
            let (scratch, row) = (complex_mut::<T>(scratch), carve(rest, kept).0);
            let rows = x.chunks_exact(len).zip(out.chunks_exact_mut(out_len));
            match (task.kind, factors) {
                (Kind::Complex(_), _) => {
                    plan.process_immutable_with_scratch(complex(x), complex_mut(out), scratch);
                }
                (Kind::Real, Some(factors)) => rows.for_each(|(x, out)| {
                    out[..n].copy_from_slice(x);
                    plan.process_with_scratch(complex_mut(&mut out[..n]), scratch);
                    // The first and the last element are real.
                    let [re, im] = [out[0], out[1]];
                    ([out[0], out[1]], [out[n], out[n + 1]]) = ([re + im, T::zero()], [re - im, T::zero()]);
                    let elements = &mut out[2..n];
                    dispatch(Combine { direction: Direction::Forward, factors, elements });
                }),
                (Kind::RealGrad, Some(factors)) => rows.for_each(|(y, out)| {
                    out.copy_from_slice(&y[..n]);
                    (out[0], out[1]) = (y[0] + y[n], y[0] - y[n]);
                    dispatch(Combine { direction: Direction::Back, factors, elements: &mut out[2..] });
                    plan.process_with_scratch(complex_mut(out), scratch);
                }),
                (Kind::Real, None) => rows.for_each(|(x, out)| {
                    for (pair, x) in row.as_chunks_mut().0.iter_mut().zip(x) {
                        *pair = [*x, T::zero()];
                    }
                    plan.process_with_scratch(complex_mut(row), scratch);
                    out.copy_from_slice(&row[..out_len]);
                    out[1] = T::zero();
                }),
                (Kind::RealGrad, None) => rows.for_each(|(y, out)| {
                    row[..len].copy_from_slice(y);
                    row[1] = T::zero();
                    row[len..].fill(T::zero());
                    plan.process_with_scratch(complex_mut(row), scratch);
                    for (out, pair) in out.iter_mut().zip(row.as_chunks::<2>().0) {
                        *out = pair[0];
                    }
                }),
            }
        });
    }
}

/// Pairs of floats as complex numbers.
fn complex<T: Real>(pairs: &[T]) -> &[Complex<T>] {
    // SAFETY: `Complex` is `repr(C)` with two fields of `T`, so it has the layout of two elements. A half of the length,
    // rounded down, is in bounds.
    unsafe { std::slice::from_raw_parts(pairs.as_ptr().cast(), pairs.len() / 2) }
}

/// Like [`complex`].
fn complex_mut<T: Real>(pairs: &mut [T]) -> &mut [Complex<T>] {
    // SAFETY: as above. The slice is borrowed mutably for as long as the result.
    unsafe { std::slice::from_raw_parts_mut(pairs.as_mut_ptr().cast(), pairs.len() / 2) }
}

macro_rules! fourier {
    ($($ty:ident)*) => {
        $(
            impl Real for $ty {
                fn with_plans<R>(f: impl FnOnce(&mut Vec<(Task, Plan<Self>)>) -> R) -> R {
                    thread_local! {
                        static PLANS: RefCell<Vec<(Task, Plan<$ty>)>> = const { RefCell::new(Vec::new()) };
                    }
                    // While the thread ends, its plans are gone.
                    let mut f = Some(f);
                    let kept = PLANS.try_with(|plans| f.take().map(|f| f(&mut plans.borrow_mut())));
                    kept.ok().flatten().unwrap_or_else(|| f.take().expect("it was not called")(&mut Vec::new()))
                }
            }

            impl Fourier for $ty {
                #[inline(never)]
                fn fft(inverse: bool, n: usize, x: &[Self], out: &mut [Self]) {
                    let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
                    Task { n, kind: Kind::Complex(direction) }.run(x, out);
                }

                #[inline(never)]
                fn real_fft(n: usize, x: &[Self], out: &mut [Self]) {
                    Task { n, kind: Kind::Real }.run(x, out);
                }

                #[inline(never)]
                fn real_fft_grad(n: usize, y: &[Self], out: &mut [Self]) {
                    Task { n, kind: Kind::RealGrad }.run(y, out);
                }
            }
        )*
    };
}

fourier!(f32 f64);

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    /// The transform by its definition, with exact multiples of the angle.
    fn naive(inverse: bool, x: &[f64]) -> Vec<f64> {
        let n = x.len() / 2;
        let sign = if inverse { TAU } else { -TAU };
        let sum = |k: usize| {
            x.as_chunks::<2>().0.iter().enumerate().fold([0.0; 2], |[re, im], (j, [a, b])| {
                let (sin, cos) = (sign * (j * k % n) as f64 / n as f64).sin_cos();
                [re + a * cos - b * sin, im + a * sin + b * cos]
            })
        };
        (0..n).flat_map(sum).collect()
    }

    fn numbers(len: usize, seed: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 + seed * 104_729 + 13) % 2003) as f64 / 1001.5 - 1.0).collect()
    }

    fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
        x.into_iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Lengths of every kind of plan: small ones, powers of two, smooth ones, primes and multiples of large primes.
    fn lengths() -> impl Iterator<Item = usize> {
        (1..74).chain([81, 100, 127, 243, 256, 331, 500, 509, 512, 514])
    }

    fn check_near(found: &[f64], needed: &[f64], n: usize, epsilon: f64, what: &str) {
        let error = norm(found.iter().zip(needed).map(|(a, b)| a - b));
        let bound = 8.0 * (2.0 * n as f64).log2() * epsilon * norm(needed.iter().copied());
        assert!(error <= bound, "{what} of length {n}: {error:e} exceeds {bound:e}");
    }

    macro_rules! check_type {
        ($ty:ident) => {
            for n in lengths() {
                let x: Vec<$ty> = numbers(3 * 2 * n, n).into_iter().map(|x| x as $ty).collect();
                let wide = |x: &[$ty]| x.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
                for inverse in [false, true] {
                    let mut y = vec![0.0; x.len()];
                    $ty::fft(inverse, n, &x, &mut y);
                    for (x, y) in x.chunks_exact(2 * n).zip(y.chunks_exact(2 * n)) {
                        let epsilon = f64::from($ty::EPSILON);
                        check_near(&wide(y), &naive(inverse, &wide(x)), n, epsilon, "transform");
                    }
                }
                let half = 2 * (n / 2 + 1);
                let real = &x[..3 * n];
                let mut y = vec![0.0; 3 * half];
                $ty::real_fft(n, real, &mut y);
                for (x, y) in real.chunks_exact(n).zip(y.chunks_exact(half)) {
                    let pairs: Vec<f64> = x.iter().flat_map(|x| [f64::from(*x), 0.0]).collect();
                    let needed = &naive(false, &pairs)[..half];
                    check_near(&wide(y), needed, n, f64::from($ty::EPSILON), "transform of real numbers");
                }
                let y: Vec<$ty> = numbers(3 * half, n + 1).into_iter().map(|x| x as $ty).collect();
                let mut back = vec![0.0; 3 * n];
                $ty::real_fft_grad(n, &y, &mut back);
                for (y, x) in y.chunks_exact(half).zip(back.chunks_exact(n)) {
                    let mut whole = wide(y);
                    whole.resize(2 * n.max(half / 2), 0.0);
                    let all = naive(true, &whole[..2 * n]);
                    let needed: Vec<f64> = all.as_chunks::<2>().0.iter().map(|[re, _]| *re).collect();
                    let size = norm(all);
                    let error = norm(wide(x).iter().zip(&needed).map(|(a, b)| a - b));
                    let bound = 8.0 * (2.0 * n as f64).log2() * f64::from($ty::EPSILON) * size;
                    assert!(error <= bound, "back, length {n}: {error:e} exceeds {bound:e}");
                }
            }
        };
    }

    #[test]
    fn transforms_agree_with_their_definition() {
        check_type!(f32);
        check_type!(f64);
    }

    #[test]
    fn a_row_has_the_same_bits_in_every_batch() {
        for n in [8, 60, 127, 1000] {
            let x = numbers(2 * n * 64, n);
            let mut all = vec![0.0; x.len()];
            f64::fft(false, n, &x, &mut all);
            for (x, together) in x.chunks_exact(2 * n).zip(all.chunks_exact(2 * n)) {
                let mut alone = vec![0.0; 2 * n];
                f64::fft(false, n, x, &mut alone);
                assert!(alone.iter().zip(together).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }

    #[test]
    fn a_thread_keeps_the_plans_that_it_used_last() {
        let used = |n| {
            let (x, mut out) = (vec![1.0; 2 * n], vec![0.0; 2 * n]);
            f32::fft(false, n, &x, &mut out);
        };
        let kept = || f32::with_plans(|plans| plans.iter().map(|(task, _)| task.n).collect::<Vec<_>>());
        (1..40).for_each(used);
        used(30);
        let newest: Vec<usize> = [30].into_iter().chain((24..30).chain(31..40).rev()).collect();
        assert_eq!(kept(), newest);
    }
}
