//! Draws pictures as a PNG file.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{Canvas, INK, PAPER, blend};
use crate::digits::{PIXELS, SIDE};

/// Draws rows of ten pictures.
pub fn samples(path: &Path, pictures: &[f32]) -> io::Result<()> {
    let (scale, margin, head, columns) = (8.0, 24.0, 60.0, 10);
    let (side, gap) = (SIDE as f32 * scale, 8.0);
    let rows = (pictures.len() / PIXELS).div_ceil(columns);
    let width = 2.0 * margin + (side + gap) * columns as f32 - gap;
    let height = head + (side + gap) * rows as f32 - gap + margin;
    let mut canvas = Canvas::new(width as usize, height as usize);
    canvas.text(margin, 18.0, "Digits that nobody wrote", FontWeight::Bold, INK);
    for (position, picture) in pictures.chunks(PIXELS).enumerate() {
        let left = margin + (side + gap) * (position % columns) as f32;
        let top = head + (side + gap) * (position / columns) as f32;
        for (pixel, ink) in picture.iter().enumerate() {
            let (row, column) = ((pixel / SIDE) as f32, (pixel % SIDE) as f32);
            let colour = blend(PAPER, INK, *ink);
            canvas.rectangle(left + column * scale, top + row * scale, scale, scale, colour);
        }
    }
    canvas.save(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::written;

    #[test]
    fn a_picture_is_as_dark_as_its_ink() {
        let drawn = |ink: f32| written("samples", |path| samples(path, &[ink; 12 * PIXELS]));
        let ((width, height, dark), (.., faint)) = (drawn(1.0), drawn(0.0));
        assert_eq!((width, height), (760, 220));
        assert_eq!(dark - faint, 3 * 12 * PIXELS * 8 * 8);
    }
}
