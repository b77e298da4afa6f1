use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::kernels::math::exp;
use crate::kernels::reduce::Reduce;
use crate::simd::{SimdLevel, run_at_most};

/// Sets the number of threads, which is global to the process, and keeps other tests from changing it.
pub(crate) struct Threads(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Threads {
    pub(crate) fn set(threads: usize) -> Self {
        static LOCK: Mutex<()> = Mutex::new(());
        let held = Self(LOCK.lock().unwrap_or_else(PoisonError::into_inner));
        set_threads(threads);
        held
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        set_threads(0);
    }
}

/// Writes and sums `exp(x)` and `x`.
struct Sums<'a> {
    from: &'a [f32],
    to: &'a mut [f32],
}

impl Kernel for Sums<'_> {
    type Output = (f32, (f32, i64));

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.to.iter_mut().zip(self.from).for_each(|(to, from)| *to = exp(*from));
        (f32::lane_sum(self.to), (f32::lane_sum(self.from), self.from.len() as i64))
    }
}

impl Split for Sums<'_> {
    fn split(self, at: usize) -> (Self, Self) {
        let (from, to) = (self.from.split_at(at), self.to.split_at_mut(at));
        (Self { from: from.0, to: to.0 }, Self { from: from.1, to: to.1 })
    }
}

/// Lengths of folds, without long ones under Miri, which would take hours.
fn lengths(all: &[usize]) -> impl Iterator<Item = usize> {
    all.iter().copied().filter(|len| !cfg!(miri) || *len <= 2 * LEAF)
}

fn uneven(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919) % 1013) as f32 * 0.013 - 6.0).collect()
}

fn bits((a, (b, count)): (f32, (f32, i64))) -> (u32, u32, i64) {
    (a.to_bits(), b.to_bits(), count)
}

#[test]
fn folds_are_the_same_to_the_bit_on_any_number_of_threads() {
    for len in lengths(&[0, 1, 100, LEAF - 1, LEAF, LEAF + 1, 3 * LEAF + 5, 500_000]) {
        let from = uneven(len);
        let sums = |threads| {
            let _held = Threads::set(threads);
            let mut to = vec![0.0; len];
            let sums = bits(run(Sums { from: &from, to: &mut to }, len, 1, 8));
            (sums, to.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let alone = sums(1);
        assert_eq!(alone.0.2, len as i64);
        for threads in [1, 2, 3, 8, 0] {
            assert!(sums(threads) == alone, "{len} elements, {threads} threads");
        }
        if len <= LEAF {
            let mut to = vec![0.0; len];
            assert_eq!(bits(dispatch(Sums { from: &from, to: &mut to })), alone.0);
        }
    }
}

#[test]
#[cfg(not(feature = "__small_blocks"))]
fn a_folds_tree_depends_on_sizes_alone() {
    /// The tree by its definition: halves of the leaves, of which the first is the larger.
    fn by_definition(from: &[f32]) -> f32 {
        let leaves: Vec<_> = from.chunks(LEAF).collect();
        match &leaves[..] {
            [] => 0.0,
            [leaf] => dispatch(Sums { from: leaf, to: &mut vec![0.0; leaf.len()] }).1.0,
            leaves => {
                let at = leaves.len().div_ceil(2) * LEAF;
                by_definition(&from[..at]) + by_definition(&from[at..])
            }
        }
    }
    for len in lengths(&[0, LEAF, 2 * LEAF, 5 * LEAF + 77, 400_000]) {
        let from = uneven(len);
        let got = run(Sums { from: &from, to: &mut vec![0.0; len] }, len, 1, 1).1.0;
        assert_eq!(got.to_bits(), by_definition(&from).to_bits(), "{len}");
    }
    for threads in [1, 2, 3, 64] {
        for cost in [0, 1, 1000] {
            let _held = Threads::set(threads);
            assert_eq!(cut_of(true, 1000, 1000, cost).leaf, 16);
            assert_eq!(cut_of(true, 1_000_000, 1, cost).leaf, LEAF);
            assert_eq!(cut_of(true, 7, 1_000_000, cost).leaf, 1);
            assert_eq!(cut_of(true, 7, 0, cost).leaf, LEAF);
        }
    }
}

#[test]
fn folds_are_the_same_to_the_bit_at_every_level() {
    for len in [0, 1, 31, 32, 33, 1000, LEAF] {
        let from = uneven(len);
        let at = |level| bits(run_at_most(level, Sums { from: &from, to: &mut vec![0.0; len] })).1;
        let portable = at(SimdLevel::Portable);
        assert_eq!(at(SimdLevel::Avx2), portable, "{len}");
        assert_eq!(at(SimdLevel::Avx512), portable, "{len}");
    }
}

/// Writes the index of each row into its elements.
struct Rows<'a> {
    first: usize,
    to: &'a mut [i32],
    calls: &'a AtomicU32,
}

const ROW: usize = 3;

impl Kernel for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        for (row, to) in self.to.chunks_exact_mut(ROW).enumerate() {
            to.fill((self.first + row) as i32);
        }
    }
}

impl Split for Rows<'_> {
    fn split(self, at: usize) -> (Self, Self) {
        let (to, later) = self.to.split_at_mut(at * ROW);
        let Self { first, calls, .. } = self;
        (Self { first, to, calls }, Self { first: first + at, to: later, calls })
    }
}

#[test]
fn every_step_is_run_once_in_as_many_parts_as_threads() {
    for rows in [1, 2, 5, 100, 1001] {
        for threads in [1, 2, 3, 8] {
            let _held = Threads::set(threads);
            let (mut to, calls) = (vec![-1; rows * ROW], AtomicU32::new(0));
            run(Rows { first: 0, to: &mut to, calls: &calls }, rows, ROW, WORTH_SPLITTING);
            assert!(to.chunks_exact(ROW).enumerate().all(|(row, to)| to == [row as i32; ROW]));
            let parts = calls.load(Ordering::Relaxed) as usize;
            assert!(parts <= super::threads(), "{parts} parts");
            // Parts begin at cache lines, so a small number of rows has few parts.
            assert!(rows < 1000 || parts == super::threads(), "{parts} parts");
        }
    }
}

#[test]
#[cfg(not(feature = "__small_blocks"))]
fn little_work_stays_on_its_thread() {
    let _held = Threads::set(8);
    let calls = AtomicU32::new(0);
    run(Rows { first: 0, to: &mut [0; 3000], calls: &calls }, 1000, ROW, 1);
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn join_returns_both_results_however_deep() {
    fn fibonacci(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = join(|| fibonacci(n - 1), || fibonacci(n - 2));
        a + b
    }
    for threads in [1, 2, 3, 8] {
        let _held = Threads::set(threads);
        assert_eq!(fibonacci(if cfg!(miri) { 7 } else { 16 }), if cfg!(miri) { 13 } else { 987 });
    }
}

#[test]
fn callers_on_several_threads_share_the_pool() {
    let _held = Threads::set(3);
    let from = uneven(if cfg!(miri) { LEAF + 1 } else { 10 * LEAF });
    let sum = || bits(run(Sums { from: &from, to: &mut vec![0.0; from.len()] }, from.len(), 1, 8));
    let expected = sum();
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(sum)).collect();
        for caller in callers {
            assert_eq!(caller.join().expect("no panic"), expected);
        }
    });
}

#[test]
fn a_panic_in_either_half_continues_once_both_have_ended() {
    for threads in [1, 2, 8] {
        let _held = Threads::set(threads);
        for (first, second) in [(true, false), (false, true), (true, true)] {
            let ended = AtomicU32::new(0);
            let half = |name: &'static str, panics: bool| {
                let ended = &ended;
                move || {
                    let sum = exp(0.0_f32) * uneven(1000).len() as f32;
                    ended.fetch_add(1, Ordering::Relaxed);
                    if panics {
                        panic!("in the {name} half");
                    }
                    sum
                }
            };
            let caught =
                catch_unwind(AssertUnwindSafe(|| join(half("first", first), half("second", second))));
            let message = caught.expect_err("a half panics").downcast::<String>().expect("a message");
            assert_eq!(*message, if first { "in the first half" } else { "in the second half" });
            assert!(ended.into_inner() == 2 || super::threads() == 1);
            assert_eq!(join(|| 1, || 2), (1, 2));
        }
    }
}

#[test]
fn a_panic_waits_for_a_half_that_another_thread_is_in() {
    let _held = Threads::set(4);
    if threads() == 1 {
        return;
    }
    let (begun, panics, ended) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let tell = |event: &AtomicU32| event.store(1, Ordering::Release);
    let wait_for = |event: &AtomicU32| {
        while event.load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
    };
    let first = || {
        wait_for(&begun);
        tell(&panics);
        resume_unwind(Box::new("in the first half"));
    };
    let second = || {
        tell(&begun);
        wait_for(&panics);
        // This takes longer than unwinding.
        assert!(uneven(if cfg!(miri) { 1000 } else { 1 << 20 })[0] < 0.0);
        tell(&ended);
    };
    let caught = catch_unwind(AssertUnwindSafe(|| join::<(), ()>(first, second)));
    assert!(caught.is_err() && ended.into_inner() == 1);
}

#[test]
fn what_the_second_of_two_panics_carries_may_panic_itself() {
    struct Fragile;

    impl Drop for Fragile {
        fn drop(&mut self) {
            // The payload has size zero: it is forgotten, and other payloads would be reported as leaked memory.
            resume_unwind(Box::new(()));
        }
    }

    for threads in [1, 2, 8] {
        let _held = Threads::set(threads);
        let (first, second) =
            (|| resume_unwind(Box::new("in the first half")), || resume_unwind(Box::new(Fragile)));
        let caught = catch_unwind(|| join::<(), ()>(first, second));
        let message = caught.expect_err("both panic").downcast::<&str>().expect("a message");
        assert_eq!(*message, "in the first half");
        assert_eq!(join(|| 1, || 2), (1, 2));
    }
}

/// As [`Rows`], but the part with this row panics.
struct WithPanic<'a>(Rows<'a>, usize);

impl Kernel for WithPanic<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(rows, row) = self;
        if (rows.first..rows.first + rows.to.len() / ROW).contains(&row) {
            resume_unwind(Box::new(row));
        }
        rows.run();
    }
}

impl Split for WithPanic<'_> {
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = self.0.split(at);
        (Self(first, self.1), Self(later, self.1))
    }
}

#[test]
fn a_panic_in_a_part_reaches_the_caller_once_all_other_parts_are_done() {
    const THREADS: usize = 8;
    // Parts of this many rows begin at cache lines.
    const PART: usize = 132;
    const ROWS: usize = THREADS * PART;
    for row in [0, 200, ROWS - 1] {
        let _held = Threads::set(THREADS);
        if threads() == 1 {
            return;
        }
        let (mut to, calls) = (vec![-1; ROWS * ROW], AtomicU32::new(0));
        let rows = Rows { first: 0, to: &mut to, calls: &calls };
        let caught = catch_unwind(AssertUnwindSafe(|| run(WithPanic(rows, row), ROWS, ROW, WORTH_SPLITTING)));
        assert_eq!(*caught.expect_err("a part panics").downcast::<usize>().expect("the row"), row);
        for (at, to) in to.chunks_exact(ROW).enumerate() {
            assert_eq!(to[0], if at / PART == row / PART { -1 } else { at as i32 });
        }
        run(Rows { first: 0, to: &mut to, calls: &calls }, ROWS, ROW, WORTH_SPLITTING);
        assert!(to.chunks_exact(ROW).enumerate().all(|(row, to)| to == [row as i32; ROW]));
    }
}

#[test]
fn the_number_of_threads_is_what_was_set_last() {
    let held = Threads::set(3);
    let built = cfg!(feature = "threads");
    assert_eq!(threads(), if built { 3 } else { 1 });
    set_threads(usize::MAX);
    assert_eq!(threads(), if built { MAX_THREADS } else { 1 });
    set_threads(1);
    assert_eq!(threads(), 1);
    set_threads(0);
    assert!((1..=MAX_THREADS).contains(&threads()));
    drop(held);
}

#[test]
fn numbers_of_threads_are_positive() {
    assert_eq!(parse("4"), Some(4));
    assert_eq!(parse(" 12\n"), Some(12));
    for nothing in ["0", "", "-1", "two", "1.5", "99999999999999999999999"] {
        assert_eq!(parse(nothing), None, "{nothing}");
    }
}

#[test]
fn tuples_combine_place_by_place() {
    assert_eq!((1.5_f32, 2_i32, 3_i64).combine((0.5, i32::MAX, 4)), (2.0, i32::MIN + 1, 7));
    assert_eq!((1.0_f64, (), (2_i64,)).combine((2.0, (), (3,))), (3.0, (), (5,)));
    const { assert!(!<((), ()) as Combine>::FOLDS && <((), f32) as Combine>::FOLDS) };
    let eights = (1, 2, 3, 4, 5, 6, 7, 8);
    assert_eq!(eights.combine(eights), (2, 4, 6, 8, 10, 12, 14, 16));
}

/// Sums the rows of a matrix.
struct Columns<'a> {
    from: &'a [f32],
    /// The number of elements from one row to the next.
    stride: usize,
    to: &'a mut [f32],
}

impl Kernel for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.to.fill(0.0);
        for row in self.from.chunks(self.stride) {
            self.to.iter_mut().zip(row).for_each(|(to, from)| *to += from);
        }
    }
}

impl Split for Columns<'_> {
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = self.to.split_at_mut(at);
        (Self { to: first, ..self }, Self { from: &self.from[at..], to: later, ..self })
    }
}

#[test]
fn sums_over_rows_are_the_same_to_the_bit_on_any_number_of_threads() {
    for (rows, columns) in
        [(1, 1), (7, 300), (300, 5), (40, FEWEST_COLUMNS), (40, 2 * FEWEST_COLUMNS + 1), (3, 3 * WIDEST + 5)]
    {
        let from = uneven(rows * columns);
        let sums = |threads| {
            let _held = Threads::set(threads);
            let mut to = vec![f32::NAN; columns];
            // The cost is so high that columns are cut if they are wide enough.
            run_columns(Columns { from: &from, stride: columns, to: &mut to }, columns, rows, 1 << 20);
            to.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let alone = sums(1);
        for threads in [2, 3, 8] {
            assert!(sums(threads) == alone, "{rows} rows of {columns}, {threads} threads");
        }
    }
}

#[test]
#[cfg(not(feature = "__small_blocks"))]
fn columns_are_cut_where_parts_are_wide() {
    let _held = Threads::set(2);
    let cut = |columns| cut_of_columns(columns, 1000, 1000);
    assert_eq!(cut(FEWEST_COLUMNS + 1), Cut { leaf: 2 * FEWEST_COLUMNS, alone: 2 * FEWEST_COLUMNS });
    assert_eq!(cut(1000), Cut { leaf: 512, alone: 512 });
    assert_eq!(cut(3 * WIDEST), Cut { leaf: WIDEST * 3 / 4, alone: WIDEST * 3 / 2 });
    let little = cut_of_columns(1000, 10, 1);
    assert_eq!(little, Cut { leaf: 1024, alone: 1024 });
}
