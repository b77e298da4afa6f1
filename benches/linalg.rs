//! Times linear algebra: `MIND_NUM_THREADS=1 cargo bench -p mind-benches --bench linalg`. `peers/linalg.py` has the same
//! rows in NumPy, SciPy and JAX, and `benches/linalg/` those of faer and nalgebra.
//!
//! All rows are measured in turn, many times, and the shortest time of each is kept. Words after `--` select rows.

use std::hint::black_box;
use std::time::Duration;

use mind::{Rng, Tensor, Xoshiro256, mind};

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

mind! {
    fn cholesky_f32<B, N>(a: f32[B, N, N]) -> f32[B, N, N] { linalg::cholesky(a) }
    fn cholesky_f64<B, N>(a: f64[B, N, N]) -> f64[B, N, N] { linalg::cholesky(a) }
    fn solve_f32<B, N>(a: f32[B, N, N]) -> f32[B, N] { linalg::solve(a, a[0, 0]) }
    fn solve_f64<B, N>(a: f64[B, N, N]) -> f64[B, N] { linalg::solve(a, a[0, 0]) }
    fn inv_f32<B, N>(a: f32[B, N, N]) -> f32[B, N, N] { linalg::inv(a) }
    fn inv_f64<B, N>(a: f64[B, N, N]) -> f64[B, N, N] { linalg::inv(a) }
    fn det_f32<B, N>(a: f32[B, N, N]) -> f32[B] { linalg::det(a) }
    fn det_f64<B, N>(a: f64[B, N, N]) -> f64[B] { linalg::det(a) }
    fn qr_f32<B, N>(a: f32[B, N, N]) -> (f32[B, N, N], f32[B, N, N]) { linalg::qr(a) }
    fn qr_f64<B, N>(a: f64[B, N, N]) -> (f64[B, N, N], f64[B, N, N]) { linalg::qr(a) }
    fn eigh_f32<B, N>(a: f32[B, N, N]) -> (f32[B, N], f32[B, N, N]) { linalg::eigh(a) }
    fn eigh_f64<B, N>(a: f64[B, N, N]) -> (f64[B, N], f64[B, N, N]) { linalg::eigh(a) }
    fn svd_f32<B, N>(a: f32[B, N, N]) -> (f32[B, N, N], f32[B, N], f32[B, N, N]) { linalg::svd(a) }
    fn svd_f64<B, N>(a: f64[B, N, N]) -> (f64[B, N, N], f64[B, N], f64[B, N, N]) { linalg::svd(a) }
}

/// The number of matrices, and their rows.
const SIZES: [[usize; 2]; 8] =
    [[1, 4], [1, 16], [1, 64], [1, 256], [1, 512], [10_000, 4], [10_000, 8], [10_000, 16]];

macro_rules! rows {
    ($add:ident, $elements:ident, $shape:ident, $($name:literal $f32:ident $f64:ident;)*) => {$(
        let narrow: Vec<f32> = $elements.iter().map(|x| *x as f32).collect();
        let a = Tensor::from_vec($shape, narrow).expect("one number for each element");
        $add(concat!($name, " f32"), Box::new(move || drop(black_box($f32(&a)))));
        let a = Tensor::from_vec($shape, $elements.clone()).expect("one number for each element");
        $add(concat!($name, " f64"), Box::new(move || drop(black_box($f64(&a)))));
    )*};
}

/// Symmetric positive definite matrices: `m mᵀ / n + 1` for random `m`.
fn matrices(random: &mut Xoshiro256, count: usize, n: usize) -> Vec<f64> {
    let mut all = Vec::with_capacity(count * n * n);
    for _ in 0..count {
        let m: Vec<f64> =
            (0..n * n).map(|_| (random.next_u64() >> 40) as f64 / (1 << 23) as f64 - 1.0).collect();
        all.extend((0..n * n).map(|at| {
            let (row, column) = (at / n, at % n);
            let product: f64 = (0..n).map(|k| m[row * n + k] * m[column * n + k]).sum();
            product / n as f64 + f64::from(u8::from(row == column))
        }));
    }
    all
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut random = Xoshiro256::new(1);
    let mut all: Vec<Row<'_>> = Vec::new();
    for [count, n] in SIZES {
        let elements = matrices(&mut random, count, n);
        let shape = (count, n, n);
        let mut add = |name: &str, run: Box<dyn FnMut()>| {
            let name = format!("{name}, {count} x {n}");
            if words.iter().all(|word| name.contains(word)) {
                all.push(Row::new(name, run));
            }
        };
        rows! {
            add, elements, shape,
            "cholesky" cholesky_f32 cholesky_f64;
            "solve" solve_f32 solve_f64;
            "inv" inv_f32 inv_f64;
            "det" det_f32 det_f64;
            "qr" qr_f32 qr_f64;
            "eigh" eigh_f32 eigh_f64;
            "svd" svd_f32 svd_f64;
        }
    }
    measure(&mut all, 10, Duration::from_millis(1));
    for Row { name, best, .. } in all {
        println!("{name:25} {:10.2} µs", best.as_secs_f64() * 1e6);
    }
}
