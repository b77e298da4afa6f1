//! The pages in `docs/` that are generated from tables: they are current, and their examples hold.
//!
//! `MIND_BLESS=1 cargo test -p mind-core --test core docs` regenerates them; review the difference.

mod engines;
mod errors;
mod examples;
mod library;
mod names;
mod ops;
mod texts;

use std::{env, fs, path::Path};

/// Compares a page with its expected text, or writes it.
#[track_caller]
fn check_page(name: &str, text: &str) {
    check_file(&format!("docs/{name}"), text);
}

/// Like [`check_page`], for a path relative to the root of the repository.
#[track_caller]
fn check_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    if env::var_os("MIND_BLESS").is_some() {
        fs::write(&path, text).expect("the page can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differing = found.lines().zip(text.lines()).position(|(found, needed)| found != needed);
    assert!(found == text, "{name} is not current (line {differing:?}): bless it as above");
}
