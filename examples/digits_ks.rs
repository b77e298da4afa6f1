//! Reads handwritten digits with a network written in Knossos. Its activation function and its loss are written for
//! single elements, with branches. The gradient is first checked against central differences.
//!
//! ```text
//! cargo run --release --features knossos --example digits_ks
//! ```

#[path = "digits/data.rs"]
mod data;
#[path = "support/differences.rs"]
mod differences;
#[path = "support/digits.rs"]
mod digits;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use data::Random;
use digits::{CLASSES, DataError, Digit, PIXELS};
use mind::Tensor;

mind::include_ks!("digits_ks.ks", export = [loss, answers], grad = [loss]);

const UNITS: usize = 64;
const EPOCHS: usize = 40;
const BATCH: usize = 32;
/// The learning rate of the first epoch, and the factor that each epoch multiplies it by.
const RATE: (f64, f64) = (0.2, 0.94);

/// Two layers of weights and biases.
struct Network {
    w1: Tensor![f64; ?, ?],
    b1: Tensor![f64; ?],
    w2: Tensor![f64; ?, ?],
    b2: Tensor![f64; ?],
}

/// Pictures, one per row, and their labels.
struct Batch {
    pictures: Tensor![f64; ?, ?],
    labels: Tensor![i64; ?],
}

impl Network {
    fn random(random: &mut Random) -> Self {
        let mut layer = |rows, columns: usize| {
            let scale = (3.0 / columns as f64).sqrt();
            Tensor::from_fn_with((rows, columns), |_| scale * f64::from(random.symmetric()))
        };
        let (w1, w2) = (layer(UNITS, PIXELS), layer(CLASSES, UNITS));
        Self { w1, b1: Tensor::zeros_with((UNITS,)), w2, b2: Tensor::zeros_with((CLASSES,)) }
    }

    fn loss(&self, Batch { pictures, labels }: &Batch) -> f64 {
        loss(&self.w1, &self.b1, &self.w2, &self.b2, pictures, labels)
    }

    fn gradient(&self, Batch { pictures, labels }: &Batch) -> Self {
        let (w1, b1, w2, b2, ..) = rev_loss(&self.w1, &self.b1, &self.w2, &self.b2, pictures, labels, 1.0);
        Self { w1, b1, w2, b2 }
    }

    /// One step of gradient descent.
    fn descend(&mut self, gradient: &Self, rate: f64) {
        let step = |numbers: &mut [f64], slopes: &[f64]| {
            numbers.iter_mut().zip(slopes).for_each(|(number, slope)| *number -= rate * slope);
        };
        step(self.w1.as_mut_slice(), gradient.w1.as_slice());
        step(self.b1.as_mut_slice(), gradient.b1.as_slice());
        step(self.w2.as_mut_slice(), gradient.w2.as_slice());
        step(self.b2.as_mut_slice(), gradient.b2.as_slice());
    }

    /// The share of pictures that are read correctly.
    fn accuracy(&self, Batch { pictures, labels }: &Batch) -> f64 {
        let answers = answers(&self.w1, &self.b1, &self.w2, &self.b2, pictures);
        let right = answers.iter().zip(labels).filter(|(answer, label)| answer == label).count();
        right as f64 / labels.len() as f64
    }
}

impl Batch {
    fn new(digits: &[Digit], picture: impl FnMut(&Digit) -> [f32; PIXELS]) -> Self {
        let pixels = digits.iter().map(picture).collect::<Vec<_>>().concat();
        Self {
            pictures: Tensor::from_fn_with((digits.len(), PIXELS), |[i, pixel]| {
                f64::from(pixels[i * PIXELS + pixel])
            }),
            labels: Tensor::from_fn_with((digits.len(),), |[i]| digits[i].label as i64),
        }
    }
}

fn main() -> Result<(), DataError> {
    let mut random = Random(1);
    let (mut train, test) = data::split(digits::load(Path::new(digits::SHIPPED))?, &mut random);
    let test = Batch::new(&test, |digit| digit.pixels);
    let mut net = Network::random(&mut random);

    let few = Batch::new(&train[..8], |digit| digit.pixels);
    let Network { w1, b1, w2, b2 } = net.gradient(&few);
    let Batch { pictures, labels } = &few;
    differences::check("w1", &net.w1, &w1, |w1| loss(w1, &net.b1, &net.w2, &net.b2, pictures, labels));
    differences::check("b1", &net.b1, &b1, |b1| loss(&net.w1, b1, &net.w2, &net.b2, pictures, labels));
    differences::check("w2", &net.w2, &w2, |w2| loss(&net.w1, &net.b1, w2, &net.b2, pictures, labels));
    differences::check("b2", &net.b2, &b2, |b2| loss(&net.w1, &net.b1, &net.w2, b2, pictures, labels));

    let (mut rate, decay) = RATE;
    let mut reverse = Duration::MAX;
    for epoch in 1..=EPOCHS {
        random.shuffle(&mut train);
        let mut sum = 0.0;
        let batches = train.chunks_exact(BATCH);
        let count = batches.len();
        for digits in batches {
            let batch = Batch::new(digits, |digit| digit.askew(&mut random));
            let start = Instant::now();
            let gradient = net.gradient(&batch);
            reverse = reverse.min(start.elapsed());
            sum += net.loss(&batch);
            net.descend(&gradient, rate);
        }
        rate *= decay;
        if epoch % 10 == 0 {
            println!("epoch {epoch:>2}: loss {:.4}", sum / count as f64);
        }
    }
    let accuracy = net.accuracy(&test);
    println!("test accuracy: {:.1} %", 100.0 * accuracy);
    assert!(accuracy >= 0.95, "the digits are not learnt");
    println!("timing: gradient of a batch of {BATCH} in {:.0} µs", reverse.as_secs_f64() * 1e6);
    Ok(())
}
