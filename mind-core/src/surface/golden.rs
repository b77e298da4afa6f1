//! Golden tests: a file of sources, each followed by the expected result.
//!
//! ```text
//! source
//! ----
//! expected
//! ====
//! ```
//! If `MIND_BLESS` is set, the file is rewritten with the actual results; review the difference.

use std::path::Path;

/// The sources of every case of `file`, a path relative to the package's `src/surface`.
pub(crate) fn sources(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/surface").join(file);
    let text = std::fs::read_to_string(path).expect("the cases are beside the code");
    let cases = text.split("====\n").filter_map(|case| case.split_once("----\n"));
    cases.map(|(source, _)| source.trim_end().to_owned()).collect()
}

/// Checks every case of `file`, a path relative to the package's `src/surface`.
pub(crate) fn check(file: &str, run: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/surface").join(file);
    let text = std::fs::read_to_string(&path).expect("the cases are beside the code");
    let mut blessed = String::new();
    let mut wrong = String::new();
    for case in text.split("====\n").filter(|case| !case.trim().is_empty()) {
        let (source, expected) = case.split_once("----\n").expect("a case has a line `----`");
        let mut found = run(source.trim_end());
        if !found.is_empty() && !found.ends_with('\n') {
            found.push('\n');
        }
        blessed += &format!("{source}----\n{found}====\n");
        if found != expected {
            wrong += &format!("{source}---- expected\n{expected}---- found\n{found}\n");
        }
    }
    if std::env::var_os("MIND_BLESS").is_some() {
        std::fs::write(&path, blessed).expect("the cases can be written");
    } else {
        assert!(wrong.is_empty(), "{file}:\n{wrong}");
    }
}
