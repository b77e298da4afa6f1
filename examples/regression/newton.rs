//! Newton's method for convex functions, and standard errors from the Hessian at the minimum.

use mind::Tensor;

use crate::data::Vector;

/// The maximal number of steps: more than Newton's method takes wherever it converges.
const STEPS: usize = 100;
/// The longest step that counts as converged, relative to the standard errors and to the largest coefficient or 1.
/// Convergence is quadratic, so the next step would be about as long as the square of this.
const NEAR: f64 = 1e-8;

/// The reason why no minimum was found.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum Stuck {
    /// The function does not curve upwards along some direction.
    #[error("the Hessian is not positive definite: columns depend on each other, or the data are separated")]
    Flat,
    /// The steps did not become short.
    #[error("no minimum was found in {STEPS} steps of Newton's method")]
    Endless,
}

/// A function of the coefficients, in the form that Newton's method needs.
pub struct Objective<Value, Bend> {
    /// Computes the value and the gradient.
    pub value: Value,
    /// Computes the Hessian times a direction.
    pub bend: Bend,
}

/// The result of a minimisation.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The coefficients at the minimum.
    pub coefficients: Vector,
    /// The standard errors of the coefficients.
    pub errors: Vec<f64>,
    /// The number of steps taken.
    pub steps: usize,
}

impl<Value, Bend> Objective<Value, Bend>
where
    Value: Fn(&Vector) -> (f64, Vector),
    Bend: Fn(&Vector, &Vector) -> Vector,
{
    /// Minimises from `w` on. The standard errors hold for a negative log likelihood: they are the square roots of the
    /// diagonal of the inverse Hessian.
    pub fn minimise(&self, mut w: Vector) -> Result<Fit, Stuck> {
        let (mut value, mut gradient) = (self.value)(&w);
        for steps in 1..=STEPS {
            let hessian = self.hessian(&w)?;
            let step = hessian.solve(gradient.as_slice());
            let squared: f64 = step.iter().zip(gradient.as_slice()).map(|(s, g)| s * g).sum();
            // A step that raises the value is too long. If a step as short as `NEAR` raises it, the cause is rounding.
            let mut share = 1.0;
            let (next, there) = loop {
                let next = moved(&w, -share, &step);
                let there = (self.value)(&next);
                if there.0 <= value || squared.sqrt() * share <= NEAR {
                    break (next, there);
                }
                share *= 0.5;
            };
            w = next;
            (value, gradient) = there;
            let longest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
            if squared.sqrt() <= NEAR && longest(&step) <= NEAR * longest(w.as_slice()).max(1.0) {
                let errors = hessian.inverse_diagonal().into_iter().map(f64::sqrt).collect();
                return Ok(Fit { coefficients: w, errors, steps });
            }
        }
        Err(Stuck::Endless)
    }

    fn hessian(&self, w: &Vector) -> Result<Cholesky, Stuck> {
        let size = w.as_slice().len();
        let columns = (0..size).map(|column| (self.bend)(w, &axis(size, column)));
        Cholesky::new(&columns.map(|column| column.as_slice().to_vec()).collect::<Vec<_>>())
    }
}

fn moved(w: &Vector, share: f64, step: &[f64]) -> Vector {
    Tensor::from_fn_with((step.len(),), |[i]| w[[i]] + share * step[i])
}

fn axis(size: usize, at: usize) -> Vector {
    Tensor::from_fn_with((size,), |[i]| if i == at { 1.0 } else { 0.0 })
}

/// The Cholesky factor of a positive definite matrix: the lower triangle of `L` in `L * L^T`.
pub struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// Factors a symmetric matrix. The elements above the diagonal are not read.
    pub fn new(matrix: &[Vec<f64>]) -> Result<Self, Stuck> {
        let mut lower: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
        for (row, entries) in matrix.iter().enumerate() {
            let mut made = Vec::with_capacity(row + 1);
            for column in 0..row {
                let other = &lower[column];
                made.push((entries[column] - dot(&made, &other[..column])) / other[column]);
            }
            let left = entries[row] - dot(&made, &made);
            // A smaller remainder of the diagonal is rounding only.
            if left.is_nan() || left <= 1e-13 * entries[row].abs() {
                return Err(Stuck::Flat);
            }
            made.push(left.sqrt());
            lower.push(made);
        }
        Ok(Self(lower))
    }

    /// Solves `matrix * x = y` for `x`.
    pub fn solve(&self, y: &[f64]) -> Vec<f64> {
        let Self(lower) = self;
        let mut x: Vec<f64> = Vec::with_capacity(y.len());
        for (row, y) in lower.iter().zip(y) {
            x.push((y - dot(&row[..x.len()], &x)) / row[x.len()]);
        }
        for at in (0..x.len()).rev() {
            let behind: f64 = (at + 1..x.len()).map(|row| lower[row][at] * x[row]).sum();
            x[at] = (x[at] - behind) / lower[at][at];
        }
        x
    }

    /// The diagonal of the inverse matrix.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let size = self.0.len();
        (0..size).map(|at| self.solve(axis(size, at).as_slice())[at]).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_solved_and_its_inverse_has_that_diagonal() {
        let matrix = [vec![4.0, 2.0, 0.6], vec![2.0, 5.0, 1.0], vec![0.6, 1.0, 3.0]];
        let Ok(factor) = Cholesky::new(&matrix) else { panic!("it is positive definite") };
        let x = factor.solve(&[1.0, -2.0, 3.0]);
        for (row, y) in matrix.iter().zip([1.0, -2.0, 3.0]) {
            assert!((dot(row, &x) - y).abs() < 1e-14, "{x:?}");
        }
        // The cofactors, divided by the determinant.
        let determinant = 4.0 * (15.0 - 1.0) - 2.0 * (6.0 - 0.6) + 0.6 * (2.0 - 3.0);
        let needed = [14.0, 12.0 - 0.36, 20.0 - 4.0].map(|cofactor| cofactor / determinant);
        for (found, needed) in factor.inverse_diagonal().into_iter().zip(needed) {
            assert!((found - needed).abs() < 1e-14, "{found} for {needed}");
        }
    }

    #[test]
    fn columns_that_depend_on_each_other_are_an_error() {
        for matrix in [vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![vec![-1.0]], vec![vec![f64::NAN]]] {
            assert!(matches!(Cholesky::new(&matrix), Err(Stuck::Flat)), "{matrix:?}");
        }
    }

    #[test]
    fn a_step_that_leads_up_is_shortened_and_what_has_no_minimum_is_an_error() {
        // Full Newton steps on this function diverge from a start beyond 1.4.
        let round = Objective {
            value: |w: &Vector| ((1.0 + w[[0]] * w[[0]]).sqrt(), w.map(|w| w / (1.0 + w * w).sqrt())),
            bend: |w: &Vector, _: &Vector| w.map(|w| (1.0 + w * w).powf(-1.5)),
        };
        let start = Tensor::full_with((1,), 3.0);
        let fit = round.minimise(start.clone()).expect("there is a minimum");
        assert!(fit.coefficients[[0]].abs() < 1e-12 && fit.errors == [1.0], "{fit:?}");
        let slope = Objective {
            value: |w: &Vector| ((-w[[0]]).exp(), w.map(|w| -(-w).exp())),
            bend: |w: &Vector, _: &Vector| w.map(|w| (-w).exp()),
        };
        assert_eq!(slope.minimise(start).map(|fit| fit.steps), Err(Stuck::Endless));
    }
}
