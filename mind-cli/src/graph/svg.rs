//! Writes a picture as SVG, with the layout of this command.

use std::fmt::{self, Write};

use super::{
    Picture,
    drawing::{Arrow, Canvas, Drawing, Shape, Style},
    look::{ARROW, DETAIL, LOOKS, Look, NAME, TYPE},
};

/// The text of a picture. Equal pictures give equal texts.
pub fn render(picture: &Picture) -> String {
    let mut svg = Svg(String::new());
    let drawing = Drawing::of(picture);
    svg.head(&drawing).expect(WRITES);
    drawing.paint(&mut svg);
    svg.0 + "</svg>\n"
}

const WRITES: &str = "writing to a string cannot fail";

/// The text so far.
struct Svg(String);

impl Svg {
    fn head(&mut self, drawing: &Drawing) -> fmt::Result {
        let ((width, height), title) = (drawing.size(), Escaped(drawing.title()));
        writeln!(
            self.0,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{title}</title>"
        )?;
        self.style()?;
        writeln!(self.0, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")
    }

    /// The heads of arrows, and the style of each class.
    fn style(&mut self) -> fmt::Result {
        let [arrow, of_gradient] = ARROW;
        self.0.push_str("<defs>");
        for (id, colour) in [("head", arrow), ("gradient-head", of_gradient)] {
            write!(
                self.0,
                "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
                 <path d=\"M0 0.8L8 4L0 7.2z\" fill=\"{colour}\"/></marker>"
            )?;
        }
        write!(
            self.0,
            "</defs>\n<style>\n\
             text{{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:{NAME}}}\n\
             .name{{font-size:13px;text-anchor:middle}}\n\
             .detail{{font-size:11px;text-anchor:middle;fill:{DETAIL}}}\n\
             .type{{font-size:11px;fill:{}}}\n\
             .legend{{font-size:11px;fill:{DETAIL}}}\n\
             .title{{font-size:14px;font-weight:bold}}\n",
            TYPE[0]
        )?;
        for Look { class, fill, line, width, is_dashed, .. } in LOOKS {
            write!(self.0, "rect.{}{{fill:{fill};stroke:{line}", class.replace(' ', "."))?;
            if !class.contains(' ') {
                write!(self.0, ";stroke-width:{width}")?;
            }
            self.0.push_str(if is_dashed { ";stroke-dasharray:4 3}\n" } else { "}\n" });
        }
        writeln!(
            self.0,
            ".arrow{{fill:none;stroke:{arrow};stroke-width:1.2}}\n\
             .arrow.of-gradient{{stroke:{of_gradient}}}\n\
             .type.of-gradient{{fill:{}}}\n</style>",
            TYPE[1]
        )
    }
}

impl Canvas for Svg {
    fn enter(&mut self, x: f64, y: f64) {
        writeln!(self.0, "<g transform=\"translate({x:.1} {y:.0})\">").expect(WRITES);
    }

    fn leave(&mut self) {
        self.0.push_str("</g>\n");
    }

    fn arrow(&mut self, arrow: &Arrow, gradient: bool) {
        let (class, head) = if gradient { ("arrow of-gradient", "gradient-head") } else { ("arrow", "head") };
        let (x, y) = arrow.from;
        write!(self.0, "<path class=\"{class}\" marker-end=\"url(#{head})\" d=\"M{x:.1} {y:.1}")
            .expect(WRITES);
        for bend in &arrow.bends {
            let ([from, to], [start, end]) = (bend.x, bend.y);
            let middle = (start + end) / 2.0;
            write!(self.0, "V{start:.1}C{from:.1} {middle:.1} {to:.1} {middle:.1} {to:.1} {end:.1}")
                .expect(WRITES);
        }
        writeln!(self.0, "V{:.1}\"/>", arrow.end).expect(WRITES);
    }

    fn open(&mut self, shape: &Shape<'_>) {
        let Shape { tooltip, area: [x, top, width, height], round, look, heat } = shape;
        let heat = heat.as_ref().map_or(String::new(), |colour| format!(" style=\"fill:{colour}\""));
        write!(
            self.0,
            "<g><title>{}</title><rect class=\"{}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"{heat}/>",
            Escaped(tooltip),
            look.class,
        )
        .expect(WRITES);
    }

    fn close(&mut self) {
        self.0.push_str("</g>\n");
    }

    fn text(&mut self, style: Style, (x, y): (f64, f64), text: &str) {
        let class = match style {
            Style::Name => "name",
            Style::Detail => "detail",
            Style::Type { gradient: false } => "type",
            Style::Type { gradient: true } => "type of-gradient",
            Style::Legend => "legend",
            Style::Title => "title",
        };
        let text = Escaped(text);
        match style {
            Style::Title => writeln!(self.0, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"),
            Style::Legend => {
                writeln!(self.0, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>")
            }
            _ => write!(self.0, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"),
        }
        .expect(WRITES);
    }

    fn sample(&mut self, look: Look, (x, y): (f64, f64), round: f64) {
        let class = look.class;
        write!(
            self.0,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"18\" height=\"14\" rx=\"{round}\"/>"
        )
        .expect(WRITES);
    }
}

/// Text with XML's special characters escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' | '\t' => f.write_char(' ')?,
                // XML cannot represent these characters.
                other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?
                }
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
