//! From the syntax tree to Core IR: names, types, calls and literals are worked out here, and every mistake that has
//! to do with them is reported in the user's words.
//!
//! A body is lowered in one loop over its nodes. A mistake makes the value of its node poison; what uses
//! poison is poison and is not spoken of.

use super::ast::Program;
use crate::diag::Diags;

pub(crate) mod body;
pub(crate) mod builtins;
pub(crate) mod callees;
pub(crate) mod declarations;
pub(crate) mod program;
pub(crate) mod values;

#[cfg(test)]
mod tests;

pub(crate) use callees::callable::{moved, of_gradient};
pub use declarations::lowered::{
    Constant, ConstantValue, Function, GradientRequest, GradientTarget, Local, Lowered, Origin, Parameter,
    Seen, Source, Template,
};
pub use declarations::names::nearest;
pub use declarations::structs::{Struct, StructField};
pub use declarations::structure::{Axis, Leaf, StructType, Structure};
pub use program::library::{Foreign, ForeignBlock, ForeignItem, ForeignName, Imported, Library};

/// The names of the language's functions, in the order of their table.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}

/// The names of the parameters of a function of the language.
pub fn parameter_names(function: &str) -> Option<&'static [&'static str]> {
    builtins::find(function).map(|builtin| builtin.formals)
}

/// Lowers a program; one that is an expression has no functions and is lowered by [`crate::open`]. Of what it imports only
/// the names are known, so calls of it are not looked at.
///
/// ```
/// use mind_core::surface::{lower, parse};
/// let (program, _) = parse("fn f<N>(x: f32[N, 3], w: f32[3]) -> f32[N] { x @ w }".parse().unwrap());
/// let (lowered, diags) = lower(&program);
/// assert!(diags.is_empty());
/// assert_eq!(lowered.functions[0].program.as_ref().unwrap().module.insts().len(), 3);
/// ```
///
/// # Errors
/// The second part holds every mistake; the first is then what made sense.
pub fn lower(program: &Program) -> (Lowered, Diags) {
    match program {
        Program::Block(block) => program::lower_block(block, None),
        Program::Closure(closure) => program::lower_closure(closure, None),
        Program::Expression(_) => (Lowered::default(), Diags::new()),
    }
}

/// Lowers a program with the functions that it imports, each inlined where it is called.
///
/// # Errors
/// As for [`lower()`].
pub fn lower_with(program: &Program, library: &Library) -> (Lowered, Diags) {
    match program {
        Program::Block(block) => program::lower_block(block, Some(library)),
        Program::Closure(closure) => program::lower_closure(closure, Some(library)),
        Program::Expression(_) => (Lowered::default(), Diags::new()),
    }
}
