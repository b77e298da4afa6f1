//! The inverse sine and cosine. Up to ½ they use a polynomial of x², and beyond the same polynomial of (1 - |x|) / 2.
//! `ci/remez` finds the polynomials.

use super::polynomial::horner;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $cosine:ident, $half_pi_low:literal, $($p:literal)+;)+) => {$(
        /// The inverse sine, NaN beyond ±1.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 0.5;
            let z = if is_far { 0.5 * (1.0 - size) } else { size * size };
            let s = if is_far { z.sqrt() } else { size };
            let p = horner!(z; $($p),+);
            let far = (std::$ty::consts::FRAC_PI_2 - (s + s)) - A::multiply_add(s * z, p + p, -$half_pi_low);
            let near = A::multiply_add(s * z, p, s);
            if is_far { far } else { near }.copysign(x)
        }

        /// The inverse cosine, NaN beyond ±1.
        #[inline(always)]
        pub(super) fn $cosine<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 0.5;
            let z = if is_far { 0.5 * (1.0 - size) } else { size * size };
            let s = if is_far { z.sqrt() } else { x };
            let p = horner!(z; $($p),+);
            let arc = A::multiply_add(s * z, p, s);
            // Above ½ the result is twice the arc, below -½ it is π minus twice the arc, and between them π/2 minus the
            // arc.
            let twice = arc + arc;
            let left = std::$ty::consts::PI - (twice - 2.0 * $half_pi_low);
            let far = if x < 0.0 { left } else { twice };
            let near = std::$ty::consts::FRAC_PI_2 - (s - ($half_pi_low - s * z * p));
            if is_far { far } else { near }
        }
    )+};
}

of! {
    f32, cosine_f32, -4.371_139e-8, 4.221_855_5e-2 2.414_761e-2 4.547_709_6e-2 7.495_241_6e-2 1.666_675_4e-1;
    f64, cosine_f64, 6.123_233_995_736_766e-17,
        3.195_904_196_730_625_6e-2 -1.629_419_692_814_823e-2 1.957_399_369_642_199_4e-2 6.510_817_444_237_827e-3
        1.217_328_872_568_509_8e-2 1.388_459_681_768_164_2e-2 1.735_977_130_328_998_6e-2 2.237_175_350_787_444e-2
        3.038_195_933_201_398e-2 4.464_285_682_346_081e-2 7.500_000_000_343_075e-2 1.666_666_666_666_538_3e-1;
}
