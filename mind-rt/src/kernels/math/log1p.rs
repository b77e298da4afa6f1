//! The logarithm of 1 and a number. What rounding the sum loses is added where the logarithm is, as in msun's `s_log1p.c` (Sun
//! Microsystems, 1993), but that a line stands for the quotient in the correction.

use super::{MultiplyAdd, ln};

macro_rules! of {
    ($($ty:ident $bits:ident: $exponent:ident, $sum:ident, $of:ident, $low:ident, $sqrt_half:literal, $mantissa:literal;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            const TWO: $bits = (2.0 as $ty).to_bits();

            let u = 1.0 + x;
            let (larger, smaller) = (if x < 1.0 { 1.0 } else { x }, if x < 1.0 { x } else { 1.0 });
            let lost = smaller - (u - larger);
            // The sum as 2^k times a number between √½ and √2. It is never subnormal.
            let above = u.to_bits().wrapping_sub($sqrt_half);
            let exponent = above & !$mantissa;
            let f = $ty::from_bits(u.to_bits().wrapping_sub(exponent)) - 1.0;
            // 1 / (1 + f) within 0.07, halved, since the power of 2 is twice that needed: so it is in range, or 0 where nothing
            // that matters was lost. Of a rounding error no more is needed.
            let correction =
                lost * $ty::from_bits(TWO.wrapping_sub(exponent)) * A::multiply_add(f, -0.5, 0.53);
            // Close to 0 the number itself is what is left.
            let near = exponent == 0;
            let (f, correction) = (if near { x } else { f }, if near { 0.0 } else { correction });
            let k = ln::$exponent(above);
            let y = ln::$sum::<A>(k, f, A::multiply_add(k, ln::$low, correction));
            // -0 stays.
            ln::$of(u, y).copysign(x)
        }
    )+};
}

of! {
    f32 u32: exponent_f32, sum_f32, of_f32, LN2_LOW_F32, 0x3f35_04f3, 0x007f_ffff;
    f64 u64: exponent_f64, sum_f64, of_f64, LN2_LOW_F64, 0x3fe6_a09e_667f_3bcd, 0x000f_ffff_ffff_ffff;
}
