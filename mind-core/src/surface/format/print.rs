//! Prints texts and possible line breaks within the width: after Oppen, *Prettyprinting*, 1980.

use super::{INDENT, WIDTH};

/// An item of the printer's input.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// A token, or a comment among tokens.
    Text(&'a str),
    /// A comment that ends the line, however long the line becomes.
    Trailing(&'a str),
    /// A comment that ends the line if the enclosing group is broken. Groups before it need not fit with it.
    Last(&'a str),
    Space,
    /// Nothing or a space; a line break if the enclosing group is broken.
    Break {
        space: bool,
        to: Indent,
    },
    /// A space, or a line break if the next text does not fit on the line.
    Fill,
    /// A space. It is a line break if the text up to piece `until` fits on the next line but not on this one.
    Assign {
        until: usize,
    },
    /// A line break.
    Line {
        blank: bool,
        to: Indent,
    },
    /// A comma, if the enclosing group is broken.
    Comma,
    /// The start of a group. The group stays on its line if it fits together with the text after it, up to the next
    /// possible line break or to piece `until`.
    Open {
        until: Option<usize>,
    },
    Close,
}

/// The indentation of the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indent {
    /// A level deeper than the line on which the group begins.
    In,
    /// The indentation of that line.
    Out,
}

/// The maximum indentation, so that deep nesting does not enlarge the text without bound.
const DEEPEST: usize = 20 * INDENT;

/// Measures of the pieces before and at each index.
struct Measures {
    /// The width of all pieces before, on a single line.
    widths: Vec<usize>,
    /// The number of line breaks before.
    lines: Vec<usize>,
    /// The index of the next possible line break.
    breaks: Vec<usize>,
    /// The index at which the group that begins here ends.
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

    /// The width from one piece to another; `None` if there is a line break between them.
    fn width(&self, from: usize, to: usize) -> Option<usize> {
        (self.lines[from] == self.lines[to]).then(|| self.widths[to] - self.widths[from])
    }
}

#[derive(Clone, Copy)]
struct PrintGroup {
    /// The indentation of the line on which the group begins.
    base: usize,
    is_flat: bool,
}

struct Printer {
    text: String,
    column: usize,
    /// The indentation of the current line.
    start: usize,
    groups: Vec<PrintGroup>,
}

/// Prints pieces in lines.
pub(super) fn print(pieces: &[Piece<'_>]) -> String {
    let measures = Measures::of(pieces);
    let whole = PrintGroup { base: 0, is_flat: false };
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
    fn group(&self) -> PrintGroup {
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
                self.groups.push(PrintGroup { base: self.start, is_flat });
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
        let PrintGroup { base, .. } = self.group();
        let indent = match to {
            Indent::In => (base + INDENT).min(DEEPEST),
            Indent::Out => base,
        };
        self.text.push_str(if blank { "\n\n" } else { "\n" });
        self.text.extend(std::iter::repeat_n(' ', indent));
        (self.column, self.start) = (indent, indent);
    }
}
