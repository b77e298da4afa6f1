//! Regression that is robust against outliers: minimises `huber` by Newton's method and estimates the scale of the
//! errors.

use mind::{Tensor, mind};

use crate::data::{Matrix, Vector};
use crate::newton::{Cholesky, Fit, Objective, Stuck};
use crate::{huber_bend, huber_grad};

/// The size at which errors begin to count linearly instead of quadratically, in units of the scale. For normal errors
/// the coefficients then have 95 % of the efficiency of least squares: 1 / 0.95 times the variance (Huber 1964).
const THRESHOLD: f64 = 1.345;
/// The maximal number of estimates of the scale.
const TURNS: usize = 200;
/// The median of the absolute value of normal errors, in standard deviations.
const MEDIAN: f64 = 0.674_489_750_196_081_7;

/// Starts from least squares and updates coefficients and scale alternately until the scale is constant.
pub fn fit(x: &Matrix, y: &Vector) -> Result<Fit, Stuck> {
    let mut w = least_squares(x, y)?;
    let mut scale = spread(&misses(x, y, &w));
    let mut steps = 0;
    for _ in 0..TURNS {
        let mut fit = Objective {
            value: |w: &Vector| huber_grad(x, y, w, scale),
            bend: |w: &Vector, direction: &Vector| huber_bend(x, y, w, scale, direction),
        }
        .minimise(w)?;
        steps += fit.steps;
        let misses = misses(x, y, &fit.coefficients);
        let before = std::mem::replace(&mut scale, spread(&misses));
        if (scale / before - 1.0).abs() < 1e-11 {
            let correction = correction(&misses, scale, x.dims()[1]);
            fit.errors.iter_mut().for_each(|error| *error *= correction);
            return Ok(Fit { steps, ..fit });
        }
        w = fit.coefficients;
    }
    Err(Stuck::Endless)
}

/// Solves the normal equations.
fn least_squares(x: &Matrix, y: &Vector) -> Result<Vector, Stuck> {
    let products = mind!(x.T @ x);
    let [_, columns] = x.dims();
    let rows: Vec<_> = products.as_slice().chunks(columns).map(<[f64]>::to_vec).collect();
    let w = Cholesky::new(&rows)?.solve(mind!(x.T @ y).as_slice());
    Ok(Tensor::from_fn_with((columns,), |[i]| w[i]))
}

fn misses(x: &Matrix, y: &Vector, w: &Vector) -> Vector {
    mind!(y - x @ w).into()
}

/// The standard deviation of the errors, estimated by their median absolute value, which few outliers hardly change.
fn spread(misses: &Vector) -> f64 {
    let mut sizes: Vec<_> = misses.as_slice().iter().map(|miss| miss.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let half = sizes.len() / 2;
    let median = if sizes.len() % 2 == 1 { sizes[half] } else { 0.5 * (sizes[half - 1] + sizes[half]) };
    median / MEDIAN
}

/// The factor from the square roots of the diagonal of the inverse Hessian to standard errors. It is needed because the
/// Huber loss is not the negative log likelihood of the errors (Huber, *Robust Statistics*, 1981, equation 7.6.6).
fn correction(misses: &Vector, scale: f64, columns: usize) -> f64 {
    let [count] = misses.dims();
    let r = mind!(misses / scale);
    let squares = mind!(sum(pow(minimum(abs(r), THRESHOLD), 2.0)));
    let small = mind!(mean(f64(abs(r) <= THRESHOLD)));
    let few = 1.0 + columns as f64 / count as f64 * (1.0 - small) / small;
    (few * squares / ((count - columns) as f64 * small)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_moves_least_squares_and_hardly_this() {
        let x = Tensor::from_fn_with((20, 2), |[i, j]| if j == 0 { 1.0 } else { i as f64 });
        let y = Tensor::from_fn_with((20,), |[i]| {
            let noise = if i % 2 == 0 { 0.1 } else { -0.1 };
            2.0 + 0.5 * i as f64 + if i == 19 { 40.0 } else { noise }
        });
        let squares = least_squares(&x, &y).expect("columns differ");
        let robust = fit(&x, &y).expect("columns differ").coefficients;
        assert!((squares[[1]] - 0.5).abs() > 0.5, "{squares}");
        assert!((robust[[1]] - 0.5).abs() < 0.02, "{robust}");
    }

    #[test]
    fn the_spread_is_that_of_normal_errors() {
        let at = |sizes: &[f64]| spread(&Tensor::from_fn_with((sizes.len(),), |[i]| sizes[i]));
        assert_eq!(at(&[MEDIAN, -1000.0, 0.0]), 1.0);
        assert_eq!(at(&[1.0, -3.0, 0.0, 100.0]), 2.0 / MEDIAN);
    }
}
