//! Linear least squares: the distance of a polynomial from the sign function at points from -1 to 1.

use mind::Tensor;
use serde::Deserialize;
use serde_json::Value;

use super::{Vector, vector};
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// Half the sum of the squared distances at `t` of the polynomial with coefficients `x`, by Horner's rule.
    #[grad(x)]
    fn distance<M, N>(x: f64[M], t: f64[N]) -> f64 {
        let y = fold y = zeros_like(t) for c in x, reverse = true { y * t + c };
        let miss = sign(t) - y;
        0.5 * sum(miss * miss)
    }
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    n: usize,
}

/// `n` points from -1 to 1, at equal distances.
fn points(n: usize) -> Vector {
    Tensor::from_fn_with((n,), |[i]| -1.0 + i as f64 * 2.0 / (n as f64 - 1.0))
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(|Input { x, n }| Ok((vector(x)?, n)))?;
    match function {
        "primal" => Ok(call.run(|(x, n)| distance(x, &points(*n)), Value::from)),
        "gradient" => {
            Ok(call.run(|(x, n)| distance_grad(x, &points(*n)).1, |gradient| gradient.as_slice().into()))
        }
        _ => Err(Failure::Function(function.into())),
    }
}
