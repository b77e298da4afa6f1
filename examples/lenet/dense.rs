//! The network of the example `digits`, which learns as it does there.

use mind::mind;

use crate::data::{self, Random};
use crate::digits::Digit;
use crate::{batch, right};

mind! {
    /// Two layers of weights and biases.
    struct Network {
        w1: f32[64, 256],
        b1: f32[256],
        w2: f32[256, 10],
        b2: f32[10],
    }

    /// The score of each digit for each picture of `x`.
    fn scores<N>(x: f32[N, 64], net: Network) -> f32[N, 10] {
        nn::dense(relu(nn::dense(x, net.w1, net.b1)), net.w2, net.b2)
    }

    /// Mean cross-entropy of the softmax of `scores` against the digits `y`.
    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    /// One step of gradient descent, in place: forward, backward and update are one program.
    fn step<N>(x: f32[N, 64], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, rate);
        l
    }
}

const EPOCHS: usize = 100;
const BATCH: usize = 32;
/// The learning rate of the first epoch, and the factor that each epoch multiplies it by.
const RATE: (f32, f32) = (0.4, 0.97);

/// The test accuracy in percent, after learning four fifths of the digits. With seed 1 it is that of the example.
pub fn accuracy(digits: &[Digit], seed: u64) -> f64 {
    let mut random = Random(seed);
    let (mut training, test) = data::split(digits.to_vec(), &mut random);
    let mut net = Network::he_uniform(&mut random);
    let mut rate = RATE.0;
    for _ in 0..EPOCHS {
        random.shuffle(&mut training);
        for digits in training.chunks(BATCH) {
            let (x, y) = batch(digits, |digit| digit.askew(&mut random));
            step(&x, &y, &mut net, rate);
        }
        rate *= RATE.1;
    }
    let (x, y) = batch(&test, |digit| digit.pixels);
    100.0 * right(&scores(&x, &net), &y) as f64 / test.len() as f64
}
