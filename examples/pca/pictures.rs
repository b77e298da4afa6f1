//! Draws components and coordinates as a PNG file.

use std::io;
use std::path::Path;

use noto_sans_mono_bitmap::FontWeight;

use crate::canvas::{BLUE, Canvas, Colour, FAINT, GREY, INK, PAPER, blend};
use crate::digits::{CLASSES, Digit, PIXELS, SIDE};

const RED: Colour = [220, 38, 38];
/// The colours of the digits.
const COLOURS: [Colour; CLASSES] = [
    [31, 119, 180],
    [255, 127, 14],
    [44, 160, 44],
    [214, 39, 40],
    [148, 103, 189],
    [140, 86, 75],
    [227, 119, 194],
    [127, 127, 127],
    [188, 189, 34],
    [23, 190, 207],
];

/// Draws the digits at their first two coordinates, in the colours of their labels, and the components as pictures:
/// blue where ink raises the coordinate, red where it lowers it.
pub fn components(path: &Path, components: &[f64], plane: &[f64], digits: &[Digit]) -> io::Result<()> {
    let (margin, top, side, scale) = (24.0, 60.0, 640.0, 14.0);
    let mut canvas = Canvas::new(1000, 780);
    canvas.text(margin, 18.0, "Digits by their first two components", FontWeight::Bold, INK);
    let reach = plane.iter().fold(0.0_f64, |reach, x| reach.max(x.abs())) as f32 * 1.05;
    let at = |x: f64, y: f64| {
        [margin + side * (0.5 + 0.5 * x as f32 / reach), top + side * (0.5 - 0.5 * y as f32 / reach)]
    };
    let middle = at(0.0, 0.0);
    canvas.line([margin, middle[1]], [margin + side, middle[1]], 1.0, FAINT);
    canvas.line([middle[0], top], [middle[0], top + side], 1.0, FAINT);
    for (point, digit) in plane.chunks(2).zip(digits) {
        let at = at(point[0], point[1]);
        canvas.curve(&[at, at], 5.0, COLOURS[digit.label]);
    }
    for (digit, colour) in COLOURS.into_iter().enumerate() {
        let left = margin + 64.0 * digit as f32;
        canvas.curve(&[[left + 6.0, top + side + 30.0]; 2], 10.0, colour);
        canvas.text(left + 18.0, top + side + 22.0, &digit.to_string(), FontWeight::Regular, INK);
    }

    let picture = SIDE as f32 * scale;
    for (position, component) in components.chunks(PIXELS).enumerate() {
        let left = margin + side + 48.0 + (picture + 32.0) * (position % 2) as f32;
        let top = top + (picture + 48.0) * (position / 2) as f32;
        let largest = component.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        for (pixel, weight) in component.iter().enumerate() {
            let (row, column) = ((pixel / SIDE) as f32, (pixel % SIDE) as f32);
            let colour = if *weight > 0.0 { BLUE } else { RED };
            let colour = blend(PAPER, colour, (weight.abs() / largest) as f32);
            canvas.rectangle(left + column * scale, top + row * scale, scale, scale, colour);
        }
        let name = format!("component {}", position + 1);
        canvas.text_centred(left + picture / 2.0, top + picture + 6.0, &name, GREY);
    }
    canvas.save(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::written;

    #[test]
    fn a_picture_has_a_point_for_each_digit_and_a_square_for_each_component() {
        let digits = [3, 4].map(|label| Digit { pixels: [0.0; PIXELS], label });
        let drawn = |weight: f64, plane: &[f64]| {
            written("components", |path| components(path, &[weight; 2 * PIXELS], plane, &digits))
        };
        let ((width, height, apart), (.., together)) =
            (drawn(1.0, &[1.0, 1.0, -1.0, 1.0]), drawn(1.0, &[1.0, 1.0, 1.0, 1.0]));
        assert_eq!((width, height), (1000, 780));
        assert!(apart > together + 10, "{apart} {together}");
        // Both blue and red have two channels below 128.
        assert_eq!(drawn(-1.0, &[1.0, 1.0, -1.0, 1.0]).2, apart);
        assert!(apart > 2 * 2 * PIXELS * 14 * 14);
    }
}
