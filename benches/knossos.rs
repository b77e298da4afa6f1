//! Compares Knossos programs with loops by hand and with `mind!`. The ratios come from one interleaved run; see
//! README.md beside this file.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::{Tensor, mind};

mod gmm {
    mind::include_ks!("../examples/gmm.ks", grad = [objective]);
}

mod small {
    mind::include_ks!("knossos.ks", grad = [bend, product, chain, matrices]);
}

mind! {
    /// The product of a matrix and a vector.
    fn product<M, N>(a: f64[M, N], x: f64[N]) -> f64[M] { a @ x }

    fn chain<N>(x: f64[N], y: f64[N]) -> f64[N] { exp(-((x * y + x) * exp(-y))) }

    /// The inner product of `chain` with `d`. Its gradient is the pullback of `chain`.
    #[grad(x, y)]
    fn chain_along<N>(x: f64[N], y: f64[N], d: f64[N]) -> f64 { sum(exp(-((x * y + x) * exp(-y))) * d) }

    fn matrices<M, K, N>(a: f64[M, K], b: f64[K, N]) -> f64[M, N] { a @ b }

    /// The inner product of `matrices` with `d`. Its gradient is the pullback of `matrices`.
    #[grad(a, b)]
    fn matrices_along<M, K, N>(a: f64[M, K], b: f64[K, N], d: f64[M, N]) -> f64 { sum((a @ b) * d) }

    /// The inner product of `product` with `dy`. Its gradient is the pullback of `product`.
    #[grad(a, x)]
    fn product_along<M, N>(a: f64[M, N], x: f64[N], dy: f64[M]) -> f64 { sum((a @ x) * dy) }
}

fn main() {
    mind::set_threads(1);
    mixture();
    elementwise();
    matrix_vector();
    exponentials();
    matrix_product();
}

/// Times `cases` in turn over several rounds, and prints the shortest time of each and its ratio to the time of case
/// `base`.
fn compare(title: &str, rounds: usize, base: usize, cases: &mut [(&str, &mut dyn FnMut())]) {
    let mut least = vec![Duration::MAX; cases.len()];
    for _ in 0..rounds {
        for (least, (_, run)) in least.iter_mut().zip(cases.iter_mut()) {
            let start = Instant::now();
            run();
            *least = (*least).min(start.elapsed());
        }
    }
    println!("{title}");
    for ((name, _), time) in cases.iter().zip(&least) {
        let ratio = time.as_secs_f64() / least[base].as_secs_f64();
        println!("  {name:<36} {:>10.1} µs  {ratio:>6.2}", time.as_secs_f64() * 1e6);
    }
}

/// Pseudorandom numbers between -1 and 1.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn mixture() {
    let (n, d, k) = (1000, 10, 25);
    let lower = d * (d - 1) / 2;
    let x = Tensor::from_vec((n, d), numbers(n * d, 1)).expect("n by d");
    let alphas = Tensor::from_vec((k,), numbers(k, 2)).expect("one a component");
    let means = Tensor::from_vec((k, d), numbers(k * d, 3)).expect("k by d");
    let icf = Tensor::from_vec((k, d + lower), numbers(k * (d + lower), 4)).expect("one row a component");
    let expected = by_hand(&[x.as_slice(), alphas.as_slice(), means.as_slice(), icf.as_slice()], 1.0, 0, d);
    let value = gmm::objective(&x, &alphas, &means, &icf, 1.0, 0);
    assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} is not {expected}");
    compare(
        "GMM objective, d = 10, K = 25, n = 1000",
        30,
        0,
        &mut [
            ("loops by hand", &mut || {
                _ = black_box(by_hand(
                    black_box(&[x.as_slice(), alphas.as_slice(), means.as_slice(), icf.as_slice()]),
                    1.0,
                    0,
                    d,
                ))
            }),
            ("objective", &mut || {
                _ = black_box(gmm::objective(black_box(&x), &alphas, &means, &icf, 1.0, 0))
            }),
            ("gradient", &mut || {
                _ = black_box(gmm::rev_objective(black_box(&x), &alphas, &means, &icf, 1.0, 0, 1.0));
            }),
        ],
    );
}

/// The objective of `gmm.ks` as loops over slices.
fn by_hand([x, alphas, means, icf]: &[&[f64]; 4], gamma: f64, m: i64, d: usize) -> f64 {
    let logsumexp = |v: &[f64]| {
        let m = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        m + v.iter().map(|v| (v - m).exp()).sum::<f64>().ln()
    };
    let columns = icf.len() / alphas.len();
    let diagonals: Vec<f64> =
        icf.chunks_exact(columns).flat_map(|row| row[..d].iter().map(|q| q.exp())).collect();
    let sums: Vec<f64> = icf.chunks_exact(columns).map(|row| row[..d].iter().sum()).collect();
    let mut terms = vec![0.0; alphas.len()];
    let mut distance = vec![0.0; d];
    let mut points = 0.0;
    for x in x.chunks_exact(d) {
        for (k, term) in terms.iter_mut().enumerate() {
            let (row, mean) = (&icf[k * columns..][..columns], &means[k * d..][..d]);
            let diagonal = &diagonals[k * d..][..d];
            for j in 0..d {
                distance[j] = x[j] - mean[j];
            }
            let mut squares = 0.0;
            for j in 0..d {
                let mut sum = diagonal[j] * distance[j];
                let below = &row[d + j * j.saturating_sub(1) / 2..][..j];
                for l in 0..j {
                    sum += below[l] * distance[l];
                }
                squares += sum * sum;
            }
            *term = alphas[k] + sums[k] - 0.5 * squares;
        }
        points += logsumexp(&terms);
    }
    let mut prior = 0.0;
    for ((row, diagonal), sum) in icf.chunks_exact(columns).zip(diagonals.chunks_exact(d)).zip(&sums) {
        let diagonal: f64 = diagonal.iter().map(|q| q * q).sum();
        let below: f64 = row[d..].iter().map(|l| l * l).sum();
        prior += 0.5 * gamma * gamma * (diagonal + below) - m as f64 * sum;
    }
    points - (x.len() / d) as f64 * logsumexp(alphas) + prior
}

fn elementwise() {
    let n = 1_000_000;
    let x = Tensor::from_vec((n,), numbers(n, 5)).expect("n numbers");
    let dy = Tensor::from_vec((n,), numbers(n, 6)).expect("n numbers");
    let bend =
        |x: &[f64]| -> Vec<f64> { x.iter().map(|x| if *x > 0.0 { x * x } else { -0.5 * x }).collect() };
    let back = |x: &[f64], dy: &[f64]| -> Vec<f64> {
        x.iter().zip(dy).map(|(x, dy)| if *x > 0.0 { 2.0 * x * dy } else { -0.5 * dy }).collect()
    };
    assert_eq!(small::bend(&x).as_slice(), bend(x.as_slice()));
    assert_eq!(small::rev_bend(&x, &dy).as_slice(), back(x.as_slice(), dy.as_slice()));
    compare(
        "elementwise with `if`, 1 M elements",
        30,
        0,
        &mut [
            ("loop by hand", &mut || _ = black_box(bend(black_box(x.as_slice())))),
            ("ks", &mut || _ = black_box(small::bend(black_box(&x)))),
        ],
    );
    compare(
        "its reverse",
        30,
        0,
        &mut [
            ("loop by hand", &mut || _ = black_box(back(black_box(x.as_slice()), dy.as_slice()))),
            ("ks", &mut || _ = black_box(small::rev_bend(black_box(&x), &dy))),
        ],
    );
}

fn matrix_vector() {
    let (m, n) = (1000, 2000);
    let a = Tensor::from_vec((m, n), numbers(m * n, 7)).expect("m by n");
    let x = Tensor::from_vec((n,), numbers(n, 8)).expect("n numbers");
    let dy = Tensor::from_vec((m,), numbers(m, 9)).expect("m numbers");
    let (found, expected) = (small::product(&a, &x), product(&a, &x));
    assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-9));
    let ((da, dx), (_, (da_here, dx_here))) =
        (small::rev_product(&a, &x, &dy), product_along_grad(&a, &x, &dy));
    assert!(da.iter().chain(&dx).zip(da_here.iter().chain(&dx_here)).all(|(a, b)| (a - b).abs() < 1e-9));
    compare(
        "matrix-vector product, 1000 by 2000, one thread",
        30,
        0,
        &mut [
            ("mind!", &mut || _ = black_box(product(black_box(&a), &x))),
            ("ks, sumbuild", &mut || _ = black_box(small::product(black_box(&a), &x))),
        ],
    );
    compare(
        "its reverse",
        30,
        0,
        &mut [
            ("mind!, with the value", &mut || _ = black_box(product_along_grad(black_box(&a), &x, &dy))),
            ("ks", &mut || _ = black_box(small::rev_product(black_box(&a), &x, &dy))),
        ],
    );
}

fn exponentials() {
    let n = 1_000_000;
    let [x, y, d] = [10, 11, 12].map(|seed| Tensor::from_vec((n,), numbers(n, seed)).expect("n numbers"));
    let (found, expected) = (small::chain(&x, &y), chain(&x, &y));
    assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
    let ((dx, dy), (_, (dx_here, dy_here))) = (small::rev_chain(&x, &y, &d), chain_along_grad(&x, &y, &d));
    assert!(dx.iter().chain(&dy).zip(dx_here.iter().chain(&dy_here)).all(|(a, b)| (a - b).abs() < 1e-10));
    let by_hand = |x: &[f64], y: &[f64]| -> Vec<f64> {
        x.iter().zip(y).map(|(x, y)| (-((x * y + x) * (-y).exp())).exp()).collect()
    };
    compare(
        "two exponentials, 1 M elements, one thread",
        30,
        0,
        &mut [
            ("mind!", &mut || _ = black_box(chain(black_box(&x), &y))),
            ("ks, build", &mut || _ = black_box(small::chain(black_box(&x), &y))),
            ("loop by hand", &mut || _ = black_box(by_hand(black_box(x.as_slice()), y.as_slice()))),
        ],
    );
    compare(
        "their reverse",
        30,
        0,
        &mut [
            ("mind!, with the value", &mut || _ = black_box(chain_along_grad(black_box(&x), &y, &d))),
            ("ks", &mut || _ = black_box(small::rev_chain(black_box(&x), &y, &d))),
        ],
    );
}

fn matrix_product() {
    let n = 300;
    let matrix = |seed| Tensor::from_vec((n, n), numbers(n * n, seed)).expect("n by n");
    let [a, b, d] = [13, 14, 15].map(matrix);
    let (found, expected) = (small::matrices(&a, &b), matrices(&a, &b));
    assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-10));
    let ((da, db), (_, (da_here, db_here))) =
        (small::rev_matrices(&a, &b, &d), matrices_along_grad(&a, &b, &d));
    assert!(da.iter().chain(&db).zip(da_here.iter().chain(&db_here)).all(|(a, b)| (a - b).abs() < 1e-10));
    compare(
        "matrix product, 300 by 300 by 300, one thread",
        20,
        0,
        &mut [
            ("mind!", &mut || _ = black_box(matrices(black_box(&a), &b))),
            ("ks, build and sumbuild", &mut || _ = black_box(small::matrices(black_box(&a), &b))),
        ],
    );
    compare(
        "its reverse",
        20,
        0,
        &mut [
            ("mind!, with the value", &mut || _ = black_box(matrices_along_grad(black_box(&a), &b, &d))),
            ("ks", &mut || _ = black_box(small::rev_matrices(black_box(&a), &b, &d))),
        ],
    );
}
