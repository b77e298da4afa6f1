//! The logarithm of 1 and a number: that of 2^k · (1 + f), where f is found without the sum, whose rounding would be felt close
//! to 0.

use super::{MultiplyAdd, ln, ln::sum_f64};

macro_rules! of {
    ($($ty:ident $bits:ident: $exponent:ident, $sum:ident, $of:ident, $sqrt_half:literal, $mantissa:literal;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            const TWO: $bits = (2.0 as $ty).to_bits();

            // The sum as 2^k times a number between √½ and √2. It is never subnormal.
            let u = 1.0 + x;
            let above = u.to_bits().wrapping_sub($sqrt_half);
            let exponent = above & !$mantissa;
            // The number and 1 over that power, which is half of one that is in range. Where it is 1, both are exact.
            let scaled = $ty::from_bits(x.to_bits().wrapping_sub(exponent));
            let twice = $ty::from_bits(TWO.wrapping_sub(exponent));
            let short = A::multiply_add(twice, 0.5, -1.0);
            let f = scaled + short;
            let lost = scaled - (f - short);
            // -0 stays.
            ln::$of(u, $sum::<A>(ln::$exponent(above), f, lost)).copysign(x)
        }
    )+};
}

/// Without what `f` lacks: felt by half a unit in the last place where the sum is close to √½ or √2, and a tenth of the time.
#[inline(always)]
fn sum_f32<A: MultiplyAdd>(k: f32, f: f32, _: f32) -> f32 {
    ln::sum_f32::<A>(k, f)
}

of! {
    f32 u32: exponent_f32, sum_f32, of_f32, 0x3f35_04f3, 0x007f_ffff;
    f64 u64: exponent_f64, sum_f64, of_f64, 0x3fe6_a09e_667f_3bcd, 0x000f_ffff_ffff_ffff;
}
