//! Modules of the crate name only those of their own layer and of those below: kernels know slices, and neither tensors nor shapes.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up.
const LAYERS: [&[&str]; 4] = [
    &["error", "kernels", "parallel", "simd", "workspace"],
    &["axis_count", "dims", "element", "random", "shape"],
    &[
        "argument",
        "bare",
        "convert",
        "external",
        "format",
        "gradcheck",
        "initialise",
        "inspect",
        "interop",
        "optim",
        "parameters",
        "profile",
        "support",
        "tensor",
        "view",
    ],
    &["knossos", "private", "watch"],
];

#[test]
fn no_module_names_one_of_a_layer_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut up, mut seen) = (Vec::new(), 0);
    for (layer, modules) in LAYERS.iter().enumerate() {
        for module in *modules {
            let files = files(&source, module);
            assert!(!files.is_empty(), "{module} is a module");
            for file in files {
                let text = fs::read_to_string(&file).expect("the source can be read");
                for named in named(&text) {
                    let place = LAYERS.iter().position(|modules| modules.contains(&&*named));
                    seen += usize::from(place.is_some());
                    if place.is_some_and(|place| place > layer) {
                        up.push(format!("{} names {named}", file.display()));
                    }
                }
            }
        }
    }
    assert!(seen > 200, "{seen} names of modules are found");
    assert!(up.is_empty(), "{}", up.join("\n"));
}

/// Every module of the crate has its layer.
#[test]
fn every_module_has_a_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let text = fs::read_to_string(root).expect("the source can be read");
    let declared = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    let without: Vec<_> = declared
        .filter(|name| *name != "sample" && !LAYERS.iter().any(|modules| modules.contains(name)))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

/// The files of a module, but for tests.
fn files(source: &Path, module: &str) -> Vec<PathBuf> {
    let mut files = vec![source.join(format!("{module}.rs"))];
    let mut folders = vec![source.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            match path.is_dir() {
                true if path.ends_with("tests") => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.retain(|file| {
        file.extension().is_some_and(|extension| extension == "rs")
            && file.is_file()
            && !file.ends_with("tests.rs")
    });
    files.sort();
    files
}

/// The modules of the crate that a text names, but for comments and tests, which come last. A macro names `$crate`, for who calls it.
fn named(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (at, name) in text.match_indices("crate::") {
        let rest = &text[at + name.len()..];
        match rest.strip_prefix('{') {
            _ if text[..at].ends_with('$') => {}
            Some(list) => found.extend(first_names(list)),
            None => found.push(first_name(rest)),
        }
    }
    found
}

/// The first name of each part of a list in braces, the first of which is open.
fn first_names(list: &str) -> Vec<String> {
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            ',' | '}' => {
                names.push(first_name(list[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    return names;
                }
            }
            _ => {}
        }
    }
    names
}

fn first_name(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}
