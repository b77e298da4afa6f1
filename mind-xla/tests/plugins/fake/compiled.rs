//! Compiles the fake plugin. The tests of mind-cli use this file too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// The folder of the compiled plugin.
static COMPILED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mind-xla/tests/plugins/fake/plugin.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let options = ["--edition=2024", "--crate-type=cdylib", "--crate-name=plugin", "-Cdebuginfo=0"];
    let status =
        Command::new(rustc).args(options).arg(source).arg("-o").arg(folder.path().join("good")).status();
    assert!(status.expect("rustc starts").success());
    folder
});

/// A copy of the compiled plugin. The system loads each copy as another library, so its counts are separate.
pub struct Copy {
    pub path: PathBuf,
    _folder: TempDir,
}

pub fn variant(name: &str) -> Copy {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut bytes = std::fs::read(COMPILED.path().join("good")).expect("the plugin was compiled");
    let marks = bytes.windows(16).enumerate().filter(|(_, window)| *window == b"variant:good....");
    let marks: Vec<_> = marks.map(|(at, _)| at).collect();
    assert!(!marks.is_empty(), "the mark stands in the file");
    for at in marks {
        bytes[at + 8..at + 16].fill(b'.');
        bytes[at + 8..at + 8 + name.len()].copy_from_slice(name.as_bytes());
    }
    let path = folder.path().join(format!("{name}.so"));
    std::fs::write(&path, bytes).expect("there is room");
    Copy { path, _folder: folder }
}
