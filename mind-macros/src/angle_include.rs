//! `angle_include!("model.rs")`: a Rust file in which `mind!< … >` can appear anywhere.
//!
//! On stable Rust a macro cannot give tokens a span in another file. `include!` can, since rustc reads the file.
//! Replacing the two angle brackets makes the file valid Rust. The macro therefore writes such a copy to a folder of
//! the build and includes it. The copy has every token at the same line and column as the file.

use std::{
    env,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use mind_core::diag::{Code, Diag, Site};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;

use crate::{
    angle,
    emit::Root,
    include::Source,
    link::fingerprint::of_text,
    positions,
    report::{compile_error, compile_error_at},
};

#[cfg(test)]
mod tests;

/// Expands `angle_include!("model.rs")`: to an `include!` of the copy, or to the errors with their places in the file.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let (_, input) = Root::take(input);
    let (source, span) = match positions::in_rustc(|| Source::open(input)) {
        Ok(opened) => opened,
        Err(diag) => return positions::in_rustc(|| compile_error(&diag)),
    };
    let copied = positions::in_text(|| {
        let copy = source.text().map_err(|diag| vec![diag]).and_then(rust_of);
        copy.map_err(|mistakes| source.messages(&mistakes))
    });
    let written = copied.and_then(|copy| {
        let failed = |(path, error): (PathBuf, io::Error)| {
            vec![format!("the copy of the file for rustc cannot be written to {}: {error}", path.display())]
        };
        write(&copy, source.path()).map_err(failed)
    });
    positions::in_rustc(|| {
        let tracking = source.tracking();
        match written {
            Ok(path) => {
                let path = path.to_string_lossy();
                quote! { #tracking ::core::include!(#path); }
            }
            Err(messages) => {
                let errors = messages.iter().map(|message| compile_error_at(span, span, message));
                let errors: TokenStream = errors.collect();
                quote! { #errors #tracking }
            }
        }
    })
}

/// The text as valid Rust, with the same length.
fn rust_of(text: &str) -> Result<String, Vec<Diag>> {
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
        vec![Diag::new(
            Code::E1007,
            Site::token(error.span()),
            "this is not valid Rust: a bracket, quote or character is wrong",
        )]
    })?;
    let mut mistakes = out_of_place(tokens.clone());
    let found = angle::find(tokens);
    mistakes.extend(found.mistakes);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut put = |span: Span, byte: u8| {
        bytes[span.byte_range().start] = byte;
    };
    for block in &found.blocks {
        let [opener, closer] = match block.delimiter {
            Delimiter::Brace => *b"{}",
            Delimiter::Parenthesis | Delimiter::Bracket | Delimiter::None => *b"()",
        };
        put(block.opener, opener);
        put(block.closer, closer);
    }
    // Inner documentation is an error in an included file, so it becomes ordinary comments.
    for start in documentation(text) {
        bytes[start + 2] = b' ';
    }
    Ok(String::from_utf8(bytes).expect("only ASCII has been put in the place of ASCII"))
}

/// Errors for code that a file may contain but an included copy may not: rustc would look for `mod name;` beside the
/// copy, and an attribute of the file would be inside an item.
fn out_of_place(tokens: TokenStream) -> Vec<Diag> {
    let trees: Vec<_> = tokens.into_iter().collect();
    let is = |tree: &TokenTree, char| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char);
    let mistakes = trees.windows(3).filter_map(|window| match window {
        [TokenTree::Ident(word), TokenTree::Ident(name), end] if word == "mod" && is(end, ';') => {
            let message = format!("found `mod {name};`, expected a module with its content");
            let help = format!(
                "declare `mod {name};` next to `angle_include!`: an included file has no folder for modules"
            );
            Some(Diag::new(Code::E1007, Site::token(name.span()), message).help(help))
        }
        [hash, bang, TokenTree::Group(attribute)] if is(hash, '#') && is(bang, '!') => {
            let is_doc = |tree: TokenTree| matches!(&tree, TokenTree::Ident(name) if name == "doc");
            if attribute.stream().into_iter().next().is_some_and(is_doc) {
                return None;
            }
            let message = "found an attribute `#![…]`, which an included file cannot have";
            let help = "write `#[…]` before the module that includes the file";
            Some(Diag::new(Code::E1007, Site::token(attribute.span()), message).help(help))
        }
        _ => None,
    });
    mistakes.collect()
}

/// The positions of the `//!` and `/*!` comments before the first token.
fn documentation(text: &str) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches(char::is_whitespace).len();
        let comment = &rest[blank..];
        if comment.starts_with("//!") || comment.starts_with("/*!") {
            found.push(at + blank);
        }
        let length = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else if comment.starts_with("/*") {
            comment.find("*/").map_or(comment.len(), |end| end + 2)
        } else {
            return found;
        };
        at += blank + length;
    }
}

/// Writes the copy of a file and returns its path.
fn write(copy: &str, original: &Path) -> Result<PathBuf, (PathBuf, io::Error)> {
    // The path of the copy, which rustc shows, ends with the path of the file in its package.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let package =
        env::var_os("CARGO_MANIFEST_DIR").map(|package| real(Path::new(&package))).unwrap_or_default();
    let original = &*real(original);
    let within = original.strip_prefix(package).ok().or(original.file_name().map(Path::new));
    let place = original.parent().unwrap_or(original).to_string_lossy();
    let path = folder().join("mind-angle").join(of_text(&place)).join(within.unwrap_or(original));
    // An identical copy is not written again, so that Cargo does not consider the crate changed.
    if fs::read(&path).is_ok_and(|found| found == copy.as_bytes()) {
        return Ok(path);
    }
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder)?;
        // The write is atomic, since another process may read the copy.
        let unfinished = folder.join(format!("{}.unfinished", std::process::id()));
        let mut file = File::create(&unfinished)?;
        file.write_all(copy.as_bytes())?;
        // Cargo considers a file that is newer than the build as changed.
        file.set_modified(fs::metadata(original)?.modified()?)?;
        fs::rename(&unfinished, &path)
    };
    match write() {
        Ok(()) => Ok(path),
        Err(error) => Err((path, error)),
    }
}

/// A folder for generated files: the output folder of the build script, otherwise that of rustc.
fn folder() -> PathBuf {
    let output = || env::args_os().skip_while(|argument| argument != "--out-dir").nth(1).map(PathBuf::from);
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).or_else(output).unwrap_or_else(env::temp_dir);
    std::path::absolute(&folder).unwrap_or(folder)
}
