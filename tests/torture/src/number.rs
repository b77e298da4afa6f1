//! Element types, and numbers whose sums are exact in any order.

use mind_rt::private as rt;

/// An element type of kernels.
pub trait Number: rt::Arithmetic {
    /// A value that computations hardly ever give. It marks elements that were not written.
    const POISON: Self;

    /// Converts an integer to an element. Integers wrap, as their sums and products do.
    fn of(number: i64) -> Self;

    fn bits(self) -> u64;

    /// The element at index `place` of an operand, as an integer. Floats are so small that sums stay exact; integers
    /// wrap.
    fn number(place: usize) -> i64;

    /// A float between -1 and 1 from random bits, or any integer.
    fn fraction(bits: u64) -> Self;
}

fn mixed(place: usize) -> u64 {
    let mut bits = (place as u64).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^= bits >> 29;
    bits = bits.wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 32
}

macro_rules! number {
    ($($ty:ident: $poison:expr, |$bits:ident| $number:expr, $fraction:expr, |$x:ident| $to_bits:expr);*) => {
        $(impl Number for $ty {
            const POISON: Self = $poison;

            fn of(number: i64) -> Self {
                number as Self
            }

            fn bits(self) -> u64 {
                let $x = self;
                $to_bits
            }

            fn number(place: usize) -> i64 {
                let $bits = mixed(place);
                $number
            }

            fn fraction($bits: u64) -> Self {
                $fraction
            }
        })*
    };
}

number!(
    f32: f32::NAN, |bits| (bits % 7) as i64 - 3, (bits >> 40) as f32 / (1 << 23) as f32 - 1.0, |x| u64::from(x.to_bits());
    f64: f64::NAN, |bits| (bits % 15) as i64 - 7, (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0, |x| x.to_bits();
    i32: i32::MIN, |bits| bits as i64, bits as i32, |x| x as u64;
    i64: i64::MIN, |bits| bits as i64, bits as i64, |x| x as u64
);

/// The `len` elements of an operand from the index `start` on. The vector has no spare capacity, so that a sanitizer
/// finds reads beyond its end.
pub fn operand<T: Number>(start: usize, len: usize) -> Vec<T> {
    (start..start + len).map(|place| T::of(T::number(place))).collect()
}

/// The elements of such an operand, as integers.
pub fn numbers<T: Number>(start: usize, len: usize) -> Vec<i64> {
    (start..start + len).map(T::number).collect()
}

/// An operand of fractions, or of any integers if its type is an integer.
pub fn fractions<T: Number>(start: usize, len: usize) -> Vec<T> {
    (start..start + len).map(|place| T::fraction(mixed(place))).collect()
}

/// Digests results.
#[derive(Clone, Copy)]
pub struct Digest(u64);

impl Digest {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn add<T: Number>(mut self, elements: &[T]) -> Self {
        for element in elements {
            self.0 = (self.0 ^ element.bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
        self
    }

    pub fn finish(self) -> u64 {
        self.0
    }
}

/// An element type as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    F32,
    F64,
    I32,
    I64,
}

impl DType {
    pub const ALL: [Self; 4] = [Self::F32, Self::F64, Self::I32, Self::I64];
}

/// Evaluates the body with `$ty` as the element type of a [`DType`].
macro_rules! with_type {
    ($dtype:expr, $ty:ident => $body:expr) => {
        match $dtype {
            $crate::number::DType::F32 => {
                type $ty = f32;
                $body
            }
            $crate::number::DType::F64 => {
                type $ty = f64;
                $body
            }
            $crate::number::DType::I32 => {
                type $ty = i32;
                $body
            }
            $crate::number::DType::I64 => {
                type $ty = i64;
                $body
            }
        }
    };
}
pub(crate) use with_type;
