//! Times `sort`, `argsort` and `num::top_k` on one thread: `cargo bench -p mind-benches --bench sorts`.
//! `peers/sorts.py` has the same rows in NumPy, PyTorch and JAX.
//!
//! Each case has a million elements, in lines of 10, 1,000 or a million. Rust's rows sort copies of the lines by
//! `sort_unstable`, floats by `total_cmp`, and positions by their elements. All rows are measured in turn, many times,
//! and the shortest time of each is kept. Words after `--` select rows.

use std::hint::black_box;
use std::time::Duration;

use mind::{Rng, Tensor, Xoshiro256, mind};

#[path = "timing/rows.rs"]
mod rows;
mod timing;

use rows::{Row, measure};

const COUNT: usize = 1_000_000;

mind! {
    fn sort_floats<N, M>(x: f32[N, M]) -> f32[N, M] { sort(x) }
    fn sort_integers<N, M>(x: i32[N, M]) -> i32[N, M] { sort(x) }
    fn order_floats<N, M>(x: f32[N, M]) -> i64[N, M] { argsort(x) }
    fn order_integers<N, M>(x: i32[N, M]) -> i64[N, M] { argsort(x) }
    fn head_of_floats<N, M>(x: f32[N, M]) -> (f32[N, 8], i64[N, 8]) { num::top_k(x, k = 8) }
    fn head_of_integers<N, M>(x: i32[N, M]) -> (i32[N, 8], i64[N, 8]) { num::top_k(x, k = 8) }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut random = Xoshiro256::new(1);
    let integers: Vec<i32> = (0..COUNT).map(|_| (random.next_u64() >> 32) as i32).collect();
    let floats: Vec<f32> = integers.iter().map(|integer| *integer as f32 * 1e-9).collect();
    let mut all: Vec<Row<'_>> = Vec::new();
    for line in [10, 1000, COUNT] {
        let shape = (COUNT / line, line);
        let x = Tensor::from_vec(shape, floats.clone()).expect("the extents are those of the vector");
        let y = Tensor::from_vec(shape, integers.clone()).expect("the extents are those of the vector");
        let (f, i) = (floats.clone(), integers.clone());
        let mut row = |name: &str, run: Box<dyn FnMut()>| {
            let name = format!("{name}, lines of {line}");
            if words.iter().all(|word| name.contains(word)) {
                all.push(Row::new(name, run));
            }
        };
        let a = x.clone();
        row("sort f32", Box::new(move || drop(black_box(sort_floats(&a)))));
        let copy = f.clone();
        row(
            "sort f32 rust",
            Box::new(move || {
                let mut all = copy.clone();
                all.chunks_exact_mut(line).for_each(|line| line.sort_unstable_by(f32::total_cmp));
                black_box(all);
            }),
        );
        let a = y.clone();
        row("sort i32", Box::new(move || drop(black_box(sort_integers(&a)))));
        let copy = i.clone();
        row(
            "sort i32 rust",
            Box::new(move || {
                let mut all = copy.clone();
                all.chunks_exact_mut(line).for_each(<[i32]>::sort_unstable);
                black_box(all);
            }),
        );
        let a = x.clone();
        row("argsort f32", Box::new(move || drop(black_box(order_floats(&a)))));
        row(
            "argsort f32 rust",
            Box::new(move || {
                let mut all: Vec<i64> = (0..COUNT).map(|at| (at % line) as i64).collect();
                for (places, x) in all.chunks_exact_mut(line).zip(f.chunks_exact(line)) {
                    places.sort_unstable_by(|a, b| x[*a as usize].total_cmp(&x[*b as usize]).then(a.cmp(b)));
                }
                black_box(all);
            }),
        );
        let a = y.clone();
        row("argsort i32", Box::new(move || drop(black_box(order_integers(&a)))));
        row(
            "argsort i32 rust",
            Box::new(move || {
                let mut all: Vec<i64> = (0..COUNT).map(|at| (at % line) as i64).collect();
                for (places, x) in all.chunks_exact_mut(line).zip(i.chunks_exact(line)) {
                    places.sort_unstable_by_key(|at| (x[*at as usize], *at));
                }
                black_box(all);
            }),
        );
        row("top_k f32", Box::new(move || drop(black_box(head_of_floats(&x)))));
        row("top_k i32", Box::new(move || drop(black_box(head_of_integers(&y)))));
    }
    measure(&mut all, 40, Duration::from_millis(1));
    for Row { name, best, .. } in all {
        println!("{name:40} {:8.2} ns per element", best.as_secs_f64() * 1e9 / COUNT as f64);
    }
}
