//! Compares gradients with central differences.

use mind::{Shape, Tensor};

/// Compares the derivative of `f` by each element of `at` with a central difference.
///
/// # Panics
/// A derivative differs by more than 1e-6 times the largest one, or 1e-6 if none is larger than 1.
pub fn check<S: Shape>(
    name: &str,
    at: &Tensor<f64, S>,
    gradient: &Tensor<f64, S>,
    f: impl Fn(&Tensor<f64, S>) -> f64,
) {
    let largest = gradient.as_slice().iter().fold(1.0_f64, |largest, slope| largest.max(slope.abs()));
    let mut nudged = at.clone();
    for (position, slope) in gradient.as_slice().iter().enumerate() {
        let here = at.as_slice()[position];
        let step = 1e-5 * here.abs().max(1.0);
        let mut f_at = |x: f64| {
            nudged.as_mut_slice()[position] = x;
            f(&nudged)
        };
        let difference = (f_at(here + step) - f_at(here - step)) / (2.0 * step);
        nudged.as_mut_slice()[position] = here;
        assert!(
            (slope - difference).abs() <= 1e-6 * largest,
            "{name}: derivative {position} is {slope}, the central difference {difference}"
        );
    }
    println!("gradient by {name}: {} numbers agree with central differences", at.as_slice().len());
}
