//! The setting of `MIND_CHECK`, and the description of watched values in messages: their source text and place.

use std::{cell::RefCell, collections::BTreeMap, fs, path::PathBuf};

use mind_core::{diag::Site, plan::Watching, surface::lower::Origin};
use proc_macro2::{LineColumn, TokenStream};
use quote::quote;

use crate::emit::WatchedText;

/// The maximum number of characters of an expression in a message.
const LONGEST: usize = 60;

/// The values that programs watch.
pub(crate) fn watching() -> Watching {
    match std::env::var("MIND_CHECK").as_deref() {
        Ok("nan") => Watching::Nan,
        _ => Watching::Shown,
    }
}

/// An item that makes Cargo compile the crate again when `MIND_CHECK` changes, and an error if its value is not
/// allowed.
pub(crate) fn tracking() -> TokenStream {
    let refused = std::env::var("MIND_CHECK").ok().filter(|value| !matches!(value.as_str(), "" | "nan"));
    let error = refused.map(|value| {
        let message = format!("MIND_CHECK is {value:?}, needed \"nan\" or nothing");
        quote! { ::core::compile_error!(#message); }
    });
    quote! {
        const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!("MIND_CHECK");
        #error
    }
}

/// The description of a value with this origin and name, where known.
pub(crate) fn watched_text(origin: Option<Origin>, name: Option<String>) -> WatchedText {
    let (text, place) = origin.map(|origin| source_text(origin.site)).unwrap_or_default();
    let derivative = origin.is_some_and(|origin| origin.derivative);
    WatchedText { text, name: name.filter(|_| !derivative).unwrap_or_default(), place, derivative }
}

/// An included file that is being compiled, as opposed to the Rust file that rustc compiles.
struct File {
    shown: String,
    text: String,
}

thread_local! {
    static INCLUDED: RefCell<Option<File>> = const { RefCell::new(None) };
    /// The texts of Rust files that were read, by path.
    static READ: RefCell<BTreeMap<PathBuf, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs `compile` with `text` as the included file.
pub(crate) fn within<R>(shown: &str, text: &str, compile: impl FnOnce() -> R) -> R {
    /// Restores the previous file on drop, also after a panic.
    struct Within(Option<File>);
    impl Drop for Within {
        fn drop(&mut self) {
            INCLUDED.set(self.0.take());
        }
    }
    let file = File { shown: shown.to_owned(), text: text.to_owned() };
    let _within = Within(INCLUDED.replace(Some(file)));
    compile()
}

/// The source text at a place, in one line, and the place.
pub(crate) fn source_text(site: Site) -> (String, String) {
    INCLUDED.with_borrow(|included| match (site, included) {
        (Site::Nowhere, _) => Default::default(),
        (Site::Tokens { first, last }, Some(File { shown, text })) => {
            let start = first.start();
            let place = format!("{shown}:{}:{}", start.line, start.column + 1);
            (short(&part(text, start, last.end())), place)
        }
        (Site::Tokens { first, last }, None) => {
            let text = first.local_file().map(|path| file_part(path, first.start(), last.end()));
            (text.as_deref().map(short).unwrap_or_default(), site.to_string())
        }
        (Site::Text { line, column }, included) => {
            let (shown, text) = included.as_ref().map_or(("", ""), |file| (&file.shown, &file.text));
            let text = text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
            (short(text), format!("{shown}:{line}:{column}"))
        }
    })
}

/// The text between two places of a file. Each file is read once.
fn file_part(path: PathBuf, start: LineColumn, end: LineColumn) -> String {
    READ.with_borrow_mut(|read| {
        let text = read.entry(path).or_insert_with_key(|path| fs::read_to_string(path).unwrap_or_default());
        part(text, start, end)
    })
}

/// The text between two places.
fn part(text: &str, start: LineColumn, end: LineColumn) -> String {
    let lines = text.lines().enumerate().skip(start.line.saturating_sub(1));
    let lines = lines.take((end.line + 1).saturating_sub(start.line));
    let parts = lines.map(|(number, line)| {
        let from = if number + 1 == start.line { start.column } else { 0 };
        let to = if number + 1 == end.line { end.column } else { usize::MAX };
        line.chars().take(to).skip(from).collect::<String>()
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// The text in one line, shortened to [`LONGEST`] characters.
fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    let beginning: String = text.chars().take(LONGEST - 1).collect();
    format!("{}…", beginning.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_texts_are_told_in_one_line() {
        let text = "let y = log(x\n    * w);\n";
        let at = |line, column| LineColumn { line, column };
        assert_eq!(short(&part(text, at(1, 8), at(2, 8))), "log(x * w)");
        assert_eq!(part(text, at(7, 0), at(7, 1)), "");
        assert_eq!(short(&"ab ".repeat(40)).chars().count(), LONGEST);
    }

    #[test]
    fn what_is_included_is_told_with_its_own_place() {
        let tokens: Vec<_> = "a + log(x)".parse::<TokenStream>().expect("tokens").into_iter().collect();
        let site = Site::Tokens { first: tokens[2].span(), last: tokens[3].span() };
        let found = within("net.mind", "a + log(x)", || source_text(site));
        assert_eq!(found, ("log(x)".to_owned(), "net.mind:1:5".to_owned()));
    }
}
