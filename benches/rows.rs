//! Compares folds of short rows, whose length only run time knows, with loops written by hand:
//! `cargo bench -p mind-benches --bench rows`.
//!
//! All rows of the table are measured in turn on one thread, and the shortest time of each is kept.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mind::{Tensor, Workspace, Xoshiro256, mind, set_threads};

mod timing;

use timing::calls_in;

type Matrix = Tensor<f64, (usize, usize)>;

mind! {
    fn cost<N, K, D>(points: f64[N, D], centroids: f64[K, D]) -> f64 {
        let difference = expand_dims(points, axes = [1]) - centroids;
        sum(min(sum(difference * difference, axis = -1), axis = -1))
    }
    fn direction<N, K, D>(points: f64[N, D], centroids: f64[K, D]) -> f64[K, D] {
        let (gradient, diagonal) =
            jvp(grad(cost, wrt = centroids), wrt = centroids)(points, centroids, ones_like(centroids));
        gradient / diagonal
    }
    fn squares<N, K, D>(points: f64[N, D], centroids: f64[K, D]) -> f64[N, K] {
        let difference = expand_dims(points, axes = [1]) - centroids;
        sum(difference * difference, axis = -1)
    }
    fn greatest<N, D>(x: f64[N, D]) -> f64[N] { max(x, axis = -1) }
    fn normalised<N, D>(x: f64[N, D]) -> f64[N, D] { x / sqrt(sum(x * x, axis = -1, keepdims = true)) }
}

fn square(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

fn squares_by_hand(points: &[f64], centroids: &[f64], len: usize, out: &mut [f64]) {
    let out = out.chunks_exact_mut(centroids.len() / len);
    for (out, point) in out.zip(points.chunks_exact(len)) {
        out.iter_mut()
            .zip(centroids.chunks_exact(len))
            .for_each(|(out, centroid)| *out = square(point, centroid));
    }
}

fn cost_by_hand(points: &[f64], centroids: &[f64], len: usize) -> f64 {
    let nearest = |point: &[f64]| {
        centroids.chunks_exact(len).map(|centroid| square(point, centroid)).fold(f64::INFINITY, f64::min)
    };
    points.chunks_exact(len).map(nearest).sum()
}

/// The step of Newton's method from each centroid towards the mean of its points.
fn direction_by_hand(points: &[f64], centroids: &[f64], len: usize, counts: &mut [f64], out: &mut [f64]) {
    counts.fill(0.0);
    out.fill(0.0);
    for point in points.chunks_exact(len) {
        let distances = centroids.chunks_exact(len).map(|centroid| square(point, centroid)).enumerate();
        let (nearest, _) =
            distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
        counts[nearest] += 1.0;
        let (out, centroid) = (&mut out[nearest * len..][..len], &centroids[nearest * len..][..len]);
        out.iter_mut()
            .zip(point.iter().zip(centroid))
            .for_each(|(out, (point, centroid))| *out += centroid - point);
    }
    for (out, count) in out.chunks_exact_mut(len).zip(counts) {
        out.iter_mut().for_each(|out| *out /= *count);
    }
}

fn greatest_by_hand(x: &[f64], len: usize, out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(x.chunks_exact(len)) {
        *out = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
}

fn normalised_by_hand(x: &[f64], len: usize, out: &mut [f64]) {
    for (out, row) in out.chunks_exact_mut(len).zip(x.chunks_exact(len)) {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        out.iter_mut().zip(row).for_each(|(out, x)| *out = x / norm);
    }
}

fn main() {
    set_threads(1);
    println!("{:<44} {:>10} {:>10} {:>6}", "", "ours, µs", "by hand", "ratio");
    for (count, clusters, len) in
        [(1000, 10, 8), (10_000, 100, 8), (10_000, 100, 16), (10_000, 4, 3), (1000, 100, 50)]
    {
        let mut random = Xoshiro256::new(1);
        let mut normal = |rows: usize| Matrix::randn_with((rows, len), &mut random);
        let (points, centroids) = (normal(count), normal(clusters));
        rows(&points, &centroids);
    }
}

/// Prints the rows of the table for these points.
fn rows(points: &Matrix, centroids: &Matrix) {
    let ((count, len), (clusters, _)) = (points.shape(), centroids.shape());
    let (x, y) = (points.as_slice(), centroids.as_slice());
    let zeros = |rows: usize, columns: usize| Matrix::from_fn_with((rows, columns), |_| 0.0);
    let (mut s0, mut s1) = (zeros(count, clusters), zeros(count, clusters));
    let (mut d0, mut d1) = (zeros(clusters, len), zeros(clusters, len));
    let (mut n0, mut n1) = (zeros(count, len), zeros(count, len));
    let (mut g0, mut g1) = (Tensor::from_fn_with((count,), |_| 0.0), vec![0.0; count]);
    let mut counts = vec![0.0; clusters];
    let mut workspace = Workspace::new();
    let fits = "the shapes are those of the function";
    let [mut c0, mut c1] = [0.0; 2];
    let mut table: [(&str, [f64; 2]); 5] = [
        ("squared distances", [f64::INFINITY; 2]),
        ("k-means cost", [f64::INFINITY; 2]),
        ("k-means direction, by jvp of grad", [f64::INFINITY; 2]),
        ("greatest of each row", [f64::INFINITY; 2]),
        ("rows divided by their norms", [f64::INFINITY; 2]),
    ];
    for _ in 0..40 {
        let w = &mut workspace;
        let times = [
            seconds(&mut || squares_into(points, centroids, &mut s0, w).expect(fits)),
            seconds(&mut || squares_by_hand(x, y, len, s1.as_mut_slice())),
            seconds(&mut || cost_into(points, centroids, &mut c0, w).expect(fits)),
            seconds(&mut || c1 = black_box(cost_by_hand(x, y, len))),
            seconds(&mut || direction_into(points, centroids, &mut d0, w).expect(fits)),
            seconds(&mut || direction_by_hand(x, y, len, &mut counts, d1.as_mut_slice())),
            seconds(&mut || greatest_into(points, &mut g0, w).expect(fits)),
            seconds(&mut || greatest_by_hand(x, len, &mut g1)),
            seconds(&mut || normalised_into(points, &mut n0, w).expect(fits)),
            seconds(&mut || normalised_by_hand(x, len, n1.as_mut_slice())),
        ];
        for ((_, least), both) in table.iter_mut().zip(times.as_chunks::<2>().0) {
            least.iter_mut().zip(both).for_each(|(least, time)| *least = least.min(*time));
        }
    }
    assert!((c0 - c1).abs() <= 1e-12 * c1, "the costs {c0} and {c1} agree");
    let pairs =
        [(s0.as_slice(), s1.as_slice()), (d0.as_slice(), d1.as_slice()), (n0.as_slice(), n1.as_slice())];
    for (ours, by_hand) in pairs.into_iter().flat_map(|(ours, by_hand)| ours.iter().zip(by_hand)) {
        assert!(
            (ours - by_hand).abs() <= 1e-10 * (1.0 + by_hand.abs()) || by_hand.is_nan(),
            "{ours} and {by_hand}"
        );
    }
    assert_eq!(g0.as_slice(), g1);
    println!("{count} points of {len} numbers, {clusters} centroids");
    for (name, [ours, by_hand]) in table {
        println!("  {name:<42} {:>10.1} {:>10.1} {:>6.2}", ours * 1e6, by_hand * 1e6, by_hand / ours);
    }
}

/// The time of one call.
fn seconds(run: &mut dyn FnMut()) -> f64 {
    let calls = calls_in(Duration::from_millis(2), &mut || run());
    let start = Instant::now();
    (0..calls).for_each(|_| run());
    start.elapsed().as_secs_f64() / calls as f64
}
