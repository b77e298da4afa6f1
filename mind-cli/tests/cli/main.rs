//! The `mind` command as a user drives it.

mod bench;
mod book;
mod check;
mod codes;
mod convert;
mod explain;
mod fmt;
mod grad;
mod graph;
mod help;
mod ks;
mod new;
mod run;
mod stats;
mod support;
mod xla;
