//! What cases need at least: arithmetic and memory traffic.

use crate::Case;

/// Work that no program can leave out.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Additions and multiplications, two to a fused one.
    pub operations: f64,
    /// Bytes of the operands, read once, and of the results, written once.
    pub bytes: f64,
}

/// What an exponential costs: twelve fused multiply-adds, by the degree of its polynomial and the reduction before it.
const EXP: f64 = 24.0;

impl Cost {
    /// So many operations, so many exponentials and logarithms, and so many bytes.
    pub fn new(operations: f64, functions: f64, bytes: f64) -> Self {
        Self { operations: operations + EXP * functions, bytes }
    }

    /// What the programs of a case cannot leave out.
    ///
    /// # Panics
    ///
    /// If the workload is none that the project has a program for.
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
