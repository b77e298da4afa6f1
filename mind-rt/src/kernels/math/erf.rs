//! The error function and its complement. `ci/remez` finds the polynomials.
//!
//! - The error function in `f32` is a quotient of polynomials. In `f64` it is a polynomial near 0. Beyond, it is
//!   computed from a polynomial for the logarithm of its complement, which needs fewer digits.
//! - The complement is e^(-x²) times a polynomial, after Shepherd and Laframboise,
//!   *Chebyshev Approximation of (1 + 2x)exp(x²)erfc x*, 1981.
//! - The exponential of a square is here too, because both need all digits of the square.

use super::exp;
use super::polynomial::{horner, in_fours, in_pairs, in_two_sums};
use super::rounding::Rounding;

macro_rules! complement {
    ($($ty:ident, $complement:ident, $gaussian:ident, $scaled_complement:ident, $square:ident: $most:literal, $mask:literal, $middle:literal, $reduced:ident, $raised:ident, $second:ident, $scaled:ident; $highest:literal, $($rest:tt),+;)+) => {$(
        /// 1 minus the error function: e^(-a²) · `scaled_complement`(a) for the size a. For a number below 0 it is 2
        /// minus that.
        #[inline(always)]
        pub(super) fn $complement<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            // Beyond this bound the result is 0 anyway. The comparison lets NaN pass.
            let size = if size > $most { $most } else { size };
            let (square, lost) = $square::<A>(size);
            let (shifted, r) = exp::$reduced::<A>(-square);
            let r = r - lost;
            let p = $scaled_complement::<A>(size);
            let tail = exp::$scaled(shifted, A::multiply_add(A::multiply_add(exp::$second::<A>(r), r, 1.0) * r, p, p));
            if x < 0.0 { 2.0 - tail } else { tail }
        }

        /// e^(-x²/2). The rounding error of the square is applied to the rest that remains beside the power of 2.
        #[inline(always)]
        pub(super) fn $gaussian<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            // Beyond this bound the result is 0 anyway. The comparison lets NaN pass.
            let size = if size > 1.5 * $most { 1.5 * $most } else { size };
            let (square, lost) = $square::<A>(size);
            let (shifted, r) = exp::$reduced::<A>(-0.5 * square);
            exp::$raised::<A>(shifted, A::multiply_add(lost, -0.5, r))
        }

        /// The rounded square of a size, and the exact square minus the rounded one.
        #[inline(always)]
        pub(super) fn $square<A: Rounding>(size: $ty) -> ($ty, $ty) {
            let square = size * size;
            let lost = if A::FUSES {
                A::multiply_add(size, size, -square)
            } else {
                let high = $ty::from_bits(size.to_bits() & $mask);
                let low = size - high;
                ((high * high - square) + 2.0 * high * low) + low * low
            };
            (square, lost)
        }

        /// e^(a²) times 1 minus the error function of a size a, up to the bound beyond which `erfc` is 0. It is
        /// 1 / (1 + 2 a) · (1 + (1 + t) · rest(t)), where t is (a - c) / (a + c). t is computed from 1 + t, which keeps
        /// its digits.
        #[inline(always)]
        pub(super) fn $scaled_complement<A: Rounding>(size: $ty) -> $ty {
            // One division for both quotients.
            let (above, below) = (size + $middle, A::multiply_add(size, 2.0, 1.0));
            let inverse = 1.0 / (above * below);
            let above_t = 2.0 * size * (below * inverse);
            let t = above_t - 1.0;
            A::multiply_add(in_two_sums!(t; $highest, $($rest),+), above_t, 1.0) * (above * inverse)
        }
    )+};
}

complement! {
    f32, complement_f32, gaussian_f32, scaled_complement_f32, square_f32: 10.5, 0xffff_f000, 2.0, reduced_f32, raised_f32, second_f32, scaled_f32;
        -4.000_134_4e-4, (-8.283_413_5e-4, 2.142_343_4e-3), (6.488_072_7e-3, -1.454_851_7e-2),
        (-3.965_545e-2, 2.037_109_3e-1), (-3.697_424e-1, 2.769_784e-1);
    f64, complement_f64, gaussian_f64, scaled_complement_f64, square_f64: 28.0, 0xffff_ffff_f800_0000, 4.0, reduced_f64, raised_f64, second_in_two_sums_f64, scaled_f64;
        -8.314_775_439_311_049e-9, (4.582_071_444_980_288_7e-10, 1.010_744_526_419_340_4e-7),
        (-4.629_232_224_021_349e-8, -7.741_810_219_651_921e-7),
        (1.088_394_275_438_107_2e-6, 4.621_291_472_677_847e-6),
        (-1.585_579_895_984_256_3e-5, -8.544_876_169_058_513e-6),
        (1.591_713_441_431_026_3e-4, -3.584_272_083_701_370_4e-4),
        (-3.993_472_500_641_523_7e-4, 5.431_317_004_530_093e-3),
        (-2.162_905_088_457_434_5e-2, 5.879_656_645_438_537e-2),
        (-1.251_269_322_824_419e-1, 2.188_597_672_783_774_7e-1),
        (-3.198_988_333_139_503_6e-1, 3.879_958_875_687_221_6e-1),
        (-3.726_162_354_661_158e-1, 2.329_951_186_255_525_6e-1);
}

/// For `f32`: the number times a quotient of polynomials of its square. Evaluating both in pairs keeps the error within
/// 6 units.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    // From 4.2 on the product exceeds 1, and with the bounded square it grows with the number, so that the result is 1.
    // The comparison lets NaN pass.
    let square = x * x;
    let square = if square > 17.64 { 17.64 } else { square };
    let fourth = square * square;
    let above = in_pairs!(square, fourth;
        (3.582_818_2e-6, 4.854_853_3e-4), (6.243_733_7e-3, 8.918_572e-2), (3.193_217_2e-1, 1.917_592_6)
    );
    let below = in_pairs!(square, fourth;
        (6.582_164e-5, 1.946_730_7e-3), (2.512_612_8e-2, 1.922_555_9e-1), (8.494_648_3e-1, 1.699_422_2)
    );
    let y = x * above / below;
    let y = if y > 1.0 { 1.0 } else { y };
    if y < -1.0 { -1.0 } else { y }
}

/// For `f64`. Near 0 it uses a polynomial of the square. Beyond, it uses a polynomial for the logarithm to the base 2
/// of 1 - erf(x), divided by x.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    /// Adding it rounds a number to an integer. This is then in the low bits, in the form of the exponent of a power of
    /// two.
    const ROUND: f64 = 6_755_399_441_055_744.0 + 1023.0;

    let size = x.abs();
    let near = in_two_sums!(x * x;
        (-1.312_158_306_411_596_2e-7, 1.613_627_418_390_367_7e-6),
        (-1.490_716_130_291_310_2e-5, 1.205_469_354_445_109_6e-4),
        (-8.548_313_272_091_266e-4, 5.223_977_444_844_713e-3),
        (-2.686_617_063_147_437e-2, 1.128_379_167_090_255_8e-1),
        (-3.761_263_890_318_296_6e-1, 1.283_791_670_955_125_6e-1)
    );
    let near = A::multiply_add(x, near, x);
    // Beyond this bound the result is 1. The comparison lets NaN pass. The power of 2 is in range, so that one step
    // scales by it.
    let t = if size > 6.0 { 6.0 } else { size };
    let log = t
        * in_fours!(t;
            -2.821_814_855_880_627_3e-12, 1.219_398_523_778_599_4e-10;
            (-2.468_943_317_844_183e-9, 3.111_648_958_057_607_5e-8, -2.732_076_296_832_486e-7, 1.768_402_122_660_519_8e-6),
            (-8.672_581_885_515_4e-6, 3.232_287_807_086_108e-5, -8.844_976_958_408_631e-5, 1.531_241_945_967_439_4e-4),
            (-2.586_009_495_588_929_2e-5, -7.985_839_589_047_006e-4, 2.412_539_469_676_624e-3, -2.844_496_048_926_167e-4),
            (-2.760_295_643_887_126_4e-2, 1.482_711_880_320_810_9e-1, 9.184_479_221_772_233e-1, 1.627_907_048_517_887_7e0)
        );
    let shifted = ROUND - log;
    let r = (ROUND - shifted) - log;
    let power = in_fours!(r;
        4.434_778_380_494_391e-10, 7.073_791_379_369_328e-9, 1.017_819_958_008_276e-7;
        (1.321_543_523_728_339_3e-6, 1.525_273_349_297_820_6e-5, 1.540_353_045_719_747_2e-4, 1.333_355_814_677_489_6e-3),
        (9.618_129_107_594_056e-3, 5.550_410_866_482_008_4e-2, 2.402_265_069_591_013e-1, std::f64::consts::LN_2)
    );
    let y = A::multiply_add(power, r, 1.0);
    let far = A::multiply_add(-y, f64::from_bits(shifted.to_bits() << 52), 1.0);
    if size < 0.7 { near } else { far.copysign(x) }
}
