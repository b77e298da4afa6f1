//! The principal components of handwritten digits, and a linear classifier by least squares.
//!
//! ```text
//! cargo run --release --example pca
//! ```
//!
//! The components are the right singular vectors of the pictures less their mean (`linalg::svd`). The classifier fits a
//! linear function of the first components to each digit's indicator (`linalg::lstsq`). Pixels themselves would not do:
//! some are blank in every picture, so their columns are linearly dependent, and least squares has no unique solution.
//!
//! The program prints how much of the variance the components explain, and the accuracy of the classifier on digits that
//! it was not fitted to. It draws the components as pictures, and all digits by their first two coordinates. It fails if
//! its numbers differ from those of NumPy, which `ci/pca` records.

#[path = "../support/canvas.rs"]
mod canvas;
#[path = "../support/digits.rs"]
mod digits;
mod pictures;
#[path = "../support/program.rs"]
mod program;

use std::path::Path;
use std::process::ExitCode;

use mind::{Const, Tensor, mind};

use digits::Digit;
use program::Outcome;

mind! {
    /// The mean picture, the variance along each component in descending order, and the components, one per row.
    fn components<N>(x: f64[N, 64]) -> (f64[64], f64[64], f64[64, 64]) {
        let center = mean(x, axis = 0);
        let (_, s, vt) = linalg::svd(x - center);
        (center, s * s / f64(N), vt)
    }

    /// The coordinates of pictures along components.
    fn coordinates<N, K>(x: f64[N, 64], center: f64[64], vt: f64[K, 64]) -> f64[N, K] { (x - center) @ vt.T }

    /// The pictures with these coordinates.
    fn pictures_of<N, K>(z: f64[N, K], center: f64[64], vt: f64[K, 64]) -> f64[N, 64] { z @ vt + center }

    fn with_one<N, K>(z: f64[N, K]) -> f64[N, K + 1] { concat([z, ones_like(z[.., 0..1])], axis = 1) }

    /// The weights of coordinates, and an offset in the last row, for the score of each digit.
    fn classifier<N, K>(z: f64[N, K], y: i64[N]) -> f64[K + 1, 10] {
        linalg::lstsq(with_one(z), one_hot(y, 10, dtype = f64))
    }

    fn scores<N, K>(z: f64[N, K], w: f64[K + 1, 10]) -> f64[N, 10] { with_one(z) @ w }

    /// The number of digits whose score is the highest, and the mean squared error of the scores.
    fn quality<N, K>(z: f64[N, K], y: i64[N], w: f64[K + 1, 10]) -> (i64, f64) {
        let found = scores(z, w);
        (sum(i64(argmax(found, axis = 1) == y)), nn::mse(found, one_hot(y, 10, dtype = f64)))
    }
}

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/pca/components.png");
const RECORDED: &str = include_str!("numpy.txt");
/// The largest accepted difference from a recorded number, as a fraction of it.
const TOLERANCE: f64 = 1e-9;
/// The numbers of components that are tried, and the number of components that are drawn.
const COUNTS: [usize; 4] = [2, 10, 20, 40];
const DRAWN: usize = 8;

/// Any number of pictures, one per row.
type Pictures = Tensor![f64; ?, 64];
/// The digits that the pictures show.
type Labels = Tensor![i64; ?];
/// Some components, one per row.
type Components = Tensor![f64; ?, 64];

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let digits = digits::load(Path::new(digits::SHIPPED))?;
    let found = Analysis::new(&digits);
    println!(
        "{} digits to learn from, {} to be tested on\n",
        found.training.0.dims()[0],
        found.test.0.dims()[0]
    );
    println!("components   variance explained   error of a pixel   least squares: error   test accuracy");
    for count in COUNTS {
        let Quality { explained, rms, mse, accuracy } = found.quality(count);
        println!("{count:>10} {:>18.1} % {rms:>18.4} {mse:>22.4} {accuracy:>13.1} %", 100.0 * explained);
    }

    let path = Path::new(PICTURE);
    let plane = coordinates(&batch(&digits).0, &found.center, &found.first(2));
    pictures::components(path, found.first(DRAWN).as_slice(), plane.as_slice(), &digits)?;
    println!("\ncomponents: {}", program::shown(path));
    let apart = found.apart()?;
    println!("from the numbers of NumPy: a fraction of {apart:.0e} at most");
    if apart > TOLERANCE {
        return Err(format!("needed {TOLERANCE:e} or less").into());
    }
    Ok(())
}

/// The components of training digits, and digits to test with.
struct Analysis {
    training: (Pictures, Labels),
    test: (Pictures, Labels),
    center: Tensor![f64; 64],
    variances: Tensor![f64; 64],
    components: Tensor![f64; 64, 64],
}

/// The quality of the first components.
struct Quality {
    /// The share of the variance of the pictures.
    explained: f64,
    /// The root of the mean squared error of a pixel in test pictures that are reduced to their coordinates.
    rms: f64,
    /// The mean squared error of the classifier's scores on training digits.
    mse: f64,
    /// The share of test digits that the classifier reads right, in percent.
    accuracy: f64,
}

impl Analysis {
    /// Every fifth digit is one to test with.
    fn new(digits: &[Digit]) -> Self {
        let part = |is_test: bool| -> Vec<Digit> {
            let parts = digits.iter().enumerate().filter(|(at, _)| (at % 5 == 4) == is_test);
            parts.map(|(_, digit)| digit.clone()).collect()
        };
        let [training, test] = [false, true].map(|is_test| batch(&part(is_test)));
        let (center, variances, components) = components(&training.0);
        Self { training, test, center, variances, components }
    }

    fn first(&self, count: usize) -> Components {
        Tensor::from_fn_with((count, Const), |[row, pixel]| self.components[[row, pixel]])
    }

    fn quality(&self, count: usize) -> Quality {
        let (Self { training: (x, y), test: (test_x, test_y), center, .. }, vt) = (self, self.first(count));
        let total = |count: usize| self.variances.as_slice()[..count].iter().sum::<f64>();
        let z = coordinates(x, center, &vt);
        let w = classifier(&z, y);
        let test_z = coordinates(test_x, center, &vt);
        let again = pictures_of(&test_z, center, &vt);
        let (right, _) = quality(&test_z, test_y, &w);
        Quality {
            explained: total(count) / total(64),
            rms: mind!(sqrt(mean((again - test_x) * (again - test_x)))),
            mse: quality(&z, y, &w).1,
            accuracy: 100.0 * right as f64 / test_y.as_slice().len() as f64,
        }
    }

    /// The largest difference from a recorded number, as a fraction of that number.
    fn apart(&self) -> Outcome<f64> {
        let mut found = self.variances.as_slice()[..DRAWN].to_vec();
        for count in COUNTS {
            let Quality { explained, rms, mse, accuracy } = self.quality(count);
            found.extend([explained, rms, mse, accuracy]);
        }
        let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
        let recorded =
            lines.flat_map(str::split_whitespace).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        if recorded.len() != found.len() {
            return Err(format!("the record has {} numbers, needed {}", recorded.len(), found.len()).into());
        }
        let fractions = found.iter().zip(&recorded).map(|(a, b)| (a / b - 1.0).abs());
        Ok(fractions.fold(0.0, f64::max))
    }
}

fn batch(digits: &[Digit]) -> (Pictures, Labels) {
    let x = Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| f64::from(digits[row].pixels[pixel]));
    let y = Tensor::from_fn_with((digits.len(),), |[row]| digits[row].label as i64);
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    mind! {
        use crate::{scores, with_one};

        /// The products of the classifier's columns and errors.
        fn normal<N, K>(z: f64[N, K], y: i64[N], w: f64[K + 1, 10]) -> f64[K + 1, 10] {
            with_one(z).T @ (scores(z, w) - one_hot(y, 10, dtype = f64))
        }
    }

    fn analysis() -> Analysis {
        Analysis::new(&digits::load(Path::new(digits::SHIPPED)).expect("the file is there"))
    }

    #[test]
    fn the_numbers_are_those_of_numpy() {
        let apart = analysis().apart().expect("the record is of these numbers");
        assert!(apart <= TOLERANCE, "{apart}");
    }

    #[test]
    fn all_components_give_the_pictures_again() {
        let found = analysis();
        assert!(found.quality(64).rms < 1e-13);
    }

    /// The residual of least squares is orthogonal to every column.
    #[test]
    fn no_other_weights_have_a_smaller_error() {
        let found = analysis();
        let (x, y) = &found.training;
        let z = coordinates(x, &found.center, &found.first(20));
        let w = classifier(&z, y);
        let along = normal(&z, y, &w).as_slice().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(along < 1e-10, "{along}");
    }
}
