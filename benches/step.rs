//! Compares `mind!` with hand-written ndarray: a layer, a chain of elementwise operations and a training step.
//!
//! Run `cargo bench -p mind-benches --bench step`. The column `alloc` counts the allocations of a call.

use divan::{AllocProfiler, Bencher, black_box};
use mind::{Tensor, mind};
use ndarray::{Array1, Array2, Axis, Zip};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

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

    fn mlp<N>(x: f32[N, 64], w1: f32[64, 32], b1: f32[32], w2: f32[32, 10], b2: f32[10]) -> f32[N, 10] {
        let h = relu(x @ w1 + b1);
        h @ w2 + b2
    }

    fn loss<N>(x: f32[N, 64], y: f32[N, 10], w1: f32[64, 32], b1: f32[32], w2: f32[32, 10], b2: f32[10]) -> f32 {
        let z = mlp(x, w1, b1, w2, b2);
        let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
        -mean(sum(y * logp, axes = [1]))
    }

    fn step<N>(x: f32[N, 64], y: f32[N, 10],
               w1: &mut f32[64, 32], b1: &mut f32[32], w2: &mut f32[32, 10], b2: &mut f32[10], lr: f32) -> f32 {
        let (l, (dw1, db1, dw2, db2)) = value_and_grad(loss, wrt = (w1, b1, w2, b2))(x, y, w1, b1, w2, b2);
        w1 -= lr * dw1;
        b1 -= lr * db1;
        w2 -= lr * dw2;
        b2 -= lr * db2;
        l
    }
}

/// A number between -0.5 and 0.5, the same in every run.
fn number(index: usize) -> f32 {
    (index.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 65536.0 - 0.5
}

fn matrix(rows: usize, columns: usize) -> Array2<f32> {
    Array2::from_shape_fn((rows, columns), |(i, j)| number(i * columns + j))
}

fn vector(len: usize) -> Array1<f32> {
    Array1::from_shape_fn(len, number)
}

#[divan::bench]
fn layer_mind(bencher: Bencher<'_, '_>) {
    let (x, w) =
        (Tensor::from_fn(|[i, j]| number(i * 784 + j)), Tensor::from_fn(|[i, j]| number(i * 256 + j)));
    let b = Tensor::from_fn(|[i]| number(i));
    bencher.bench_local(|| layer(black_box(&x), &w, &b));
}

#[divan::bench]
fn layer_ndarray(bencher: Bencher<'_, '_>) {
    let (x, w, b) = (matrix(32, 784), matrix(784, 256), vector(256));
    bencher.bench_local(|| {
        let mut y = black_box(&x).dot(&w) + &b;
        y.mapv_inplace(|v| v.max(0.0));
        y
    });
}

#[divan::bench]
fn chain_mind(bencher: Bencher<'_, '_>) {
    let (x, y) = (Tensor::from_fn(|[i]| number(i)), Tensor::from_fn(|[i]| number(i + 1)));
    bencher.bench_local(|| chain(black_box(&x), &y));
}

#[divan::bench]
fn chain_ndarray(bencher: Bencher<'_, '_>) {
    let (x, y) = (vector(1_000_000), Array1::from_shape_fn(1_000_000, |i| number(i + 1)));
    bencher.bench_local(|| {
        Zip::from(black_box(&x)).and(&y).map_collect(|&x, &y| (-(x * x)).exp() * y + x * 0.5 - 1.0)
    });
}

#[divan::bench]
fn step_mind(bencher: Bencher<'_, '_>) {
    let x: Tensor![f32; 32, 64] = Tensor::from_fn(|[i, j]| number(i * 64 + j));
    let y: Tensor![f32; 32, 10] = Tensor::from_fn(|[i, j]| if i % 10 == j { 1.0 } else { 0.0 });
    let mut w1 = Tensor::from_fn(|[i, j]| number(i * 32 + j) * 0.2);
    let mut w2 = Tensor::from_fn(|[i, j]| number(i * 10 + j) * 0.2);
    let (mut b1, mut b2) = (Tensor::zeros(), Tensor::zeros());
    step(&x, &y, &mut w1, &mut b1, &mut w2, &mut b2, 0.01);
    bencher.bench_local(|| step(black_box(&x), &y, &mut w1, &mut b1, &mut w2, &mut b2, 0.01));
}

#[divan::bench]
fn step_ndarray(bencher: Bencher<'_, '_>) {
    let x = matrix(32, 64);
    let y = Array2::from_shape_fn((32, 10), |(i, j)| if i % 10 == j { 1.0 } else { 0.0 });
    let (mut w1, mut w2) = (matrix(64, 32) * 0.2, matrix(32, 10) * 0.2);
    let (mut b1, mut b2) = (Array1::<f32>::zeros(32), Array1::<f32>::zeros(10));
    bencher.bench_local(|| {
        let x = black_box(&x);
        let h = (x.dot(&w1) + &b1).mapv_into(|v| v.max(0.0));
        let z = h.dot(&w2) + &b2;
        let e = z.mapv(f32::exp);
        let total = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let loss = -((&z - &total.mapv(f32::ln)) * &y).sum() / 32.0;
        let dz = (e / &total - &y) / 32.0;
        let mut dh = dz.dot(&w2.t());
        Zip::from(&mut dh).and(&h).for_each(|d, &h| *d = if h > 0.0 { *d } else { 0.0 });
        w2.scaled_add(-0.01, &h.t().dot(&dz));
        b2.scaled_add(-0.01, &dz.sum_axis(Axis(0)));
        w1.scaled_add(-0.01, &x.t().dot(&dh));
        b1.scaled_add(-0.01, &dh.sum_axis(Axis(0)));
        loss
    });
}
