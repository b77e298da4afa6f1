#!/usr/bin/env bash
# trybuild 1.0.122 compiles every dependency of the package twice.
#
# It first checks the dependencies and then all test programs, and passes the flag --diagnostic-width=140 to rustc only
# the second time. Cargo's cache depends on the flags, so the second pass reuses nothing of the first. Dev-dependencies
# that no program uses are compiled twice as well. If one of them is a large crate, this takes minutes of processor time
# in a clean build. The workaround is a separate package with few dependencies for these tests. Build scripts and proc
# macros are compiled once, because Cargo passes them no such flags.
#
# It needs Rust and Cargo's registry. It fails if the output differs from the recorded one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p src tests ui dependency/src
cat >Cargo.toml <<'TOML'
[package]
name = "tried"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
dependency = { path = "dependency" }

[dev-dependencies]
trybuild = "=1.0.122"
TOML
printf '[package]\nname = "dependency"\nversion = "0.0.0"\nedition = "2024"\n' >dependency/Cargo.toml
touch src/lib.rs dependency/src/lib.rs
printf 'fn main() {\n    let _: u8 = "";\n}\n' >ui/mistake.rs
cat >ui/mistake.stderr <<'TEXT'
error[E0308]: mismatched types
 --> ui/mistake.rs:2:17
  |
2 |     let _: u8 = "";
  |            --   ^^ expected `u8`, found `&str`
  |            |
  |            expected due to this
TEXT
cat >tests/tried.rs <<'RUST'
#[test]
fn tried() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
RUST
cargo test --quiet --no-run
# Records each compilation of the dependency.
printf '#!/bin/sh\ncase " $* " in *" --crate-name dependency "*) echo dependency >>%s/compiled ;; esac\nexec "$@"\n' "$folder" >wrapper
chmod +x wrapper
RUSTC_WRAPPER=$folder/wrapper cargo test --quiet --test tried >out 2>&1 || { cat out; exit 1; }
found=$(grep -c '' compiled)
printf 'trybuild 1.0.122: the dependency is compiled %s times\n' "$found"
[ "$found" = 2 ]
printf 'the output is as recorded\n'
