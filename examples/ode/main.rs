//! An implicit solver for stiff differential equations: Robertson's reactions over eleven decades of time.
//!
//! ```text
//! cargo run --release --example ode
//! ```
//!
//! Three substances react at rates that differ by nine powers of ten (Robertson, *The Solution of a Set of Reaction Rate
//! Equations*, 1966), so an explicit method would need steps of a millisecond for the whole time. The method of Radau
//! of order 5 solves 9 equations in each step, by Newton's method: the compiler derives their Jacobian, and
//! `linalg::solve` solves the linear systems. All of it is one program with two nested loops, and the compiler also
//! differentiates the whole solution by the logarithms of the rate constants.
//!
//! The program prints the amounts at some times and the derivatives of the last ones, and draws the amounts over time.
//! It fails if its numbers differ from those of SciPy, which `ci/ode` records. The coefficients are those of Hairer and
//! Wanner, *Solving Ordinary Differential Equations II*, 1996, section IV.5.

#[path = "../support/differences.rs"]
mod differences;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/svg.rs"]
mod svg;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use mind::{Tensor, mind};

use program::Outcome;
use svg::{Anchor, BLUE, Chart, Drawing, INK, RED};

mind! {
    /// The change of the amounts in a second. `logs` has the logarithms of the rate constants.
    fn change(y: f64[3], logs: f64[3]) -> f64[3] {
        let slow = exp(logs[0]) * y[0];
        let fast = exp(logs[1]) * y[1] * y[1];
        let back = exp(logs[2]) * y[1] * y[2];
        [back - slow, slow - back - fast, fast]
    }

    /// Each row has the weights of the three changes in a stage of a step. The last stage is the end of the step.
    fn stages() -> f64[3, 3] {
        let r = sqrt(6.0);
        [
            [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (3.0 * r - 2.0) / 225.0],
            [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-3.0 * r - 2.0) / 225.0],
            [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
        ]
    }

    /// The changes `k` in the three stages of a step of `h` seconds from `y`, less those that the equation gives there.
    fn residual(k: f64[3, 3], y: f64[3], h: f64, logs: f64[3]) -> f64[3, 3] {
        k - vmap(change, over = y)(y + h * (stages() @ k), logs)
    }

    /// One step of Newton's method for the changes in the stages.
    fn newton(k: f64[3, 3], y: f64[3], h: f64, logs: f64[3]) -> f64[3, 3] {
        let slopes = reshape(jacobian(residual, wrt = k)(k, y, h, logs), [9, 9]);
        let miss = reshape(residual(k, y, h, logs), [9, 1]);
        k - reshape(linalg::solve(slopes, miss), [3, 3])
    }

    /// The amounts after a step of `h` seconds.
    fn step(y: f64[3], h: f64, logs: f64[3]) -> f64[3] {
        let k = fold k = zeros([3, 3]) for _ in 0..6 { newton(k, y, h, logs) };
        y + h * (stages() @ k)[2]
    }

    /// The amounts after each of the steps `h`. All of the first substance is there at first.
    fn solve<T>(h: f64[T], logs: f64[3]) -> f64[T, 3] {
        let (_, all) = scan y = [1.0, 0.0, 0.0] for h in h {
            let next = step(y, h, logs);
            (next, next)
        };
        all
    }

    /// The amounts at the end.
    fn last<T>(h: f64[T], logs: f64[3]) -> f64[3] { solve(h, logs)[-1] }

    /// The derivative of each amount at the end by each logarithm of a rate constant: forward through all steps.
    fn sensitivity<T>(h: f64[T], logs: f64[3]) -> f64[3, 3] { jacobian(last, wrt = logs)(h, logs) }

    /// The amount of the third substance at the end, and its gradient: backward through all steps.
    #[grad(logs)]
    fn product<T>(h: f64[T], logs: f64[3]) -> f64 { last(h, logs)[2] }
}

/// The rate constants.
const RATES: [f64; 3] = [0.04, 3e7, 1e4];
/// The powers of ten between which the ends of the steps lie.
const FIRST: f64 = -6.0;
const DECADES: usize = 11;
/// The number of steps for each power of ten.
const STEPS: usize = 40;
/// The ends of decades at which amounts are printed and compared: from 10 ms on.
const SHOWN: usize = 4;
const RECORDED: &str = include_str!("scipy.txt");
/// The largest accepted difference from a recorded number, as a fraction of it.
const TOLERANCE: f64 = 1e-8;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/ode/robertson.svg");

type Steps = Tensor![f64; ?];
type Logs = Tensor![f64; 3];

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let (times, steps, logs) = (times(), steps(), logs());
    let start = Instant::now();
    let amounts = solve(&steps, &logs);
    let seconds = start.elapsed().as_secs_f64();
    println!("{} steps in {:.1} ms\n", times.len(), seconds * 1e3);
    println!("{:>9} {:>10} {:>10} {:>10}", "seconds", "first", "second", "third");
    for at in shown() {
        let [a, b, c] = [0, 1, 2].map(|substance| amounts[[at, substance]]);
        println!("{:>9.2} {a:>10.6} {b:>10.3e} {c:>10.6}", times[at]);
    }

    let start = Instant::now();
    let by_logs = sensitivity(&steps, &logs);
    let forward = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let (_, gradient) = product_grad(&steps, &logs);
    let backward = start.elapsed().as_secs_f64();
    println!("\nderivatives by the logarithms of the rate constants, at the end");
    for (substance, name) in ["first", "second", "third"].into_iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|rate| by_logs[[substance, rate]]);
        println!("{name:>9} {a:>10.3e} {b:>10.3e} {c:>10.3e}");
    }
    println!("in {:.1} ms forward; those of the third in {:.1} ms backward", forward * 1e3, backward * 1e3);
    differences::check("logarithms", &logs, &gradient, |logs| product(&steps, logs));

    let path = Path::new(PICTURE);
    draw(&times, &amounts).save(path)?;
    println!("amounts: {}", program::shown(path));
    let apart = apart(&amounts, &by_logs)?;
    println!("from the numbers of SciPy: a fraction of {apart:.0e} at most");
    if apart > TOLERANCE {
        return Err(format!("needed {TOLERANCE:e} or less").into());
    }
    Ok(())
}

/// The ends of the steps, in seconds.
fn times() -> Vec<f64> {
    let power = |at: usize| FIRST + at as f64 / STEPS as f64;
    (0..=DECADES * STEPS).map(|at| 10_f64.powf(power(at))).collect()
}

/// The lengths of the steps.
fn steps() -> Steps {
    let times = times();
    Tensor::from_fn_with((times.len(),), |[at]| if at == 0 { times[0] } else { times[at] - times[at - 1] })
}

fn logs() -> Logs {
    Logs::from(RATES.map(f64::ln))
}

/// The steps whose amounts are printed and compared.
fn shown() -> impl Iterator<Item = usize> {
    (SHOWN..=DECADES).map(|decade| decade * STEPS)
}

/// The largest difference from a number of SciPy, as a fraction of that number.
fn apart(amounts: &Tensor![f64; ?, 3], by_logs: &Tensor![f64; 3, 3]) -> Outcome<f64> {
    let mut found = Vec::new();
    for at in shown() {
        found.extend([0, 1, 2].map(|substance| amounts[[at, substance]]));
    }
    found.extend(by_logs.as_slice());
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let recorded = lines.flat_map(str::split_whitespace).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    if recorded.len() != found.len() {
        return Err(format!("the record has {} numbers, needed {}", recorded.len(), found.len()).into());
    }
    let fractions = found.iter().zip(&recorded).map(|(a, b)| (a / b - 1.0).abs());
    Ok(fractions.fold(0.0, f64::max))
}

/// Draws the amounts over the logarithm of the time.
fn draw(times: &[f64], amounts: &Tensor![f64; ?, 3]) -> Drawing {
    let mut drawing = Drawing::new(820.0, 440.0);
    let last = FIRST + DECADES as f64;
    let chart = Chart { corner: [60.0, 80.0], size: [720.0, 300.0], x: [FIRST, last], y: [0.0, 1.0] };
    chart.axes(&mut drawing, "amount, over the logarithm to base 10 of the seconds", [1.0, 0.2]);
    let substances = [("first", BLUE, 1.0), ("second, times 20,000", INK, 2e4), ("third", RED, 1.0)];
    for (at, (text, colour, factor)) in substances.into_iter().enumerate() {
        drawing.text([60.0 + 200.0 * at as f64, 30.0], Anchor::Start, text, colour);
        let points =
            times.iter().enumerate().map(|(step, time)| [time.log10(), factor * amounts[[step, at]]]);
        chart.curve(&mut drawing, points, 2.0, colour);
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_derivatives_are_those_of_scipy() {
        let apart = apart(&solve(&steps(), &logs()), &sensitivity(&steps(), &logs()));
        let apart = apart.expect("the record is of these numbers");
        assert!(apart <= TOLERANCE, "{apart}");
    }

    #[test]
    fn forward_and_backward_derivatives_agree() {
        let by_logs = sensitivity(&steps(), &logs());
        let (value, gradient) = product_grad(&steps(), &logs());
        assert_eq!(value, last(&steps(), &logs())[[2]]);
        for rate in 0..3 {
            let (forward, backward) = (by_logs[[2, rate]], gradient[[rate]]);
            assert!((forward - backward).abs() <= 1e-9 * forward.abs(), "{forward} and {backward}");
        }
    }

    /// The three stages of a step integrate polynomials of degree 4 exactly, so a step has an error of order 6.
    #[test]
    fn half_the_step_has_a_sixty_fourth_of_the_error() {
        let far = |count: usize, length: f64| {
            let mut y = Tensor::from([0.7, 2e-5, 0.3]);
            for _ in 0..count {
                y = step(&y, length / count as f64, &logs());
            }
            y[[0]]
        };
        let exact = far(64, 40.0);
        let [one, two] = [2, 4].map(|count| (far(count, 40.0) - exact).abs());
        assert!((20.0..50.0).contains(&(one / two)), "{one:e} and {two:e}");
    }

    #[test]
    fn nothing_is_lost() {
        let amounts = solve(&steps(), &logs());
        for amounts in amounts.as_slice().chunks(3) {
            assert!((amounts.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{amounts:?}");
        }
    }
}
