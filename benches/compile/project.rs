//! The crate in which programs are compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// The cargo command to run.
#[derive(Clone, Copy)]
pub enum Build {
    Check,
    Debug,
    Release,
}

impl Build {
    pub fn name(self) -> &'static str {
        match self {
            Build::Check => "check",
            Build::Debug => "debug build",
            Build::Release => "release build",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Build::Check => &["check"],
            Build::Debug => &["build"],
            Build::Release => &["build", "--release"],
        }
    }
}

/// A crate that depends on the project.
pub struct Project {
    folder: PathBuf,
}

impl Project {
    pub fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile");
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        fs::create_dir_all(folder.join("src")).expect("the target folder can be written");
        let manifest = format!(
            "[package]\nname = \"compile\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nmind-dsl = {{ path = {root:?} }}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
        Self { folder }
    }

    /// The shortest of three times in seconds that cargo takes for a program whose dependencies are built.
    pub fn least_time(&self, build: Build, program: &str) -> f64 {
        self.run(build, "fn main() {}\n");
        let runs = (0..3).map(|run| self.time(build, &format!("{program}// {run}\n")));
        runs.fold(f64::MAX, f64::min)
    }

    /// The time in seconds that cargo takes for a program and all its dependencies.
    pub fn time_from_nothing(&self, build: Build, program: &str) -> f64 {
        let output = self.cargo(&["clean"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.time(build, program)
    }

    /// The times in milliseconds that the macro reports in `runs` debug builds.
    pub fn expansions(&self, program: &str, runs: usize) -> Vec<f64> {
        let expansions = (0..runs).map(|run| {
            let said = self.run(Build::Debug, &format!("{program}// {run}\n"));
            let (_, said) = said.split_once("expanded in ").expect("the macro says how long it took");
            let (milliseconds, _) = said.split_once(" ms").expect("in milliseconds");
            milliseconds.parse().expect("a number")
        });
        expansions.collect()
    }

    /// The executable of the last release build.
    pub fn executable(&self) -> PathBuf {
        self.target().join("release/compile")
    }

    /// The processor time in seconds that cargo and rustc take for a program, as Linux counts it for child processes.
    pub fn processor_time(&self, build: Build, program: &str) -> f64 {
        // This builds the dependencies, so they are not measured.
        self.run(build, &crate::programs::minimal());
        let before = children();
        self.run(build, program);
        children() - before
    }

    fn time(&self, build: Build, program: &str) -> f64 {
        let start = Instant::now();
        self.run(build, program);
        start.elapsed().as_secs_f64()
    }

    /// Builds a program and returns the messages of cargo and the macro.
    fn run(&self, build: Build, program: &str) -> String {
        fs::write(self.folder.join("src/main.rs"), program).expect("the target folder can be written");
        let output = self.cargo(build.arguments());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).args(["--quiet", "--offline"]).current_dir(&self.folder);
        cargo.env("CARGO_TARGET_DIR", self.target()).env("MIND_TIMINGS", "1");
        cargo.output().expect("cargo runs")
    }

    fn target(&self) -> PathBuf {
        self.folder.join("target")
    }
}

/// The processor time in seconds of all child processes that have ended: fields 16 and 17 of `/proc/self/stat`, in
/// hundredths of a second.
fn children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux says what a process took");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in brackets");
    let ticks = fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<f64>());
    ticks.sum::<Result<f64, _>>().expect("they are numbers") / 100.0
}
