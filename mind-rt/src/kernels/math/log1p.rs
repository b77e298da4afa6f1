//! The logarithm of 1 and a number. What rounding the sum loses is added where the logarithm is: msun's `s_log1p.c` (Sun
//! Microsystems, 1993), with a polynomial for the quotient in the correction.

use super::{MultiplyAdd, ln};

macro_rules! of {
    ($($ty:ident $bits:ident: $split:ident, $sum:ident, $of:ident, $low:ident, $tiny:literal;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            /// The bits of the exponent.
            const EXPONENT: $bits = $ty::INFINITY.to_bits();
            /// Those of 2 to the power of the bias.
            const REFLECTED: $bits = (2.0 / $ty::MIN_POSITIVE).to_bits();

            let u = 1.0 + x;
            let lost = if x < 1.0 { x - (u - 1.0) } else { 1.0 - (u - x) };
            let (k, f) = ln::$split(u);
            let power = $ty::from_bits(REFLECTED.wrapping_sub(u.to_bits() & EXPONENT));
            let mantissa = u * power;
            // 1 / mantissa between 1 and 2, within a hundredth: a rounding error needs no more.
            let inverse = A::multiply_add(A::multiply_add(mantissa, 0.343, -1.522), mantissa, 2.176);
            // Close to 0 the number itself is what is left.
            let near = x > -0.292 && x < 0.414;
            let (k, f) = (if near { 0.0 } else { k }, if near { x } else { f });
            let lost = if near { 0.0 } else { lost * power };
            let y = ln::$of(u, ln::$sum::<A>(k, f, A::multiply_add(lost, inverse, k * ln::$low)));
            // Of which -0 is one.
            if x.abs() < $tiny { x } else { y }
        }
    )+};
}

of! {
    f32 u32: split_f32, sum_f32, of_f32, LN2_LOW_F32, 1e-10;
    f64 u64: split_f64, sum_f64, of_f64, LN2_LOW_F64, 1e-20;
}
