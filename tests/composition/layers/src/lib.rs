//! Layers for other crates.
#![deny(warnings)]

/// Layers with their activations.
pub mod dense {
    use mind::mind;

    mind! {
        use nn::sigmoid as squashed;

        /// The width of every layer.
        pub const WIDTH: dim = 3;

        /// A layer of any width, scaled by the width of this block, with a gate from the library.
        pub fn gated<I, O>(x: float[.., I], w: float[I, O], const slope: float = 0.5) {
            let z = x @ w;
            (z + slope * spread(z)) * squashed(z) * WIDTH
        }

        fn spread<N>(x: float[N, WIDTH]) {
            nn::silu(exponential(x)) @ ones([WIDTH, WIDTH])
        }

        /// A dense layer.
        pub fn layer<N>(x: f32[N, WIDTH], w: f32[WIDTH, WIDTH], b: f32[WIDTH]) -> f32[N, WIDTH] {
            activation(x @ w + b)
        }

        /// The layer after and before its activation.
        pub fn both<N>(x: f32[N, WIDTH], w: f32[WIDTH, WIDTH], b: f32[WIDTH]) -> (f32[N, WIDTH], f32[N, WIDTH]) {
            let before = x @ w + b;
            (before, activation(before))
        }

        /// One step of gradient descent, in place.
        pub fn descend<M, K>(w: &mut f32[M, K], gradient: f32[M, K], rate: f32) {
            w -= rate * gradient;
        }

        /// Weights and biases.
        pub struct Dense<I, O> {
            /// The weights.
            pub w: f32[I, O],
            /// The biases.
            pub b: f32[O],
        }

        /// A factor for each feature.
        #[derive(Clone)]
        pub struct Gain {
            /// The factors.
            pub by: f32[WIDTH],
            shift: f32,
        }

        /// Makes a factor. Its shift is visible only here.
        pub fn gain(by: f32[WIDTH]) -> Gain { Gain { by, shift: 0.25 } }

        /// Applies a factor.
        pub fn amplified<N>(x: f32[N, WIDTH], p: Gain) -> f32[N, WIDTH] { x * p.by + p.shift }

        /// Applies two factors.
        pub fn amplified_twice<N>(x: f32[N, WIDTH], p: Gain[2]) -> f32[N, WIDTH] {
            fold x = x for one in p { amplified(x, one) }
        }

        /// Weights and Adam's state of them.
        pub struct Learning<I, O> {
            /// The weights.
            pub layer: Dense<I, O>,
            /// The state.
            pub adam: optim::Adam<Dense<I, O>>,
        }

        /// One step of Adam, in place.
        pub fn learn<I, O>(gradient: Dense<I, O>, learning: &mut Learning<I, O>) {
            let (layer, adam) = optim::adam_step(learning.layer, gradient, learning.adam, 0.125);
            learning = Learning { layer: layer, adam: adam };
        }

        /// One step for any parameters.
        pub fn slowly<P: params>(net: P, g: P, state: optim::Momentum<P>) {
            optim::momentum_step(net, g, state, 0.25)
        }

        /// The share of the smooth part in an activation.
        pub const SMOOTH: float = 0.5;

        /// The layer, computed through a struct.
        pub fn structured<N>(x: f32[N, WIDTH], w: f32[WIDTH, WIDTH], b: f32[WIDTH]) -> f32[N, WIDTH] {
            apply(x, Dense { w, b })
        }

        fn apply<N, I, O>(x: f32[N, I], p: Dense<I, O>) -> f32[N, O] {
            let z = x @ p.w + p.b;
            relu(z) + 0.5 * smooth(z)
        }

        fn activation<N>(x: f32[N, WIDTH]) -> f32[N, WIDTH] {
            relu(x) + 0.5 * smooth(x)
        }

        fn smooth<A, B>(x: f32[A, B]) -> f32[A, B] {
            logistic(x)
        }

        fn logistic(x: float[..]) {
            1.0 / (1.0 + exponential(-x))
        }

        fn exponential<A, B>(x: f32[A, B]) -> f32[A, B] {
            exp(x)
        }
    }
}

pub use dense::layer as dense_layer;

mind::mind! {
    use self::dense::layer;

    /// Mean squared error.
    #[grad(x)]
    pub fn error<N, K>(x: f32[N, K], y: f32[N, K]) -> f32 {
        let miss = x - y;
        mean(miss * miss)
    }

    /// The layer applied twice.
    pub fn twice<N>(x: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[N, 3] {
        layer(layer(x, w, b), w, b)
    }
}
