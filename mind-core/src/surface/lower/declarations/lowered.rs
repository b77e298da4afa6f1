//! The result of lowering: functions with their interfaces and modules, in the types that every later phase reads.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::{Ident, TokenStream};

use super::structs::Struct;
use super::structure::Structure;
use crate::diag::{Diag, Site};
use crate::dim::{Bindings, Dim, Overflow};
use crate::grad::{AutodiffError, Wrt};
use crate::ir::{Module, ValueId};
use crate::surface::ast::{MemoryBound, Plain};

/// The result of lowering a program.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The constants, in source order.
    pub constants: Vec<Constant>,
    /// The structs, in source order.
    pub structs: Vec<Struct>,
    /// The functions, in source order; a closure is one function named `closure`. A function whose signature is invalid
    /// is missing.
    pub functions: Vec<Function>,
    /// The templates, in source order.
    pub templates: Vec<Template>,
}

/// A template, as other blocks import it. It is compiled only where it is called.
#[derive(Clone, Debug)]
pub struct Template {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Whether an error in it has been reported.
    pub broken: bool,
}

/// A constant of a block.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: ConstantValue,
}

/// The value of a constant.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// The value of a dimension.
    Dim(i64),
    /// The value of any other constant.
    Plain(Plain),
}

/// A function: its interface, and the module that computes it.
#[derive(Clone, Debug)]
pub struct Function {
    /// Doc comments and other attributes to be passed on, as written.
    pub attributes: TokenStream,
    /// `pub` or empty.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// The symbolic dimensions, in the order of their declaration. Each is an extent of a parameter or of a field of
    /// one.
    pub symbols: Vec<Ident>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub result: Structure,
    /// The positions of the inputs that the function assigns to, ascending.
    pub updates: Vec<usize>,
    /// The fields of imported structs that it names and that may be private in Rust.
    pub seen: Vec<Seen>,
    /// The gradient function that `#[grad(…)]` asks for.
    pub gradient: Option<GradientRequest>,
    /// The bound on the memory for temporaries that `#[memory(…)]` states, of the function and of its gradient.
    pub memory: Option<MemoryBound>,
    /// The module of its body; `None` where an error in it has been reported.
    pub program: Option<LoweredModule>,
    /// The names that its body binds, in source order, without those bound in templates that it calls.
    pub locals: Vec<Local>,
}

/// A name that a body binds, for editors.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name.
    pub name: Ident,
    /// The type of its value, as messages write it; "unknown" if the value is invalid.
    pub ty: String,
    /// The Rust name of its type, if that is a struct.
    pub item: Option<Ident>,
}

/// A field of an imported struct that a function names. Rust checks that the field is visible.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The Rust name of the struct.
    pub alias: Ident,
    /// The number of dimensions that the struct takes.
    pub dims: usize,
    /// The name of the field, with the span of its use.
    pub field: Ident,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// Whether it is `&mut`.
    pub update: bool,
    /// Its type: a tensor, a number or a struct of them.
    pub structure: Structure,
    /// Its declaration.
    pub site: Site,
}

/// A gradient function asked for by `#[grad(…)]`.
#[derive(Clone, Debug)]
pub struct GradientRequest {
    /// The variables to differentiate by, in the order of the gradients.
    pub targets: Vec<GradientTarget>,
    /// Whether the gradients are returned as a tuple even if there is only one.
    pub tuple: bool,
    /// The list in the attribute.
    pub site: Site,
}

/// A variable of differentiation: a parameter, or a field of one.
#[derive(Clone, Debug)]
pub struct GradientTarget {
    /// Its type, which is that of the gradient.
    pub structure: Structure,
    /// The inputs that it consists of.
    pub inputs: Range<usize>,
    /// Whether inputs that do not reach the output have gradients of zeros instead of being errors.
    pub zero_ok: bool,
    /// Its path as listed: `w`, `p.w`.
    pub name: String,
    /// Its site in the list.
    pub site: Site,
}

impl GradientTarget {
    /// The inputs to differentiate by.
    pub fn wrt(&self) -> impl Iterator<Item = Wrt> {
        let zero_ok = self.zero_ok;
        self.inputs.clone().map(move |input| Wrt { input: ValueId::new(input), zero_ok })
    }

    /// The error for a function that cannot be differentiated by `targets`. Its site is the target that causes it, or
    /// `whole` if no single one does. Paths through a module are left out of the text, because they contain no names of
    /// the program.
    pub(crate) fn diag(targets: &[Self], error: &AutodiffError, label: &str, whole: Site) -> Diag {
        let text = error.to_string();
        let text = text.split_once(": %").map_or(text.as_str(), |(problem, _)| problem);
        let listed = match error {
            AutodiffError::NotDifferentiable { input, .. } => {
                targets.iter().find(|target| target.inputs.contains(&input.index()))
            }
            AutodiffError::UnsupportedOp { .. }
            | AutodiffError::UnlimitedLoop
            | AutodiffError::UnsupportedType(_)
            | AutodiffError::Verification(_)
            | AutodiffError::InvalidAxis { .. }
            | AutodiffError::UnsupportedShape(_) => None,
        };
        let diag =
            Diag::new(error.code(), listed.map_or(whole, |target| target.site), format!("{label}: {text}"));
        match listed {
            Some(target) => {
                let help = format!("remove it, or write `zero_ok {}` for a gradient of zeros", target.name);
                diag.help(help)
            }
            None if text.contains("needed a single") => {
                diag.help("reduce the result, as in `mean(…)` or `sum(…)`")
            }
            None => diag,
        }
    }
}

/// A module, and the origins of its instructions.
#[derive(Clone, Debug)]
pub struct LoweredModule {
    /// The inputs are the parameters; a struct is passed as its fields in order, named as `p.w`. The outputs are the
    /// leaves of the result in order, then the final versions of [`Function::updates`].
    pub module: Module,
    /// The site of each instruction. An instruction of an inlined function has the site of the call.
    pub sites: Vec<Site>,
    /// The program's name for each value: the name of the first `let` that binds it.
    pub names: Vec<Option<String>>,
    /// The origins of the values of called derivatives. The origin of any other value is its site.
    pub derived: BTreeMap<ValueId, Origin>,
    /// Its calls of `einsum`, with those of inlined functions.
    pub einsums: Vec<EinsumOrder>,
}

/// The order of the products of an `einsum`.
#[derive(Clone, Debug)]
pub struct EinsumOrder {
    /// The text of the call: `ij,jk,kl->il`.
    pub equation: String,
    /// The order: `((ij,jk),kl)`.
    pub order: String,
    /// The number of multiplications.
    pub multiplications: Result<Dim, Overflow>,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The site of the value's computation. For a value made by a derivative, the site of the value for which it is
    /// made.
    pub site: Site,
    /// Whether a derivative makes it.
    pub derivative: bool,
}

impl EinsumOrder {
    /// The order in a call of the function, whose symbols stand for these dims.
    pub(crate) fn substitute(&self, bindings: &Bindings) -> Self {
        let multiplications = match &self.multiplications {
            Ok(count) => count.substitute(bindings),
            Err(overflow) => Err(*overflow),
        };
        Self { multiplications, ..self.clone() }
    }
}

impl LoweredModule {
    /// The origin of a value.
    pub fn origin(&self, value: ValueId) -> Origin {
        let own = || Origin { site: self.sites[value.index()], derivative: false };
        self.derived.get(&value).copied().unwrap_or_else(own)
    }
}
