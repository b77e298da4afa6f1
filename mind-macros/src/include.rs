//! `include!`: programs in files, and the file reading that the other macros share.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mind_core::{
    diag::{Code, Diag, Site},
    snippet,
    surface::{self, ast::Program},
};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

use crate::{
    configured,
    emit::Root,
    expand::expand_with,
    link::CallSite,
    positions,
    report::{compile_error, compile_error_at},
    watch::within,
};

/// The maximum size of a file, in bytes.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Expands `mind::include!("net.mind")`: to the expansion of `mind!` for the file's text, and to the errors with their
/// places in the file.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let facade = match input.clone().into_iter().next() {
        Some(TokenTree::Group(group)) => group.stream(),
        Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => quote! { ::mind },
    };
    let (_, input) = Root::take(input);
    let (configuration, input) = take_configuration(input);
    let open = || Source::open(input.clone()).map(|(source, span)| (source, span, CallSite::at(span)));
    let (source, span, place) = match positions::in_rustc(open) {
        Ok(opened) => opened,
        Err(diag) => return positions::in_rustc(|| compile_error(&diag)),
    };
    let predicates = positions::in_text(|| source.predicates(configuration));
    if !predicates.is_empty() {
        return positions::in_rustc(|| each_configuration(&predicates, &facade, &input, span));
    }
    let (expansion, mistakes) = positions::in_text(|| source.compile(&place, configuration));
    positions::in_rustc(|| {
        let errors: TokenStream =
            mistakes.iter().map(|message| compile_error_at(span, span, message)).collect();
        // After an error the crate is compiled again anyway, and in expression position the expansion can only be a
        // single error.
        let tracking = if mistakes.is_empty() { source.tracking() } else { TokenStream::new() };
        let expansion = expansion.parse().expect("printed tokens lex as tokens");
        let span = span.resolved_at(Span::call_site());
        adopt(expansion, &facade, &quote! { #errors #tracking }, span)
    })
}

/// Expands a file with `#[cfg(…)]` conditions to one `include!` of the file for each combination of their outcomes. The
/// number of the combination is in braces before the path: `{3} "net.mind"`.
fn each_configuration(
    predicates: &[String],
    facade: &TokenStream,
    input: &TokenStream,
    span: Span,
) -> TokenStream {
    let files = predicates.iter().enumerate().map(|(configuration, predicate)| {
        let predicate: TokenStream = predicate.parse().expect("printed tokens lex as tokens");
        let predicate = adopt(predicate, facade, &TokenStream::new(), span);
        quote! { #[cfg(#predicate)] #facade::__macros::include! { [#facade] {#configuration} #input } }
    });
    files.collect()
}

/// Splits off the number in braces that selects a combination of outcomes of the file's conditions.
fn take_configuration(input: TokenStream) -> (Option<usize>, TokenStream) {
    let mut rest = input.clone().into_iter();
    match rest.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let number = syn::parse2::<syn::LitInt>(group.stream())
                .and_then(|configuration| configuration.base10_parse());
            number.map_or((None, input), |configuration| (Some(configuration), rest.collect()))
        }
        _ => (None, input),
    }
}

/// A placeholder in an expansion, which the errors replace.
const HEAD: &str = "__mind_head";

/// Replaces the placeholders by `facade` and `head`, and sets the span of every token to `span`.
pub(crate) fn adopt(
    tokens: TokenStream,
    facade: &TokenStream,
    head: &TokenStream,
    span: Span,
) -> TokenStream {
    let adopt_tree = |mut tree: TokenTree| match &tree {
        TokenTree::Ident(word) if word == HEAD => head.clone(),
        TokenTree::Ident(word) if word == Root::PLACEHOLDER => facade.clone(),
        TokenTree::Group(group) => {
            let mut adopted = Group::new(group.delimiter(), adopt(group.stream(), facade, head, span));
            adopted.set_span(span);
            TokenTree::Group(adopted).into()
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            tree.set_span(span);
            tree.into()
        }
    };
    tokens.into_iter().flat_map(adopt_tree).collect()
}

/// A file that a macro names by a path relative to the Rust file of the call, as in `include_str!`.
pub(crate) struct Source {
    /// The path of the file.
    path: PathBuf,
    /// The name of the file in messages: relative to the folder of the Rust file, as the compiler names that.
    shown: String,
    bytes: Vec<u8>,
}

impl Source {
    /// Reads the file that the string literal `input` names, and returns it with the span of the literal.
    ///
    /// # Errors
    /// E1007 if `input` is not a string literal or the file cannot be read; E1008 if the file has more than
    /// [`MAX_BYTES`].
    pub(crate) fn open(input: TokenStream) -> Result<(Self, Span), Diag> {
        let (written, span) = path_literal(input)?;
        let (candidates, shown) = candidates(&written, span);
        let fault = |message: String| Diag::new(Code::E1007, Site::token(span), message);
        let mut tried = Vec::new();
        for path in candidates {
            match read(&path) {
                Ok(bytes) if bytes.len() as u64 > MAX_BYTES => {
                    let message = format!("`{shown}` is larger than the limit of {MAX_BYTES} bytes");
                    let help = "split the file, or load tensors at run time";
                    return Err(Diag::new(Code::E1008, Site::token(span), message).help(help));
                }
                Ok(bytes) => {
                    let path = std::path::absolute(&path).unwrap_or(path);
                    return Ok((Self { path, shown, bytes }, span));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => tried.push(path),
                Err(error) => return Err(fault(format!("`{shown}` cannot be read: {error}"))),
            }
        }
        let diag = fault(format!("there is no file `{shown}`"));
        let diag = tried.iter().fold(diag, |diag, path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            diag.note(format!("tried {}", path.display()))
        });
        Err(diag.help("the path is relative to the folder of this Rust file, as for `include_str!`"))
    }

    /// Compiles the file. Returns the expansion as text, with placeholders for the errors and the facade, and the
    /// messages of the errors.
    fn compile(&self, place: &CallSite, configuration: Option<usize>) -> (String, Vec<String>) {
        // Errors in one part of the file do not hide errors in other parts.
        let (text, invalid) = match self.text() {
            Ok(text) => (text.to_owned(), None),
            Err(diag) => (self.lossy_text(), Some(diag)),
        };
        let (tokens, lexical) = surface::lex(&text);
        let mut mistakes: Vec<Diag> = invalid.into_iter().chain(lexical).collect();
        let tokens = match configured::configurations(&tokens) {
            Ok(configurations) => configuration
                .and_then(|configuration| configurations.into_iter().nth(configuration))
                .map_or(tokens, |configuration| configuration.block),
            Err(diag) => {
                mistakes.push(diag);
                TokenStream::new()
            }
        };
        let head = format_ident!("{}", HEAD);
        if let (Program::Expression(_), _) = surface::parse(tokens.clone()) {
            let (found, site) = tokens.into_iter().next().map_or_else(
                || ("nothing".to_owned(), Site::Nowhere),
                |tree| (format!("`{tree}`"), Site::token(tree.span())),
            );
            if mistakes.is_empty() {
                let message = format!("found {found}, expected `fn`, `const` or a closure");
                mistakes.push(Diag::new(Code::E1007, site, message).help(
                    "a file cannot use Rust variables: declare parameters, as in `|x: f32[3]| relu(x)`",
                ));
            }
            return (head.to_string(), self.messages(&mistakes));
        }
        let facade = format_ident!("{}", Root::PLACEHOLDER);
        let (root, _) = Root::take(quote! { [#facade] });
        let expansion = within(&self.shown, &text, || {
            expand_with(root, tokens, place, |of_program| {
                // After an earlier error the tokens were repaired. Errors in repaired parts would be reported twice.
                if mistakes.is_empty() {
                    mistakes.extend_from_slice(of_program);
                }
                head.to_token_stream()
            })
        });
        (expansion.to_string(), self.messages(&mistakes))
    }

    /// The predicates of all combinations of outcomes of the file's conditions. Empty if there are no conditions, or if
    /// `configuration` already selects a combination.
    fn predicates(&self, configuration: Option<usize>) -> Vec<String> {
        let text = self.lossy_text();
        if configuration.is_some() || !text.contains("cfg") {
            return Vec::new();
        }
        let configurations = configured::configurations(&surface::lex(&text).0).unwrap_or_default();
        configurations.into_iter().map(|configuration| configuration.predicate.to_string()).collect()
    }

    /// The contents of the file.
    #[cfg(feature = "safetensors")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents as text.
    ///
    /// # Errors
    /// E1001 if it is not UTF-8.
    pub(crate) fn text(&self) -> Result<&str, Diag> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let before = String::from_utf8_lossy(&self.bytes[..at]);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let bytes: Vec<_> = self.bytes[at..].iter().take(4).map(|byte| format!("{byte:02X}")).collect();
            let message = format!("invalid UTF-8 at byte {at}: {}", bytes.join(" "));
            Diag::new(Code::E1001, Site::Text { line: number(line), column: number(column) }, message)
                .help("save the file as UTF-8")
        })
    }

    /// The name of the file in messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name without its extension.
    pub(crate) fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The contents as text, with blanks in place of invalid UTF-8.
    fn lossy_text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).replace(char::REPLACEMENT_CHARACTER, " ")
    }

    /// The messages of the errors, with their places in the file.
    pub(crate) fn messages(&self, mistakes: &[Diag]) -> Vec<String> {
        let text = self.lossy_text();
        mistakes.iter().map(|diag| snippet::render(diag, &self.shown, &text)).collect()
    }

    /// The errors as compile errors at `span`, with their places in the file.
    pub(crate) fn errors(&self, span: Span, mistakes: &[Diag]) -> TokenStream {
        self.messages(mistakes).iter().map(|message| compile_error_at(span, span, message)).collect()
    }

    /// An item that makes the crate depend on the file, so that Cargo compiles the crate again when the file changes.
    pub(crate) fn tracking(&self) -> TokenStream {
        // `include_bytes!` takes a string, so a path that is not UTF-8 cannot be tracked.
        let Some(path) = self.path.to_str() else { return TokenStream::new() };
        quote! { const _: &[::core::primitive::u8] = ::core::include_bytes!(#path); }
    }
}

/// The path in the string literal `input`, and the span of the literal.
fn path_literal(input: TokenStream) -> Result<(String, Span), Diag> {
    let expected = "expected the path of a file such as `\"net.mind\"`";
    let mut input = input;
    loop {
        let mut trees = input.into_iter();
        let Some(tree) = trees.next() else {
            return Err(Diag::new(
                Code::E1007,
                Site::token(Span::call_site()),
                format!("found the end, {expected}"),
            ));
        };
        let rest = trees.find(|tree| !matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ','));
        let unexpected = |tree: &TokenTree| {
            Err(Diag::new(Code::E1007, Site::token(tree.span()), format!("found `{tree}`, {expected}")))
        };
        if let Some(rest) = rest {
            return unexpected(&rest);
        }
        match tree {
            // A `$path:literal` of a `macro_rules!` macro arrives in an invisible group.
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => input = group.stream(),
            TokenTree::Literal(literal) => {
                let span = literal.span();
                return match syn::Lit::new(literal.clone()) {
                    syn::Lit::Str(path) => Ok((path.value(), span)),
                    _ => unexpected(&TokenTree::Literal(literal)),
                };
            }
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => return unexpected(&tree),
        }
    }
}

/// The possible paths of the file, and its name in messages.
///
/// Language servers may not report the file of a macro call. In that case the paths are relative to the package and to
/// its `src` folder.
fn candidates(written: &str, span: Span) -> (Vec<PathBuf>, String) {
    let beside =
        |file: &Path| file.parent().map_or_else(|| PathBuf::from(written), |folder| folder.join(written));
    match span.local_file() {
        Some(file) => (vec![beside(&file)], beside(Path::new(&span.file())).display().to_string()),
        None => {
            let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
            let folders = [package.join("src"), package];
            (folders.map(|folder| folder.join(written)).into(), written.to_owned())
        }
    }
}

/// The bytes of the file, at most [`MAX_BYTES`] + 1.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its other end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn named(path: &str) -> TokenStream {
        TokenTree::Literal(proc_macro2::Literal::string(path)).into()
    }

    /// An expansion with the hash in the name of its block replaced, since the hash depends on the place of the call.
    fn without_hash(expansion: TokenStream) -> String {
        let text = expansion.to_string();
        let (_, after) = text.split_once("__mind_block_").expect("the block has a source");
        let hash = after.split(' ').next().expect("a name");
        text.replace(hash, "hash")
    }

    #[test]
    fn the_expansion_is_that_of_the_text_and_depends_on_the_file() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/files/net.mind");
        let text = std::fs::read_to_string(&path).unwrap();
        // With the placeholder as root the expansion has no code for language servers, like that of a file.
        let of_text = format!("[{}] {text}", Root::PLACEHOLDER).parse().unwrap();
        let program = without_hash(crate::expand::expand(of_text)).replace(Root::PLACEHOLDER, ":: mind");
        let expansion = without_hash(expand(named("../../tests/files/net.mind")));
        let dependency = "const _ : & [:: core :: primitive :: u8] = :: core :: include_bytes ! (";
        let (before, after) = expansion.split_once(dependency).expect("the file is a dependency");
        let (found, after) = after.split_once(')').unwrap();
        let found = found.trim_matches('"');
        assert!(Path::new(found).is_absolute());
        assert_eq!(std::fs::read_to_string(found).unwrap(), text);
        let after = after.trim_start_matches(" ;");
        assert_eq!(format!("{before}{}", after.trim()), program);
    }

    #[test]
    fn one_larger_than_the_limit_is_not_read() {
        let path = std::env::temp_dir().join(format!("mind-include-{}.mind", std::process::id()));
        let file = File::create(&path).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        let found = Source::open(named(path.to_str().unwrap())).err().expect("it is too large");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found.code, Code::E1008);
        assert!(found.message.ends_with("is larger than the limit of 16777216 bytes"), "{found}");
        assert!(found.help.is_some_and(|help| help.starts_with("split the file")));
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        for path in ["/dev/zero", "/dev", "\0"] {
            let found = Source::open(named(path)).err().expect("it is no file");
            assert_eq!(found.code, Code::E1007);
            assert!(found.message.contains("cannot be read"), "{found}");
        }
    }

    #[test]
    fn mistakes_stand_where_the_file_has_them() {
        let path = std::env::temp_dir().join(format!("mind-include-places-{}.mind", std::process::id()));
        let shown = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let (source, _) = Source::open(named(path.to_str().unwrap())).ok().unwrap();
            let (expansion, messages) = source.compile(&CallSite::of(&TokenStream::new()), None);
            assert_eq!(expansion.matches(HEAD).count(), 1);
            messages.concat().replace(&source.shown, "FILE")
        };
        let nested = format!("fn f(x: f32) -> f32 {{\n{}x{}}}", "(\n".repeat(300), ")".repeat(300));
        assert!(
            shown(&nested)
                .starts_with("[E1008] brackets nest deeper than the limit of 256\n  at FILE:257:1\n")
        );
        let crlf = "\u{feff}// π\r\nfn f(x: f32) -> f32 {\r\n\tx ? 2.0\r\n}";
        assert!(
            shown(crlf).contains("  at FILE:3:4\n    |\n  3 | \tx ? 2.0\n    | \t  ^\n"),
            "{}",
            shown(crlf)
        );
        let twice = "fn f(x: f32) -> f32 { x }\nfn f(y: f32) -> f32 { y }";
        let found = shown(twice);
        assert!(
            found.contains("at FILE:2:4\n") && found.ends_with("`f` is defined first at FILE:1:4"),
            "{found}"
        );
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn paths_that_were_tried_are_named() {
        let found = Source::open(named("absent.mind")).err().expect("it is not there").to_string();
        assert!(
            found.contains("mind-macros/src/absent.mind\n") && found.contains("mind-macros/absent.mind\n")
        );
    }
}

/// The tokens before the first comma, and the tokens after it.
pub(crate) fn split_at_comma(input: TokenStream) -> (TokenStream, TokenStream) {
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ',');
    let mut trees = input.into_iter();
    let first = trees.by_ref().take_while(|tree| !is_comma(tree)).collect();
    (first, trees.collect())
}
