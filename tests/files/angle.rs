//! A layer, written with angle brackets: a whole Rust file.

use mind::{Tensor, mind};

/// The learnt parameters.
pub(super) struct Layer {
    w: Tensor![f32; 2, 2],
}

impl Layer {
    pub(super) fn new(w: Tensor![f32; 2, 2]) -> Self {
        Self { w }
    }

    pub(super) fn apply(&self, x: &Tensor![f32; 1, 2]) -> Tensor![f32; 1, 2] {
        if x.len()>1 { mind!< relu(x @ self.w) >.into() } else { Tensor::zeros() }
    }
}

mind!<
    /// The sum of all elements.
    pub(super) fn total<N>(x: f32[N, 2]) -> f32 {
        sum(x)
    }
>
