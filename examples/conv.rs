//! Trains a small convolutional network to tell horizontal bars from vertical bars at any position in a picture.
//!
//! ```text
//! cargo run --release --example conv
//! ```

#[cfg(test)]
#[path = "support/along.rs"]
mod along;

use mind::{Tensor, mind};

mind! {
    /// The filters have shape `[height, width, in, out]`.
    struct Network { f1: f32[3, 3, 1, 4], b1: f32[4], f2: f32[3, 3, 4, 8], b2: f32[8], w: f32[8, 2] }

    /// The logits of two classes for `N` pictures `[N, height, width, channels]`: convolution, relu, convolution with
    /// stride 2, relu, and the mean over the remaining pixels.
    fn scores<N>(x: f32[N, 12, 12, 1], net: Network) -> f32[N, 2] {
        let h = relu(conv2d(x, net.f1, padding = same) + net.b1);            // f32[N, 12, 12, 4]
        let h = relu(conv2d(h, net.f2, strides = [2, 2]) + net.b2);          // f32[N, 5, 5, 8]
        mean(h, axes = [1, 2]) @ net.w
    }

    #[grad(net)]
    fn loss<N>(x: f32[N, 12, 12, 1], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    /// One step of gradient descent, in place.
    fn step<N>(x: f32[N, 12, 12, 1], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, g, rate);
        l
    }

    /// The number of pictures that are classified correctly.
    fn right<N>(x: f32[N, 12, 12, 1], y: i64[N], net: Network) -> f32 {
        sum(f32(argmax(scores(x, net), axis = 1) == y))
    }
}

/// Pictures and their labels: pictures with odd index show a vertical bar (1), the others a horizontal bar (0), with
/// noise.
type Batch = (Tensor![f32; 32, 12, 12, 1], Tensor![i64; 32]);

impl Network {
    fn new(noise: &mut impl FnMut() -> f32) -> Self {
        Self {
            f1: Tensor::from_fn(|[_, _, _, _]| 0.5 * noise()),
            f2: Tensor::from_fn(|[_, _, _, _]| 0.3 * noise()),
            w: Tensor::from_fn(|[_, _]| 0.5 * noise()),
            ..Self::zeros()
        }
    }
}

fn main() {
    let mut noise = noise();
    let mut net = Network::new(&mut noise);
    for at in 0..=300 {
        let (x, y) = bars(&mut noise);
        let loss = step(&x, &y, &mut net, 0.3);
        if at % 50 == 0 {
            println!("step {at:>3}: loss {loss:.4}");
        }
    }

    let (x, y) = bars(&mut noise);
    let right = right(&x, &y, &net);
    println!("{right} of 32 new pictures named right");
    assert!(right >= 31.0);
}

fn bars(noise: &mut impl FnMut() -> f32) -> Batch {
    let places: [usize; 32] = std::array::from_fn(|_| ((noise() + 1.0) * 6.0) as usize);
    let x = Tensor::from_fn(|[i, row, column, _]| {
        let across = if i % 2 == 1 { column } else { row };
        f32::from(u8::from(across == places[i])) + 0.3 * noise()
    });
    (x, Tensor::from_fn(|[i]| (i % 2) as i64))
}

/// Uniform pseudorandom numbers from -1 to 1, the same on every machine.
fn noise() -> impl FnMut() -> f32 {
    let mut state = 7_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let mut noise = noise();
        let (mut net, (x, y)) = (Network::new(&mut noise), bars(&mut noise));
        // The loss is flat at first.
        (0..80).for_each(|_| _ = step(&x, &y, &mut net, 0.3));
        let (_, gradient) = loss_grad(&x, &y, &net);
        // The tolerance allows for the kinks of `relu` between the two points.
        along::check(&mut net, &gradient, 3e-3, 2e-2, |net| loss(&x, &y, net));
    }
}
