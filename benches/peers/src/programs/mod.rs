//! The project's programs for the cases: functions as users call them, with static shapes.
//!
//! Each family has a file. In it, a macro writes the program for one size, and the list below the macro has the sizes.

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

/// The workloads and extents that have programs, in the order of the peers' list.
pub const CASES: [(&str, &[usize]); 30] = [
    ("null", &[1]),
    ("layer", &[1, 4, 8]),
    ("layer", &[32, 64, 32]),
    ("layer", &[32, 784, 256]),
    ("layer", &[128, 784, 512]),
    ("layer", &[256, 1024, 1024]),
    ("mlp_fwd", &[1, 4, 8, 2]),
    ("mlp_fwd", &[32, 64, 32, 10]),
    ("mlp_fwd", &[32, 784, 256, 10]),
    ("mlp_fwd", &[128, 784, 512, 10]),
    ("mlp_grad", &[1, 4, 8, 2]),
    ("mlp_grad", &[32, 64, 32, 10]),
    ("mlp_grad", &[32, 784, 256, 10]),
    ("mlp_grad", &[128, 784, 512, 10]),
    ("mlp_step", &[1, 4, 8, 2]),
    ("mlp_step", &[32, 64, 32, 10]),
    ("mlp_step", &[32, 784, 256, 10]),
    ("mlp_step", &[128, 784, 512, 10]),
    ("chain", &[1000]),
    ("chain_grad", &[1000]),
    ("chain", &[1_000_000]),
    ("chain_grad", &[1_000_000]),
    ("softmax_xent", &[128, 10]),
    ("softmax_xent", &[512, 1000]),
    ("conv_fwd", &[8, 28, 28, 1, 16, 3]),
    ("conv_grad", &[8, 28, 28, 1, 16, 3]),
    ("conv_fwd", &[8, 28, 28, 16, 32, 3]),
    ("conv_grad", &[8, 28, 28, 16, 32, 3]),
    ("layernorm", &[512, 768]),
    ("layernorm_grad", &[512, 768]),
];

/// The program of a case, or `None` if the lists do not contain it.
///
/// # Panics
///
/// The inputs of the case cannot be read.
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

/// The input with this name.
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
