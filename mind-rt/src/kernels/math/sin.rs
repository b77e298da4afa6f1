//! The sine, the cosine and the tangent. A multiple of π/2 is subtracted from the number. The rest, which is within
//! π/4, goes to polynomials that `ci/remez` finds.
//!
//! Up to a limit, the multiple is subtracted in parts (Cody and Waite, 1980); in `f32` only for the sine and the
//! cosine, and only if sums are rounded once. Otherwise `f32` numbers are multiplied by bits of 2/π that are selected
//! by the number's size, and for `f64` numbers the fraction of a turn is computed in integers (Payne and Hanek, 1983).
//! The method for an element does not depend on its neighbours.

use super::polynomial::horner;
use super::rounding::Rounding;

/// The largest numbers from which π/2 is subtracted in parts. The multiple then has at most 15 bits in `f32`, and 20 in
/// `f64`.
pub(super) const LIMIT_F32: f32 = 30_000.0;
pub(super) const LIMIT_F64: f64 = 1e6;

/// A number as a multiple of π/2 and a rest, which has two parts.
struct ReducedAngle<T, B> {
    /// The multiple, of which only the last two bits matter.
    quarters: B,
    /// The rest, within π/4 or slightly more.
    rest: T,
    /// The exact rest minus `rest`.
    low: T,
}

macro_rules! of {
    ($($ty:ident $bits:ident, $reduced:ident, $reduced_with_low:ident, $tangent:ident, $short:literal;
        $($sine:literal)+; $($cosine:literal)+;)+) => {$(
        /// A module for the type of its name.
        pub(super) mod $ty {
            use super::*;

            const SIGN: $bits = 1 << ($bits::BITS - 1);
            /// Whether the sine and the cosine ignore `low` if sums are rounded once, which leaves room within the
            /// error bound.
            const SHORT: bool = $short;

            /// The sine.
            #[inline(always)]
            pub(in super::super) fn sin<A: Rounding>(x: $ty) -> $ty {
                let ReducedAngle { quarters, rest, low } = $reduced::<A>(x.abs());
                let y = if quarters & 1 == 0 { sine::<A>(rest, low) } else { cosine::<A>(rest, low) };
                let sign = (quarters << ($bits::BITS - 2)) ^ x.to_bits();
                $ty::from_bits(y.to_bits() ^ (sign & SIGN))
            }

            /// The cosine.
            #[inline(always)]
            pub(in super::super) fn cos<A: Rounding>(x: $ty) -> $ty {
                let ReducedAngle { quarters, rest, low } = $reduced::<A>(x.abs());
                let y = if quarters & 1 == 0 { cosine::<A>(rest, low) } else { sine::<A>(rest, low) };
                let sign = quarters.wrapping_add(1) << ($bits::BITS - 2);
                $ty::from_bits(y.to_bits() ^ (sign & SIGN))
            }

            /// The tangent.
            #[inline(always)]
            pub(in super::super) fn tan<A: Rounding>(x: $ty) -> $ty {
                let ReducedAngle { quarters, rest, low } = $reduced_with_low::<A>(x.abs());
                let (above, below) = $tangent::<A>(rest, low);
                let is_odd = quarters & 1 != 0;
                let y = if is_odd { below } else { above } / if is_odd { -above } else { below };
                $ty::from_bits(y.to_bits() ^ (x.to_bits() & SIGN))
            }

            #[inline(always)]
            pub(super) fn sine<A: Rounding>(rest: $ty, low: $ty) -> $ty {
                let z = rest * rest;
                let p = horner!(z; $($sine),+);
                if SHORT && A::FUSES { A::multiply_add(rest * z, p, rest) } else { rest + A::multiply_add(rest * z, p, low) }
            }

            #[inline(always)]
            pub(super) fn cosine<A: Rounding>(rest: $ty, low: $ty) -> $ty {
                let z = rest * rest;
                let p = horner!(z; $($cosine),+);
                if SHORT && A::FUSES { A::multiply_add(z, p, 1.0) } else { 1.0 + A::multiply_add(z, p, -(rest * low)) }
            }
        }
    )+};
}

of! {
    f32 u32, reduced_f32, far_f32, tangent_f32, true;
        -1.951_084e-4 8.332_131e-3 -1.666_665_4e-1;
        2.438_225e-5 -1.388_667_8e-3 4.166_662e-2 -0.5;
    f64 u64, reduced_f64, reduced_f64, tangent_f64, false;
        1.589_358_328_051_628_4e-10 -2.505_070_402_761_780_2e-8 2.755_731_335_592_900_6e-6 -1.984_126_982_886_984_8e-4
        8.333_333_333_321_286e-3 -1.666_666_666_666_662_7e-1;
        -1.135_219_652_621_407e-11 2.087_556_219_227_669_2e-9 -2.755_731_297_842_391e-7 2.480_158_728_364_033_4e-5
        -1.388_888_888_886_130_5e-3 4.166_666_666_666_646e-2 -0.5;
}

/// The tangent as a numerator and a denominator, which is 1.
#[inline(always)]
fn tangent_f32<A: Rounding>(rest: f32, low: f32) -> (f32, f32) {
    let z = rest * rest;
    let p = horner!(z;
        9.676_617e-3, 2.616_816e-3, 2.475_215_7e-2, 5.331_815_8e-2, 1.333_996_8e-1, 3.333_311e-1);
    (rest + A::multiply_add(rest * z, p, A::multiply_add(low, z, low)), 1.0)
}

/// The tangent as a numerator and a denominator: the sine and the cosine.
#[inline(always)]
fn tangent_f64<A: Rounding>(rest: f64, low: f64) -> (f64, f64) {
    (f64::sine::<A>(rest, low), f64::cosine::<A>(rest, low))
}

/// `low` may be left out as 0.
#[inline(always)]
fn reduced_f32<A: Rounding>(size: f32) -> ReducedAngle<f32, u32> {
    if !A::FUSES {
        return far_f32::<A>(size);
    }
    let near = near_f32::<A>(size);
    if A::IS_NEAR {
        return near;
    }
    let far = far_f32::<A>(size);
    let is_near = size <= LIMIT_F32;
    ReducedAngle {
        quarters: if is_near { near.quarters } else { far.quarters },
        rest: if is_near { near.rest } else { far.rest },
        low: if is_near { near.low } else { far.low },
    }
}

/// Subtracts in parts, by sums that are rounded once. The result of the first sum fits into an `f32`.
#[inline(always)]
fn near_f32<A: Rounding>(size: f32) -> ReducedAngle<f32, u32> {
    /// The `f32` nearest to π/2, the `f32` nearest to the remaining difference, and so on.
    const PARTS: [f32; 3] = [std::f32::consts::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15];
    /// 1.5 · 2²³. Adding it rounds a number to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;

    let shifted = A::multiply_add(size, std::f32::consts::FRAC_2_PI, ROUND);
    let count = shifted - ROUND;
    let high = A::multiply_add(count, -PARTS[0], size);
    let near = A::multiply_add(count, -PARTS[1], high);
    // The rounding error of this rest is within the bounds of the sine and the cosine.
    ReducedAngle { quarters: shifted.to_bits(), rest: A::multiply_add(count, -PARTS[2], near), low: 0.0 }
}

/// Computes the quotient by π/2 in `f64`, for all sizes. It uses only the bits of 2/π that do not give whole turns in
/// the product; these depend on the size.
#[inline(always)]
fn far_f32<A: Rounding>(size: f32) -> ReducedAngle<f32, u32> {
    /// The bits of 2/π from the 1st, 21st, 42nd, 63rd and 84th on. Each row has two numbers, and then three numbers of
    /// which the first two have exact products with an `f32`.
    const BITS: [[f64; 5]; 5] = [
        [
            std::f64::consts::FRAC_2_PI,
            -3.935_735_335_036_497e-17,
            0.636_619_770_899_415,
            1.468_166_324_625_208_6e-9,
            2.276_010_073_078_396e-18,
        ],
        [
            2.044_964_875_930_755_3e-7,
            6.074_026_489_649_846e-24,
            2.044_964_872_993_659_8e-7,
            2.937_095_512_718_779_5e-16,
            2.765_304_039_437_735_7e-24,
        ],
        [
            2.418_782_397_124_712e-13,
            2.471_138_875_912_043e-29,
            2.418_782_396_799_274_4e-13,
            3.254_380_504_578_513e-23,
            1.045_561_602_490_077_8e-30,
        ],
        [
            1.076_057_281_073_874_9e-19,
            -1.690_193_447_800_753e-36,
            1.076_057_278_807_277_1e-19,
            2.266_597_799_289_437_5e-28,
            5.667_557_057_780_389e-37,
        ],
        [
            7.696_704_864_039_572e-26,
            4.420_676_015_940_119e-42,
            7.696_704_847_356_705e-26,
            1.668_286_765_701_952_5e-34,
            1.158_871_335_342_814_3e-43,
        ],
    ];
    /// The bounds below which each row is used: the omitted bits of 2/π give whole turns in the product, and the
    /// product is below 2⁴⁶.
    const BELOW: [f32; 4] =
        [(1_u128 << 45) as f32, (1_u128 << 66) as f32, (1_u128 << 87) as f32, (1_u128 << 108) as f32];
    /// 1.5 · 2⁵². Adding it rounds a number to an integer, which is then in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;

    /// Selects constants: an index would become a load for each element.
    macro_rules! bits {
        ($i:literal) => {{
            // All numbers in range use the first row.
            let size = if A::IS_NEAR { 0.0 } else { size };
            let bits = if size < BELOW[0] { const { BITS[0][$i] } } else { const { BITS[1][$i] } };
            let bits = if size < BELOW[1] { bits } else { const { BITS[2][$i] } };
            let bits = if size < BELOW[2] { bits } else { const { BITS[3][$i] } };
            if size < BELOW[3] { bits } else { const { BITS[4][$i] } }
        }};
    }

    let x = f64::from(size);
    let (shifted, fraction) = if A::FUSES {
        let shifted = A::multiply_add(x, bits!(0), ROUND);
        (shifted, A::multiply_add(x, bits!(1), A::multiply_add(x, bits!(0), ROUND - shifted)))
    } else {
        let (high, middle) = (x * bits!(2), x * bits!(3));
        let shifted = high + middle + ROUND;
        (shifted, ((high - (shifted - ROUND)) + middle) + x * bits!(4))
    };
    let wide = fraction * std::f64::consts::FRAC_PI_2;
    let rest = wide as f32;
    ReducedAngle { quarters: shifted.to_bits() as u32, rest, low: (wide - f64::from(rest)) as f32 }
}

/// π/2 minus [`FRAC_PI_2`](std::f64::consts::FRAC_PI_2). The first part has 33 bits: its products with multiples up to
/// the limit are exact.
const LOW: (f64, f64) = (6.123_233_995_384_61e-17, 3.521_559_865_183_2e-27);

#[inline(always)]
fn reduced_f64<A: Rounding>(size: f64) -> ReducedAngle<f64, u64> {
    if A::IS_NEAR || size <= LIMIT_F64 { near_f64::<A>(size) } else { far_f64(size) }
}

/// Subtracts in parts.
#[inline(always)]
fn near_f64<A: Rounding>(size: f64) -> ReducedAngle<f64, u64> {
    /// The `f64` nearest to π/2 in parts of 33 and 20 bits, all products of which are exact.
    const PARTS: (f64, f64) = (1.570_796_326_734_125_6, 6.077_094_383_272_197e-11);
    /// 1.5 · 2⁵². Adding it rounds a number to an integer, which is then in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;

    let shifted = A::multiply_add(size, std::f64::consts::FRAC_2_PI, ROUND);
    let count = shifted - ROUND;
    let near = if A::FUSES {
        A::multiply_add(count, -std::f64::consts::FRAC_PI_2, size)
    } else {
        (size - count * PARTS.0) - count * PARTS.1
    };
    let product = count * LOW.0;
    let rest = near - product;
    let low = A::multiply_add(count, -LOW.1, (near - rest) - product);
    ReducedAngle { quarters: shifted.to_bits(), rest, low }
}

/// Reduces a number of at least 1 by the bits of 2/π that determine its position within a turn. Returns NaN for
/// infinity and NaN.
#[cold]
#[inline(never)]
fn far_f64(size: f64) -> ReducedAngle<f64, u64> {
    /// The bits of 2/π after a word of zeros.
    const BITS: [u64; 20] = [
        0,
        0xa2f9_836e_4e44_1529,
        0xfc27_57d1_f534_ddc0,
        0xdb62_9599_3c43_9041,
        0xfe51_63ab_debb_c561,
        0xb724_6e3a_424d_d2e0,
        0x0649_2eea_09d1_921c,
        0xfe1d_eb1c_b129_a73e,
        0xe882_35f5_2ebb_4484,
        0xe99c_7026_b45f_7e41,
        0x3991_d639_8353_39f4,
        0x9c84_5f8b_bdf9_283b,
        0x1ff8_97ff_de05_980f,
        0xef2f_118b_5a0a_6d1f,
        0x6d36_7ecf_27cb_09b7,
        0x4f46_3f66_9e5f_ea2d,
        0x7527_bac7_ebe5_f17b,
        0x3d07_39f7_8a52_92ea,
        0x6bfb_5fb1_1f8d_5d08,
        0x5603_3046_fc7b_6bab,
    ];

    if !(1.0..f64::INFINITY).contains(&size) {
        return ReducedAngle { quarters: 0, rest: f64::NAN, low: f64::NAN };
    }
    // The number is an integer of 53 bits times 2^exponent. In the product, bits of weight 4 and more are whole turns.
    let integer = (size.to_bits() & 0x000f_ffff_ffff_ffff) | (1 << 52);
    let skipped = (size.to_bits() >> 52) as usize - (1075 + 2 - 64);
    let (word, shift) = (skipped / 64, skipped % 64);
    let bits = |i: usize| {
        let pair = (u128::from(BITS[word + i]) << 64) | u128::from(BITS[word + i + 1]);
        ((pair << shift) >> 64) as u64
    };
    let product = |word: u64| u128::from(integer) * u128::from(word);
    // The fraction of a turn, in units of 2^-128.
    let fraction =
        (product(bits(0)) << 64).wrapping_add(product(bits(1))).wrapping_add(product(bits(2)) >> 64);
    let quarters = fraction.wrapping_add(1 << 125) >> 126;
    let signed = fraction.wrapping_sub(quarters << 126) as i128;
    let high = signed as f64;
    let low = (signed - high as i128) as f64;
    // In quarters of a turn, times π/2.
    let unit = f64::from_bits((1023 - 126) << 52);
    let (high, low) = (high * unit, low * unit);
    let rest = high * std::f64::consts::FRAC_PI_2;
    let lost = high.mul_add(std::f64::consts::FRAC_PI_2, -rest);
    let low = lost + (high * LOW.0 + low * std::f64::consts::FRAC_PI_2);
    ReducedAngle { quarters: quarters as u64, rest, low }
}
