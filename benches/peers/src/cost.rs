//! The least arithmetic and memory traffic that a case needs.

use crate::Case;

/// The work that every program must do.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Additions and multiplications. A fused multiply-add counts as two.
    pub operations: f64,
    /// Bytes of the operands, each read once, and of the results, each written once.
    pub bytes: f64,
}

/// The cost of an exponential: twelve fused multiply-adds, given by the degree of its polynomial and its range
/// reduction.
const EXP: f64 = 24.0;

impl Cost {
    /// A cost of `operations` operations, `functions` exponentials and logarithms, and `bytes` bytes.
    pub fn new(operations: f64, functions: f64, bytes: f64) -> Self {
        Self { operations: operations + EXP * functions, bytes }
    }

    /// The least work that programs of a case must do.
    ///
    /// # Panics
    ///
    /// The project has no program for the workload.
    pub fn of(case: &Case) -> Self {
        let extents: Vec<f64> = case.extents.iter().map(|&extent| extent as f64).collect();
        let (operations, elements) = match (case.workload.as_str(), extents.as_slice()) {
            ("null", _) => (1.0, 2.0),
            ("layer", &[b, i, o]) => (2.0 * b * o * (i + 1.0), b * i + i * o + o + b * o),
            ("mlp_fwd", &[b, i, h, o]) => (2.0 * b * h * (i + o), b * i + parameters(i, h, o) + b * o),
            ("mlp_grad", &[b, i, h, o]) => {
                (2.0 * b * h * (2.0 * i + 3.0 * o), b * i + b * o + 2.0 * parameters(i, h, o))
            }
            ("mlp_step", &[b, i, h, o]) => {
                let parameters = parameters(i, h, o);
                (2.0 * b * h * (2.0 * i + 3.0 * o) + 2.0 * parameters, b * i + b * o + 2.0 * parameters)
            }
            ("chain", &[n]) => (n * (EXP + 6.0), 2.0 * n),
            ("chain_grad", &[n]) => (n * (EXP + 15.0), 4.0 * n),
            ("softmax_xent", &[b, c]) => (b * c * (EXP + 6.0), 3.0 * b * c),
            ("conv_fwd", &[b, h, w, i, o, k]) => {
                let pixels = b * (h - k + 1.0) * (w - k + 1.0);
                (2.0 * pixels * k * k * i * o, b * h * w * i + k * k * i * o + pixels * o)
            }
            ("conv_grad", &[b, h, w, i, o, k]) => {
                let pixels = b * (h - k + 1.0) * (w - k + 1.0);
                (6.0 * pixels * k * k * i * o, 2.0 * (b * h * w * i + k * k * i * o) + pixels * o)
            }
            ("layernorm", &[n, m]) => (7.0 * n * m, 2.0 * n * m),
            ("layernorm_grad", &[n, m]) => (15.0 * n * m, 3.0 * n * m),
            _ => panic!("{} has no cost", case.name()),
        };
        Self { operations, bytes: 4.0 * elements }
    }
}

fn parameters(inputs: f64, hidden: f64, outputs: f64) -> f64 {
    inputs * hidden + hidden + hidden * outputs + outputs
}
