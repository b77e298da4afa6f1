//! Draws two PNG files: the loss curve and the misread digits.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{BLUE, Canvas, Colour, FAINT, GREY, INK, PAPER, blend};
use crate::digits::{Digit, PIXELS, SIDE};
use crate::report::Answer;

const PALE_BLUE: Colour = [191, 212, 250];
const GREEN: Colour = [21, 128, 61];
const RED: Colour = [220, 38, 38];

/// The losses during training.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The loss of each step.
    pub steps: Vec<f32>,
    /// The mean loss of the steps of each epoch.
    pub training: Vec<f32>,
    /// The loss on the test digits after each epoch.
    pub test: Vec<f32>,
}

/// Draws the loss over the epochs, on a logarithmic scale.
pub fn loss_curve(path: &Path, history: &History) -> io::Result<()> {
    let (width, height) = (880.0, 500.0);
    let (left, right, top, bottom) = (76.0, width - 28.0, 64.0, height - 56.0);
    let mut canvas = Canvas::new(width as usize, height as usize);
    canvas.text(left, 18.0, "Loss while learning handwritten digits", FontWeight::Bold, INK);

    let losses = || history.training.iter().chain(&history.test).copied().filter(|loss| loss.is_finite());
    let lowest = losses().filter(|loss| *loss > 0.0).fold(0.5, f32::min).log10().floor().max(-6.0);
    let highest = history.steps.iter().copied().filter(|loss| loss.is_finite()).fold(1.0, f32::max).log10();
    let epochs = history.training.len().max(1) as f32;
    let x = |epoch: f32| left + (right - left) * epoch / epochs;
    let y = |loss: f32| {
        let share =
            (loss.max(f32::MIN_POSITIVE).log10().clamp(lowest, highest) - lowest) / (highest - lowest);
        bottom - (bottom - top) * share
    };

    for decade in lowest as i32..=highest.floor() as i32 {
        let loss = 10_f32.powi(decade);
        canvas.line([left, y(loss)], [right, y(loss)], 1.0, FAINT);
        canvas.text_right(left - 10.0, y(loss) - 8.0, &loss.to_string(), GREY);
    }
    let spacing =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|spacing| epochs / *spacing as f32 <= 10.0);
    for epoch in (0..=epochs as usize).step_by(spacing.unwrap_or(1000)) {
        let at = x(epoch as f32);
        canvas.line([at, bottom], [at, bottom + 5.0], 1.0, GREY);
        canvas.text_centred(at, bottom + 9.0, &epoch.to_string(), GREY);
    }
    canvas.text_centred((left + right) / 2.0, bottom + 30.0, "epoch", GREY);

    let curve = |losses: &[f32], position: &dyn Fn(usize) -> f32| -> Vec<[f32; 2]> {
        losses.iter().enumerate().map(|(i, loss)| [x(position(i)), y(*loss)]).collect()
    };
    let per_epoch = history.steps.len() as f32 / epochs;
    for [x, y] in curve(&history.steps, &|step| (step + 1) as f32 / per_epoch) {
        canvas.curve(&[[x, y]; 2], 2.0, PALE_BLUE);
    }
    canvas.curve(&curve(&history.training, &|epoch| epoch as f32 + 0.5), 2.2, BLUE);
    canvas.curve(&curve(&history.test, &|epoch| (epoch + 1) as f32), 2.2, RED);
    canvas.line([left, bottom], [right, bottom], 1.2, GREY);
    canvas.line([left, top - 8.0], [left, bottom], 1.2, GREY);

    let entries = [(PALE_BLUE, "each step"), (BLUE, "training (askew), mean"), (RED, "test")];
    for (row, (colour, label)) in entries.into_iter().enumerate() {
        let (at, middle) = (right - 270.0, top + 12.0 + 22.0 * row as f32);
        canvas.line([at, middle], [at + 22.0, middle], 3.0, colour);
        canvas.text(at + 32.0, middle - 8.0, label, FontWeight::Regular, INK);
    }
    canvas.save(path)
}

/// Draws every digit with a wrong answer, with its label and the answer. The most confident mistakes come first.
pub fn misread(path: &Path, digits: &[Digit], answers: &[Answer]) -> io::Result<()> {
    let mut wrong: Vec<_> =
        digits.iter().zip(answers).filter(|(digit, answer)| answer.class != digit.label).collect();
    wrong.sort_by(|(_, a), (_, b)| b.confidence.total_cmp(&a.confidence));
    let (cell, scale, margin, head) = (152.0, 15.0, 24.0, 66.0);
    let rows = wrong.len().div_ceil(6).max(1);
    let columns = wrong.len().div_ceil(rows).max(4);
    let (step_x, step_y) = (cell, cell + 40.0);
    let width = 2.0 * margin + step_x * columns as f32 - (cell - SIDE as f32 * scale);
    let mut canvas = Canvas::new(width as usize, (head + step_y * rows as f32) as usize);
    let title = match wrong.len() {
        0 => format!("All {} test digits read right", digits.len()),
        count => format!("{count} of {} test digits misread", digits.len()),
    };
    canvas.text(margin, 18.0, &title, FontWeight::Bold, INK);
    for (position, (digit, answer)) in wrong.into_iter().enumerate() {
        let left = margin + step_x * (position % columns) as f32;
        let top = head + step_y * (position / columns) as f32;
        let side = SIDE as f32 * scale;
        canvas.rectangle(left - 1.0, top - 1.0, side + 2.0, side + 2.0, FAINT);
        for pixel in 0..PIXELS {
            let (row, column) = ((pixel / SIDE) as f32, (pixel % SIDE) as f32);
            let colour = blend(PAPER, INK, digit.pixels[pixel]);
            canvas.rectangle(left + column * scale, top + row * scale, scale, scale, colour);
        }
        canvas.text(left, top + side + 6.0, &format!("true {}", digit.label), FontWeight::Regular, GREEN);
        let predicted = format!("predicted {}", answer.class);
        canvas.text(left, top + side + 24.0, &predicted, FontWeight::Regular, RED);
    }
    canvas.save(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::written;

    #[test]
    fn the_loss_curve_is_drawn_whatever_the_losses() {
        let history =
            |losses: &[f32]| History { steps: losses.into(), training: losses.into(), test: losses.into() };
        for losses in [&[2.3_f32, 0.4, 0.02][..], &[], &[0.0, f32::NAN, f32::INFINITY], &[1.0]] {
            let (width, height, dark) = written("loss", |path| loss_curve(path, &history(losses)));
            assert_eq!((width, height), (880, 500));
            assert!(dark > 500, "{dark} dark channels for {losses:?}");
        }
    }

    #[test]
    fn a_picture_of_the_misread_grows_with_their_number_and_is_there_without_any() {
        let digit = Digit { pixels: [1.0; PIXELS], label: 1 };
        let heights = [0, 1, 7, 13].map(|wrong| {
            let digits = vec![digit.clone(); wrong + 2];
            let mut answers = vec![Answer { class: 7, confidence: 0.5 }; wrong];
            answers.extend([Answer { class: 1, confidence: 0.9 }; 2]);
            let (_, height, dark) = written("misread", |path| misread(path, &digits, &answers));
            assert!(dark > wrong * 3 * (SIDE * SIDE * 15 * 15), "{dark} dark channels for {wrong} digits");
            height
        });
        assert_eq!(heights, [258, 258, 450, 642]);
    }
}
