//! Drawings that the examples write as SVG files. Equal drawings give equal texts.

#![allow(dead_code, reason = "each example draws with a part of it")]

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

pub const INK: &str = "#1f2937";
pub const GREY: &str = "#6b7280";
pub const FAINT: &str = "#e5e7eb";
pub const BLUE: &str = "#2563eb";
pub const RED: &str = "#dc2626";

/// The part of a text that is placed at the given point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing. Distances are in pixels from the upper left corner.
pub struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    /// A white drawing.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Draws straight lines between consecutive points, with round ends.
    pub fn curve(&mut self, points: impl IntoIterator<Item = [f64; 2]>, thickness: f64, colour: &str) {
        let points: Vec<_> = points.into_iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        self.add(&format!(
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="{thickness}" stroke-linecap="round" stroke-linejoin="round"/>"#,
            points.join(" ")
        ));
    }

    /// Fills the area inside of straight lines between consecutive points.
    pub fn area(&mut self, points: impl IntoIterator<Item = [f64; 2]>, colour: &str) {
        let points: Vec<_> = points.into_iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        self.add(&format!(r#"<polygon points="{}" fill="{colour}"/>"#, points.join(" ")));
    }

    /// Fills a rectangle.
    pub fn rectangle(&mut self, [left, top]: [f64; 2], width: f64, height: f64, colour: &str) {
        self.add(&format!(
            r#"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        ));
    }

    /// Fills a disc.
    pub fn disc(&mut self, [x, y]: [f64; 2], radius: f64, colour: &str) {
        self.add(&format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" fill="{colour}"/>"#));
    }

    /// Writes a text that begins, is centred or ends at a point of its base line.
    pub fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, text: &str, colour: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.add(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{colour}">{text}</text>"#
        ));
    }

    /// Writes the drawing to a file and creates its folder where it is missing.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let (width, height) = (self.width, self.height);
        fs::write(
            path,
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"14\">\n\
                 <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
                self.body
            ),
        )
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// An area of a drawing in which `x` and `y` have the given ranges. `y` grows upwards.
pub struct Chart {
    pub corner: [f64; 2],
    pub size: [f64; 2],
    pub x: [f64; 2],
    pub y: [f64; 2],
}

impl Chart {
    /// The place of a point in the drawing.
    pub fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let share = |value: f64, [low, high]: [f64; 2]| (value - low) / (high - low);
        [
            self.corner[0] + self.size[0] * share(x, self.x),
            self.corner[1] + self.size[1] * (1.0 - share(y, self.y)),
        ]
    }

    /// Draws a line with its number at each multiple of the spacings, and a title above.
    pub fn axes(&self, drawing: &mut Drawing, title: &str, [x_spacing, y_spacing]: [f64; 2]) {
        let [left, top] = self.corner;
        drawing.text([left, top - 10.0], Anchor::Start, title, INK);
        for value in multiples(self.x, x_spacing) {
            let [x, bottom] = self.at([value, self.y[0]]);
            drawing.curve([[x, top], [x, bottom]], 1.0, FAINT);
            drawing.text([x, bottom + 18.0], Anchor::Middle, &number(value, x_spacing), GREY);
        }
        for value in multiples(self.y, y_spacing) {
            let [right, y] = self.at([self.x[1], value]);
            drawing.curve([[left, y], [right, y]], 1.0, FAINT);
            drawing.text([left - 8.0, y + 5.0], Anchor::End, &number(value, y_spacing), GREY);
        }
    }

    /// Draws straight lines between consecutive points.
    pub fn curve(
        &self,
        drawing: &mut Drawing,
        points: impl IntoIterator<Item = [f64; 2]>,
        thickness: f64,
        colour: &str,
    ) {
        drawing.curve(points.into_iter().map(|point| self.at(point)), thickness, colour);
    }

    /// Fills the area between two curves.
    pub fn area(&self, drawing: &mut Drawing, below: Vec<[f64; 2]>, above: Vec<[f64; 2]>, colour: &str) {
        let around = below.into_iter().chain(above.into_iter().rev());
        drawing.area(around.map(|point| self.at(point)), colour);
    }
}

/// The multiples of a spacing in a range.
fn multiples([low, high]: [f64; 2], spacing: f64) -> impl Iterator<Item = f64> {
    ((low / spacing).ceil() as i64..=(high / spacing).floor() as i64).map(move |mark| mark as f64 * spacing)
}

/// A multiple of a spacing, with the digits that it needs.
fn number(value: f64, spacing: f64) -> String {
    let digits = (-spacing.log10().floor()).max(0.0) as usize;
    let mut text = String::new();
    write!(text, "{value:.digits$}").expect("writing to a string cannot fail");
    text
}
