//! The project's table: each case of the peers' as a program of the project, by ndarray, by the gemm crate with loops by hand
//! around it, and the least that the machine needs.
//!
//! `cargo bench -p mind-benches --bench table`, `cargo bench -p mind-benches --bench table -- mlp_ layer`, with `MIND_NUM_THREADS=2` on two threads. The
//! package behind it is outside the workspace, so that its dependencies are built when it is asked for and not before.

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
        // The loops by hand need it. The project finds out at run time what the processor has.
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
