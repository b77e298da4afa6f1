//! Functions of elements, for use inside generated loops: no branch, no table, no call but for angles of `f64` beyond 10⁶.
//!
//! Each comes in two forms, [`Separate`] and [`Fused`]: with multiplications and additions by themselves, and with fused ones
//! at the levels that have an instruction for them. A form gives the same bits wherever it runs; the two differ in the last
//! place. Reductions and polynomials are those of FreeBSD's msun (Sun Microsystems, 1993) and Cephes (Moshier, 1984), but for
//! the polynomial of `exp` of `f32`, which is a minimax one of a degree less, and those of `ci/remez`.
//!
//! Errors are in units in the last place, the bound and the largest among all floats:
//!
//! | function | bound | separate | fused |
//! | --- | --- | --- | --- |
//! | `exp` of `f32` | 1 | 0.982, at -81.39479 | 0.892, at 5.2016387 |
//! | `ln` of `f32` | 1 | 0.954, at 0.70683336 | 0.937, at 1.5603251 |
//! | `exp` of `f64` | 2 | | |
//! | `ln` of `f64` | 2 | | |
//!
//! Of the others the larger error of both forms, in `f32` of all floats (`ci/ulp`; of `lgamma`, `digamma`, `erfc`, `asin` and
//! `acos` beside their `f64`), of `pow` of 900 million pairs beside `powf` of `f64`, of `atan2` of 60 million beside its own; in
//! `f64` of 3000 numbers of each function (`ci/exact 3000 > TABLE`, `ci/ulp --table TABLE`), of `pow` and `lgamma` of
//! 40,000, of `erf` and `erfc` of 20,000, of `atan2` of 6000:
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
//! All are exact at zeros, infinities and NaN, and right within the bound for subnormal arguments and results.

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
mod truth;

use crate::kernels::{divided_by_zero, internal_error, number::Number, refused};

pub use near::{Near, Ranges};
pub use rounding::{Float, Fused, Rounding, Separate};
pub use truth::*;

/// A function of elements by its name: by separate multiplications and additions, and by fused ones.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Of `f32`.
    pub f32: [fn(&[f32]) -> f32; 2],
    /// Of `f64`.
    pub f64: [fn(&[f64]) -> f64; 2],
}

/// The larger float, or the smaller one, by selections alone, and the first where the one named last is NaN. Equal floats
/// differ in the sign of a zero at most, which both must have, or either.
macro_rules! extreme {
    ($x:ident $beats:tt $y:ident, $sign:tt, $nan:ident) => {{
        let equal = Self::from_bits($x.to_bits() $sign $y.to_bits());
        let chosen = if $x $beats $y { $x } else { $y };
        let chosen = if $x == $y { equal } else { chosen };
        if $nan.is_nan() { $x } else { chosen }
    }};
}

/// A float, or 0 on a condition. The float is computed first, so that a loop selects and has no branch.
macro_rules! unless {
    ($is_zero:expr, $float:expr) => {{
        let float = $float;
        if $is_zero { 0.0 } else { float }
    }};
}

/// Declares the functions of elements: what one is of `f32`, of `f64` and of integers.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) { $f32:expr, $f64:expr, $integer:expr })+) => {
        /// The functions of elements, computed with products and sums that are rounded once or twice.
        /// [`Kernel::run_by`](crate::simd::Kernel::run_by) takes it as a type parameter.
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

        /// What the functions are of an element type. Where it has none of them, the rules have refused the program.
        pub trait Functions: Number + Ranges {
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
        /// By separate multiplications and additions.
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
            #[allow(unused_variables, reason = "what an element type does not have reads nothing")]
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

    /// e to the power of `x`, less 1. See the module for the error bound.
    expm1(x) { expm1::f32::<A>(x), expm1::f64::<A>(x), refused() }

    /// The logarithm of `x` to the base 2. See the module for the error bound.
    log2(x) { log2::f32::<A>(x), log2::f64::<A>(x), refused() }

    /// The logarithm of `x` to the base 10. See the module for the error bound.
    log10(x) { log2::ten_f32::<A>(x), log2::ten_f64::<A>(x), refused() }

    /// The natural logarithm of 1 and `x`. See the module for the error bound.
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

    /// The angle of the point of `y` and `x`. See the module for the error bound.
    atan2(y, x) { atan::of_two_f32::<A>(y, x), atan::of_two_f64::<A>(y, x), refused() }

    /// The root of the sum of the squares of `x` and `y`. See the module for the error bound.
    hypot(x, y) { hypot::f32(x, y), hypot::f64(x, y), refused() }

    /// `x` to the power of `y`, as IEEE 754 has it. See the module for the error bound.
    pow(x, y) { pow::f32::<A>(x, y), pow::f64::<A>(x, y), refused() }

    /// What a division of `x` by `y` without its fraction leaves: exact, with the sign of `x`.
    rem(x, y) { x % y, x % y, if y == 0 { divided_by_zero() } else { x.wrapping_rem(y) } }

    /// The largest integer that is at most the quotient of `x` and `y`, as NumPy has it. See the module for the error bound.
    floor_divide(x, y) {
        quotient::floor(x.into(), y.into()) as f32,
        quotient::floor(x, y),
        if y == 0 { divided_by_zero() } else { x.wrapping_div(y) - Self::from(quotient::differ(x.wrapping_rem(y), y)) }
    }

    /// What `floor_divide` leaves of `x`: rounded once, with the sign of `y`.
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

    /// `x` with the sign of `y`, which is positive for NaN.
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

    /// The logarithm of 1 less the exponential of `-x`. See the module for the error bound.
    log1mexp(x) { logaddexp::difference_f32::<A>(x), logaddexp::difference_f64::<A>(x), refused() }

    /// 1 over 1 and the exponential of `-x`. See the module for the error bound.
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

    /// The derivative of `digamma` of so high an order, a call: for derivatives of derivatives.
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

    /// 1 less the error function of `x`. See the module for the error bound.
    erfc(x) { erf::complement_f32::<A>(x), erf::complement_f64::<A>(x), refused() }

    /// `erfc` times the exponential of the square of `x`. See the module for the error bound.
    erfcx(x) { erfcx::f32::<A>(x), erfcx::f64::<A>(x), refused() }

    /// The size of a derivative of `erfcx`, of the order `n`, a call: for derivatives.
    erfcx_derivative(n, x) {
        mind_special::erfcx_derivative(n as i64, x.into()) as f32,
        mind_special::erfcx_derivative(n as i64, x),
        refused()
    }

    /// The logarithm of the distribution function of the standard normal distribution. See the module for the error bound.
    log_ndtr(x) { erfcx::logarithm_f32::<A>(x), erfcx::logarithm_f64::<A>(x), refused() }

    /// `x` without its sign; the least integer wraps to itself.
    abs(x) { x.abs(), x.abs(), if x < Self::ZERO { x.wrapping_neg() } else { x } }

    /// 1 above 0 and -1 below; zeros and NaN stay.
    sign(x) {
        if x.abs() > 0.0 { 1_f32.copysign(x) } else { x },
        if x.abs() > 0.0 { 1_f64.copysign(x) } else { x },
        Self::from(x > Self::ZERO) - Self::from(x < Self::ZERO)
    }

    /// The largest integer that is at most `x`.
    floor(x) { x.floor(), x.floor(), refused() }

    /// The least integer that is at least `x`.
    ceil(x) { x.ceil(), x.ceil(), refused() }

    /// The nearest integer, of two the even one.
    round(x) { x.round_ties_even(), x.round_ties_even(), refused() }

    /// `x` without its fraction.
    trunc(x) { x.trunc(), x.trunc(), refused() }

    /// The larger one: NaN if either is, and +0 of two zeros.
    maximum(x, y) { extreme!(x > y, &, x), extreme!(x > y, &, x), x.max(y) }

    /// The smaller one: NaN if either is, and -0 of two zeros.
    minimum(x, y) { extreme!(x < y, |, x), extreme!(x < y, |, x), x.min(y) }

    /// `x · y`, but 0 where a factor is 0, whatever the other one is.
    mul_keep_zero(x, y) {
        if (x != 0.0) & (y != 0.0) { x * y } else { 0.0 },
        if (x != 0.0) & (y != 0.0) { x * y } else { 0.0 },
        refused()
    }

    /// `x / y`, but 0 where `x` is 0, whatever `y` is.
    div_keep_zero(x, y) { unless!(x == 0.0, x / y), unless!(x == 0.0, x / y), refused() }

    /// The larger one: of a number and NaN the number, and +0 of two zeros.
    fmax(x, y) { extreme!(x > y, &, y), extreme!(x > y, &, y), x.max(y) }

    /// The smaller one: of a number and NaN the number, and -0 of two zeros.
    fmin(x, y) { extreme!(x < y, |, y), extreme!(x < y, |, y), x.min(y) }
}

/// `x` where it is above 0, else 0: also of NaN.
#[inline(always)]
pub fn relu<T: Number>(x: T) -> T {
    if x > T::ZERO { x } else { T::ZERO }
}

/// The cotangent `dy` where `x` is above 0, else 0.
#[inline(always)]
pub fn relu_grad<T: Number>(dy: T, x: T) -> T {
    if x > T::ZERO { dy } else { T::ZERO }
}

/// 1 where both are equal or both NaN, else 0.
#[inline(always)]
pub fn same<T: Number>(x: T, y: T) -> T {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    if x == y || (is_nan(x) && is_nan(y)) { T::ONE } else { T::ZERO }
}
