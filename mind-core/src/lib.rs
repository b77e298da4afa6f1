//! The compiler behind `mind!` as a library: Core IR, what is known of each operation, and the passes over it.
//!
//! # What a module is
//!
//! A [`Module`](ir::Module) is a flat list of instructions in SSA order, and a list of the values that are its results.
//! Each instruction makes one value, named by its position. It holds an operation with its attributes as typed fields
//! ([`Op`](ir::Op)), operands, which are earlier values, and the type of its result: an element type and a shape whose
//! extents are integers or polynomials over symbols ([`Dim`](dim::Dim)). Inputs come first, each with a name of its
//! own. There is no control flow but loops over an axis, nothing is ever written to, and no place in a source text is kept: fronts keep spans
//! beside the module.
//!
//! What an operation is stands in one row of one table, [`ops`]: shape and dtype rule, cost, the origin of each extent,
//! how tests sample it. Rows of functions of elements and of reductions are made of those of [`map`] and [`reduce`],
//! which are plain data. What an operation computes and what it passes back stands in [`interp`] and [`grad`], each one
//! match that the Rust compiler checks to be whole.
//!
//! A program is built by a [`Builder`](build::Builder), which infers every type and refuses what breaks a rule, or read
//! from definitions that declare their types ([`Module::from_definitions`](ir::Module::from_definitions)).
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
//! Phases are types, and only a phase's own function makes one, so later code indexes without fear.
//!
//! | type | made by | promise |
//! | --- | --- | --- |
//! | [`Module`](ir::Module) | anyone | none, if not from a builder |
//! | [`Verified`](verify::Verified) | [`verify`](verify::verify()) | operands are earlier values, inputs come first, every declared type is the inferred one, the inputs give every symbol, operations are of the profile, there is an output |
//! | [`Canonical`](canon::Canonical) | [`canonicalise`](canon::canonicalise) | also: one way to write each instruction, nothing without use, values dense; same results to the bit |
//!
//! What verification cannot decide because only the symbols of a run do is left to that run, and nothing else is:
//! [`requirements`](verify::requirements) lists it, [`interp::bind`] and [`interp::check_requirements`] check it before
//! anything is computed. The one fault that can still occur is a gathered index out of range.
//!
//! A pass is a function of its input alone: no clock, no randomness, no order of a hash map.
//!
//! # The modules, in the order of the pipeline
//!
//! - [`map`], [`reduce`]: what is known of functions of elements and of reductions, as data.
//! - [`diag`]: codes and messages of mistakes, as data.
//! - [`dim`], [`ty`], [`data`]: extents, types, constant data.
//! - [`ir`], [`mod@build`], [`definitions`]: modules, their builder, and their assembly from texts.
//! - [`ops`]: the table of operations.
//! - [`provenance`]: where an extent comes from, for messages.
//! - [`snippet`]: mistakes in files, with the line they are on.
//! - [`standard`]: the library of the language, as text in it.
//! - [`surface`]: the language's syntax, and lowering it to Core IR.
//! - [`open`]: expressions among Rust variables, before their types are known.
//! - [`verify`](mod@verify), [`canon`]: the first two phases.
//! - [`grad`]: the module of the gradient of a module.
//! - [`interp`]: the reference interpreter, the oracle of every test.
//! - [`memory`]: how much of it a run may hold.
//! - [`opt`], [`plan`], [`loops`], [`stats`], [`pipeline`]: less work, steps over memory, how they loop, costs, and all phases
//!   in a row.
//! - [`text`]: Core IR text and MIC, printed and parsed.
//! - [`random`]: numbers for tests and samples.
//! - `knossos`, with the feature of that name: the second front-end, from its texts to Rust.
//! - `stablehlo`, with the feature of that name: modules as text for XLA and other engines.
//! - `testing`, with the feature of that name: random modules.
#![forbid(unsafe_code)]

pub mod build;
pub mod canon;
pub mod cumulate;
pub mod data;
pub mod definitions;
pub mod diag;
pub mod dim;
pub mod grad;
pub mod interp;
pub mod ir;
#[cfg(feature = "knossos")]
pub mod knossos;
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
