//! Crates that tests write and build with Cargo.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Once,
};

/// A crate outside the workspace that depends on the library.
pub struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    /// Creates a crate with this name and these features of the library. `tmpdir` is `env!("CARGO_TARGET_TMPDIR")`.
    ///
    /// Dependencies are built once for all of these crates and for those of trybuild. All crates therefore share the
    /// target folder, the profile and the features, except where a test is about other features.
    pub fn new(tmpdir: &str, name: &str, features: &[&str]) -> Self {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let tests = folder_of_crates(tmpdir);
        let project = Self { folder: tests.join(name), target: tests.join("trybuild") };
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nmind-dsl = {{ path = {root:?}, default-features = false, features = {features:?} }}\n\
             mind-rt = {{ path = {:?}, default-features = false, features = [\"ndarray\"] }}\n\
             ndarray = {{ version = \"0.17\", default-features = false }}\n",
            root.join("mind-rt")
        );
        project.write("Cargo.toml", manifest);
        let lock = project.folder.join("Cargo.lock");
        fs::copy(root.join("Cargo.lock"), lock).expect("the lock file can be copied");
        project
    }

    /// Writes a file and returns its path.
    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().expect("it is in a folder"))
            .expect("the target folder can be written");
        fs::write(&path, text).expect("the target folder can be written");
        path
    }

    /// Runs `cargo` with these arguments and environment variables.
    pub fn cargo(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        let cargo = cargo.args(["--quiet", "--offline"]).args(arguments).current_dir(&self.folder);
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("CARGO_BUILD_TARGET", "host-tuple");
        let cargo = cargo.env("CARGO_INCREMENTAL", "0");
        cargo.envs(environment.iter().copied()).output().expect("cargo runs")
    }
}

/// Whether this process has written the Cargo configuration of the crates.
static WRITTEN: Once = Once::new();

/// The folder of trybuild's crates. Its Cargo configuration turns debug information off for all of them.
pub fn folder_of_crates(tmpdir: &str) -> PathBuf {
    let tests = Path::new(tmpdir).with_file_name("tests");
    fs::create_dir_all(tests.join(".cargo")).expect("the target folder can be written");
    // Only once: another test's Cargo may be reading the file, and would compile everything again if it found it empty.
    WRITTEN.call_once(|| {
        fs::write(tests.join(".cargo/config.toml"), "[profile.dev]\ndebug = 0\n")
            .expect("the target folder can be written");
    });
    tests
}
