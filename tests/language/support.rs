//! Helpers for several modules.

use mind::{Shape, Tensor, TensorRef};

/// Small integers as floats, so that sums and products of a few are exact. The same in every run.
pub fn small_integers<S: Shape>(dims: S, seed: u64) -> Tensor<f32, S> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 9) as f32 - 4.0
    };
    let elements = (0..dims.len()).map(|_| next()).collect();
    Tensor::from_vec(dims, elements).expect("as many elements as the dims say")
}

/// Numbers spread over (-1, 1). The same in every run.
pub fn spread<S: Shape>(dims: S, seed: u64) -> Tensor<f64, S> {
    let element = |i: usize| ((i as f64 + 1.0) * (seed as f64 + 0.618_033_988_749_895)).sin();
    Tensor::from_vec(dims, (0..dims.len()).map(element).collect()).expect("as many elements as the dims say")
}

/// Checks elements up to a relative tolerance.
#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((found - expected).abs() <= allowed, "element {i} is {found}, expected {expected}");
    }
}

/// The gradient of `f` at `x` by central differences.
pub fn differences<S: Shape>(x: &TensorRef<f64, S>, f: impl Fn(&TensorRef<f64, S>) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let at = |i: usize, step: f64| {
        let mut moved = x.to_owned();
        moved.as_mut_slice()[i] += step;
        f(&moved)
    };
    (0..x.len()).map(|i| (at(i, STEP) - at(i, -STEP)) / (2.0 * STEP)).collect()
}
