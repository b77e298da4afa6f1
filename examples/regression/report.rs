//! Tables of the results, and their distance from recorded results.

use std::fmt;

use crate::data::{Problem, Vector};
use crate::newton::Fit;
use crate::program::Outcome;

/// The estimated coefficients of a problem.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The problem's name in the record.
    pub name: &'static str,
    /// The question that the problem answers.
    pub question: &'static str,
    /// The number of pictures.
    pub pictures: usize,
    /// The number of steps of Newton's method.
    pub steps: usize,
    /// One row per column of the problem.
    pub rows: Vec<Row>,
}

/// An estimated coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of the column that it multiplies.
    pub column: String,
    /// The coefficient.
    pub value: f64,
    /// Its standard error by the Hessian.
    pub error: f64,
    /// Its standard deviation over the bootstrap samples.
    pub spread: f64,
}

impl Estimate {
    /// Combines a fit of a problem with the coefficients of its bootstrap samples.
    pub fn new(problem: &Problem, fit: Fit, samples: &[Vector]) -> Self {
        let spread = |at: usize| {
            let count = samples.len() as f64;
            let mean = samples.iter().map(|sample| sample[[at]]).sum::<f64>() / count;
            let squares = samples.iter().map(|sample| (sample[[at]] - mean).powi(2)).sum::<f64>();
            (squares / (count - 1.0)).sqrt()
        };
        let rows = problem.columns.iter().zip(&fit.errors).enumerate().map(|(at, (column, error))| Row {
            column: column.clone(),
            value: fit.coefficients[[at]],
            error: *error,
            spread: spread(at),
        });
        let [pictures] = problem.y.dims();
        Self {
            name: problem.name,
            question: problem.question,
            pictures,
            steps: fit.steps,
            rows: rows.collect(),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({} pictures, {} steps)", self.question, self.pictures, self.steps)?;
        writeln!(f, "              │ coefficient   std. error   by samples        z")?;
        writeln!(f, "──────────────┼─────────────────────────────────────────────────")?;
        for Row { column, value, error, spread } in &self.rows {
            writeln!(f, " {column:<12} │{value:>12.4}{error:>13.4}{spread:>13.4}{:>9.1}", value / error)?;
        }
        Ok(())
    }
}

/// The largest difference of coefficients and standard errors from the recorded ones, in standard errors.
///
/// A line of the record holds the problem's name, the number of the column, the coefficient and its standard error.
/// Lines that begin with `#` are comments.
pub fn apart(estimates: &[Estimate], record: &str) -> Outcome<f64> {
    let mut lines = record.lines().filter(|line| !line.starts_with('#'));
    let mut apart: f64 = 0.0;
    for estimate in estimates {
        for (at, row) in estimate.rows.iter().enumerate() {
            let line = lines.next().ok_or("the record is too short")?;
            let fields: Vec<_> = line.split_whitespace().collect();
            let [name, column, value, error] = fields[..] else {
                return Err(format!("the record has a line of {} words, needed 4", fields.len()).into());
            };
            if (name, column.parse()) != (estimate.name, Ok(at)) {
                return Err(format!("the record has {name} {column}, needed {} {at}", estimate.name).into());
            }
            let (value, error): (f64, f64) = (value.parse()?, error.parse()?);
            for difference in [(row.value - value) / error, (row.error - error) / error] {
                // NaN counts as infinitely far.
                apart = apart.max(if difference.is_nan() { f64::INFINITY } else { difference.abs() });
            }
        }
    }
    match lines.next() {
        Some(line) => Err(format!("the record goes on: {line}").into()),
        None => Ok(apart),
    }
}

#[cfg(test)]
mod tests {
    use mind::Tensor;

    use super::*;

    fn estimate() -> Estimate {
        let row = |column: &str, value, error| Row { column: column.into(), value, error, spread: 0.5 };
        let rows = vec![row("constant", 2.0, 0.5), row("ink", -1.0, 0.25)];
        Estimate { name: "huber", question: "How", pictures: 7, steps: 3, rows }
    }

    #[test]
    fn the_table_has_a_row_for_each_coefficient() {
        let table = estimate().to_string();
        let rows: Vec<_> = table.lines().collect();
        assert_eq!(rows[0], "How (7 pictures, 3 steps)");
        assert_eq!(rows[4], " ink          │     -1.0000       0.2500       0.5000     -4.0");
        assert_eq!(rows.len(), 5);
    }

    #[test]
    fn the_distance_is_that_of_the_farthest_number_and_another_record_is_an_error() {
        let apart = |record: &str| apart(&[estimate()], record);
        assert_eq!(apart("# by hand\nhuber 0 2.0 0.5\nhuber 1 -1.0 0.25").expect("it fits"), 0.0);
        assert_eq!(apart("huber 0 3.0 0.5\nhuber 1 -1.0 0.25").expect("it fits"), 2.0);
        assert_eq!(apart("huber 0 2.0 0.5\nhuber 1 -1.0 1.0").expect("it fits"), 0.75);
        assert!(apart("huber 0 nan 0.5\nhuber 1 -1.0 1.0").expect("it fits").is_infinite());
        for record in ["", "huber 0 2.0 0.5", "huber 0 2.0", "huber 1 2.0 0.5", "poisson 0 2.0 0.5"] {
            assert!(apart(record).is_err(), "{record}");
        }
        assert!(apart("huber 0 2.0 0.5\nhuber 1 -1.0 0.25\nhuber 2 0 1").is_err());
    }

    #[test]
    fn the_spread_is_the_standard_deviation_over_samples() {
        let problem = Problem {
            name: "huber",
            question: "How",
            model: crate::data::Model::Huber,
            columns: vec!["constant".into()],
            x: Tensor::zeros_with((2, 1)),
            y: Tensor::zeros_with((2,)),
        };
        let vector = |value| Tensor::full_with((1,), value);
        let fit = Fit { coefficients: vector(5.0), errors: vec![1.0], steps: 1 };
        let found = Estimate::new(&problem, fit, &[1.0, 3.0, 5.0].map(vector));
        assert_eq!(found.rows, [Row { column: "constant".into(), value: 5.0, error: 1.0, spread: 2.0 }]);
    }
}
