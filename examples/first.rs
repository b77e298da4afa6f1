//! The first program of the README: a network learns exclusive or.
//!
//! ```text
//! cargo run --release --example first
//! ```

use mind::{Tensor, mind};

mind! {
    /// Two layers.
    struct Network { w1: f32[2, 8], b1: f32[8], w2: f32[8] }

    /// The output of the network for `N` inputs.
    fn predict<N>(x: f32[N, 2], net: Network) -> f32[N] {
        relu(x @ net.w1 + net.b1) @ net.w2
    }

    /// Mean squared error of `predict` against `y`.
    fn error<N>(x: f32[N, 2], y: f32[N], net: Network) -> f32 {
        let miss = predict(x, net) - y;
        mean(miss * miss)
    }

    /// One step of gradient descent, in place; returns the error before it.
    fn step<N>(x: f32[N, 2], y: f32[N], net: &mut Network, rate: f32) -> f32 {
        let (e, gradient) = value_and_grad(error, wrt = net)(x, y, net);
        net -= rate * gradient;
        e
    }
}

fn main() {
    let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let y = Tensor::from([0.0, 1.0, 1.0, 0.0]);
    let mut net = Network {
        w1: Tensor::from_fn(|[i, j]| ((i * 8 + j) as f32 * 2.4).sin()),
        b1: Tensor::zeros(),
        w2: Tensor::from_fn(|[j]| (j as f32 * 1.7).cos()),
    };

    for at in 0..=200 {
        let error = step(&x, &y, &mut net, 0.2);
        if at % 50 == 0 {
            println!("step {at:>3}: error {error:.5}");
        }
    }
    println!("{:.2}", predict(&x, &net));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_this_program() {
        let (program, _) = include_str!("first.rs").split_once("\n#[cfg(test)]").expect("tests come last");
        let (_, program) = program.split_once("\n\n").expect("a comment comes first");
        assert!(
            include_str!("../README.md").contains(&format!("```rust\n{program}```")),
            "the README shows another program"
        );
    }

    #[test]
    fn steps_make_the_error_smaller() {
        let (x, y) = (Tensor::from([[0.5, -0.5]]), Tensor::from([1.0]));
        let w1 = Tensor::from_fn(|[i, j]| 0.1 * (i + j) as f32);
        let mut net = Network { w1, b1: Tensor::full(0.1), w2: Tensor::full(0.1) };
        let before = error(&x, &y, &net);
        assert_eq!(step(&x, &y, &mut net, 0.1), before);
        assert!(error(&x, &y, &net) < before);
    }
}
