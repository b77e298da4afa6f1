//! Expressions among Rust variables against functions of the same programs: a layer and a chain of elementwise operations.
//!
//! `cargo bench --bench bare`; the two of a pair do the same work, so their ratio is what the form costs.

use divan::{Bencher, black_box};
use mind::{Tensor, mind};

fn main() {
    divan::main();
}

mind! {
    fn layer(x: f32[32, 784], w: f32[784, 256], b: f32[256]) -> f32[32, 256] {
        relu(x @ w + b)
    }

    fn chain(x: f32[1000000], y: f32[1000000]) -> f32[1000000] {
        exp(-(x * x)) * y + x * 0.5 - 1.0
    }

    fn small(x: f32[4, 8], w: f32[8, 4], b: f32[4]) -> f32[4, 4] {
        relu(x @ w + b)
    }
}

/// Numbers between -0.5 and 0.5 that do not depend on the run.
fn number(index: usize) -> f32 {
    (index.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 65536.0 - 0.5
}

type Layer = (Tensor![f32; 32, 784], Tensor![f32; 784, 256], Tensor![f32; 256]);
type Chain = (Tensor![f32; 1000000], Tensor![f32; 1000000]);
type Small = (Tensor![f32; 4, 8], Tensor![f32; 8, 4], Tensor![f32; 4]);

fn layer_data() -> Layer {
    let x = Tensor::from_fn(|[i, j]| number(i * 784 + j));
    (x, Tensor::from_fn(|[i, j]| number(i * 256 + j)), Tensor::from_fn(|[i]| number(i)))
}

fn chain_data() -> Chain {
    (Tensor::from_fn(|[i]| number(i)), Tensor::from_fn(|[i]| number(i + 1)))
}

fn small_data() -> Small {
    let x = Tensor::from_fn(|[i, j]| number(i * 8 + j));
    (x, Tensor::from_fn(|[i, j]| number(i * 4 + j)), Tensor::from_fn(|[i]| number(i)))
}

#[divan::bench]
fn layer_bare(bencher: Bencher<'_, '_>) {
    let (x, w, b) = layer_data();
    bencher.bench_local(|| {
        let x = black_box(&x);
        mind!(relu(x @ w + b))
    });
}

#[divan::bench]
fn layer_function(bencher: Bencher<'_, '_>) {
    let (x, w, b) = layer_data();
    bencher.bench_local(|| layer(black_box(&x), &w, &b));
}

#[divan::bench]
fn chain_bare(bencher: Bencher<'_, '_>) {
    let (x, y) = chain_data();
    bencher.bench_local(|| {
        let x = black_box(&x);
        mind!(exp(-(x * x)) * y + x * 0.5 - 1.0)
    });
}

#[divan::bench]
fn chain_function(bencher: Bencher<'_, '_>) {
    let (x, y) = chain_data();
    bencher.bench_local(|| chain(black_box(&x), &y));
}

#[divan::bench]
fn small_bare(bencher: Bencher<'_, '_>) {
    let (x, w, b) = small_data();
    bencher.bench_local(|| {
        let x = black_box(&x);
        mind!(relu(x @ w + b))
    });
}

#[divan::bench]
fn small_function(bencher: Bencher<'_, '_>) {
    let (x, w, b) = small_data();
    bencher.bench_local(|| small(black_box(&x), &w, &b));
}
