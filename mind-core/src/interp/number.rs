//! Arithmetic on elements as the reference defines it.

use mind_shape::element_types;

use super::{Array, Elements};
use crate::map::{MOST_OPERANDS, Row};
use crate::reduce::Neutral;

/// An element type of values.
pub(crate) trait Element: Copy + PartialEq + Default {
    fn elements(value: &Array) -> &[Self];
    fn wrap(elements: Vec<Self>) -> Elements;
    /// Applies an elementwise function whose result has the same type.
    fn apply(row: &Row, operands: &[Self]) -> Self;
}

/// An element type of numbers.
///
/// Sums of floats have twice the digits of `f64` and are rounded once. The order of addition thus hardly matters, and
/// kernels are compared with the exact sum. Sums of integers wrap.
pub(crate) trait Number: Element {
    /// The type of sums.
    type Total: Copy;
    const NOTHING: Self::Total;
    /// `total + self * rhs`.
    fn accumulate_product(self, rhs: Self, total: Self::Total) -> Self::Total;
    /// `total + self`.
    fn accumulate(self, total: Self::Total) -> Self::Total;
    fn narrow(total: Self::Total) -> Self;
    /// The neutral element.
    fn neutral(neutral: Neutral) -> Self;
}

/// An element type with fractions.
pub(crate) trait Float: Number {
    /// `total / count`, computed in `f64` and rounded to the element type.
    fn average(total: Self::Total, count: usize) -> Self;
}

macro_rules! conversions {
    ($number:ty, $variant:ident) => {
        fn elements(value: &Array) -> &[Self] {
            let Elements::$variant(elements) = &value.elements else {
                unreachable!("operands have the element types that verification saw")
            };
            elements
        }
        fn wrap(elements: Vec<Self>) -> Elements {
            Elements::$variant(elements)
        }
    };
}

macro_rules! integers {
    ($($number:ident $variant:ident;)*) => {$(
        impl Element for $number {
            conversions!($number, $variant);
            fn apply(row: &Row, operands: &[Self]) -> Self {
                let mut wide = [0; MOST_OPERANDS];
                wide.iter_mut().zip(operands).for_each(|(wide, operand)| *wide = i64::from(*operand));
                (row.integer)(&wide[..operands.len()]) as Self
            }
        }

        impl Number for $number {
            type Total = Self;
            const NOTHING: Self = 0;
            fn accumulate_product(self, rhs: Self, total: Self) -> Self {
                total.wrapping_add(self.wrapping_mul(rhs))
            }
            fn accumulate(self, total: Self) -> Self {
                total.wrapping_add(self)
            }
            fn narrow(total: Self) -> Self {
                total
            }
            fn neutral(neutral: Neutral) -> Self {
                match neutral {
                    Neutral::Zero => 0,
                    Neutral::One => 1,
                    Neutral::Least => Self::MIN,
                    Neutral::Greatest => Self::MAX,
                }
            }
        }
    )*};
}

macro_rules! floats {
    ($($number:ident $variant:ident;)*) => {$(
        impl Element for $number {
            conversions!($number, $variant);
            fn apply(row: &Row, operands: &[Self]) -> Self {
                let mut wide = [0.0; MOST_OPERANDS];
                wide.iter_mut().zip(operands).for_each(|(wide, operand)| *wide = f64::from(*operand));
                (row.float)(&wide[..operands.len()]) as Self
            }
        }

        impl Number for $number {
            type Total = CompensatedSum;
            const NOTHING: CompensatedSum = CompensatedSum { sum: 0.0, lost: 0.0 };
            fn accumulate_product(self, rhs: Self, total: CompensatedSum) -> CompensatedSum {
                total.plus(f64::from(self) * f64::from(rhs))
            }
            fn accumulate(self, total: CompensatedSum) -> CompensatedSum {
                total.plus(f64::from(self))
            }
            fn narrow(total: CompensatedSum) -> Self {
                total.rounded() as Self
            }
            fn neutral(neutral: Neutral) -> Self {
                match neutral {
                    Neutral::Zero => 0.0,
                    Neutral::One => 1.0,
                    Neutral::Least => Self::NEG_INFINITY,
                    Neutral::Greatest => Self::INFINITY,
                }
            }
        }

        impl Float for $number {
            fn average(total: CompensatedSum, count: usize) -> Self {
                (total.rounded() / count as f64) as Self
            }
        }
    )*};
}

impl Element for bool {
    conversions!(bool, Bool);
    fn apply(row: &Row, operands: &[Self]) -> Self {
        let mut wide = [0; MOST_OPERANDS];
        wide.iter_mut().zip(operands).for_each(|(wide, operand)| *wide = i64::from(*operand));
        (row.integer)(&wide[..operands.len()]) & 1 == 1
    }
}

/// A sum of floats, and its rounding error.
#[derive(Clone, Copy)]
pub(crate) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    /// Knuth's addition of two numbers. Its rounding error is a float as well (*The Art of Computer Programming*,
    /// volume 2, section 4.2.2, theorem B).
    fn plus(self, number: f64) -> Self {
        let sum = self.sum + number;
        let of_number = sum - self.sum;
        Self { sum, lost: self.lost + ((self.sum - (sum - of_number)) + (number - of_number)) }
    }

    fn rounded(self) -> f64 {
        // The error is not finite if the sum is not, and is then ignored.
        if self.lost.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

element_types!(integers => integers!);
element_types!(floats => floats!);

/// Evaluates an expression with `$number` standing for the Rust type of a [`crate::ty::DType`] of numbers.
macro_rules! with_number {
    ($dtype:expr, $number:ident => $body:expr) => {
        mind_shape::match_dtype!($dtype, $number {
            truths => unreachable!("verification asks for numbers here"),
            numbers => $body,
        })
    };
}

/// As [`with_number`], for operations on floats only.
macro_rules! with_float {
    ($dtype:expr, $number:ident => $body:expr) => {
        mind_shape::match_dtype!($dtype, $number {
            floats => $body,
            others => unreachable!("verification asks for floats here"),
        })
    };
}

pub(crate) use {with_float, with_number};
