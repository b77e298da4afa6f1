//! Names that are unique to a block and the same in every build.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// The place of a program: file, line and column.
///
/// Programs from one `macro_rules!` macro share all of these, and differ in the syntax context of their spans, which is
/// therefore included.
pub(crate) struct CallSite(String);

impl CallSite {
    /// The place of the first token of a program.
    pub(crate) fn of(program: &TokenStream) -> Self {
        let first = program.clone().into_iter().next();
        Self::at(first.map_or_else(Span::call_site, |first| first.span()))
    }

    /// The place of a span.
    pub(crate) fn at(span: Span) -> Self {
        let start = span.start();
        Self(format!("{}:{}:{}:{}", file(span), start.line, start.column, context(span)))
    }

    /// A name for the program with these tokens at this place. `more` contains everything else that determines the
    /// meaning of the program.
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

/// The place of a span as a part of a name that messages may show: `main_rs_12_5`.
pub(super) fn readable(span: Span) -> String {
    let (start, file) = (span.start(), file(span));
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let text = format!("{name}_{}_{}{}", start.line, start.column + 1, context(span));
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

/// The file of a span. It is relative to the folder of the manifest if it is in that folder, so that a build elsewhere
/// gives the same name.
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

/// The syntax context of a span: `#5` in its debug text `#5 bytes(12..16)`. Empty for tokens that the user wrote
/// outside of macros.
fn context(span: Span) -> String {
    let text = format!("{span:?}");
    let context = text.split_whitespace().next().filter(|word| word.starts_with('#') && *word != "#0");
    context.unwrap_or_default().to_owned()
}

/// The hash FNV-1a of Fowler, Noll and Vo with 64 bits. Its code is short, and it is the same in every release of Rust.
struct Fnv {
    state: u64,
}

impl Fnv {
    fn new() -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325 }
    }

    /// Hashes a text and a byte that marks its end.
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
