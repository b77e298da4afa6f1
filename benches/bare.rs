//! Compares expressions over Rust variables with functions of the same programs (a layer and a chain of elementwise
//! operations), and expressions over ndarray's arrays with ndarray's own operators.
//!
//! Run `cargo bench -p mind-benches --bench bare`. Both programs of a pair do the same work, so the ratio of their
//! times is the cost of the form.

use divan::{Bencher, black_box};
use mind::{Tensor, mind};
use ndarray::{Array1, Array2, Axis};

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

    fn softmax<N, M>(x: f32[N, M]) -> f32[N, M] {
        let e = exp(x - max(x, axis = 1, keepdims = true));
        e / sum(e, axis = 1, keepdims = true)
    }

    fn norm<N, M>(x: f32[N, M], g: f32[M], b: f32[M]) -> f32[N, M] {
        let centred = x - mean(x, axis = 1, keepdims = true);
        centred / sqrt(mean(centred * centred, axis = 1, keepdims = true) + 0.00001) * g + b
    }
}

/// A number between -0.5 and 0.5, the same in every run.
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

/// Softmax and layer norm of a matrix with these extents, each as an expression and as a function.
macro_rules! rows {
    ($($name:ident: $rows:literal, $columns:literal;)*) => {
        $(mod $name {
            use super::*;

            type Data = (Tensor![f32; $rows, $columns], Tensor![f32; $columns], Tensor![f32; $columns]);

            fn data() -> Data {
                let x = Tensor::from_fn(|[i, j]| number(i * $columns + j));
                (x, Tensor::from_fn(|[j]| number(j)), Tensor::from_fn(|[j]| number(j + 1)))
            }

            #[divan::bench]
            fn softmax_bare(bencher: Bencher<'_, '_>) {
                let (x, ..) = data();
                bencher.bench_local(|| {
                    let x = black_box(&x);
                    mind!({
                        let e = exp(x - max(x, axis = 1, keepdims = true));
                        e / sum(e, axis = 1, keepdims = true)
                    })
                });
            }

            #[divan::bench]
            fn softmax_function(bencher: Bencher<'_, '_>) {
                let (x, ..) = data();
                bencher.bench_local(|| softmax(black_box(&x)));
            }

            #[divan::bench]
            fn norm_bare(bencher: Bencher<'_, '_>) {
                let (x, g, b) = data();
                bencher.bench_local(|| {
                    let x = black_box(&x);
                    mind!({
                        let centred = x - mean(x, axis = 1, keepdims = true);
                        centred / sqrt(mean(centred * centred, axis = 1, keepdims = true) + 0.00001) * g + b
                    })
                });
            }

            #[divan::bench]
            fn norm_function(bencher: Bencher<'_, '_>) {
                let (x, g, b) = data();
                bencher.bench_local(|| norm(black_box(&x), &g, &b));
            }
        })*
    };
}

rows! {
    rows_small: 4, 8;
    rows_large: 32, 1000;
}

fn vector(len: usize, seed: usize) -> Array1<f32> {
    Array1::from_shape_fn(len, |i| number(i + seed))
}

fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| number(i * columns + j + seed))
}

/// For each row, two functions of the same arrays: the expression, and the same computation by ndarray's operators.
macro_rules! pairs {
    ($($name:ident($($array:ident: $value:expr),*) { mind: $expression:expr, ndarray: $operators:expr })*) => {
        $(mod $name {
            use super::*;

            #[divan::bench]
            fn by_mind(bencher: Bencher<'_, '_>) {
                let ($($array,)*) = ($($value,)*);
                bencher.bench_local(|| {
                    let ($($array,)*) = black_box(($(&$array,)*));
                    $expression
                });
            }

            #[divan::bench]
            fn by_ndarray(bencher: Bencher<'_, '_>) {
                let ($($array,)*) = ($($value,)*);
                bencher.bench_local(|| {
                    let ($($array,)*) = black_box(($(&$array,)*));
                    $operators
                });
            }
        })*
    };
}

pairs! {
    arrays_chain(x: vector(1_000_000, 0), y: vector(1_000_000, 1)) {
        mind: mind!(exp(-(x * x)) * y + x * 0.5 - 1.0),
        ndarray: (-(x * x)).mapv(f32::exp) * y + x * 0.5 - 1.0
    }
    arrays_layer(x: matrix(32, 784, 0), w: matrix(784, 256, 0), b: vector(256, 0)) {
        mind: mind!(relu(x @ w + b)),
        ndarray: (x.dot(w) + b).mapv(|z| z.max(0.0))
    }
    arrays_small(x: matrix(4, 8, 0), w: matrix(8, 4, 0), b: vector(4, 0)) {
        mind: mind!(relu(x @ w + b)),
        ndarray: (x.dot(w) + b).mapv(|z| z.max(0.0))
    }
    arrays_softmax(x: matrix(256, 1000, 0)) {
        mind: mind!(exp(x) / sum(exp(x), axis = 1, keepdims = true)),
        ndarray: {
            let powers = x.mapv(f32::exp);
            let sums = powers.sum_axis(Axis(1)).insert_axis(Axis(1));
            powers / sums
        }
    }
    arrays_gradient(x: matrix(1024, 64, 0), w: vector(64, 0), y: vector(1024, 0)) {
        mind: mind!(grad(mean((x @ w - y) * (x @ w - y)), wrt = w)),
        ndarray: {
            let miss = x.dot(w) - y;
            x.t().dot(&miss) * (2.0 / miss.len() as f32)
        }
    }
    arrays_update(w: vector(64, 0), g: vector(64, 1)) {
        mind: mind!(w - 0.02 * g),
        ndarray: w - g * 0.02
    }
}
