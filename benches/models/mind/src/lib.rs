//! Whole models in `mind!`. Each is a program of its own in `bin`, timed by `benches/models/run`.

#[path = "../../shared/inputs.rs"]
pub mod inputs;
#[path = "../../shared/serve.rs"]
pub mod serve;

pub mod gpt;
pub mod transformer;

use mind::{Parameters, Tensor};

/// Sets all parameters to numbers that are the same in every library.
pub fn fill<P: Parameters>(mut parameters: P) -> P {
    let mut index = 0;
    parameters.visit_mut(&mut |part| {
        let name = part.name.into_owned();
        if let mind::ElementsMut::F32(elements) = part.elements {
            elements.copy_from_slice(&inputs::parameter(&name, index, elements.len()));
        }
        index += 1;
    });
    parameters
}

/// The norm of all parameters, which every library must agree on after some steps.
pub fn norm(parameters: &impl Parameters) -> f32 {
    let parts = parameters.parameters();
    inputs::norm(parts.iter().filter_map(|part| part.as_slice::<f32>()))
}

/// A matrix of `i64` from integers in row-major order.
pub fn tokens<const N: usize>(integers: &[u32]) -> Tensor<i64, (usize, mind::Const<N>)> {
    Tensor::from_fn_with((integers.len() / N, mind::Const), |[row, at]| i64::from(integers[row * N + at]))
}
