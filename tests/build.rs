//! Sets `cfg(gate)` if `MIND_TESTS` is set, as `.ci/run` and `ci/nightly` do. Programs that take rustc long are
//! compiled only with it.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(gate)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MIND_TESTS");
    if env::var_os("MIND_TESTS").is_some() {
        println!("cargo::rustc-cfg=gate");
    }
}
