//! A program that trains another crate's model, and the same program in one block.
#![deny(warnings)]

/// The program with imports.
pub mod composed {
    use mind::mind;

    mind! {
        use composition_model::{descend, gradients::by_weights, loss};

        /// One step of training, in place.
        pub fn step<N>(x: f32[N, 3], y: f32[N, 3], w: &mut f32[3, 3], b: &mut f32[3], rate: f32) -> f32 {
            let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, y, w, b);
            descend(w, dw, rate);
            b -= rate * db;
            l
        }

        /// The gradient of the mean gradient.
        pub fn curvature<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[3] {
            grad(slope, wrt = b)(x, y, w, b)
        }

        fn slope<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32 {
            mean(by_weights(x, y, w, b))
        }
    }
}

/// Templates from two crates.
pub mod gates {
    mind::mind! {
        use composition_model::gates::{gates, twice};

        /// A gradient through all templates.
        pub fn slope<N>(x: f32[N, 3], w: f32[3, 3]) -> f32[3, 3] {
            grad(loss, wrt = w)(x, w)
        }

        fn loss<N>(x: f32[N, 3], w: f32[3, 3]) -> f32 {
            let (a, b) = gates(x, w);
            sum(a * b) + sum(twice(x, w))
        }
    }
}

/// The same in one block.
pub mod gates_alone {
    mind::mind! {
        /// A gradient through all templates.
        pub fn slope<N>(x: f32[N, 3], w: f32[3, 3]) -> f32[3, 3] {
            grad(loss, wrt = w)(x, w)
        }

        fn loss<N>(x: f32[N, 3], w: f32[3, 3]) -> f32 {
            let a = twice(x, w) + x * 0.5;
            let b = gated(x, w, 2.0) / 7.0;
            sum(a * b) + sum(twice(x, w))
        }

        fn twice<N>(x: f32[N, 3], w: f32[3, 3]) -> f32[N, 3] { gated(gated(x, w, 0.5), w, 0.5) }

        fn gated<N>(x: f32[N, 3], w: f32[3, 3], slope: f32) -> f32[N, 3] {
            let z = x @ w;
            (z + slope * spread(z)) * sigmoid(z) * 3.0
        }

        fn spread<N>(x: f32[N, 3]) -> f32[N, 3] {
            let e = exp(x);
            (e * sigmoid(e)) @ ones([3, 3])
        }

        fn sigmoid<N>(x: f32[N, 3]) -> f32[N, 3] {
            let e = exp(-abs(x));
            where(x >= 0.0, 1.0, e) / (1.0 + e)
        }
    }
}

/// Structs and constants from two crates.
pub mod structs {
    mind::mind! {
        use composition_model::parameters;
        use composition_model::parameters::{Affine, Pair, WIDER, through, total};

        /// A constant of this crate. In the other crate the name has another value.
        const EPS: float = 100.0;

        /// One step of training, in place.
        pub fn step<B, N>(x: f32[B, 3], y: f32[B, WIDER], p: &mut Pair<N>, rate: f32) -> f32 {
            let (l, g) = value_and_grad(loss, wrt = p)(x, y, p);
            p -= rate * g;
            l
        }

        fn loss<B, N>(x: f32[B, 3], y: f32[B, WIDER], p: parameters::Pair<N>) -> f32 {
            let miss = through(x, p) - y;
            mean(miss * miss) + total(p) * 0.0
        }

        /// The sum of all parameters, and of a layer with its name in the other crate.
        pub fn sums<N>(p: Pair<N>) -> (f32, f32) {
            let Affine { w, b } = p.first;
            (total(p) + EPS, sum(w) + sum(b) + parameters::EPS)
        }
    }
}

/// Structs with a leading axis, of both other crates.
pub mod stacks {
    mind::mind! {
        use composition_model::parameters::{Deep, Gain, deep, gain};

        fn loss<B>(x: f32[B, 3], p: Deep) -> f32 { mean(deep(x, p) * deep(x, p)) }

        /// One step of training, in place.
        pub fn step<B>(x: f32[B, 3], p: &mut Deep, rate: f32) -> f32 {
            let (l, g) = value_and_grad(loss, wrt = p)(x, p);
            p -= rate * g;
            l
        }

        /// Factors of the first crate.
        pub fn gains<N>(by: f32[N, 3]) -> Gain[N] { for by in by { gain(by) } }
    }
}

/// The program in one block.
pub mod alone {
    use mind::mind;

    mind! {
        /// One step of training, in place.
        pub fn step<N>(x: f32[N, 3], y: f32[N, 3], w: &mut f32[3, 3], b: &mut f32[3], rate: f32) -> f32 {
            let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, y, w, b);
            w -= rate * dw;
            b -= rate * db;
            l
        }

        /// The gradient of the mean gradient.
        pub fn curvature<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[3] {
            grad(slope, wrt = b)(x, y, w, b)
        }

        fn slope<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32 {
            mean(grad(loss, wrt = w)(x, y, w, b))
        }

        fn loss<N>(x: f32[N, 3], y: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32 {
            let before = layer(layer(layer(x, w, b), w, b), w, b) @ w + b;
            error(activation(before), y) + 0.1 * mean(before) + error(layer(layer(x, w, b), w, b), y)
        }

        fn layer<N>(x: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[N, 3] {
            activation(x @ w + b)
        }

        fn activation<N>(x: f32[N, 3]) -> f32[N, 3] {
            relu(x) + 0.5 * (1.0 / (1.0 + exp(-x)))
        }

        fn error<N>(x: f32[N, 3], y: f32[N, 3]) -> f32 {
            let miss = x - y;
            mean(miss * miss)
        }
    }
}

/// Imports of a function, and of functions that it imports itself, in one order.
pub mod function_first {
    mind::mind! {
        use composition_model::smooth;
        use composition_model::{dense_layer, twice};

        /// Four layers followed by two.
        pub fn deep<N>(x: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[N, 3] {
            twice(dense_layer(smooth(x, w, b), w, b), w, b)
        }
    }
}

/// The same imports in the other order.
pub mod function_last {
    mind::mind! {
        use composition_model::{dense_layer, twice};
        use composition_model::smooth;

        /// Four layers followed by two.
        pub fn deep<N>(x: f32[N, 3], w: f32[3, 3], b: f32[3]) -> f32[N, 3] {
            twice(dense_layer(smooth(x, w, b), w, b), w, b)
        }
    }
}

/// Optimiser states of another crate's structs.
pub mod states {
    mind::mind! {
        use composition_model::{Learning, learn, parameters::Affine, slowly};

        /// One step of Adam, in place.
        pub fn step<I, O>(gradient: Affine<I, O>, learning: &mut Learning<I, O>) {
            learn(gradient, learning);
        }

        /// The same with a state declared in this crate.
        pub fn alone<I, O>(gradient: Affine<I, O>, layer: &mut Affine<I, O>, state: &mut optim::Adam<Affine<I, O>>) {
            let (new, next) = optim::adam_step(layer, gradient, state, 0.125);
            layer = new;
            state = next;
        }

        /// One step by a template of another crate.
        pub fn slow<I, O>(net: Affine<I, O>, g: Affine<I, O>, state: optim::Momentum<Affine<I, O>>)
            -> (Affine<I, O>, optim::Momentum<Affine<I, O>>)
        {
            slowly(net, g, state)
        }
    }
}
