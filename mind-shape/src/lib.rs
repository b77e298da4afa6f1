//! The shape rules of the mind tensor language as `const fn`: no_std, no dependencies.
//!
//! One rule an operation, in [`rules`]: from the [`Type`]s of the operands and the attributes to the type of the result, or
//! to the [`Failure`] that says which rule is broken. An extent that is not known when the program is compiled is
//! [`UNKNOWN`]: what can be checked without it is checked, ranks always, and the rest when the program runs, where the
//! same rules run on the real extents. [`or_fail`] stops on a failure with the message that the compiler gives for the same
//! mistake in a program whose types it knows; in a `const` that is an error of the compilation:
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
//! The module [`extent`] has the rules on single extents and lists of axes. The compiler calls those wherever extents are
//! literal; that its own rules, which know symbols too, agree with the ones here on every operation, message included, is what
//! the tests `shape_rules` of `mind-core` show. The module [`loops`] has the sizes that emitted loops and the run time share, [`write_in_brackets`] the text of
//! arrays that the run time and the command share.
#![no_std]
#![forbid(unsafe_code)]

/// The value of a result, or out with its failure: `?` is not for `const fn`.
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
mod ty;
mod words;
mod writer;

pub use brackets::write_in_brackets;
pub use element::{DType, Kind, names};
pub use extent::{
    AxisFault, SliceFault, broadcast_extent, check_axes, check_permutation, element_count, same_extent,
    same_padding, slice_extent, window_extent,
};
pub use failure::{Failure, TypeResult, Written};
pub use message::{Context, Operand, or_fail};
pub use text::Text;
pub use ty::{MAX_RANK, Type, UNKNOWN};
