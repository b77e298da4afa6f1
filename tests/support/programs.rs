//! Collects every program in the sources of tests and examples.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// The contents of every `mind!` in the sources.
pub fn programs() -> Vec<TokenStream> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let (mut files, mut programs) = (Vec::new(), Vec::new());
    for folder in ["tests", "examples"] {
        sources(&root.join(folder), &mut files);
    }
    for file in files {
        let text = fs::read_to_string(&file).expect("sources can be read");
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        find(tokens, &mut programs);
    }
    programs
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("folders can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Finds `mind! { … }` and `mind!( … )` in `tokens`, in order.
fn find(tokens: TokenStream, programs: &mut Vec<TokenStream>) {
    let trees: Vec<_> = tokens.into_iter().collect();
    for (i, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else { continue };
        let called = matches!(
            &trees[i.saturating_sub(2)..i],
            [TokenTree::Ident(name), TokenTree::Punct(bang)] if name == "mind" && bang.as_char() == '!'
        );
        match called {
            true => programs.push(group.stream()),
            false => find(group.stream(), programs),
        }
    }
}
