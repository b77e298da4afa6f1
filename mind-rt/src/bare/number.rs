//! What generic loops ask of an element type.

use super::{
    Argument,
    reduce::{Over, Reduced},
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

/// What values of expressions hold: every element type of the language, with the operations that all of them have.
///
/// Element types that must be equal are so by the rules, which have refused every other program when it was compiled, not by
/// their Rust types; the casts here go from one to the other.
pub trait Datum: Element + Bits + Convert {
    /// The type itself; of truth values another, which stands where the rules allow numbers alone.
    type Number: Number;

    /// The same elements as those of the equal element type `U`.
    fn cast<U: Datum>(elements: &[Self]) -> &[U];

    /// The same elements as those of the equal element type `U`.
    fn cast_mut<U: Datum>(elements: &mut [Self]) -> &mut [U];

    #[doc(hidden)]
    fn of_f32(_: &[f32]) -> &[Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_f64(_: &[f64]) -> &[Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_i32(_: &[i32]) -> &[Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_i64(_: &[i64]) -> &[Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_bool(_: &[bool]) -> &[Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_f32_mut(_: &mut [f32]) -> &mut [Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_f64_mut(_: &mut [f64]) -> &mut [Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_i32_mut(_: &mut [i32]) -> &mut [Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_i64_mut(_: &mut [i64]) -> &mut [Self] {
        mixed()
    }

    #[doc(hidden)]
    fn of_bool_mut(_: &mut [bool]) -> &mut [Self] {
        mixed()
    }
}

/// The operations of the language on one number, for every type of numbers: where one does not have an operation, the rules
/// have refused the program when it was compiled.
pub trait Number: Functions + Arithmetic + Datum {
    /// The quotient; of integers without its fraction. Panics where one is divided by 0.
    #[must_use]
    fn over(self, other: Self) -> Self;

    /// With the other sign.
    #[must_use]
    fn negated(self) -> Self;

    /// A number of things; it wraps, or is rounded to the nearest.
    fn count(things: usize) -> Self;

    /// A truth value as 1 or 0.
    #[inline(always)]
    fn of_truth(truth: bool) -> Self {
        if truth { Self::ONE } else { Self::ZERO }
    }

    /// The constant of this element type.
    #[inline(always)]
    fn pick<'a>(f32: &'a [f32], f64: &'a [f64], i32: &'a [i32], i64: &'a [i64]) -> &'a [Self] {
        match Self::DTYPE {
            DType::F32 => f32::cast(f32),
            DType::F64 => f64::cast(f64),
            DType::I32 => i32::cast(i32),
            DType::I64 => i64::cast(i64),
            DType::Bool => refused(),
        }
    }

    /// These as indices. Integers only.
    fn indices(indices: &[Self]) -> Indices<'_>;

    /// What the elements along `reduced` axes are as one.
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
    ($($ty:ident $number:ident $of:ident $of_mut:ident;)*) => {
        $(impl Datum for $ty {
            type Number = $number;

            #[inline(always)]
            fn cast<U: Datum>(elements: &[Self]) -> &[U] {
                U::$of(elements)
            }

            #[inline(always)]
            fn cast_mut<U: Datum>(elements: &mut [Self]) -> &mut [U] {
                U::$of_mut(elements)
            }

            #[inline(always)]
            fn $of(elements: &[Self]) -> &[Self] {
                elements
            }

            #[inline(always)]
            fn $of_mut(elements: &mut [Self]) -> &mut [Self] {
                elements
            }
        })*
    };
}

data! {
    f32 f32 of_f32 of_f32_mut;
    f64 f64 of_f64 of_f64_mut;
    i32 i32 of_i32 of_i32_mut;
    i64 i64 of_i64 of_i64_mut;
    bool f32 of_bool of_bool_mut;
}

/// What every type of numbers has of [`Number`].
macro_rules! shared {
    ($of:ident) => {
        #[inline(always)]
        fn fold<'a, M: Over>(x: Argument<'_, Self>, reduced: Reduced, out: &'a mut [Self]) -> &'a mut [Self] {
            M::$of(x, reduced, out)
        }

        #[inline(always)]
        fn count(things: usize) -> Self {
            things as Self
        }
    };
}

macro_rules! floats {
    ($($ty:ident $of:ident;)*) => {
        $(impl Number for $ty {
            shared!($of);

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
    ($($ty:ident $of:ident;)*) => {
        $(impl Number for $ty {
            shared!($of);

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

floats! {
    f32 of_f32;
    f64 of_f64;
}

integers! {
    i32 of_i32;
    i64 of_i64;
}

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
        assert_eq!(f32::pick(&[1.0], &[2.0], &[3], &[4]), [1.0]);
        assert_eq!(i64::pick(&[1.0], &[2.0], &[3], &[4]), [4]);
    }
}
