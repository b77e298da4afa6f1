//! Options for emitting programs.

use crate::{interp::Precision, ir::Position};

/// Options for emitting a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// The precision of Floats.
    pub precision: Precision,
    /// The path of the program's file, for messages.
    pub file: String,
    /// The position of the program in the file.
    pub start: Position,
    /// The path that generated code refers to, such as `::mind::__private`.
    pub root: String,
    /// The name of the generated module. It must be unique in its scope.
    pub module: String,
    /// The Rust function of each binding, as an expression in a submodule of that module.
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
