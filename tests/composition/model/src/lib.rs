//! A model built from another crate's layers.
#![deny(warnings)]

use tensor::mind;

mind! {
    use composition_layers::{dense::{both, layer as dense, structured}, dense_layer, error, twice};

    /// Three layers. Another crate has a different function of this name.
    pub fn smooth<N>(x: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[N, 3] {
        dense(twice(x, w, b), w, b)
    }

    /// The error of the model, computed through tuples.
    pub fn loss<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32 {
        let (before, after) = both(smooth(x, w, b), w, b);
        error(after, y) + 0.1 * mean(before) + error(structured(dense_layer(x, w, b), w, b), y)
    }
}

/// Templates of another crate, called by their path and by a template of this crate.
pub mod gates {
    tensor::mind! {
        use composition_layers::dense::gated as gate;
        use composition_layers::dense as layers;

        const WIDTH: dim = 7;

        /// Calls both templates.
        pub fn gates<N>(x: f32[N, 3], w: f32[3, 3]) -> (f32[N, 3], f32[N, 3]) {
            (twice(x, w) + exponential(x), layers::gated(x, w, slope = 2.0) / WIDTH)
        }

        /// A template that calls a template of another crate.
        pub fn twice(x: float[..], w: float[..]) { gate(gate(x, w), w) }

        fn exponential<A, B>(x: f32[A, B]) -> f32[A, B] { x * 0.5 }
    }
}

pub use composition_layers::{
    dense::{Learning, descend, learn, slowly},
    dense_layer, twice,
};

/// The gradient, in a function of this crate.
pub mod gradients {
    tensor::mind! {
        use super::loss;

        /// The gradient of the loss by the weights.
        pub fn by_weights<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[3, 3] {
            grad(loss, wrt = w)(x, y, w, b)
        }
    }
}

/// A struct of another crate, and constants computed from another crate's.
pub mod parameters {
    tensor::mind! {
        use composition_layers::dense::{Dense, Gain, SMOOTH as SHARE, WIDTH, amplified_twice};

        /// Twice the width from the other crate.
        pub const WIDER: dim = 2 * WIDTH;

        /// A small number of this crate. The name has another value in the next crate.
        pub const EPS: float = 0.125;

        /// Two layers, one with the other crate's width.
        pub struct Pair<N> {
            /// The first layer.
            pub first: Dense<WIDTH, N>,
            /// The second layer.
            pub second: Dense<N, WIDER>,
            scale: f32,
        }

        /// Layers of the other crate, with its type for factors and a type of this crate for the others.
        pub struct Deep {
            /// The factors.
            pub gains: Gain[2],
            /// The layers after them.
            pub layers: Dense<WIDTH, WIDTH>[3],
        }

        /// Applies all layers.
        pub fn deep<B>(x: f32[B, WIDTH], p: Deep) -> f32[B, WIDTH] {
            fold x = amplified_twice(x, p.gains) for layer in p.layers { tanh(x @ layer.w + layer.b) }
        }

        /// Makes a pair. Its scale is visible only here.
        pub fn pair<N>(first: Dense<3, N>, second: Dense<N, WIDER>) -> Pair<N> { Pair { first, second, scale: SHARE } }

        /// Applies both layers.
        pub fn through<B, N>(x: f32[B, WIDTH], p: Pair<N>) -> f32[B, WIDER] {
            (relu(x @ p.first.w + p.first.b) @ p.second.w + p.second.b) * p.scale + EPS
        }

        /// The sum of all parameters, in a template.
        pub fn total(p) {
            let Pair { first, second: Dense { w, b }, scale } = p;
            sum(first.w) + sum(first.b) + sum(w) + sum(b) + scale * EPS
        }
    }

    /// The layer of the other crate, exported to the next crate.
    pub use composition_layers::dense::Dense as Affine;
    pub use composition_layers::dense::{Gain, GainStack, gain};
}
