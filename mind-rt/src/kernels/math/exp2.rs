//! 2 to the power of a number: the power of 2 of the nearest integer, times e to the power of the rest times ln 2.

use super::exp;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $round:ident, $raised:ident, $least:literal to $most:literal;)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            // Beyond these bounds the result is 0 or ∞ anyway. The comparisons let NaN pass.
            let x = if x > $most { $most } else { x };
            let x = if x < $least { $least } else { x };
            let shifted = x + exp::$round;
            let r = x - (shifted - exp::$round);
            exp::$raised::<A>(shifted, r * std::$ty::consts::LN_2)
        }
    )+};
}

of! {
    f32, ROUND_F32, raised_f32, -151.0 to 129.0;
    f64, ROUND_F64, raised_f64, -1076.0 to 1025.0;
}
