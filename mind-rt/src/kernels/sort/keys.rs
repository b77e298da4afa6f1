//! Keys of numbers: unsigned integers in the order of the numbers.

use std::{
    cell::RefCell,
    ops::{BitOr, Shl},
};

use mind_shape::element_types;

use crate::{
    error::{Error, fail},
    kernels::number::Number,
};

/// A number with a key.
pub(in crate::kernels) trait Ranked: Number {
    /// The key.
    type Key: Word;
    /// A key with a position.
    type Placed: Word
        + From<Self::Key>
        + From<u32>
        + Shl<u32, Output = Self::Placed>
        + BitOr<Output = Self::Placed>;

    /// The key of the number.
    fn key(self) -> Self::Key;

    /// A number with this key.
    fn of_key(key: Self::Key) -> Self;

    /// The key of a key with a position.
    fn without_position(placed: Self::Placed) -> Self::Key;

    /// Whether other numbers have the same key: zeros and NaN.
    fn shares_its_key(self) -> bool;

    /// The key in ascending or descending order.
    #[inline(always)]
    fn ranked(self, descending: bool) -> Self::Key {
        if descending { self.key().reversed() } else { self.key() }
    }

    /// The key with a position, which is less than 2^32.
    #[inline(always)]
    fn placed(key: Self::Key, position: usize) -> Self::Placed {
        Self::Placed::from(key) << 32 | Self::Placed::from(position as u32)
    }

    /// The position.
    #[inline(always)]
    fn position(placed: Self::Placed) -> i64 {
        i64::from(placed.low())
    }
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Ranked for $ty {
            type Key = <$ty as Bits>::Key;
            type Placed = <$ty as Bits>::Placed;

            #[inline(always)]
            fn key(self) -> Self::Key {
                // The least number becomes 0.
                (self as Self::Key).wrapping_sub(<$ty>::MIN as Self::Key)
            }

            #[inline(always)]
            fn of_key(key: Self::Key) -> Self {
                key.wrapping_add(<$ty>::MIN as Self::Key) as Self
            }

            #[inline(always)]
            fn without_position(placed: Self::Placed) -> Self::Key {
                (placed >> 32) as Self::Key
            }

            #[inline(always)]
            fn shares_its_key(self) -> bool {
                false
            }
        })*
    };
}

macro_rules! floats {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Ranked for $ty {
            type Key = <$ty as Bits>::Key;
            type Placed = <$ty as Bits>::Placed;

            #[inline(always)]
            fn key(self) -> Self::Key {
                // The sum is +0 for both zeros. The bits of numbers with a sign descend, those of the others ascend.
                let bits = (self + 0.0).to_bits();
                let sign = bits >> (Self::Key::BITS - 1);
                let flipped = bits ^ (sign.wrapping_neg() | 1 << (Self::Key::BITS - 1));
                if self.is_nan() { Self::Key::MAX } else { flipped }
            }

            #[inline(always)]
            fn of_key(key: Self::Key) -> Self {
                let sign = key >> (Self::Key::BITS - 1);
                Self::from_bits(key ^ (sign.wrapping_sub(1) | 1 << (Self::Key::BITS - 1)))
            }

            #[inline(always)]
            fn without_position(placed: Self::Placed) -> Self::Key {
                (placed >> 32) as Self::Key
            }

            #[inline(always)]
            fn shares_its_key(self) -> bool {
                self == 0.0 && self.is_sign_negative() || self.is_nan()
            }
        })*
    };
}

element_types!(integers => integers!);
element_types!(floats => floats!);

/// The widths of the keys of an element type.
pub(in crate::kernels) trait Bits {
    type Key;
    type Placed;
}

macro_rules! bits {
    ($($ty:ident: $key:ident, $placed:ident;)*) => {
        $(impl Bits for $ty {
            type Key = $key;
            type Placed = $placed;
        })*
    };
}

bits! {
    u8: u32, u64;
    i32: u32, u64;
    f32: u32, u64;
    i64: u64, u128;
    f64: u64, u128;
}

/// An unsigned integer that is sorted.
pub(in crate::kernels) trait Word: Copy + Ord {
    /// The greatest.
    const MAX: Self;
    /// The number of lines that are sorted side by side.
    const LANES: usize;
    /// The longest line that is sorted so.
    const SHORT: usize;
    /// The shortest lines that are sorted one by one at the level AVX-512, even if there are many.
    const ONE_BY_ONE: usize;
    /// The number of digits of a word.
    const DIGITS: usize;

    /// The digit that begins at a bit.
    fn digit(self, shift: u32) -> usize;

    /// The low 32 bits.
    fn low(self) -> u32;

    /// The keys in the opposite order.
    fn reversed(self) -> Self;

    /// Sorts words from one slice to the other of the same length by vectors, if the SIMD level has them. Returns whether
    /// it did.
    fn sort_by_vectors(words: &mut [Self], sorted: &mut [Self]) -> bool;

    /// Calls `then` with scratch memory of the thread.
    fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R;
}

/// The number of bits of a digit: the counters of three digits of 11 bits are in the first cache.
pub(super) const DIGIT: u32 = 11;
pub(super) const BUCKETS: usize = 1 << DIGIT;

macro_rules! words {
    ($($ty:ident: $lanes:literal lanes up to $short:literal, one by one from $long:expr => $sort:expr;)*) => {
        $(impl Word for $ty {
            const MAX: Self = Self::MAX;
            const LANES: usize = $lanes;
            const SHORT: usize = $short;
            const ONE_BY_ONE: usize = $long;
            const DIGITS: usize = <$ty>::BITS.div_ceil(DIGIT) as usize;

            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (BUCKETS - 1)
            }

            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }

            #[inline(always)]
            fn reversed(self) -> Self {
                !self
            }

            fn sort_by_vectors(words: &mut [Self], sorted: &mut [Self]) -> bool {
                $sort(words, sorted)
            }

            fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R {
                thread_local! {
                    static SCRATCH: RefCell<Vec<$ty>> = const { RefCell::new(Vec::new()) };
                }
                SCRATCH.with_borrow_mut(|scratch| {
                    let more = len.saturating_sub(scratch.len());
                    if scratch.try_reserve_exact(more).is_err() {
                        fail(Error::Allocation { shape: format!("keys of {len} elements to sort") });
                    }
                    scratch.resize(scratch.len() + more, 0);
                    then(&mut scratch[..len])
                })
            }
        })*
    };
}

words! {
    u32: 16 lanes up to 1024, one by one from 129 => by_vectors;
    u64: 8 lanes up to 256, one by one from 65 => by_vectors;
    u128: 4 lanes up to 16, one by one from usize::MAX => |_, _| false;
}

#[cfg(target_arch = "x86_64")]
use super::quick::sort as by_vectors;

#[cfg(not(target_arch = "x86_64"))]
fn by_vectors<W>(_: &mut [W], _: &mut [W]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_as_the_numbers_and_return_them() {
        let floats = [f32::NEG_INFINITY, -1.5, -f32::MIN_POSITIVE, -1e-45, 0.0, 1e-45, 2.0, f32::INFINITY];
        assert!(floats.is_sorted_by(|a, b| a.key() < b.key()));
        assert!(floats.iter().all(|x| f32::of_key(x.key()).to_bits() == x.to_bits()));
        assert_eq!((-0.0_f32).key(), 0.0_f32.key());
        assert!(f32::of_key(f32::NAN.key()).is_nan() && (-f32::NAN).key() == f32::NAN.key());
        assert!((-f32::NAN).key() > f32::INFINITY.key());
        let floats = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 2.0, f64::INFINITY, f64::NAN];
        assert!(floats.is_sorted_by(|a, b| a.key() < b.key()));
        let integers = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(integers.is_sorted_by(|a, b| a.key() < b.key()));
        assert!(integers.iter().all(|x| i64::of_key(x.key()) == *x));
        assert!([i32::MIN, -1, 0, i32::MAX].iter().all(|x| i32::of_key(x.key()) == *x));
        assert!([0_u8, 7, 255].is_sorted_by(|a, b| a.key() < b.key()));
        assert_eq!(u8::of_key(200_u8.key()), 200);
    }
}
