//! Which elements tensors can be computed with.

use crate::bare::Number;

/// An element that is a number. Arithmetic of integers wraps. Sealed.
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
    /// How many numbers lie from `start` to before `end`, `step` apart: at most as many as can be counted. `None` where steps lead
    /// nowhere.
    #[doc(hidden)]
    fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize>;

    /// `start + count * step`, which is not beyond what the type holds.
    #[doc(hidden)]
    fn after_steps(start: Self, step: Self, count: usize) -> Self;
}

/// An element that is a float: `f32`, `f64`. Sealed.
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
    /// The nearest number of this type.
    #[doc(hidden)]
    fn rounded(number: f64) -> Self;

    /// From random bits a number from 0 to below 1, each as likely.
    #[doc(hidden)]
    fn even(bits: u64) -> Self;
}

macro_rules! floats {
    ($($ty:ident $digits:literal;)*) => {
        $(
            impl Numeric for $ty {
                fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize> {
                    let count = ((f64::from(end) - f64::from(start)) / f64::from(step)).ceil();
                    // What is not a number is 0 divided by 0, or was one of these.
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

// So many bits every number below 1 has room for.
floats! {
    f32 24;
    f64 53;
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Numeric for $ty {
            fn count_of_steps(start: Self, end: Self, step: Self) -> Option<usize> {
                let (distance, step) = (i128::from(end) - i128::from(start), i128::from(step));
                // Towards the end, or there are none.
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
