//! Results have the same bits in every run and with any number of threads. Loops and sums also have the same bits at
//! every SIMD level. There are two exceptions:
//!
//! - The order of additions in products by a vector and in gradients of filters depends on the width of a vector.
//! - Products, `exp` and `log` use fused multiply-add at AVX2 and AVX-512, but not at the portable level.
//!
//! Level and threads are fixed for a process, so the programs run in child processes.

use std::{fmt::Write, fs, path::Path, process::Stdio};

use mind::{Const, Element, Shape, Tensor, TensorRef, mind, set_threads};
use mind_tests::child;

/// The file to which a child process writes its results.
const CHILD_WRITES: &str = "MIND_BITS_CHILD_WRITES";

mind! {
    fn chain<N>(x: f32[N], y: f32[N]) -> f32[N] { exp(-(x * x)) * y + x / (log(y * y + 1.0) + 0.5) - 1.0 }

    #[grad(x, y)]
    fn total<N>(x: f32[N], y: f32[N]) -> f32 { sum(chain(x, y) * y) + mean(x) }

    #[grad(a)]
    fn gammas<N>(key: i64, a: f64[N]) -> f64 { sum(random::gamma(key, a, [N])) }

    fn counts<N>(key: i64, rate: f64[N]) -> f64[N] { f64(random::poisson(key, rate, [N])) }

    fn double<N>(x: f64[N, 7]) -> (f64[N], f64[7], f64) {
        let e = exp(x) / log(x * x + 2.0);
        (sum(e, axes = [1]), mean(e, axes = [0]), sum(e * x))
    }

    #[grad(z)]
    fn cross_entropy<N, C>(z: f32[N, C], y: f32[N, C]) -> f32 {
        let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
        -mean(sum(y * logp, axes = [1]))
    }

    fn normal<N>(x: f32[N, 300], scale: f32[300]) -> f32[N, 300] {
        let centred = x - mean(x, axes = [1], keepdims = true);
        let variance = mean(centred * centred, axes = [1], keepdims = true);
        centred * exp(-0.5 * log(variance + 0.00001)) * scale
    }

    fn inner<N>(x: f32[N, 30, 40]) -> (f32[N, 40], f32[30], f32) {
        (sum(x, axes = [1]), sum(x * x, axes = [0, 2]), mean(relu(x)))
    }

    fn down<N>(x: f32[N, 1000], y: f32[N, 33]) -> (f32[1000], f32[33]) {
        (mean(x * x, axes = [0]), sum(relu(y), axes = [0]))
    }

    fn layer<N>(x: f32[N, 200], w: f32[200, 250], b: f32[250]) -> f32[N, 250] { relu(x @ w + b) }

    #[grad(w, b)]
    fn loss<N>(x: f32[N, 200], w: f32[200, 250], b: f32[250]) -> f32 { mean(layer(x, w, b)) }

    fn small(x: f32[3, 4], w: f32[4, 5]) -> f32[3, 5] { relu(x @ w) }

    #[grad(x, k)]
    fn convolution<N>(x: f32[N, 20, 20, 5], k: f32[3, 3, 5, 17]) -> f32 {
        sum(relu(conv2d(x, k, strides = [1, 1], padding = same)))
    }

    fn step<N>(x: f32[N, 200], w: &mut f32[200, 250], b: &mut f32[250], rate: f32) -> f32 {
        let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, w, b);
        w -= rate * dw;
        b -= rate * db;
        l
    }

    fn batched<N>(x: f64[N, 60, 70], y: f64[N, 60, 50]) -> f64[N, 70, 50] { transpose(x, [0, 2, 1]) @ y }

    fn by_vector<N>(x: f32[N, 500], v: f32[500]) -> (f32[N], f32) {
        let y = dot(x, v);
        (y, dot(v, v) + sum(y))
    }

    #[grad(table)]
    fn picked<N>(table: f32[1000, 33], rows: i64[N]) -> f32 {
        let t = gather(table, rows);
        sum(t * t)
    }

    fn rotated(r: f64[3], p: f64[3]) -> f64[3] {
        let angle = sqrt(sum(r * r));
        let axis = r / angle;
        if angle > 0.5 {
            p * cos(angle) + num::cross(axis, p) * sin(angle) + axis * (dot(axis, p) * (1.0 - cos(angle)))
        } else {
            p + num::cross(r, p)
        }
    }

    fn rotations<N>(r: f64[N, 3], p: f64[N, 3]) -> (f64[N, 3], f64[N, 3, 3], f64[3]) {
        let by_rotation = vmap(jacobian(rotated, wrt = r), over = (r, p))(r, p);
        let points = vmap(rotated, over = (r, p))(r, p);
        (points, by_rotation, sum(points, axes = [0]))
    }

    fn apart<N>(x: f32[4, N, 12]) -> (f32[4, N], f32[4, N - 1]) {
        (sum(x[0.., 0.., 1..11], axes = [2]), mean(x[0.., 1.., 0..5], axes = [2]))
    }

    fn any<N, C>(x: f32[N, C]) -> (f32[N], f32[N]) { (sum(x, axes = [1]), mean(x, axes = [1])) }

    fn still<N>(x: f32[N, 10], s: f32[1, 1]) -> (f32[N], f32[N]) {
        let sums = sum(broadcast_to(s, [N, 10]), axes = [1]);
        let among = sum(exp(x) + s, axes = [1]);
        (log(sums * sums + 1.0), among * sums)
    }

    fn activated<N, M>(x: f64[N, M], b: f64[M]) -> (f64[N, M], f64[N, M]) {
        (nn::sigmoid(x + b) * tanh(x), where(x > b, exp(x), x))
    }

    fn waves<N, M>(x: f32[N, M], b: f32[M]) -> f32[N, M] { sin(x + b) * pow(abs(x), b) }

    fn cell(x: f64[21], h: f64[21]) -> f64[21] { nn::sigmoid(x) * tanh(h) }

    fn moved<N>(x: f32[N, 300, 7]) -> f32[7, N, 150] { transpose(x[0.., ..;2, 0..], [2, 0, 1]) * 2.0 }
}

/// Sums of matrices with few columns, in a module for each number of columns.
macro_rules! narrow {
    ($($name:ident: $columns:tt;)*) => {
        $(mod $name {
            mind::mind! {
                pub fn rows<N>(x: f32[N, $columns]) -> f32[N] { sum(x, axes = [1]) }
                pub fn means<N>(x: f64[3, N, $columns]) -> f64[3, N] { mean(x, axes = [2]) }
                pub fn fused<N>(x: f32[N, $columns]) -> f32[N] { sum(x * x + x, axes = [1]) }
                pub fn exponentials<N>(x: f32[N, $columns]) -> f32[N, $columns] { exp(x) }
                pub fn logarithms<N>(s: f32[N]) -> f32[N] { log(s * s + 1.0) }
                pub fn of_exponentials<N>(x: f32[N, $columns]) -> f32[N] { sum(exp(x), axes = [1]) }
                pub fn softmax<N>(x: f32[N, $columns]) -> f32[N, $columns] {
                    exp(x) / sum(exp(x), axes = [1], keepdims = true)
                }
                pub fn of_sums<N>(x: f32[2, N, $columns]) -> (f32[2, N - 1], f32) {
                    let s = mean(x[0.., 1.., 0..], axes = [2]);
                    let l = log(s * s + 1.0);
                    (l, sum(l))
                }
                pub fn columns<N>(x: f32[N, $columns]) -> f32[$columns] { sum(x, axes = [0]) }
                pub fn stored<N>(x: f32[N, $columns], by: f32) -> (f32[N, $columns], f32[$columns], f32[$columns]) {
                    let y = x * x + by;
                    (y, mean(y, axes = [0]), sum(x * by, axes = [0]))
                }
                pub fn doubles<N>(x: f64[N, $columns]) -> f64[$columns] { mean(x * x, axes = [0]) }
            }
        })*

        /// Writes the bits of the sums of such matrices.
        fn narrow_sums(lines: &mut Lines) {
            for rows in [1, 7, 8, 15, 16, 17, 40, 1003] {
                $(
                    let x = uneven((rows, Const));
                    lines.tensor(stringify!($name rows), &$name::rows(&x));
                    lines.tensor(stringify!($name fused), &$name::fused(&x));
                    lines.tensor(stringify!($name columns), &$name::columns(&x));
                    lines.tensor(stringify!(exp: $name exponentials), &$name::of_exponentials(&x));
                    lines.tensor(stringify!(exp: $name softmax), &$name::softmax(&x));
                    let (sums, sum) = $name::of_sums(&uneven((Const, rows + 1, Const)));
                    lines.tensor(stringify!(exp: $name numbers), &sums);
                    lines.number(stringify!(exp: $name number), sum);
                    let (y, means, sums) = $name::stored(&x, 0.7);
                    lines.tensor(stringify!($name stored), &y);
                    lines.tensor(stringify!($name stored means), &means);
                    lines.tensor(stringify!($name stored sums), &sums);
                    let x = Tensor::from_fn_with((Const, rows, Const), |[i, j, k]| {
                        ((i * 311 + j * 7919 + k * 31) % 1013) as f64 * 0.003 - 1.5
                    });
                    lines.tensor(stringify!($name means), &$name::means(&x));
                    let x = Tensor::from_fn_with((rows, Const), |[i, j]| ((i * 7919 + j * 31) % 1013) as f64 * 0.003);
                    lines.tensor(stringify!($name doubles), &$name::doubles(&x));
                )*
            }
        }

        #[test]
        fn short_rows_are_summed_in_lanes() {
            for rows in [1, 7, 8, 15, 16, 17, 40] {
                $(
                    let x = uneven((rows, Const));
                    let elements = x.as_slice().chunks($columns);
                    let sums: Vec<f32> = elements.clone().map(in_lanes).collect();
                    assert_eq!($name::rows(&x).as_slice(), sums, "{rows} rows of {}", $columns);
                    let squares = elements.map(|row| row.iter().map(|x| x * x + x).collect::<Vec<_>>());
                    let sums: Vec<f32> = squares.map(|row| in_lanes(&row)).collect();
                    assert_eq!($name::fused(&x).as_slice(), sums, "{rows} rows of {}, computed", $columns);
                )*
            }
        }

        #[test]
        fn short_rows_are_summed_among_functions() {
            for rows in [1, 7, 8, 15, 16, 17, 300] {
                $(
                    let x = uneven((rows, Const));
                    let exponentials = $name::exponentials(&x);
                    let elements = exponentials.as_slice().chunks($columns);
                    let sums: Vec<f32> = elements.clone().map(in_lanes).collect();
                    assert_eq!($name::of_exponentials(&x).as_slice(), sums, "{rows} rows of {}", $columns);
                    let shares = elements.zip(&sums).flat_map(|(row, sum)| row.iter().map(move |x| x / sum));
                    let shares: Vec<f32> = shares.collect();
                    assert_eq!($name::softmax(&x).as_slice(), shares, "{rows} rows of {}, divided", $columns);
                    let x = uneven((Const, rows + 1, Const));
                    let of_row = |row: &[f32]| in_lanes(row) / $columns as f32;
                    let part = |i: usize| &x.as_slice()[(i * (rows + 1) + 1) * $columns..][..rows * $columns];
                    let means: Vec<f32> = [0, 1].into_iter().flat_map(|i| part(i).chunks($columns).map(of_row)).collect();
                    let means = Tensor::from_vec((2 * rows,), means).expect("there are as many");
                    let (found, sum) = $name::of_sums(&x);
                    let logarithms = $name::logarithms(&means);
                    assert_eq!(found.as_slice(), logarithms.as_slice(), "{rows} rows of {}, numbers", $columns);
                    let expected: f32 = logarithms.iter().sum();
                    assert!((sum - expected).abs() < 1e-5 * expected.abs());
                )*
            }
        }

        #[test]
        fn few_columns_are_summed_in_lanes() {
            for rows in [17, 40, 1003] {
                $(
                    let x = uneven((rows, Const));
                    let by_lanes = |x: &dyn Fn(usize) -> f32, j| {
                        let lanes = (32_usize / $columns).next_power_of_two();
                        let column: Vec<f32> = (0..rows).map(|i| x(i * $columns + j)).collect();
                        sum_in_lanes(lanes, &column)
                    };
                    let elements = x.as_slice();
                    let expected: [f32; $columns] = std::array::from_fn(|j| by_lanes(&|i| elements[i], j));
                    assert_eq!($name::columns(&x).as_slice(), expected, "{rows} rows, {} columns", $columns);
                    let (y, means, sums) = $name::stored(&x, 0.7);
                    assert!(y.iter().zip(&x).all(|(y, x)| *y == x * x + 0.7));
                    let y = y.as_slice();
                    let expected: [f32; $columns] = std::array::from_fn(|j| by_lanes(&|i| y[i], j) / rows as f32);
                    assert_eq!(means.as_slice(), expected, "{rows} rows, {} columns, stored", $columns);
                    let expected: [f32; $columns] = std::array::from_fn(|j| by_lanes(&|i| elements[i] * 0.7, j));
                    assert_eq!(sums.as_slice(), expected, "{rows} rows, {} columns, computed", $columns);
                )*
            }
        }
    };
}

narrow! {
    of_1: 1; of_2: 2; of_3: 3; of_4: 4; of_5: 5; of_7: 7; of_8: 8; of_9: 9; of_10: 10; of_12: 12; of_15: 15;
    of_16: 16; of_17: 17; of_20: 20; of_31: 31; of_32: 32; of_33: 33; of_40: 40;
}

#[test]
fn short_rows_apart_are_summed_in_lanes() {
    let x = uneven((Const, 101, Const));
    let (whole, parts) = apart(&x);
    for i in 0..4 {
        for j in 0..101 {
            let row = &x.as_slice()[(i * 101 + j) * 12..][..12];
            assert_eq!(whole[[i, j]], in_lanes(&row[1..11]));
            assert!(j == 0 || parts[[i, j - 1]] == in_lanes(&row[..5]) / 5.0);
        }
    }
}

fn in_lanes(elements: &[f32]) -> f32 {
    sum_in_lanes(32, elements)
}

#[test]
fn rows_whose_length_is_not_known_are_summed_in_lanes() {
    for columns in (1..=40).chain([2048, 2100, 10_000]) {
        for rows in [1, 7, 16, 33] {
            let x = uneven((rows, columns));
            let expected: Vec<f32> = x.as_slice().chunks(columns).map(in_lanes).collect();
            let (sums, means) = any(&x);
            assert_eq!(sums.as_slice(), expected, "{rows} rows of {columns}");
            assert!(means.iter().zip(&expected).all(|(mean, sum)| *mean == sum / columns as f32));
        }
    }
}

#[test]
fn numbers_are_summed_among_short_rows() {
    let x = uneven((300, Const));
    let (sums, among) = still(&x, &Tensor::full(0.5));
    assert!(sums.iter().all(|sum| (sum - 26.0_f32.ln()).abs() < 1e-6));
    let exponentials = of_10::exponentials(&x);
    for (found, row) in among.iter().zip(exponentials.as_slice().chunks(10)) {
        let elements: Vec<f32> = row.iter().map(|x| x + 0.5).collect();
        assert_eq!(*found, in_lanes(&elements) * 5.0);
    }
}

/// Element `i` goes to lane `i % lanes`. A lane adds chains to its sum, each with the rounding error of the sum so far.
/// The last chain takes the elements after the last whole block of lanes. The lanes are added as a tree.
fn sum_in_lanes(lanes: usize, elements: &[f32]) -> f32 {
    let most = if lanes < 16 { 32 } else { 64 };
    let whole = elements.len() / lanes;
    let sum_of_lane = |lane: usize| {
        let (mut sum, mut lost, mut chain) = (0.0_f32, 0.0, 0.0);
        for (block, element) in elements.iter().skip(lane).step_by(lanes).enumerate() {
            if block > 0 && block % most == 0 && block < whole {
                let next = sum + (chain - lost);
                (lost, sum, chain) = ((next - sum) - (chain - lost), next, 0.0);
            }
            chain += element;
        }
        sum + (chain - lost)
    };
    let mut lanes: Vec<f32> = (0..lanes).map(sum_of_lane).collect();
    while lanes.len() > 1 {
        let upper = lanes.split_off(lanes.len() / 2);
        lanes.iter_mut().zip(upper).for_each(|(lane, other)| *lane += other);
    }
    lanes[0]
}

/// Rows are computed in registers, of which the last one may overlap the one before.
#[test]
fn elements_do_not_depend_on_the_length_of_their_row() {
    let alone = |element: f64| -> Tensor![f64; ?, ?] { Tensor::from_fn_with((1, 1), |_| element) };
    let alone_f32 = |element: f32| -> Tensor![f32; ?, ?] { Tensor::from_fn_with((1, 1), |_| element) };
    for len in (1..=70).chain([127, 128, 129]) {
        let x_f32: Tensor![f32; ?, ?] = uneven((3, len));
        let x: Tensor![f64; ?, ?] = Tensor::from_fn_with((3, len), |at| x_f32[at].into());
        let b: Tensor![f64; ?] = Tensor::from_fn_with((len,), |[i]| 0.25 - i as f64 / 16.0);
        let (first, second) = activated(&x, &b);
        for (at, (first, second)) in first.as_slice().iter().zip(second.as_slice()).enumerate() {
            let b: Tensor![f64; ?] = Tensor::from_fn_with((1,), |_| b[[at % len]]);
            let expected = activated(&alone(x.as_slice()[at]), &b);
            let expected = (expected.0.as_slice()[0].to_bits(), expected.1.as_slice()[0].to_bits());
            assert_eq!((first.to_bits(), second.to_bits()), expected, "element {at} of rows of {len}");
        }
        // One angle needs the slower form.
        let b: Tensor![f32; ?] = Tensor::from_fn_with((len,), |[i]| if i == 5 { 1e9 } else { i as f32 });
        for (at, found) in waves(&x_f32, &b).as_slice().iter().enumerate() {
            let b: Tensor![f32; ?] = Tensor::from_fn_with((1,), |_| b[[at % len]]);
            let expected = waves(&alone_f32(x_f32.as_slice()[at]), &b).as_slice()[0];
            assert_eq!(found.to_bits(), expected.to_bits(), "element {at} of rows of {len}");
        }
    }
    let row: Tensor![f64; ?, ?] = Tensor::from_fn_with((1, 21), |[_, i]| i as f64 / 8.0 - 1.0);
    let known: Tensor![f64; 21] = Tensor::from_fn(|[i]| row[[0, i]]);
    let expected = activated(&row, &Tensor::zeros_with((21,))).0;
    assert_eq!(cell(&known, &known).as_slice(), expected.as_slice());
}

#[test]
fn results_do_not_depend_on_threads_and_but_for_products_not_on_the_level() {
    let usual = results("avx512", "2");
    assert_eq!(usual.len(), 65 + 8 * 12 * 18);
    assert_eq!(usual, results("avx512", "2"), "from run to run");
    for threads in ["1", "3"] {
        assert_eq!(usual, results("avx512", threads), "{threads} threads");
    }
    let by_width = &["product by a vector", "product of a convolution by its filter"][..];
    for (level, differing) in [("avx2", by_width), ("portable", &["product", "exp"])] {
        let other = results(level, "2");
        assert_eq!(other, results(level, "1"), "threads at {level}");
        let differs = |line: &String| differing.iter().any(|kind| line.starts_with(kind));
        for (usual, other) in usual.iter().zip(&other).filter(|(line, _)| !differs(line)) {
            assert_eq!(usual, other, "{level}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_threads_that_are_set() {
    let of = |threads| {
        set_threads(threads);
        computed()
    };
    let alone = of(1);
    for threads in [2, 5] {
        assert_eq!(of(threads), alone, "{threads} threads");
    }
}

/// The results of a child process with this level and number of threads, one per line.
fn results(level: &str, threads: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bits-{level}-{threads}.txt"));
    let status = child(module_path!(), "a_child_process_writes_its_results")
        .arg("--quiet")
        .env(CHILD_WRITES, &path)
        .env("MIND_SIMD", level)
        .env("MIND_NUM_THREADS", threads)
        .stdout(Stdio::null())
        .status()
        .expect("the binary can be run again");
    assert!(status.success());
    let text = fs::read_to_string(&path).expect("the child wrote its results");
    text.lines().map(str::to_string).collect()
}

#[test]
fn a_child_process_writes_its_results() {
    if let Some(path) = std::env::var_os(CHILD_WRITES) {
        let asked = |name| std::env::var(name).expect("the parent says it");
        assert_eq!(mind::threads().to_string(), asked("MIND_NUM_THREADS"));
        assert!(format!("{:?}", mind::simd_level()).to_lowercase() <= asked("MIND_SIMD"));
        fs::write(path, computed()).expect("the folder of the target can be written");
    }
}

fn computed() -> String {
    let mut lines = Lines::default();
    let (x, y) = (uneven((70_001,)), uneven((70_001,)));
    lines.tensor("exp: chain", &chain(&x, &y));
    let (value, (dx, dy)) = total_grad(&x, &y);
    lines.number("exp: total", value);
    lines.tensor("exp: total by x", &dx);
    lines.tensor("exp: total by y", &dy);
    let x = Tensor::from_fn_with((9_001, Const), |[i, j]| ((i * 7 + j) % 1013) as f64 * 0.003 - 1.5);
    let (rows, columns, sum) = double(&x);
    lines.tensor("exp: double rows", &rows);
    lines.tensor("exp: double columns", &columns);
    lines.line("exp: double", sum.to_bits());
    let shapes = Tensor::from_fn_with((9_001,), |[i]| (i % 1013) as f64 * 0.03 + 0.2);
    let (sum, slopes) = gammas_grad(7, &shapes);
    lines.line("exp: gamma numbers", sum.to_bits());
    lines.tensor("exp: gamma numbers by their parameter", &slopes);
    lines.tensor("exp: poisson numbers", &counts(7, &shapes));
    for (name, n, c) in [("wide", 130, 1003), ("narrow", 5_003, 10)] {
        let (z, y) = (uneven((n, c)), uneven((n, c)));
        let (value, dz) = cross_entropy_grad(&z, &y);
        lines.number(&format!("exp: {name} cross entropy"), value);
        lines.tensor(&format!("exp: {name} cross entropy by z"), &dz);
    }
    lines.tensor("exp: normal", &normal(&uneven((501, Const)), &uneven((Const,))));
    let (first, second, third) = inner(&uneven((203, Const, Const)));
    lines.tensor("inner", &first);
    lines.tensor("inner over two axes", &second);
    lines.number("inner mean", third);
    let (wide, narrow) = down(&uneven((1009, Const)), &uneven((1009, Const)));
    lines.tensor("wide columns", &wide);
    lines.tensor("narrow columns", &narrow);
    let (x, w, b) = (uneven((301, Const)), uneven((Const, Const)), uneven((Const,)));
    lines.tensor("product layer", &layer(&x, &w, &b));
    let (value, (dw, db)) = loss_grad(&x, &w, &b);
    lines.number("product loss", value);
    lines.tensor("product loss by w", &dw);
    lines.tensor("product loss by b", &db);
    lines.tensor("small product", &small(&uneven((Const, Const)), &uneven((Const, Const))));
    let x = uneven((9, Const, Const, Const));
    let k = uneven((Const, Const, Const, Const));
    let (value, (dx, dk)) = convolution_grad(&x, &k);
    lines.number("product of a convolution", value);
    lines.tensor("product of a convolution by its image", &dx);
    lines.tensor("product of a convolution by its filter", &dk);
    let (mut w, mut b) = (uneven((Const, Const)), uneven((Const,)));
    for _ in 0..2 {
        lines.number("product step", step(&uneven((301, Const)), &mut w, &mut b, 0.01));
    }
    lines.tensor("product updated w", &w);
    lines.tensor("product updated b", &b);
    let whole =
        |shape| Tensor::from_fn_with(shape, |[i, j, k]| ((i * 31 + j * 7 + k) % 101) as f64 * 0.01 - 0.5);
    let (x, y) = (whole((40, Const::<60>, Const::<70>)), Tensor::full_with((40, Const, Const), 0.3));
    lines.tensor("product of a batch", &batched(&x, &y));
    let (y, total) = by_vector(&uneven((2003, Const)), &uneven((Const,)));
    lines.tensor("product by a vector", &y);
    lines.number("product by a vector: sum", total);
    let rows = Tensor::from_fn_with((5000,), |[i]| (i * 7919 % 1000) as i64);
    let (value, dtable) = picked_grad(&uneven((Const, Const)), &rows);
    lines.number("picked", value);
    lines.tensor("picked by the table", &dtable);
    let [r, p] = [3, 5].map(|step| {
        Tensor::from_fn_with((20_003, Const), |[i, j]| ((i * step + j * 7) % 1009) as f64 * 0.004 - 2.0)
    });
    let (points, by_rotation, center) = rotations(&r, &p);
    lines.tensor("exp: rotated points", &points);
    lines.tensor("exp: derivatives of rotations", &by_rotation);
    lines.tensor("exp: sum of rotated points", &center);
    lines.tensor("moved", &moved(&uneven((129, Const, Const))));
    let (whole, parts) = apart(&uneven((Const, 101, Const)));
    lines.tensor("rows apart", &whole);
    lines.tensor("rows of parts", &parts);
    for columns in [3, 10, 32, 33, 1000] {
        let (sums, means) = any(&uneven((61, columns)));
        lines.tensor(&format!("rows of {columns}"), &sums);
        lines.tensor(&format!("means of rows of {columns}"), &means);
    }
    narrow_sums(&mut lines);
    expressions(&mut lines);
    lines.0
}

/// Expressions over Rust variables that are large enough for several threads.
fn expressions(lines: &mut Lines) {
    let (x, y) = (uneven((301, 703)), uneven((703,)));
    let column = uneven((301, 1));
    lines.tensor("exp: expression", &mind!(exp(-(x * x)) * x + 0.5));
    lines.tensor("exp: expression that broadcasts", &mind!(exp(x * y) - column));
    lines.tensor("exp: expression of rows", &mind!(nn::log_softmax(x)));
    let (normal, largest) = mind!((nn::layer_norm(x, y, y), max(x * column, axis = 1)));
    lines.tensor("expression of normal rows", &normal);
    lines.tensor("expression of the largest of rows", &largest);
    let (all, rows, columns, most) = mind!((sum(x * 0.7), sum(x, axis = 1), mean(x, axis = 0), max(x)));
    lines.number("expression of a total", all);
    lines.tensor("expression of sums of rows", &rows);
    lines.tensor("expression of means of columns", &columns);
    lines.number("expression of the largest", most);
    let short = uneven((70_003, 3));
    lines.tensor("exp: expression of short rows", &mind!(nn::softmax(short)));
    let long = uneven((1, 270_001));
    lines.tensor("exp: expression of one long row", &mind!(nn::softmax(long)));
    lines.number("expression of its mean square", mind!(mean(long * long)));
}

/// Numbers between -1 and 1.
fn uneven<S: Shape>(shape: S) -> Tensor<f32, S> {
    let mut tensor = Tensor::zeros_with(shape);
    for (i, element) in tensor.as_mut_slice().iter_mut().enumerate() {
        *element = (i.wrapping_mul(2_654_435_761) >> 7 & 0xffff) as f32 / 32768.0 - 1.0;
    }
    tensor
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, name: &str, bits: u64) {
        let _ = writeln!(self.0, "{name}: {bits:016x}");
    }

    fn number(&mut self, name: &str, value: f32) {
        assert!(value.is_finite(), "{name}");
        self.line(name, value.to_bits().into());
    }

    /// Writes a hash of all bits.
    fn tensor<T: Element + Into<f64>, S: Shape>(&mut self, name: &str, tensor: &TensorRef<T, S>) {
        let bits = tensor.iter().map(|element| Into::<f64>::into(*element).to_bits());
        let hash = |hash: u64, bits: u64| (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        self.line(name, bits.fold(0xcbf2_9ce4_8422_2325, hash));
    }
}
