//! Learns to draw handwritten digits: a variational autoencoder of 1,797 real digits draws new ones after some seconds.
//!
//! ```text
//! cargo run --release --example vae
//! ```
//!
//! A picture `x` is described by 8 numbers `z`, normal numbers before the picture is seen. One network finds their mean
//! and variance from `x`, and another one finds the ink of each pixel from `z`. Both learn by the evidence lower bound
//! on `log p(x)` (Kingma and Welling, *Auto-Encoding Variational Bayes*, 2014). `z` is the mean plus noise, so that
//! gradients pass through the mean and the variance.

#[path = "../support/canvas.rs"]
mod canvas;
#[allow(dead_code, reason = "the network learns without labels")]
#[path = "../support/digits.rs"]
mod digits;
mod pictures;
#[path = "../support/program.rs"]
mod program;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use mind::optim::Adam;
use mind::{Const, Rng, Tensor, Xoshiro256, mind};

use digits::Digit;
use program::{Outcome, shown};

mind! {
    /// The network that reads pictures, and the network that draws them.
    #[derive(Clone)]
    struct Networks {
        read: Dense<64, 256>, mean: Dense<256, 8>, spread: Dense<256, 8>,
        draw: Dense<8, 256>, ink: Dense<256, 64>,
    }

    #[derive(Clone)]
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }

    fn dense<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32[N, O] { nn::dense(x, layer.w, layer.b) }

    /// The logit of the ink of each pixel.
    fn drawn<N>(z: f32[N, 8], net: Networks) -> f32[N, 64] { dense(relu(dense(z, net.draw)), net.ink) }

    /// The evidence lower bound in nats, the mean over the pictures, with one sample of `z` for each. Pixels are
    /// probabilities of ink.
    fn bound<N>(x: f32[N, 64], net: Networks, key: i64) -> f32 {
        let h = relu(dense(x, net.read));
        let (m, log_variance) = (dense(h, net.mean), dense(h, net.spread));
        let z = m + exp(0.5 * log_variance) * random::normal(key, [N, 8]);
        let logits = drawn(z, net);
        let fit = x * nn::log_sigmoid(logits) + (1.0 - x) * nn::log_sigmoid(-logits);
        let divergence = 0.5 * (m * m + exp(log_variance) - 1.0 - log_variance);
        mean(sum(fit, axis = 1) - sum(divergence, axis = 1))
    }

    fn loss<N>(x: f32[N, 64], net: Networks, key: i64) -> f32 { -bound(x, net, key) }

    /// One step of Adam, in place. Returns the bound before the step.
    fn step<N>(
        x: f32[N, 64],
        key: i64,
        net: &mut Networks,
        state: &mut optim::Adam<Networks>,
        rate: f32,
    ) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, net, key);
        let (new, next) = optim::adam_step(net, gradient, state, rate);
        net = new;
        state = next;
        -l
    }

    /// The ink of new pictures.
    fn pictures_of(key: i64, net: Networks) -> f32[80, 64] {
        nn::sigmoid(drawn(random::normal(key, [80, 8]), net))
    }

    /// The key of a step.
    fn key_of(key: i64, step: i64) -> i64 { random::fold_in(key, step) }
}

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/vae/samples.png");
const SEED: i64 = 1;
const EPOCHS: usize = 400;
const BATCH: usize = 64;
/// The learning rate of the first epoch, and the factor that each epoch multiplies it by.
const RATE: (f32, f32) = (2e-3, 0.995);

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let mut random = Xoshiro256::new(1);
    let mut training = digits::load(Path::new(digits::SHIPPED))?;
    shuffle(&mut training, &mut random);
    let test = training.split_off(training.len() * 4 / 5);
    println!("{} handwritten digits to learn from, {} to be tested on", training.len(), test.len());

    let mut net = Networks::he_uniform(&mut random);
    let start = Instant::now();
    let steps = train(&mut net, &mut training, EPOCHS, &mut random)?;
    println!("{EPOCHS} epochs, {steps} steps in {:.1} s", start.elapsed().as_secs_f64());
    println!("test bound: {:.2} nats", bound(&batch(&test), &net, key_of(SEED, -1)));

    let path = Path::new(PICTURE);
    pictures::samples(path, pictures_of(key_of(SEED, -2), &net).as_slice())?;
    println!("new digits: {}", shown(path));
    Ok(())
}

/// Returns the number of steps.
fn train(net: &mut Networks, digits: &mut [Digit], epochs: usize, random: &mut Xoshiro256) -> Outcome<i64> {
    let bar = program::progress("learning", "epoch", epochs)?;
    let (mut state, mut rate, mut steps) = (Adam::zeros_like(net), RATE.0, 0);
    for _ in 0..epochs {
        shuffle(digits, random);
        let mut total = 0.0;
        for digits in digits.chunks(BATCH) {
            total += step(&batch(digits), key_of(SEED, steps), net, &mut state, rate) * digits.len() as f32;
            steps += 1;
        }
        rate *= RATE.1;
        bar.set_message(format!("bound {:.2}", total / digits.len() as f32));
        bar.inc(1);
    }
    bar.finish();
    Ok(steps)
}

/// The pictures, one per row.
fn batch(digits: &[Digit]) -> Tensor![f32; ?, 64] {
    Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| digits[row].pixels[pixel])
}

/// Shuffles the items. All orders are equally likely, except for a bias below 2^-50.
fn shuffle<T>(items: &mut [T], random: &mut Xoshiro256) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The noise of a key is a constant, so that differences of the bound are those of one function.
    #[test]
    fn the_gradient_is_that_of_the_bound_with_the_noise_of_the_key() {
        let digits = digits::load(Path::new(digits::SHIPPED)).expect("the file is there");
        let (x, mut net) = (batch(&digits[..10]), Networks::he_uniform(&mut Xoshiro256::new(2)));
        let before = net.clone();
        let mut state = Adam::zeros_like(&net);
        let first = step(&x, 3, &mut net, &mut state, 1e-3);
        assert_eq!(first, bound(&x, &before, 3));
        assert!(bound(&x, &net, 3) > first);
        assert_ne!(bound(&x, &before, 4), first);
    }

    #[test]
    fn training_raises_the_bound() {
        let mut digits = digits::load(Path::new(digits::SHIPPED)).expect("the file is there");
        digits.truncate(200);
        let mut random = Xoshiro256::new(2);
        let mut net = Networks::he_uniform(&mut random);
        let x = batch(&digits);
        let before = bound(&x, &net, 5);
        train(&mut net, &mut digits, 3, &mut random).expect("a progress bar can be drawn");
        let after = bound(&x, &net, 5);
        assert!(after > before + 5.0, "{before} before, {after} after");
    }

    #[test]
    fn pictures_are_functions_of_their_key() {
        let net = Networks::he_uniform(&mut Xoshiro256::new(2));
        let [one, same, other] = [7, 7, 8].map(|key| pictures_of(key, &net));
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert!(one.as_slice().iter().all(|ink| (0.0..=1.0).contains(ink)));
        assert_eq!(one.as_slice().len(), 80 * 64);
    }
}
