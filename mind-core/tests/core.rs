//! Tests of the compiler through its public interface.
//!
//! They are one program, as linking a program for each module takes longer than compiling them all. `cargo test -p mind-core
//! --test core plans` runs one module. `linear` is a program of its own: it counts the allocations of its process.

mod docs;
mod format;
mod gradient_checks;
mod habits;
mod ir;
mod knossos;
mod library;
mod open;
mod plans;
mod properties;
#[path = "support/recorded.rs"]
mod recorded;
#[path = "../../tests/support/sample.rs"]
mod sample;
mod shape_rules;
mod stablehlo;
