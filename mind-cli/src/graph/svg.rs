//! Writes a picture as SVG, with the layout of this command.

use std::fmt::{self, Write};

use super::{
    Kind, Node, Picture, layers,
    order::{self, Layered},
    place::{self, MARGIN, Measures, Placed},
};

/// The width of a character and the height of a line, for the name (`NAME`) and the details (`DETAIL`) of a box.
const NAME: (f64, f64) = (7.9, 17.0);
const DETAIL: (f64, f64) = (6.7, 14.0);
/// The space between the text and the border of its box.
const PADDING: (f64, f64) = (10.0, 6.0);
/// The length of the straight part of an arrow below its box, for the text beside it.
const STRAIGHT: f64 = 20.0;
/// The heights of the title and of the legend.
const TITLE: f64 = 30.0;
const LEGEND: f64 = 46.0;

/// The text of a picture. Equal pictures give equal texts.
pub fn render(picture: &Picture) -> String {
    let mut picture = picture.clone();
    let rows = layers::assign(&mut picture);
    let layered = order::arrange(&picture, &rows);
    let measures: Vec<Measures> = picture.nodes.iter().map(measure).collect();
    let placed = place::place(&picture, &layered, &measures);
    let mut drawing = Drawing { picture: &picture, layered, measures, placed, svg: String::new() };
    drawing.draw(&rows).expect("writing to a string cannot fail");
    drawing.svg
}

fn measure(node: &Node) -> Measures {
    let widths = node.lines.iter().enumerate().map(|(line, text)| {
        let (width, _) = if line == 0 { NAME } else { DETAIL };
        width * text.chars().count() as f64
    });
    let small = node.kind == Kind::Constant && node.lines.len() == 1;
    let (padding, lines) = (if small { 8.0 } else { PADDING.0 }, node.lines.len().saturating_sub(1) as f64);
    let width = (widths.fold(0.0, f64::max) + 2.0 * padding).max(if small { 26.0 } else { 54.0 });
    let height = NAME.1 + lines * DETAIL.1 + 2.0 * if small { 2.0 } else { PADDING.1 };
    let written = node.ty.as_ref().map_or(0.0, |ty| 8.0 + DETAIL.0 * ty.chars().count() as f64);
    Measures { left: width / 2.0, right: written.max(width / 2.0), width, height }
}

struct Drawing<'a> {
    picture: &'a Picture,
    layered: Layered,
    measures: Vec<Measures>,
    placed: Placed,
    svg: String,
}

impl Drawing<'_> {
    fn draw(&mut self, rows: &[usize]) -> fmt::Result {
        let legend = self.legend();
        let legend_width = legend.iter().map(|(_, _, text)| legend_step(text)).sum::<f64>() + 2.0 * MARGIN;
        let title_width = NAME.0 * 1.1 * self.picture.title.chars().count() as f64 + 2.0 * MARGIN;
        let width = self.placed.size.0.max(legend_width).max(title_width).ceil();
        let height = (self.placed.size.1 + TITLE + LEGEND).ceil();
        let title = Escaped(&self.picture.title);
        writeln!(
            self.svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{title}</title>\n{STYLE}\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"26\">{title}</text>"
        )?;
        let left = ((width - self.placed.size.0) / 2.0).max(0.0);
        writeln!(self.svg, "<g transform=\"translate({left:.1} {TITLE})\">")?;
        for edge in 0..self.picture.edges.len() {
            self.arrow(edge, rows)?;
        }
        for (node, row) in rows.iter().enumerate() {
            self.node(node, *row)?;
        }
        writeln!(self.svg, "</g>")?;
        let mut x = MARGIN;
        let y = height - LEGEND + 14.0;
        for (class, shape, text) in legend {
            writeln!(
                self.svg,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"18\" height=\"14\" rx=\"{shape}\"/>\
                 <text class=\"legend\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                x + 24.0,
                y + 11.0
            )?;
            x += legend_step(text);
        }
        writeln!(self.svg, "</svg>")
    }

    fn node(&mut self, node: usize, row: usize) -> fmt::Result {
        let Measures { width, height, .. } = self.measures[node];
        let (x, top) = (self.placed.x[node], self.top(node, row));
        let Node { kind, lines, ty, gradient, tooltip } = &self.picture.nodes[node];
        let (class, round) = class(*kind, *gradient);
        let round = if round { height / 2.0 } else { 4.0 };
        write!(
            self.svg,
            "<g><title>{}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"/>",
            Escaped(tooltip),
            x - width / 2.0
        )?;
        let text_height = NAME.1 + lines.len().saturating_sub(1) as f64 * DETAIL.1;
        let mut baseline = top + (height - text_height) / 2.0 + NAME.1 - 4.5;
        for (line, text) in lines.iter().enumerate() {
            let class = if line == 0 { "name" } else { "detail" };
            write!(
                self.svg,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{baseline:.1}\">{}</text>",
                Escaped(text)
            )?;
            baseline += DETAIL.1;
        }
        let has_arrows = !self.layered.below[node].is_empty();
        if let Some(ty) = ty.as_ref().filter(|_| has_arrows) {
            let (x, y) = (x + 5.0, self.bottom(row) + 13.0);
            let class = if *gradient { "type of-gradient" } else { "type" };
            write!(self.svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", Escaped(ty))?;
        }
        writeln!(self.svg, "</g>")
    }

    fn arrow(&mut self, edge: usize, rows: &[usize]) -> fmt::Result {
        let (ends, path) = (self.picture.edges[edge], &self.layered.paths[edge]);
        let (row, x) = (rows[ends.from], self.placed.x[ends.from]);
        let mut line = format!("M{x:.1} {:.1}", self.top(ends.from, row) + self.measures[ends.from].height);
        let mut from = x;
        for (step, place) in path.iter().enumerate().skip(1) {
            let last = step + 1 == path.len();
            let above = row + step - 1;
            let port =
                if last { order::port(ends.operand, ends.of) * self.measures[ends.to].width } else { 0.0 };
            let to = self.placed.x[*place] + port;
            let (start, end) = (self.bottom(above) + STRAIGHT, self.placed.tops[above + 1] - 8.0);
            let middle = (start + end) / 2.0;
            write!(line, "V{start:.1}C{from:.1} {middle:.1} {to:.1} {middle:.1} {to:.1} {end:.1}")?;
            if last {
                write!(line, "V{:.1}", self.top(ends.to, above + 1) - 1.5)?;
            }
            from = to;
        }
        let class = if self.picture.nodes[ends.from].gradient { "arrow of-gradient" } else { "arrow" };
        let head = if self.picture.nodes[ends.from].gradient { "gradient-head" } else { "head" };
        writeln!(self.svg, "<path class=\"{class}\" marker-end=\"url(#{head})\" d=\"{line}\"/>")
    }

    /// The top of a box. Boxes are in the middle of their row.
    fn top(&self, node: usize, row: usize) -> f64 {
        self.placed.tops[row] + (self.placed.heights[row] - self.measures[node].height) / 2.0
    }

    fn bottom(&self, row: usize) -> f64 {
        self.placed.tops[row] + self.placed.heights[row]
    }

    /// The class, corner radius and meaning of each kind of box in the picture.
    fn legend(&self) -> Vec<(&'static str, f64, &'static str)> {
        let has = |kind: Kind, gradient: bool| {
            self.picture.nodes.iter().any(|node| node.kind == kind && node.gradient == gradient)
        };
        let gradients = self.picture.nodes.iter().any(|node| node.gradient);
        let entries = [
            (has(Kind::Input, false), "input", 7.0, "input"),
            (has(Kind::Constant, false) || has(Kind::Constant, true), "constant", 7.0, "constant"),
            (has(Kind::Operation, false), "operation", 3.0, "operation"),
            (gradients, "operation gradient", 3.0, "only for gradients"),
            (has(Kind::Reference, false) || has(Kind::Reference, true), "reference", 3.0, "value from above"),
            (has(Kind::Output, false) || has(Kind::Output, true), "output", 7.0, "output"),
        ];
        entries
            .into_iter()
            .filter(|entry| entry.0)
            .map(|(_, class, round, text)| (class, round, text))
            .collect()
    }
}

fn legend_step(text: &str) -> f64 {
    24.0 + DETAIL.0 * text.len() as f64 + 20.0
}

/// The class of a box, and whether its ends are round.
fn class(kind: Kind, gradient: bool) -> (&'static str, bool) {
    match (kind, gradient) {
        (Kind::Input, _) => ("input", true),
        (Kind::Constant, false) => ("constant", true),
        (Kind::Constant, true) => ("constant gradient", true),
        (Kind::Operation, false) => ("operation", false),
        (Kind::Operation, true) => ("operation gradient", false),
        (Kind::Output, false) => ("output", true),
        (Kind::Output, true) => ("output gradient", true),
        (Kind::Reference, _) => ("reference", false),
    }
}

const STYLE: &str = "<defs>\
<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0.8L8 4L0 7.2z\" fill=\"#64748b\"/></marker>\
<marker id=\"gradient-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0.8L8 4L0 7.2z\" fill=\"#c2570c\"/></marker>\
</defs>
<style>
text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#0f172a}
.name{font-size:13px;text-anchor:middle}
.detail{font-size:11px;text-anchor:middle;fill:#475569}
.type{font-size:11px;fill:#475569}
.legend{font-size:11px;fill:#475569}
.title{font-size:14px;font-weight:bold}
rect.input{fill:#dbeafe;stroke:#2563eb;stroke-width:1.2}
rect.constant{fill:#f1f5f9;stroke:#94a3b8;stroke-width:1}
rect.operation{fill:#ffffff;stroke:#334155;stroke-width:1.2}
rect.output{fill:#dcfce7;stroke:#16a34a;stroke-width:1.2}
rect.reference{fill:#ffffff;stroke:#64748b;stroke-width:1;stroke-dasharray:4 3}
rect.operation.gradient{fill:#ffedd5;stroke:#c2570c}
rect.constant.gradient{fill:#fff7ed;stroke:#ea9a5c}
rect.output.gradient{fill:#dcfce7;stroke:#c2570c}
.arrow{fill:none;stroke:#64748b;stroke-width:1.2}
.arrow.of-gradient{stroke:#c2570c}
.type.of-gradient{fill:#9a4308}
</style>";

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
