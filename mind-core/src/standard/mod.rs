//! The library of the language: templates written in the language, which programs call as `nn::softmax(x)`.
//!
//! Only the items that a program names are parsed.

mod docs;

use std::sync::LazyLock;

pub use docs::{Documented, documented};

/// The names and texts of the files.
pub const FILES: [(&str, &str); 7] = [
    ("nn", include_str!("nn.mind")),
    ("num", include_str!("num.mind")),
    ("linalg", include_str!("linalg.mind")),
    ("fft", include_str!("fft.mind")),
    ("stats", include_str!("stats.mind")),
    ("optim", include_str!("optim.mind")),
    ("random", include_str!("random.mind")),
];

/// Whether the library has a file of this name.
pub fn is_file(name: &str) -> bool {
    FILES.iter().any(|(file, _)| *file == name)
}

/// The names of a file's functions, in order; empty if no such file exists.
pub fn functions(file: &str) -> impl Iterator<Item = &'static str> {
    items(file, FUNCTION).filter(|item| item.is_public).map(|item| item.name)
}

/// The names of a file's structs, in order; empty if no such file exists.
pub fn structs(file: &str) -> impl Iterator<Item = &'static str> {
    items(file, STRUCT).map(|item| item.name)
}

/// The file of the function with this name, and the name. If several files have one, the first file is returned.
pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find_map(|(file, _)| Some((*file, functions(file).find(|own| *own == name)?)))
}

/// The file and the text of a function, from `fn` to its last brace.
///
/// ```
/// let (_, text) = mind_core::standard::function("nn", "silu").unwrap();
/// assert!(text.starts_with("fn silu(x: float[..]) {"));
/// assert!(mind_core::standard::function("nn", "sil").is_none());
/// ```
pub fn function(file: &str, name: &str) -> Option<(&'static str, &'static str)> {
    let found = items(file, FUNCTION).find(|item| item.name == name && item.is_public);
    found.map(|item| (item.file, item.text))
}

/// Like [`function`], including functions that only the same file may call.
pub fn own_function(file: &str, name: &str) -> Option<(&'static str, &'static str)> {
    items(file, FUNCTION).find(|item| item.name == name).map(|item| (item.file, item.text))
}

/// The file and the text of a struct, from `struct` to its last brace.
///
/// ```
/// let (_, text) = mind_core::standard::structure("optim", "Adam").unwrap();
/// assert!(text.starts_with("struct Adam<P: params> {"));
/// assert!(mind_core::standard::structure("optim", "Ada").is_none());
/// ```
pub fn structure(file: &str, name: &str) -> Option<(&'static str, &'static str)> {
    items(file, STRUCT).find(|item| item.name == name).map(|item| (item.file, item.text))
}

/// The keyword of a function.
const FUNCTION: &str = "fn ";

/// The keyword of a struct.
const STRUCT: &str = "struct ";

/// A function or a struct of a file.
#[derive(Clone, Copy, Debug)]
struct LibraryItem {
    file: &'static str,
    /// [`FUNCTION`] or [`STRUCT`].
    word: &'static str,
    name: &'static str,
    /// Whether programs can name it.
    is_public: bool,
    /// The text from its keyword to its last brace.
    text: &'static str,
}

/// The functions or structs of a file, in order.
fn items(file: &str, word: &'static str) -> impl Iterator<Item = LibraryItem> {
    /// Computed once, because compiling a block makes many lookups. Macros are usually built without optimisation, and
    /// one search of a file then takes a tenth of a millisecond.
    static ITEMS: LazyLock<Vec<LibraryItem>> = LazyLock::new(|| {
        FILES
            .iter()
            .flat_map(|(file, text)| [FUNCTION, STRUCT].map(|word| of_file(file, text, word)))
            .flatten()
            .collect()
    });
    ITEMS.iter().copied().filter(move |item| item.word == word && item.file == file)
}

/// Finds the items of a file. It relies on the formatting: an item starts with its keyword, after `pub` if it is
/// public, and ends with a brace, each at the start of a line.
fn of_file(file: &'static str, text: &'static str, word: &'static str) -> Vec<LibraryItem> {
    let ends_of_lines = || text.match_indices('\n').map(|(at, _)| at);
    let mut ends = ends_of_lines().filter(|at| text[at + 1..].starts_with("}\n"));
    let starts = ends_of_lines().filter_map(|at| {
        let line = &text[at + 1..];
        let public = line.strip_prefix("pub ");
        let own = public.unwrap_or(line);
        let name = own.strip_prefix(word)?.split(['(', '<', ' ']).next()?;
        Some((text.len() - own.len(), name, public.is_some()))
    });
    let item = |(start, name, is_public): (usize, &'static str, bool)| {
        let end = ends.find(|end| *end > start)? + "\n}\n".len();
        Some(LibraryItem { file, word, name, is_public, text: &text[start..end] })
    };
    starts.filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_items_and_comments() {
        for (file, text) in FILES {
            let items = items(file, FUNCTION).chain(items(file, STRUCT));
            let rest = items.fold(text.to_owned(), |rest, item| {
                assert!(item.text.starts_with(&format!("{}{}", item.word, item.name)), "{file}: {item:?}");
                let visibility = if item.is_public { "pub " } else { "" };
                rest.replacen(&format!("\n{visibility}{}", item.text), "\n", 1)
            });
            assert!(rest.lines().all(|line| line.is_empty() || line.starts_with("//")), "{file}: {rest}");
        }
    }
}
