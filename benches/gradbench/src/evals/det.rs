//! The determinant by expansion by minors.

use serde::Deserialize;
use serde_json::Value;

use super::{Vector, vector};
use crate::protocol::{Call, Evaluation, Failure};

mind::include_ks!("det.ks", export = [determinant], grad = [determinant]);

#[derive(Deserialize)]
struct Input {
    #[serde(rename = "A")]
    a: Vec<f64>,
    ell: i64,
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(|Input { a, ell }| Ok((vector(a)?, ell)))?;
    let gradient = |(a, n): &(Vector, i64)| rev_determinant(a, *n, 1.0);
    match function {
        "primal" => Ok(call.run(|(a, n)| determinant(a, *n), Value::from)),
        "gradient" => Ok(call.run(gradient, |(gradient, ())| gradient.as_slice().into())),
        _ => Err(Failure::Function(function.into())),
    }
}
