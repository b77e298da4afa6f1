//! An ordinary differential equation by steps of Runge and Kutta.

use mind::Tensor;
use serde::Deserialize;
use serde_json::Value;

use super::vector;
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// The derivatives of `y`: `x₀`, then `xᵢ yᵢ₋₁`.
    fn slope<N>(x: f64[N], y: f64[N]) -> f64[N] { x * concat([[1.0], y[..-1]]) }

    /// The state after steps of these lengths, from zeros.
    fn solve<N, S>(x: f64[N], steps: f64[S]) -> f64[N] {
        fold y = zeros_like(x) for h in steps {
            let k1 = slope(x, y);
            let k2 = slope(x, y + h * k1 / 2.0);
            let k3 = slope(x, y + h * k2 / 2.0);
            let k4 = slope(x, y + h * k3);
            y + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
        }
    }

    #[grad(x)]
    fn last<N, S>(x: f64[N], steps: f64[S]) -> f64 { solve(x, steps)[-1] }
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    s: usize,
}

/// The time at the end.
const END: f64 = 2.0;

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?
        .prepared(|Input { x, s }| Ok((vector(x)?, Tensor::full_with((s,), END / s as f64))))?;
    match function {
        "primal" => Ok(call.run(|(x, steps)| solve(x, steps), |y| y.as_slice().into())),
        "gradient" => Ok(call.run(|(x, steps)| last_grad(x, steps).1, |gradient| gradient.as_slice().into())),
        _ => Err(Failure::Function(function.into())),
    }
}
