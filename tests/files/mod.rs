//! Files that record what the compiler does with a module: see `README.md` in this folder.

mod case;
mod coverage;
mod directives;
mod values;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use case::Case;

#[test]
fn operations() {
    check("operations");
}

#[test]
fn constraints() {
    check("constraints");
}

#[test]
fn codes() {
    check("codes");
}

#[test]
fn passes() {
    check("passes");
}

#[test]
fn text() {
    check("text");
}

/// Runs every file of a folder. With `MIND_BLESS` set, writes the results to it.
fn check(folder: &str) {
    let bless = std::env::var_os("MIND_BLESS").is_some();
    let mut failures = String::new();
    for path in files(folder) {
        let text = read(&path);
        let case = Case::parse(&text).unwrap_or_else(|mistake| panic!("{}: {mistake}", path.display()));
        let found = case.run();
        if found == text {
            continue;
        }
        if bless {
            fs::write(&path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        } else {
            writeln!(failures, "{}:\n{}", path.display(), difference(&text, &found))
                .expect("writing to a string cannot fail");
        }
    }
    assert!(failures.is_empty(), "{failures}(MIND_BLESS=1 records what is there now)");
}

/// The `.txt` files of a folder, sorted by name.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("files").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|is| is == "txt")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} holds no file", folder.display());
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines that differ, without the equal lines at the beginning and end.
fn difference(recorded: &str, found: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (recorded.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let left = (old.len() - same).min(new.len() - same);
    let tail = old.iter().rev().zip(new.iter().rev()).take(left).take_while(|(old, new)| old == new).count();
    let mut text = String::new();
    for line in &old[same..old.len() - tail] {
        writeln!(text, "  line {}: - {line}", same + 1).expect("writing to a string cannot fail");
    }
    for line in &new[same..new.len() - tail] {
        writeln!(text, "  line {}: + {line}", same + 1).expect("writing to a string cannot fail");
    }
    text
}
