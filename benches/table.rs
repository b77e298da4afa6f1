//! The project's table: each of the peers' cases by the project, by ndarray and by the gemm crate with loops by hand
//! around it, and the shortest time that the machine allows.
//!
//! Run `cargo bench -p mind-benches --bench table`, or `cargo bench -p mind-benches --bench table -- mlp_ layer` for
//! some cases. `MIND_NUM_THREADS=2` runs it on two threads. The package is outside the workspace, so that its
//! dependencies are built only when needed.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("table/Cargo.toml");
    let threads = env::var("MIND_NUM_THREADS").unwrap_or_else(|_| "1".to_owned());
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(env::args().skip(1).filter(|argument| !argument.starts_with('-')))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("table"))
        // The loops by hand need this flag. The project itself detects the processor's features at run time.
        .env("RUSTFLAGS", "-C target-cpu=native")
        .envs(["MIND_NUM_THREADS", "RAYON_NUM_THREADS"].map(|name| (name, &threads)))
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("the table ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cargo could not be run: {error}");
            ExitCode::FAILURE
        }
    }
}
