//! A mixture of normal distributions clusters handwritten digits without their labels, by expectation maximisation. The
//! program is ordinary Rust with expressions over Rust variables.
//!
//! ```text
//! cargo run --release --example mixture
//! ```

#[path = "../support/canvas.rs"]
mod canvas;
#[path = "../support/digits.rs"]
mod digits;
mod pictures;
#[path = "../support/program.rs"]
mod program;
mod report;

use std::path::Path;
use std::process::ExitCode;

use mind::{Const, Rng, Tensor, Xoshiro256, mind};

use digits::{Digit, PIXELS};
use program::Outcome;
use report::Kinds;

/// The number of kinds: the components of the mixture, which are the clusters.
const KINDS: usize = 20;
/// The variance of the assumed noise of each pixel. Without it, a pixel that is always blank would have variance 0.
const NOISE: f64 = 0.02;
/// Learning stops once a step raises the mean log density of the pictures by less than this.
const ENOUGH: f64 = 1e-9;
/// The maximal number of steps.
const STEPS: usize = 300;
const SEED: u64 = 1;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/mixture/kinds.png");

/// One picture per row.
type Pictures = Tensor![f64; ?, 64];
/// The probability of each kind for each picture: `[pictures, kinds]`.
type Shares = Tensor![f64; ?, 20];

mind! {
    /// The log of the kind's weight plus the log density of each picture under each kind: `[pictures, kinds]`. The log
    /// density is its mean if noise of variance `noise` is added to each pixel.
    fn scores(x: float[..], weight, mean, variance, noise) {
        let p = 1.0 / variance;
        let squares = (x * x) @ p.T - 2.0 * (x @ (mean * p).T) + sum((mean * mean + noise) * p, axis = 1);
        log(weight) - 0.5 * (squares + sum(log(6.283185307179586 * variance), axis = 1))
    }
}

/// The kinds: the weight of each, and the mean and variance of its pixels.
#[derive(Clone)]
struct Mixture {
    weight: Tensor![f64; 20],
    mean: Tensor![f64; 20, 64],
    variance: Tensor![f64; 20, 64],
}

impl Mixture {
    /// Starts with kinds around pictures that are far apart. Each picture is drawn with a probability proportional to
    /// its squared distance from those drawn before (k-means++, Arthur and Vassilvitskii 2007).
    fn about(x: &Pictures, random: &mut impl Rng) -> Self {
        let [count, _] = x.dims();
        let mut distance = Tensor::full_with((count,), 1.0);
        let mut mean = Tensor::zeros();
        for kind in 0..KINDS {
            let drawn = draw(&distance, random);
            let picture: Tensor![f64; 64] = Tensor::from_fn(|[pixel]| x[[drawn, pixel]]);
            let to = mind!(sum((x - picture) * (x - picture), axis = 1));
            distance = if kind == 0 { to.into() } else { mind!(minimum(distance, to)).into() };
            mean.as_mut_slice()[kind * PIXELS..][..PIXELS].copy_from_slice(picture.as_slice());
        }
        Self { weight: Tensor::full(1.0 / KINDS as f64), mean, variance: Tensor::full(0.1) }
    }

    /// The expectation step: the probability of each kind for each picture, and the mean log density of the pictures.
    fn expect(&self, x: &Pictures) -> (Shares, f64) {
        let Self { weight, mean, variance } = self;
        let scores = mind!(crate::scores(x, weight, mean, variance, NOISE));
        (mind!(nn::softmax(scores)).into(), mind!(mean(nn::logsumexp(scores))))
    }

    /// The gradient of the mean log density by the means of the kinds. It is 0 at the maximum.
    fn slope(&self, x: &Pictures) -> Tensor![f64; 20, 64] {
        let Self { weight, mean, variance } = self;
        mind!(grad(mean(nn::logsumexp(crate::scores(x, weight, mean, variance, NOISE))), wrt = mean))
    }

    /// The maximisation step: the mixture of greatest expected likelihood, given the probabilities of the kinds.
    fn maximise(x: &Pictures, shares: &Shares) -> Self {
        let count = mind!(sum(shares, axis = 0));
        let mean = mind!(shares.T @ x / count[.., _]);
        let variance = mind!(shares.T @ (x * x) / count[.., _] - mean * mean + NOISE);
        Self { weight: mind!(count / sum(count)).into(), mean: mean.into(), variance: variance.into() }
    }

    /// Alternates both steps until the likelihood hardly grows. Returns the mean log density before each step.
    fn learn(&mut self, x: &Pictures) -> Outcome<Vec<f64>> {
        let bar = program::progress("learning", "step", STEPS)?;
        let mut likelihoods: Vec<f64> = Vec::new();
        while likelihoods.len() < STEPS {
            let (shares, likelihood) = self.expect(x);
            let gained = likelihoods.last().map_or(f64::INFINITY, |before| likelihood - before);
            likelihoods.push(likelihood);
            bar.set_message(format!("log density {likelihood:.4}"));
            bar.inc(1);
            if gained < ENOUGH {
                break;
            }
            *self = Self::maximise(x, &shares);
        }
        bar.abandon();
        Ok(likelihoods)
    }
}

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let path = std::env::args_os().nth(1);
    let digits = digits::load(path.as_deref().map_or(Path::new(digits::SHIPPED), Path::new))?;
    let x = pictures(&digits);
    let mut mixture = Mixture::about(&x, &mut Xoshiro256::new(SEED));
    let likelihoods = mixture.learn(&x)?;
    if let Some(fall) = likelihoods.windows(2).find(|pair| pair[1] < pair[0] - 1e-9) {
        return Err(format!("the log density fell from {} to {}", fall[0], fall[1]).into());
    }
    let steepest =
        mixture.slope(&x).as_slice().iter().fold(0.0_f64, |steepest, slope| steepest.max(slope.abs()));
    println!(
        "{} steps, log density {:.3} to {:.3}",
        likelihoods.len(),
        likelihoods[0],
        likelihoods[likelihoods.len() - 1]
    );
    println!("steepest slope left: {steepest:.1e}\n");

    let kinds = Kinds::new(&digits, &mixture.expect(&x).0);
    println!("{kinds}");
    let path = Path::new(PICTURE);
    pictures::kinds(path, mixture.mean.as_slice(), &kinds)?;
    println!("kinds: {}", program::shown(path));
    println!("in a kind of their digit: {:.1} %", kinds.purity());
    Ok(())
}

fn pictures(digits: &[Digit]) -> Pictures {
    Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| f64::from(digits[row].pixels[pixel]))
}

/// Draws an index with a probability proportional to its size.
fn draw(sizes: &Tensor![f64; ?], random: &mut impl Rng) -> usize {
    let sizes = sizes.as_slice();
    let mut left = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * sizes.iter().sum::<f64>();
    sizes
        .iter()
        .position(|size| {
            left -= size;
            left < 0.0
        })
        .unwrap_or(sizes.len() - 1)
}

#[cfg(test)]
mod tests {
    use mind::gradcheck_some;

    use super::*;

    /// Some of the digits, and a mixture after a few steps.
    fn some() -> (Pictures, Mixture) {
        let digits = digits::load(Path::new(digits::SHIPPED)).expect("the file is there");
        let x = pictures(&digits[..200]);
        let mut mixture = Mixture::about(&x, &mut Xoshiro256::new(2));
        for _ in 0..3 {
            mixture = Mixture::maximise(&x, &mixture.expect(&x).0);
        }
        (x, mixture)
    }

    /// The density of a picture under a kind times the kind's weight, by the definition.
    fn density(x: &Pictures, row: usize, mixture: &Mixture, kind: usize) -> f64 {
        let log: f64 = (0..PIXELS)
            .map(|pixel| {
                let (mean, variance) = (mixture.mean[[kind, pixel]], mixture.variance[[kind, pixel]]);
                let square = (x[[row, pixel]] - mean).powi(2) + NOISE;
                -0.5 * (square / variance + (std::f64::consts::TAU * variance).ln())
            })
            .sum();
        mixture.weight[[kind]] * log.exp()
    }

    #[test]
    fn shares_are_those_of_the_densities() {
        let (x, mixture) = some();
        let (shares, likelihood) = mixture.expect(&x);
        let [count, _] = x.dims();
        let mut sum = 0.0;
        for row in 0..count {
            let densities: Vec<_> = (0..KINDS).map(|kind| density(&x, row, &mixture, kind)).collect();
            let total: f64 = densities.iter().sum();
            sum += total.ln();
            for (kind, density) in densities.iter().enumerate() {
                assert!((shares[[row, kind]] - density / total).abs() < 1e-9, "{row} {kind}");
            }
        }
        assert!((likelihood - sum / count as f64).abs() < 1e-9, "{likelihood}");
    }

    #[test]
    fn the_slope_is_that_of_the_likelihood_and_a_step_goes_along_it() {
        let (x, mut mixture) = some();
        let slope = mixture.slope(&x);
        let mut mean = mixture.mean.clone();
        let (shares, _) = mixture.expect(&x);
        let next = Mixture::maximise(&x, &shares);
        // Xu and Jordan 1996, theorem 1: a mean moves by the slope times its variance over the kind's number of
        // pictures.
        let [count, _] = x.dims();
        for kind in 0..KINDS {
            let pictures: f64 = (0..count).map(|row| shares[[row, kind]]).sum();
            for pixel in 0..PIXELS {
                let along = slope[[kind, pixel]] * count as f64 * mixture.variance[[kind, pixel]] / pictures;
                assert!((next.mean[[kind, pixel]] - mean[[kind, pixel]] - along).abs() < 1e-9);
            }
        }
        gradcheck_some(&mut mean, &slope, 100, |mean| {
            mixture.mean = mean.clone();
            mixture.expect(&x).1
        })
        .expect("the slope is right");
    }

    #[test]
    fn pictures_get_likelier_with_each_step_until_they_do_not() {
        let (x, mut mixture) = some();
        let likelihoods = mixture.learn(&x).expect("a bar can be shown");
        assert!((3..STEPS).contains(&likelihoods.len()), "{likelihoods:?}");
        assert!(likelihoods.windows(2).all(|pair| pair[1] > pair[0] - 1e-9), "{likelihoods:?}");
    }

    #[test]
    fn drawing_follows_sizes() {
        let sizes = Tensor::from_fn_with((4,), |[i]| [1.0, 0.0, 2.0, 0.0][i]);
        let mut random = Xoshiro256::new(1);
        let mut counts = [0; 4];
        (0..3000).for_each(|_| counts[draw(&sizes, &mut random)] += 1);
        assert!(counts[1] == 0 && counts[3] == 0 && (900..1100).contains(&counts[0]), "{counts:?}");
    }
}
