//! The network of the example `digits`, which other examples train too.

use mind::mind;

mind! {
    /// Two layers of weights and biases.
    pub struct Network {
        pub w1: f32[64, 256],
        pub b1: f32[256],
        pub w2: f32[256, 10],
        pub b2: f32[10],
    }

    /// The score of each digit for each picture of `x`.
    pub fn scores<N>(x: f32[N, 64], net: Network) -> f32[N, 10] {
        nn::dense(relu(nn::dense(x, net.w1, net.b1)), net.w2, net.b2)
    }

    /// Mean cross-entropy of the softmax of `scores` against the digits `y`.
    pub fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    /// One step of gradient descent, in place: forward, backward and update are one program.
    pub fn step<N>(x: f32[N, 64], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, rate);
        l
    }
}
