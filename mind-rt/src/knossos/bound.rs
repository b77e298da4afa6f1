//! Rust functions that programs call: their arguments, and the types that they may return.

use std::fmt::Display;

use super::view::View;
use crate::{Element, Nested, Rank, Tensor, TensorView};

/// The value that a bound function returned, or the text of its error.
pub type Returned<T> = Result<T, String>;

/// A type that a Rust function may return where a program declares the result type `T`: `T` itself, a tensor with
/// static extents, a tuple of such types, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a Rust function bound to an `edef` returns `{Self}`, and the program needs `{T}`",
    label = "returns `{Self}`, needed is `{T}` or a `Result` of it"
)]
pub trait IntoReturned<T> {
    /// Converts the returned value to a `T`.
    ///
    /// # Errors
    /// The text of an error that the function returned.
    fn into_returned(self) -> Returned<T>;
}

/// Converts the value that a bound function returned.
///
/// # Errors
/// The text of an error that the function returned.
#[inline(always)]
pub fn returned<T>(returned: impl IntoReturned<T>) -> Returned<T> {
    returned.into_returned()
}

macro_rules! itself {
    ($([$($parameter:tt)*] $ty:ty;)+) => {$(
        impl<$($parameter)*> IntoReturned<$ty> for $ty {
            #[inline(always)]
            fn into_returned(self) -> Returned<$ty> {
                Ok(self)
            }
        }
    )+};
}

itself! {
    [] f64;
    [] f32;
    [] i64;
    [] bool;
    [] String;
    [] ();
    [T] Vec<T>;
    [T, const N: usize] Nested<T, N>;
}

impl<T, R: IntoReturned<T>, E: Display> IntoReturned<T> for Result<R, E> {
    #[inline]
    fn into_returned(self) -> Returned<T> {
        self.map_err(|error| error.to_string())?.into_returned()
    }
}

macro_rules! members {
    ($(($($given:ident $wanted:ident),+))+) => {$(
        impl<$($wanted, $given: IntoReturned<$wanted>),+> IntoReturned<($($wanted,)+)> for ($($given,)+) {
            #[inline]
            #[allow(non_snake_case, reason = "a value of each type, under its name")]
            fn into_returned(self) -> Returned<($($wanted,)+)> {
                let ($($given,)+) = self;
                Ok(($($given.into_returned()?,)+))
            }
        }
    )+};
}

members! {
    (A0 B0)
    (A0 B0, A1 B1)
    (A0 B0, A1 B1, A2 B2)
    (A0 B0, A1 B1, A2 B2, A3 B3)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9, A10 B10)
    (A0 B0, A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9, A10 B10, A11 B11)
}

/// A view that a Rust function takes as a tensor.
pub trait AsTensor<'a> {
    /// The type of the tensor.
    type Tensor;

    /// The same elements as a tensor.
    fn into_tensor_view(self) -> Self::Tensor;
}

/// Converts a view to an argument of a Rust function.
#[inline(always)]
pub fn tensor_argument<'a, V: AsTensor<'a>>(view: V) -> V::Tensor {
    view.into_tensor_view()
}

macro_rules! tensor_of_rank {
    ($($rank:literal; $($extent:ident: $dim:ty),*;)+) => {$(
        impl<T: Element, S: Rank<$rank, Dynamic = ($($dim,)*)>> IntoReturned<Tensor<T, ($($dim,)*)>> for Tensor<T, S> {
            #[inline]
            fn into_returned(self) -> Returned<Tensor<T, ($($dim,)*)>> {
                self.try_into_shape().map_err(|error| error.to_string())
            }
        }

        impl<'a, T: Element> AsTensor<'a> for View<'a, T, [usize; $rank]> {
            type Tensor = TensorView<'a, T, ($($dim,)*)>;

            #[inline]
            fn into_tensor_view(self) -> Self::Tensor {
                let [$($extent),*] = self.size;
                TensorView::from_slice(($($extent,)*), self.data)
                    .expect("a view has as many elements as its extents say")
            }
        }
    )+};
}

tensor_of_rank! {
    1; a: usize;
    2; a: usize, b: usize;
    3; a: usize, b: usize, c: usize;
    4; a: usize, b: usize, c: usize, d: usize;
    5; a: usize, b: usize, c: usize, d: usize, e: usize;
    6; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize;
    7; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize;
    8; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize;
}
