//! The shape rules of the tensor language [mind-dsl](https://docs.rs/mind-dsl) as `const fn`: no_std, no dependencies.
//!
//! This crate is a part of `mind-dsl`: its compiler and its run time check shapes by these rules. Programs depend on
//! `mind-dsl` instead.
//!
//! Each operation has one rule in [`rules`]. A rule takes the [`Type`]s of the operands and the attributes. It returns
//! the type of the result, or the [`Failure`] that says which rule is broken. An extent that is unknown at compile time
//! is [`UNKNOWN`]. Ranks are always checked at compile time, and extents if they are known then. The same rules check
//! the other extents at run time.
//!
//! [`or_fail`] panics on a failure. The message is the one that the compiler reports for the same mistake in a program
//! whose types it knows. In a `const` the panic is a compile error:
//!
//! ```
//! use mind_shape::{Context, DType, Operand, Type, or_fail, rules};
//! const X: Type = Type::new(DType::F32, &[32, 784]);
//! const W: Type = Type::new(DType::F32, &[784, 256]);
//! const PRODUCT: Type = or_fail(
//!     rules::at(X, W),
//!     &Context { label: "@", operands: &[Operand::name("x", X), Operand::name("w", W)] },
//! );
//! assert_eq!(PRODUCT, Type::new(DType::F32, &[32, 256]));
//! ```
//!
//! ```compile_fail,E0080
//! use mind_shape::{Context, DType, Operand, Type, or_fail, rules};
//! const X: Type = Type::new(DType::F32, &[32, 784]);
//! const W: Type = Type::new(DType::F32, &[785, 256]);
//! // [E3003] `@`: inner dimensions differ, 784 and 785: x is f32[32, 784], w is f32[785, 256]
//! const PRODUCT: Type = or_fail(
//!     rules::at(X, W),
//!     &Context { label: "@", operands: &[Operand::name("x", X), Operand::name("w", W)] },
//! );
//! # let _ = PRODUCT;
//! ```
//!
//! The module [`extent`] contains the rules for single extents and lists of axes. The compiler calls them for literal
//! extents. The compiler's own rules also know symbols. The tests `shape_rules` of `mind-core` show that they agree
//! with the rules here on every operation, including messages. The module [`loops`] contains the sizes that emitted
//! loops and the run time share, and [`threads`] the rules that split work among threads. [`write_in_brackets`] writes arrays as text for the run time and the command.
#![no_std]
#![forbid(unsafe_code)]

/// The value of a result; returns from the function if it is a failure. It replaces `?`, which `const fn` does not
/// allow.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(failure) => return Err(failure),
        }
    };
}

#[macro_use]
mod element;

mod brackets;
pub mod extent;
mod failure;
pub mod loops;
mod message;
pub mod rules;
mod text;
pub mod threads;
mod ty;
mod words;
mod writer;

pub use brackets::write_in_brackets;
pub use element::{DType, Kind, names};
pub use extent::{
    AxisFault, SliceFault, broadcast_extent, check_axes, check_permutation, element_count, same_extent,
    same_padding, slice_extent, window_extent, window_span,
};
pub use failure::{Failure, TypeResult, Written};
pub use message::{Context, Operand, or_fail};
pub use text::Text;
pub use ty::{MAX_RANK, Type, UNKNOWN};
