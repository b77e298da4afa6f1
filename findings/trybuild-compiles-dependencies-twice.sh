#!/usr/bin/env bash
# trybuild 1.0.122: every dependency of the package is compiled twice for the programs that it tries.
#
# It first checks the dependencies, then all programs, and gives rustc the flag --diagnostic-width=140 only the second time.
# Cargo keeps what was compiled by the flags, so nothing of the first pass is used, and dev-dependencies that no program names are
# compiled twice as well. In a workspace with a large crate among them that is minutes of processor time in a clean build. A package
# with few dependencies for these tests alone is the way out; build scripts and proc macros are compiled once, as Cargo has no flags
# for them.
#
# Needs Rust and Cargo's registry. Fails where the output is no longer the one seen.
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
# Says which crates rustc is called for.
printf '#!/bin/sh\ncase " $* " in *" --crate-name dependency "*) echo dependency >>%s/compiled ;; esac\nexec "$@"\n' "$folder" >wrapper
chmod +x wrapper
RUSTC_WRAPPER=$folder/wrapper cargo test --quiet --test tried >out 2>&1 || { cat out; exit 1; }
found=$(grep -c '' compiled)
printf 'trybuild 1.0.122: the dependency is compiled %s times\n' "$found"
[ "$found" = 2 ]
printf 'as it was seen\n'
