//! The operations that generic loops require of an element type.

use mind_shape::element_types;

use super::{
    Argument,
    reduce::{Over, OverElements, Reduced},
};
use crate::{
    element::{Arithmetic, DType, Element},
    kernels::{
        divided_by_zero,
        gather::{Index, Indices},
        internal_error,
        math::{Bits, Convert, Functions},
    },
};

/// An element type of values in expressions: every element type of the language, with the operations that all of them
/// have.
///
/// The Rust types do not express that element types must be equal. The rules do: they have refused every other program
/// at compile time. The casts here convert between Rust types that are therefore equal.
pub trait Datum: Element + Bits + Convert {
    /// The type itself. For `bool` it is another type, used where the rules allow only numbers.
    type Number: Number;

    /// The same elements as a slice of `U`, which must be the same element type.
    #[inline(always)]
    fn cast<U: Datum>(elements: &[Self]) -> &[U] {
        U::slice(Self::elements(elements)).unwrap_or_else(|| mixed())
    }

    /// The same elements as a mutable slice of `U`, which must be the same element type.
    #[inline(always)]
    fn cast_mut<U: Datum>(elements: &mut [Self]) -> &mut [U] {
        U::slice_mut(Self::elements_mut(elements)).unwrap_or_else(|| mixed())
    }
}

/// Declares `Number::pick`, with a parameter for each type of numbers.
macro_rules! constant {
    () => {
        element_types!(numbers => constant!);
    };
    ($($number:ident $variant:ident;)*) => {
        /// The parameter for this element type.
        #[inline(always)]
        fn pick<'a>($($number: &'a [$number]),*) -> &'a [Self] {
            match Self::DTYPE {
                $(DType::$variant => $number::cast($number),)*
                DType::Bool => refused(),
            }
        }
    };
}

/// The operations of the language on one number, for every numeric type. Where a type does not have an operation, the
/// rules have refused the program at compile time.
pub trait Number: Functions + Arithmetic + Datum {
    /// The quotient, rounded towards zero for integers. Panics if an integer is divided by 0.
    #[must_use]
    fn over(self, other: Self) -> Self;

    /// The number with the opposite sign.
    #[must_use]
    fn negated(self) -> Self;

    /// Converts a count to this type: integers wrap, floats round to the nearest.
    fn count(things: usize) -> Self;

    /// A truth value as 1 or 0.
    #[inline(always)]
    fn of_truth(truth: bool) -> Self {
        if truth { Self::ONE } else { Self::ZERO }
    }

    constant!();

    /// The elements as indices. Integers only.
    fn indices(indices: &[Self]) -> Indices<'_>;

    /// Reduces the elements along the `reduced` axes.
    #[doc(hidden)]
    fn fold<'a, M: Over>(x: Argument<'_, Self>, reduced: Reduced, out: &'a mut [Self]) -> &'a mut [Self];
}

#[cold]
#[inline(never)]
fn mixed() -> ! {
    internal_error("elements of another type")
}

#[cold]
#[inline(never)]
fn refused() -> ! {
    internal_error("an operation that its element type does not have")
}

macro_rules! data {
    ($($number:ident $variant:ident;)*) => {
        $(impl Datum for $number {
            type Number = Self;
        })*
    };
}

element_types!(numbers => data!);

impl Datum for bool {
    type Number = f32;
}

/// The part of [`Number`] that all numeric types share.
macro_rules! shared {
    () => {
        #[inline(always)]
        fn fold<'a, M: Over>(x: Argument<'_, Self>, reduced: Reduced, out: &'a mut [Self]) -> &'a mut [Self] {
            <M as OverElements<Self>>::fold(x, reduced, out)
        }

        #[inline(always)]
        fn count(things: usize) -> Self {
            things as Self
        }
    };
}

macro_rules! floats {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Number for $ty {
            shared!();

            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }

            fn indices(_: &[Self]) -> Indices<'_> {
                refused()
            }
        })*
    };
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Number for $ty {
            shared!();

            #[inline(always)]
            fn over(self, other: Self) -> Self {
                if other == 0 { divided_by_zero() } else { self.wrapping_div(other) }
            }

            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }

            fn indices(indices: &[Self]) -> Indices<'_> {
                Index::indices(indices)
            }
        })*
    };
}

element_types!(floats => floats!);
element_types!(integers => integers!);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_keep_the_elements() {
        fn through<T: Datum, U: Datum>(elements: &[T]) -> usize {
            T::cast::<U>(elements).len()
        }
        assert_eq!(through::<f32, f32>(&[1.0, 2.0]), 2);
        assert_eq!(through::<i64, i64>(&[1]), 1);
        assert_eq!(through::<bool, bool>(&[true]), 1);
        f64::cast_mut::<f64>(&mut [1.0])[0] = 2.0;
    }

    #[test]
    #[should_panic(expected = "internal error in mind: elements of another type")]
    fn a_cast_between_different_types_panics() {
        f32::cast::<f64>(&[1.0]);
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(i32::MIN.negated(), i32::MIN);
        assert_eq!(f32::pick(&[5], &[3], &[4], &[1.0], &[2.0]), [1.0]);
        assert_eq!(i64::pick(&[5], &[3], &[4], &[1.0], &[2.0]), [4]);
    }
}
