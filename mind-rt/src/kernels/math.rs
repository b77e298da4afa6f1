//! `exp`, `ln` and the rectifier, for use inside generated loops: no branch, no table, no call.
//!
//! Each comes in two forms, [`Separate`] and [`Fused`]: with multiplications and additions by themselves, and with fused ones
//! at the levels that have an instruction for them. A form gives the same bits wherever it runs; the two differ in the last
//! place. Reductions and polynomials are those of FreeBSD's msun (Sun Microsystems, 1993) and Cephes (Moshier, 1984), but for
//! the polynomial of `exp` of `f32`, which is a minimax one of a degree less.
//!
//! Errors are in units in the last place, the bound and the largest among all floats:
//!
//! | function | bound | separate | fused |
//! | --- | --- | --- | --- |
//! | `exp` of `f32` | 1 | 0.982, at -81.39479 | 0.892, at 5.2016387 |
//! | `ln` of `f32` | 1 | 0.835, at 1.4054595 | 0.835, at 1.4054595 |
//! | `exp` of `f64` | 2 | | |
//! | `ln` of `f64` | 2 | | |
//!
//! All are exact at zeros, infinities and NaN, and right within the bound for subnormal arguments and results.

use crate::element::Element;

/// An element type with `exp` and `ln`.
pub trait Float: Element {
    /// e to the power of `self`.
    #[must_use]
    fn exp_by<A: MultiplyAdd>(self) -> Self;

    /// The natural logarithm; -∞ at 0, NaN below.
    #[must_use]
    fn ln_by<A: MultiplyAdd>(self) -> Self;

    /// `self · factor + term`, rounded once. Slow where the processor has no instruction for it.
    #[must_use]
    fn fused(self, factor: Self, term: Self) -> Self;
}

/// How a product and a sum are computed: one after the other or fused. [`Kernel::run_by`](crate::simd::Kernel::run_by) is told.
pub trait MultiplyAdd {
    /// `x · y + z`.
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T;

    /// `1 + r + p · r²`, where only the first term is large: the end of a series.
    fn one_plus<T: Float>(r: T, p: T) -> T;

    /// e to the power of `x`. See the module for the error bound.
    #[inline(always)]
    fn exp<T: Float>(x: T) -> T
    where
        Self: Sized,
    {
        x.exp_by::<Self>()
    }

    /// The natural logarithm of `x`: -∞ at ±0, NaN below. See the module for the error bound.
    #[inline(always)]
    fn ln<T: Float>(x: T) -> T
    where
        Self: Sized,
    {
        x.ln_by::<Self>()
    }
}

/// Multiplications and additions that round each for itself.
#[derive(Clone, Copy, Debug)]
pub struct Separate;

/// Multiplications and additions that round once: for code that is compiled for a level with an instruction for it.
#[derive(Clone, Copy, Debug)]
pub struct Fused;

impl MultiplyAdd for Separate {
    #[inline(always)]
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T {
        x.times(y).plus(z)
    }

    #[inline(always)]
    fn one_plus<T: Float>(r: T, p: T) -> T {
        p.times(r.times(r)).plus(r).plus(T::ONE)
    }
}

impl MultiplyAdd for Fused {
    #[inline(always)]
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T {
        x.fused(y, z)
    }

    #[inline(always)]
    fn one_plus<T: Float>(r: T, p: T) -> T {
        p.fused(r, T::ONE).fused(r, T::ONE)
    }
}

/// e to the power of `x`, by separate multiplications and additions. See the module for the error bound.
#[inline(always)]
pub fn exp<T: Float>(x: T) -> T {
    Separate::exp(x)
}

/// The natural logarithm of `x`: -∞ at ±0, NaN below; by separate multiplications and additions. See the module for the
/// error bound.
#[inline(always)]
pub fn ln<T: Float>(x: T) -> T {
    Separate::ln(x)
}

/// `x` where it is above 0, else 0: also of NaN.
#[inline(always)]
pub fn relu<T: Element>(x: T) -> T {
    if x > T::ZERO { x } else { T::ZERO }
}

/// The cotangent `dy` where `x` is above 0, else 0.
#[inline(always)]
pub fn relu_grad<T: Element>(dy: T, x: T) -> T {
    if x > T::ZERO { dy } else { T::ZERO }
}

/// Evaluates a polynomial, coefficients from the highest power down.
macro_rules! horner {
    ($x:expr; $first:expr $(, $rest:expr)*) => {{
        let sum = $first;
        $(let sum = A::multiply_add(sum, $x, $rest);)*
        sum
    }};
}

impl Float for f32 {
    #[inline(always)]
    fn exp_by<A: MultiplyAdd>(self) -> Self {
        /// 1.5 · 2²³ and twice the bias of exponents: adding it rounds to an integer, which is then in the low bits.
        const ROUND: f32 = 12_582_912.0 + 254.0;
        /// ln 2 in two parts: products of the first with exponents are exact.
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;

        // Beyond these the result is 0 or ∞ anyway. Written so that NaN passes.
        let x = if self > 89.0 { 89.0 } else { self };
        let x = if x < -104.0 { -104.0 } else { x };
        let shifted = A::multiply_add(x, std::f32::consts::LOG2_E, ROUND);
        let power = shifted - ROUND;
        let r = A::multiply_add(power, -LN2_LOW, A::multiply_add(power, -LN2_HIGH, x));
        // Found by Remez' exchange: within 3.1e-9 of exp, relatively.
        let p = horner!(r; 1.381_454e-3, 8.368_745e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1);
        let y = A::one_plus(r, p);
        // In two steps, of which only the second can leave the normal range. What is above the exponent is shifted out.
        let biased = shifted.to_bits();
        let half = biased >> 1;
        y * f32::from_bits(half << 23) * f32::from_bits(biased.wrapping_sub(half) << 23)
    }

    #[inline(always)]
    fn ln_by<A: MultiplyAdd>(self) -> Self {
        const LN2_HIGH: f32 = 6.931_381e-1;
        const LN2_LOW: f32 = 9.058_001e-6;
        const SQRT_HALF: i32 = 0x3f35_04f3;

        let subnormal = self < f32::MIN_POSITIVE;
        let x = if subnormal { self * 33_554_432.0 } else { self };
        let bits = (x.to_bits() as i32).wrapping_sub(SQRT_HALF);
        let exponent = (bits >> 23) - if subnormal { 25 } else { 0 };
        let mantissa = f32::from_bits(((bits & 0x007f_ffff) + SQRT_HALF) as u32);
        let k = exponent as f32;

        let f = mantissa - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let w = z * z;
        let even = horner!(w; 0.242_790_79, 0.400_009_72);
        let odd = horner!(w; 0.284_987_87, 0.666_666_6);
        let half_square = 0.5 * f * f;
        let rest = half_square + A::multiply_add(w, even, z * odd);
        let y = A::multiply_add(k, LN2_HIGH, A::multiply_add(s, rest, k * LN2_LOW) - half_square + f);

        // +∞ stays; ±0 is -∞; below 0 and NaN are NaN. One comparison of bits tells that it is none of these.
        let special = if self == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
        let special = if self > 0.0 { self } else { special };
        let ordinary = self.to_bits().wrapping_sub(1) < f32::INFINITY.to_bits() - 1;
        if ordinary { y } else { special }
    }

    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

impl Float for f64 {
    #[inline(always)]
    fn exp_by<A: MultiplyAdd>(self) -> Self {
        /// 1.5 · 2⁵² and twice the bias of exponents: adding it rounds to an integer, which is then in the low bits.
        const ROUND: f64 = 6_755_399_441_055_744.0 + 2046.0;
        /// ln 2 in two parts: products of the first with exponents are exact.
        const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

        // Beyond these the result is 0 or ∞ anyway. Written so that NaN passes.
        let x = if self > 710.0 { 710.0 } else { self };
        let x = if x < -746.0 { -746.0 } else { x };
        let shifted = A::multiply_add(x, std::f64::consts::LOG2_E, ROUND);
        let power = shifted - ROUND;
        let r = A::multiply_add(power, -LN2_LOW, A::multiply_add(power, -LN2_HIGH, x));
        // Taylor's series: |r| is at most (ln 2) / 2, where the first term left out is 2^-57.
        let p = horner!(r;
            1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0, 1.0 / 362_880.0,
            1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5);
        let y = A::one_plus(r, p);
        // As above.
        let biased = shifted.to_bits();
        let half = biased >> 1;
        y * f64::from_bits(half << 52) * f64::from_bits(biased.wrapping_sub(half) << 52)
    }

    #[inline(always)]
    fn ln_by<A: MultiplyAdd>(self) -> Self {
        const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        const SQRT_HALF: i64 = 0x3fe6_a09e_667f_3bcd;
        /// 1.5 · 2⁵², and its bits.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        const ROUND_BITS: u64 = ROUND.to_bits();

        let subnormal = self < f64::MIN_POSITIVE;
        let x = if subnormal { self * 18_014_398_509_481_984.0 } else { self };
        // The exponent above that of √½, biased by 1024 to be positive: a logical shift finds it, and an addition in the
        // mantissa of 1.5 · 2⁵² makes it a float, where SSE2 and AVX2 have neither arithmetic shift nor conversion.
        let bits = x.to_bits().wrapping_sub(SQRT_HALF as u64);
        let biased = bits.wrapping_add(1024 << 52) >> 52;
        let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF as u64));
        let k = f64::from_bits(biased.wrapping_add(ROUND_BITS)) - (ROUND + 1024.0);
        let k = k - if subnormal { 54.0 } else { 0.0 };

        let f = mantissa - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let w = z * z;
        let even =
            horner!(w; 1.531_383_769_920_937_3e-1, 2.222_219_843_214_978_4e-1, 3.999_999_999_940_942e-1);
        let odd = horner!(w;
            1.479_819_860_511_658_6e-1, 1.818_357_216_161_805e-1, 2.857_142_874_366_239e-1, 6.666_666_666_666_735e-1);
        let half_square = 0.5 * f * f;
        let rest = half_square + A::multiply_add(w, even, z * odd);
        let y = A::multiply_add(k, LN2_HIGH, A::multiply_add(s, rest, k * LN2_LOW) - half_square + f);

        // +∞ stays; ±0 is -∞; below 0 and NaN are NaN. One comparison of bits tells that it is none of these.
        let special = if self == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
        let special = if self > 0.0 { self } else { special };
        let ordinary = self.to_bits().wrapping_sub(1) < f64::INFINITY.to_bits() - 1;
        if ordinary { y } else { special }
    }

    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, SimdLevel, detect, run_at_most, run_portable};

    /// The error of `got` in units in the last place of a float32 near `exact`.
    fn error_f32(got: f32, exact: f64) -> f64 {
        if got.is_nan() && exact.is_nan() || f64::from(got) == exact {
            return 0.0;
        }
        if exact.abs() >= f64::from(f32::MAX) * (1.0 + f64::from(f32::EPSILON) / 4.0) {
            return if got == exact.signum() as f32 * f32::INFINITY { 0.0 } else { f64::INFINITY };
        }
        let exponent = (exact.abs().max(f64::from(f32::MIN_POSITIVE)).to_bits() >> 52) as i32 - 1023;
        (f64::from(got) - exact).abs() / 2f64.powi(exponent - 23)
    }

    /// Every exponent of both signs, `per_exponent` mantissas each, those at the ends among them.
    fn sample_f32(per_exponent: u32) -> impl Iterator<Item = f32> {
        let step = (1 << 23) / per_exponent;
        (0..512_u32).flat_map(move |exponent| {
            let spread = (0..per_exponent).map(move |i| i * step + (i * 7919 + exponent * 104_729) % step);
            spread
                .chain([0, 1, 2, 0x35_04f2, 0x35_04f3, 0x35_04f4, 0x7f_fffe, 0x7f_ffff])
                .map(move |mantissa| f32::from_bits((exponent << 23) | mantissa))
        })
    }

    fn exp_of_f32_is_within_its_bound<A: MultiplyAdd>() {
        let worst = sample_f32(4096).map(|x| error_f32(A::exp(x), f64::from(x).exp())).fold(0.0, f64::max);
        assert!(worst <= 1.0, "{worst}");
        // Where it matters most, and where results become subnormal.
        let near = (-1_050_000..=900_000).map(|i| i as f32 * 1e-4);
        let worst = near.map(|x| error_f32(A::exp(x), f64::from(x).exp())).fold(0.0, f64::max);
        assert!(worst <= 1.0, "{worst}");
    }

    #[test]
    fn exp_of_f32_is_within_its_bound_everywhere() {
        exp_of_f32_is_within_its_bound::<Separate>();
        exp_of_f32_is_within_its_bound::<Fused>();
    }

    fn ln_of_f32_is_within_its_bound<A: MultiplyAdd>() {
        let worst = sample_f32(4096).map(|x| error_f32(A::ln(x), f64::from(x).ln())).fold(0.0, f64::max);
        assert!(worst <= 1.0, "{worst}");
        let near_one =
            (-500_000..=500_000).map(|i: i32| f32::from_bits((1.0_f32.to_bits() as i32 + 17 * i) as u32));
        let worst = near_one.map(|x| error_f32(A::ln(x), f64::from(x).ln())).fold(0.0, f64::max);
        assert!(worst <= 1.0, "{worst}");
    }

    #[test]
    fn ln_of_f32_is_within_its_bound_everywhere() {
        ln_of_f32_is_within_its_bound::<Separate>();
        ln_of_f32_is_within_its_bound::<Fused>();
    }

    /// How many floats apart; std's functions are within 1 ulp themselves, so 2 apart may be 3 from the truth.
    fn apart(x: f64, y: f64) -> u64 {
        let order = |x: f64| {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN - bits } else { bits }
        };
        if x.is_nan() && y.is_nan() { 0 } else { order(x).abs_diff(order(y)) }
    }

    fn sample_f64(per_exponent: u64) -> impl Iterator<Item = f64> {
        let step = (1_u64 << 52) / per_exponent;
        (0..4096_u64).flat_map(move |exponent| {
            let spread =
                (0..per_exponent).map(move |i| i * step + (i * 7919 + exponent * 1_299_709) * 104_729 % step);
            spread
                .chain([0, 1, 2, 0x6_a09e_667f_3bcc, 0x6_a09e_667f_3bcd, 0xf_ffff_ffff_ffff])
                .map(move |mantissa| f64::from_bits((exponent << 52) | mantissa))
        })
    }

    fn exp_of_f64_is_within_its_bound<A: MultiplyAdd>() {
        let worst = sample_f64(256).map(|x| apart(A::exp(x), x.exp())).max();
        assert!(worst <= Some(1), "{worst:?}");
        let near = (-7_500_000..=7_200_000).step_by(3).map(|i| f64::from(i) * 1e-4);
        let worst = near.map(|x| apart(A::exp(x), x.exp())).max();
        assert!(worst <= Some(1), "{worst:?}");
    }

    #[test]
    fn exp_of_f64_is_within_its_bound_everywhere() {
        exp_of_f64_is_within_its_bound::<Separate>();
        exp_of_f64_is_within_its_bound::<Fused>();
    }

    fn ln_of_f64_is_within_its_bound<A: MultiplyAdd>() {
        let worst = sample_f64(256).map(|x| apart(A::ln(x), x.ln())).max();
        assert!(worst <= Some(1), "{worst:?}");
        let near_one = (-500_000..=500_000).map(|i| 1.0 + f64::from(i) * 1e-6);
        let worst = near_one.map(|x| apart(A::ln(x), x.ln())).max();
        assert!(worst <= Some(1), "{worst:?}");
    }

    #[test]
    fn ln_of_f64_is_within_its_bound_everywhere() {
        ln_of_f64_is_within_its_bound::<Separate>();
        ln_of_f64_is_within_its_bound::<Fused>();
    }

    /// What the module's table says, found by trying every float.
    #[test]
    fn the_largest_errors_are_those_stated() {
        let exp_error = |y: f32, x: f32| error_f32(y, f64::from(x).exp());
        let ln_error = |y: f32, x: f32| error_f32(y, f64::from(x).ln());
        for (error, stated) in [
            (exp_error(Separate::exp(-81.39479), -81.39479), 0.982),
            (exp_error(Fused::exp(5.2016387), 5.2016387), 0.892),
            (ln_error(Separate::ln(1.4054595), 1.4054595), 0.835),
            (ln_error(Fused::ln(1.4054595), 1.4054595), 0.835),
        ] {
            assert!(error <= stated && error > stated - 0.001, "{error}, stated {stated}");
        }
    }

    fn special_values<A: MultiplyAdd>() {
        assert_eq!(
            (A::exp(0.0_f32), A::exp(-0.0_f32), A::exp(0.0_f64), A::exp(-0.0_f64)),
            (1.0, 1.0, 1.0, 1.0)
        );
        assert_eq!((A::exp(f32::INFINITY), A::exp(f32::NEG_INFINITY)), (f32::INFINITY, 0.0));
        assert_eq!((A::exp(f64::INFINITY), A::exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
        assert_eq!(
            (A::exp(f32::MAX), A::exp(f32::MIN), A::exp(f64::MAX), A::exp(f64::MIN)),
            (f32::INFINITY, 0.0, f64::INFINITY, 0.0)
        );
        assert_eq!((A::exp(88.722_84_f32), A::exp(-103.972_1_f32)), (f32::INFINITY, 0.0));
        assert!(A::exp(88.722_83_f32).is_finite() && A::exp(-103.972_07_f32) == f32::from_bits(1));
        assert!(
            A::exp(709.782_712_893_384_f64).is_finite() && A::exp(709.782_712_893_385_f64) == f64::INFINITY
        );
        assert!(
            A::exp(-745.133_219_101_941_f64) == f64::from_bits(1) && A::exp(-745.133_219_101_942_f64) == 0.0
        );
        assert!(
            A::exp(f32::NAN).is_nan()
                && A::exp(f64::NAN).is_nan()
                && A::ln(f32::NAN).is_nan()
                && A::ln(f64::NAN).is_nan()
        );
        assert!(
            A::exp(-f32::NAN).is_nan()
                && A::exp(-f64::NAN).is_nan()
                && A::ln(-f32::NAN).is_nan()
                && A::ln(-f64::NAN).is_nan()
        );
        assert_eq!((A::ln(0.0_f32), A::ln(-0.0_f32)), (f32::NEG_INFINITY, f32::NEG_INFINITY));
        assert_eq!((A::ln(0.0_f64), A::ln(-0.0_f64)), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert_eq!((A::ln(1.0_f32), A::ln(1.0_f64)), (0.0, 0.0));
        assert!(A::ln(1.0_f32).is_sign_positive() && A::ln(1.0_f64).is_sign_positive());
        assert_eq!((A::ln(f32::INFINITY), A::ln(f64::INFINITY)), (f32::INFINITY, f64::INFINITY));
        for negative in [-f32::from_bits(1), -1.0, f32::MIN, f32::NEG_INFINITY] {
            assert!(A::ln(negative).is_nan() && A::ln(f64::from(negative)).is_nan());
        }
    }

    #[test]
    fn special_values_are_exact() {
        special_values::<Separate>();
        special_values::<Fused>();
    }

    #[test]
    fn the_rectifier_and_its_derivative() {
        for (x, y) in [(2.0, 2.0), (0.0, 0.0), (-1.0, 0.0), (f32::INFINITY, f32::INFINITY), (f32::NAN, 0.0)] {
            assert_eq!(relu(x), y);
            assert_eq!(relu_grad(3.0, x), if y > 0.0 { 3.0 } else { 0.0 });
        }
        assert!(relu(-0.0_f64).is_sign_positive());
        assert_eq!((relu(-5_i32), relu(5_i64), relu_grad(3_i64, 0)), (0, 5, 0));
    }

    struct Both<'a, T>(&'a [T], &'a mut [T]);

    impl<T: Float> Kernel for Both<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            self.run_by::<Separate>();
        }

        #[inline(always)]
        fn run_by<A: MultiplyAdd>(self) {
            for (out, x) in self.1.iter_mut().zip(self.0) {
                *out = A::ln(*x).plus(A::exp(*x));
            }
        }
    }

    /// A form gives the same bits wherever it runs.
    fn same_at_every_level<T: Float>(data: &[T], bits: impl Fn(T) -> u64) {
        let run = |loop_of: &dyn Fn(Both<'_, T>)| {
            let mut out = vec![T::ZERO; data.len()];
            loop_of(Both(data, &mut out));
            out.into_iter().map(&bits).collect::<Vec<_>>()
        };
        let (separate, fused) =
            (run(&|kernel| kernel.run_by::<Separate>()), run(&|kernel| kernel.run_by::<Fused>()));
        assert!(
            run(&|kernel| run_portable(kernel))
                == if cfg!(target_arch = "aarch64") { fused.clone() } else { separate }
        );
        for level in [SimdLevel::Avx2, SimdLevel::Avx512] {
            if level <= detect() {
                assert!(run(&|kernel| run_at_most(level, kernel)) == fused, "{level:?}");
            }
        }
    }

    #[test]
    fn results_are_the_same_to_the_bit_wherever_multiplications_are_fused() {
        let data: Vec<f32> = sample_f32(64).filter(|x| *x >= 0.0).collect();
        same_at_every_level(&data, |x| x.to_bits().into());
        let data: Vec<f64> = sample_f64(16).filter(|x| *x >= 0.0).collect();
        same_at_every_level(&data, |x| x.to_bits());
    }
}
