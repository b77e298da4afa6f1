//! Texts as outlines. The font is Hack, whose letters are as wide as those that the layout expects.

use epaint_default_fonts::HACK_REGULAR;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The font.
pub struct Font {
    face: Face<'static>,
}

impl Font {
    pub fn new() -> Self {
        Self { face: Face::parse(HACK_REGULAR, 0).expect("the font is valid") }
    }

    /// The width of a text in a font of this size. All characters have the same width.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        self.advance(size) * text.chars().count() as f64
    }

    /// The outlines of a text that starts at this point. `None` if there is nothing to draw.
    pub fn outline(&self, text: &str, size: f64, (x, y): (f64, f64)) -> Option<Path> {
        let scale = size / f64::from(self.face.units_per_em());
        let mut path = PathBuilder::new();
        for (at, character) in text.chars().enumerate() {
            let x = x + self.advance(size) * at as f64;
            let mut pen = Pen { path: &mut path, origin: (x, y), scale };
            self.face.outline_glyph(self.glyph(character), &mut pen);
        }
        path.finish()
    }

    fn advance(&self, size: f64) -> f64 {
        let units = self.face.glyph_hor_advance(self.glyph('x')).unwrap_or_default();
        f64::from(units) * size / f64::from(self.face.units_per_em())
    }

    /// The glyph of a character, or the box of a character that the font lacks.
    fn glyph(&self, character: char) -> GlyphId {
        self.face.glyph_index(character).unwrap_or_default()
    }
}

/// Adds the outline of a glyph to a path.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    origin: (f64, f64),
    scale: f64,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let (left, baseline) = self.origin;
        ((left + f64::from(x) * self.scale) as f32, (baseline - f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_wider_than_the_layout_expects() {
        let font = Font::new();
        assert!(font.width("x", 13.0) <= 7.9 && font.width("x", 11.0) <= 6.7);
        // Pictures have these characters besides those of the program, whose names may have Greek letters.
        for character in "↑…%[]0_λ".chars() {
            assert_ne!(font.glyph(character), GlyphId(0), "{character}");
        }
        assert!(font.outline("\u{fffd}", 13.0, (0.0, 0.0)).is_some(), "a lacking character is a box");
        assert!(font.outline("  ", 13.0, (0.0, 0.0)).is_none());
    }
}
