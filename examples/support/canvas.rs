//! A canvas that the examples draw on and save as a PNG file. The letters are prerendered, so no font needs to be
//! installed.

#![allow(dead_code, reason = "each example draws with a part of it")]

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Red, green and blue.
pub type Colour = [u8; 3];

pub const PAPER: Colour = [255, 255, 255];
pub const INK: Colour = [31, 41, 55];
pub const FAINT: Colour = [229, 231, 235];
pub const GREY: Colour = [107, 114, 128];
pub const BLUE: Colour = [37, 99, 235];

/// A picture. Distances are in pixels from the upper left corner, and edges are antialiased.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Canvas {
    /// A white picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![PAPER; width * height] }
    }

    /// Writes the picture as a PNG file and creates its folder where it is missing.
    pub fn save(&self, path: &Path) -> io::Result<()> {
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

    /// Blends a colour over a pixel. Pixels outside the picture are ignored.
    fn cover(&mut self, x: i32, y: i32, colour: Colour, coverage: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = blend(*pixel, colour, coverage);
        }
    }

    /// Fills a rectangle. The corners are rounded to whole pixels, so its edges are sharp.
    pub fn rectangle(&mut self, left: f32, top: f32, width: f32, height: f32, colour: Colour) {
        for y in top.round() as i32..(top + height).round() as i32 {
            for x in left.round() as i32..(left + width).round() as i32 {
                self.cover(x, y, colour, 1.0);
            }
        }
    }

    /// Draws a straight line. Thin lines along the pixels stay sharp.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], thickness: f32, colour: Colour) {
        self.curve(&[from, to].map(|point| point.map(|at| at.floor() + 0.5)), thickness, colour);
    }

    /// Draws straight lines between consecutive points, with round ends.
    pub fn curve(&mut self, points: &[[f32; 2]], thickness: f32, colour: Colour) {
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

    /// Draws a text with its upper left corner at `left` and `top`.
    pub fn text(&mut self, left: f32, top: f32, text: &str, weight: FontWeight, colour: Colour) {
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

    /// Draws a text that ends at `right`.
    pub fn text_right(&mut self, right: f32, top: f32, text: &str, colour: Colour) {
        self.text(right - text_width(text), top, text, FontWeight::Regular, colour);
    }

    /// Draws a text that is centred at `centre`.
    pub fn text_centred(&mut self, centre: f32, top: f32, text: &str, colour: Colour) {
        self.text(centre - text_width(text) / 2.0, top, text, FontWeight::Regular, colour);
    }
}

fn text_width(text: &str) -> f32 {
    (text.chars().count() * get_raster_width(FontWeight::Regular, RasterHeight::Size16)) as f32
}

/// Blends a colour over another, with an opacity from 0 to 1.
pub fn blend(under: Colour, over: Colour, coverage: f32) -> Colour {
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

/// Writes a picture with `draw` and returns its width, its height and the number of channels below 128.
#[cfg(test)]
pub fn written(name: &str, draw: impl FnOnce(&Path) -> io::Result<()>) -> (u32, u32, usize) {
    let path = std::env::temp_dir().join(format!("mind-{}-{name}.png", std::process::id()));
    draw(&path).expect("the picture is written");
    let file = io::BufReader::new(File::open(&path).expect("it is there"));
    let mut reader = png::Decoder::new(file).read_info().expect("it is a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut pixels).expect("it is whole");
    fs::remove_file(&path).expect("it is there");
    (info.width, info.height, pixels.iter().filter(|channel| **channel < 128).count())
}
