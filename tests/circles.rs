//! No more than five files of a crate form a circle of files that name each other, because a circle must be read as one
//! file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The path of a module in its crate.
type Module = Vec<String>;

const CRATES: [&str; 9] = [
    "mind-cli",
    "mind-core",
    "mind-files",
    "mind-knossos",
    "mind-macros",
    "mind-mpi",
    "mind-rt",
    "mind-shape",
    "mind-xla",
];

const MOST: usize = 5;

#[test]
fn no_circle_of_files_is_larger_than_five() {
    let mut large = Vec::new();
    let mut edges = 0;
    for name in CRATES {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let named = names_of_files(&source);
        edges += named.values().map(BTreeSet::len).sum::<usize>();
        for circle in circles(&named) {
            if circle.len() > MOST {
                large.push(format!("{} files of {name}:", circle.len()));
                for file in &circle {
                    let others: Vec<_> =
                        named[file].intersection(&circle).map(|other| other.join("/")).collect();
                    large.push(format!("  {} names {}", file.join("/"), others.join(", ")));
                }
            }
        }
    }
    assert!(edges > 2000, "{edges} names of other files are found");
    assert!(large.is_empty(), "these files name each other in a circle:\n{}", large.join("\n"));
}

#[test]
fn a_circle_is_found_through_imports_reexports_and_paths() {
    let file = |text: &str| File::of(&text.parse().expect("it is Rust"));
    let files: BTreeMap<Module, File> = [
        (vec![], file("mod a; pub mod b; mod c; mod d; #[cfg(test)] mod tests { use crate::d::D; }")),
        (vec!["a"], file("pub use crate::c::C; fn f() { crate::b::g::<u8>() }")),
        (vec!["b"], file("use super::{c, a::{self, C as Other}};")),
        (vec!["c"], file("pub(in crate::d) struct C; mod inner { use super::C; } fn f(_: super::d::D) {}")),
        (vec!["d"], file("use crate::b;")),
    ]
    .into_iter()
    .map(|(module, file)| (module.into_iter().map(str::to_owned).collect(), file))
    .collect();
    // `a` is in no circle through its exports alone. `b` names `c`, `c` names `d` and `d` names `b`. `a` and `b` name
    // each other.
    let found: Vec<Vec<String>> = circles(&named_by(&files))
        .into_iter()
        .map(|circle| circle.iter().map(|module| module.join("/")).collect())
        .collect();
    assert_eq!(found, [["a", "b", "c", "d"]]);
}

/// For each file, the other files that it names.
fn names_of_files(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(source).expect("it is inside").with_extension("");
            let mut module: Module =
                relative.iter().map(|part| part.to_str().expect("names are UTF-8").to_owned()).collect();
            let is_test = module.iter().any(|part| part == "tests" || part.ends_with("_tests"));
            if is_test || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            let text = fs::read_to_string(&path).expect("the source can be read");
            let tokens = text.parse().expect("the source is Rust");
            files.insert(module, File::of(&tokens));
        }
    }
    named_by(&files)
}

/// The paths and names in a file.
#[derive(Default)]
struct File {
    /// Paths in imports and in code, except in exports.
    paths: Vec<Vec<String>>,
    /// The path of each imported or exported name.
    imports: BTreeMap<String, Vec<String>>,
}

impl File {
    fn of(tokens: &TokenStream) -> Self {
        let mut file = Self::default();
        file.read(tokens.clone());
        file
    }

    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut is_public) = (0, false);
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1);
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    at = if next.is_some_and(is_of_tests) { behind_item(&tokens, at) } else { at + 1 };
                }
                // `$crate` is the crate that defines the macro.
                TokenTree::Punct(punct) if punct.as_char() == '$' => at += 2,
                TokenTree::Ident(word) if *word == "pub" => {
                    is_public = true;
                    at += 1 + usize::from(
                        next.is_some_and(|next| group(next, Delimiter::Parenthesis).is_some()),
                    );
                    continue;
                }
                TokenTree::Ident(word) if *word == "use" => {
                    let mut found = Vec::new();
                    at = tree(&tokens, at + 1, &[], &mut found);
                    for (path, name) in found {
                        if !is_public {
                            self.paths.push(path.clone());
                        }
                        self.imports.insert(name, path);
                    }
                }
                // In a module within a file, `super` is the file.
                TokenTree::Ident(word) if *word == "mod" => {
                    let is_named_by_macro = matches!(next, Some(TokenTree::Punct(_)));
                    at += 3 + usize::from(is_named_by_macro);
                }
                // Quoted code belongs to another crate.
                TokenTree::Ident(word) if word.to_string().starts_with("quote") && is_call(next) => at += 3,
                TokenTree::Ident(_) => {
                    let (path, end) = path(&tokens, at);
                    if path.len() > 1 {
                        self.paths.push(path);
                    }
                    at = end;
                }
                TokenTree::Group(group) => {
                    self.read(group.stream());
                    at += 1;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => at += 1,
            }
            is_public = false;
        }
    }
}

fn is_call(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == '!')
}

fn group(token: &TokenTree, delimiter: Delimiter) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}

/// Whether brackets contain `cfg(test)` or `cfg(all(test, …))`.
fn is_of_tests(token: &TokenTree) -> bool {
    let Some(inside) = group(token, Delimiter::Bracket) else { return false };
    let text: String = inside.to_string().split_whitespace().collect();
    text.starts_with("cfg(test") || text.starts_with("cfg(all(test")
}

/// The position after the item whose attributes begin here.
fn behind_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        token => group(token, Delimiter::Brace).is_some(),
    };
    tokens[from..].iter().position(ends).map_or(tokens.len(), |end| from + end + 1)
}

fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    is_colon(tokens.get(at)) && is_colon(tokens.get(at + 1))
}

/// The words of the path that begins here, and the position after it.
fn path(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut words = Vec::new();
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        words.push(word.to_string());
        at += 1;
        if !is_double_colon(tokens, at) {
            break;
        }
        at += 2;
    }
    (words, at)
}

/// Collects the paths of the import that begins here, each with its name. Returns the position after the import.
fn tree(tokens: &[TokenTree], at: usize, before: &[String], found: &mut Vec<(Vec<String>, String)>) -> usize {
    let (words, mut at) = path(tokens, at);
    let mut whole = [before, &words[..]].concat();
    match tokens.get(at) {
        Some(TokenTree::Group(several)) => {
            let inner: Vec<TokenTree> = several.stream().into_iter().collect();
            let mut next = 0;
            while next < inner.len() {
                next = tree(&inner, next, &whole, found) + 1;
            }
            return at + 1;
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => {
            found.push((whole, String::new()));
            return at + 1;
        }
        _ => {}
    }
    whole.pop_if(|last| last == "self");
    let mut name = whole.last().cloned().unwrap_or_default();
    if let Some(TokenTree::Ident(word)) = tokens.get(at)
        && *word == "as"
    {
        name = tokens.get(at + 1).map(ToString::to_string).unwrap_or_default();
        at += 2;
    }
    found.push((whole, name));
    at
}

/// For each file, the other files that it names. An exported item counts as an item of the file that defines it.
fn named_by(files: &BTreeMap<Module, File>) -> BTreeMap<Module, BTreeSet<Module>> {
    let named = |module: &Module, file: &File| {
        let found = file.paths.iter().filter_map(|path| owner(files, module, path));
        found.filter(|found| found != module).collect()
    };
    files.iter().map(|(module, file)| (module.clone(), named(module, file))).collect()
}

/// The file that defines the item at a path in a file; `None` if it is in another crate.
fn owner(files: &BTreeMap<Module, File>, module: &Module, path: &[String]) -> Option<Module> {
    let (mut module, mut path) = (module.clone(), path.to_vec());
    // An export may refer to another export. Valid exports form no circle.
    for _ in 0..files.len() {
        let (found, item) = step(files, &module, &path)?;
        let Some(target) = item.first().and_then(|name| files[&found].imports.get(name)) else {
            return Some(found);
        };
        let target = [&target[..], &item[1..]].concat();
        if step(files, &found, &target).is_none() {
            return Some(found);
        }
        (module, path) = (found, target);
    }
    None
}

/// The file that a path reaches by the names of modules, and the rest of the path.
fn step(files: &BTreeMap<Module, File>, module: &Module, path: &[String]) -> Option<(Module, Vec<String>)> {
    let mut at = module.clone();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => (at, rest) = (Vec::new(), &path[1..]),
        Some("self") => rest = &path[1..],
        Some("super") => {
            while let Some("super") = rest.first().map(String::as_str) {
                at.pop()?;
                rest = &rest[1..];
            }
        }
        Some(_) if files.contains_key(&[&at[..], &path[..1]].concat()) => {}
        _ => return None,
    }
    while let Some((first, behind)) = rest.split_first() {
        let inner = [&at[..], std::slice::from_ref(first)].concat();
        if !files.contains_key(&inner) {
            break;
        }
        (at, rest) = (inner, behind);
    }
    files.contains_key(&at).then(|| (at, rest.to_vec()))
}

/// The sets of more than one file in which every file reaches every other.
fn circles(named: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = named
        .keys()
        .map(|start| {
            let (mut seen, mut left) = (BTreeSet::new(), vec![start]);
            while let Some(file) = left.pop() {
                left.extend(named[file].iter().filter(|next| seen.insert(*next)));
            }
            (start, seen)
        })
        .collect();
    let circle = |file: &&Module| -> BTreeSet<Module> {
        reached[file]
            .iter()
            .filter(|other| reached[**other].contains(file))
            .map(|other| (*other).clone())
            .collect()
    };
    let all: BTreeSet<BTreeSet<Module>> = named.keys().map(|file| circle(&file)).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}
