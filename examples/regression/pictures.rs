//! Draws coefficients with their confidence intervals as a PNG file.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{BLUE, Canvas, FAINT, GREY, INK};
use crate::report::{Estimate, Row};

/// Half the width of a 95 % confidence interval, in standard errors.
const SIDES: f64 = 1.96;

/// Draws a panel per problem, with a row per coefficient: a point at its value and a line over its confidence interval.
pub fn coefficients(path: &Path, estimates: &[Estimate]) -> io::Result<()> {
    let (width, row_height, top, between) = (920.0, 24.0, 56.0, 78.0);
    let (left, right) = (150.0, width - 40.0);
    let rows: usize = estimates.iter().map(|estimate| estimate.rows.len()).sum();
    let height = top + rows as f32 * row_height + estimates.len() as f32 * between;
    let mut canvas = Canvas::new(width as usize, height as usize);
    canvas.text(24.0, 18.0, "Coefficients, with 95 % of where they may be", FontWeight::Bold, INK);

    let mut head = top;
    for estimate in estimates {
        canvas.text(24.0, head, estimate.question, FontWeight::Regular, INK);
        let (low, high) = range(&estimate.rows);
        let x = |value: f64| left + (right - left) * ((value - low) / (high - low)) as f32;
        let (first, last) = (head + 26.0, head + 26.0 + row_height * estimate.rows.len() as f32);
        let spacing = spacing(high - low);
        for mark in (low / spacing).ceil() as i64..=(high / spacing).floor() as i64 {
            let value = mark as f64 * spacing;
            let colour = if mark == 0 { GREY } else { FAINT };
            canvas.line([x(value), first], [x(value), last], 1.0, colour);
            let digits = (-spacing.log10().floor()).max(0.0) as usize;
            canvas.text_centred(x(value), last + 4.0, &format!("{value:.digits$}"), GREY);
        }
        for (at, Row { column, value, error, .. }) in estimate.rows.iter().enumerate() {
            let middle = first + row_height * (at as f32 + 0.5);
            canvas.text_right(left - 12.0, middle - 8.0, column, GREY);
            let [from, to] = [-SIDES, SIDES].map(|sides| x(value + sides * error));
            canvas.curve(&[[from, middle], [to, middle]], 2.4, BLUE);
            canvas.rectangle(x(*value) - 4.0, middle - 4.0, 8.0, 8.0, BLUE);
        }
        head = last + between - 26.0;
    }
    canvas.save(path)
}

/// The range of all confidence intervals and 0, with a margin.
fn range(rows: &[Row]) -> (f64, f64) {
    let (low, high) = rows.iter().fold((0.0_f64, 0.0_f64), |(low, high), row| {
        (low.min(row.value - SIDES * row.error), high.max(row.value + SIDES * row.error))
    });
    let room = if high > low { 0.03 * (high - low) } else { 1.0 };
    (low - room, high + room)
}

/// A round spacing that divides the length into at most ten parts.
fn spacing(length: f64) -> f64 {
    let power = 10_f64.powf((length / 10.0).log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|spacing| length / spacing <= 10.0)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::written;

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!([10.0, 11.0, 45.0, 60.0, 0.3].map(spacing), [1.0, 2.0, 5.0, 10.0, 0.05]);
    }

    #[test]
    fn a_picture_has_a_panel_for_each_problem_and_a_longer_line_where_less_is_sure() {
        let estimate = |errors: &[f64]| Estimate {
            name: "huber",
            question: "",
            pictures: 7,
            steps: 3,
            rows: errors
                .iter()
                .map(|error| Row { column: String::new(), value: 1.0, error: *error, spread: 0.5 })
                .collect(),
        };
        let drawn = |estimates: &[Estimate]| written("coefficients", |path| coefficients(path, estimates));
        let (width, one, _) = drawn(&[estimate(&[0.1, 0.2])]);
        let (_, two, _) = drawn(&[estimate(&[0.1, 0.2]), estimate(&[0.1])]);
        assert_eq!((width, one, two), (920, 182, 284));
        let [sure, unsure] = [0.01, 1.0].map(|error| drawn(&[estimate(&[error, 1.0])]).2);
        assert!(unsure > sure + 800, "{sure} {unsure}");
    }
}
