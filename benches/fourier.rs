//! Times Fourier transforms: `MIND_NUM_THREADS=1 cargo bench -p mind-benches --bench fourier`. `peers/fourier.py` has the
//! same rows in NumPy, SciPy, PyTorch and JAX.
//!
//! All rows are measured in turn, many times, and the shortest time of each is kept. Words after `--` select rows.

use std::hint::black_box;
use std::time::Duration;

use mind::{Const, Rng, Tensor, Xoshiro256, mind};

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

mind! {
    fn complex_f32<B, N>(x: f32[B, N, 2]) -> f32[B, N, 2] { fft::fft(x) }
    fn complex_f64<B, N>(x: f64[B, N, 2]) -> f64[B, N, 2] { fft::fft(x) }
    fn real_f32<B, N>(x: f32[B, N]) -> f32[B, N / 2 + 1, 2] { fft::rfft(x) }
    fn real_f64<B, N>(x: f64[B, N]) -> f64[B, N / 2 + 1, 2] { fft::rfft(x) }
}

/// The number of rows, and their length.
const SIZES: [[usize; 2]; 6] =
    [[1, 1 << 10], [1, 1 << 16], [1, 1 << 20], [1, 1000], [1, 10007], [1000, 1024]];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut random = Xoshiro256::new(1);
    let mut all: Vec<Row<'_>> = Vec::new();
    for [count, n] in SIZES {
        let mut row = |name: &str, run: Box<dyn FnMut()>| {
            let name = format!("{name}, {count} x {n}");
            if words.iter().all(|word| name.contains(word)) {
                all.push(Row::new(name, run));
            }
        };
        let wide: Vec<f64> =
            (0..2 * count * n).map(|_| (random.next_u64() >> 40) as f64 / (1 << 23) as f64 - 1.0).collect();
        let narrow: Vec<f32> = wide.iter().map(|x| *x as f32).collect();
        let pairs = (count, n, Const::<2>);
        let x = Tensor::from_vec(pairs, narrow.clone()).expect("two numbers for each element");
        row("fft f32", Box::new(move || drop(black_box(complex_f32(&x)))));
        let x =
            Tensor::from_vec((count, n), narrow[..count * n].to_vec()).expect("one number for each element");
        row("rfft f32", Box::new(move || drop(black_box(real_f32(&x)))));
        let x = Tensor::from_vec(pairs, wide.clone()).expect("two numbers for each element");
        row("fft f64", Box::new(move || drop(black_box(complex_f64(&x)))));
        let x =
            Tensor::from_vec((count, n), wide[..count * n].to_vec()).expect("one number for each element");
        row("rfft f64", Box::new(move || drop(black_box(real_f64(&x)))));
    }
    measure(&mut all, 20, Duration::from_millis(1));
    for Row { name, best, .. } in all {
        println!("{name:25} {:10.2} µs", best.as_secs_f64() * 1e6);
    }
}
