//! Lowers the AST to Core IR. Resolves names, types, calls and literals, and reports all errors in them in the user's
//! terms.
//!
//! A body is lowered in one loop over its nodes. An error makes the value of its node poison. A node that uses poison
//! is poison too, and no error is reported for it.

use self::program::ProgramLowering;
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
    Constant, ConstantValue, EinsumOrder, Function, GradientRequest, GradientTarget, Local, Lowered,
    LoweredModule, Origin, Parameter, Seen, Template,
};
pub use declarations::names::{nearest, undefined};
pub use declarations::structs::{Struct, StructField};
pub use declarations::structure::{Axis, Leaf, StructType, Structure, stack_alias, stack_name};
pub use program::library::{ForeignBlock, ForeignItem, ForeignName, Imported, ImportedItem, Library};

/// The names of the language's functions, in the order of their table.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}

/// The names of the parameters of a function of the language.
pub fn parameter_names(function: &str) -> Option<&'static [&'static str]> {
    builtins::find(function).map(|builtin| builtin.formals)
}

/// Lowers a program. A program that is an expression has no functions here: [`crate::open`] lowers it. Only the names
/// of imported items are known, so calls of them are not checked.
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
/// The second element holds every error; the first then holds the valid parts.
pub fn lower(program: &Program) -> (Lowered, Diags) {
    lower_as(program, ProgramLowering::default())
}

/// Lowers a program with the functions that it imports, each inlined where it is called.
///
/// # Errors
/// As for [`lower()`].
pub fn lower_with(program: &Program, library: &Library) -> (Lowered, Diags) {
    lower_as(program, ProgramLowering { library: Some(library), ..ProgramLowering::default() })
}

/// Lowers a program for a picture. Each call of a function becomes one instruction, which holds the body of the
/// function with its name ([`Nested::function`](crate::ir::Nested::function)). The results are those of [`lower()`],
/// but products in a function that a loop calls stay in the loop.
///
/// ```
/// use mind_core::surface::{lower_with_calls, parse};
/// let (program, _) = parse("fn f(x: f32[3]) -> f32[3] { nn::softmax(x, axis = 0) }".parse().unwrap());
/// let (lowered, _) = lower_with_calls(&program);
/// let module = &lowered.functions[0].program.as_ref().unwrap().module;
/// assert_eq!(module.nested().next().unwrap().function(), Some("nn::softmax"));
/// ```
///
/// # Errors
/// As for [`lower()`].
pub fn lower_with_calls(program: &Program) -> (Lowered, Diags) {
    lower_as(program, ProgramLowering { keeps_calls: true, ..ProgramLowering::default() })
}

fn lower_as(program: &Program, options: ProgramLowering<'_>) -> (Lowered, Diags) {
    match program {
        Program::Block(block) => program::lower_block(block, options),
        Program::Closure(closure) => program::lower_closure(closure, options),
        Program::Expression(_) => (Lowered::default(), Diags::new()),
    }
}
