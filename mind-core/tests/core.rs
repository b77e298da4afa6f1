//! Tests of the compiler through its public interface.
//!
//! They are one program, because linking one program per module takes longer than compiling all modules.
//! `cargo test -p mind-core --test core plans` runs one module. `linear` is a separate program because it counts the
//! allocations of its process.

mod arranging;
mod batching;
#[path = "../../tests/support/changes.rs"]
mod changes;
mod docs;
mod einsum;
mod format;
mod gradient_checks;
mod habits;
mod ir;
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
