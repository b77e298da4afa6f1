//! How a program is written as Rust.

use crate::knossos::{interp::Precision, ir::Position};

/// How a program is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a Float is.
    pub precision: Precision,
    /// The program's file, for messages.
    pub file: String,
    /// Where the program begins in the file.
    pub start: Position,
    /// The path of what generated code may name, as `::mind::__private`.
    pub root: String,
    /// The name of the module that holds the functions, which no other in the same place may have.
    pub module: String,
    /// The Rust function of each binding, as an expression in a module within that module.
    pub bound: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            file: "program.ks".into(),
            start: Position { line: 1, column: 1 },
            root: "::mind::__private".into(),
            module: "__mind_ks".into(),
            bound: Vec::new(),
        }
    }
}
