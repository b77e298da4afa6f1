//! Functions of elements, for use inside generated loops. Apart from a few, such as the sine of an `f64` angle beyond
//! 10⁶, they have no branch, no table and no call.
//!
//! Each function has two forms. [`Separate`] rounds multiplications and additions separately. [`Fused`] uses fused
//! multiply-adds, at the levels that have an instruction for them. A form gives the same bits wherever it runs; the two
//! forms differ in the last place. Reductions and polynomials are those of FreeBSD's msun (Sun Microsystems, 1993) and
//! Cephes (Moshier, 1984), except for the polynomial of `exp` of `f32`, which is a minimax one with a degree less, and
//! those of `ci/remez`.
//!
//! Errors are in units in the last place. The first table has the bound and the largest error among all floats:
//!
//! | function | bound | separate | fused |
//! | --- | --- | --- | --- |
//! | `exp` of `f32` | 1 | 0.982, at -81.39479 | 0.892, at 5.2016387 |
//! | `ln` of `f32` | 1 | 0.954, at 0.70683336 | 0.937, at 1.5603251 |
//! | `exp` of `f64` | 2 | | |
//! | `ln` of `f64` | 2 | | |
//!
//! The second table has the larger error of both forms:
//!
//! - In `f32` it is the largest among all floats (`ci/ulp`). `lgamma`, `digamma`, `erfc`, `asin` and `acos` are
//!   compared with their `f64` forms, `pow` on 900 million pairs with `powf` of `f64`, and `atan2` on 60 million pairs
//!   with `atan2` of `f64`.
//! - In `f64` it is the largest among 3000 numbers per function (`ci/exact 3000 > TABLE`, `ci/ulp --table TABLE`),
//!   among 40,000 for `pow` and `lgamma`, 20,000 for `erf` and `erfc`, and 6000 for `atan2`.
//!
//! | function | bound | `f32` | `f64` |
//! | --- | --- | --- | --- |
//! | `exp2` | 1 in `f32`, 2 in `f64` | 0.989 | 0.90 |
//! | `expm1` | 2 | 1.67 | 1.86 |
//! | `log2`, `log10` | 1 | 0.881 | 0.57 |
//! | `log1p` | 2 in `f32`, 1 in `f64` | 1.561 | 0.74 |
//! | `rsqrt` | 2 | 1.490 | 1.36 |
//! | `cbrt` | 1 | 0.500 | 0.65 |
//! | `sinh`, `cosh` | 3 | 2.35 | 1.96 |
//! | `tanh` | 3 | 2.65 | 2.46 |
//! | `sech_squared` | 6 | 5.995 | 5.08 |
//! | `asinh`, `acosh`, `atanh` | 3 | 2.171 | 1.51 |
//! | `sin`, `cos` | 2 | 1.56 | 1.21 |
//! | `tan` | 3 | 2.19 | 2.00 |
//! | `erf` | 6 in `f32`, 2 in `f64` | 5.97 | 1.59 |
//! | `erfc` | 6 in `f32`, 5 in `f64` | 5.53 | 3.98 |
//! | `gaussian` | 2 | | |
//! | `asin` | 3 in `f32`, 2 in `f64` | 2.025 | 1.09 |
//! | `acos` | 2 | 1.142 | 0.97 |
//! | `atan` | 2 | 1.881 | 1.54 |
//! | `atan2` | 3 | 1.73 | 1.20 |
//! | `hypot` | 1 in `f32`, 2 in `f64` | | 0.98 |
//! | `lgamma`, above 0 in `f64` | 4 in `f32`, 6 in `f64` | 3.78 | 5.44 |
//! | `digamma`, of results beyond 10^-8 in `f32` and ±1 in `f64` | 1 in `f32`, 8 in `f64` | 0.500 | 6.80 |
//! | `trigamma` | 1 in `f32`, 6 in `f64` | 0.501 | 3.21 |
//! | `erf_inv` | 4 in `f32`, 5 in `f64` | 3.85 | |
//! | `pow` | 2 | 1.97 | 1.21 |
//! | `erfcx` | 5 in `f32`, 4 in `f64` | 4.33 | 3.17 |
//! | `erfcx_derivative`, of orders up to 4 | 1 in `f32`, 8 in `f64` | | 4.99 |
//! | `log_ndtr` | 7 in `f32`, 5 in `f64` | 6.85 | 4.24 |
//! | `log1mexp` | 3 | 2.55 | 1.74 |
//! | `logaddexp`, of results beyond 10^-8 in `f32` and ±0.7 in `f64` | 1 in `f32`, 2 in `f64` | | 0.81 |
//! | `logistic` | 3 | 2.40 | 1.68 |
//! | `floor_divide` | 1 in `f32`, 2 in `f64` | | 0.50 |
//!
//! All are exact at zeros, infinities and NaN, and within the bound for subnormal arguments and results.

mod asin;
mod asinh;
mod atan;
mod cbrt;
mod cosh;
mod erf;
mod erf_inv;
mod erfcx;
mod exp;
mod exp2;
mod expm1;
mod gamma;
mod hypot;
mod ln;
mod log1p;
mod log2;
mod logaddexp;
mod near;
mod polynomial;
mod pow;
mod quotient;
mod rounding;
mod sin;
mod sinh;
mod tanh;
#[cfg(test)]
mod tests;
pub(super) mod threefry;
mod truth;

use crate::kernels::{divided_by_zero, internal_error, number::Number, refused};

pub use near::{Near, OperandRanges};
pub use rounding::{Float, Fused, PlusProduct, Rounding, Separate};
pub use truth::*;

/// An elementwise function by its name. Each array has the form with separate multiplications and additions, and the
/// fused form.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The function's name.
    pub name: &'static str,
    /// The two forms for `f32`.
    pub f32: [fn(&[f32]) -> f32; 2],
    /// The two forms for `f64`.
    pub f64: [fn(&[f64]) -> f64; 2],
}

/// The larger or the smaller float, by selections only; `$x` if `$nan` is NaN. Equal floats differ at most in the sign
/// of a zero: with `&` the result is negative if both are, with `|` if either is.
macro_rules! extreme {
    ($x:ident $beats:tt $y:ident, $sign:tt, $nan:ident) => {{
        let equal = Self::from_bits($x.to_bits() $sign $y.to_bits());
        let chosen = if $x $beats $y { $x } else { $y };
        let chosen = if $x == $y { equal } else { chosen };
        if $nan.is_nan() { $x } else { chosen }
    }};
}

/// A float, or 0 on a condition. The float is computed first, so that a loop selects instead of branching.
macro_rules! unless {
    ($is_zero:expr, $float:expr) => {{
        let float = $float;
        if $is_zero { 0.0 } else { float }
    }};
}

/// Declares the elementwise functions. Each has an expression for `f32`, one for `f64` and one for integers.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) { $f32:expr, $f64:expr, $integer:expr })+) => {
        /// The elementwise functions, computed with products and sums that are rounded twice or once.
        /// [`Kernel::run_by`](crate::simd::Kernel::run_by) takes this trait as a type parameter.
        pub trait MultiplyAdd: Rounding {
            $($(#[$doc])*
            #[inline(always)]
            fn $name<T: Functions>($($x: T),+) -> T
            where
                Self: Sized,
            {
                T::$name::<Self>($($x),+)
            })+
        }

        impl<R: Rounding> MultiplyAdd for R {}

        /// The functions for an element type. The type rules refuse programs that use a function that the type does not
        /// have.
        pub trait Functions: Number + OperandRanges {
            $($(#[$doc])*
            #[must_use]
            fn $name<A: MultiplyAdd>($($x: Self),+) -> Self;)+
        }

        functions!(for f32 [$($name($($x),+) $f32;)+]);
        functions!(for f64 [$($name($($x),+) $f64;)+]);
        mind_shape::element_types!(integers => functions! each [$($name($($x),+) $integer;)+]);

        /// Every function, for tests that go over all of them.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            f32: [functions!(call Separate f32 $name($($x),+)), functions!(call Fused f32 $name($($x),+))],
            f64: [functions!(call Separate f64 $name($($x),+)), functions!(call Fused f64 $name($($x),+))],
        }),+];

        $($(#[$doc])*
        ///
        /// Uses separate multiplications and additions.
        #[inline(always)]
        pub fn $name<T: Functions>($($x: T),+) -> T {
            Separate::$name($($x),+)
        })+
    };
    (call $by:ident $ty:ident $name:ident($($x:ident),+)) => {
        |operands: &[$ty]| {
            let [$($x),+] = *operands else { internal_error("a function of another number of operands") };
            $by::$name($($x),+)
        }
    };
    (each $functions:tt $($ty:ident $variant:ident;)*) => { $(functions!(for $ty $functions);)* };
    (for $ty:ident [$($name:ident($($x:ident),+) $value:expr;)+]) => {
        #[allow(clippy::absurd_extreme_comparisons, reason = "no integer without a sign is below 0")]
        impl Functions for $ty {
            $(#[inline(always)]
            #[allow(unused_variables, reason = "a function that an element type lacks reads nothing")]
            fn $name<A: MultiplyAdd>($($x: Self),+) -> Self {
                $value
            })+
        }
    };
}

functions! {
    /// e to the power of `x`. See the module for the error bound.
    exp(x) { exp::f32::<A>(x), exp::f64::<A>(x), refused() }

    /// The natural logarithm of `x`: -∞ at ±0, NaN below. See the module for the error bound.
    ln(x) { ln::f32::<A>(x), ln::f64::<A>(x), refused() }

    /// 2 to the power of `x`. See the module for the error bound.
    exp2(x) { exp2::f32::<A>(x), exp2::f64::<A>(x), refused() }

    /// e to the power of `x`, minus 1. See the module for the error bound.
    expm1(x) { expm1::f32::<A>(x), expm1::f64::<A>(x), refused() }

    /// The logarithm of `x` to the base 2. See the module for the error bound.
    log2(x) { log2::f32::<A>(x), log2::f64::<A>(x), refused() }

    /// The logarithm of `x` to the base 10. See the module for the error bound.
    log10(x) { log2::ten_f32::<A>(x), log2::ten_f64::<A>(x), refused() }

    /// The natural logarithm of 1 + `x`. See the module for the error bound.
    log1p(x) { log1p::f32::<A>(x), log1p::f64::<A>(x), refused() }

    /// The hyperbolic sine of `x`. See the module for the error bound.
    sinh(x) { sinh::f32::<A>(x), sinh::f64::<A>(x), refused() }

    /// The hyperbolic cosine of `x`. See the module for the error bound.
    cosh(x) { cosh::f32::<A>(x), cosh::f64::<A>(x), refused() }

    /// The hyperbolic tangent of `x`. See the module for the error bound.
    tanh(x) { tanh::f32::<A>(x), tanh::f64::<A>(x), refused() }

    /// The inverse hyperbolic sine of `x`. See the module for the error bound.
    asinh(x) { asinh::f32::<A>(x), asinh::f64::<A>(x), refused() }

    /// The inverse hyperbolic cosine of `x`. See the module for the error bound.
    acosh(x) { asinh::acosh_f32::<A>(x), asinh::acosh_f64::<A>(x), refused() }

    /// The inverse hyperbolic tangent of `x`. See the module for the error bound.
    atanh(x) { asinh::atanh_f32::<A>(x), asinh::atanh_f64::<A>(x), refused() }

    /// The inverse sine of `x`. See the module for the error bound.
    asin(x) { asin::f32::<A>(x), asin::f64::<A>(x), refused() }

    /// The inverse cosine of `x`. See the module for the error bound.
    acos(x) { asin::cosine_f32::<A>(x), asin::cosine_f64::<A>(x), refused() }

    /// The inverse tangent of `x`. See the module for the error bound.
    atan(x) { atan::f32::<A>(x), atan::f64::<A>(x), refused() }

    /// The angle of the point (`x`, `y`). See the module for the error bound.
    atan2(y, x) { atan::of_two_f32::<A>(y, x), atan::of_two_f64::<A>(y, x), refused() }

    /// The square root of the sum of the squares of `x` and `y`. See the module for the error bound.
    hypot(x, y) { hypot::f32(x, y), hypot::f64(x, y), refused() }

    /// `x` to the power of `y`, as IEEE 754 defines it. See the module for the error bound.
    pow(x, y) { pow::f32::<A>(x, y), pow::f64::<A>(x, y), refused() }

    /// The remainder of the truncated division of `x` by `y`: exact, with the sign of `x`.
    rem(x, y) { x % y, x % y, if y == 0 { divided_by_zero() } else { x.wrapping_rem(y) } }

    /// The largest integer that is at most the quotient of `x` and `y`, as NumPy defines it. See the module for the
    /// error bound.
    floor_divide(x, y) {
        quotient::floor(x.into(), y.into()) as f32,
        quotient::floor(x, y),
        if y == 0 { divided_by_zero() } else { x.wrapping_div(y) - Self::from(quotient::differ(x.wrapping_rem(y), y)) }
    }

    /// The remainder of `floor_divide`: rounded once, with the sign of `y`.
    remainder(x, y) {
        quotient::left_f32(x, y),
        quotient::left_f64(x, y),
        if y == 0 {
            divided_by_zero()
        } else {
            let left = x.wrapping_rem(y);
            if quotient::differ(left, y) { left + y } else { left }
        }
    }

    /// `x` with the sign of `y`. A NaN counts as positive.
    copysign(x, y) {
        if y.is_sign_negative() && !y.is_nan() { -x.abs() } else { x.abs() },
        if y.is_sign_negative() && !y.is_nan() { -x.abs() } else { x.abs() },
        refused()
    }

    /// The logarithm of the sum of the exponentials of `x` and `y`. See the module for the error bound.
    logaddexp(x, y) {
        logaddexp::sum::<A>(x.into(), y.into()) as f32,
        logaddexp::sum::<A>(x, y),
        refused()
    }

    /// The logarithm of `1 - e^-x`. See the module for the error bound.
    log1mexp(x) { logaddexp::difference_f32::<A>(x), logaddexp::difference_f64::<A>(x), refused() }

    /// `1 / (1 + e^-x)`. See the module for the error bound.
    logistic(x) { logaddexp::logistic_f32::<A>(x), logaddexp::logistic_f64::<A>(x), refused() }

    /// The square of the hyperbolic secant of `x`. See the module for the error bound.
    sech_squared(x) { cosh::sech_squared_f32::<A>(x), cosh::sech_squared_f64::<A>(x), refused() }

    /// e to the power of minus half of the square of `x`. See the module for the error bound.
    gaussian(x) { erf::gaussian_f32::<A>(x), erf::gaussian_f64::<A>(x), refused() }

    /// The cube root of `x`. See the module for the error bound.
    cbrt(x) { cbrt::f32(x), cbrt::f64::<A>(x), refused() }

    /// 1 over the square root of `x`. See the module for the error bound.
    rsqrt(x) { 1.0 / x.sqrt(), 1.0 / x.sqrt(), refused() }

    /// The inverse of the error function. See the module for the error bound.
    erf_inv(x) { erf_inv::f32::<A>(x), erf_inv::f64::<A>(x), refused() }

    /// The logarithm of the absolute value of the gamma function of `x`. See the module for the error bound.
    lgamma(x) { gamma::ln_gamma_f32::<A>(x), gamma::ln_gamma_f64::<A>(x), refused() }

    /// The derivative of `lgamma`. See the module for the error bound.
    digamma(x) { gamma::digamma::<A>(x.into()) as f32, gamma::digamma::<A>(x), refused() }

    /// The derivative of `digamma`. See the module for the error bound.
    trigamma(x) { gamma::trigamma::<A>(x.into()) as f32, gamma::trigamma::<A>(x), refused() }

    /// The `n`th derivative of `digamma`, by a call. It serves derivatives of derivatives.
    polygamma(n, x) {
        mind_special::polygamma(n as i64, x.into()) as f32,
        mind_special::polygamma(n as i64, x),
        refused()
    }

    /// The square root of `x`, rounded once.
    sqrt(x) { x.sqrt(), x.sqrt(), refused() }

    /// The sine of `x`, an angle in radians. See the module for the error bound.
    sin(x) { sin::f32::sin::<A>(x), sin::f64::sin::<A>(x), refused() }

    /// The cosine of `x`, an angle in radians. See the module for the error bound.
    cos(x) { sin::f32::cos::<A>(x), sin::f64::cos::<A>(x), refused() }

    /// The tangent of `x`, an angle in radians. See the module for the error bound.
    tan(x) { sin::f32::tan::<A>(x), sin::f64::tan::<A>(x), refused() }

    /// The error function of `x`. See the module for the error bound.
    erf(x) { erf::f32::<A>(x), erf::f64::<A>(x), refused() }

    /// 1 minus the error function of `x`. See the module for the error bound.
    erfc(x) { erf::complement_f32::<A>(x), erf::complement_f64::<A>(x), refused() }

    /// `erfc` times the exponential of the square of `x`. See the module for the error bound.
    erfcx(x) { erfcx::f32::<A>(x), erfcx::f64::<A>(x), refused() }

    /// The absolute value of the `n`th derivative of `erfcx`, by a call. It serves derivatives.
    erfcx_derivative(n, x) {
        mind_special::erfcx_derivative(n as i64, x.into()) as f32,
        mind_special::erfcx_derivative(n as i64, x),
        refused()
    }

    /// The logarithm of the distribution function of the standard normal distribution. See the module for the error
    /// bound.
    log_ndtr(x) { erfcx::logarithm_f32::<A>(x), erfcx::logarithm_f64::<A>(x), refused() }

    /// Random bits: Threefry-2x32 with 20 rounds. The halves of the result are the first word, and both words combined
    /// by exclusive or.
    threefry(key, counter) { refused(), refused(), threefry::bits(key as u64, counter as u64) as Self }

    /// The absolute value of `x`; the least integer wraps to itself.
    abs(x) { x.abs(), x.abs(), if x < Self::ZERO { x.wrapping_neg() } else { x } }

    /// 1 for a number above 0, and -1 for a number below. Zeros and NaN are unchanged.
    sign(x) {
        if x.abs() > 0.0 { 1_f32.copysign(x) } else { x },
        if x.abs() > 0.0 { 1_f64.copysign(x) } else { x },
        Self::from(x > Self::ZERO) - Self::from(x < Self::ZERO)
    }

    /// The largest integer that is at most `x`.
    floor(x) { x.floor(), x.floor(), refused() }

    /// The least integer that is at least `x`.
    ceil(x) { x.ceil(), x.ceil(), refused() }

    /// The nearest integer; of two equally near ones the even one.
    round(x) { x.round_ties_even(), x.round_ties_even(), refused() }

    /// `x` without its fraction.
    trunc(x) { x.trunc(), x.trunc(), refused() }

    /// The larger one: NaN if either is NaN. +0 is larger than -0.
    maximum(x, y) { extreme!(x > y, &, x), extreme!(x > y, &, x), x.max(y) }

    /// The smaller one: NaN if either is NaN. -0 is smaller than +0.
    minimum(x, y) { extreme!(x < y, |, x), extreme!(x < y, |, x), x.min(y) }

    /// `x · y`, but 0 if a factor is 0, whatever the other one is.
    mul_keep_zero(x, y) {
        if (x != 0.0) & (y != 0.0) { x * y } else { 0.0 },
        if (x != 0.0) & (y != 0.0) { x * y } else { 0.0 },
        refused()
    }

    /// `x / y`, but 0 if `x` is 0, whatever `y` is.
    div_keep_zero(x, y) { unless!(x == 0.0, x / y), unless!(x == 0.0, x / y), refused() }

    /// The larger one: the number if the other one is NaN. +0 is larger than -0.
    fmax(x, y) { extreme!(x > y, &, y), extreme!(x > y, &, y), x.max(y) }

    /// The smaller one: the number if the other one is NaN. -0 is smaller than +0.
    fmin(x, y) { extreme!(x < y, |, y), extreme!(x < y, |, y), x.min(y) }
}

/// `x` if it is above 0, otherwise 0, also for NaN.
#[inline(always)]
pub fn relu<T: Number>(x: T) -> T {
    if x > T::ZERO { x } else { T::ZERO }
}

/// The cotangent `dy` if `x` is above 0, otherwise 0.
#[inline(always)]
pub fn relu_grad<T: Number>(dy: T, x: T) -> T {
    if x > T::ZERO { dy } else { T::ZERO }
}

/// 1 if both are equal or both are NaN, otherwise 0.
#[inline(always)]
pub fn same<T: Number>(x: T, y: T) -> T {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    if x == y || (is_nan(x) && is_nan(y)) { T::ONE } else { T::ZERO }
}
