//! The element types with which tensors can be computed.

use crate::bare::Number;

/// A numeric element type. Integer arithmetic wraps. Sealed.
///
/// ```
/// use mind_rt::{Numeric, Shape, Tensor, TensorRef};
///
/// fn doubled<T: Numeric, S: Shape>(x: &TensorRef<T, S>) -> Tensor<T, S> {
///     x + x
/// }
///
/// let x: Tensor![i32; 2] = Tensor::from([1, 2]);
/// assert_eq!(doubled(&x).as_slice(), [2, 4]);
/// ```
pub trait Numeric: Number {
    /// The number of values from `start` on, `step` apart, that lie before `end`; at most `usize::MAX`. `None` if the
    /// step is 0 or a value is NaN.
    #[doc(hidden)]
    fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize>;

    /// `start + count * step`, which must be in the range of the type.
    #[doc(hidden)]
    fn after_steps(start: Self, step: Self, count: usize) -> Self;
}

/// A floating-point element type: `f32`, `f64`. Sealed.
///
/// ```
/// use mind_rt::{Float, Shape, Tensor, TensorRef, Xoshiro256};
///
/// fn with_noise<T: Float, S: Shape>(x: &TensorRef<T, S>) -> Tensor<T, S> {
///     x + Tensor::randn_with(x.shape(), &mut Xoshiro256::new(1))
/// }
///
/// let x: Tensor![f32; 2] = Tensor::from([1.0, 2.0]);
/// assert_ne!(with_noise(&x), x);
/// ```
pub trait Float: Numeric {
    /// The value of this type that is nearest to `number`.
    #[doc(hidden)]
    fn rounded(number: f64) -> Self;

    /// Converts random bits to a number from 0 to below 1, uniformly distributed.
    #[doc(hidden)]
    fn even(bits: u64) -> Self;
}

macro_rules! floats {
    ($($ty:ident $digits:literal;)*) => {
        $(
            impl Numeric for $ty {
                fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize> {
                    let count = ((f64::from(end) - f64::from(start)) / f64::from(step)).ceil();
                    // The quotient is NaN if an argument is NaN, or for undefined operations such as 0 / 0.
                    (step != 0.0 && !count.is_nan()).then_some(count as usize)
                }

                fn after_steps(start: Self, step: Self, count: usize) -> Self {
                    (f64::from(start) + count as f64 * f64::from(step)) as Self
                }
            }

            impl Float for $ty {
                fn rounded(number: f64) -> Self {
                    number as Self
                }

                fn even(bits: u64) -> Self {
                    (bits >> (64 - $digits)) as Self / (1_u64 << $digits) as Self
                }
            }
        )*
    };
}

// The number of random bits in a number: every multiple of 2^-digits below 1 is exact.
floats! {
    f32 24;
    f64 53;
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Numeric for $ty {
            fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize> {
                let (distance, step) = (i128::from(end) - i128::from(start), i128::from(step));
                // The distance is measured in the direction of the step.
                let (distance, step) = (distance * step.signum(), step.abs());
                match step {
                    0 => None,
                    _ if distance <= 0 => Some(0),
                    _ => Some(usize::try_from((distance + step - 1) / step).unwrap_or(usize::MAX)),
                }
            }

            fn after_steps(start: Self, step: Self, count: usize) -> Self {
                start.wrapping_add(step.wrapping_mul(count as Self))
            }
        })*
    };
}

mind_shape::element_types!(integers => integers!);
