//! The inverse of the error function. Near 0 it is `x (√π / 2 + x² r)`, where r is a quotient of two polynomials of
//! 1 - x². All of their coefficients are positive, so that nothing cancels. In the tails it is x times a polynomial of
//! the root of w = -ln(1 - x²) (Giles, Approximating the erfinv function, 2010). All are minimax approximations.

use super::ln;
use super::polynomial::{horner, in_pairs};
use super::rounding::Rounding;

/// The tails begin beyond this absolute value, from w = 5 on.
pub(super) const LIMIT: f64 = 0.99663;

/// Half of the root of π: the slope at 0.
const SLOPE: f64 = 0.886_226_925_452_758;

/// For `f32`.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    let u = (1.0 - x) * (1.0 + x);
    let square = u * u;
    // The error in the sum is at most 2^-24 of the sum.
    let p = in_pairs!(u, square; 3.707_776_6e5, (1.007_25e7, 1.055_512_7e7), (2.120_571_2e6, 1.014_719_6e5), (1.100_303_5e3, 1.808_363_8));
    let q = in_pairs!(u, square; 2.177_593e7, (5.122_088e7, 2.401_540_8e7), (2.972_575_8e6, 1.006_970_8e5), (8.214_478e2, 1.0));
    let near = A::multiply_add(x * x, p / q, SLOPE as f32) * x;
    if A::IS_NEAR {
        return near;
    }
    let v = (-ln::f32::<A>(u)).sqrt() - 3.0;
    // The relative error in this and the polynomials below is at most that of a rounding.
    let tail = horner!(v; -1.503_497e-4, 7.594_463e-5, 1.278_978_2e-3, -3.649_809_2e-3, 5.771_812_5e-3, -7.628_062_3e-3, 9.434_04e-3, 1.001_674_3, 2.832_977)
        * x;
    let y = if x.abs() <= LIMIT as f32 { near } else { tail };
    if x.abs() == 1.0 { x * f32::INFINITY } else { y }
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    let u = (1.0 - x) * (1.0 + x);
    let square = u * u;
    // The error in the sum is at most 2^-53 of the sum.
    let p = in_pairs!(u, square; 6.840_158_012_442_703e13, (1.880_594_158_430_082_8e16, 1.697_858_311_438_941_8e17), (4.350_632_413_347_122_6e17, 4.441_812_864_096_575e17), (2.091_319_327_230_239e17, 4.896_462_265_040_297e16), (5.926_940_987_745_627e15, 3.764_933_198_596_767_5e14), (1.248_935_377_846_261_3e13, 2.108_142_800_535_246_3e11), (1.714_824_932_232_955_2e9, 6.070_844_611_543_66e6), (7.643_238_170_696_425e3, 2.067_863_100_205_308_5));
    let q = in_pairs!(u, square; 2.880_331_592_600_406_4e16, (3.767_963_985_682_614e17, 1.375_774_377_758_154e18), (2.013_240_004_569_290_8e18, 1.376_090_538_897_484e18), (4.758_005_226_573_056e17, 8.688_479_625_837_283e16), (8.551_127_308_945_636e15, 4.549_345_801_718_395e14), (1.290_855_841_264_179_9e13, 1.890_406_618_895_663_8e11), (1.344_543_064_906_523e9, 4.162_407_684_018_905_3e6), (4.522_332_284_967_372e3, 1.0));
    let near = A::multiply_add(x * x, p / q, SLOPE) * x;
    if A::IS_NEAR {
        return near;
    }
    let w = -ln::f64::<A>(u);
    let root = w.sqrt();
    let v = root - 3.0;
    let middle = horner!(v; -3.145_174_971_366_839e-8, 1.400_946_004_141_949_2e-7, -1.185_175_755_601_137_1e-7, -5.999_495_162_760_559e-7, 2.024_880_913_249_554e-6, -1.687_617_707_883_632_3e-6, -5.956_985_398_426_902e-6, 2.195_098_141_393_264_7e-5, -2.287_108_577_728_191_3e-5, -4.646_512_985_023_096e-5, 2.055_163_594_809_028e-4, -2.831_236_053_731_799e-4, -1.488_980_913_900_732_8e-4, 1.483_737_263_206_646_5e-3, -3.558_794_015_919_763_4e-3, 5.685_182_421_940_152e-3, -7.643_805_570_071_257e-3, 9.445_522_011_910_993e-3, 1.001_675_276_693_399_8, 2.832_976_798_728_271);
    let v = root - 5.0;
    let far = horner!(v; 5.825_622_003_928_48e-12, -2.104_146_873_307_832e-11, 1.493_240_094_765_638_3e-11, 7.253_120_092_489_35e-11, -3.810_314_997_293_994_3e-10, 1.310_388_930_666_46e-9, -3.534_056_510_781_171_6e-9, 7.827_129_424_437_85e-9, -1.521_357_773_047_268_8e-8, 2.901_528_797_056_687_4e-8, -6.757_283_167_528_635e-8, 2.290_539_809_803_614_3e-7, -9.930_254_587_401_656e-7, 4.526_052_300_277_577e-6, -1.968_177_120_225_471_6e-5, 7.599_527_811_868_485e-5, -2.150_301_197_987_265_8e-4, -1.387_193_183_809_608_8e-4, 1.010_300_464_864_544_8, 4.849_906_401_408_584);
    let tail = if w < 15.0 { middle } else { far } * x;
    let y = if x.abs() <= LIMIT { near } else { tail };
    if x.abs() == 1.0 { x * f64::INFINITY } else { y }
}
