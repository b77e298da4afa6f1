//! 2 to the power of a number: e to the power of what is left of it beside an integer, times ln 2.

use super::exp;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $round:ident, $raised:ident, $least:literal to $most:literal;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            // Beyond these the result is 0 or ∞ anyway. Written so that NaN passes.
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
