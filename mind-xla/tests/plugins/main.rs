//! Tests of programs on PJRT plugins: a fake plugin, compiled by the tests, and the real one that `MIND_PJRT_PLUGIN`
//! names.

mod cache;
mod engine;
mod errors;
#[path = "../../../tests/support/exact.rs"]
mod exact;
mod fake;
#[path = "fake/compiled.rs"]
mod fake_plugin;
mod files;
mod loader;
mod processes;
mod real;
mod special;
mod steps;
mod trace;
