//! Recorded outputs: each text file has a program, a line of four dashes, and the output for it. `MIND_BLESS=1`
//! rewrites them.

use std::{env, fs, path::Path};

/// The separator between a program and its recorded output.
pub const SEPARATOR: &str = "\n----\n";

/// Compares the recorded outputs of a folder in `tests/` with the results of `of` for their programs. The folder must
/// have at least `least` files.
#[track_caller]
pub fn check(folder: &str, least: usize, of: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = fs::read_dir(&folder).expect("the folder of this test");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("files can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() >= least, "programs are found");
    let mut wrong = Vec::new();
    for file in files {
        let recorded = fs::read_to_string(&file).expect("files can be read");
        let (program, _) = recorded.split_once(SEPARATOR).unwrap_or((&recorded, ""));
        let found = format!("{}{SEPARATOR}{}", program.trim_end(), of(program));
        if found != recorded {
            if env::var_os("MIND_BLESS").is_some() {
                fs::write(&file, found).expect("files can be written");
            } else {
                wrong.push(format!("{}:\n{found}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "bless with MIND_BLESS=1 if this is right:\n{}", wrong.join("\n"));
}
