//! Runs random kernels and programs at sizes around every block and threshold, on 1 to 128 threads, in poisoned memory.
//! Compares each result with naive loops or the interpreter, and its bits with those on one thread. `ci/torture` builds
//! and runs it at every SIMD level.

mod case;
mod convolution;
mod emitted;
mod execute;
mod movement;
mod number;
mod product;
mod programs;
mod random_programs;
mod sums;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use case::{Case, Kind};
use clap::Parser;
use mind_core::testing::Random;

/// Runs random kernels and programs of this build until a result is wrong, the time is up or the cases are done.
#[derive(Parser)]
struct Options {
    /// Stop after this many minutes; fractions are allowed.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Stop after this many cases.
    #[arg(long, default_value_t = u64::MAX)]
    cases: u64,
    /// The seed of the random numbers; a run with the same seed repeats.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only cases of one kind.
    #[arg(long, value_enum)]
    only: Option<Kind>,
}

/// The number of cases that run on the same number of threads. Starting and ending threads takes longer than a case.
const BATCH: u64 = 512;

/// The number of threads that call kernels at the same time.
const CALLERS: usize = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    std::panic::set_hook(Box::new(|_| ()));
    let start = Instant::now();
    let end = Duration::from_secs_f64(options.minutes * 60.0);
    let (mut done, mut seed, mut counts) = (0, options.seed, [0_u64; Kind::ALL.len()]);
    if !case::SMALL && options.only.is_none() {
        for (product, threads) in product::Product::once_wrong() {
            if let Some(why) = fault(&product, threads) {
                println!("{threads} threads: {why}\n{product:?}");
                return ExitCode::FAILURE;
            }
            done += 1;
        }
    }
    while done < options.cases && start.elapsed() < end {
        let count = BATCH.min(options.cases - done);
        if let Some(failure) = batch(seed, count, options.only, &mut counts) {
            println!("{failure}");
            println!("found after {:.1} s and {} cases", start.elapsed().as_secs_f64(), done + count);
            return ExitCode::FAILURE;
        }
        done += count;
        seed = seed.wrapping_add(1);
    }
    let mut kinds = String::new();
    for (kind, count) in Kind::ALL.into_iter().zip(counts) {
        let _ = write!(kinds, ", {count} {}", kind.name());
    }
    println!(
        "{:?}: {done} cases in {:.0} s, seeds {} to {}{kinds}: nothing was found",
        mind::simd_level(),
        start.elapsed().as_secs_f64(),
        options.seed,
        seed.wrapping_sub(1),
    );
    ExitCode::SUCCESS
}

/// Runs `count` cases of a seed. If one fails, shrinks it as long as it still fails, and returns a description.
fn batch(seed: u64, count: u64, only: Option<Kind>, counts: &mut [u64]) -> Option<String> {
    let mut random = Random::new(seed);
    let threads = threads(&mut random);
    let cases: Vec<Box<dyn Case>> = (0..count)
        .map(|_| {
            let kind = only.unwrap_or_else(|| Kind::random(&mut random));
            counts[kind as usize] += 1;
            kind.case(&mut random)
        })
        .collect();
    mind::set_threads(1);
    let alone = run_all(&cases);
    mind::set_threads(threads);
    let together = run_all(&cases);
    let wrong = (0..cases.len()).find(|at| alone[*at].is_err() || alone[*at] != together[*at])?;
    Some(shrunk(seed, &*cases[wrong], threads))
}

/// A random number of threads, mostly a small one: two threads are enough for work to be split, and more threads take
/// more time.
fn threads(random: &mut Random) -> usize {
    match random.below(8) {
        0..4 => 2 + random.below(3),
        4..6 => 2 + random.below(14),
        6 => 17 + random.below(16),
        _ => 33 + random.below(96),
    }
}

/// A digest of the results, or an error if they are wrong.
type Outcome = Result<u64, String>;

/// Runs cases, several at a time.
fn run_all(cases: &[Box<dyn Case>]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Outcome>> = cases.iter().map(|_| Mutex::new(Ok(0))).collect();
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    *outcomes[at].lock().expect("cases catch panics") = run(&**case);
                }
            });
        }
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().expect("cases catch panics")).collect()
}

fn run(case: &dyn Case) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| case.run())).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}

/// Runs a case on one thread and on `threads` threads. Returns the error, or a message if the bits differ.
fn fault(case: &dyn Case, threads: usize) -> Option<String> {
    mind::set_threads(1);
    let alone = run(case);
    mind::set_threads(threads);
    let together = run(case);
    match (alone, together) {
        (Err(why), _) => Some(format!("on one thread: {why}")),
        (_, Err(why)) => Some(format!("on {threads} threads: {why}")),
        (Ok(alone), Ok(together)) => {
            (alone != together).then(|| format!("other bits on {threads} threads than on one"))
        }
    }
}

/// Shrinks a failing case and its number of threads as long as it still fails, and describes it.
fn shrunk(seed: u64, case: &dyn Case, mut threads: usize) -> String {
    const TRIES: usize = 3;
    let fails = |case: &dyn Case, threads| (0..TRIES).find_map(|_| fault(case, threads));
    let first = format!("{case:?}");
    let Some(mut why) = fails(case, threads) else {
        return format!("seed {seed}: a case failed, and no longer does: {first} on {threads} threads");
    };
    let mut smallest: Option<Box<dyn Case>> = None;
    loop {
        let current = smallest.as_deref().unwrap_or(case);
        let fewer = [1, 2, threads / 2, threads - 1].into_iter().filter(|fewer| (1..threads).contains(fewer));
        if let Some((fewer, reason)) =
            fewer.into_iter().find_map(|fewer| Some((fewer, fails(current, fewer)?)))
        {
            (threads, why) = (fewer, reason);
        } else if let Some((smaller, reason)) = current.smaller().into_iter().find_map(|smaller| {
            let reason = fails(&*smaller, threads)?;
            Some((smaller, reason))
        }) {
            (smallest, why) = (Some(smaller), reason);
        } else {
            return format!(
                "seed {seed}, {:?}, {threads} threads: {why}\n{current:?}\nfound as {first}",
                mind::simd_level()
            );
        }
    }
}
