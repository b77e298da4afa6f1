//! The `mind` command as a user drives it.

mod bench;
mod book;
mod check;
mod codes;
mod convert;
mod corpus;
mod explain;
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
