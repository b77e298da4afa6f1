//! Converts tokens to pieces for the printer: decides the gap between any two tokens.

use super::{
    print::{Indent, Piece},
    roles::{Bracket, BracketKind, Token, TokenRole},
};
use crate::surface::parse::{OPERATORS, is_keyword};

/// The gap between two tokens.
#[derive(Clone, Copy)]
enum Gap {
    Nothing,
    Space,
    Break {
        space: bool,
        to: Indent,
    },
    Fill,
    /// After `=`; the value extends to the end of token `last`.
    Assign {
        last: usize,
    },
    Line(Indent),
}

/// The pieces to print.
pub(super) fn pieces<'a>(tokens: &[Token<'a>], brackets: &[Bracket]) -> Vec<Piece<'a>> {
    let mut layout = Layout {
        tokens,
        brackets,
        around: Vec::new(),
        pieces: Vec::new(),
        ends: Vec::with_capacity(tokens.len()),
    };
    for at in 0..tokens.len() {
        layout.token(at);
    }
    let Layout { mut pieces, ends, .. } = layout;
    // Indices of tokens are replaced by those of the pieces with which the tokens end.
    for piece in &mut pieces {
        if let Piece::Assign { until } | Piece::Open { until: Some(until) } = piece {
            *until = ends.get(*until).copied().unwrap_or_default();
        }
    }
    pieces
}

struct Layout<'t, 'a> {
    tokens: &'t [Token<'a>],
    brackets: &'t [Bracket],
    /// The open brackets.
    around: Vec<usize>,
    pieces: Vec<Piece<'a>>,
    /// For each token, the number of pieces up to its end.
    ends: Vec<usize>,
}

impl<'a> Layout<'_, 'a> {
    fn token(&mut self, at: usize) {
        let token = &self.tokens[at];
        if let TokenRole::Close(bracket) = token.role {
            let is_ended = self.tokens[at - 1].role == TokenRole::LastComma;
            if self.brackets[bracket].may_end_with_comma && !is_ended {
                self.pieces.push(Piece::Comma);
            }
        }
        let gap = self.gap(at);
        self.between(at, gap);
        self.pieces.extend(std::iter::repeat_n(Piece::Open { until: None }, token.opens));
        match token.role {
            TokenRole::Open(bracket) => {
                self.pieces.push(Piece::Open { until: self.brackets[bracket].until });
                self.pieces.push(Piece::Text(token.text));
                self.around.push(bracket);
            }
            TokenRole::LastComma => self.pieces.push(Piece::Comma),
            TokenRole::End => {}
            TokenRole::Close(_)
            | TokenRole::Word
            | TokenRole::Comma
            | TokenRole::Semicolon
            | TokenRole::Colon
            | TokenRole::Tight
            | TokenRole::Path
            | TokenRole::Dot { .. }
            | TokenRole::Prefix
            | TokenRole::Binary
            | TokenRole::Spaced
            | TokenRole::Assign { .. }
            | TokenRole::AsWritten => self.pieces.push(Piece::Text(token.text)),
        }
        self.ends.push(self.pieces.len());
        if matches!(token.role, TokenRole::Close(_)) {
            self.pieces.push(Piece::Close);
            self.around.pop();
        }
        self.pieces.extend(std::iter::repeat_n(Piece::Close, token.closes));
    }

    /// The innermost open bracket; `None` outside of all brackets.
    fn bracket(&self) -> Option<&Bracket> {
        self.around.last().map(|bracket| &self.brackets[*bracket])
    }

    /// The gap before a token, regardless of comments.
    fn gap(&self, at: usize) -> Gap {
        let Some(before) = at.checked_sub(1).map(|before| &self.tokens[before]) else { return Gap::Nothing };
        let token = &self.tokens[at];
        let inside = self.bracket();
        let in_attribute =
            inside.is_some_and(|bracket| matches!(bracket.kind, BracketKind::Attribute | BracketKind::Meta));
        match (before.role, token.role) {
            (TokenRole::Open(_), TokenRole::Close(_)) => Gap::Nothing,
            (TokenRole::Open(bracket), _) => self.edge(bracket, Indent::In),
            (_, TokenRole::Close(bracket)) => self.edge(bracket, Indent::Out),
            (_, TokenRole::Comma | TokenRole::LastComma | TokenRole::Semicolon | TokenRole::Colon) => {
                Gap::Nothing
            }
            (_, TokenRole::End) => Gap::Nothing,
            _ if before.ends_line => Gap::Line(if inside.is_some() { Indent::In } else { Indent::Out }),
            (TokenRole::Comma | TokenRole::LastComma, _) => match inside {
                Some(bracket) if bracket.kind == BracketKind::Struct => Gap::Line(Indent::In),
                Some(bracket) if bracket.is_filled => Gap::Fill,
                // The comma in the head of a loop.
                Some(bracket) if bracket.kind == BracketKind::Body => Gap::Space,
                Some(_) => Gap::Break { space: true, to: Indent::In },
                None => Gap::Space,
            },
            (_, TokenRole::Binary) => Gap::Break { space: true, to: Indent::In },
            (TokenRole::Assign { last }, _) => Gap::Assign { last },
            (TokenRole::Binary | TokenRole::Spaced | TokenRole::Colon | TokenRole::Semicolon, _) => {
                Gap::Space
            }
            (_, TokenRole::Spaced | TokenRole::Assign { .. }) => Gap::Space,
            (_, TokenRole::Dot { breaks: true }) => Gap::Break { space: false, to: Indent::In },
            (_, TokenRole::Path) if before.role == TokenRole::Word && is_before_path(before.text) => {
                Gap::Space
            }
            (TokenRole::Dot { .. } | TokenRole::Tight | TokenRole::Path | TokenRole::Prefix, _)
            | (_, TokenRole::Dot { .. } | TokenRole::Tight | TokenRole::Path) => self.tight(at),
            (TokenRole::Word, TokenRole::Open(_)) if in_attribute => Gap::Nothing,
            _ if in_attribute => {
                if token.before.joint {
                    Gap::Nothing
                } else {
                    Gap::Space
                }
            }
            (_, TokenRole::Open(bracket)) => match self.brackets[bracket].kind {
                BracketKind::Body | BracketKind::Struct | BracketKind::Fields | BracketKind::Use => {
                    Gap::Space
                }
                BracketKind::Plain | BracketKind::Tuple if before.text == "pub" => Gap::Nothing,
                BracketKind::Plain | BracketKind::Tuple | BracketKind::Bars => Gap::Space,
                BracketKind::List => match before.role {
                    TokenRole::Word if is_keyword(before.text) => Gap::Space,
                    _ => Gap::Nothing,
                },
                BracketKind::Parameters
                | BracketKind::Call
                | BracketKind::Attribute
                | BracketKind::Meta
                | BracketKind::Angle => Gap::Nothing,
            },
            (TokenRole::Word | TokenRole::Close(_) | TokenRole::AsWritten | TokenRole::End, _) => Gap::Space,
        }
    }

    /// The gap after the first or before the last token of a bracket.
    fn edge(&self, bracket: usize, to: Indent) -> Gap {
        let bracket = &self.brackets[bracket];
        match bracket.kind {
            BracketKind::Body | BracketKind::Struct if bracket.is_long => Gap::Line(to),
            BracketKind::Body | BracketKind::Struct | BracketKind::Fields => Gap::Break { space: true, to },
            BracketKind::Plain | BracketKind::Attribute => Gap::Nothing,
            BracketKind::Use
            | BracketKind::Parameters
            | BracketKind::Call
            | BracketKind::Tuple
            | BracketKind::List
            | BracketKind::Meta
            | BracketKind::Angle
            | BracketKind::Bars => Gap::Break { space: false, to },
        }
    }

    /// No gap, except where two tokens would be read as other ones.
    fn tight(&self, at: usize) -> Gap {
        let (before, token) = (&self.tokens[at - 1], &self.tokens[at]);
        let begins_with_digit = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        let is_number = begins_with_digit(before.text);
        let becomes_other = match token.text {
            "." | ".." | "..=" if is_number && before.text.ends_with('.') => true,
            // The digits after the point would become part of the number.
            "." if is_number && !before.text.contains('.') => {
                self.tokens.get(at + 1).is_some_and(|next| begins_with_digit(next.text))
            }
            second => {
                let joined = [before.text, second].concat();
                let is_operator = OPERATORS.contains(&before.text) && OPERATORS.contains(&second);
                let read = OPERATORS.iter().find(|operator| joined.starts_with(**operator));
                is_operator && read != Some(&before.text)
            }
        };
        if becomes_other && !token.before.joint { Gap::Space } else { Gap::Nothing }
    }

    /// Adds a gap and the comments in it before a token.
    ///
    /// A comment that ends its line stays at the end of the line, or on a line of its own. Any other comment stays
    /// before the next token on its line, or next to a token that ends there.
    fn between(&mut self, at: usize, gap: Gap) {
        let Token { before, role, .. } = &self.tokens[at];
        let opens =
            at.checked_sub(1).is_none_or(|before| matches!(self.tokens[before].role, TokenRole::Open(_)));
        let closes = matches!(role, TokenRole::Close(_) | TokenRole::End);
        let ends = closes || matches!(role, TokenRole::Comma | TokenRole::LastComma | TokenRole::Semicolon);
        let Some(first) = before.comments.first() else {
            return self.push_gap(gap, before.lines > 1 && !opens && !closes);
        };
        let closes_line =
            *role == TokenRole::End || closes && matches!(gap, Gap::Line(_) | Gap::Break { .. });
        let (inner, outer) = self.indents(at, gap, closes);
        let lines_behind = before.comments.iter().skip(1).map(|next| next.lines).chain([before.lines]);
        let mut line_ended = first.lines > 0;
        for (number, (comment, lines_behind)) in before.comments.iter().zip(lines_behind).enumerate() {
            let ends_line = comment.is_line() || lines_behind > 0;
            let blank = comment.lines > 1 && !(opens && number == 0);
            match (number, ends_line) {
                (0, _) if at == 0 => {}
                (0, false) if !ends => match gap {
                    Gap::Nothing if !opens => self.pieces.push(Piece::Space),
                    Gap::Nothing
                    | Gap::Space
                    | Gap::Break { .. }
                    | Gap::Fill
                    | Gap::Assign { .. }
                    | Gap::Line(_) => self.push_gap(gap, blank),
                },
                (_, ends_line) if line_ended && (ends_line || number > 0) => {
                    self.pieces.push(Piece::Line { blank, to: inner });
                }
                (0, _) if opens && matches!(gap, Gap::Nothing) => {}
                (_, _) => self.pieces.push(Piece::Space),
            }
            let is_last = closes_line && number + 1 == before.comments.len();
            self.pieces.push(match (ends_line, is_last) {
                (true, _) => Piece::Trailing(comment.text),
                (false, true) => Piece::Last(comment.text),
                (false, false) => Piece::Text(comment.text),
            });
            line_ended = ends_line;
        }
        match (line_ended, role) {
            (_, TokenRole::End) => {}
            (true, _) => self.pieces.push(Piece::Line { blank: before.lines > 1 && !closes, to: outer }),
            (false, _) if ends => self.push_gap(gap, false),
            (false, _) => self.pieces.push(Piece::Space),
        }
    }

    /// The indents of lines of comments, and of the line of the token after them.
    fn indents(&self, at: usize, gap: Gap, closes: bool) -> (Indent, Indent) {
        let is_outside = self.around.is_empty() && (at == 0 || self.tokens[at].role == TokenRole::End);
        match gap {
            Gap::Line(to) | Gap::Break { to, .. } => (if closes { Indent::In } else { to }, to),
            Gap::Nothing | Gap::Space | Gap::Fill | Gap::Assign { .. } if is_outside => {
                (Indent::Out, Indent::Out)
            }
            Gap::Nothing | Gap::Space | Gap::Fill | Gap::Assign { .. } => {
                (Indent::In, if closes { Indent::Out } else { Indent::In })
            }
        }
    }

    fn push_gap(&mut self, gap: Gap, blank: bool) {
        match gap {
            Gap::Nothing => {}
            Gap::Space => self.pieces.push(Piece::Space),
            Gap::Break { space, to } => self.pieces.push(Piece::Break { space, to }),
            Gap::Fill => self.pieces.push(Piece::Fill),
            Gap::Assign { last } => self.pieces.push(Piece::Assign { until: last }),
            Gap::Line(to) => self.pieces.push(Piece::Line { blank, to }),
        }
    }
}

/// Whether a path that begins with `::` may follow a word.
fn is_before_path(word: &str) -> bool {
    matches!(word, "use" | "fn" | "as")
}
