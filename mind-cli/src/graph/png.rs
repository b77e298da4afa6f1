//! Writes a picture as PNG, with the layout of this command.

mod font;

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use self::font::Font;
use super::{
    Picture,
    drawing::{Arrow, Canvas, Drawing, Shape, Style},
    look::{ARROW, DETAIL, Look, NAME, TYPE},
};

/// The pixels of PNG for each pixel of SVG, if the picture is not too large for that.
const SHARP: f64 = 2.0;
/// The most pixels of a picture, and the most on one side, which viewers still open.
const MOST: f64 = (1 << 26) as f64;
const LONGEST: f64 = 32_000.0;

/// The reason that a picture cannot be drawn as PNG: its size in pixels of SVG.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooLarge {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// The file of a picture. Equal pictures give equal files.
///
/// # Errors
/// If the picture has too many pixels to be legible.
pub fn render(picture: &Picture) -> Result<Vec<u8>, TooLarge> {
    let drawing = Drawing::of(picture);
    let (width, height) = drawing.size();
    let too_large = TooLarge { width, height };
    let scale = scale(width, height).ok_or(too_large)?;
    let pixels = |length: f64| (length * scale) as u32;
    let mut pixmap = Pixmap::new(pixels(width), pixels(height)).ok_or(too_large)?;
    pixmap.fill(Color::WHITE);
    let mut canvas = Raster { pixmap, scale, origins: vec![(0.0, 0.0)], font: Font::new() };
    drawing.paint(&mut canvas);
    Ok(encode(&canvas.pixmap, scale))
}

/// The pixels of PNG for each pixel of SVG. `None` if there would be less than one.
fn scale(width: f64, height: f64) -> Option<f64> {
    let fits = (MOST / (width * height)).sqrt().min(LONGEST / width.max(height));
    (fits >= 1.0).then(|| fits.min(SHARP))
}

/// The pixels, which are opaque, as a file without an alpha channel.
fn encode(pixmap: &Pixmap, scale: f64) -> Vec<u8> {
    const IN_MEMORY: &str = "writing to memory cannot fail, and the size is valid";
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    // The size on paper and in viewers that know it is that of the SVG, with 96 pixels per inch.
    let per_metre = (96.0 / 0.0254 * scale).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().expect(IN_MEMORY);
    let colours: Vec<u8> =
        pixmap.data().as_chunks::<4>().0.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
    writer.write_image_data(&colours).expect(IN_MEMORY);
    writer.finish().expect(IN_MEMORY);
    file
}

/// The pixels so far.
struct Raster {
    pixmap: Pixmap,
    scale: f64,
    /// The origin of each open group, innermost last.
    origins: Vec<(f64, f64)>,
    font: Font,
}

impl Raster {
    /// From the coordinates of the innermost group to pixels.
    fn transform(&self) -> Transform {
        let (x, y) = self.origins[self.origins.len() - 1];
        let scale = self.scale as f32;
        Transform::from_row(scale, 0.0, 0.0, scale, (x * self.scale) as f32, (y * self.scale) as f32)
    }

    fn fill(&mut self, path: &Path, colour: &str) {
        let transform = self.transform();
        self.pixmap.fill_path(path, &paint(colour), FillRule::Winding, transform, None);
    }

    fn stroke(&mut self, path: &Path, colour: &str, stroke: &Stroke) {
        let transform = self.transform();
        self.pixmap.stroke_path(path, &paint(colour), stroke, transform, None);
    }

    fn rectangle(&mut self, area: [f64; 4], round: f64, look: Look, heat: Option<&str>) {
        let Some(path) = rounded(area, round) else { return };
        self.fill(&path, heat.unwrap_or(look.fill));
        let dash = if look.is_dashed { StrokeDash::new(vec![4.0, 3.0], 0.0) } else { None };
        self.stroke(&path, look.line, &Stroke { width: look.width as f32, dash, ..Stroke::default() });
    }
}

impl Canvas for Raster {
    fn enter(&mut self, x: f64, y: f64) {
        let (left, top) = self.origins[self.origins.len() - 1];
        self.origins.push((left + x, top + y));
    }

    fn leave(&mut self) {
        self.origins.pop();
    }

    fn arrow(&mut self, arrow: &Arrow, gradient: bool) {
        let colour = ARROW[usize::from(gradient)];
        let (shaft, head) = (shaft(arrow), head(arrow));
        let stroke =
            Stroke { width: 1.2, line_cap: LineCap::Butt, line_join: LineJoin::Round, ..Stroke::default() };
        if let Some(shaft) = shaft {
            self.stroke(&shaft, colour, &stroke);
        }
        if let Some(head) = head {
            self.fill(&head, colour);
        }
    }

    fn open(&mut self, shape: &Shape<'_>) {
        self.rectangle(shape.area, shape.round, shape.look, shape.heat.as_deref());
    }

    fn close(&mut self) {}

    fn text(&mut self, style: Style, (x, y): (f64, f64), text: &str) {
        let (size, colour) = match style {
            Style::Name => (13.0, NAME),
            Style::Detail | Style::Legend => (11.0, DETAIL),
            Style::Type { gradient } => (11.0, TYPE[usize::from(gradient)]),
            Style::Title => (14.0, NAME),
        };
        let is_centred = matches!(style, Style::Name | Style::Detail);
        let left = if is_centred { x - self.font.width(text, size) / 2.0 } else { x };
        let Some(path) = self.font.outline(text, size, (left, y)) else { return };
        self.fill(&path, colour);
        // The font has no bold letters. A border makes them bolder.
        if style == Style::Title {
            self.stroke(&path, colour, &Stroke { width: 0.5, ..Stroke::default() });
        }
    }

    fn sample(&mut self, look: Look, (x, y): (f64, f64), round: f64) {
        self.rectangle([x, y, 18.0, 14.0], round, look, None);
    }
}

/// The paint of a colour such as `#dbeafe`.
fn paint(colour: &str) -> Paint<'static> {
    let digits = u32::from_str_radix(colour.trim_start_matches('#'), 16).expect("colours have six digits");
    let [_, red, green, blue] = digits.to_be_bytes();
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

/// A rectangle with round corners. `None` if it is empty.
fn rounded([x, y, width, height]: [f64; 4], round: f64) -> Option<Path> {
    /// The distance of the control points of a quarter of a circle from its ends.
    const QUARTER: f64 = 0.552_284_75;
    let round = round.min(width / 2.0).min(height / 2.0);
    let (right, bottom, near) = (x + width, y + height, round * (1.0 - QUARTER));
    let mut path = PathBuilder::new();
    move_to(&mut path, (x + round, y));
    line_to(&mut path, (right - round, y));
    cubic_to(&mut path, [(right - near, y), (right, y + near), (right, y + round)]);
    line_to(&mut path, (right, bottom - round));
    cubic_to(&mut path, [(right, bottom - near), (right - near, bottom), (right - round, bottom)]);
    line_to(&mut path, (x + round, bottom));
    cubic_to(&mut path, [(x + near, bottom), (x, bottom - near), (x, bottom - round)]);
    line_to(&mut path, (x, y + round));
    cubic_to(&mut path, [(x, y + near), (x + near, y), (x + round, y)]);
    path.close();
    path.finish()
}

fn shaft(arrow: &Arrow) -> Option<Path> {
    let mut path = PathBuilder::new();
    move_to(&mut path, arrow.from);
    let mut at = arrow.from.0;
    for bend in &arrow.bends {
        let ([from, to], [start, end]) = (bend.x, bend.y);
        let middle = (start + end) / 2.0;
        line_to(&mut path, (from, start));
        cubic_to(&mut path, [(from, middle), (to, middle), (to, end)]);
        at = to;
    }
    line_to(&mut path, (at, arrow.end));
    path.finish()
}

/// The triangle at the end, which is that of the SVG.
fn head(arrow: &Arrow) -> Option<Path> {
    let x = arrow.bends.last().map_or(arrow.from.0, |bend| bend.x[1]);
    let (tip, base, half) = (arrow.end + 1.05, arrow.end - 7.35, 3.36);
    let mut path = PathBuilder::new();
    move_to(&mut path, (x - half, base));
    line_to(&mut path, (x, tip));
    line_to(&mut path, (x + half, base));
    path.close();
    path.finish()
}

fn move_to(path: &mut PathBuilder, (x, y): (f64, f64)) {
    path.move_to(x as f32, y as f32);
}

fn line_to(path: &mut PathBuilder, (x, y): (f64, f64)) {
    path.line_to(x as f32, y as f32);
}

fn cubic_to(path: &mut PathBuilder, [a, b, to]: [(f64, f64); 3]) {
    path.cubic_to(a.0 as f32, a.1 as f32, b.0 as f32, b.1 as f32, to.0 as f32, to.1 as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pictures_have_fewer_pixels_and_larger_ones_are_refused() {
        assert_eq!(scale(800.0, 600.0), Some(2.0));
        assert_eq!(scale(4096.0, 8192.0), Some(2.0_f64.sqrt()));
        assert_eq!(scale(10.0, 20_000.0), Some(1.6));
        assert_eq!(scale(10.0, 40_000.0), None);
        assert_eq!(scale(10_000.0, 10_000.0), None);
    }
}
