//! StableHLO out: a module as text that XLA and other engines compile, for known extents.
//!
//! [`print()`] writes one function `main`, whose arguments are the inputs of the module and whose results are its outputs,
//! both in order. Every operation but calls of Rust functions is lowered, those of gradients too. How a function of
//! elements is lowered stands in its [row](crate::map::Row::hlo).
//!
//! # What the text promises
//!
//! - **Extents** are numbers: XLA's CPU refuses others. Each symbol of the module needs one.
//! - **Precision** of products and convolutions is `HIGHEST`, so that no engine rounds their operands.
//! - **Updates** are donated: an input that an output [updates](Update) has `tf.aliasing_output`, and an engine that knows
//!   the attribute reuses its memory.
//! - **Layouts** over several devices are Shardy's, of the dialect `sdy`, written only where a [`Mesh`] asks for them. The
//!   engine finds those of all other values but results, which are whole on every device where they update nothing split.
//! - **Names** of inputs are their locations: `loc("x")`.
//! - **Dialects** are `stablehlo`, `func` and, for functions that StableHLO does not have (`erf`, `lgamma`, `sinh`, …),
//!   `chlo`, which XLA and IREE read.
//!
//! # What an engine does otherwise
//!
//! Programs that stop here go on there, since StableHLO has no errors:
//!
//! - A gathered index out of range, E6001 here, is clamped; what would be added at one is left out.
//! - An integer divided by 0, E6010 here, gives a number that the engine chooses.
//! - What `inspect` shows is not shown.
//!
//! NaN is kept in maxima and minima by comparisons and selections, since `stablehlo.maximum` drops it in XLA's plugin for
//! CPUs. A quotient of quotients is a product with a reciprocal, since XLA merges divisions into one whose divisor may leave
//! the range.
//!
//! Sums round in the order of the engine, and functions of elements by its own kernels. XLA's derivatives of `digamma`
//! of the fifth order and up are wrong below -8.
//!
//! ```
//! use mind_core::{build::Builder, canon::canonicalise, ir::Op, map::Map, ops::Profile, stablehlo, ty::{DType, Shape, Type}, verify::verify};
//!
//! let mut b = Builder::new();
//! let x = b.input("x", Type::new(DType::F32, Shape::new(["N".into()])))?;
//! let y = b.push(Op::Map(Map::Exp), &[x])?;
//! let module = canonicalise(verify(b.finish([y]), Profile::CoreV1).expect("it is valid"));
//! let options = stablehlo::Options { extents: [("N".into(), 3)].into(), ..Default::default() };
//! let text = stablehlo::print(&module, &options)?;
//! assert!(text.contains("%0 = stablehlo.exponential %arg0 : tensor<3xf32>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod elements;
mod extents;
mod lower;
mod mesh;
mod ordering;
mod reductions;
mod rows;
mod tensor;
mod window;
mod writer;

pub use mesh::Mesh;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use crate::{
    canon::Canonical,
    diag::Code,
    dim::Symbol,
    interp::RunError,
    ir::{Module, Op, Own},
    plan::Update,
    ty::DType,
};

/// How a module is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The extent of each symbol.
    pub extents: BTreeMap<Symbol, i64>,
    /// Which outputs update which inputs.
    pub updates: Vec<Update>,
    /// How inputs are laid out over devices, where there are several.
    pub mesh: Option<Mesh>,
}

/// Why a module is not written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Symbols without an extent, all of them: E2003.
    #[error("no extent is given for {}", quoted(.0))]
    Open(Vec<Symbol>),
    /// Extents of symbols that the module does not have, all of them: E2002.
    #[error("the program has no symbol {}", quoted(.0))]
    Unknown(Vec<Symbol>),
    /// Extents that the module cannot have: E3006 and E6009, or E6004 for tensors that 64 bits do not count.
    #[error("{}", .0.message)]
    Extents(RunError),
    /// A mesh that is none or does not fit the inputs: E2002 for a name that is not there, E2007 for an input of another rank,
    /// E2008 for an axis that is there twice, E3006 for one without devices, E6004 for more of them than 64 bits count, E6009
    /// for an extent that the devices do not divide.
    #[error("{}", .0.message)]
    Mesh(RunError),
    /// Calls of Rust functions, all of them: E6010.
    #[error("functions of Rust have no StableHLO: {}", quoted(.0))]
    External(Vec<Arc<str>>),
}

impl Error {
    /// The stable number.
    pub const fn code(&self) -> Code {
        match self {
            Self::Open(_) => Code::E2003,
            Self::Unknown(_) => Code::E2002,
            Self::Extents(error) | Self::Mesh(error) => error.code,
            Self::External(_) => Code::E6010,
        }
    }
}

/// The text of a module.
///
/// It is a function of the module and the options alone, and its length is in proportion to the instructions and the
/// elements of constants.
///
/// # Errors
/// As [`Error`] says.
///
/// # Panics
/// If an update names an input or an output that is not there, or two of different types.
pub fn print(module: &Canonical, options: &Options) -> Result<String, Error> {
    described(module, options).map(|described| described.text)
}

/// A text, and what who runs it has to know of its arguments and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// As [`print()`] gives it.
    pub text: String,
    /// The axes of the mesh in order: name and number of devices; none for one device. Devices count along the last axis first.
    pub axes: Vec<(Arc<str>, i64)>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// The results in order.
    pub results: Vec<Placed>,
}

/// An argument of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What the program calls it: `x`, `net.w1`.
    pub name: Arc<str>,
    /// Its type and where it is.
    pub placed: Placed,
    /// The position of the result that updates it, to which its memory is given.
    pub updated: Option<usize>,
}

/// A tensor's type and how it lies on the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The element type.
    pub dtype: DType,
    /// All of its extents, before it is split.
    pub extents: Vec<i64>,
    /// For each dimension the mesh axis that splits it, evenly.
    pub split: Vec<Option<Arc<str>>>,
}

/// As [`print()`], with what the arguments and results are.
///
/// # Errors
/// As [`print()`].
///
/// # Panics
/// As [`print()`].
pub fn described(module: &Canonical, options: &Options) -> Result<Described, Error> {
    let foreign = externals(module);
    if !foreign.is_empty() {
        return Err(Error::External(foreign));
    }
    let extents = extents::check(module, &options.extents)?;
    lower::module(module, &extents, options)
}

/// The functions of Rust that a module calls, in loops too, each once, sorted.
fn externals(module: &Module) -> Vec<Arc<str>> {
    fn collect(module: &Module, functions: &mut BTreeSet<Arc<str>>) {
        for inst in module.insts() {
            if let Op::Own(Own::External(external)) = &inst.op {
                functions.insert(external.function().clone());
            }
            if let Some(body) = inst.op.called() {
                collect(body, functions);
            }
        }
    }
    let mut functions = BTreeSet::new();
    collect(module, &mut functions);
    functions.into_iter().collect()
}

/// A name between quotes, as MLIR reads it.
fn quoted_text(name: &str) -> String {
    let mut text = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => text.push(char::from(byte)),
            _ => write!(text, "\\{byte:02X}").expect("writing to a string cannot fail"),
        }
    }
    text + "\""
}

/// `` `N`, `M` ``
fn quoted(names: &[Arc<str>]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
