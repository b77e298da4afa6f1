//! Quotients rounded down, and their remainders, as in NumPy's `npy_divmod`.

use crate::kernels::number::Number;

/// Whether the remainder of a truncated division has another sign than the divisor.
#[inline(always)]
pub(super) fn differ<T: Number>(left: T, divisor: T) -> bool {
    left != T::ZERO && (left < T::ZERO) != (divisor < T::ZERO)
}

/// The largest integer that is at most the quotient. It is computed in `f64` for `f32` too. There the difference of `x`
/// and `left` is rounded only for quotients beyond 2^29.
#[inline(always)]
pub(super) fn floor(x: f64, y: f64) -> f64 {
    let left = x % y;
    // The quotient is close to an integer, which rounding gives.
    let quotient = (x - left) / y - if differ(left, y) { 1.0 } else { 0.0 };
    let quotient = quotient.round_ties_even();
    // A zero gets the sign of the quotient. If the divisor is 0, the quotient is the result.
    let quotient = if quotient == 0.0 { quotient.copysign(x / y) } else { quotient };
    if y == 0.0 { x / y } else { quotient }
}

macro_rules! of {
    ($($ty:ident, $left:ident;)+) => {$(
        /// The remainder of [`floor`].
        #[inline(always)]
        pub(super) fn $left(x: $ty, y: $ty) -> $ty {
            let left = x % y;
            let left = if differ(left, y) { left + y } else { left };
            if left == 0.0 { left.copysign(y) } else { left }
        }
    )+};
}

of! {
    f32, left_f32;
    f64, left_f64;
}
