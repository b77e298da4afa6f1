//! Tests of the command `mind`, which run it as a process.

mod bench;
mod book;
mod check;
mod codes;
mod convert;
mod corpus;
mod explain;
#[path = "../../../mind-xla/tests/plugins/fake/compiled.rs"]
mod fake_plugin;
mod fmt;
mod grad;
mod graph;
mod help;
mod install;
mod ks;
mod new;
mod new_project;
mod run;
#[path = "../../../tests/support/sample.rs"]
mod sample;
mod stats;
mod support;
mod xla;
