//! The logarithm of the sum of exponentials.

use serde::Deserialize;
use serde_json::Value;

use super::vector;
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    #[grad(x)]
    fn log_sum_exp<N>(x: f64[N]) -> f64 {
        let a = max(x);
        a + log(sum(exp(x - a)))
    }
}

#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(|input| vector(input.x))?;
    match function {
        "primal" => Ok(call.run(|x| log_sum_exp(x), Value::from)),
        "gradient" => Ok(call.run(|x| log_sum_exp_grad(x).1, |gradient| gradient.as_slice().into())),
        _ => Err(Failure::Function(function.into())),
    }
}
