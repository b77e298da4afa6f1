use super::*;
use crate::sample::every_case;
use crate::simd::{Kernel, SimdLevel, detect, run_at_most, run_portable};

/// The error of `got` in units in the last place of an `f32` near `exact`.
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

/// Every exponent with both signs, each with `per_exponent` mantissas and those at the ends.
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
    // The range that matters most, and the range where results become subnormal.
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

/// The distance of two floats, counted in floats. The functions of std are within 1 ulp themselves, so a distance of 2
/// may be an error of 3.
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

/// The errors in the module's table, which were found by trying every float.
#[test]
fn the_largest_errors_are_those_stated() {
    let exp_error = |y: f32, x: f32| error_f32(y, f64::from(x).exp());
    let ln_error = |y: f32, x: f32| error_f32(y, f64::from(x).ln());
    for (error, stated) in [
        (exp_error(Separate::exp(-81.39479), -81.39479), 0.982),
        (exp_error(Fused::exp(5.2016387), 5.2016387), 0.892),
        (ln_error(Separate::ln(0.70683336), 0.70683336), 0.954),
        (ln_error(Fused::ln(1.5603251), 1.5603251), 0.937),
    ] {
        assert!(error <= stated && error > stated - 0.001, "{error}, stated {stated}");
    }
}

fn special_values<A: MultiplyAdd>() {
    assert_eq!((A::exp(0.0_f32), A::exp(-0.0_f32), A::exp(0.0_f64), A::exp(-0.0_f64)), (1.0, 1.0, 1.0, 1.0));
    assert_eq!((A::exp(f32::INFINITY), A::exp(f32::NEG_INFINITY)), (f32::INFINITY, 0.0));
    assert_eq!((A::exp(f64::INFINITY), A::exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
    assert_eq!(
        (A::exp(f32::MAX), A::exp(f32::MIN), A::exp(f64::MAX), A::exp(f64::MIN)),
        (f32::INFINITY, 0.0, f64::INFINITY, 0.0)
    );
    assert_eq!((A::exp(88.722_84_f32), A::exp(-103.972_1_f32)), (f32::INFINITY, 0.0));
    assert!(A::exp(88.722_83_f32).is_finite() && A::exp(-103.972_07_f32) == f32::from_bits(1));
    assert!(A::exp(709.782_712_893_384_f64).is_finite() && A::exp(709.782_712_893_385_f64) == f64::INFINITY);
    assert!(A::exp(-745.133_219_101_941_f64) == f64::from_bits(1) && A::exp(-745.133_219_101_942_f64) == 0.0);
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

fn angles_of_any_size<A: MultiplyAdd>() {
    // The `f64` nearest to a multiple of π/2.
    let nearest = 6_381_956_970_095_103.0 * 2f64.powi(797);
    let close = |found: f64, exact: f64| assert!(apart(found, exact) <= 2, "{found:e}, not {exact:e}");
    close(A::sin(1e22), -0.852_200_849_767_188_8);
    close(A::cos(1e22), 0.523_214_785_395_139);
    close(A::tan(1e22), -1.628_778_225_606_898_8);
    close(A::sin(f64::MAX), 0.004_961_954_789_184_062);
    close(A::cos(f64::MAX), -0.999_987_689_426_559_9);
    close(A::cos(nearest), -4.687_165_924_254_628e-19);
    close(A::sin(std::f64::consts::PI), 1.224_646_799_147_353_2e-16);
    close(A::cos(-std::f64::consts::FRAC_PI_2), 6.123_233_995_736_766e-17);
    assert!(error_f32(A::sin(f32::MAX), f64::from(f32::MAX).sin()) < 2.0);
}

#[test]
fn turns_are_taken_away_from_angles_of_any_size() {
    angles_of_any_size::<Separate>();
    angles_of_any_size::<Fused>();
}

/// Every function that has a range, for samples and for the ends of the range.
macro_rules! bits_in_range {
    ($A:ident $ty:ident, $sample:expr, $limit:expr) => {{
        let quantile = erf_inv::LIMIT as $ty;
        let ends = [
            $limit,
            -$limit,
            quantile,
            -quantile,
            $ty::MIN_POSITIVE,
            $ty::from_bits(1),
            $ty::MAX,
            0.0,
            1.0,
            2.0,
            6.5,
        ];
        let (mut angles, mut quantiles, mut positive, mut powers) = (0, 0, 0, 0);
        for x in $sample.chain(ends) {
            if x.is_near_angle() {
                let near = [Near::<$A>::sin(x), Near::<$A>::cos(x), Near::<$A>::tan(x)];
                assert_eq!(
                    near.map($ty::to_bits),
                    [$A::sin(x), $A::cos(x), $A::tan(x)].map($ty::to_bits),
                    "{x:e}"
                );
                angles += 1;
            }
            if x.is_near_quantile() {
                assert_eq!(Near::<$A>::erf_inv(x).to_bits(), $A::erf_inv(x).to_bits(), "{x:e}");
                quantiles += 1;
            }
            if x.is_positive_normal() {
                let near = [Near::<$A>::lgamma(x), Near::<$A>::digamma(x), Near::<$A>::trigamma(x)];
                let all = [$A::lgamma(x), $A::digamma(x), $A::trigamma(x)];
                assert_eq!(near.map($ty::to_bits), all.map($ty::to_bits), "{x:e}");
                positive += 1;
            }
            for y in [0.0, -0.0, 1.0, 0.5, -2.0, 3.7, -1e3, 1e-9, 1e9, -1e30, x] {
                if x.is_ordinary_power(y) {
                    assert_eq!(Near::<$A>::pow(x, y).to_bits(), $A::pow(x, y).to_bits(), "{x:e} to {y:e}");
                    powers += 1;
                }
            }
        }
        assert!(angles > 10_000 && quantiles > 10_000, "{angles} {quantiles}");
        assert!(positive > 10_000 && powers > 100_000, "{positive} {powers}");
        let beyond = $ty::from_bits($limit.to_bits() + 1);
        for x in [beyond, -beyond, $ty::INFINITY, $ty::NEG_INFINITY, $ty::NAN] {
            assert!(!x.is_near_angle(), "{x}");
        }
        let beyond = $ty::from_bits(quantile.to_bits() + 1);
        for x in [beyond, -beyond, 1.0, -1.0, 2.0, $ty::INFINITY, $ty::NAN] {
            assert!(!x.is_near_quantile(), "{x}");
        }
        for x in [0.0, -0.0, -1.0, -$ty::MIN_POSITIVE, $ty::INFINITY, $ty::NEG_INFINITY, $ty::NAN] {
            assert!(!x.is_positive_normal() && !x.is_ordinary_power(1.0), "{x}");
        }
        for y in [$ty::INFINITY, $ty::NEG_INFINITY, $ty::NAN] {
            assert!(!2.0.is_ordinary_power(y), "{y}");
        }
    }};
}

fn functions_in_range_give_the_bits_of_all<A: MultiplyAdd>() {
    bits_in_range!(A f32, sample_f32(256), sin::LIMIT_F32);
    bits_in_range!(A f64, sample_f64(16), sin::LIMIT_F64);
}

#[test]
fn functions_in_range_give_the_bits_of_all_operands() {
    functions_in_range_give_the_bits_of_all::<Separate>();
    functions_in_range_give_the_bits_of_all::<Fused>();
}

fn special_angles<A: MultiplyAdd>() {
    for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert!(A::sin(x).is_nan() && A::cos(x).is_nan() && A::tan(x).is_nan());
        assert!(A::sin(x as f32).is_nan() && A::cos(x as f32).is_nan() && A::tan(x as f32).is_nan());
    }
    for x in [0.0, -0.0, f64::from_bits(1), -f64::MIN_POSITIVE] {
        assert_eq!([A::sin(x), A::tan(x)].map(f64::to_bits), [x.to_bits(); 2]);
        assert_eq!(A::cos(x), 1.0);
    }
    for x in [0.0, -0.0, f32::from_bits(1), -f32::MIN_POSITIVE] {
        assert_eq!([A::sin(x), A::tan(x)].map(f32::to_bits), [x.to_bits(); 2]);
        assert_eq!(A::cos(x), 1.0);
    }
}

#[test]
fn angles_that_are_zeros_infinities_or_no_numbers() {
    special_angles::<Separate>();
    special_angles::<Fused>();
}

fn error_functions<A: MultiplyAdd>() {
    let close = |found: f64, exact: f64| assert!(apart(found, exact) <= 3, "{found:e}, not {exact:e}");
    close(A::erf(0.5), 0.520_499_877_813_046_5);
    close(A::erfc(5.0), 1.537_459_794_428_035e-12);
    close(A::erfc(26.0), 5.663_192_408_856_143e-296);
    assert!(error_f32(A::erfc(9.0_f32), 4.137_031_746_513_811e-37) < 3.0);
    assert_eq!([A::erf(f64::INFINITY), A::erf(f64::NEG_INFINITY), A::erf(6.0)], [1.0, -1.0, 1.0]);
    assert_eq!([A::erfc(f64::INFINITY), A::erfc(f64::NEG_INFINITY), A::erfc(f64::MAX)], [0.0, 2.0, 0.0]);
    assert_eq!([A::erf(f32::INFINITY), A::erf(-f32::MAX), A::erfc(f32::MAX)], [1.0, -1.0, 0.0]);
    assert_eq!([A::erfc(0.0), A::erfc(-0.0), A::erfc(f64::from_bits(1)), A::erf(0.0)], [1.0, 1.0, 1.0, 0.0]);
    assert!(A::erf(-0.0_f64).is_sign_negative() && A::erf(-0.0_f32).is_sign_negative());
    assert!(A::erf(f64::NAN).is_nan() && A::erfc(f64::NAN).is_nan());
    assert!(A::erf(f32::NAN).is_nan() && A::erfc(f32::NAN).is_nan());
    // The quotient of `f32` exceeds 1 by rounding, but the result does not.
    for bits in (3.5_f32.to_bits()..4.3_f32.to_bits()).step_by(7) {
        let x = f32::from_bits(bits);
        assert!(A::erf(x) <= 1.0 && A::erf(-x) >= -1.0 && (x < 4.2 || A::erf(x) == 1.0), "erf of {x:e}");
    }
    // Where the result becomes subnormal, and where it becomes 0.
    assert_eq!(A::erfc(27.22_f64), f64::from_bits(1));
    assert!(A::erfc(27.3_f64) == 0.0 && A::erfc(10.0_f32) > 0.0 && A::erfc(10.1_f32) == 0.0);
}

#[test]
fn the_tail_of_the_error_function_is_kept() {
    error_functions::<Separate>();
    error_functions::<Fused>();
}

fn errors_at_thresholds<A: MultiplyAdd>() {
    /// Floats around `x`, with growing distances of their bits.
    fn about(x: f32) -> impl Iterator<Item = f32> {
        (-3000..3000_i32)
            .map(move |i| f32::from_bits(x.to_bits().wrapping_add_signed(i * (i.abs() / 100 + 1))))
    }
    let check = |name: &str, at: &[f32], bound: f64, found: fn(f32) -> f32, exact: fn(f64) -> f64| {
        for x in at.iter().flat_map(|x| [*x, -x]).flat_map(about) {
            let error = error_f32(found(x), exact(x.into()));
            assert!(error < bound, "{name} of {x:e} is {error} off");
        }
    };
    // Where the sum of 1 and the number is √½ or √2 times a power of 2.
    let roots =
        [-0.292_893_2, 0.414_213_57, 1.828_427_1, -0.646_446_6, 4.656_854, 1e10, 1.9e38, 1e-30, 1e-40];
    check("log1p", &roots, 2.0, A::log1p, f64::ln_1p);
    // Where polynomials end, and where the result is 1. The error function of `f64` has digits to spare as a reference.
    check("erf", &[0.9, 1.874, 2.7, 3.069, 3.83, 4.2, 1e-30, 1e-40, 0.1, 2.0], 6.0, A::erf, A::erf);
    // Where t nears 0 and loses digits.
    check("erfc", &[0.4785, 0.479, 2.0, 3.848, 7.99, 1e-30, 1e-40], 6.0, A::erfc, A::erfc);
    check("tanh", &[0.173, 0.35, 0.625, 9.01, 10.0, 1e-30, 1e-40, 2f32.powi(-7)], 3.0, A::tanh, f64::tanh);
    // Multiples of π/2 and of π/4, the float closest to a multiple of π/2, and where other bits of 2/π are used.
    let angles = [
        std::f32::consts::FRAC_PI_4,
        std::f32::consts::FRAC_PI_2,
        2.356_194_5,
        std::f32::consts::PI,
        1e5,
        16_367_173.0 * 2f32.powi(72),
        2f32.powi(45),
        2f32.powi(66),
        2f32.powi(87),
        2f32.powi(108),
        3e38,
        1e-30,
        1e-40,
    ];
    check("sin", &angles, 2.0, A::sin, f64::sin);
    check("cos", &angles, 2.0, A::cos, f64::cos);
    check("tan", &angles, 2.0, A::tan, f64::tan);
    // Where polynomials end, zeros, and where the exponent of the logarithm changes. The `f64` form has digits to spare
    // as a reference.
    let gamma =
        [0.5, std::f32::consts::FRAC_1_SQRT_2, 1.0, 1.28, std::f32::consts::SQRT_2, 2.0, 2.5, 1e-40, 1e36];
    check("lgamma", &gamma, 4.0, A::lgamma, A::lgamma);
    // The same for `f64`, whose references are within a unit themselves.
    let roots = [
        -0.292_893_218_813_452_5,
        0.414_213_562_373_095_1,
        1.828_427_124_746_190_3,
        -0.646_446_609_406_726_2,
        1e300,
        1e-310,
    ];
    let hyperbolic = [0.173, 0.35, 0.625, 19.06, 20.0, 1e-310];
    let near =
        |x: f64| (-500..500_i64).map(move |i| f64::from_bits(x.to_bits().wrapping_add_signed(i * i * i)));
    for x in roots.into_iter().flat_map(near) {
        assert!(apart(A::log1p(x), x.ln_1p()) <= 2, "log1p of {x:e}");
    }
    for x in hyperbolic.into_iter().flat_map(near) {
        assert!(apart(A::tanh(-x), -x.tanh()) <= 3, "tanh of {x:e}");
    }
}

#[test]
fn errors_are_within_their_bounds_at_thresholds() {
    errors_at_thresholds::<Separate>();
    errors_at_thresholds::<Fused>();
}

fn logarithms_and_tangents_of_special_values<A: MultiplyAdd>() {
    for x in [0.0, -0.0, f32::from_bits(1), -f32::MIN_POSITIVE] {
        assert_eq!([A::log1p(x), A::tanh(x)].map(f32::to_bits), [x.to_bits(); 2]);
    }
    for x in [0.0, -0.0, f64::from_bits(1), -f64::MIN_POSITIVE] {
        assert_eq!([A::log1p(x), A::tanh(x)].map(f64::to_bits), [x.to_bits(); 2]);
    }
    assert_eq!((A::log1p(-1.0_f32), A::log1p(-1.0_f64)), (f32::NEG_INFINITY, f64::NEG_INFINITY));
    assert_eq!((A::log1p(f32::INFINITY), A::log1p(f64::INFINITY)), (f32::INFINITY, f64::INFINITY));
    assert!(A::log1p(f32::MAX) == f32::MAX.ln() && A::log1p(f64::MAX) == f64::MAX.ln());
    for x in [-1.000_000_1, -2.0, f32::MIN, f32::NEG_INFINITY, f32::NAN] {
        assert!(A::log1p(x).is_nan() && A::log1p(f64::from(x)).is_nan());
    }
    for (x, y) in [(f32::INFINITY, 1.0), (f32::MIN, -1.0), (20.0, 1.0), (f32::NEG_INFINITY, -1.0)] {
        assert_eq!((A::tanh(x), A::tanh(f64::from(x))), (y, y.into()));
    }
    assert!(A::tanh(f32::NAN).is_nan() && A::tanh(-f64::NAN).is_nan());
}

#[test]
fn logarithms_and_tangents_keep_zeros_infinities_and_what_is_not_a_number() {
    logarithms_and_tangents_of_special_values::<Separate>();
    logarithms_and_tangents_of_special_values::<Fused>();
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

/// A form of each function gives the same bits wherever it runs, for many elements at once or for one alone.
macro_rules! same_at_every_level {
    ($ty:ident, $data:expr; $($name:ident($($argument:expr),+),)+) => {$({
        struct Loop<'a>(&'a [$ty], &'a mut [$ty]);

        impl Kernel for Loop<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                self.run_by::<Separate>();
            }

            #[inline(always)]
            fn run_by<A: MultiplyAdd>(self) {
                for (out, x) in self.1.iter_mut().zip(self.0) {
                    *out = A::$name($($argument(*x)),+);
                }
            }
        }

        let data: &[$ty] = $data;
        let run = |loop_of: &dyn Fn(Loop<'_>)| {
            let mut out = vec![0.0; data.len()];
            loop_of(Loop(data, &mut out));
            // The payload of a NaN depends on the instruction.
            out.into_iter().map(|y: $ty| if y.is_nan() { $ty::NAN } else { y }.to_bits()).collect::<Vec<_>>()
        };
        let (separate, fused) =
            (run(&|kernel| kernel.run_by::<Separate>()), run(&|kernel| kernel.run_by::<Fused>()));
        let portable = if cfg!(target_arch = "aarch64") { &fused } else { &separate };
        assert!(run(&|kernel| run_portable(kernel)) == *portable, "{}", stringify!($name));
        for level in [SimdLevel::Avx2, SimdLevel::Avx512] {
            if level <= detect() {
                let found = run(&|kernel| run_at_most(level, kernel));
                assert!(found == fused, "{} of {} at {level:?}", stringify!($name), stringify!($ty));
            }
        }
    })+};
}

#[test]
fn results_are_the_same_to_the_bit_wherever_multiplications_are_fused() {
    fn same<T>(x: T) -> T {
        x
    }
    macro_rules! of {
        ($ty:ident, $data:expr) => {
            same_at_every_level!($ty, $data;
                exp(same), ln(same), exp2(same), expm1(same), log2(same), log10(same), log1p(same), sinh(same), cosh(same),
                tanh(same), asinh(same), acosh(same), atanh(same), sin(same), cos(same), tan(same), erf(same), erfc(same), asin(same), acos(same), atan(same), cbrt(same),
                rsqrt(same), atan2(same, |x: $ty| 1.0 - x), hypot(same, |x: $ty| x * 0.75), pow(|x: $ty| x.abs(), |x: $ty| 0.75 - x),
                pow(same, |_| 3.0), lgamma(same), erf_inv(same), digamma(same), trigamma(same), rem(same, |x: $ty| 0.3 * x.sqrt()),
            );
        };
    }
    let (narrow, wide) = if every_case() { (128, 16) } else { (16, 2) };
    of!(f32, &sample_f32(narrow).collect::<Vec<_>>());
    of!(f64, &sample_f64(wide).collect::<Vec<_>>());
}

#[test]
fn steps_keep_zeros_infinities_and_what_is_not_a_number() {
    type Step = fn(f32) -> f32;
    let steps: [(Step, [f32; 8]); 5] = [
        (sign, [-1.0, -1.0, -1.0, -0.0, 0.0, 1.0, 1.0, 1.0]),
        (floor, [f32::NEG_INFINITY, -3.0, -1.0, -0.0, 0.0, 0.0, 1.0, 2.0]),
        (ceil, [f32::NEG_INFINITY, -2.0, -0.0, -0.0, 0.0, 1.0, 2.0, 3.0]),
        (round, [f32::NEG_INFINITY, -2.0, -0.0, -0.0, 0.0, 0.0, 2.0, 2.0]),
        (trunc, [f32::NEG_INFINITY, -2.0, -0.0, -0.0, 0.0, 0.0, 1.0, 2.0]),
    ];
    let at = [f32::NEG_INFINITY, -2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5];
    for (step, expected) in steps {
        assert_eq!(at.map(|x| step(x).to_bits()), expected.map(f32::to_bits));
        assert!(step(f32::NAN).is_nan());
    }
    assert_eq!([sign(-7i32), sign(0), sign(i32::MAX), sign(i32::MIN)], [-1, 0, 1, -1]);
}

/// Powers for which the logarithm needs the most digits, from `ci/exact`, and with its mantissa close to √½ and √2.
fn powers_of_many_digits<A: MultiplyAdd>() {
    for [x, y, expected] in [
        [0x3ff0_0000_0008_7c68, 0x4290_5b23_3ae5_7394, 0x71ff_34e6_829b_9ea6],
        [0x4004_cfa2_a1e9_1d14, 0x4087_02d6_d54a_085b, 0x7f68_ebcd_1c48_cb6f],
        [0x3ff0_0011_234f_9411, 0xc185_aa04_cb81_8cca, 0x0000_0000_0000_0007],
        [0x3fe6_8c64_434d_a57a, 0xc090_6d3d_93f3_f456, 0x611f_22ed_5e72_ddcc],
        [0x3ff6_a324_1778_16c2, 0x4092_c790_5d5f_d290, 0x6589_ff7f_87c8_1986],
        [0x0ac8_534a_007d_42d6, 0x3ff1_e7a7_767d_c666, 0x0474_8730_f551_5d41],
    ] {
        let [x, y, expected] = [x, y, expected].map(f64::from_bits);
        assert!(apart(A::pow(x, y), expected) <= 1, "{x:e} to {y:e}: {:e}, not {expected:e}", A::pow(x, y));
    }
}

#[test]
fn powers_have_the_digits_of_their_logarithms() {
    powers_of_many_digits::<Separate>();
    powers_of_many_digits::<Fused>();
}

/// The powers of special values, as IEEE 754 defines them.
fn powers_of_special_values<A: MultiplyAdd>() {
    const INFINITY: f64 = f64::INFINITY;
    let at = [
        0.0,
        f64::from_bits(1),
        1e-300,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        8_388_607.0,
        8_388_608.5,
        16_777_215.0,
        4_503_599_627_370_495.5,
        9_007_199_254_740_991.0,
        9_007_199_254_740_992.0,
        1e300,
        INFINITY,
    ];
    let at: Vec<f64> = at.iter().flat_map(|x| [*x, -x]).chain([f64::NAN]).collect();
    for x in &at {
        for y in &at {
            let (found, expected) = (A::pow(*x, *y), x.powf(*y));
            let same = found.is_sign_negative() == expected.is_sign_negative() && apart(found, expected) <= 2;
            assert!(
                found.is_nan() && expected.is_nan() || same,
                "{x:e} to {y:e}: {found:e}, not {expected:e}"
            );
            let (x, y) = (*x as f32, *y as f32);
            let (found, expected) = (A::pow(x, y), x.powf(y));
            let same = found.is_sign_negative() == expected.is_sign_negative()
                && (found == expected || (found / expected - 1.0).abs() <= 2.0 * f32::EPSILON);
            assert!(
                found.is_nan() && expected.is_nan() || same,
                "{x:e} to {y:e}: {found:e}, not {expected:e}"
            );
        }
    }
}

#[test]
fn powers_of_special_values_are_those_of_ieee_754() {
    powers_of_special_values::<Separate>();
    powers_of_special_values::<Fused>();
}

/// Powers whose logarithms need more digits than numbers have: results all over the range.
fn powers_are_within_their_bound<A: MultiplyAdd>() {
    let (mut narrow, mut wide) = (0.0, 0);
    for (i, x) in sample_f32(64).map(f32::abs).enumerate() {
        for share in 0..8 {
            // An exponent for which the result may have any size.
            let y = ((i * 8 + share) % 307) as f32 - 153.0 + 0.37 * share as f32;
            let y = y / x.log2();
            narrow = f64::max(narrow, error_f32(A::pow(x, y), f64::from(x).powf(y.into())));
        }
    }
    for (i, x) in sample_f64(16).map(f64::abs).enumerate() {
        for share in 0..8 {
            let y = ((i * 8 + share) % 2_203) as f64 - 1_101.0 + 0.37 * share as f64;
            let y = y / x.log2();
            wide = u64::max(wide, apart(A::pow(x, y), x.powf(y)));
        }
    }
    assert!(narrow <= 2.0 && wide <= 2, "{narrow}, {wide}");
}

#[test]
fn powers_are_within_their_bound_all_over_the_range() {
    powers_are_within_their_bound::<Separate>();
    powers_are_within_their_bound::<Fused>();
}

#[test]
fn remainders_are_those_of_ieee_754() {
    for (x, y, left) in [
        (5.5, 2.0, 1.5),
        (-5.5, 2.0, -1.5),
        (5.5, -2.0, 1.5),
        (-4.0, 2.0, -0.0),
        (-0.0, 3.0, -0.0),
        (1.5, f64::INFINITY, 1.5),
        (1e300, 3.0, 0.0),
        (f64::from_bits(5), f64::from_bits(3), f64::from_bits(2)),
    ] {
        assert_eq!(rem(x, y).to_bits(), left.to_bits(), "{x:e} by {y:e}");
    }
    assert!(
        rem(1.0_f64, 0.0).is_nan() && rem(f32::INFINITY, 2.0).is_nan() && rem(1.0_f32, f32::NAN).is_nan()
    );
}
