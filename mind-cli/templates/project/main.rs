//! A network of two layers learns which of two moons a point is on.

use std::f32::consts::PI;

use mind::{Rng, Tensor, Xoshiro256, mind, optim::Adam};

/// The number of points that the network learns from, and of other points for the test.
const POINTS: usize = 400;

type Points = Tensor![f32; {POINTS}, 2];
type Moons = Tensor![i64; {POINTS}];

mind! {
    /// Two layers.
    #[derive(Clone)]
    struct Net { w1: f32[2, 32], b1: f32[32], w2: f32[32, 2], b2: f32[2] }

    /// The output of the network for `N` points: a score for each moon.
    fn scores<N>(x: f32[N, 2], net: Net) -> f32[N, 2] {
        let h = tanh(x @ net.w1 + net.b1);
        h @ net.w2 + net.b2
    }

    /// The mean cross-entropy of the softmax of `scores`. `loss_grad` also returns its gradient.
    #[grad(net)]
    fn loss<N>(x: f32[N, 2], moon: i64[N], net: Net) -> f32 {
        nn::cross_entropy(scores(x, net), moon)
    }

    /// One step of Adam, in place; returns the loss before it.
    fn step<N>(x: f32[N, 2], moon: i64[N], net: &mut Net, state: &mut optim::Adam<Net>, rate: f32) -> f32 {
        let (before, gradient) = value_and_grad(loss, wrt = net)(x, moon, net);
        let (new, next) = optim::adam_step(net, gradient, state, rate);
        net = new;
        state = next;
        before
    }

    /// The share of points whose right moon has the highest score.
    fn accuracy<N>(x: f32[N, 2], moon: i64[N], net: Net) -> f32 {
        mean(f32(argmax(scores(x, net), axis = 1) == moon))
    }
}

/// Points near two interleaved half circles, and the number of the half circle that each is on.
fn moons(rng: &mut Xoshiro256) -> (Points, Moons) {
    // From 0 to 1.
    let mut random = || (rng.next_u64() >> 40) as f32 / (1 << 24) as f32;
    let (mut x, mut moon) = (Tensor::zeros(), Tensor::zeros());
    for i in 0..POINTS {
        let (sin, cos) = (PI * random()).sin_cos();
        let (across, up) = if i % 2 == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) };
        x[[i, 0]] = across + 0.4 * (random() - 0.5);
        x[[i, 1]] = up + 0.4 * (random() - 0.5);
        moon[[i]] = (i % 2) as i64;
    }
    (x, moon)
}

fn main() {
    let mut rng = Xoshiro256::new(1);
    let (x, moon) = moons(&mut rng);
    let (unseen_x, unseen_moon) = moons(&mut rng);

    let mut net = Net::glorot_uniform(&mut rng);
    let mut state = Adam::zeros_like(&net);
    for at in 0..=300 {
        let loss = step(&x, &moon, &mut net, &mut state, 0.02);
        if at % 50 == 0 {
            let right = 100.0 * accuracy(&unseen_x, &unseen_moon, &net);
            println!("step {at:>3}: loss {loss:.4}, {right:>5.1} % of unseen points right");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the gradient with difference quotients of `loss`.
    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let mut rng = Xoshiro256::new(2);
        let (x, moon) = moons(&mut rng);
        let mut net = Net::glorot_uniform(&mut rng);
        let (_, gradient) = loss_grad(&x, &moon, &net);
        assert_eq!(mind::gradcheck(&mut net, &gradient, |net| loss(&x, &moon, net)), Ok(()));
    }
}
