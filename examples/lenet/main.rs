//! A convolution network in the manner of LeNet reads handwritten digits: convolutions, pools, batch norm and dropout.
//! It is compared with the network of the example `digits` on five splits of the same pictures.
//!
//! ```text
//! cargo run --release --example lenet
//! ```
//!
//! An argument is the number of splits. The program prints the test accuracy of both networks on each split and its
//! mean. With five splits or more it fails if LeNet's mean is not at least half a percent higher.
//!
//! Batch norm takes its moments from the batch while the network learns, and moving averages of these afterwards. The
//! averages are not parameters: the loss returns the moments of the batch beside its value, and the step updates the
//! averages in place. See LeCun et al., *Gradient-Based Learning Applied to Document Recognition*, 1998.

#[cfg(test)]
#[path = "../support/along.rs"]
mod along;
#[path = "../digits/data.rs"]
mod data;
mod dense;
#[allow(dead_code, reason = "this example uses a part of it")]
#[path = "../support/digits.rs"]
mod digits;
#[allow(dead_code, reason = "nothing here reads the loss of the network alone")]
#[path = "../digits/network.rs"]
mod network;
#[path = "../support/program.rs"]
mod program;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use mind::optim::Adam;
use mind::{Const, Tensor, mind};

use data::Random;
use digits::{Digit, PIXELS};
use program::Outcome;

mind! {
    /// The filters have shape `[height, width, in, out]`.
    #[derive(Clone)]
    struct Network {
        f1: f32[3, 3, 1, 16], norm1: Norm<16>,
        f2: f32[3, 3, 16, 32], norm2: Norm<32>,
        w1: f32[512, 128], b1: f32[128],
        w2: f32[128, 10], b2: f32[10],
    }

    /// The scale and shift of each channel after batch norm.
    #[derive(Clone)]
    struct Norm<C> { scale: f32[C], bias: f32[C] }

    /// The moments of the channels before each batch norm.
    #[derive(Clone)]
    struct Statistics { first: Moments<16>, second: Moments<32> }

    #[derive(Clone)]
    struct Moments<C> { mean: f32[C], variance: f32[C] }

    fn first_layer<N>(x: f32[N, 64], net: Network) -> f32[N, 8, 8, 16] {
        conv2d(reshape(x, [N, 8, 8, 1]), net.f1, padding = same)
    }

    fn second_layer<N>(h: f32[N, 8, 8, 16], net: Network) -> f32[N, 4, 4, 32] {
        max_pool(conv2d(relu(h), net.f2, padding = same), [2, 2], strides = [2, 2])
    }

    fn features<N>(h: f32[N, 4, 4, 32], net: Network) -> f32[N, 128] {
        relu(nn::dense(reshape(relu(h), [N, 512]), net.w1, net.b1))
    }

    /// The scores while the network learns, with a share of the features dropped, and the moments of the batch.
    fn noisy_scores<N>(x: f32[N, 64], net: Network, key: i64, dropped: f32) -> (f32[N, 10], Statistics) {
        let (h, m1, v1) = nn::batch_norm(first_layer(x, net), net.norm1.scale, net.norm1.bias);
        let (h, m2, v2) = nn::batch_norm(second_layer(h, net), net.norm2.scale, net.norm2.bias);
        let h = nn::dropout(features(h, net), key, dropped);
        let moments = Statistics {
            first: Moments { mean: m1, variance: v1 },
            second: Moments { mean: m2, variance: v2 },
        };
        (nn::dense(h, net.w2, net.b2), moments)
    }

    /// The score of each digit for each picture of `x`, by the moments of `seen`.
    fn scores<N>(x: f32[N, 64], net: Network, seen: Statistics) -> f32[N, 10] {
        let h = first_layer(x, net);
        let h = nn::batch_norm_by(h, seen.first.mean, seen.first.variance, net.norm1.scale, net.norm1.bias);
        let h = second_layer(h, net);
        let h = nn::batch_norm_by(h, seen.second.mean, seen.second.variance, net.norm2.scale, net.norm2.bias);
        nn::dense(features(h, net), net.w2, net.b2)
    }

    /// Mean cross-entropy with smoothed labels, and the moments of the batch, which have no gradient.
    #[grad(net)]
    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network, key: i64) -> (f32, Statistics) {
        let (z, moments) = noisy_scores(x, net, key, 0.4);
        (nn::cross_entropy_smooth(z, y, by = 0.05), moments)
    }

    /// One step of AdamW, in place. `key` draws the mask of dropout.
    fn step<N>(
        x: f32[N, 64],
        y: i64[N],
        key: i64,
        net: &mut Network,
        state: &mut optim::Adam<Network>,
        seen: &mut Statistics,
        rate: f32,
    ) -> f32 {
        let ((l, moments), gradient) = value_and_grad(loss, wrt = net)(x, y, net, key);
        let (new, next) = optim::adamw_step(net, gradient, state, rate);
        net = new;
        state = next;
        seen += 0.1 * (moments - seen);
        l
    }

    /// The learning rate of a step.
    fn rate_of(step: f32, steps: f32) -> f32 { optim::warmup_cosine(step, 4e-3, 50.0, steps) }

    /// The key of a step.
    fn key_of(key: i64, step: i64) -> i64 { random::fold_in(key, step) }

    /// The number of pictures that are read right.
    fn right<N>(z: f32[N, 10], y: i64[N]) -> i64 { sum(i64(argmax(z, axis = 1) == y)) }
}

const SPLITS: u64 = 5;
const EPOCHS: usize = 40;
const BATCH: usize = 32;
/// LeNet's mean accuracy is at least this much higher, in percent.
const MARGIN: f64 = 0.5;

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let splits = std::env::args().nth(1).map_or(Ok(SPLITS), |text| text.parse())?.max(1);
    let all = digits::load(Path::new(digits::SHIPPED))?;
    println!("split   digits' network      LeNet   seconds");
    let mut total = [0.0; 2];
    for seed in 1..=splits {
        let dense = dense::accuracy(&all, seed);
        let start = Instant::now();
        let (training, test) = data::split(all.clone(), &mut Random(seed));
        let lenet = LeNet::learned(&training, EPOCHS, seed)?.accuracy(&test);
        println!("{seed:>5} {dense:>15.2} % {lenet:>8.2} % {:>9.1}", start.elapsed().as_secs_f64());
        total = [total[0] + dense, total[1] + lenet];
    }
    let [dense, lenet] = total.map(|sum| sum / splits as f64);
    println!(" mean {dense:>15.2} % {lenet:>8.2} %\n");
    println!("mean test accuracy: {lenet:.2} %");
    if splits >= SPLITS && lenet < dense + MARGIN {
        return Err(format!("LeNet's mean is {:.2} % higher, needed {MARGIN} %", lenet - dense).into());
    }
    Ok(())
}

/// Any number of pictures, one per row.
type Pictures = Tensor![f32; ?, 64];
/// The digits that the pictures show.
type Labels = Tensor![i64; ?];

fn batch(digits: &[Digit], pixels: impl FnMut(&Digit) -> [f32; PIXELS]) -> (Pictures, Labels) {
    let pictures: Vec<_> = digits.iter().map(pixels).collect();
    let x = Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| pictures[row][pixel]);
    let y = Tensor::from_fn_with((digits.len(),), |[row]| digits[row].label as i64);
    (x, y)
}

/// A network and the moments for its batch norm.
struct LeNet {
    net: Network,
    seen: Statistics,
}

impl LeNet {
    fn new(random: &mut Random) -> Self {
        let mut net = Network::he_uniform(random);
        net.norm1.scale = Tensor::ones();
        net.norm2.scale = Tensor::ones();
        let mut seen = Statistics::zeros();
        seen.first.variance = Tensor::ones();
        seen.second.variance = Tensor::ones();
        Self { net, seen }
    }

    /// A network that has learned for some epochs.
    fn learned(training: &[Digit], epochs: usize, seed: u64) -> Outcome<Self> {
        let mut random = Random(seed);
        let mut lenet = Self::new(&mut random);
        let bar = program::progress("learning", "epoch", epochs)?;
        let (mut digits, mut state) = (training.to_vec(), Adam::zeros_like(&lenet.net));
        let steps = epochs * digits.len().div_ceil(BATCH);
        let mut at = 0;
        for _ in 0..epochs {
            random.shuffle(&mut digits);
            for digits in digits.chunks(BATCH) {
                let (x, y) = batch(digits, |digit| digit.askew(&mut random));
                let (key, rate) = (key_of(seed as i64, at), rate_of(at as f32, steps as f32));
                let loss = step(&x, &y, key, &mut lenet.net, &mut state, &mut lenet.seen, rate);
                bar.set_message(format!("loss {loss:.4}"));
                at += 1;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(lenet)
    }

    /// The share of digits that are read right, in percent.
    fn accuracy(&self, digits: &[Digit]) -> f64 {
        let (x, y) = batch(digits, |digit| digit.pixels);
        let right = right(&scores(&x, &self.net, &self.seen), &y);
        100.0 * right as f64 / digits.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(count: usize) -> Vec<Digit> {
        let mut digits = digits::load(Path::new(digits::SHIPPED)).expect("the file is there");
        digits.truncate(count);
        digits
    }

    #[test]
    fn the_gradient_is_that_of_the_loss_with_the_mask_of_the_key() {
        let mut net = LeNet::new(&mut Random(2)).net;
        let (x, y) = batch(&some(24), |digit| digit.pixels);
        let ((first, _), gradient) = loss_grad(&x, &y, &net, 5);
        assert_eq!(first, loss(&x, &y, &net, 5).0);
        assert_ne!(first, loss(&x, &y, &net, 6).0);
        // The tolerance allows for the kinks of `relu` and of the pools between the two points.
        along::check(&mut net, &gradient, 1e-3, 2e-2, |net| loss(&x, &y, net, 5).0);
    }

    #[test]
    fn a_step_moves_the_averages_a_tenth_of_the_way_to_the_moments_of_the_batch() {
        let LeNet { mut net, mut seen } = LeNet::new(&mut Random(2));
        let (x, y) = batch(&some(24), |digit| digit.pixels);
        let (before, moments) = (seen.clone(), loss(&x, &y, &net, 5).1);
        let mut state = Adam::zeros_like(&net);
        step(&x, &y, 5, &mut net, &mut state, &mut seen, 1e-3);
        let parts = |s: &Statistics| {
            [&s.first.mean, &s.first.variance]
                .map(|part| part.as_slice().to_vec())
                .concat()
                .into_iter()
                .chain([&s.second.mean, &s.second.variance].map(|part| part.as_slice().to_vec()).concat())
                .collect::<Vec<f32>>()
        };
        for ((after, before), moment) in parts(&seen).iter().zip(parts(&before)).zip(parts(&moments)) {
            let expected = before + 0.1 * (moment - before);
            assert!((after - expected).abs() <= 1e-6 * expected.abs(), "{after}, not {expected}");
        }
    }

    #[test]
    fn without_dropout_the_moments_of_the_batch_give_the_scores_of_learning() {
        let LeNet { net, .. } = LeNet::new(&mut Random(2));
        let (x, _) = batch(&some(24), |digit| digit.pixels);
        let (learning, moments) = noisy_scores(&x, &net, 5, 0.0);
        let found = scores(&x, &net, &moments);
        for (found, expected) in found.as_slice().iter().zip(learning.as_slice()) {
            assert!((found - expected).abs() <= 1e-4 * (1.0 + expected.abs()), "{found}, not {expected}");
        }
    }

    #[test]
    fn five_epochs_read_most_digits_right() {
        let digits = some(600);
        let (training, test) = digits.split_at(500);
        let found = LeNet::learned(training, 5, 1).expect("a progress bar can be drawn").accuracy(test);
        assert!(found >= 80.0, "{found} %");
    }
}
