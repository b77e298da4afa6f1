//! Draws the kinds, which are the clusters, as a PNG file.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{BLUE, Canvas, FAINT, GREY, INK, PAPER, blend};
use crate::digits::{PIXELS, SIDE};
use crate::report::Kinds;

/// Draws the mean picture of each kind, with its most frequent digit and that digit's count.
pub fn kinds(path: &Path, means: &[f64], kinds: &Kinds) -> io::Result<()> {
    let (scale, margin, head, columns) = (15.0, 24.0, 66.0, 5);
    let side = SIDE as f32 * scale;
    let (step_x, step_y) = (side + 32.0, side + 44.0);
    let mut kinds: Vec<_> = means.chunks(PIXELS).zip(kinds.summaries()).collect();
    kinds.sort_by_key(|(_, [most, ..])| *most);
    let width = 2.0 * margin + step_x * columns as f32 - 32.0;
    let height = head + step_y * kinds.len().div_ceil(columns) as f32;
    let mut canvas = Canvas::new(width as usize, height as usize);
    canvas.text(margin, 18.0, "Kinds of digits that nobody told of", FontWeight::Bold, INK);
    for (position, (mean, [most, right, count])) in kinds.into_iter().enumerate() {
        let left = margin + step_x * (position % columns) as f32;
        let top = head + step_y * (position / columns) as f32;
        canvas.line([left, top + side + 3.0], [left + side, top + side + 3.0], 1.0, FAINT);
        for (pixel, ink) in mean.iter().enumerate() {
            let (row, column) = ((pixel / SIDE) as f32, (pixel % SIDE) as f32);
            let colour = blend(PAPER, INK, *ink as f32);
            canvas.rectangle(left + column * scale, top + row * scale, scale, scale, colour);
        }
        canvas.text(left, top + side + 8.0, &most.to_string(), FontWeight::Bold, BLUE);
        canvas.text_right(left + side, top + side + 10.0, &format!("{right} of {count}"), GREY);
    }
    canvas.save(path)
}

#[cfg(test)]
mod tests {
    use mind::{Const, Tensor};

    use super::*;
    use crate::canvas::written;
    use crate::digits::Digit;

    #[test]
    fn a_picture_of_kinds_has_a_square_for_each_that_is_as_dark_as_its_mean() {
        let digit = Digit { pixels: [0.0; PIXELS], label: 7 };
        let shares: Tensor![f64; ?, 6] = Tensor::from_fn_with((1, Const), |_| 0.1);
        let six = Kinds::new(&[digit], &shares);
        let drawn = |ink: f64| written("kinds", |path| kinds(path, &[ink; 6 * PIXELS], &six));
        let ((width, height, dark), (.., faint)) = (drawn(1.0), drawn(0.0));
        assert_eq!((width, height), (776, 394));
        assert_eq!(dark - faint, 3 * 6 * PIXELS * 15 * 15);
    }
}
