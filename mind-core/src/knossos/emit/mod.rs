//! Programs as Rust.
//!
//! Every function that can be reached becomes a Rust function of a module that users do not see; those that are exported
//! have two more, `f` and `try_f` (`interface`). The text names what `mind_rt::knossos` has.
//!
//! A value of the IR is a tree of Rust values (`repr`): tuples are taken apart, a tensor of tuples is the tuple of its
//! members' tensors (`kinds`), so that a leaf is a number, a truth value, a text, a tape or a tensor of one of these.
//! A leaf that owns memory stands in a variable and is read through a view of it; it moves where nothing reads it
//! afterwards, and is copied where something does.

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
mod places;
mod repr;
mod strided;
mod structure;
mod tapes;
mod turns;

use std::fmt::Write;

pub use exports::{Export, Request, compile, exports};
pub use options::Options;

use super::ir::Program;
use calls::Reached;
use kinds::Kinds;

/// The Rust of a program: items that define what is exported.
///
/// ```
/// use mind_core::knossos::{check, emit::{Options, Request, emit, exports}};
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
    // What is written follows the program and not Rust's customs, and its author cannot change it.
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
        // Both forms of each function are there, and few programs call both.
        let _ = writeln!(
            text,
            "#[doc(inline)] #[allow(unused_imports)] pub use {module}::{{{}}};",
            names.join(", ")
        );
    }
    text
}
