//! Shows the steps of programs: the time of each, its arithmetic and memory traffic, and its share of what the machine
//! can do.
//!
//! Run `cargo bench -p mind-benches --bench kernels -- mlp_step_32x784 layernorm`. Without words it lists the programs,
//! which are those of `benches/peers`. They are built with `MIND_PROFILE=1`, which times the steps of every function
//! that `mind!` compiles.

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
        // Builds without clocks must not share the target folder.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels"))
        // The measurement of the machine's limits needs this flag. The project itself detects the processor's features
        // at run time.
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
