//! A picture with its layout, and the walk over its shapes that SVG and PNG share.

use super::{
    Kind, Node, Picture, layers,
    look::{Look, heat, look},
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
/// The distance from a box to the bottom of its row up to which the text beside its arrow is below the row.
const NEAR: f64 = 2.0 * STRAIGHT;
/// The heights of the title and of the legend.
const TITLE: f64 = 30.0;
const LEGEND: f64 = 46.0;
/// The space between the border of a box and the picture in it, at the left, the right and the bottom.
const FRAME: f64 = 4.0;

/// A format of pictures, which takes their shapes.
pub trait Canvas {
    /// Begins a group of shapes whose coordinates count from this point.
    fn enter(&mut self, x: f64, y: f64);
    /// Ends the group.
    fn leave(&mut self);
    /// Draws an arrow, orange if only gradients need its value.
    fn arrow(&mut self, arrow: &Arrow, gradient: bool);
    /// Draws a box. Its texts and the shapes in it follow.
    fn open(&mut self, shape: &Shape<'_>);
    /// Ends a box.
    fn close(&mut self);
    /// Draws a text at a point of its baseline: the middle for names and details, the start for others.
    fn text(&mut self, style: Style, at: (f64, f64), text: &str);
    /// Draws an example of a box in the legend, with its top left corner and the radius of its corners.
    fn sample(&mut self, look: Look, corner: (f64, f64), round: f64);
}

/// A box.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// The text that shows when the pointer is over the box.
    pub tooltip: &'a str,
    /// The left, the top, the width and the height.
    pub area: [f64; 4],
    /// The radius of its corners.
    pub round: f64,
    /// Its colours.
    pub look: Look,
    /// The colour inside, if it differs from that of the look.
    pub heat: Option<String>,
}

/// An arrow: straight down from a point, then a curve and a straight part for each row.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The start.
    pub from: (f64, f64),
    /// The curves.
    pub bends: Vec<Bend>,
    /// The end of the last straight part.
    pub end: f64,
}

/// A curve of an arrow, which begins and ends vertically.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    /// The horizontal positions of the start and the end.
    pub x: [f64; 2],
    /// The vertical positions of the start and the end.
    pub y: [f64; 2],
}

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The first line of a box.
    Name,
    /// A further line of a box.
    Detail,
    /// The type beside an arrow.
    Type {
        /// Whether only gradients need the value.
        gradient: bool,
    },
    /// An entry of the legend.
    Legend,
    /// The title of the picture.
    Title,
}

/// A picture with its layout.
pub struct Drawing {
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
    /// The layout of a picture.
    pub fn of(picture: &Picture) -> Self {
        let mut picture = picture.clone();
        let rows = layers::assign(&mut picture);
        let layered = order::arrange(&picture, &rows);
        let inside: Vec<_> = picture.nodes.iter().map(|node| node.inside.as_deref().map(Self::of)).collect();
        let measures: Vec<_> =
            picture.nodes.iter().zip(&inside).map(|(node, inside)| measure(node, inside.as_ref())).collect();
        let placed = place::place(&picture, &layered, &measures);
        Self { picture, rows, layered, measures, placed, inside }
    }

    /// The title of the picture.
    pub fn title(&self) -> &str {
        &self.picture.title
    }

    /// The width and height of the whole, with title and legend, in whole pixels.
    pub fn size(&self) -> (f64, f64) {
        let legend = self.legend();
        let legend_width = legend.iter().map(|(_, _, text)| legend_step(text)).sum::<f64>() + 2.0 * MARGIN;
        let title_width = NAME.0 * 1.1 * self.picture.title.chars().count() as f64 + 2.0 * MARGIN;
        let width = self.placed.size.0.max(legend_width).max(title_width).ceil();
        let height = (self.placed.size.1 + TITLE + LEGEND).ceil();
        (width, height)
    }

    /// Draws everything: title, boxes and arrows, legend.
    pub fn paint(&self, canvas: &mut impl Canvas) {
        let (width, height) = self.size();
        canvas.text(Style::Title, (MARGIN, 26.0), &self.picture.title);
        let left = ((width - self.placed.size.0) / 2.0).max(0.0);
        self.paint_at(left, TITLE, canvas);
        let mut x = MARGIN;
        let y = height - LEGEND + 14.0;
        for (look, round, text) in self.legend() {
            canvas.sample(look, (x, y), round);
            canvas.text(Style::Legend, (x + 24.0, y + 11.0), text);
            x += legend_step(text);
        }
    }

    /// Draws the boxes and arrows, with their corner at these coordinates.
    fn paint_at(&self, x: f64, y: f64, canvas: &mut impl Canvas) {
        canvas.enter(x, y);
        for edge in 0..self.picture.edges.len() {
            let from = self.picture.edges[edge].from;
            canvas.arrow(&self.arrow(edge), self.picture.nodes[from].gradient);
        }
        for node in 0..self.rows.len() {
            self.paint_node(node, canvas);
        }
        canvas.leave();
    }

    fn paint_node(&self, node: usize, canvas: &mut impl Canvas) {
        let inside = &self.inside[node];
        let Measures { width, height, .. } = self.measures[node];
        let (x, top) = (self.placed.x[node], self.top(node));
        let Node { kind, lines, ty, gradient, tooltip, share, .. } = &self.picture.nodes[node];
        let look = look(*kind, *gradient);
        let round = if look.is_round { height / 2.0 } else { 4.0 };
        // A box that holds a drawing stays as light as the boxes in it.
        let heat = heat(*share).filter(|_| inside.is_none());
        canvas.open(&Shape { tooltip, area: [x - width / 2.0, top, width, height], round, look, heat });
        let text_height = text_height(&self.picture.nodes[node]);
        let above = if inside.is_some() { PADDING.1 } else { (height - text_height) / 2.0 };
        let mut baseline = top + above + NAME.1 - 4.5;
        for (line, text) in lines.iter().enumerate() {
            let style = if line == 0 { Style::Name } else { Style::Detail };
            canvas.text(style, (x, baseline), text);
            baseline += DETAIL.1;
        }
        let has_arrows = !self.layered.below[node].is_empty();
        if let Some(ty) = ty.as_ref().filter(|_| has_arrows) {
            canvas.text(Style::Type { gradient: *gradient }, (x + 5.0, self.baseline_of_type(node)), ty);
        }
        if let Some(inside) = inside {
            let left = x - inside.placed.size.0 / 2.0;
            inside.paint_at(left, top + text_height + 2.0 * PADDING.1, canvas);
        }
        canvas.close();
    }

    /// The text beside an arrow stands on one line with those of the row, but close to a box beside an open one.
    fn baseline_of_type(&self, node: usize) -> f64 {
        let own = self.top(node) + self.measures[node].height;
        let bottom = self.bottom(self.rows[node]);
        13.0 + if bottom - own > NEAR { own } else { bottom }
    }

    fn arrow(&self, edge: usize) -> Arrow {
        let (ends, path) = (self.picture.edges[edge], &self.layered.paths[edge]);
        let (row, x) = (self.rows[ends.from], self.placed.x[ends.from]);
        let mut bends = Vec::with_capacity(path.len());
        let mut from = x;
        for (step, place) in path.iter().enumerate().skip(1) {
            let last = step + 1 == path.len();
            let above = row + step - 1;
            let port =
                if last { order::port(ends.operand, ends.of) * self.measures[ends.to].width } else { 0.0 };
            let to = self.placed.x[*place] + port;
            let y = [self.bottom(above) + STRAIGHT, self.placed.tops[above + 1] - 8.0];
            bends.push(Bend { x: [from, to], y });
            from = to;
        }
        let bottom = self.top(ends.from) + self.measures[ends.from].height;
        Arrow { from: (x, bottom), bends, end: self.top(ends.to) - 1.5 }
    }

    /// The top of a box. Boxes are in the middle of their row.
    fn top(&self, node: usize) -> f64 {
        let row = self.rows[node];
        self.placed.tops[row] + (self.placed.heights[row] - self.measures[node].height) / 2.0
    }

    fn bottom(&self, row: usize) -> f64 {
        self.placed.tops[row] + self.placed.heights[row]
    }

    /// The look, corner radius and meaning of each kind of box in the picture.
    fn legend(&self) -> Vec<(Look, f64, &'static str)> {
        let mut boxes = Vec::new();
        self.kinds(&mut boxes);
        let has = |kind: Kind| boxes.iter().any(|(other, _)| *other == kind);
        let entries = [
            (boxes.contains(&(Kind::Input, false)), look(Kind::Input, false), 7.0, "input"),
            (has(Kind::Constant), look(Kind::Constant, false), 7.0, "constant"),
            (boxes.contains(&(Kind::Operation, false)), look(Kind::Operation, false), 3.0, "operation"),
            (
                boxes.iter().any(|(_, gradient)| *gradient),
                look(Kind::Operation, true),
                3.0,
                "only for gradients",
            ),
            (has(Kind::Reference), look(Kind::Reference, false), 3.0, "value from above"),
            (has(Kind::Output), look(Kind::Output, false), 7.0, "output"),
        ];
        entries
            .into_iter()
            .filter(|entry| entry.0)
            .map(|(_, look, round, text)| (look, round, text))
            .collect()
    }

    /// The kinds of all boxes, and whether only gradients need them.
    fn kinds(&self, kinds: &mut Vec<(Kind, bool)>) {
        kinds.extend(self.picture.nodes.iter().map(|node| (node.kind, node.gradient)));
        self.inside.iter().flatten().for_each(|inside| inside.kinds(kinds));
    }
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

fn legend_step(text: &str) -> f64 {
    24.0 + DETAIL.0 * text.len() as f64 + 20.0
}
