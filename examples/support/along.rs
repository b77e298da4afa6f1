//! Compares a gradient by many parameters with difference quotients of the function in the gradient's direction.

use mind::{Elements, ElementsMut, Parameters};

/// Moves each parameter of `at` by `far` along its gradient in both directions, and compares the difference quotient of
/// `f` with the sum of the gradient's squares. For a single element a function in `f32` has few digits. This check has
/// three, or two where kinks lie between the points.
///
/// # Panics
/// The two differ by at least the fraction `within`, or a parameter does not hold `f32`.
pub fn check<P: Parameters>(at: &mut P, gradient: &P, far: f64, within: f64, f: impl Fn(&P) -> f32) {
    for part in gradient.parameters() {
        let Elements::F32(slopes) = part.elements else { panic!("{} is of floats", part.name) };
        let squares = slopes.iter().map(|slope| f64::from(*slope).powi(2)).sum::<f64>();
        let far = (far / squares.sqrt()) as f32;
        let [ahead, behind] = [far, -far].map(|far| {
            shift(at, &part.name, slopes, far);
            let there = f64::from(f(at));
            shift(at, &part.name, slopes, -far);
            there
        });
        let found = (ahead - behind) / (2.0 * f64::from(far));
        assert!((found / squares - 1.0).abs() < within, "{}: {found} for {squares}", part.name);
    }
}

/// Adds `far * direction` to the parameter of this name.
fn shift(at: &mut impl Parameters, name: &str, direction: &[f32], far: f32) {
    at.visit_mut(&mut |part| {
        if let ElementsMut::F32(weights) = part.elements
            && part.name == name
        {
            weights.iter_mut().zip(direction).for_each(|(weight, by)| *weight += far * by);
        }
    });
}
