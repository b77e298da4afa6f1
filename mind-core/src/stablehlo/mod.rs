//! StableHLO output: the text of a module for known extents, which XLA and other engines compile.
//!
//! [`print()`] writes one function `main`, whose arguments are the inputs of the module and whose results are its
//! outputs, both in order. Every operation is lowered, including those of gradients, except calls of Rust functions.
//! The [row](crate::map::Row::hlo) of an elementwise function says how it is lowered.
//!
//! # What the text promises
//!
//! - **Extents** are numbers, since XLA's CPU backend refuses symbols. Each symbol of the module needs an extent.
//! - **Precision** of products and convolutions is `HIGHEST`, so that no engine rounds their operands, unless the
//!   options name a lower [`Precision`], or [`Compute::Bf16`], which rounds them on every engine.
//! - **Updates** are donated: an input that an output [updates](Update) has `tf.aliasing_output`, and an engine that
//!   knows the attribute reuses its memory.
//! - **Layouts** over several devices use Shardy's dialect `sdy`, and are written only if a [`Mesh`] is given. The
//!   engine chooses the layouts of intermediate values. Results are whole on every device, except those that update a
//!   split input.
//! - **Names** of inputs are their locations: `loc("x")`.
//! - **Dialects** are `stablehlo`, `func` and, for functions that StableHLO does not have (`erf`, `lgamma`, `sinh`, …),
//!   `chlo`, which XLA and IREE read.
//!
//! # How engines differ
//!
//! Programs that stop with an error here continue in an engine, since StableHLO has no errors:
//!
//! - A gathered index out of range, E6001 here, is clamped. Rows that are added at such an index are dropped.
//! - An integer divided by 0, E6010 here, gives a number that the engine chooses.
//! - `inspect` shows nothing.
//!
//! Maxima and minima keep NaN by comparisons and selections, since `stablehlo.maximum` drops it in XLA's plugin for
//! CPUs. A quotient of quotients is lowered to a product with a reciprocal, since XLA merges divisions into one, whose
//! divisor may overflow or underflow.
//!
//! Sums are rounded in the engine's order of addition, and elementwise functions by the engine's kernels. XLA's
//! derivatives of `digamma` of the fifth order and up are wrong below -8.
//!
//! ```
//! use mind_core::{build::Builder, canon::canonicalise, ir::Op, map::Map, ops::Profile, stablehlo};
//! use mind_core::{ty::{DType, Shape, Type}, verify::verify};
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

mod decompositions;
mod elements;
mod extents;
mod fourier;
mod lower;
mod matrices;
mod mesh;
mod ordering;
mod pool;
mod precision;
mod reductions;
mod rows;
mod tensor;
mod window;
mod writer;

pub use mesh::Mesh;
pub use precision::{Compute, Precision};

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

/// The options for writing a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The extent of each symbol.
    pub extents: BTreeMap<Symbol, i64>,
    /// The outputs that update inputs.
    pub updates: Vec<Update>,
    /// The layout of inputs over devices, if there are several.
    pub mesh: Option<Mesh>,
    /// The precision of products and convolutions of `f32`.
    pub precision: Precision,
    /// The type in which products and convolutions of `f32` are computed.
    pub compute: Compute,
}

/// The reason why a module cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// E2003: all symbols without an extent.
    #[error("no extent is given for {}", quoted(.0))]
    Open(Vec<Symbol>),
    /// E2002: all names of extents that are not symbols of the module.
    #[error("the program has no symbol {}", quoted(.0))]
    Unknown(Vec<Symbol>),
    /// Extents that the module cannot have: E3006 and E6009, or E6004 for a tensor with more elements than 64 bits can
    /// count.
    #[error("{}", .0.message)]
    Extents(RunError),
    /// A mesh that is invalid or does not fit the inputs: E2002 for an unknown name, E2007 for an input of another
    /// rank, E2008 for a repeated axis, E3006 for an axis without devices, E6004 for more devices than 64 bits can
    /// count, E6009 for an extent that the devices do not divide.
    #[error("{}", .0.message)]
    Mesh(RunError),
    /// E6010: all Rust functions that the module calls.
    #[error("Rust functions cannot be lowered to StableHLO: {}", quoted(.0))]
    External(Vec<Arc<str>>),
}

impl Error {
    /// The stable error code.
    pub const fn code(&self) -> Code {
        match self {
            Self::Open(_) => Code::E2003,
            Self::Unknown(_) => Code::E2002,
            Self::Extents(error) | Self::Mesh(error) => error.code,
            Self::External(_) => Code::E6010,
        }
    }
}

/// Returns the text of a module.
///
/// The text depends on the module and the options alone. Its length is proportional to the number of instructions and
/// of elements of constants.
///
/// # Errors
/// See [`Error`].
///
/// # Panics
/// If an update names an input or an output that does not exist, or two of different types.
pub fn print(module: &Canonical, options: &Options) -> Result<String, Error> {
    described(module, options).map(|described| described.text)
}

/// The text of a module, and the description of its arguments and results that running it requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The text, as [`print()`] returns it.
    pub text: String,
    /// The axes of the mesh in order: name and number of devices; empty for one device. Devices are counted along the
    /// last axis first.
    pub axes: Vec<(Arc<str>, i64)>,
    /// The arguments in order.
    pub arguments: Vec<ProgramArgument>,
    /// The results in order.
    pub results: Vec<ShardedType>,
}

/// An argument of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramArgument {
    /// The name in the program: `x`, `net.w1`.
    pub name: Arc<str>,
    /// Its type and layout.
    pub placed: ShardedType,
    /// The position of the result that updates it and reuses its memory.
    pub updated: Option<usize>,
}

/// The type of a tensor and its layout on the devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardedType {
    /// The element type.
    pub dtype: DType,
    /// Its extents before it is split.
    pub extents: Vec<i64>,
    /// For each dimension, the mesh axis that splits it evenly.
    pub split: Vec<Option<Arc<str>>>,
}

/// As [`print()`], with the description of the arguments and results.
///
/// # Errors
/// The errors of [`print()`].
///
/// # Panics
/// In the same cases as [`print()`].
pub fn described(module: &Canonical, options: &Options) -> Result<Described, Error> {
    let foreign = externals(module);
    if !foreign.is_empty() {
        return Err(Error::External(foreign));
    }
    let extents = extents::check(module, &options.extents)?;
    lower::module(module, &extents, options)
}

/// The Rust functions that a module calls, in loops too, sorted and without repetitions.
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

/// A name in quotes, with the escapes of MLIR.
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
