//! Finds the modules that files of a crate name, for tests of its layers.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a module, without those of tests.
pub fn files(source: &Path, module: &str) -> Vec<PathBuf> {
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
    assert!(!files.is_empty(), "{module} is a module");
    files
}

/// The modules that follow `prefix` in paths, outside comments and tests.
pub fn named(text: &str, prefix: &str) -> Vec<String> {
    let code: String = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join(" ")
        // A path in a macro belongs to the code that calls the macro.
        .replace("$crate::", "");
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = Vec::new();
    for rest in code.split(prefix).skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            found.push(word(rest));
            continue;
        };
        let (mut depth, mut starts) = (0, true);
        for (at, character) in list.char_indices() {
            match character {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => starts = true,
                _ if starts && !character.is_whitespace() => {
                    found.push(word(&list[at..]));
                    starts = false;
                }
                _ => {}
            }
        }
    }
    found
}
