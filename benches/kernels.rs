//! The steps of programs: how long each takes, what it computes and moves, and how near it is to what the machine can do.
//!
//! `cargo bench -p mind-benches --bench kernels -- mlp_step_32x784 layernorm`; without words it lists the programs, those of `benches/peers`.
//! They are built with `MIND_PROFILE=1`, which puts clocks around the steps of every function that `mind!` compiles.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/Cargo.toml");
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--bin", "kernels", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(env::args().skip(1).filter(|argument| !argument.starts_with('-')))
        // A target folder that no build without clocks shares.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels"))
        // For the machine's limits; the project finds out at run time what the processor has.
        .env("RUSTFLAGS", "-C target-cpu=native")
        .env("MIND_PROFILE", "1")
        .env("MIND_NUM_THREADS", env::var("MIND_NUM_THREADS").unwrap_or_else(|_| "1".to_owned()))
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("the measurement ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cargo could not be run: {error}");
            ExitCode::FAILURE
        }
    }
}
