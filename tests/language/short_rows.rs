//! Folds of rows whose length only run time knows, on both sides of each limit of their loops.

use mind::{Tensor, mind, set_threads};

type Matrix<T> = Tensor<T, (usize, usize)>;

mind! {
    fn squares<N, K, D>(x: f64[N, D], y: f64[K, D]) -> f64[N, K] {
        let d = expand_dims(x, axes = [1]) - y;
        sum(d * d, axis = -1)
    }
    fn nearest<N, K, D>(x: f64[N, D], y: f64[K, D]) -> f64[N] { min(squares(x, y), axis = -1) }
    fn farthest<N, K, D>(x: f32[N, D], y: f32[K, D]) -> (f32[N], f32) {
        let d = expand_dims(x, axes = [1]) - y;
        let farthest = max(sqrt(sum(d * d, axis = -1)), axis = -1);
        (farthest, sum(farthest))
    }
    #[grad(y)]
    fn cost<N, K, D>(x: f64[N, D], y: f64[K, D]) -> f64 { sum(nearest(x, y)) }
    fn chosen<N, K, D>(x: f64[N, D], which: i64[N], y: f64[K, D]) -> f64[K, D] {
        let mask = where(expand_dims(which, axes = [1]) == iota(K), 1.0, 0.0);
        sum(where(expand_dims(mask, axes = [2]) > 0.0, expand_dims(x, axes = [1]) - y, 0.0), axis = 0)
    }
    fn normalised<N, D>(x: f64[N, D]) -> f64[N, D] { x / sqrt(sum(x * x, axis = -1, keepdims = true)) }
    fn standard<N, D>(x: f32[N, D]) -> (f32[N, D], f32[N]) {
        let centred = x - mean(x, axis = -1, keepdims = true);
        let spread = mean(centred * centred, axis = -1, keepdims = true);
        (centred / sqrt(spread + 0.5), squeeze(spread, axes = [1]))
    }
    fn joined<N, D>(x: f64[N, D], y: f64[N, D]) -> f64[2 * N, D] { concat([normalised(x), y]) }
    fn shares<N, D>(x: f64[N, D]) -> f64[N, D] { nn::softmax(x) }
    fn greatest<N, D>(x: f64[N, D]) -> (f64[N], f64) {
        let greatest = max(x, axis = -1);
        (greatest, sum(greatest))
    }
}

fn number(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 31) % 101) as f64 / 50.0 - 1.01
}

fn matrix(rows: usize, len: usize, from: usize) -> Matrix<f64> {
    Tensor::from_fn_with((rows, len), |[i, j]| number(i + from, j))
}

fn single(x: &Matrix<f64>) -> Matrix<f32> {
    Tensor::from_fn_with(x.shape(), |[i, j]| x[[i, j]] as f32)
}

fn square(x: &Matrix<f64>, i: usize, y: &Matrix<f64>, k: usize) -> f64 {
    (0..x.shape().1).map(|j| (x[[i, j]] - y[[k, j]]).powi(2)).sum()
}

fn assert_near(found: f64, expected: f64, error: f64, at: &str) {
    let is_near = (found - expected).abs() <= error * (1.0 + expected.abs());
    assert!(is_near || found.to_bits() == expected.to_bits(), "{at}: {found}, not {expected}");
}

#[test]
fn the_least_of_sums_and_its_gradient_are_right_at_every_size() {
    let mut random_sizes = (1..12).chain([15, 16, 17, 33, 63, 64, 65, 130]);
    let sizes = random_sizes.by_ref().flat_map(|k| [1, 3, 8, 9, 33, 70].map(|d| (1 + k % 4, k, d)));
    for (n, k, d) in sizes {
        let (x, y) = (matrix(n, d, 0), matrix(k, d, 50));
        let at = format!("{n} {k} {d}");
        let least = nearest(&x, &y);
        let (far, all) = farthest(&single(&x), &single(&y));
        let (value, gradient) = cost_grad(&x, &y);
        let mut slopes = vec![0.0; k * d];
        let (mut total, mut greatest) = (0.0, 0.0);
        for i in 0..n {
            let distances: Vec<f64> = (0..k).map(|k| square(&x, i, &y, k)).collect();
            let expected = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let farthest = distances.iter().copied().fold(0.0, f64::max).sqrt();
            assert_near(least[[i]], expected, 1e-14, &at);
            assert_near(f64::from(far[[i]]), farthest, 1e-6, &at);
            total += expected;
            greatest += farthest;
            let ties = (0..k).filter(|k| squares(&x, &y)[[i, *k]] == least[[i]]);
            let ties: Vec<usize> = ties.collect();
            for (k, j) in ties.iter().flat_map(|k| (0..d).map(move |j| (*k, j))) {
                slopes[k * d + j] -= 2.0 * (x[[i, j]] - y[[k, j]]) / ties.len() as f64;
            }
        }
        assert_near(value, total, 1e-14, &at);
        assert_near(f64::from(all), greatest, 1e-5, &at);
        gradient.as_slice().iter().zip(&slopes).for_each(|(a, b)| assert_near(*a, *b, 1e-13, &at));
    }
}

#[test]
fn rows_that_a_mask_selects_are_summed() {
    for (n, k, d) in [1, 2, 63, 64, 65, 129].into_iter().flat_map(|k| [1, 5, 40].map(|d| (70, k, d))) {
        let (mut x, y) = (matrix(n, d, 0), matrix(k, d, 50));
        // Infinity and NaN of a row that is not selected do not show.
        x[[3, 0]] = f64::INFINITY;
        x[[4, d - 1]] = f64::NAN;
        let which = Tensor::from_fn_with((n,), |[i]| ((i * i) % (k + 1)) as i64);
        let found = chosen(&x, &which, &y);
        for (c, j) in (0..k).flat_map(|c| (0..d).map(move |j| (c, j))) {
            let rows = (0..n).filter(|i| which[[*i]] == c as i64);
            let expected: f64 = rows.map(|i| x[[i, j]] - y[[c, j]]).sum();
            match expected.is_nan() {
                true => assert!(found[[c, j]].is_nan(), "{k} {d}"),
                false => assert_near(found[[c, j]], expected, 1e-13, &format!("{k} {d}")),
            }
        }
    }
}

/// Rows of every length near a limit, in matrices of few and of many rows, on one and on several threads.
#[test]
fn rows_are_folded_and_stored_at_every_length() {
    let lens = (1..40).chain([47, 48, 49, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 2100]);
    for (len, threads) in lens.flat_map(|len| [(len, 1), (len, 3)]) {
        set_threads(threads);
        let many = if len < 40 { 9000 / len } else { 20 };
        for rows in [1, 2, 7, 16, 17, 33, many] {
            rows_of(rows, len);
        }
    }
    set_threads(0);
}

fn rows_of(rows: usize, len: usize) {
    let (x, y) = (matrix(rows, len, 0), matrix(rows, len, 9));
    let at = format!("{rows} rows of {len}");
    let (normal, both, shares) = (normalised(&x), joined(&x, &y), shares(&x));
    let (standard, spreads) = standard(&single(&x));
    let (greatest, all) = greatest(&x);
    assert_eq!(both.as_slice()[..rows * len], *normal.as_slice(), "{at}");
    assert_eq!(both.as_slice()[rows * len..], *y.as_slice(), "{at}");
    let mut total = 0.0;
    for i in 0..rows {
        let row: Vec<f64> = (0..len).map(|j| x[[i, j]]).collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = row.iter().map(|x| (x - most).exp()).sum::<f64>();
        let centre = row.iter().sum::<f64>() / len as f64;
        let spread = row.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / len as f64;
        assert_eq!(greatest[[i]], most, "{at}");
        assert_near(f64::from(spreads[[i]]), spread, 1e-5, &at);
        total += most;
        for (j, x) in row.iter().enumerate() {
            assert_near(normal[[i, j]], x / norm, 1e-14, &at);
            assert_near(shares[[i, j]], (x - most).exp() / weights, 1e-14, &at);
            assert_near(f64::from(standard[[i, j]]), (x - centre) / (spread + 0.5).sqrt(), 1e-5, &at);
        }
    }
    assert_near(all, total, 1e-12, &at);
}
