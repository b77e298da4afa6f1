//! Checks the cases of `mistakes/ui`: every code has a case, and the name of a case lists the codes that it reports.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mind_core::diag::{Arises, Code};

#[test]
fn every_code_that_the_macro_reports_has_a_case() {
    let covered: Vec<String> = cases().iter().flat_map(|case| codes_of_name(case)).collect();
    let missing: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.info())
        .filter(|info| info.arises.contains(&Arises::Macro) && !covered.iter().any(|name| name == info.name))
        .map(|info| info.name)
        .collect();
    assert!(missing.is_empty(), "no case in tests/mistakes/ui reports {missing:?}");
}

#[test]
fn every_case_reports_the_codes_of_its_name_and_nothing_else() {
    let mut wrong = String::new();
    for case in cases() {
        let Ok(stderr) = fs::read_to_string(case.with_extension("stderr")) else {
            wrong += &format!("{}: not blessed\n", case.display());
            continue;
        };
        let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error")).collect();
        let mut found: Vec<_> = errors.iter().filter_map(|line| code_of_error(line)).collect();
        let mut named = codes_of_name(&case);
        found.sort();
        named.sort();
        // A case of an error of rustc reports exactly one error.
        let expected = if named.is_empty() { 1 } else { named.len() };
        if found != named || errors.len() != expected || stderr.contains("warning") {
            wrong += &format!("{}: reports {errors:#?}\n", case.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The programs in `tests/mistakes/ui`, and those in `ui/ndarray`, which need the feature `ndarray`.
fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes/ui");
    let folders = [folder.join("ndarray"), folder];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the cases are there"));
    let paths = entries.map(|entry| entry.expect("the folders can be read").path());
    let mut cases: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    cases.sort();
    cases
}

/// The codes in the name of a case: `E2002` and `E3001` for `e2002_e3001_two_mistakes.rs`.
fn codes_of_name(case: &Path) -> Vec<String> {
    let name = case.file_stem().and_then(|stem| stem.to_str()).expect("cases have names");
    let is_code = |word: &&str| word.len() == 5 && word.starts_with('e') && word[1..].parse::<u16>().is_ok();
    name.split('_').take_while(is_code).map(str::to_uppercase).collect()
}

/// The code in a line, such as `E3003` in `error: [E3003] …`. Rustc words the line differently if it evaluates the
/// rules of a bare expression.
fn code_of_error(line: &str) -> Option<String> {
    let evaluated = || line.strip_prefix("error[E0080]: evaluation panicked: [");
    let (code, _) = line.strip_prefix("error: [").or_else(evaluated)?.split_once(']')?;
    Some(code.to_owned())
}
