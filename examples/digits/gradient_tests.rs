//! Tests gradients of each example: one gradient of the network for each picture, by `vmap`.

use std::path::Path;

use mind::{Const, Tensor, mind};

use crate::network::Network;
use crate::{batch, digits};

mind! {
    use crate::network::{Network, loss};

    /// The gradient of the loss of one picture.
    fn of_one(x: f32[64], y: i64, net: Network) -> Network {
        grad(loss, wrt = net)(x[_, ..], expand_dims(y, axes = [0]), net)
    }

    /// The gradient of the loss of each picture.
    fn of_each<N>(x: f32[N, 64], y: i64[N], net: Network) -> Network[N] { vmap(of_one, over = (x, y))(x, y, net) }

    /// The gradient of the mean loss.
    fn of_all<N>(x: f32[N, 64], y: i64[N], net: Network) -> Network { grad(loss, wrt = net)(x, y, net) }

    /// The norm of the gradient of each picture, without the gradients in memory at once.
    fn norms<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32[N] {
        for (x, y) in (x, y) {
            let g = of_one(x, y, net);
            sqrt(sum(g.w1 * g.w1) + sum(g.b1 * g.b1) + sum(g.w2 * g.w2) + sum(g.b2 * g.b2))
        }
    }
}

/// Panics unless all numbers agree within the rounding of their sums.
fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{what}: {found}, not {expected}");
    }
}

#[test]
fn gradients_of_each_picture_are_those_of_the_pictures_alone_and_their_mean_is_that_of_all() {
    let digits = digits::load(Path::new(digits::SHIPPED)).expect("the file is shipped");
    let digits = &digits[..48];
    let net = Network::he_uniform(&mut crate::Random(1));
    let (x, y) = batch(digits, |digit| digit.pixels);
    let (each, all) = (of_each(&x, &y, &net), of_all(&x, &y, &net));
    let norms = norms(&x, &y, &net);
    let mut mean = vec![0.0; all.w1.as_slice().len()];
    for (at, digit) in digits.iter().enumerate() {
        let pixels = Tensor::<f32, (Const<64>,)>::from(digit.pixels);
        let one = of_one(&pixels, digit.label as i64, &net);
        let parts = |all: &[f32], count: usize| all[at * count..(at + 1) * count].to_vec();
        let w1 = parts(each.w1.as_slice(), 64 * 256);
        assert_near(&w1, one.w1.as_slice(), "w1");
        assert_near(&parts(each.b1.as_slice(), 256), one.b1.as_slice(), "b1");
        assert_near(&parts(each.w2.as_slice(), 256 * 10), one.w2.as_slice(), "w2");
        assert_near(&parts(each.b2.as_slice(), 10), one.b2.as_slice(), "b2");
        mean.iter_mut().zip(&w1).for_each(|(mean, part)| *mean += part / digits.len() as f32);
        let squares = [one.w1.as_slice(), one.b1.as_slice(), one.w2.as_slice(), one.b2.as_slice()].concat();
        let norm = squares.iter().map(|part| part * part).sum::<f32>().sqrt();
        assert_near(&[norms.as_slice()[at]], &[norm], "norm");
    }
    assert_near(&mean, all.w1.as_slice(), "the mean over the pictures");
    assert!(norms.as_slice().iter().all(|norm| *norm > 0.01), "every picture has something to teach");
}
