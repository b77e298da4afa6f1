//! e to the power of a number, minus 1. The number is a multiple of ln 2 and a rest r. A series gives e^r - 1, which is
//! then scaled by the power of 2 together with the missing 1.

use super::exp;
use super::polynomial::{horner, in_two_sums};
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $series:ident: $reduced:ident, $least:literal to $most:literal, $tiny:literal, $bias:literal, $shift:literal, $($p:tt),+;)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            // Beyond these bounds the result is -1 or ∞ anyway. The comparisons let NaN pass.
            let bounded = if x > $most { $most } else { x };
            let bounded = if bounded < $least { $least } else { bounded };
            let (shifted, r) = exp::$reduced::<A>(bounded);
            let q = $series::<A>(r);
            // Half of the power of 2, which is finite if the result is.
            let half = $ty::from_bits(shifted.to_bits().wrapping_sub($bias) << $shift);
            let y = 2.0 * A::multiply_add(half, q, half - 0.5);
            // Halves of the smallest numbers would be rounded, and -0 would be lost.
            if x.abs() < $tiny { x } else { y }
        }

        /// e^r - 1 for the rest r of a number.
        #[inline(always)]
        pub(super) fn $series<A: Rounding>(r: $ty) -> $ty {
            // (e^r - 1 - r) / r², found by `ci/remez`. In two sums, since the square is needed anyway.
            let p = in_two_sums!(r; $($p),+);
            A::multiply_add(r * r, p, r)
        }
    )+};
}

of! {
    f32, series_f32: reduced_f32, -20.0 to 89.0, 1e-10, 128, 23,
        (1.990_770_5e-4, 1.393_373_2e-3), (8.333_286e-3, 4.166_646_3e-2), (1.666_666_7e-1, 0.5);
    f64, series_f64: reduced_f64, -40.0 to 710.0, 1e-20, 1024, 52,
        (1.609_128_059_342_636_2e-10, 2.091_821_285_232_536_8e-9), (2.505_205_572_975_664e-8, 2.755_726_307_574_203_4e-7),
        (2.755_731_926_566_698_6e-6, 2.480_158_733_663_254_4e-5), (1.984_126_984_125_361e-4, 1.388_888_888_887_900_1e-3),
        (8.333_333_333_333_337e-3, 4.166_666_666_666_668e-2), (1.666_666_666_666_666_6e-1, 0.5);
}
