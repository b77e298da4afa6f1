//! Knossos IR, a second language: S-expressions with tensors of any structure, control flow and recursion.
//!
//! A text is read to nested lists (`read`), checked and turned into functions of a small typed IR ([`ir`]), which
//! the reference interpreter runs ([`interp`]) and which derivatives are made of and in. [`verify`] checks what the IR
//! promises, [`print()`] shows it. `docs/knossos.md` describes the language.
//!
//! ```
//! use mind_core::knossos::{check, interp::{Options, run}};
//!
//! let program = check("(def square Float (x : Float) (mul x x)) (def main Float () (square 3.0))")?;
//! let main = program.overloads("main")[0];
//! let outcome = run(&program, main, &[], &Options::default()).expect("nothing fails");
//! assert_eq!(outcome.value.to_string(), "9.0");
//! # Ok::<(), mind_core::diag::Diags>(())
//! ```

mod bind;
mod build;
mod elaborate;
pub mod emit;
mod grad;
pub mod interp;
pub mod ir;
mod names;
mod opt;
pub mod prelude;
mod primitives;
mod print;
mod read;
pub mod rules;
pub mod sample;
pub mod scalars;
pub mod types;
mod verify;

pub use bind::{Binding, Role};
pub use grad::MAX_DERIVED;
pub use ir::{FunctionId, Program};
pub use print::print;
pub use read::MAX_NESTING;
pub use verify::{Fault, verify};

use std::collections::BTreeSet;

use self::types::TypeId;
use crate::diag::Diags;

/// Reads a text and checks it.
///
/// # Errors
/// Every independent mistake, at its place in the text.
pub fn check(text: &str) -> Result<Program, Diags> {
    check_bound(text, &[])
}

/// Reads a text, some of whose functions are Rust functions, and checks it.
///
/// # Errors
/// Every independent mistake: of the text at its place there, of a binding where it is written.
pub fn check_bound(text: &str, bindings: &[Binding]) -> Result<Program, Diags> {
    let mut program = elaborate::elaborate(text)?;
    program.bind(bindings)?;
    program.define_by_prelude();
    program.complete()?;
    Ok(program)
}

impl Program {
    /// Checks an expression over the program's functions, as `(f 1.0 (Vec_init 2.0))`, and adds a function without
    /// parameters that makes it.
    ///
    /// # Errors
    /// Every independent mistake, at its place in the expression.
    pub fn expression(&mut self, text: &str) -> Result<FunctionId, Diags> {
        let id = elaborate::elaborate_expression(self, text)?;
        self.complete()?;
        Ok(id)
    }
}

/// Every overload of the prelude: its name, the types of its parameters, and of its result.
pub fn prelude_overloads() -> impl Iterator<Item = (&'static str, &'static [TypeId], TypeId)> {
    prelude::names()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .flat_map(|name| prelude::overloads(name).map(move |(parameters, result)| (name, parameters, result)))
}

/// Every function that programs have without defining it: the primitives and the prelude.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    primitives::PRIMITIVES.iter().map(|(name, _)| *name).chain(prelude::names())
}
