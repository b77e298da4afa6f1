//! A charged particle whose path shall meet the origin: a minimum over paths, each by the gradient of a potential.

use serde::Deserialize;
use serde_json::Value;

use super::minimise::minimum;
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// The potential of two charges at `x`. The control `w` moves one of them.
    fn potential(x: f64[2], w: f64) -> f64 {
        let (first, second) = (x - [10.0, 10.0 - w], x - [10.0, 0.0]);
        1.0 / sqrt(sum(first * first)) + 1.0 / sqrt(sum(second * second))
    }

    /// The square of the place at which the path meets the axis, from the last place above it.
    fn target(x: f64[2], v: f64[2]) -> f64 {
        let place = x[0] - x[1] / v[1] * v[0];
        place * place
    }

    /// The gradient of the potential with respect to `x`, by forward or reverse mode.
    fn slope(x: f64[2], w: f64, const forward: bool) {
        if forward { jacobian(potential, wrt = x, mode = forward)(x, w) } else { grad(potential, wrt = x)(x, w) }
    }

    /// Euler's method from a place and a speed, until the particle is below the axis.
    fn path(x: f64[2], v: f64[2], w: f64, const forward: bool) {
        let (_, _, x, v) = while (next, next_v, _x, _v) = (x, v, x, v) if next[1] >= 0.0, at most = 1000 {
            (next + 0.1 * next_v, next_v - 0.1 * slope(next, w, forward = forward), next, next_v)
        };
        target(x, v)
    }

    fn by_forward(w: f64) -> f64 { path([0.0, 8.0], [0.75, 0.0], w, forward = true) }
    fn by_reverse(w: f64) -> f64 { path([0.0, 8.0], [0.75, 0.0], w, forward = false) }

    fn forward_over_forward(w: f64) -> f64 { jacobian(by_forward, wrt = w, mode = forward)(w) }
    fn forward_over_reverse(w: f64) -> f64 { jacobian(by_reverse, wrt = w, mode = forward)(w) }
    fn reverse_over_forward(w: f64) -> f64 { grad(by_forward, wrt = w)(w) }
    fn reverse_over_reverse(w: f64) -> f64 { grad(by_reverse, wrt = w)(w) }
}

#[derive(Deserialize)]
struct Input {
    w: f64,
}

type Function = fn(f64) -> f64;

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let (value, slope): (Function, Function) = match function {
        "ff" => (by_forward, forward_over_forward),
        "fr" => (by_reverse, forward_over_reverse),
        "rf" => (by_forward, reverse_over_forward),
        "rr" => (by_reverse, reverse_over_reverse),
        _ => return Err(Failure::Function(function.into())),
    };
    let least = |input: &Input| minimum([input.w], |[w]| value(w), |[w]| [slope(w)]);
    Ok(Call::<Input>::new(input)?.run(least, |[w]| w.into()))
}
