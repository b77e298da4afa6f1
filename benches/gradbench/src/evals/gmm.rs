//! The logarithm of the posterior probability of a mixture of Gaussians with a Wishart prior.

use mind::Tensor;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Matrix, matrix, rows, vector};
use crate::protocol::{Call, Evaluation, Failure};

mind::mind! {
    /// The parameters of a mixture of `K` Gaussians in `D` dimensions.
    struct Mixture<K, D, L> {
        alpha: f64[K],
        mu: f64[K, D],
        /// The logarithms of the diagonals of the factors of the precision matrices.
        q: f64[K, D],
        /// The parts of the factors below the diagonal, column by column.
        l: f64[K, L],
    }

    /// The factor of a precision matrix. `place` has the position in `l` of each element below the diagonal.
    fn factor<D, L>(q: f64[D], l: f64[L], place: i64[D, D]) -> f64[D, D] {
        num::diag(exp(q)) + num::tril(gather(l, place), offset = -1)
    }

    /// The logarithm of the sum of exponentials along the first axis.
    fn log_sum_exp<K, N>(x: f64[K, N]) -> f64[N] {
        let top = max(x, axis = 0);
        top + log(sum(exp(x - top), axis = 0))
    }

    /// The logarithm of the multivariate gamma function.
    fn log_gamma<D>(a: f64, axes: f64[D]) -> f64 {
        0.25 * D * (D - 1.0) * log(3.141592653589793) + sum(lgamma(a - 0.5 * axes))
    }

    #[grad(p)]
    fn objective<K, D, L, N>(
        p: Mixture<K, D, L>, x: f64[N, D], place: i64[D, D], gamma: f64, m: f64
    ) -> f64 {
        // A row for each Gaussian, a column for each point.
        let terms = for (alpha, mu, q, l) in (p.alpha, p.mu, p.q, p.l) {
            let y = (x - mu) @ factor(q, l, place).T;
            alpha + sum(q) - 0.5 * sum(y * y, axis = -1)
        };
        let weights = log_sum_exp(expand_dims(p.alpha, axes = [1]));
        let likelihood = sum(log_sum_exp(terms)) - N * sum(weights) - 0.5 * N * D * log(6.283185307179586);
        let diagonal = exp(p.q);
        let size = sum(diagonal * diagonal) + sum(p.l * p.l);
        let freedom = m + D + 1.0;
        let constant = freedom * D * (log(gamma) - 0.5 * log(2.0)) - log_gamma(0.5 * freedom, f64(iota(D)));
        likelihood + K * constant - 0.5 * gamma * gamma * size + m * sum(p.q)
    }
}

#[derive(Deserialize)]
struct Input {
    d: usize,
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
    x: Vec<Vec<f64>>,
    m: f64,
    gamma: f64,
}

struct Problem {
    mixture: Mixture<usize, usize, usize>,
    x: Matrix,
    place: mind::Tensor![i64; ?, ?],
    gamma: f64,
    m: f64,
}

impl Problem {
    fn new(input: Input) -> Result<Self, Failure> {
        let Input { d, alpha, mu, q, l, x, m, gamma } = input;
        // The column `j` of the part below the diagonal begins after `j` columns of `d - 1`, `d - 2`, … elements.
        let place = |[i, j]: [usize; 2]| if i > j { (j * (2 * d - j - 1) / 2 + i - j - 1) as i64 } else { 0 };
        Ok(Self {
            mixture: Mixture {
                alpha: vector(alpha)?,
                mu: matrix(&mu, d)?,
                q: matrix(&q, d)?,
                l: matrix(&l, d * (d - 1) / 2)?,
            },
            x: matrix(&x, d)?,
            place: Tensor::from_fn_with((d, d), place),
            gamma,
            m,
        })
    }
}

pub fn evaluate(function: &str, input: Value) -> Result<Evaluation, Failure> {
    let call = Call::<Input>::new(input)?.prepared(Problem::new)?;
    match function {
        "objective" => Ok(call.run(|p| objective(&p.mixture, &p.x, &p.place, p.gamma, p.m), Value::from)),
        "jacobian" => {
            let gradient = |p: &Problem| objective_grad(&p.mixture, &p.x, &p.place, p.gamma, p.m).1;
            Ok(call.run(gradient, |Mixture { alpha, mu, q, l }| {
                json!({ "alpha": alpha.as_slice(), "mu": rows(&mu), "q": rows(&q), "l": rows(&l) })
            }))
        }
        _ => Err(Failure::Function(function.into())),
    }
}
