//! The compiler behind `mind!` as a library: Core IR, the table of its operations, and the passes over it.
//!
//! # What a module is
//!
//! A [`Module`](ir::Module) is a flat list of instructions in SSA order, and a list of the values that are its results.
//! Each instruction makes one value, named by its position. It holds an operation with its attributes as typed fields
//! ([`Op`](ir::Op)), operands, which are earlier values, and the type of its result. A type is an element type and a
//! shape, whose extents are integers or polynomials over symbols ([`Dim`](dim::Dim)). Inputs come first and have unique
//! names. The only control flow is a loop that runs a nested module, with a guard for conditions ([`Scan`](ir::Scan)),
//! and no value is ever written to. A module has no source positions: front ends keep spans beside it.
//!
//! Each operation has one row in one table, [`ops`]: its shape and dtype rule, its cost, the origin of each extent, and
//! how tests sample it. The rows of elementwise functions and of reductions are derived from the rows of [`map`] and
//! [`reduce`], which are plain data. [`interp`] evaluates operations and [`grad`] differentiates them, each by one
//! match that the Rust compiler checks for completeness.
//!
//! A [`Builder`](build::Builder) builds a program, infers every type and refuses instructions that break a rule.
//! [`Module::from_definitions`](ir::Module::from_definitions) reads a program from definitions that declare their
//! types.
//!
//! ```
//! use mind_core::{
//!     canon::canonicalise,
//!     interp::{Array, run},
//!     build::Builder,
//!     ir::{Op, Reduction},
//!     map::Map,
//!     ops::Profile,
//!     reduce::Reduce,
//!     ty::{DType, Shape, Type},
//!     verify::verify,
//! };
//!
//! let mut b = Builder::new();
//! let x = b.input("x", Type::new(DType::F32, Shape::new(["N".into(), 2.into()])))?;
//! let square = b.push(Op::Map(Map::Mul), &[x, x])?;
//! let total = b.push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![1], keepdims: false }), &[square])?;
//! assert_eq!(b.ty(total).to_string(), "f32[N]");
//!
//! let module = verify(b.finish([total]), Profile::CoreV1).expect("a builder makes valid modules");
//! let module = canonicalise(module);
//! let results = run(&module, &[Array::new([1, 2], vec![3.0f32, 4.0])])?;
//! assert_eq!(results, [Array::new([1], vec![25.0f32])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What each phase promises
//!
//! Each phase has a type that only the function of the phase makes, so later code can index values without checks.
//!
//! | type | made by | promise |
//! | --- | --- | --- |
//! | [`Module`](ir::Module) | anyone | none, unless a builder made it |
//! | [`Verified`](verify::Verified) | [`verify`](verify::verify()) | operands are earlier values, inputs come first, every declared type equals the inferred one, the inputs determine every symbol, the profile contains every operation, there is an output |
//! | [`Canonical`](canon::Canonical) | [`canonicalise`](canon::canonicalise) | also: each instruction has one form, nothing is unused, values are numbered densely; the results are the same bit for bit |
//!
//! After verification, only conditions on the values of symbols remain to be checked.
//! [`requirements`](verify::requirements) lists them, and [`interp::bind`] and [`interp::check_requirements`] check
//! them before anything is computed. After that a run can only fail because an index read from a tensor is out of
//! range, an integer is divided by 0, an external function fails, or memory runs out.
//!
//! A pass depends on its input alone. It reads no clock and no random numbers, and does not depend on the order of a
//! hash map.
//!
//! # The modules, in the order of the pipeline
//!
//! - [`map`], [`reduce`], [`cumulate`]: elementwise functions, reductions and cumulations, as data.
//! - [`diag`]: diagnostics and their codes, as data.
//! - [`dim`], [`ty`], [`data`]: extents, types, constant data.
//! - [`ir`], [`mod@build`], [`definitions`]: modules, their builder, and modules from parsed definitions.
//! - [`ops`], [`profile`]: the table of operations, and the sets of operations that a module may use.
//! - [`provenance`]: the origin of an extent, for messages.
//! - [`snippet`]: diagnostics of files, with their source lines.
//! - [`standard`]: the standard library, written in the language itself.
//! - [`surface`]: the language's syntax, and its lowering to Core IR.
//! - [`open`], [`written`]: expressions over Rust variables, whose types are not known yet, and their operations.
//! - [`verify`](mod@verify), [`canon`]: the first two phases.
//! - [`grad`], [`jacobian`](mod@jacobian), [`batch`](mod@batch), [`associative_scan`](mod@associative_scan),
//!   [`checkpoint`](mod@checkpoint): transforms of modules.
//! - [`interp`]: the reference interpreter, the oracle of the tests.
//! - [`memory`]: the memory limit of a run.
//! - [`opt`], [`plan`], [`loops`], [`stats`], [`pipeline`]: the optimiser, steps over memory, their loops, costs, and
//!   the sequence of phases.
//! - [`text`]: Core IR text and MIC, printed and parsed.
//! - [`random`]: random numbers for tests and samples.
//! - `stablehlo`, with the feature of that name: modules as text for XLA and other engines.
//! - `testing`, with the feature of that name: random modules.
#![forbid(unsafe_code)]

pub mod associative_scan;
pub mod batch;
pub mod build;
pub mod canon;
pub mod checkpoint;
pub mod cumulate;
pub mod data;
pub mod definitions;
pub mod diag;
pub mod dim;
pub mod grad;
pub mod interp;
pub mod ir;
pub mod jacobian;
pub mod loops;
pub mod map;
pub mod memory;
mod number;
pub mod open;
pub mod ops;
pub mod opt;
pub mod pipeline;
pub mod plan;
pub mod profile;
pub mod provenance;
pub mod random;
pub mod reduce;
#[cfg(test)]
#[path = "../../tests/support/sample.rs"]
mod sample;
pub mod snippet;
#[cfg(feature = "stablehlo")]
pub mod stablehlo;
pub mod standard;
pub mod stats;
pub mod surface;
mod symbols;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod ty;
pub mod verify;
pub mod written;
