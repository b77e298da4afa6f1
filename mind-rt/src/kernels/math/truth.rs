//! Truth values, bits and conversions: elementwise functions with another result type than operand type, or not for
//! floats.

use mind_shape::element_types;

use crate::kernels::memory::Storable;
use crate::kernels::number::Number;
use crate::kernels::refused;

/// Whether `x` is NaN.
#[inline(always)]
pub fn is_nan<T: PartialOrd>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Whether `x` is neither infinite nor NaN.
#[inline(always)]
pub fn is_finite<T: Number>(x: T) -> bool {
    // An infinity or NaN minus itself is NaN.
    x.minus(x) == T::ZERO
}

/// `chosen` if the condition holds, otherwise `other`.
#[inline(always)]
pub fn choose<T: Copy>(condition: bool, chosen: T, other: T) -> T {
    // With `if`, LLVM turned two choices by one condition into two paths, and computed the code between them on both.
    std::hint::select_unpredictable(condition, chosen, other)
}

/// Whether all elements are finite.
pub fn are_finite<T: Number>(elements: &[T]) -> bool {
    // Without a branch for each element, so that many are tested at once.
    elements.chunks(4096).all(|chunk| chunk.iter().fold(true, |all, x| all & is_finite(*x)))
}

/// Integers bit by bit, and truth values as one bit. The type rules refuse programs that use these functions on floats.
pub trait Bits: Sized {
    /// The bits that are set in both.
    #[must_use]
    fn bit_and(self, other: Self) -> Self;
    /// The bits that are set in either or both.
    #[must_use]
    fn bit_or(self, other: Self) -> Self;
    /// The bits that are set in exactly one.
    #[must_use]
    fn bit_xor(self, other: Self) -> Self;
    /// The bits that are not set.
    #[must_use]
    fn not(self) -> Self;
    /// Multiplies by 2 to the power of `by`, wrapping. The result is 0 if `by` is negative or at least the number of
    /// bits.
    #[must_use]
    fn shl(self, by: Self) -> Self;
    /// Divides by 2 to the power of `by`, rounding down. The result is the sign if `by` is negative or at least the
    /// number of bits.
    #[must_use]
    fn shr(self, by: Self) -> Self;
}

macro_rules! bit_by_bit {
    () => {
        #[inline(always)]
        fn bit_and(self, other: Self) -> Self {
            self & other
        }

        #[inline(always)]
        fn bit_or(self, other: Self) -> Self {
            self | other
        }

        #[inline(always)]
        fn bit_xor(self, other: Self) -> Self {
            self ^ other
        }

        #[inline(always)]
        fn not(self) -> Self {
            !self
        }
    };
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Bits for $ty {
            bit_by_bit!();

            #[inline(always)]
            fn shl(self, by: Self) -> Self {
                let inside = (0..Self::BITS as Self).contains(&by);
                if inside { self.wrapping_shl(by as u32) } else { 0 }
            }

            #[inline(always)]
            fn shr(self, by: Self) -> Self {
                let inside = (0..Self::BITS as Self).contains(&by);
                let shifted = self >> if inside { by } else { Self::BITS as Self - 1 };
                if inside { shifted } else { shifted >> 1 }
            }
        })*
    };
}

element_types!(integers => integers!);

macro_rules! floats {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Bits for $ty {
            fn bit_and(self, _: Self) -> Self {
                refused()
            }

            fn bit_or(self, _: Self) -> Self {
                refused()
            }

            fn bit_xor(self, _: Self) -> Self {
                refused()
            }

            fn not(self) -> Self {
                refused()
            }

            fn shl(self, _: Self) -> Self {
                refused()
            }

            fn shr(self, _: Self) -> Self {
                refused()
            }
        })*
    };
}

element_types!(floats => floats!);

impl Bits for bool {
    bit_by_bit!();

    fn shl(self, _: Self) -> Self {
        refused()
    }

    fn shr(self, _: Self) -> Self {
        refused()
    }
}

macro_rules! of_bits {
    ($($name:ident($($x:ident),+))*) => {
        $(#[doc = concat!("[`Bits::", stringify!($name), "`].")]
        #[inline(always)]
        #[must_use]
        pub fn $name<T: Bits>($($x: T),+) -> T {
            T::$name($($x),+)
        })*
    };
}

of_bits! {
    bit_and(x, y)
    bit_or(x, y)
    bit_xor(x, y)
    not(x)
    shl(x, by)
    shr(x, by)
}

/// Converts an element to another type, as Rust's `as` does. A truth value is 1 or 0, and 0 is false.
pub trait As<T> {
    /// The converted element.
    #[must_use]
    fn to(self) -> T;
}

macro_rules! from_number {
    ($from:ident: $($to:ident $variant:ident;)*) => {
        $(impl As<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                self as $to
            }
        })*

        impl As<bool> for $from {
            #[inline(always)]
            fn to(self) -> bool {
                self != $from::ZERO
            }
        }
    };
}

macro_rules! of_numbers {
    ($($number:ident $variant:ident;)*) => {
        $(element_types!(numbers => from_number! $number:);

        impl As<$number> for bool {
            #[inline(always)]
            fn to(self) -> $number {
                u8::from(self) as $number
            }
        })*
    };
}

element_types!(numbers => of_numbers!);

impl As<Self> for bool {
    #[inline(always)]
    fn to(self) -> Self {
        self
    }
}

macro_rules! convert {
    ($($element:ident $variant:ident;)*) => {
        /// An element type that converts to every element type.
        #[allow(private_bounds, reason = "sealed")]
        pub trait Convert: Storable $(+ As<$element>)* {}

        $(impl Convert for $element {})*
    };
}

element_types!(all => convert!);

macro_rules! conversions {
    ($($name:ident $to:ident)*) => {
        $(#[doc = concat!("As an element of `", stringify!($to), "`.")]
        #[inline(always)]
        #[must_use]
        pub fn $name<T: As<$to>>(x: T) -> $to {
            x.to()
        })*
    };
}

conversions!(to_f32 f32 to_f64 f64 to_u8 u8 to_i32 i32 to_i64 i64 to_bool bool);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_of_any_amount_have_a_value() {
        for (by, left, right) in [
            (0, -5, -5),
            (1, -10, -3),
            (31, i32::MIN, -1),
            (32, 0, -1),
            (i32::MAX, 0, -1),
            (-1, 0, -1),
            (i32::MIN, 0, -1),
        ] {
            assert_eq!((shl(-5, by), shr(-5, by)), (left, right), "{by}");
        }
        assert_eq!((shl(1_i64, 63), shl(1_i64, 64), shr(i64::MAX, 64)), (i64::MIN, 0, 0));
    }

    #[test]
    fn what_is_not_finite() {
        for (x, nan, finite) in [
            (0.0, false, true),
            (f32::MAX, false, true),
            (f32::MIN_POSITIVE / 2.0, false, true),
            (f32::INFINITY, false, false),
            (f32::NEG_INFINITY, false, false),
            (f32::NAN, true, false),
        ] {
            assert_eq!((is_nan(x), is_finite(x)), (nan, finite), "{x}");
        }
    }

    #[test]
    fn one_that_is_not_finite_is_found_wherever_it_is() {
        for len in [0, 1, 2, 4095, 4096, 4097, 10_000] {
            let mut elements = vec![f64::MAX; len];
            assert!(are_finite(&elements), "{len}");
            for place in [0, 1, len / 2, 4096, len.saturating_sub(1)].into_iter().filter(|place| *place < len)
            {
                for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    elements[place] = odd;
                    assert!(!are_finite(&elements), "{odd} at {place} of {len}");
                }
                elements[place] = 0.0;
            }
        }
    }

    #[test]
    fn conversions_are_those_of_rust() {
        assert_eq!([to_i32(f64::NAN), to_i32(1e300), to_i32(-2.9)], [0, i32::MAX, -2]);
        assert_eq!([to_i32(1_i64 << 32 | 7), to_i32(true), to_i32(false)], [7, 1, 0]);
        // Rounded once, not by a detour through f64.
        assert_eq!(to_f32((1_i64 << 60) + (1 << 36) + 1), 2_f32.powi(60) + 2_f32.powi(37));
        assert_eq!([to_bool(-0.0), to_bool(f32::NAN), to_bool(0.1)], [false, true, true]);
    }

    #[test]
    fn bytes_convert_as_rust_has_it_and_shift_without_a_sign() {
        assert_eq!([300.7_f32, -1.0, f32::NAN, 255.9, 254.5].map(to_u8), [255, 0, 0, 255, 254]);
        assert_eq!([to_u8(-1_i32), to_u8(256_i64 + 7), to_u8(true)], [255, 7, 1]);
        assert_eq!((to_f32(200_u8), to_i64(200_u8), to_bool(0_u8)), (200.0, 200, false));
        assert_eq!([shr(200_u8, 3), shr(200_u8, 7), shr(200_u8, 8), shr(200_u8, 255)], [25, 1, 0, 0]);
        assert_eq!([shl(3_u8, 7), shl(3_u8, 8)], [128, 0]);
    }
}
