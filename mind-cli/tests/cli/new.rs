//! Tests of `mind new`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::Folder;

/// The files in a folder and its subfolders, with their texts, in order.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(&current).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("it is below").to_owned();
                    found.push((name, fs::read_to_string(&path).expect("it is text")));
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_made_is_told_and_the_same_each_time() {
    let folder = Folder::new().with("a/.keep", "").with("b/.keep", "");
    let said = folder.mind("new a/two-moons").fine();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        said,
        format!(
            "made a/two-moons
  Cargo.toml    depends on mind-dsl {version}; debug builds are optimised
  src/main.rs   a network that learns to tell two moons apart, and a test of its gradient
  README.md     how to run, test and change it
  .gitignore    keeps build outputs out of git

next:
  cd a/two-moons
  cargo run
"
        )
    );
    folder.mind("new b/two-moons/").fine();
    let made = files(&folder.path("a/two-moons"));
    assert_eq!(made, files(&folder.path("b/two-moons")));
    let text = |name: &str| &made.iter().find(|(path, _)| path == Path::new(name)).expect("it is made").1;
    assert_eq!(made.len(), 4);
    let manifest = text("Cargo.toml");
    assert!(manifest.starts_with("[package]\nname = \"two-moons\"\n"), "{manifest}");
    assert!(manifest.contains(&format!("\nmind-dsl = \"{version}\"\n")), "{manifest}");
    assert!(text("README.md").starts_with("# two-moons\n"));
    assert_eq!(text(".gitignore"), "/target\n");
    assert!(made.iter().all(|(_, text)| !text.contains("{name}") && !text.contains("{dependency}")));
}

#[test]
fn what_cannot_be_made_is_one_error_and_changes_nothing() {
    let folder = Folder::new().with("taken/old.txt", "old").with("file", "old").with("other/Cargo.toml", "");
    let before = files(&folder.path("."));
    for (arguments, said) in [
        ("new taken", "taken already exists\n  help: give another name, or remove it\n"),
        ("new file", "file already exists\n"),
        (
            "new missing/moons",
            "cannot write missing/moons: no such file or directory\n  help: there is no folder missing\n",
        ),
        ("new file/moons", "cannot write file/moons: "),
        (
            "new 2moons",
            "`2moons` cannot be the name of a project: it starts with '2'\n  help: a name consists of letters",
        ),
        ("new loop", "`loop` cannot be the name of a project: it is a keyword of Rust\n"),
        ("new mind", "`mind` cannot be the name of a project: it is the name of the library\n"),
        ("new ..", ".. is not a valid project name\n"),
        (
            "new moons --path missing",
            "missing is not a checkout of mind-dsl: no such file or directory\n  help: --path takes",
        ),
        (
            "new moons --path other",
            "other is not a checkout of mind-dsl: its Cargo.toml belongs to another package\n",
        ),
    ] {
        let err = folder.mind(arguments).misuse();
        assert!(err.starts_with(&format!("error: {said}")), "{arguments}: {err}");
        assert!(err.lines().count() <= 2, "{arguments}: {err}");
    }
    assert_eq!(files(&folder.path(".")), before);
}
