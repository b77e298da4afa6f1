//! Compares matrix products with the gemm crate, matrixmultiply and the processor's peak. The table has one row per
//! size.
//!
//! Options: `--quick` for fewer repeats, `--threads N`, and any number of `MxKxN[t|n][t|n][f32|f64]`.

mod clock;
mod contenders;

use std::process::ExitCode;
use std::time::Duration;

use clock::Clock;
use contenders::{Case, Contender, Layout};
use mind_rt::private::roofline::Chains;
use mind_rt::simd_level;

/// The project may take at most `1 / BOUND` times as long as the fastest other crate.
const BOUND: f64 = 0.97;

/// The smallest accepted share of the processor's peak, for products whose extents are all at least 255.
const PEAK_BOUND: f64 = 0.85;

struct Options {
    budget: Duration,
    threads: usize,
    only: Vec<(Layout, bool, bool)>,
}

fn main() -> ExitCode {
    let mut options = Options { budget: Duration::from_millis(240), threads: 1, only: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.budget = Duration::from_millis(50),
            "--threads" => {
                options.threads = arguments.next().and_then(|n| n.parse().ok()).expect("a number of threads")
            }
            size => options.only.push(parse(size).expect("--quick, --threads N or a size as 32x784x256nt")),
        }
    }
    mind_rt::set_threads(options.threads);
    let mut misses = Vec::new();
    if options.only.is_empty() {
        for layout in grid() {
            misses.extend(compare::<f32>(layout, &options));
        }
        for layout in grid() {
            misses.extend(compare::<f64>(layout, &options));
        }
    }
    for &(layout, single, double) in &options.only {
        if single {
            misses.extend(compare::<f32>(layout, &options));
        }
        if double {
            misses.extend(compare::<f64>(layout, &options));
        }
    }
    for miss in &misses {
        println!("missed: {miss}");
    }
    if misses.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn grid() -> Vec<Layout> {
    let plain = |m, k, n| Layout { m, k, n, lhs_transposed: false, rhs_transposed: false };
    let cubes = [1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128, 255, 256, 512, 1000, 1024];
    let mut grid: Vec<_> = cubes.into_iter().map(|n| plain(n, n, n)).collect();
    grid.extend([
        plain(32, 784, 256),
        plain(128, 784, 512),
        plain(1, 1024, 1024),
        plain(1024, 1024, 1),
        plain(1024, 16, 1024),
        plain(16, 1024, 16),
        plain(10, 256, 32),
        plain(32, 256, 10),
    ]);
    let transposed =
        |layout: Layout, lhs_transposed, rhs_transposed| Layout { lhs_transposed, rhs_transposed, ..layout };
    grid.push(transposed(plain(784, 32, 256), true, false));
    grid.push(transposed(plain(32, 256, 784), false, true));
    grid.push(transposed(plain(1, 1024, 1024), false, true));
    grid.push(transposed(plain(1024, 1024, 1), true, false));
    for n in [8, 31, 64, 128, 512, 1024] {
        for (lhs, rhs) in [(true, false), (false, true), (true, true)] {
            grid.push(transposed(plain(n, n, n), lhs, rhs));
        }
    }
    grid
}

fn parse(text: &str) -> Option<(Layout, bool, bool)> {
    let (text, single, double) = match text.strip_suffix("f64") {
        Some(text) => (text, false, true),
        None => text.strip_suffix("f32").map_or((text, true, true), |text| (text, true, false)),
    };
    let digits = text.trim_end_matches(['n', 't']);
    let mut transposed = text[digits.len()..].chars().map(|letter| letter == 't');
    let extents: Vec<usize> = digits.split('x').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [m, k, n] = extents.try_into().ok()?;
    let lhs_transposed = transposed.next().unwrap_or(false);
    let rhs_transposed = transposed.next().unwrap_or(false);
    Some((Layout { m, k, n, lhs_transposed, rhs_transposed }, single, double))
}

/// The time in seconds of a floating-point operation in code that does nothing but multiply-adds. A multiply-add counts
/// as two.
fn seconds_per_flop<T: Chains>() -> f64 {
    const ROUNDS: u32 = 100_000;

    let start = Clock::Thread.now();
    let flops = T::multiply_adds(simd_level(), ROUNDS);
    Clock::Thread.seconds_since(start) / flops as f64
}

/// Measures a product, prints its row, and returns the bounds that it misses.
fn compare<T: contenders::Scalar + Chains>(layout: Layout, options: &Options) -> Vec<String> {
    let mut case = Case::<T>::new(layout, options.threads);
    let mut best = [f64::INFINITY; 3];
    let mut peak = f64::INFINITY;
    // The contenders take turns, so that a disturbance of the machine affects all. The shortest time of each counts.
    let rounds: Vec<u32> = Contender::ALL.iter().map(|contender| case.rounds(*contender)).collect();
    let clock = Clock::of(options.threads);
    let start = clock.now();
    let mut repeats = 0;
    while repeats < 5 || clock.now() - start < options.budget && repeats < 1000 {
        for ((contender, best), rounds) in Contender::ALL.into_iter().zip(&mut best).zip(&rounds) {
            *best = best.min(case.time(contender, *rounds));
        }
        if layout.is_large() {
            peak = peak.min(seconds_per_flop::<T>());
        }
        repeats += 1;
    }
    case.check();
    let [ours, gemm, matrixmultiply] = best;
    let others = if cfg!(feature = "detect") { gemm.min(matrixmultiply) } else { matrixmultiply };
    let ratio = others / ours;
    let of_peak = layout.flops() * peak / ours / options.threads as f64;
    let name = format!("{} {}", T::NAME, layout);
    let time = |seconds: f64| {
        if seconds < 1e-6 { format!("{:.1} ns", seconds * 1e9) } else { format!("{:.2} µs", seconds * 1e6) }
    };
    let shown = if layout.is_large() { format!("{:5.1} %", 100.0 * of_peak) } else { String::new() };
    println!(
        "{name:24} {:>12} {:>12} {:>12} {ratio:6.2} {:7.1} GFLOP/s {shown}",
        time(ours),
        time(gemm),
        time(matrixmultiply),
        layout.flops() / ours * 1e-9,
    );
    let mut misses = Vec::new();
    if ratio < BOUND {
        misses.push(format!("{name}: {ratio:.2} of the best other"));
    }
    if layout.is_large() && options.threads == 1 && of_peak < PEAK_BOUND {
        misses.push(format!("{name}: {:.1} % of the peak", 100.0 * of_peak));
    }
    misses
}
