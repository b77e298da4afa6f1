//! The error function and what it lacks of 1: by a polynomial near 0, and beyond by one of `erfc` without its
//! e^(-x²) / x; the first alone by one of the logarithm of what it lacks, of which fewer digits are asked. `ci/remez` finds the
//! polynomials.

use super::{MultiplyAdd, exp, horner, in_two_sums};

/// What the error function of a number above 0.69 lacks of 1.
macro_rules! tail {
    ($ty:ident, $size:ident, $most:literal, $mask:literal, $reduced:ident, $second:ident, $scaled:ident; $($far:literal),+) => {{
        // Beyond it the result is 0 anyway. Written so that NaN passes.
        let size = if $size > $most { $most } else { $size };
        let square = size * size;
        let lost = if A::FUSES {
            A::multiply_add(size, size, -square)
        } else {
            let high = $ty::from_bits(size.to_bits() & $mask);
            let low = size - high;
            ((high * high - square) + 2.0 * high * low) + low * low
        };
        let (shifted, r) = exp::$reduced::<A>(-square);
        let r = r - lost;
        let power = A::multiply_add(exp::$second::<A>(r), r * r, r);
        let above = size + 3.0;
        let inverse = 1.0 / (above * size);
        let t = (size - 3.0) * (size * inverse);
        let p = horner!(t; $($far),+);
        // p over the size, and what that is short of: what is left to round is small.
        let over = inverse * above;
        let (quotient, short) = if A::FUSES {
            let quotient = p * over;
            (quotient, A::multiply_add(-quotient, size, p) * over)
        } else {
            (p / size, 0.0)
        };
        exp::$scaled(shifted, quotient + A::multiply_add(quotient, power, short))
    }};
}

macro_rules! of {
    ($($ty:ident, $complement:ident: $most:literal, $mask:literal, $reduced:ident, $second:ident, $scaled:ident, $($near:literal)+, $($far:literal)+;)+) => {$(
        /// What the error function lacks of 1.
        #[inline(always)]
        pub(super) fn $complement<A: MultiplyAdd>(x: $ty) -> $ty {
            let size = x.abs();
            let near = A::multiply_add(-x, horner!(x * x; $($near),+), 1.0 - x);
            let tail = tail!($ty, size, $most, $mask, $reduced, $second, $scaled; $($far),+);
            let far = if x < 0.0 { 2.0 - tail } else { tail };
            if size < 0.7 { near } else { far }
        }
    )+};
}

of! {
    f32, complement_f32: 10.5, 0xffff_f000, reduced_f32, second_f32, scaled_f32,
        -6.956_790_5e-4 5.139_058e-3 -2.684_484_4e-2 1.128_354_74e-1 -3.761_263e-1 1.283_791_7e-1,
        -3.050_302_6e-4 1.182_881_2e-3 8.584_775e-4 -1.400_435_25e-2 4.636_052_3e-2 -9.547_143e-2 1.398_797_6e-1 -1.465_829_8e-1 9.530_624e-2 5.370_034_6e-1;
    f64, complement_f64: 28.0, 0xffff_ffff_f800_0000, reduced_f64, second_f64, scaled_f64,
        -1.312_158_306_411_596_2e-7 1.613_627_418_390_367_7e-6 -1.490_716_130_291_310_2e-5 1.205_469_354_445_109_6e-4 -8.548_313_272_091_266e-4 5.223_977_444_844_713e-3 -2.686_617_063_147_437e-2 1.128_379_167_090_255_8e-1 -3.761_263_890_318_296_6e-1 1.283_791_670_955_125_6e-1,
        6.710_230_078_753_041e-11 4.834_497_843_870_772e-8 -5.497_268_396_528_915e-8 -3.309_894_286_479_614e-7 2.658_554_297_284_352e-7 1.893_316_265_219_432_5e-6 -9.788_508_552_338_677e-7 -1.111_554_488_550_758_2e-5 6.460_229_817_015_532_5e-6 6.898_144_080_277_217e-5 -8.460_756_338_879_427e-5 -4.125_440_427_299_867_4e-4 1.242_876_088_189_842e-3 9.108_227_139_316_955e-4 -1.401_982_562_158_022_3e-2 4.635_026_332_998_118_4e-2 -9.546_975_030_678_302e-2 1.398_805_476_018_011_3e-1 -1.465_830_480_328_889e-1 9.530_622_695_922_78e-2 5.370_034_535_441_699e-1;
}

/// The error function: near 0 by a polynomial of the square, beyond by one of the logarithm to the base 2 of what it lacks of 1,
/// over the number.
macro_rules! whole {
    ($($ty:ident: $limit:literal $most:literal, $round:expr, $shift:literal; $($near:literal)+; $($far:tt),+; $($power:expr),+;)+) => {$(
        /// Of the type of its name.
        #[allow(clippy::approx_constant, reason = "a coefficient near the logarithm of 2 is none of it")]
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            /// Adding it rounds to an integer, which is then in the low bits as the exponent of a power of 2 is.
            const ROUND: $ty = $round;

            let size = x.abs();
            let near = A::multiply_add(x, horner!(x * x; $($near),+), x);
            // Beyond it the result is 1. Written so that NaN passes. The power of 2 is in range, so that one step scales by it.
            let t = if size > $most { $most } else { size };
            let log = t * in_two_sums!(t; $($far),+);
            let shifted = ROUND - log;
            let r = (ROUND - shifted) - log;
            let y = A::multiply_add(horner!(r; $($power),+), r, 1.0);
            let far = A::multiply_add(-y, $ty::from_bits(shifted.to_bits() << $shift), 1.0);
            if size < $limit { near } else { far.copysign(x) }
        }
    )+};
}

whole! {
    f32: 0.9 4.0, 12_582_912.0 + 127.0, 23;
        -6.090_360_7e-4 5.011_963e-3 -2.677_890_8e-2 1.128_214_1e-1 -3.761_252_5e-1 1.283_791_5e-1;
        (-3.097_937e-4, 4.647_07e-3), (-3.305_160_3e-2, 1.519_048_5e-1), (9.171_142_6e-1, 1.628_112e0);
        1.326_470_9e-3, 9.671_534e-3, 5.550_734e-2, 2.402_224_2e-1, 6.931_47e-1;
    f64: 0.7 6.0, 6_755_399_441_055_744.0 + 1023.0, 52;
        -1.312_158_306_411_596_2e-7 1.613_627_418_390_367_7e-6 -1.490_716_130_291_310_2e-5 1.205_469_354_445_109_6e-4 -8.548_313_272_091_266e-4 5.223_977_444_844_713e-3 -2.686_617_063_147_437e-2 1.128_379_167_090_255_8e-1 -3.761_263_890_318_296_6e-1 1.283_791_670_955_125_6e-1;
        (-2.821_814_855_880_627_3e-12, 1.219_398_523_778_599_4e-10), (-2.468_943_317_844_183e-9, 3.111_648_958_057_607_5e-8), (-2.732_076_296_832_486e-7, 1.768_402_122_660_519_8e-6), (-8.672_581_885_515_4e-6, 3.232_287_807_086_108e-5), (-8.844_976_958_408_631e-5, 1.531_241_945_967_439_4e-4), (-2.586_009_495_588_929_2e-5, -7.985_839_589_047_006e-4), (2.412_539_469_676_624e-3, -2.844_496_048_926_167e-4), (-2.760_295_643_887_126_4e-2, 1.482_711_880_320_810_9e-1), (9.184_479_221_772_233e-1, 1.627_907_048_517_887_7e0);
        4.434_778_380_494_391e-10, 7.073_791_379_369_328e-9, 1.017_819_958_008_276e-7, 1.321_543_523_728_339_3e-6, 1.525_273_349_297_820_6e-5, 1.540_353_045_719_747_2e-4, 1.333_355_814_677_489_6e-3, 9.618_129_107_594_056e-3, 5.550_410_866_482_008_4e-2, 2.402_265_069_591_013e-1, std::f64::consts::LN_2;
}
