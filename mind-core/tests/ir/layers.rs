//! Modules of the crate refer only to modules below them. The definition of an operation is below the passes that use
//! it. The same holds for the folders of the lowering: shared facts about a body are below the code for each concern.

use std::collections::BTreeMap;
use std::{
    fs,
    path::{Path, PathBuf},
};

use names::named;

#[path = "../../../tests/support/names.rs"]
mod names;

/// The layers, from the bottom up.
const LAYERS: [&str; 24] = [
    "profile",
    "dim",
    "diag",
    "ty",
    "data",
    "map",
    "reduce",
    "cumulate",
    "ir",
    "ops",
    "build",
    "number",
    "symbols",
    "verify",
    "canon",
    "interp",
    "grad",
    "batch",
    "associative_scan",
    "checkpoint",
    "jacobian",
    "opt",
    "plan",
    "loops",
];

/// The folders of `surface/lower`, from the bottom up.
const LOWERING: [&str; 6] = ["declarations", "values", "builtins", "callees", "body", "program"];

/// The files of `open/lower`, from the bottom up.
const OF_EXPRESSIONS: [&str; 14] = [
    "roles",
    "lowering",
    "spots",
    "loops",
    "tensors",
    "picking",
    "derivatives",
    "places",
    "records",
    "templates",
    "pullbacks",
    "calls",
    "ellipses",
    "mod",
];

#[test]
fn no_module_names_one_above_it() {
    let mut up = Vec::new();
    let mut seen = 0;
    for (layer, name) in LAYERS.iter().enumerate() {
        for file in files(name) {
            let text = fs::read_to_string(&file).expect("the source can be read");
            for named in named(&text, "crate::") {
                let place = LAYERS.iter().position(|other| *other == named);
                seen += usize::from(place.is_some());
                if place.is_some_and(|place| place > layer) {
                    up.push(format!("{} names {named}", file.display()));
                }
            }
        }
    }
    assert!(seen > 200, "{seen} names of modules are found");
    assert!(up.is_empty(), "{}", up.join("\n"));
}

#[test]
fn no_folder_of_the_lowering_names_one_above_it() {
    let mut up = Vec::new();
    let mut seen = 0;
    for (layer, folder) in LOWERING.iter().enumerate() {
        for file in files(&format!("surface/lower/{folder}")) {
            let text = fs::read_to_string(&file).expect("the source can be read");
            for named in named(&text, "crate::surface::lower::") {
                seen += 1;
                // Any other name is an item of `mod.rs`, which is above all folders.
                if LOWERING.iter().position(|other| *other == named).is_none_or(|other| other > layer) {
                    up.push(format!("{} names {named}", file.display()));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} names of folders are found");
    assert!(up.is_empty(), "{}", up.join("\n"));
}

#[test]
fn no_file_of_the_lowering_of_expressions_names_one_above_it() {
    assert!(names_of_files("open/lower", &OF_EXPRESSIONS) > 10);
}

/// Checks that no file of a folder refers to a file above it. Returns the number of references between the files.
fn names_of_files(folder: &str, order: &[&str]) -> usize {
    let layer = |name: &str| order.iter().position(|other| *other == name);
    let top = order.len() - 1;
    let (mut up, mut seen) = (Vec::new(), 0);
    let files = files(folder);
    let path = format!("crate::{}::", folder.replace('/', "::"));
    for file in &files {
        let text = fs::read_to_string(file).expect("the source can be read");
        let name = file.file_stem().and_then(|name| name.to_str()).expect("files have names");
        let Some(own) = layer(name) else { panic!("`{name}` has no place in the order") };
        for prefix in ["super::", &path] {
            for named in named(&text, prefix) {
                // Any other name is an item of `mod.rs`.
                let place = layer(&named).unwrap_or(top);
                seen += 1;
                if place > own {
                    up.push(format!("{name} names {named}, which is above it"));
                }
            }
        }
    }
    assert_eq!(files.len(), order.len(), "every file of the order is there");
    assert!(up.is_empty(), "{}", up.join("\n"));
    seen
}

/// The files of a module, except tests.
fn files(module: &str) -> Vec<PathBuf> {
    names::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), module)
}

#[test]
fn no_files_of_the_parser_name_each_other_in_a_circle() {
    let names: BTreeMap<String, Vec<String>> = files("surface/parse")
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).expect("the source can be read");
            let name = file.file_stem().and_then(|name| name.to_str()).expect("files have names");
            (name.to_owned(), named(&text, "super::"))
        })
        .collect();
    // Repeatedly removes files that refer to no remaining file. Files in a cycle remain.
    let mut left: Vec<&String> = names.keys().collect();
    loop {
        let before = left.len();
        let all = left.clone();
        left.retain(|file| names[*file].iter().any(|name| name != *file && all.contains(&name)));
        if left.len() == before {
            break;
        }
    }
    assert!(names.values().flatten().filter(|name| names.contains_key(*name)).count() > 40);
    assert!(left.is_empty(), "these name each other in a circle, or name files that do: {left:?}");
}
