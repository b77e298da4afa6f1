//! Texts and places where lines may end, printed within the width: after Oppen, *Prettyprinting*, 1980.

use super::{INDENT, WIDTH};

/// A part of what is printed.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// A token, or a comment among tokens.
    Text(&'a str),
    /// A comment with which the line ends, however long it becomes.
    Trailing(&'a str),
    /// One with which the line ends where the group around is broken: groups before it need not fit with it.
    Last(&'a str),
    Space,
    /// Nothing or a space; where the group around is broken, the end of a line.
    Break {
        space: bool,
        to: Indent,
    },
    /// A space, or the end of a line where what is behind does not fit.
    Fill,
    /// A space; the end of a line if what is behind it, up to this piece, fits on the next line and not on this one.
    Assign {
        until: usize,
    },
    /// The end of a line.
    Line {
        blank: bool,
        to: Indent,
    },
    /// A comma at the end of a group that is broken.
    Comma,
    /// The start of a group, which stays on its line if it fits there with what follows it: up to the next place where a
    /// line may end, or to this piece.
    Open {
        until: Option<usize>,
    },
    Close,
}

/// Where the next line begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indent {
    /// A level further in than the line on which the group begins.
    In,
    /// Where that line begins.
    Out,
}

/// No line begins further in, so that what nests without end grows no more than so.
const DEEPEST: usize = 20 * INDENT;

/// What is known of the pieces before and at each place.
struct Measures {
    /// The width of all before, on a line.
    widths: Vec<usize>,
    /// How many lines end before.
    lines: Vec<usize>,
    /// The next place where a line may end.
    breaks: Vec<usize>,
    /// Where the group that begins here ends.
    ends: Vec<usize>,
}

impl Measures {
    fn of(pieces: &[Piece<'_>]) -> Self {
        let (mut widths, mut lines) = (vec![0], vec![0]);
        let (mut ends, mut open) = (vec![pieces.len(); pieces.len()], Vec::new());
        for (at, piece) in pieces.iter().enumerate() {
            let (width, ended) = match piece {
                Piece::Text(text) | Piece::Last(text) => (text.chars().count(), text.matches('\n').count()),
                Piece::Space | Piece::Fill | Piece::Assign { .. } => (1, 0),
                Piece::Break { space, .. } => (usize::from(*space), 0),
                Piece::Line { .. } => (0, 1),
                Piece::Trailing(_) | Piece::Comma => (0, 0),
                Piece::Open { .. } => {
                    open.push(at);
                    (0, 0)
                }
                Piece::Close => {
                    if let Some(start) = open.pop() {
                        ends[start] = at;
                    }
                    (0, 0)
                }
            };
            widths.push(widths[at] + width);
            lines.push(lines[at] + ended);
        }
        let mut breaks = vec![pieces.len(); pieces.len() + 1];
        for (at, piece) in pieces.iter().enumerate().rev() {
            let may_end = matches!(
                piece,
                Piece::Break { .. }
                    | Piece::Fill
                    | Piece::Assign { .. }
                    | Piece::Line { .. }
                    | Piece::Last(_)
            );
            breaks[at] = if may_end { at } else { breaks[at + 1] };
        }
        Self { widths, lines, breaks, ends }
    }

    /// The width from one piece to another; nothing where a line ends between them.
    fn width(&self, from: usize, to: usize) -> Option<usize> {
        (self.lines[from] == self.lines[to]).then(|| self.widths[to] - self.widths[from])
    }
}

#[derive(Clone, Copy)]
struct Group {
    /// Where the line on which it begins begins.
    base: usize,
    is_flat: bool,
}

struct Printer {
    text: String,
    column: usize,
    /// Where the line begins.
    start: usize,
    groups: Vec<Group>,
}

/// The text of pieces, in lines.
pub(super) fn print(pieces: &[Piece<'_>]) -> String {
    let measures = Measures::of(pieces);
    let whole = Group { base: 0, is_flat: false };
    let mut printer = Printer { text: String::new(), column: 0, start: 0, groups: vec![whole] };
    for (at, piece) in pieces.iter().enumerate() {
        printer.piece(at, *piece, &measures);
    }
    if !printer.text.is_empty() {
        printer.text.push('\n');
    }
    printer.text
}

impl Printer {
    fn group(&self) -> Group {
        *self.groups.last().expect("the group of the text is never left")
    }

    fn piece(&mut self, at: usize, piece: Piece<'_>, measures: &Measures) {
        let group = self.group();
        let fits =
            |column: usize, to: usize| measures.width(at, to).is_some_and(|width| column + width <= WIDTH);
        match piece {
            Piece::Text(text) | Piece::Trailing(text) | Piece::Last(text) => self.write(text),
            Piece::Space => self.write(" "),
            Piece::Break { space, to } => match (group.is_flat, space) {
                (true, true) => self.write(" "),
                (true, false) => {}
                (false, _) => self.line(false, to),
            },
            Piece::Fill => {
                if group.is_flat || fits(self.column, measures.breaks[at + 1]) {
                    self.write(" ");
                } else {
                    self.line(false, Indent::In);
                }
            }
            Piece::Assign { until } => {
                let next = group.base + INDENT - 1;
                if !fits(self.column, until) && fits(next, until) {
                    self.line(false, Indent::In);
                } else {
                    self.write(" ");
                }
            }
            Piece::Line { blank, to } => self.line(blank, to),
            Piece::Comma => {
                if !group.is_flat {
                    self.write(",");
                }
            }
            Piece::Open { until } => {
                let end = measures.ends[at];
                let holds_line = measures.width(at, end).is_none();
                let next = measures.breaks[end];
                let until = until.filter(|until| measures.width(at, *until).is_some()).unwrap_or(next);
                let is_flat = group.is_flat || !holds_line && fits(self.column, until);
                self.groups.push(Group { base: self.start, is_flat });
            }
            Piece::Close => {
                if self.groups.len() > 1 {
                    self.groups.pop();
                }
            }
        }
    }

    fn write(&mut self, text: &str) {
        self.text.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn line(&mut self, blank: bool, to: Indent) {
        let Group { base, .. } = self.group();
        let indent = match to {
            Indent::In => (base + INDENT).min(DEEPEST),
            Indent::Out => base,
        };
        self.text.push_str(if blank { "\n\n" } else { "\n" });
        self.text.extend(std::iter::repeat_n(' ', indent));
        (self.column, self.start) = (indent, indent);
    }
}
