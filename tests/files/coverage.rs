//! Checks that every operation, constraint and code has a file.

use std::{collections::BTreeSet, fs, path::Path};

use mind_core::{
    diag::{Arises, Code},
    ops::{Make, TABLE},
};

use super::{case::Case, files, read};

/// Elementwise functions need no file: tests generated from their rows run each through every phase.
#[test]
fn every_operation_has_a_file_with_every_directive() {
    for row in TABLE.iter().filter(|row| !matches!(row.make, Make::Map(_))) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("files/operations");
        let text = read(&path.join(format!("{}.txt", snake(row.name))));
        let case = Case::parse(&text).unwrap();
        let word = |word: &str| case.module.split_whitespace().any(|found| found == word);
        assert!(word(row.name) || word(row.mnemonic), "{}: the module has no `{}`", row.name, row.name);
        for name in ["roundtrip", "verify", "canon", "grad", "opt", "run"] {
            let has = case.directives.iter().any(|directive| directive.name == name);
            assert!(has, "{}: the file has no `{name}`", row.name);
        }
        let profiles = case.directives.iter().filter(|directive| directive.name == "grad");
        let profiles: BTreeSet<_> = profiles.map(|directive| directive.argument("profile")).collect();
        assert!(profiles.contains(&Some("core-v1")), "{}: no gradient in Core v1", row.name);
        assert!(profiles.len() > 1, "{}: no gradient in the extended profile", row.name);
    }
}

#[test]
fn every_numbered_constraint_has_a_file() {
    let have: BTreeSet<String> = files("constraints").iter().map(|path| stem(path)).collect();
    let mut needed = BTreeSet::new();
    for (operation, count) in constraints() {
        needed.extend((1..=count).map(|number| format!("{operation}_{number}_")));
    }
    assert!(
        needed.len() > 50,
        "the constraints in the documentation of the operations are not found any more"
    );
    for prefix in needed {
        assert!(have.iter().any(|name| name.starts_with(&prefix)), "no file `{prefix}….txt`");
    }
}

#[test]
fn a_broken_constraint_is_refused() {
    for path in files("constraints") {
        let text = read(&path);
        let case = Case::parse(&text).unwrap();
        let refused = case.directives.iter().any(|found| found.name == "verify" && found.body.contains("[E"));
        assert!(refused, "{} is refused", path.display());
    }
}

#[test]
fn every_code_that_a_module_can_have_has_a_file() {
    let texts: Vec<String> = ["codes", "constraints", "text", "operations"]
        .iter()
        .flat_map(|folder| files(folder))
        .map(|path| read(&path))
        .collect();
    for code in Code::ALL {
        let info = code.info();
        let of_modules = ["E1", "E2", "E3", "E4", "E5"].iter().any(|prefix| info.name.starts_with(prefix));
        if of_modules && info.arises.contains(&Arises::File) {
            let mark = format!("[{code}]");
            assert!(texts.iter().any(|text| text.contains(&mark)), "no file shows {code}: {}", info.meaning);
        }
    }
}

/// The name of each operation in file names, and the number of constraints in its documentation.
fn constraints() -> Vec<(String, usize)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mind-core/src/ops");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the operations are there") {
        let text = read(&entry.expect("a folder can be read").path());
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(first) = line.strip_prefix("/// - **Constraints**:") else { continue };
            let mut words = first.to_string();
            while let Some(more) = lines.next_if(|line| line.starts_with("///   ")) {
                words.push_str(&more[5..]);
            }
            let count = (1..).take_while(|number| words.contains(&format!(" {number}. "))).count();
            let name = lines.find_map(|line| Some(line.split_once("name: \"")?.1.split_once('"')?.0));
            found.push((snake(name.expect("a row has a name")), count));
        }
    }
    found
}

/// Converts `Conv2dGradInput` to `conv2d_grad_input`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (position, character) in name.chars().enumerate() {
        if character.is_uppercase() && position > 0 {
            text.push('_');
        }
        text.extend(character.to_lowercase());
    }
    text
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}
