//! Logarithms of sums and differences of exponentials, and the logistic function, which is the derivative of the
//! former.

use super::rounding::Rounding;
use super::{exp, expm1, ln, log1p};

/// ln(e^x + e^y): the larger operand plus the contribution of the other. It is computed in `f64` for `f32` too, because
/// the two terms cancel if the result is near 0.
#[inline(always)]
pub(super) fn sum<A: Rounding>(x: f64, y: f64) -> f64 {
    // The comparison lets NaN pass. The difference of infinities of the same sign would be NaN.
    let larger = if x > y || x.is_nan() { x } else { y };
    let distance = if x == y { 0.0 } else { (x - y).abs() };
    larger + log1p::f64::<A>(exp::f64::<A>(-distance))
}

macro_rules! of {
    ($($ty:ident, $logistic:ident, $difference:ident: $middle:literal;)+) => {$(
        /// 1 / (1 + e^-x), by the exponential of a number below 0, so that subnormal results are kept.
        #[inline(always)]
        pub(super) fn $logistic<A: Rounding>(x: $ty) -> $ty {
            let power = exp::$ty::<A>(-x.abs());
            (if x < 0.0 { power } else { 1.0 }) / (1.0 + power)
        }

        /// ln(1 - e^-x), by the difference that keeps its digits (Maechler, 2012,
        /// *Accurately Computing log(1 - exp(-|a|))*).
        #[inline(always)]
        pub(super) fn $difference<A: Rounding>(x: $ty) -> $ty {
            let near = ln::$ty::<A>(-expm1::$ty::<A>(-x));
            let far = log1p::$ty::<A>(-exp::$ty::<A>(-x));
            if x > $middle { far } else { near }
        }
    )+};
}

of! {
    f32, logistic_f32, difference_f32: 0.35;
    f64, logistic_f64, difference_f64: 0.35;
}
