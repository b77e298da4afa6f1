//! Sets `cfg(gate)` if `MIND_TESTS` is set, as `.ci/run` and `ci/nightly` do, and `cfg(every_case)` if it is `all`, as in
//! `ci/nightly`. Programs that take rustc long are compiled only with the first, further variants of them only with the
//! second.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(gate, every_case)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MIND_TESTS");
    let tests = env::var_os("MIND_TESTS");
    if tests.is_some() {
        println!("cargo::rustc-cfg=gate");
    }
    if tests.is_some_and(|tests| tests == "all") {
        println!("cargo::rustc-cfg=every_case");
    }
}
