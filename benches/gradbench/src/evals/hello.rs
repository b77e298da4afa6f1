//! The square of a number, and its derivative.

use serde_json::Value;

use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    #[grad(x)]
    fn square(x: f64) -> f64 { x * x }
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<f64>::new(input)?;
    match function {
        "square" => Ok(call.run(|x| square(*x), Value::from)),
        "double" => Ok(call.run(|x| square_grad(*x).1, Value::from)),
        _ => Err(Failure::Function(function.into())),
    }
}
