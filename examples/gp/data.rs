//! The lean and the width of handwritten ones, and the comparison with recorded numbers.

use mind::Tensor;

use crate::digits::{Digit, SIDE};
use crate::program::Outcome;
use crate::{Kernel, loss, posterior};

pub type Vector = Tensor![f64; ?];

/// The points at which the posterior is compared.
const PLACES: [f64; 5] = [-0.3, -0.1, 0.0, 0.15, 0.4];

/// The data of the regression.
pub struct Data {
    /// The lean of each one.
    pub x: Vector,
    /// The width of each one, less the mean and divided by the standard deviation of all widths.
    pub y: Vector,
    /// The mean of the widths, in pixels.
    pub mean: f64,
    /// The standard deviation of the widths, in pixels.
    pub scale: f64,
}

impl Data {
    /// The leans and widths of the ones among the digits.
    pub fn new(digits: &[Digit]) -> Self {
        let shapes: Vec<_> = digits.iter().filter(|digit| digit.label == 1).map(lean_and_width).collect();
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            shapes.iter().map(|shape| f(shape[1])).sum::<f64>() / shapes.len() as f64
        };
        let mean = mean_of(&|width| width);
        let scale = mean_of(&|width| (width - mean).powi(2)).sqrt();
        let column = |f: &dyn Fn([f64; 2]) -> f64| Tensor::from_fn_with((shapes.len(),), |[i]| f(shapes[i]));
        Self { x: column(&|[lean, _]| lean), y: column(&|[_, width]| (width - mean) / scale), mean, scale }
    }

    /// The kernel, its loss, and the posterior mean and standard deviation at some places.
    pub fn results(&self, kernel: &Kernel) -> Vec<f64> {
        let places = Tensor::from_fn_with((PLACES.len(),), |[i]| PLACES[i]);
        let (mean, deviation) = posterior(&self.x, &self.y, &places, kernel);
        let loss = loss(&self.x, &self.y, kernel);
        [kernel.as_slice(), &[loss], mean.as_slice(), deviation.as_slice()].concat()
    }
}

/// The shear of the ink, and its standard deviation along the rows.
fn lean_and_width(digit: &Digit) -> [f64; 2] {
    let ink: f64 = digit.pixels.iter().copied().map(f64::from).sum();
    let mean = |f: &dyn Fn(f64, f64) -> f64| {
        let pixels = digit.pixels.iter().enumerate();
        let each = pixels.map(|(at, share)| f64::from(*share) * f((at / SIDE) as f64, (at % SIDE) as f64));
        each.sum::<f64>() / ink
    };
    let (row, column) = (mean(&|row, _| row), mean(&|_, column| column));
    let lean = mean(&|r, c| (r - row) * (c - column)) / mean(&|r, _| (r - row).powi(2));
    [lean, mean(&|_, c| (c - column).powi(2)).sqrt()]
}

/// The recorded numbers, one per line after its name.
fn numbers(recorded: &str) -> Outcome<Vec<f64>> {
    let lines = recorded.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Ok(line.rsplit(' ').next().unwrap_or_default().parse()?)).collect()
}

/// The recorded kernel.
#[cfg(test)]
pub fn recorded_kernel(recorded: &str) -> Outcome<Kernel> {
    let numbers = numbers(recorded)?;
    Ok(Tensor::from_fn(|[i]| numbers[i]))
}

/// The largest difference from the recorded numbers.
pub fn apart(found: &[f64], recorded: &str) -> Outcome<f64> {
    let recorded = numbers(recorded)?;
    if recorded.len() != found.len() {
        return Err(format!("the record has {} numbers, needed {}", recorded.len(), found.len()).into());
    }
    Ok(found.iter().zip(&recorded).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}
