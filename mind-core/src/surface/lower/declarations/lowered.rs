//! What a program means: the functions with their interfaces and modules, in types that every later phase reads.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::{Ident, TokenStream};

use super::structs::Struct;
use super::structure::Structure;
use crate::diag::{Diag, Site};
use crate::grad::{AutodiffError, Wrt};
use crate::ir::{Module, ValueId};
use crate::surface::ast::Plain;

/// What a program means.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The constants, in source order.
    pub constants: Vec<Constant>,
    /// The structs, in source order.
    pub structs: Vec<Struct>,
    /// The functions, in source order; a closure is one function named `closure`. A function is missing where its
    /// signature makes no sense.
    pub functions: Vec<Function>,
    /// The templates, in source order.
    pub templates: Vec<Template>,
}

/// A template: what other blocks import it by. Nothing of it is compiled by itself.
#[derive(Clone, Debug)]
pub struct Template {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or nothing.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Whether a mistake in it has been reported.
    pub broken: bool,
}

/// A constant of a block.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub` or nothing.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: ConstantValue,
}

/// The value of a constant.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// Of a dimension.
    Dim(i64),
    /// Of anything else.
    Plain(Plain),
}

/// A function: its interface, and the module that computes it.
#[derive(Clone, Debug)]
pub struct Function {
    /// Doc comments and other attributes to be passed on, as written.
    pub attributes: TokenStream,
    /// `pub` or nothing.
    pub visibility: TokenStream,
    /// Its name.
    pub name: Ident,
    /// The symbolic dimensions, in the order they are declared; each is an extent of a parameter or of a field of one.
    pub symbols: Vec<Ident>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub result: Structure,
    /// The inputs, by position, that the function assigns to; ascending.
    pub updates: Vec<usize>,
    /// The fields of imported structs that it names and that may be private there.
    pub seen: Vec<Seen>,
    /// The gradient function that `#[grad(…)]` asks for.
    pub gradient: Option<GradientRequest>,
    /// What it computes; nothing where a mistake in it has been reported.
    pub program: Option<Source>,
    /// What its body binds, in source order; not what the templates bind that it calls.
    pub locals: Vec<Local>,
}

/// A name that a body binds, for editors.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name.
    pub name: Ident,
    /// The type of what it is bound to, as messages write it; "unknown" where that makes no sense.
    pub ty: String,
    /// What that is called in Rust if it is a struct.
    pub item: Option<Ident>,
}

/// A field of an imported struct that a function names. Rust is to say whether it may.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What the struct is called in Rust.
    pub alias: Ident,
    /// How many dimensions it takes.
    pub dims: usize,
    /// The field, where it is named.
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
    /// What to differentiate by, in the order of the gradients.
    pub targets: Vec<GradientTarget>,
    /// Whether the gradients come as a tuple even where there is one.
    pub tuple: bool,
    /// The list in the attribute.
    pub site: Site,
}

/// What a gradient is by: a parameter, or a field of one.
#[derive(Clone, Debug)]
pub struct GradientTarget {
    /// Its type, which is that of the gradient.
    pub structure: Structure,
    /// Which inputs it is.
    pub inputs: Range<usize>,
    /// Whether those that do not reach the output have gradients of zeros rather than being errors.
    pub zero_ok: bool,
    /// As it is listed: `w`, `p.w`.
    pub name: String,
    /// Where it is listed.
    pub site: Site,
}

impl GradientTarget {
    /// The inputs to differentiate by.
    pub fn wrt(&self) -> impl Iterator<Item = Wrt> {
        let zero_ok = self.zero_ok;
        self.inputs.clone().map(move |input| Wrt { input: ValueId::new(input), zero_ok })
    }

    /// What is said where a function has no gradient by what `targets` list: at that of them which is at fault, else at
    /// `whole`. Paths through a module are left out, which hold no names of the program.
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
                let help =
                    format!("leave it out, or write `zero_ok {}` for a gradient of zeros", target.name);
                diag.help(help)
            }
            None if text.contains("needed a single") => {
                diag.help("reduce the result, as `mean(…)` or `sum(…)`")
            }
            None => diag,
        }
    }
}

/// A module and where each of its instructions comes from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Inputs: the parameters, a struct as its fields in order, named as `p.w`. Outputs: the leaves of the result in order, then the final versions of
    /// [`Function::updates`].
    pub module: Module,
    /// The place of each instruction; of an inlined one, of the call.
    pub sites: Vec<Site>,
    /// What the program calls each value: the name that a `let` binds it to first.
    pub names: Vec<Option<String>>,
    /// Where values of derivatives come from that are called; other values come from their place.
    pub derived: BTreeMap<ValueId, Origin>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// What computes it; of a value that a derivative makes, what it is made for.
    pub site: Site,
    /// Whether a derivative makes it.
    pub derivative: bool,
}

impl Source {
    /// Where a value comes from.
    pub fn origin(&self, value: ValueId) -> Origin {
        let own = || Origin { site: self.sites[value.index()], derivative: false };
        self.derived.get(&value).copied().unwrap_or_else(own)
    }
}
