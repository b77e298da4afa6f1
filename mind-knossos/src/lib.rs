//! The front-end of Knossos, the second language of [mind-dsl](https://docs.rs/mind-dsl): S-expressions with tensors of
//! any structure, control flow and recursion.
//!
//! This crate is a part of `mind-dsl`, and programs depend on `mind-dsl` instead. Its macros `ks!` and `include_ks!`, and
//! the command `mind ks`, call this crate. Diagnostics and their codes are those of `mind-core`.
//!
//! A text is read as nested lists (`read`), checked, and translated to functions of a small typed IR ([`ir`]). The
//! reference interpreter ([`interp`]) runs this IR, and derivatives are generated in it. [`verify`] checks the
//! invariants of the IR and [`print()`] prints it. [`emit`] writes it as Rust. `docs/knossos.md` describes the language.
//!
//! `testing`, with the feature of that name, has random programs and checks of derivatives.
//!
//! ```
//! use mind_knossos::{check, interp::{Options, run}};
//!
//! let program = check("(def square Float (x : Float) (mul x x)) (def main Float () (square 3.0))")?;
//! let main = program.overloads("main")[0];
//! let outcome = run(&program, main, &[], &Options::default()).expect("nothing fails");
//! assert_eq!(outcome.value.to_string(), "9.0");
//! # Ok::<(), mind_core::diag::Diags>(())
//! ```
#![forbid(unsafe_code)]

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
#[cfg(feature = "testing")]
pub mod testing;
pub mod types;
mod verify;

pub use bind::{Binding, Role};
pub use grad::MAX_DERIVED;
pub use ir::{FunctionId, Program};
pub use print::print;
pub use read::MAX_NESTING;
pub use verify::{Fault, verify};

use std::collections::BTreeSet;

use mind_core::diag::Diags;

use self::types::TypeId;

/// Reads and checks a text.
///
/// # Errors
/// Every independent error, at its position in the text.
pub fn check(text: &str) -> Result<Program, Diags> {
    check_bound(text, &[])
}

/// Reads and checks a text in which some functions are Rust functions.
///
/// # Errors
/// Every independent error: an error of the text at its position there, an error of a binding at its site.
pub fn check_bound(text: &str, bindings: &[Binding]) -> Result<Program, Diags> {
    let mut program = elaborate::elaborate(text)?;
    program.bind(bindings)?;
    program.define_by_prelude();
    program.complete()?;
    Ok(program)
}

impl Program {
    /// Checks an expression over the program's functions, such as `(f 1.0 (Vec_init 2.0))`, and adds a function without
    /// parameters that computes it.
    ///
    /// # Errors
    /// Every independent error, at its position in the expression.
    pub fn expression(&mut self, text: &str) -> Result<FunctionId, Diags> {
        let id = elaborate::elaborate_expression(self, text)?;
        self.complete()?;
        Ok(id)
    }
}

/// Every overload of the prelude: its name, its parameter types and its result type.
pub fn prelude_overloads() -> impl Iterator<Item = (&'static str, &'static [TypeId], TypeId)> {
    prelude::names()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .flat_map(|name| prelude::overloads(name).map(move |(parameters, result)| (name, parameters, result)))
}

/// Every function that programs can use without defining it: the primitives and the prelude.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    primitives::PRIMITIVES.iter().map(|(name, _)| *name).chain(prelude::names())
}
