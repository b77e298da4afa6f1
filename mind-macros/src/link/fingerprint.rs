//! Names that no other block has, and the same in every build.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// Where a program stands: file, line and column.
///
/// Programs from one `macro_rules!` share all of these, and differ in what rustc calls the context of their spans.
pub(crate) struct CallSite(String);

impl CallSite {
    /// That of the first token.
    pub(crate) fn of(program: &TokenStream) -> Self {
        let first = program.clone().into_iter().next();
        Self::at(first.map_or_else(Span::call_site, |first| first.span()))
    }

    /// That of a span.
    pub(crate) fn at(span: Span) -> Self {
        let start = span.start();
        Self(format!("{}:{}:{}:{}", file(span), start.line, start.column, context(span)))
    }

    /// A name for a program here of these tokens, and of what else decides what it means.
    pub(super) fn fingerprint(&self, tokens: &TokenStream, more: &[String]) -> Ident {
        fingerprint(&self.0, tokens, more)
    }
}

fn fingerprint(place: &str, tokens: &TokenStream, more: &[String]) -> Ident {
    let mut hash = Fnv::new();
    hash.text(place);
    more.iter().for_each(|text| hash.text(text));
    let mut open = vec![(tokens.clone().into_iter(), ' ')];
    while let Some((innermost, close)) = open.last_mut() {
        match innermost.next() {
            None => {
                let close = *close;
                hash.text(close.encode_utf8(&mut [0; 4]));
                open.pop();
            }
            Some(TokenTree::Group(group)) => {
                let (start, end) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ')'),
                    Delimiter::Brace => ("{", '}'),
                    Delimiter::Bracket => ("[", ']'),
                    Delimiter::None => ("<", '>'),
                };
                hash.text(start);
                open.push((group.stream().into_iter(), end));
            }
            Some(tree @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_))) => {
                hash.text(&tree.to_string());
            }
        }
    }
    Ident::new(&format!("h{:016x}", hash.state), Span::call_site())
}

/// Where a span is, as a part of a name that messages may show: `main_rs_12_5`.
pub(super) fn readable(span: Span) -> String {
    let (start, file) = (span.start(), file(span));
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let text = format!("{name}_{}_{}{}", start.line, start.column + 1, context(span));
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

/// The file, from the folder of the manifest where it is in it, so that a build elsewhere gives the same name.
fn file(span: Span) -> String {
    let file = span.file();
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    file.strip_prefix(&folder).map_or(file.clone(), str::to_owned)
}

/// A text as a name for a folder, the same in every build.
pub(crate) fn of_text(text: &str) -> String {
    let mut hash = Fnv::new();
    hash.text(text);
    format!("{:016x}", hash.state)
}

/// `#5` of a span's debug text `#5 bytes(12..16)`; nothing for what the user wrote outside macros.
fn context(span: Span) -> String {
    let text = format!("{span:?}");
    let context = text.split_whitespace().next().filter(|word| word.starts_with('#') && *word != "#0");
    context.unwrap_or_default().to_owned()
}

/// The hash of Fowler, Noll and Vo (FNV-1a), 64 bits: short, and the same in every release of Rust.
struct Fnv {
    state: u64,
}

impl Fnv {
    fn new() -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325 }
    }

    /// Takes a text, and that it ends.
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, more: &[String]) -> String {
        let tokens: TokenStream = text.parse().expect("tokens");
        fingerprint("lib.rs:1:2:", &tokens, more).to_string()
    }

    #[test]
    fn a_fingerprint_is_that_of_the_tokens() {
        assert_eq!(of("fn f(x: f32) { x }", &[]), of("fn f(x: f32) { x }", &[]));
        let others =
            ["fn f(x: f32) { y }", "fn f(x: f32) { x } x", "fn f(x: f32) { x; }", "fn f[x: f32] { x }"];
        for other in others {
            assert_ne!(of("fn f(x: f32) { x }", &[]), of(other, &[]));
        }
        assert_ne!(of("a", &[]), of("a", &["h1".to_owned()]));
    }
}
