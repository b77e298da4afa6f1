//! Logarithms to other bases than e. The natural logarithm and the factor have two parts each, and the product of the
//! first parts is exact, as in msun's `e_log2.c` and `e_log10.c` (Sun Microsystems, 1993; FreeBSD).

use super::ln;
use super::rounding::Rounding;

macro_rules! of {
    ($($(#[$doc:meta])* $name:ident: $ty:ident, $split:ident, $series:ident, $of:ident, $mask:literal,
        $slope:literal + $slope_low:literal, $two:literal + $two_low:literal;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name<A: Rounding>(x: $ty) -> $ty {
            let (k, f) = ln::$split(x);
            let (s, rest, half_square) = ln::$series::<A>(f);
            let high = $ty::from_bits((f - half_square).to_bits() & $mask);
            let low = A::multiply_add(s, rest, (f - high) - half_square);
            let of_high = high * $slope;
            let of_low = A::multiply_add(k, $two_low, (low + high) * $slope_low) + low * $slope;
            let whole = k * $two;
            let y = whole + of_high;
            ln::$of(x, (of_low + ((whole - y) + of_high)) + y)
        }
    )+};
}

of! {
    /// The logarithm to the base 2, for `f32`.
    f32: f32, split_f32, series_f32, of_f32, 0xffff_f000, 1.442_871_1 + -1.760_528_5e-4, 1.0 + 0.0;
    /// The logarithm to the base 2, for `f64`.
    f64: f64, split_f64, series_f64, of_f64, 0xffff_ffff_0000_0000,
        1.442_695_040_721_446_3 + 1.675_171_316_488_651_2e-10, 1.0 + 0.0;
    /// The logarithm to the base 10, for `f32`.
    ten_f32: f32, split_f32, series_f32, of_f32, 0xffff_f000,
        0.434_326_17 + -3.168_997e-5, 0.301_033_02 + -3.024_355_5e-6;
    /// The logarithm to the base 10, for `f64`.
    ten_f64: f64, split_f64, series_f64, of_f64, 0xffff_ffff_0000_0000,
        0.434_294_481_878_168_9 + 2.508_294_671_164_527_5e-11, 0.301_029_995_663_952_83 + 2.836_339_455_104_496_4e-14;
}
