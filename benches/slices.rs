//! Compares functions of slices, joined and padded tensors, and their gradients, with loops written by hand:
//! `cargo bench -p mind-benches --bench slices`.
//!
//! All rows are measured in turn on one thread, and the shortest time of each is kept. Results are in memory that is
//! already allocated. Extents are known while Rust compiles, in both.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::{Const, Tensor, Workspace, Xoshiro256, mind, set_threads};

mod timing;

use timing::calls_in;

/// The elements of a vector.
const N: usize = 4096;

type Vector = Tensor<f64, (Const<N>,)>;

mind! {
    fn shifted(x: f64[4096], y: f64[4096]) -> f64[4096] { x * concat([[1.0], y[..-1]]) }
    fn joined(x: f64[4096], y: f64[4096]) -> f64[8192] { relu(concat([x, y]) * 2.0 - 1.0) }
    fn laplacian(u: f64[4096]) -> f64[4096] {
        u + 0.1 * pad(u[..-2] - 2.0 * u[1..-1] + u[2..], low = [1], high = [1])
    }
    #[grad(x)]
    fn differences(x: f64[4096]) -> f64 { let d = x[1..] - x[..-1]; sum(d * d) }
    #[grad(u)]
    fn step(u: f64[4096]) -> f64 { let v = laplacian(u); sum(v * v) }
    #[grad(x)]
    fn halves(x: f64[4096]) -> f64 { let a = x[..2048] * 2.0; let b = x[2048..] + 1.0; sum(a * a) + sum(b * b) }
}

fn shifted_by_hand(x: &[f64], y: &[f64], out: &mut [f64]) {
    out[0] = x[0];
    for ((out, x), y) in out[1..].iter_mut().zip(&x[1..]).zip(y) {
        *out = x * y;
    }
}

fn joined_by_hand(x: &[f64], y: &[f64], out: &mut [f64]) {
    let (first, second) = out.split_at_mut(x.len());
    for (out, x) in [(first, x), (second, y)] {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = (x * 2.0 - 1.0).max(0.0));
    }
}

fn laplacian_by_hand(u: &[f64], out: &mut [f64]) {
    let n = u.len();
    (out[0], out[n - 1]) = (u[0], u[n - 1]);
    for (out, u) in out[1..n - 1].iter_mut().zip(u.windows(3)) {
        *out = u[1] + 0.1 * (u[0] - 2.0 * u[1] + u[2]);
    }
}

/// The sum of squares in eight lanes.
fn squares(x: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks, rest) = x.as_chunks::<8>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += x * x);
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

fn differences_by_hand(x: &[f64], scratch: &mut [f64], out: &mut [f64]) -> f64 {
    let n = x.len();
    let d = &mut scratch[..n - 1];
    d.iter_mut().zip(x.windows(2)).for_each(|(d, x)| *d = x[1] - x[0]);
    (out[0], out[n - 1]) = (-2.0 * d[0], 2.0 * d[n - 2]);
    out[1..n - 1].iter_mut().zip(d.windows(2)).for_each(|(out, d)| *out = 2.0 * (d[0] - d[1]));
    squares(d)
}

fn step_by_hand(u: &[f64], scratch: &mut [f64], out: &mut [f64]) -> f64 {
    let n = u.len();
    let v = &mut scratch[..n];
    laplacian_by_hand(u, v);
    // The matrix of the step but for its first and last row, which are those of the unit matrix.
    let row = |at: usize, v: &[f64]| if (1..n - 1).contains(&at) { 0.2 * v[at] } else { 0.0 };
    for at in [0, 1, n - 2, n - 1] {
        let sides = [at.checked_sub(1), Some(at + 1).filter(|at| *at < n)];
        let sides: f64 = sides.into_iter().flatten().map(|at| row(at, v)).sum();
        out[at] = 2.0 * v[at] - 2.0 * row(at, v) + sides;
    }
    for (out, v) in out[2..n - 2].iter_mut().zip(v[1..n - 1].windows(3)) {
        *out = 2.0 * v[1] + 0.2 * (v[0] - 2.0 * v[1] + v[2]);
    }
    squares(v)
}

fn halves_by_hand(x: &[f64], out: &mut [f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    let (first, second) = out.split_at_mut(a.len());
    let (mut lanes, mut sums) = ([0.0; 8], [0.0; 8]);
    for (out, a) in first.as_chunks_mut::<8>().0.iter_mut().zip(a.as_chunks::<8>().0) {
        for ((out, a), sum) in out.iter_mut().zip(a).zip(&mut lanes) {
            *out = 8.0 * a;
            *sum += 4.0 * a * a;
        }
    }
    for (out, b) in second.as_chunks_mut::<8>().0.iter_mut().zip(b.as_chunks::<8>().0) {
        for ((out, b), sum) in out.iter_mut().zip(b).zip(&mut sums) {
            *out = 2.0 * (b + 1.0);
            *sum += (b + 1.0) * (b + 1.0);
        }
    }
    lanes.iter().sum::<f64>() + sums.iter().sum::<f64>()
}

/// A row of the table: the same result by `mind!` and by hand.
struct Row<'a> {
    name: &'static str,
    ours: Box<dyn FnMut() + 'a>,
    by_hand: Box<dyn FnMut() + 'a>,
}

fn main() {
    set_threads(1);
    let mut random = Xoshiro256::new(1);
    let [x, y]: [Vector; 2] = std::array::from_fn(|_| Tensor::randn(&mut random));
    check(&x, &y);
    let mut workspaces: [Workspace; 6] = std::array::from_fn(|_| Workspace::new());
    let [w0, w1, w2, w3, w4, w5] = &mut workspaces;
    let mut outs: [Vector; 10] = std::array::from_fn(|_| Tensor::zeros());
    let [o0, o1, o2, o3, o4, o5, o6, o7, o8, o9] = &mut outs;
    let mut both: [Tensor<f64, (Const<8192>,)>; 2] = std::array::from_fn(|_| Tensor::zeros());
    let [b0, b1] = &mut both;
    let (mut values, mut scratch) = ([0.0; 3], [vec![0.0; N], vec![0.0; N]]);
    let [v0, v1, v2] = &mut values;
    let [s0, s1] = &mut scratch;
    let (x, y) = (&x, &y);
    let fits = "the shapes are those of the function";
    let mut rows = [
        Row {
            name: "x * concat([[1.0], y[..-1]])",
            ours: Box::new(|| shifted_into(x, y, o0, w0).expect(fits)),
            by_hand: Box::new(|| shifted_by_hand(x.as_slice(), y.as_slice(), o1.as_mut_slice())),
        },
        Row {
            name: "relu(concat([x, y]) * 2.0 - 1.0)",
            ours: Box::new(|| joined_into(x, y, b0, w1).expect(fits)),
            by_hand: Box::new(|| joined_by_hand(x.as_slice(), y.as_slice(), b1.as_mut_slice())),
        },
        Row {
            name: "a step of diffusion",
            ours: Box::new(|| laplacian_into(x, o2, w2).expect(fits)),
            by_hand: Box::new(|| laplacian_by_hand(x.as_slice(), o3.as_mut_slice())),
        },
        Row {
            name: "gradient of squared differences",
            ours: Box::new(|| differences_grad_into(x, (v0, o4), w3).expect(fits)),
            by_hand: Box::new(|| {
                black_box(differences_by_hand(x.as_slice(), s0, o5.as_mut_slice()));
            }),
        },
        Row {
            name: "gradient of a step of diffusion",
            ours: Box::new(|| step_grad_into(x, (v1, o6), w4).expect(fits)),
            by_hand: Box::new(|| {
                black_box(step_by_hand(x.as_slice(), s1, o7.as_mut_slice()));
            }),
        },
        Row {
            name: "gradient of two halves",
            ours: Box::new(|| halves_grad_into(x, (v2, o8), w5).expect(fits)),
            by_hand: Box::new(|| {
                black_box(halves_by_hand(x.as_slice(), o9.as_mut_slice()));
            }),
        },
    ];
    let mut times = vec![[f64::INFINITY; 2]; rows.len()];
    for _ in 0..100 {
        for (row, times) in rows.iter_mut().zip(&mut times) {
            for (run, time) in [&mut row.ours, &mut row.by_hand].into_iter().zip(times) {
                *time = time.min(seconds(run));
            }
        }
    }
    println!("{:<36} {:>10} {:>10} {:>6}", "", "ours, ns", "by hand", "ratio");
    for (row, [ours, by_hand]) in rows.iter().zip(times) {
        println!("{:<36} {:>10.0} {:>10.0} {:>6.2}", row.name, ours * 1e9, by_hand * 1e9, by_hand / ours);
    }
}

/// The time of one call.
fn seconds(run: &mut dyn FnMut()) -> f64 {
    let calls = calls_in(Duration::from_millis(1), &mut || run());
    let start = Instant::now();
    (0..calls).for_each(|_| run());
    start.elapsed().as_secs_f64() / calls as f64
}

/// Checks that the loops by hand compute the same.
fn check(x: &Vector, y: &Vector) {
    let mut out = vec![0.0; 2 * N];
    let mut scratch = vec![0.0; N];
    let near = |ours: &[f64], by_hand: &[f64]| {
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12 * a.abs().max(1.0);
        assert!(!ours.iter().zip(by_hand).any(differs) && ours.len() == by_hand.len());
    };
    shifted_by_hand(x.as_slice(), y.as_slice(), &mut out[..N]);
    near(shifted(x, y).as_slice(), &out[..N]);
    joined_by_hand(x.as_slice(), y.as_slice(), &mut out);
    near(joined(x, y).as_slice(), &out);
    laplacian_by_hand(x.as_slice(), &mut out[..N]);
    near(laplacian(x).as_slice(), &out[..N]);
    let value = differences_by_hand(x.as_slice(), &mut scratch, &mut out[..N]);
    let (ours, gradient) = differences_grad(x);
    near(gradient.as_slice(), &out[..N]);
    near(&[ours], &[value]);
    let value = step_by_hand(x.as_slice(), &mut scratch, &mut out[..N]);
    let (ours, gradient) = step_grad(x);
    near(gradient.as_slice(), &out[..N]);
    near(&[ours], &[value]);
    let value = halves_by_hand(x.as_slice(), &mut out[..N]);
    let (ours, gradient) = halves_grad(x);
    near(gradient.as_slice(), &out[..N]);
    near(&[ours], &[value]);
}
