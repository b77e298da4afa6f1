//! The cases as programs of the project: static shapes, and the functions that its users call.
//!
//! A file a family. In each, a macro writes the program for one size, and a list below it has the sizes.

mod chain;
mod conv;
pub mod dynamic;
mod layer;
mod layernorm;
mod mlp;
mod softmax;

use mind::{Shape, StaticShape, Tensor};

use crate::Case;
use crate::program::Program;

/// The program of a case, or none if it is not one of those in the lists.
///
/// # Panics
///
/// If the inputs of the case cannot be read.
pub fn prepare(case: &Case) -> Option<Box<dyn Program>> {
    match case.workload.as_str() {
        "null" | "layer" => layer::prepare(case),
        "mlp_fwd" | "mlp_grad" | "mlp_step" => mlp::prepare(case),
        "chain" | "chain_grad" => chain::prepare(case),
        "softmax_xent" => softmax::prepare(case),
        "conv_fwd" | "conv_grad" => conv::prepare(case),
        "layernorm" | "layernorm_grad" => layernorm::prepare(case),
        _ => None,
    }
}

/// The input of that name.
fn input<S: StaticShape>(case: &Case, name: &str) -> Tensor<f32, S> {
    let mut tensor = Tensor::zeros();
    let len = tensor.len();
    tensor.as_mut_slice().copy_from_slice(&case.input(name, len));
    tensor
}

/// A named output.
fn named<S: Shape>(name: &'static str, tensor: &Tensor<f32, S>) -> (&'static str, Vec<f32>) {
    (name, tensor.as_slice().to_vec())
}
