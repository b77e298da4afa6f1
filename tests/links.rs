//! Checks that links, mutants, the index of decisions and manifests agree with the files of the project.

use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn every_relative_link_leads_to_a_file() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut pages: Vec<PathBuf> = ["", "docs", "docs/decisions", "benches", "benches/log", "tests/files"]
        .iter()
        .flat_map(|folder| pages(&root.join(folder)))
        .collect();
    pages.sort();
    assert!(pages.len() > 8, "the pages are not found any more: {pages:?}");
    let mut dead = String::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page can be read");
        let folder = page.parent().expect("a page is in a folder");
        for target in targets(&text) {
            if !folder.join(target).exists() {
                dead += &format!("{}: {target}\n", page.display());
            }
        }
    }
    assert!(dead.is_empty(), "these lead nowhere:\n{dead}");
}

#[test]
fn the_text_that_a_mutant_replaces_is_in_its_file() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mutants = fs::read_to_string(root.join("tests/mutants.txt")).expect("there are mutants");
    let mut gone = Vec::new();
    let mut seen = 0;
    for mutant in mutants.split("---\n") {
        let mut lines = mutant.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some((name, file)) = lines.next().and_then(|line| line.split_once(": ")) else { continue };
        let old: Vec<_> = lines.filter_map(|line| line.strip_prefix("- ")).collect();
        let source = fs::read_to_string(root.join(file)).unwrap_or_default();
        seen += 1;
        if old.is_empty() || !source.contains(&old.join("\n")) {
            gone.push(format!("{name}: {file}"));
        }
    }
    assert!(seen > 60, "{seen} mutants are read");
    assert!(gone.is_empty(), "these replace nothing:\n{}", gone.join("\n"));
}

#[test]
fn every_decision_is_in_the_index() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/decisions"));
    let index = fs::read_to_string(folder.join("README.md")).expect("there is an index");
    let names = pages(folder).into_iter().filter_map(|page| page.file_name()?.to_str().map(str::to_owned));
    let absent: Vec<_> =
        names.filter(|name| name != "README.md" && !index.contains(&format!("({name})"))).collect();
    assert!(absent.is_empty(), "{absent:?} are in no line of the index");
}

#[test]
fn the_architecture_is_a_map_of_at_most_250_lines() {
    let page = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md"));
    let lines = fs::read_to_string(page).expect("the page is there").lines().count();
    assert!(lines <= 250, "{lines} lines: reasons go to docs/decisions");
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    paths.filter(|path| path.extension().is_some_and(|is| is == "md")).collect()
}

/// The files that relative links of a page lead to, without fragments.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    let files = links.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split_once('#').map_or(target, |(file, _)| file)).filter(|file| is_path(file))
}

/// Whether `target` is a path and not Rust code, such as `f()` in a sentence about the language.
fn is_path(target: &str) -> bool {
    !target.is_empty() && !target.contains(['`', ' ', '('])
}

/// Cargo does not discover programs of tests and benchmarks, because their packages lie in the same folders as their
/// files. So every file or folder must be a target in the manifest, or a module of a target.
#[test]
fn every_program_is_in_its_manifest() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (folder, manifests) in [
        ("tests", ["tests/Cargo.toml"].as_slice()),
        ("benches", &["benches/Cargo.toml"]),
        ("examples", &["Cargo.toml", "tests/Cargo.toml"]),
    ] {
        let read = |path: &Path| fs::read_to_string(path).expect("a file can be read");
        let manifests: String = manifests.iter().map(|path| read(&root.join(path))).collect();
        let entries = fs::read_dir(root.join(folder)).expect("the folder is there");
        let paths: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
        let (files, folders): (Vec<_>, Vec<_>) = paths.iter().partition(|path| path.is_file());
        let files = files.into_iter().filter(|path| path.extension().is_some_and(|is| is == "rs"));
        let sources: String = files.clone().map(|path| read(path)).collect();
        let folders = folders.into_iter().filter(|path| {
            let is_package = path.join("Cargo.toml").exists();
            !is_package && ["main.rs", "mod.rs"].iter().any(|file| path.join(file).exists())
        });
        let names = files.chain(folders).filter_map(|path| path.file_stem()?.to_str());
        let absent: Vec<_> = names
            .filter(|name| !manifests.contains(&format!("name = \"{name}\"\n")))
            .filter(|name| !manifests.contains(&format!("build = \"{name}.rs\"\n")))
            .filter(|name| !sources.contains(&format!("\nmod {name};\n")))
            .collect();
        assert!(absent.is_empty(), "{absent:?} of {folder} are in no manifest and no program");
    }
}
