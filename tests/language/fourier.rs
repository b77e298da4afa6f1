//! Fourier transforms: results of compiled functions, and their derivatives.

use mind::{Const, Tensor, Workspace, mind};

use crate::support::assert_close;

mind! {
    fn both<B, N>(x: f64[B, N, 2]) -> (f64[B, N, 2], f64[B, N, 2]) { (fft::fft(x), fft::ifft(x)) }
    fn of_known(x: f32[2, 6, 2]) -> f32[2, 6, 2] { fft::fft(x, axis = 1) }
    fn along_first<N>(x: f64[N, 3, 2]) -> f64[N, 3, 2] { fft::fft(x, axis = 0) }
    fn half<N>(x: f64[N]) -> f64[N / 2 + 1, 2] { fft::rfft(x) }
    fn there_and_back<B, N>(x: f64[B, N]) -> f64[B, N] { fft::irfft(fft::rfft(x), N) }
    fn narrow<B, N>(x: f32[B, N]) -> f32[B, N] { fft::irfft(fft::rfft(x), N) }
    fn down<N>(x: f64[N, 2]) -> f64[N, 2] { fft::irfft(fft::rfft(x, axis = 0), N, axis = 0) }
    fn plane<N, M>(x: f64[N, M, 2]) -> f64[N, M, 2] { fft::ifft2(fft::fft2(x)) }
    fn real_plane<N, M>(x: f64[N, M]) -> f64[N, M] { fft::irfft2(fft::rfft2(x), M) }
    fn convolved<N, M>(a: f64[N], b: f64[M]) -> f64[N + M - 1] { fft::convolve(a, b) }
    fn added<N, M>(a: f64[N], b: f64[M]) -> f64[N + M - 1] { num::convolve(a, b) }

    fn energy<N>(x: f64[N], w: f64[N / 2 + 1, 2]) -> f64 {
        let y = fft::multiply(fft::rfft(sin(x)), w);
        sum(y * y * y) + sum(exp(0.1 * fft::irfft(y, N))) + sum(cos(fft::fft(fft::ifft(y))))
    }
    fn slope<N>(x: f64[N], w: f64[N / 2 + 1, 2]) -> (f64[N], f64[N / 2 + 1, 2]) { grad(energy, wrt = (x, w))(x, w) }
    fn pushed<N>(x: f64[N], w: f64[N / 2 + 1, 2], dx: f64[N]) -> f64 {
        let (_, tangent) = jvp(energy, wrt = x)(x, w, dx);
        tangent
    }
    fn along<N>(x: f64[N], w: f64[N / 2 + 1, 2], dx: f64[N]) -> f64 {
        let slope = grad(energy, wrt = x)(x, w);
        sum(dx * slope)
    }
    fn curvature<N>(x: f64[N], w: f64[N / 2 + 1, 2], dx: f64[N]) -> f64[N] { grad(along, wrt = x)(x, w, dx) }
    fn each(x: f64[3, 5], w: f64[3, 2]) -> f64[3] { vmap(energy, over = x)(x, w) }
    fn one(x: f64[5], w: f64[3, 2]) -> f64 { energy(x, w) }
    fn in_loop<B, N>(x: f64[B, N]) -> f64 { fold total = 0.0 for row in x { total + sum(fft::rfft(row)) } }
    fn updated<N>(x: &mut f64[N, 2]) { x = fft::fft(x); }
}

fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * 37 + 11) % 64) as f64 / 32.0 - 1.0).collect()
}

/// The transform of a row of pairs by its definition.
fn transform(x: &[f64], sign: f64) -> Vec<f64> {
    let n = x.len() / 2;
    let sum = |k: usize| {
        x.as_chunks::<2>().0.iter().enumerate().fold([0.0; 2], |[re, im], (j, [a, b])| {
            let (sin, cos) = (sign * std::f64::consts::TAU * (j * k % n) as f64 / n as f64).sin_cos();
            [re + a * cos - b * sin, im + a * sin + b * cos]
        })
    };
    (0..n).flat_map(sum).collect()
}

#[test]
fn transforms_are_those_of_the_definition() {
    for n in [1, 2, 3, 4, 7, 16, 30, 64, 97] {
        let x = Tensor::from_vec((3, n, Const::<2>), numbers(6 * n)).expect("the shape fits");
        let (forward, inverse) = both(&x);
        for row in 0..3 {
            let at = row * 2 * n..(row + 1) * 2 * n;
            assert_close(&forward.as_slice()[at.clone()], &transform(&x.as_slice()[at.clone()], -1.0), 1e-12);
            let scaled: Vec<f64> =
                transform(&x.as_slice()[at.clone()], 1.0).iter().map(|y| y / n as f64).collect();
            assert_close(&inverse.as_slice()[at], &scaled, 1e-12);
        }
        let real = Tensor::from(numbers(n));
        let pairs: Vec<f64> = real.as_slice().iter().flat_map(|x| [*x, 0.0]).collect();
        assert_close(half(&real).as_slice(), &transform(&pairs, -1.0)[..2 * (n / 2 + 1)], 1e-12);
    }
}

#[test]
fn every_axis_has_its_transform() {
    let x = Tensor::from_vec((4, Const::<3>, Const::<2>), numbers(24)).expect("the shape fits");
    let found = along_first(&x);
    for column in 0..3 {
        let of = |x: &[f64]| -> Vec<f64> {
            (0..4).flat_map(|row| [0, 1].map(|part| x[(row * 3 + column) * 2 + part])).collect()
        };
        assert_close(&of(found.as_slice()), &transform(&of(x.as_slice()), -1.0), 1e-13);
    }
    let x: Vec<f32> = numbers(24).into_iter().map(|x| x as f32).collect();
    let found = of_known(&Tensor::from_vec((Const::<2>, Const::<6>, Const::<2>), x).expect("the shape fits"));
    let needed = [transform(&numbers(24)[..12], -1.0), transform(&numbers(24)[12..], -1.0)].concat();
    let found: Vec<f64> = found.as_slice().iter().map(|x| f64::from(*x)).collect();
    assert_close(&found, &needed, 1e-5);
}

#[test]
fn inverses_give_the_operand() {
    for n in [1, 2, 5, 8, 11, 12] {
        let x = Tensor::from_vec((2, n), numbers(2 * n)).expect("the shape fits");
        assert_close(there_and_back(&x).as_slice(), x.as_slice(), 1e-14);
        let thin = Tensor::from_vec((2, n), x.as_slice().iter().map(|x| *x as f32).collect::<Vec<f32>>());
        let back = narrow(&thin.expect("the shape fits"));
        let back: Vec<f64> = back.as_slice().iter().map(|x| f64::from(*x)).collect();
        assert_close(&back, x.as_slice(), 1e-6);
        let columns = Tensor::from_vec((n, Const::<2>), numbers(2 * n)).expect("the shape fits");
        assert_close(down(&columns).as_slice(), columns.as_slice(), 1e-14);
        let image = Tensor::from_vec((n, 3, Const::<2>), numbers(6 * n)).expect("the shape fits");
        assert_close(plane(&image).as_slice(), image.as_slice(), 1e-14);
        let image = Tensor::from_vec((3, n), numbers(3 * n)).expect("the shape fits");
        assert_close(real_plane(&image).as_slice(), image.as_slice(), 1e-14);
    }
}

#[test]
fn convolutions_are_sums_of_products() {
    for [n, m] in [[1, 1], [1, 6], [5, 3], [40, 40], [300, 17]] {
        let (a, b) = (Tensor::from(numbers(n)), Tensor::from(numbers(m)));
        assert_close(convolved(&a, &b).as_slice(), added(&a, &b).as_slice(), 1e-12);
    }
}

#[test]
fn derivatives_are_those_of_difference_quotients() {
    for n in [1, 2, 4, 5, 6, 9] {
        let m = n / 2 + 1;
        let (x, w) = (numbers(n), Tensor::from_vec((m, Const::<2>), numbers(2 * m)).expect("the shape fits"));
        let (by_x, by_w) = slope(&Tensor::from(x.clone()), &w);
        let step = 1e-6;
        for at in 0..n {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[at] += by;
                Tensor::from(x)
            };
            let quotient = (energy(&moved(step), &w) - energy(&moved(-step), &w)) / (2.0 * step);
            assert_close(&[by_x.as_slice()[at]], &[quotient], 1e-6);
            let mut direction = vec![0.0; n];
            direction[at] = 1.0;
            let direction = Tensor::from(direction);
            let x = Tensor::from(x.clone());
            assert_close(&[pushed(&x, &w, &direction)], &[quotient], 1e-6);
            let (ahead, behind) = (slope(&moved(step), &w).0, slope(&moved(-step), &w).0);
            let quotients: Vec<f64> =
                ahead.as_slice().iter().zip(behind.as_slice()).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            assert_close(curvature(&x, &w, &direction).as_slice(), &quotients, 1e-5);
        }
        for at in 0..2 * m {
            let moved = |by: f64| {
                let mut w = w.as_slice().to_vec();
                w[at] += by;
                energy(
                    &Tensor::from(x.clone()),
                    &Tensor::from_vec((m, Const::<2>), w).expect("the shape fits"),
                )
            };
            assert_close(&[by_w.as_slice()[at]], &[(moved(step) - moved(-step)) / (2.0 * step)], 1e-6);
        }
    }
}

#[test]
fn batches_loops_and_updates_have_transforms() {
    let x = Tensor::from_vec((Const::<3>, Const::<5>), numbers(15)).expect("the shape fits");
    let w = Tensor::from_vec((Const::<3>, Const::<2>), numbers(6)).expect("the shape fits");
    let rows: Vec<f64> =
        x.as_slice().as_chunks::<5>().0.iter().map(|row| one(&Tensor::from(*row), &w)).collect();
    assert_close(each(&x, &w).as_slice(), &rows, 1e-12);
    let total: f64 = x
        .as_slice()
        .chunks_exact(5)
        .map(|row| half(&Tensor::from(row.to_vec())).as_slice().iter().sum::<f64>())
        .sum();
    assert_close(&[in_loop(&x)], &[total], 1e-12);
    let mut z = Tensor::from_vec((4, Const::<2>), numbers(8)).expect("the shape fits");
    let needed = transform(z.as_slice(), -1.0);
    updated(&mut z);
    assert_close(z.as_slice(), &needed, 1e-13);
    let (mut out, mut workspace) = (Tensor::zeros_with((4, Const::<2>)), Workspace::new());
    let real = Tensor::from(numbers(6));
    half_into(&real, &mut out, &mut workspace).expect("the shape fits");
    assert_eq!(out.as_slice(), half(&real).as_slice());
}

#[test]
fn expressions_over_rust_variables_have_them_too() {
    let x = Tensor::from([1.0, 2.0, 4.0, -1.0, 0.5]);
    let y = mind!(fft::rfft(x));
    assert_close(mind!(fft::irfft(y, 5)).as_slice(), x.as_slice(), 1e-14);
    assert_close(mind!(fft::ifft(fft::fft(y, axis = 0), axis = -1)).as_slice(), y.as_slice(), 1e-14);
    let gradient = mind!(grad(sum(fft::rfft(x) * fft::rfft(x)), wrt = x));
    let pairs: Vec<f64> = x.as_slice().iter().flat_map(|x| [*x, 0.0]).collect();
    let mut twice: Vec<f64> = transform(&pairs, -1.0).iter().map(|y| 2.0 * y).collect();
    twice[6..].fill(0.0);
    let needed: Vec<f64> = transform(&twice, 1.0).as_chunks::<2>().0.iter().map(|[re, _]| *re).collect();
    assert_close(gradient.as_slice(), &needed, 1e-13);
}
