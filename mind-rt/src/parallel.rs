//! Loops on several threads.
//!
//! [`run`] cuts a kernel into parts where there is enough work for more than one thread. [`join`] runs two functions.
//! The cuts never change results: a program computes the same bits with any number of threads, and without the feature
//! `threads`.
//!
//! - A kernel that only writes, `Output = ()`, computes each element independently of the cuts.
//! - A kernel that folds is cut along a tree that depends on sizes alone: leaves of [`LEAF`] elements, combined in the
//!   tree's order. A single thread walks the same tree.

#[cfg(test)]
pub(crate) mod tests;

use std::sync::atomic::{AtomicUsize, Ordering};

use mind_shape::{
    loops,
    threads::{Axis, Cut},
};

use crate::kernels::limit::limit;
use crate::simd::{Kernel, dispatch};

/// A kernel that can be cut in two.
pub trait Split: Kernel + Send + Sized {
    /// Returns the parts over the first `at` steps and over the remaining steps. [`run`] says along which axis steps
    /// are counted. `at` is neither 0 nor the number of steps.
    #[must_use]
    fn split(self, at: usize) -> (Self, Self);
}

/// The output of a part of a kernel, which combines with the output of another part.
pub trait Combine: Send {
    /// Whether the result depends on the cuts of a kernel.
    #[doc(hidden)]
    const FOLDS: bool = true;

    /// Returns the output of both parts together, where `later` is the output of the part with the later steps.
    #[must_use]
    fn combine(self, later: Self) -> Self;
}

/// The number of elements in a leaf of a fold's tree. A fold of at most that many elements is one leaf, and equals
/// [`dispatch`] of the kernel.
pub const LEAF: usize = limit(loops::LEAF, 128);

/// The cost of a fused loop from which a second thread pays.
pub const WORTH_SPLITTING: usize = limit(loops::WORTH_SPLITTING, 256);

/// The smallest number of columns that [`run_columns`] gives to a thread.
const FEWEST_COLUMNS: usize = limit(loops::FEWEST_COLUMNS, 8);

/// The largest number of columns that [`run_columns`] sums at once, so that their sums stay in the fastest cache.
const WIDEST: usize = limit(loops::WIDEST_COLUMNS, 32);

/// Runs `kernel` at the SIMD level in use, on several threads where that pays.
///
/// The axis that [`Split`] cuts has `steps` steps of `elements_per_step` elements each. An element costs about `cost`
/// additions (an `exp` is about 8). For folds, `steps` and `elements_per_step` determine the order of additions. `cost`
/// only determines whether other threads are woken.
#[inline]
pub fn run<K: Split>(kernel: K, steps: usize, elements_per_step: usize, cost: usize) -> K::Output
where
    K::Output: Combine,
{
    cut(kernel, steps, cut_of(K::Output::FOLDS, steps, elements_per_step, cost))
}

/// [`run`] for a kernel that sums over rows: [`Split`] cuts its columns, of `elements_per_column` elements each.
/// Neighbouring columns are contiguous in memory, so a part has many columns, but no more than keep their sums in
/// cache.
#[inline]
pub fn run_columns<K: Split<Output = ()>>(
    kernel: K,
    columns: usize,
    elements_per_column: usize,
    cost: usize,
) {
    cut(kernel, columns, cut_of_columns(columns, elements_per_column, cost));
}

/// The largest number of parts into which [`run`] cuts `steps` steps of a kernel that only writes.
pub(crate) fn parts(steps: usize, elements_per_step: usize, cost: usize) -> usize {
    steps.div_ceil(cut_of(false, steps, elements_per_step, cost).leaf.max(1))
}

/// The number of steps in each part when [`run_in`] cuts `steps` steps into `parts` parts. The last part may have
/// fewer.
pub(crate) fn steps_in(parts: usize, steps: usize) -> usize {
    steps.div_ceil(parts.max(1)).max(1)
}

/// [`run`] for a kernel that only writes, cut into a given number of [`parts`], each with its own scratch memory.
pub(crate) fn run_in<K: Split<Output = ()>>(parts: usize, kernel: K, steps: usize) {
    let leaf = steps_in(parts, steps);
    cut(kernel, steps, Cut { leaf, alone: leaf });
}

fn cut<K: Split>(kernel: K, steps: usize, plan: Cut) -> K::Output
where
    K::Output: Combine,
{
    if steps <= plan.leaf {
        return dispatch(kernel);
    }
    let at = middle(plan.leaf, steps);
    let (first, later) = kernel.split(at);
    let (first, later) =
        join_if(steps > plan.alone, || cut(first, at, plan), || cut(later, steps - at, plan));
    first.combine(later)
}

/// The cut of a kernel, which folds or only writes.
fn cut_of(folds: bool, steps: usize, elements: usize, cost: usize) -> Cut {
    let axis = Axis { steps, elements, cost };
    if folds {
        Cut::of_folds(axis, threads(), WORTH_SPLITTING, LEAF)
    } else {
        Cut::of_writes(axis, threads(), WORTH_SPLITTING)
    }
}

/// The cut of the columns of a kernel that sums over rows.
fn cut_of_columns(columns: usize, elements: usize, cost: usize) -> Cut {
    let axis = Axis { steps: columns, elements, cost };
    Cut::of_columns(axis, threads(), WORTH_SPLITTING, [FEWEST_COLUMNS, WIDEST])
}

/// The step at which more than a leaf is cut: after half of the leaves.
fn middle(leaf: usize, steps: usize) -> usize {
    steps.div_ceil(leaf).div_ceil(2) * leaf
}

/// Runs both functions, at the same time if a thread is free, and returns their results. Calls may nest. A panic in
/// either function continues here once both have ended.
pub fn join<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    join_if(true, first, second)
}

/// [`join`] if `worth` is true, else one call after the other. The code compiled for each pair of functions is small.
fn join_if<A: Send, B: Send>(
    worth: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (Call::new(first), Call::new(second));
    join_calls(worth, &mut || first.make(), &mut || second.make());
    (first.result(), second.result())
}

/// A function before its call, and its result afterwards.
enum Call<F, R> {
    Before(F),
    After(R),
    During,
}

impl<R, F: FnOnce() -> R> Call<F, R> {
    fn new(function: F) -> Self {
        Self::Before(function)
    }

    fn make(&mut self) {
        if let Self::Before(function) = std::mem::replace(self, Self::During) {
            *self = Self::After(function());
        }
    }

    fn result(self) -> R {
        match self {
            Self::After(result) => result,
            Self::Before(_) | Self::During => unreachable!("a call that did not return has panicked"),
        }
    }
}

fn join_calls(worth: bool, first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    #[cfg(feature = "threads")]
    if worth && threads() > 1 {
        return crate::kernels::pool::join(first, second);
    }
    let _ = worth;
    first();
    second();
}

/// Whether another thread takes work at once.
pub(crate) fn has_awake_thread() -> bool {
    #[cfg(feature = "threads")]
    let is_awake = crate::kernels::pool::is_awake();
    #[cfg(not(feature = "threads"))]
    let is_awake = false;
    is_awake
}

/// The number of threads; 0 until it is chosen.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The largest number of threads that is ever used.
const MAX_THREADS: usize = 256;

/// The number of threads that work on a call, including the calling thread. The first of these numbers that is given:
///
/// - the number that [`set_threads`] has set;
/// - the value of the environment variable `MIND_NUM_THREADS` when a kernel first needed it;
/// - the number of threads that the process may run at the same time.
///
/// Always 1 without the feature `threads`.
///
/// ```
/// assert!(mind_rt::threads() >= 1);
/// ```
#[inline]
#[must_use]
pub fn threads() -> usize {
    if cfg!(not(feature = "threads")) {
        return 1;
    }
    match THREADS.load(Ordering::Relaxed) {
        0 => choose(),
        threads => threads,
    }
}

/// Sets the number of threads that work on a call, including the calling thread. It applies to the whole process from
/// the next call on.
///
/// - 1 keeps all work on the calling thread.
/// - 0 restores the default: `MIND_NUM_THREADS`, else the number of threads that the process may run at the same time.
/// - More than 256 count as 256.
///
/// Results do not depend on it. It has no effect without the feature `threads`.
///
/// ```
/// mind_rt::set_threads(1);
/// assert_eq!(mind_rt::threads(), 1);
/// mind_rt::set_threads(0);
/// assert!(mind_rt::threads() >= 1);
/// ```
pub fn set_threads(threads: usize) {
    THREADS.store(threads.min(MAX_THREADS), Ordering::Relaxed);
    #[cfg(feature = "threads")]
    crate::kernels::pool::retire();
}

#[cold]
fn choose() -> usize {
    let asked = std::env::var("MIND_NUM_THREADS").ok().and_then(|number| parse(&number));
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = asked.unwrap_or_else(available).min(MAX_THREADS);
    // A number that another thread has set in the meantime takes precedence.
    THREADS
        .compare_exchange(0, threads, Ordering::Relaxed, Ordering::Relaxed)
        .map_or_else(|set| set, |_| threads)
}

/// Parses a number of threads. Returns `None` for 0 and for text that is not a number.
fn parse(number: &str) -> Option<usize> {
    number.trim().parse().ok().filter(|threads| *threads > 0)
}

impl Combine for () {
    const FOLDS: bool = false;

    #[inline(always)]
    fn combine(self, (): Self) {}
}

macro_rules! sums {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Combine for $ty {
            #[inline(always)]
            fn combine(self, later: Self) -> Self {
                crate::kernels::number::Number::plus(self, later)
            }
        })*
    };
}

mind_shape::element_types!(numbers => sums!);

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Combine),*> Combine for ($($name,)*) {
            const FOLDS: bool = $($name::FOLDS)||*;

            #[inline(always)]
            #[allow(non_snake_case, reason = "variables are called as their types")]
            fn combine(self, later: Self) -> Self {
                let ($($name,)*) = self;
                let rest = later;
                tuples!(@combine rest [$($name)*] [0 1 2 3 4 5 6 7] [])
            }
        }
    };
    (@combine $rest:ident [] $positions:tt [$($done:expr),*]) => { ($($done,)*) };
    (@combine $rest:ident [$name:ident $($names:ident)*] [$position:tt $($positions:tt)*] [$($done:expr),*]) => {
        tuples!(@combine $rest [$($names)*] [$($positions)*] [$($done,)* $name.combine($rest.$position)])
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
