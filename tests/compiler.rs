//! Tests of the compiler and of the macro's own code, as libraries.
//!
//! They share one test program, so that this code is compiled, and the compiler linked, only once.
//! `cargo test -p mind-tests --test compiler emitted` runs one module.

extern crate proc_macro;

mod circles;
mod determinism;
mod differential;
mod emitted;
mod expansion;
mod expressions;
mod files;
mod links;
mod mistakes;

// The macro's own code. It names its modules from the root.
#[path = "../mind-macros/src/bare/mod.rs"]
mod bare;
#[path = "../mind-macros/src/configured.rs"]
mod configured;
#[path = "../mind-macros/src/editor.rs"]
mod editor;
#[allow(unexpected_cfgs, reason = "features are those of the macro's crate")]
#[path = "../mind-macros/src/emit/mod.rs"]
mod emit;
#[allow(dead_code, reason = "rustc calls what links a program")]
#[path = "../mind-macros/src/expand.rs"]
mod expand;
#[allow(dead_code, reason = "rustc calls what links a program")]
#[path = "../mind-macros/src/link/mod.rs"]
mod link;
#[path = "../mind-macros/src/report.rs"]
mod report;
#[path = "../mind-macros/src/transforms.rs"]
mod transforms;
#[path = "../mind-macros/src/warnings.rs"]
mod warnings;
#[path = "../mind-macros/src/watch.rs"]
mod watch;
