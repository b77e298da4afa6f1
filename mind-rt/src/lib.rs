//! The run time of the tensor language [mind-dsl](https://docs.rs/mind-dsl): tensors, and the CPU kernels that
//! generated code calls.
//!
//! This crate is a part of `mind-dsl`, which re-exports its public types. Programs depend on `mind-dsl` instead.
//!
//! A [`Tensor`](struct@Tensor) owns its elements: contiguous, row-major and 64-byte aligned. Its type contains the
//! element type and a shape. A shape is a tuple of dims, each [`Const<784>`](Const) (static), `usize` (dynamic) or
//! named by [`dim!`]. The macro [`Tensor!`] writes the type. [`TensorView`] and [`TensorViewMut`] borrow elements. All
//! three dereference to [`TensorRef`], the type of function parameters.
//!
//! ```
//! use mind_rt::{Tensor, TensorRef, Shape};
//!
//! fn total<S: Shape>(x: &TensorRef<f32, S>) -> f32 {
//!     x.iter().sum()
//! }
//!
//! let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//! assert_eq!(x.dims(), [2, 3]);
//! assert_eq!(total(&x), 21.0);
//! assert_eq!(total(&x.as_dyn()), 21.0);
//! ```
//!
//! This crate does not depend on the compiler's IR. Generated code names items of [`mod@private`] only, which is sound
//! for any safe caller. `unsafe` is confined to `kernels`, `simd` and `tensor::storage`.
#![deny(unsafe_code)]

mod argument;
mod axis_count;
#[doc(hidden)]
pub mod bare;
mod convert;
mod dims;
mod element;
mod error;
mod external;
mod format;
mod gradcheck;
mod initialise;
pub mod inspect;
#[cfg(feature = "ndarray")]
mod interop;
mod kernels;
#[doc(hidden)]
pub mod knossos;
pub mod optim;
mod parallel;
mod parameters;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod profile;
mod random;
mod refusal;
#[cfg(test)]
#[path = "../../tests/support/sample.rs"]
mod sample;
mod shape;
mod simd;
mod stack;
mod support;
mod tensor;
mod view;
#[doc(hidden)]
pub mod watch;
mod workspace;

pub use axis_count::ranks;
pub use bare::{Expr, Inferred, Leaf};
pub use dims::{Const, Dim};
pub use element::{DType, Element, Elements, ElementsMut};
pub use error::Error;
pub use gradcheck::{Differing, GradientMismatch, gradcheck, gradcheck_some};
pub use initialise::Initialiser;
pub use knossos::Nested;
pub use parallel::{set_threads, threads};
pub use parameters::{Parameter, ParameterMut, Parameters};
#[cfg(feature = "rand_core")]
pub use random::RandCore;
pub use random::{Rng, Xoshiro256};
pub use shape::{Dims, MAX_RANK, Rank, Shape, StaticShape};
pub use simd::{SimdLevel, simd_level};
pub use tensor::axes::{Axis, InsertAxis, RemoveAxis, ReverseAxes};
pub use tensor::numeric::{Float, Numeric};
pub use tensor::ranges::Ranges;
pub use tensor::same_shape::SameShape;
pub use tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};
pub use workspace::{Workspace, trim};
