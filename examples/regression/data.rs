//! Three regression problems on the digits, as matrices.

use mind::{Rng, Tensor};

use crate::digits::{CLASSES, Digit, SIDE};

/// One row per picture, one column per quantity.
pub type Matrix = Tensor![f64; ?, ?];
/// One number per picture, or one per column.
pub type Vector = Tensor![f64; ?];

/// The statistical model of the quantity to predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// Truth values whose log odds are linear in the quantities.
    Logistic,
    /// Counts with the Poisson distribution; the log of their mean is linear in the quantities.
    Poisson,
    /// Numbers that are linear in the quantities, with a few large errors.
    Huber,
}

/// Quantities of pictures, and the one to predict from the others.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The problem's name in the record.
    pub name: &'static str,
    /// The question that the problem answers.
    pub question: &'static str,
    /// The statistical model of `y`.
    pub model: Model,
    /// The names of the columns of `x`.
    pub columns: Vec<String>,
    /// The known quantities of each picture.
    pub x: Matrix,
    /// The quantity to predict, one per picture.
    pub y: Vector,
}

/// The three problems.
pub fn problems(digits: &[Digit]) -> [Problem; 3] {
    let of = |labels: &[usize]| -> Vec<&Digit> {
        digits.iter().filter(|digit| labels.contains(&digit.label)).collect()
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    [
        Problem::new(
            ("logistic", "The odds that a 3 or 8 is an 8, by the ink in each quarter of the picture"),
            Model::Logistic,
            names(&["constant", "upper left", "upper right", "lower left", "lower right"]),
            &of(&[3, 8]),
            |digit| {
                let quarter = |below: usize, right: usize| {
                    ink(digit, |row, column| [row, column].map(|at| at / (SIDE / 2)) == [below, right])
                };
                let quarters = [quarter(0, 0), quarter(0, 1), quarter(1, 0), quarter(1, 1)];
                ([&[1.0][..], &quarters].concat(), f64::from(u8::from(digit.label == 8)))
            },
        ),
        Problem::new(
            ("poisson", "The number of black pixels, by the digit and by the log of a twentieth of all ink"),
            Model::Poisson,
            (0..CLASSES).map(|label| format!("a {label}")).chain(["log ink".into()]).collect(),
            &of(&Vec::from_iter(0..CLASSES)),
            |digit| {
                let mut row: Vec<_> =
                    (0..CLASSES).map(|label| f64::from(u8::from(digit.label == label))).collect();
                row.push((ink(digit, |_, _| true) / 20.0).ln());
                (row, digit.pixels.iter().filter(|pixel| **pixel == 1.0).count() as f64)
            },
        ),
        Problem::new(
            ("huber", "How far ones lean, in columns a row, by their ink above 18"),
            Model::Huber,
            names(&["constant", "ink - 18"]),
            &of(&[1]),
            |digit| (vec![1.0, ink(digit, |_, _| true) - 18.0], lean(digit)),
        ),
    ]
}

/// The total ink of the selected pixels, each from 0 to 1.
fn ink(digit: &Digit, of: impl Fn(usize, usize) -> bool) -> f64 {
    let some = |at: &usize| of(at / SIDE, at % SIDE);
    (0..digit.pixels.len()).filter(some).map(|at| f64::from(digit.pixels[at])).sum()
}

/// The slope of the line through the ink, in columns to the right per row downwards.
fn lean(digit: &Digit) -> f64 {
    let middle = (SIDE as f64 - 1.0) / 2.0;
    let (mut across, mut down) = (0.0, 0.0);
    for (at, ink) in digit.pixels.iter().enumerate() {
        let (row, column) = ((at / SIDE) as f64 - middle, (at % SIDE) as f64 - middle);
        across += f64::from(*ink) * row * column;
        down += f64::from(*ink) * row * row;
    }
    across / down
}

impl Problem {
    fn new(
        (name, question): (&'static str, &'static str),
        model: Model,
        columns: Vec<String>,
        digits: &[&Digit],
        row: impl Fn(&Digit) -> (Vec<f64>, f64),
    ) -> Self {
        let rows: Vec<_> = digits.iter().map(|digit| row(digit)).collect();
        let x = Tensor::from_fn_with((rows.len(), columns.len()), |[i, column]| rows[i].0[column]);
        let y = Tensor::from_fn_with((rows.len(),), |[i]| rows[i].1);
        Self { name, question, model, columns, x, y }
    }

    /// A bootstrap sample: as many of the problem's pictures, drawn with repetition.
    pub fn sample(&self, random: &mut impl Rng) -> Self {
        let [count, columns] = self.x.dims();
        let drawn: Vec<_> =
            (0..count).map(|_| (((random.next_u64() >> 32) * count as u64) >> 32) as usize).collect();
        Self {
            x: Tensor::from_fn_with((count, columns), |[i, column]| self.x[[drawn[i], column]]),
            y: Tensor::from_fn_with((count,), |[i]| self.y[[drawn[i]]]),
            columns: self.columns.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use mind::Xoshiro256;

    use super::*;
    use crate::digits::PIXELS;

    #[test]
    fn a_line_leans_as_far_as_it_goes_to_the_right_for_a_row() {
        let line = |columns_a_row: usize| Digit {
            pixels: std::array::from_fn(|at| {
                let (row, column) = (at / SIDE, at % SIDE);
                f32::from(u8::from(if columns_a_row == 0 { column == 3 } else { column == row }))
            }),
            label: 1,
        };
        assert_eq!((lean(&line(0)), lean(&line(1))), (0.0, 1.0));
    }

    #[test]
    fn a_problem_has_the_pictures_that_it_is_about_and_a_sample_has_as_many_of_them() {
        let digit = |label, ink| Digit { pixels: [ink; PIXELS], label };
        let [logistic, poisson, huber] =
            problems(&[digit(3, 0.5), digit(8, 0.25), digit(1, 1.0), digit(8, 1.0)]);
        assert_eq!(logistic.x.as_slice()[..5], [1.0, 8.0, 8.0, 8.0, 8.0]);
        assert_eq!(logistic.y.as_slice(), [0.0, 1.0, 1.0]);
        assert_eq!(poisson.y.as_slice(), [0.0, 0.0, 64.0, 64.0]);
        assert_eq!(poisson.x[[1, 10]], (16.0_f64 / 20.0).ln());
        assert_eq!((huber.x.as_slice(), huber.y.dims()), (&[1.0, 46.0][..], [1]));
        let sample = poisson.sample(&mut Xoshiro256::new(3));
        assert_eq!((sample.x.dims(), sample.y.dims()), ([4, 11], [4]));
        for row in sample.x.as_slice().chunks(11) {
            assert!(poisson.x.as_slice().chunks(11).any(|known| known == row));
        }
    }
}
