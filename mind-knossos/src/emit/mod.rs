//! Emits programs as Rust.
//!
//! Every reachable function becomes a Rust function in a hidden module. An exported function gets two more, `f` and
//! `try_f` (`interface`). The generated code refers to `mind_rt::knossos`.
//!
//! A value of the IR is represented by a tree of Rust values (`repr`). Tuples are split into their members, and a
//! tensor of tuples is represented as a tuple of tensors (`kinds`). A leaf is therefore a number, a truth value, a
//! string, a tape, or a tensor of these. A leaf that owns memory is in a variable and is read through a view of it. It
//! is moved if nothing reads it afterwards, else copied.

mod body;
mod bound;
mod calls;
mod exports;
mod hoist;
mod instructions;
mod interface;
mod kinds;
mod loops;
pub(super) mod names;
mod options;
mod placeholders;
mod places;
mod repr;
mod strided;
mod structure;
mod tapes;
mod turns;

use std::fmt::Write;

pub use exports::{Export, Request, compile, exports};
pub use options::Options;

use crate::ir::Program;
use calls::Reached;
use kinds::Kinds;

/// Emits a program as Rust: items that define its exports.
///
/// ```
/// use mind_knossos::{check, emit::{Options, Request, emit, exports}};
///
/// let mut program = check("(def square Float (x : Float) (mul x x))")?;
/// let exports = exports(&mut program, &Request::default()).expect("everything there can be exported");
/// let rust = emit(&program, &exports, &Options::default());
/// assert!(rust.contains("pub fn square(x: f64) -> f64"));
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn emit(program: &Program, exports: &[Export], options: &Options) -> String {
    let reached = Reached::from(program, exports.iter().map(|export| export.function));
    let kinds = Kinds::new(program, options);
    let Options { root, module, .. } = options;
    // The generated code follows the program and not Rust's conventions, and users cannot change it.
    let mut text = format!(
        "#[doc(hidden)] #[allow(warnings, clippy::all)] pub mod {module} {{\n\
         use {root}::knossos::{{self as k, Array as _, Nest as _, Grow as _, MultiplyAdd as _, Show as _, Zeros as _}};\n\
         use {root}::{{Tensor, TensorRef}};\n\
         use {root}::std::{{self, boxed::Box, option::Option::{{self, None, Some}}, prelude::v1::*, \
         result::Result::{{self, Err, Ok}}, string::String, vec::Vec}};\n"
    );
    text.push_str(&tapes::tapes(&kinds, &reached));
    text.push_str(&bound::rust_functions(&kinds, &reached));
    for id in &reached.order {
        body::function(&kinds, &reached, *id, &mut text);
    }
    for export in exports {
        text.push_str(&interface::functions(&kinds, &reached, export));
    }
    text.push_str("}\n");
    let names: Vec<_> = exports.iter().map(|export| format!("{0}, try_{0}", export.name)).collect();
    if !names.is_empty() {
        // Both forms of each function are exported, but few programs call both.
        let _ = writeln!(
            text,
            "#[doc(inline)] #[allow(unused_imports)] pub use {module}::{{{}}};",
            names.join(", ")
        );
    }
    text
}
