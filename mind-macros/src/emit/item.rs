//! What is emitted of a function.

use mind_core::{dim::Dim, ir::ValueId, plan::Plan, surface::lower::Structure};
use proc_macro2::{Ident, Span, TokenStream};

use super::{outline::Lengths, root::Root, watched::WatchedText};

/// A function that is ready to be written as Rust.
pub struct Item<'a> {
    /// Where the facade is.
    pub root: &'a Root,
    /// Doc comments and attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// The function's name.
    pub name: Ident,
    /// The declared symbols.
    pub symbols: Vec<Ident>,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The result; its leaves are the plan's results, in order.
    pub result: Structure,
    /// What runs.
    pub plan: &'a Plan,
    /// What the user calls a value of the planned module.
    pub value_name: &'a dyn Fn(ValueId) -> Option<String>,
    /// Where the user writes a value of the planned module.
    pub value_span: &'a dyn Fn(ValueId) -> Option<Span>,
    /// What is told of a value of the planned module that is watched.
    pub value_said: &'a dyn Fn(ValueId) -> WatchedText,
    /// The constants of the module.
    pub constants: Constants,
    /// What other blocks import the function by.
    pub import: TokenStream,
    /// What the user calls it with.
    pub arguments: Arguments,
    /// How long functions of what runs may be.
    pub lengths: Lengths,
}

/// What the user calls a function with where it takes tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Tensors and views of them, by `&TensorRef`.
    Tensors,
    /// Whatever the run time reads as one. The function is generic then, which the value of a closure cannot be.
    Any,
}

impl Arguments {
    /// Those of functions that are items.
    pub const OF_ITEMS: Self = if cfg!(feature = "ndarray") { Self::Any } else { Self::Tensors };
}

/// A parameter.
#[derive(Clone)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// Its type: a tensor, a number or a struct; its leaves are inputs of the plan, in order.
    pub structure: Structure,
    /// Whether it is `&mut`.
    pub update: bool,
    /// Where its declaration ends.
    pub end: Span,
}

/// What the module of a function tells.
pub struct Constants {
    /// The Core IR of the function as text.
    pub core_ir: String,
    /// The same as MIC.
    pub mic: String,
    /// Which inputs of the module its last outputs update.
    pub updates: Vec<usize>,
    /// The number of elements in the parameters.
    pub params: Dim,
    /// The arithmetic operations of a call.
    pub flops: Dim,
}
