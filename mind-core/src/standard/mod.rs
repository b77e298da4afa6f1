//! The library of the language: templates in its own text, which `nn::softmax(x)` and the like call.
//!
//! A file is read only as far as a program names what is in it.

/// The files, each with its text.
pub const FILES: [(&str, &str); 4] = [
    ("nn", include_str!("nn.mind")),
    ("num", include_str!("num.mind")),
    ("stats", include_str!("stats.mind")),
    ("optim", include_str!("optim.mind")),
];

/// Whether the library has a file of this name.
pub fn is_file(name: &str) -> bool {
    FILES.iter().any(|(file, _)| *file == name)
}

/// The names of the functions of a file, in order; none where there is no such file.
pub fn functions(file: &str) -> impl Iterator<Item = &'static str> {
    let text = FILES.iter().find(|(name, _)| *name == file).map_or("", |(_, text)| text);
    text.split(START).skip(1).filter_map(|rest| rest.split(['(', '<']).next())
}

/// The names of the structs of a file, in order; none where there is no such file.
pub fn structs(file: &str) -> impl Iterator<Item = &'static str> {
    let text = FILES.iter().find(|(name, _)| *name == file).map_or("", |(_, text)| text);
    text.split(STRUCT).skip(1).filter_map(|rest| rest.split('<').next())
}

/// The file and the text of a struct, from `struct` to its last brace.
///
/// ```
/// let (_, text) = mind_core::standard::structure("optim", "Adam").unwrap();
/// assert!(text.starts_with("struct Adam<P: params> {"));
/// assert!(mind_core::standard::structure("optim", "Ada").is_none());
/// ```
pub fn structure(file: &str, name: &str) -> Option<(&'static str, &'static str)> {
    item(file, name, STRUCT)
}

/// The file that has a function of this name, and the name; the first where several do.
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
    item(file, name, START)
}

/// The file and the text of an item that begins like this, up to its last brace.
fn item(file: &str, name: &str, start: &str) -> Option<(&'static str, &'static str)> {
    let (file, text) = FILES.into_iter().find(|(name, _)| *name == file)?;
    let is_named = |rest: &&str| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<']));
    let mut at = 0;
    while let Some(found) = text[at..].find(start) {
        let (from, rest) = (at + found + "\npub ".len(), &text[at + found + start.len()..]);
        if is_named(&rest) {
            return text[from..].find(END).map(|end| (file, &text[from..from + end + END.len()]));
        }
        at = from;
    }
    None
}

/// What a function begins with, and nothing else does: files are formatted.
const START: &str = "\npub fn ";

/// What a struct begins with.
const STRUCT: &str = "\npub struct ";

/// What both end with.
const END: &str = "\n}\n";
