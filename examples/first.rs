//! The first program of the README: a network learns exclusive or.
//!
//! ```text
//! cargo run --release --example first
//! ```

use mind::{Tensor, mind};

mind! {
    /// A network of two layers; `N` inputs at a time.
    fn network<N>(x: f32[N, 2], w1: f32[2, 8], b1: f32[8], w2: f32[8]) -> f32[N] {
        relu(x @ w1 + b1) @ w2
    }

    /// Mean squared error of `network` against `y`.
    fn error<N>(x: f32[N, 2], y: f32[N], w1: f32[2, 8], b1: f32[8], w2: f32[8]) -> f32 {
        let miss = network(x, w1, b1, w2) - y;
        mean(miss * miss)
    }

    /// One step of gradient descent, in place; returns the error before it.
    fn step<N>(x: f32[N, 2], y: f32[N], w1: &mut f32[2, 8], b1: &mut f32[8], w2: &mut f32[8], rate: f32) -> f32 {
        let (e, (dw1, db1, dw2)) = value_and_grad(error, wrt = (w1, b1, w2))(x, y, w1, b1, w2);
        w1 -= rate * dw1;
        b1 -= rate * db1;
        w2 -= rate * dw2;
        e
    }
}

fn main() {
    let x = Tensor::from([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
    let y = Tensor::from([0.0, 1.0, 1.0, 0.0]);
    let mut w1 = Tensor::from_fn(|[i, j]| ((i * 8 + j) as f32 * 2.4).sin());
    let mut w2 = Tensor::from_fn(|[j]| (j as f32 * 1.7).cos());
    let mut b1 = Tensor::zeros();

    for at in 0..=200 {
        let error = step(&x, &y, &mut w1, &mut b1, &mut w2, 0.2);
        if at % 50 == 0 {
            println!("step {at:>3}: error {error:.5}");
        }
    }
    println!("{:.2}", network(&x, &w1, &b1, &w2));
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
            "the README shows another"
        );
    }

    #[test]
    fn steps_make_the_error_smaller() {
        let (x, y) = (Tensor::from([[0.5, -0.5]]), Tensor::from([1.0]));
        let mut w1 = Tensor::from_fn(|[i, j]| 0.1 * (i + j) as f32);
        let (mut b1, mut w2) = (Tensor::full(0.1), Tensor::full(0.1));
        let before = error(&x, &y, &w1, &b1, &w2);
        assert_eq!(step(&x, &y, &mut w1, &mut b1, &mut w2, 0.1), before);
        assert!(error(&x, &y, &w1, &b1, &w2) < before);
    }
}
