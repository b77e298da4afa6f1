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

/// The space between the border of a box and the picture in it, at the left, the right and the bottom.
const FRAME: f64 = 4.0;

/// The text of a picture. Equal pictures give equal texts.
pub fn render(picture: &Picture) -> String {
    let mut svg = String::new();
    Drawing::of(picture).document(&mut svg).expect("writing to a string cannot fail");
    svg
}

/// The size of a box, which holds the drawing of its module if there is one.
fn measure(node: &Node, inside: Option<&Drawing>) -> Measures {
    let widths = node.lines.iter().enumerate().map(|(line, text)| {
        let (width, _) = if line == 0 { NAME } else { DETAIL };
        width * text.chars().count() as f64
    });
    let small = node.kind == Kind::Constant && node.lines.len() == 1;
    let padding = if small { 8.0 } else { PADDING.0 };
    let mut width = (widths.fold(0.0, f64::max) + 2.0 * padding).max(if small { 26.0 } else { 54.0 });
    let mut height = text_height(node) + 2.0 * if small { 2.0 } else { PADDING.1 };
    if let Some(inside) = inside {
        width = width.max(inside.placed.size.0 + 2.0 * FRAME);
        height += inside.placed.size.1 + FRAME;
    }
    let written = node.ty.as_ref().map_or(0.0, |ty| 8.0 + DETAIL.0 * ty.chars().count() as f64);
    Measures { left: width / 2.0, right: written.max(width / 2.0), width, height }
}

/// The height of the lines in a box.
fn text_height(node: &Node) -> f64 {
    NAME.1 + node.lines.len().saturating_sub(1) as f64 * DETAIL.1
}

/// A picture with its layout.
struct Drawing {
    picture: Picture,
    /// The row of each box.
    rows: Vec<usize>,
    layered: Layered,
    measures: Vec<Measures>,
    placed: Placed,
    /// The drawing in each box.
    inside: Vec<Option<Self>>,
}

impl Drawing {
    fn of(picture: &Picture) -> Self {
        let mut picture = picture.clone();
        let rows = layers::assign(&mut picture);
        let layered = order::arrange(&picture, &rows);
        let inside: Vec<_> = picture.nodes.iter().map(|node| node.inside.as_deref().map(Self::of)).collect();
        let measures: Vec<_> =
            picture.nodes.iter().zip(&inside).map(|(node, inside)| measure(node, inside.as_ref())).collect();
        let placed = place::place(&picture, &layered, &measures);
        Self { picture, rows, layered, measures, placed, inside }
    }

    /// The whole file: title, boxes and arrows, legend.
    fn document(&self, svg: &mut String) -> fmt::Result {
        let legend = self.legend();
        let legend_width = legend.iter().map(|(_, _, text)| legend_step(text)).sum::<f64>() + 2.0 * MARGIN;
        let title_width = NAME.0 * 1.1 * self.picture.title.chars().count() as f64 + 2.0 * MARGIN;
        let width = self.placed.size.0.max(legend_width).max(title_width).ceil();
        let height = (self.placed.size.1 + TITLE + LEGEND).ceil();
        let title = Escaped(&self.picture.title);
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{title}</title>\n{STYLE}\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"26\">{title}</text>"
        )?;
        let left = ((width - self.placed.size.0) / 2.0).max(0.0);
        self.at(left, TITLE, svg)?;
        let mut x = MARGIN;
        let y = height - LEGEND + 14.0;
        for (class, shape, text) in legend {
            writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"18\" height=\"14\" rx=\"{shape}\"/>\
                 <text class=\"legend\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                x + 24.0,
                y + 11.0
            )?;
            x += legend_step(text);
        }
        writeln!(svg, "</svg>")
    }

    /// The boxes and arrows, with their corner at these coordinates.
    fn at(&self, x: f64, y: f64, svg: &mut String) -> fmt::Result {
        writeln!(svg, "<g transform=\"translate({x:.1} {y:.0})\">")?;
        for edge in 0..self.picture.edges.len() {
            self.arrow(edge, svg)?;
        }
        for node in 0..self.rows.len() {
            self.node(node, svg)?;
        }
        writeln!(svg, "</g>")
    }

    fn node(&self, node: usize, svg: &mut String) -> fmt::Result {
        let (row, inside) = (self.rows[node], &self.inside[node]);
        let Measures { width, height, .. } = self.measures[node];
        let (x, top) = (self.placed.x[node], self.top(node));
        let Node { kind, lines, ty, gradient, tooltip, share, .. } = &self.picture.nodes[node];
        let (class, round) = class(*kind, *gradient);
        let round = if round { height / 2.0 } else { 4.0 };
        // A box that holds a drawing stays as light as the boxes in it.
        let heat = heat(*share).filter(|_| inside.is_none());
        let heat = heat.map_or(String::new(), |colour| format!(" style=\"fill:{colour}\""));
        write!(
            svg,
            "<g><title>{}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"{heat}/>",
            Escaped(tooltip),
            x - width / 2.0
        )?;
        let text_height = text_height(&self.picture.nodes[node]);
        let above = if inside.is_some() { PADDING.1 } else { (height - text_height) / 2.0 };
        let mut baseline = top + above + NAME.1 - 4.5;
        for (line, text) in lines.iter().enumerate() {
            let class = if line == 0 { "name" } else { "detail" };
            write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{baseline:.1}\">{}</text>", Escaped(text))?;
            baseline += DETAIL.1;
        }
        let has_arrows = !self.layered.below[node].is_empty();
        if let Some(ty) = ty.as_ref().filter(|_| has_arrows) {
            let (x, y) = (x + 5.0, self.bottom(row) + 13.0);
            let class = if *gradient { "type of-gradient" } else { "type" };
            write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", Escaped(ty))?;
        }
        if let Some(inside) = inside {
            let left = x - inside.placed.size.0 / 2.0;
            inside.at(left, top + text_height + 2.0 * PADDING.1, svg)?;
        }
        writeln!(svg, "</g>")
    }

    fn arrow(&self, edge: usize, svg: &mut String) -> fmt::Result {
        let (ends, path) = (self.picture.edges[edge], &self.layered.paths[edge]);
        let (row, x) = (self.rows[ends.from], self.placed.x[ends.from]);
        let mut line = format!("M{x:.1} {:.1}", self.top(ends.from) + self.measures[ends.from].height);
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
                write!(line, "V{:.1}", self.top(ends.to) - 1.5)?;
            }
            from = to;
        }
        let class = if self.picture.nodes[ends.from].gradient { "arrow of-gradient" } else { "arrow" };
        let head = if self.picture.nodes[ends.from].gradient { "gradient-head" } else { "head" };
        writeln!(svg, "<path class=\"{class}\" marker-end=\"url(#{head})\" d=\"{line}\"/>")
    }

    /// The top of a box. Boxes are in the middle of their row.
    fn top(&self, node: usize) -> f64 {
        let row = self.rows[node];
        self.placed.tops[row] + (self.placed.heights[row] - self.measures[node].height) / 2.0
    }

    fn bottom(&self, row: usize) -> f64 {
        self.placed.tops[row] + self.placed.heights[row]
    }

    /// The class, corner radius and meaning of each kind of box in the picture.
    fn legend(&self) -> Vec<(&'static str, f64, &'static str)> {
        let mut boxes = Vec::new();
        self.kinds(&mut boxes);
        let has = |kind: Kind| boxes.iter().any(|(other, _)| *other == kind);
        let entries = [
            (boxes.contains(&(Kind::Input, false)), "input", 7.0, "input"),
            (has(Kind::Constant), "constant", 7.0, "constant"),
            (boxes.contains(&(Kind::Operation, false)), "operation", 3.0, "operation"),
            (boxes.iter().any(|(_, gradient)| *gradient), "operation gradient", 3.0, "only for gradients"),
            (has(Kind::Reference), "reference", 3.0, "value from above"),
            (has(Kind::Output), "output", 7.0, "output"),
        ];
        entries
            .into_iter()
            .filter(|entry| entry.0)
            .map(|(_, class, round, text)| (class, round, text))
            .collect()
    }

    /// The kinds of all boxes, and whether only gradients need them.
    fn kinds(&self, kinds: &mut Vec<(Kind, bool)>) {
        kinds.extend(self.picture.nodes.iter().map(|node| (node.kind, node.gradient)));
        self.inside.iter().flatten().for_each(|inside| inside.kinds(kinds));
    }
}

/// The colour of a box with this part of the arithmetic, from white to amber. `None` below one percent.
pub fn heat(share: f64) -> Option<String> {
    let mixed = |full: f64| (255.0 + (full - 255.0) * share.sqrt().min(1.0)).round() as u8;
    (share >= 0.01).then(|| format!("#{:02x}{:02x}{:02x}", mixed(251.0), mixed(191.0), mixed(36.0)))
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
