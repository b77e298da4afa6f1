//! Quotients rounded down, and what they leave: those of NumPy's `npy_divmod`.

use crate::kernels::number::Number;

/// Whether what a division without its fraction leaves has another sign than the divisor.
#[inline(always)]
pub(super) fn differ<T: Number>(left: T, divisor: T) -> bool {
    left != T::ZERO && (left < T::ZERO) != (divisor < T::ZERO)
}

/// The largest integer that is at most the quotient. Of `f32` it is computed so too, where what `left` takes of `x` is rounded for
/// quotients beyond 2^29 only.
#[inline(always)]
pub(super) fn floor(x: f64, y: f64) -> f64 {
    let left = x % y;
    // Close to an integer, which rounding finds.
    let quotient = (x - left) / y - if differ(left, y) { 1.0 } else { 0.0 };
    let quotient = quotient.round_ties_even();
    // A zero has the sign of the quotient, which by 0 is the result.
    let quotient = if quotient == 0.0 { quotient.copysign(x / y) } else { quotient };
    if y == 0.0 { x / y } else { quotient }
}

macro_rules! of {
    ($($ty:ident, $left:ident;)+) => {$(
        /// What that leaves.
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
