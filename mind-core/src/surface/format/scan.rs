//! Scans a text into words, literals, signs and brackets, with the comments between them.

use unicode_ident::is_xid_start;

use crate::surface::lex::word;

/// A token of a text.
pub(super) struct Raw<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    /// Its position in bytes.
    pub(super) at: usize,
    pub(super) before: Before<'a>,
}

/// The white space and comments before a token.
#[derive(Default)]
pub(super) struct Before<'a> {
    pub(super) comments: Vec<Comment<'a>>,
    /// The number of line breaks between the token and the previous token or comment.
    pub(super) lines: usize,
    /// Whether it directly follows the previous token.
    pub(super) joint: bool,
}

/// `// …` without the end of its line, or `/* … */`.
#[derive(Clone, Copy)]
pub(super) struct Comment<'a> {
    pub(super) text: &'a str,
    /// As [`Before::lines`].
    pub(super) lines: usize,
}

impl Comment<'_> {
    pub(super) fn is_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Literal,
    /// One character of an operator.
    Sign,
    Open,
    Close,
    /// The end of the text.
    End,
}

/// The tokens of a text without lexical errors; the last one is the end.
pub(super) fn scan(text: &str) -> Vec<Raw<'_>> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    loop {
        let before = before(&mut rest, tokens.is_empty());
        let (kind, length) = match rest.chars().next() {
            None => (TokenKind::End, 0),
            Some('(' | '[' | '{') => (TokenKind::Open, 1),
            Some(')' | ']' | '}') => (TokenKind::Close, 1),
            Some('0'..='9') => (TokenKind::Literal, number(rest)),
            Some('"' | '\'') => (TokenKind::Literal, quoted(rest, 0)),
            Some(char) if char == '_' || is_xid_start(char) => scan_word(rest),
            Some(char) => (TokenKind::Sign, char.len_utf8()),
        };
        let at = text.len() - rest.len();
        let (token, behind) = rest.split_at(length);
        rest = behind;
        tokens.push(Raw { kind, text: token, at, before });
        if kind == TokenKind::End {
            return tokens;
        }
    }
}

/// Skips white space and comments.
fn before<'a>(rest: &mut &'a str, is_first: bool) -> Before<'a> {
    let mut before = Before { joint: !is_first, ..Before::default() };
    loop {
        let text = rest.trim_start_matches(super::super::lex::is_space);
        before.lines += rest[..rest.len() - text.len()].matches('\n').count();
        before.joint &= text.len() == rest.len();
        let length = match text.as_bytes() {
            [b'/', b'/', ..] => text.find('\n').unwrap_or(text.len()),
            [b'/', b'*', ..] => block_comment(text),
            _ => {
                *rest = text;
                return before;
            }
        };
        let (comment, behind) = text.split_at(length);
        // Blanks at the end of a line have a meaning in documentation.
        let is_doc = comment.starts_with("//!") || comment.starts_with("///") && !comment.starts_with("////");
        // Documentation belongs to the next token, wherever it is written.
        before.lines = before.lines.max(usize::from(is_doc && !is_first));
        let comment = match (comment.starts_with("//"), is_doc) {
            (true, true) => comment.trim_end_matches('\r'),
            (true, false) => comment.trim_end(),
            (false, _) => comment,
        };
        before.comments.push(Comment { text: comment, lines: before.lines });
        (before.lines, before.joint) = (0, false);
        *rest = behind;
    }
}

fn block_comment(text: &str) -> usize {
    let (bytes, mut depth, mut end) = (text.as_bytes(), 0_usize, 0);
    while end < bytes.len() {
        match &bytes[end..] {
            [b'/', b'*', ..] => (depth, end) = (depth + 1, end + 2),
            [b'*', b'/', ..] => (depth, end) = (depth - 1, end + 2),
            _ => end += 1,
        }
        if depth == 0 {
            break;
        }
    }
    end
}

/// The kind and length of a word, or of a literal or raw name that begins like one.
fn scan_word(text: &str) -> (TokenKind, usize) {
    let end = word(text);
    let behind = text.as_bytes().get(end);
    match (&text[..end], behind) {
        ("b" | "c", Some(b'"')) | ("b", Some(b'\'')) => (TokenKind::Literal, quoted(text, end)),
        ("r" | "br" | "cr", Some(b'"' | b'#')) => {
            let inside = text[end..].trim_start_matches('#');
            if !inside.starts_with('"') {
                return (TokenKind::Word, end + 1 + word(&text[end + 1..]));
            }
            let closing = format!("\"{}", "#".repeat(text.len() - end - inside.len()));
            let start = text.len() - inside.len() + 1;
            let end = text[start..].find(&closing).map_or(text.len(), |found| start + found + closing.len());
            (TokenKind::Literal, end + word(&text[end..]))
        }
        _ => (TokenKind::Word, end),
    }
}

/// The length of a string or character whose quote is `quote` bytes further, or of a lifetime.
fn quoted(text: &str, quote: usize) -> usize {
    let closing = text.as_bytes()[quote];
    let inside = &text[quote + 1..];
    let mut chars = inside.chars();
    let first = chars.next();
    let is_lifetime = closing == b'\''
        && chars.next() != Some('\'')
        && first.is_some_and(|first| first == '_' || is_xid_start(first));
    if is_lifetime {
        return quote + 1 + word(inside);
    }
    let bytes = text.as_bytes();
    let mut end = quote + 1;
    while end < bytes.len() && bytes[end] != closing {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let end = (end + 1).min(text.len());
    end + word(&text[end..])
}

fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    if matches!(bytes, [b'0', b'x' | b'o' | b'b', ..]) {
        return word(text);
    }
    let digits = |from: usize| {
        let is_digit = |byte: &&u8| byte.is_ascii_digit() || **byte == b'_';
        from + bytes[from..].iter().take_while(is_digit).count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        let next = text[end + 1..].chars().next();
        let is_point = next.is_none_or(|next| next != '.' && next != '_' && !is_xid_start(next));
        if is_point {
            end = digits(end + 1);
        }
    }
    if let [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] = &bytes[end..] {
        end += 2;
    }
    end + word(&text[end..])
}

#[cfg(test)]
mod tests {
    use proc_macro2::{TokenStream, TokenTree};

    use super::*;

    /// The texts of the tokens of a stream; operators are split into their characters.
    fn flat(tokens: TokenStream, texts: &mut Vec<String>) {
        for tree in tokens {
            match tree {
                TokenTree::Group(group) => {
                    texts.extend(group.span_open().source_text());
                    flat(group.stream(), texts);
                    texts.extend(group.span_close().source_text());
                }
                tree => texts.push(tree.to_string()),
            }
        }
    }

    #[test]
    fn tokens_are_those_that_the_parser_sees() {
        let text = "fn f<..B, N>(x: T[..B, 2*N]) -> f32 { x.0.1 .T - 1. + 1.5e-3_f32*2e5 @ 0x1f_i32 /* /* a */ */ }
            r#fn r#\"a\"b\"# b\"\\\"\" br##\"\"#\"## '\\'' 'a' 'life b'x' c\"d\"_s 1..3 1.T 1_000.0_1 x[..;2] 0. .0 1.e5 é //c
            #[doc = \"a\\\\\"] \"end\"";
        let mut expected = Vec::new();
        flat(text.parse().expect("these are tokens"), &mut expected);
        // In the stream, a lifetime is two tokens.
        let expected: Vec<String> =
            expected.join("\n").replace("'\nlife", "'life").lines().map(str::to_owned).collect();
        let found: Vec<&str> =
            scan(text).iter().map(|token| token.text).filter(|text| !text.is_empty()).collect();
        assert_eq!(found, expected);
        let comments = scan(text).iter().map(|token| token.before.comments.len()).sum::<usize>();
        assert_eq!(comments, 2);
    }
}
