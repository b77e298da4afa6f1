//! The input of the emitter for one function.

use mind_core::surface::ast::MemoryBound;
use mind_core::{dim::Dim, ir::ValueId, plan::Plan, surface::lower::Structure};
use proc_macro2::{Ident, Span, TokenStream};

use super::{outline::Lengths, root::Root, watched::WatchedText};

/// A function that is ready to be emitted as Rust.
pub struct Item<'a> {
    /// The path of the facade.
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
    /// The plan that the function runs.
    pub plan: &'a Plan,
    /// The user's name of a value of the planned module.
    pub value_name: &'a dyn Fn(ValueId) -> Option<String>,
    /// The span of a value of the planned module in the program.
    pub value_span: &'a dyn Fn(ValueId) -> Option<Span>,
    /// The description of a watched value of the planned module.
    pub watched_text: &'a dyn Fn(ValueId) -> WatchedText,
    /// The constants of the module.
    pub constants: Constants,
    /// The bound on the memory for temporaries.
    pub memory: Option<&'a MemoryBound>,
    /// The items by which other blocks import the function.
    pub import: TokenStream,
    /// The types of arguments that the function accepts for tensors.
    pub arguments: Arguments,
    /// The limits for the length of functions that run the plan.
    pub lengths: Lengths,
}

/// The types of arguments that a function accepts for tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Tensors and views of them, by `&TensorRef`.
    Tensors,
    /// Any type that the run time can read as a tensor. The function is then generic, so it cannot be used as the value
    /// of a closure.
    Any,
}

impl Arguments {
    /// The arguments of functions that are items.
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

/// The constants in the module of a function.
pub struct Constants {
    /// The Core IR of the function as text.
    pub core_ir: String,
    /// The same program as MIC.
    pub mic: String,
    /// The inputs of the module that its last outputs update.
    pub updates: Vec<usize>,
    /// The number of elements in the parameters.
    pub params: Dim,
    /// The arithmetic operations of a call.
    pub flops: Dim,
}
