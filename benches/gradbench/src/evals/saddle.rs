//! A saddle point: the minimum by `x` of the maximum by `y`, both by gradient descent.

use mind::Tensor;
use serde::Deserialize;
use serde_json::Value;

use super::minimise::minimum;
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    fn height(x: f64[2], y: f64[2]) -> f64 { sum(x * x) - sum(y * y) }

    fn length(x: f64[2]) -> f64 { sqrt(sum(x * x)) }

    /// The gradient with respect to `y`, by forward or reverse mode.
    fn slope(x: f64[2], y: f64[2], const forward: bool) {
        if forward { jacobian(height, wrt = y, mode = forward)(x, y) } else { grad(height, wrt = y)(x, y) }
    }

    /// The `y` of the maximum, by gradient ascent from `start`.
    fn top(x: f64[2], start: f64[2], const forward: bool) {
        let first = slope(x, start, forward = forward);
        let (y, _, _, _, _, _) = while (y, above, slope_y, eta, steps, goes) =
            (start, height(x, start), first, 1e-5, 0, length(first) > 1e-5) if goes, at most = 2000
        {
            let next = y + eta * slope_y;
            if steps == 10 {
                (y, above, slope_y, 2.0 * eta, 0, goes)
            } else if length(y - next) <= 1e-5 {
                (y, above, slope_y, eta, steps, false)
            } else {
                let higher = height(x, next);
                if higher > above {
                    let there = slope(x, next, forward = forward);
                    (next, higher, there, eta, steps + 1, length(there) > 1e-5)
                } else {
                    (y, above, slope_y, eta / 2.0, 0, goes)
                }
            }
        };
        y
    }

    fn top_by_forward(x: f64[2], start: f64[2]) -> f64[2] { top(x, start, forward = true) }
    fn top_by_reverse(x: f64[2], start: f64[2]) -> f64[2] { top(x, start, forward = false) }
    fn by_forward(x: f64[2], start: f64[2]) -> f64 { height(x, top_by_forward(x, start)) }
    fn by_reverse(x: f64[2], start: f64[2]) -> f64 { height(x, top_by_reverse(x, start)) }

    fn forward_over_forward(x: f64[2], start: f64[2]) -> f64[2] {
        jacobian(by_forward, wrt = x, mode = forward)(x, start)
    }
    fn forward_over_reverse(x: f64[2], start: f64[2]) -> f64[2] {
        jacobian(by_reverse, wrt = x, mode = forward)(x, start)
    }
    fn reverse_over_forward(x: f64[2], start: f64[2]) -> f64[2] { grad(by_forward, wrt = x)(x, start) }
    fn reverse_over_reverse(x: f64[2], start: f64[2]) -> f64[2] { grad(by_reverse, wrt = x)(x, start) }
}

#[derive(Deserialize)]
struct Input {
    start: [f64; 2],
}

type Point = mind::Tensor![f64; 2];
/// Functions of `x` and of the point at which the ascent starts.
type Height = fn(&Point, &Point) -> f64;
type Slope = fn(&Point, &Point) -> Point;

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let (value, slope, top): (Height, Slope, Slope) = match function {
        "ff" => (|x, s| by_forward(x, s), |x, s| forward_over_forward(x, s), |x, s| top_by_forward(x, s)),
        "fr" => (|x, s| by_reverse(x, s), |x, s| forward_over_reverse(x, s), |x, s| top_by_forward(x, s)),
        "rf" => (|x, s| by_forward(x, s), |x, s| reverse_over_forward(x, s), |x, s| top_by_reverse(x, s)),
        "rr" => (|x, s| by_reverse(x, s), |x, s| reverse_over_reverse(x, s), |x, s| top_by_reverse(x, s)),
        _ => return Err(Failure::Function(function.into())),
    };
    let saddle = |input: &Input| {
        let start = Tensor::from(input.start);
        let x = minimum(
            input.start,
            |x| value(&Tensor::from(x), &start),
            |x| {
                let slope = slope(&Tensor::from(x), &start);
                [slope.as_slice()[0], slope.as_slice()[1]]
            },
        );
        let y = top(&Tensor::from(x), &start);
        [x[0], x[1], y.as_slice()[0], y.as_slice()[1]]
    };
    Ok(Call::<Input>::new(input)?.run(saddle, |point| point.to_vec().into()))
}
