//! The length of the hypotenuse: the square root of the sum of squares, scaled if the squares would leave the range.

/// For `f32`, computed in `f64`, which has enough range.
#[inline(always)]
pub(super) fn f32(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let length = (a * a + b * b).sqrt() as f32;
    // An infinity counts even if the other operand is NaN.
    if x.abs() == f32::INFINITY || y.abs() == f32::INFINITY { f32::INFINITY } else { length }
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let larger = if x > y { x } else { y };
    let scale = if larger > 1e150 { 1e-180_f64 } else { 1.0 };
    let scale = if larger < 1e-140 { 1e170 } else { scale };
    // A power of 2, so that nothing is rounded.
    let scale = f64::from_bits(scale.to_bits() & f64::INFINITY.to_bits());
    let (a, b) = (x * scale, y * scale);
    let length = (a * a + b * b).sqrt() / scale;
    if x == f64::INFINITY || y == f64::INFINITY { f64::INFINITY } else { length }
}
