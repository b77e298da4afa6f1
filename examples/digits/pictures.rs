//! Two pictures as PNG files: the loss curve, and the digits that were misread. Text comes from letters drawn ahead of
//! time, so no font needs to be installed.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use crate::data::{Digit, PIXELS, SIDE};
use crate::report::Answer;

type Colour = [u8; 3];

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [31, 41, 55];
const FAINT: Colour = [229, 231, 235];
const GREY: Colour = [107, 114, 128];
const BLUE: Colour = [37, 99, 235];
const PALE_BLUE: Colour = [191, 212, 250];
const GREEN: Colour = [21, 128, 61];
const RED: Colour = [220, 38, 38];

/// How training went.
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
        canvas.disc(x, y, 1.0, PALE_BLUE);
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

/// Draws every digit of `digits` whose answer is wrong, the surest mistakes first, with its label and the answer.
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

/// A picture being drawn; distances are pixels from the upper left corner, edges are smoothed.
struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![PAPER; width * height] }
    }

    fn save(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let size = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, size(self.width)?, size(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        Ok(writer.finish()?)
    }

    /// Covers a pixel with a colour; nothing outside the picture.
    fn cover(&mut self, x: i32, y: i32, colour: Colour, coverage: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = blend(*pixel, colour, coverage);
        }
    }

    /// Sharp-edged: its corners are rounded to whole pixels.
    fn rectangle(&mut self, left: f32, top: f32, width: f32, height: f32, colour: Colour) {
        for y in top.round() as i32..(top + height).round() as i32 {
            for x in left.round() as i32..(left + width).round() as i32 {
                self.cover(x, y, colour, 1.0);
            }
        }
    }

    fn disc(&mut self, x: f32, y: f32, radius: f32, colour: Colour) {
        self.curve(&[[x, y], [x, y]], 2.0 * radius, colour);
    }

    fn line(&mut self, from: [f32; 2], to: [f32; 2], thickness: f32, colour: Colour) {
        // On whole pixels thin straight lines stay sharp.
        self.curve(&[from, to].map(|point| point.map(|at| at.floor() + 0.5)), thickness, colour);
    }

    /// Straight lines from point to point with round ends.
    fn curve(&mut self, points: &[[f32; 2]], thickness: f32, colour: Colour) {
        let reach = thickness / 2.0 + 1.0;
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let range = |axis: usize| {
                let (low, high) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
                (low - reach).floor() as i32..=(high + reach).ceil() as i32
            };
            for y in range(1) {
                for x in range(0) {
                    let distance = distance_to_segment([x as f32 + 0.5, y as f32 + 0.5], from, to);
                    self.cover(x, y, colour, (thickness / 2.0 + 0.5 - distance).clamp(0.0, 1.0));
                }
            }
        }
    }

    fn text(&mut self, left: f32, top: f32, text: &str, weight: FontWeight, colour: Colour) {
        let size = match weight {
            FontWeight::Bold => RasterHeight::Size20,
            FontWeight::Regular => RasterHeight::Size16,
        };
        for (position, letter) in text.chars().enumerate() {
            let Some(letter) = get_raster(letter, weight, size) else { continue };
            let x = left.round() as i32 + (position * get_raster_width(weight, size)) as i32;
            for (y, row) in (top.round() as i32..).zip(letter.raster()) {
                for (x, coverage) in (x..).zip(*row) {
                    self.cover(x, y, colour, f32::from(*coverage) / 255.0);
                }
            }
        }
    }

    fn text_right(&mut self, right: f32, top: f32, text: &str, colour: Colour) {
        self.text(right - text_width(text), top, text, FontWeight::Regular, colour);
    }

    fn text_centred(&mut self, centre: f32, top: f32, text: &str, colour: Colour) {
        self.text(centre - text_width(text) / 2.0, top, text, FontWeight::Regular, colour);
    }
}

fn text_width(text: &str) -> f32 {
    (text.chars().count() * get_raster_width(FontWeight::Regular, RasterHeight::Size16)) as f32
}

fn blend(under: Colour, over: Colour, coverage: f32) -> Colour {
    std::array::from_fn(|channel| {
        let (under, over) = (f32::from(under[channel]), f32::from(over[channel]));
        (under + (over - under) * coverage).round() as u8
    })
}

fn distance_to_segment(point: [f32; 2], from: [f32; 2], to: [f32; 2]) -> f32 {
    let (along, offset) = ([to[0] - from[0], to[1] - from[1]], [point[0] - from[0], point[1] - from[1]]);
    let squared = along[0] * along[0] + along[1] * along[1];
    let share = if squared > 0.0 { (offset[0] * along[0] + offset[1] * along[1]) / squared } else { 0.0 };
    let share = share.clamp(0.0, 1.0);
    (offset[0] - share * along[0]).hypot(offset[1] - share * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, draw: impl FnOnce(&Path) -> io::Result<()>) -> (u32, u32, usize) {
        let path = std::env::temp_dir().join(format!("mind-{}-{name}.png", std::process::id()));
        draw(&path).expect("the picture is written");
        let file = io::BufReader::new(File::open(&path).expect("it is there"));
        let mut reader = png::Decoder::new(file).read_info().expect("it is a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
        let info = reader.next_frame(&mut pixels).expect("it is whole");
        fs::remove_file(&path).expect("it is there");
        (info.width, info.height, pixels.iter().filter(|channel| **channel < 128).count())
    }

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
