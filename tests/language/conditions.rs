//! `while` and `if`.

use mind::{Const, Tensor, mind};

mind! {
    /// The square root by Newton's method.
    fn root(a: f64) -> f64 {
        let (x, _) = while (x, step) = (a, a) if abs(step) > 1e-12, at most = 60 {
            let next = 0.5 * (x + a / x);
            (next, next - x)
        };
        x
    }

    fn slope(a: f64) -> f64 { grad(root, wrt = a)(a) }

    fn curvature(a: f64) -> f64 { grad(slope, wrt = a)(a) }
}

#[test]
fn newtons_method_ends_when_its_steps_are_small_and_has_derivatives() {
    for a in [0.25, 2.0, 9.0, 1e4] {
        assert!((root(a) - a.sqrt()).abs() < 1e-12 * a.sqrt(), "{a}");
        assert!((slope(a) * 2.0 * a.sqrt() - 1.0).abs() < 1e-9, "{a}");
        assert!((curvature(a) * -4.0 * a.powf(1.5) - 1.0).abs() < 1e-6, "{a}");
    }
}

#[test]
fn a_loop_that_needs_more_steps_than_its_limit_is_an_error() {
    mind! {
        fn searched(x: f32) -> f32 { while y = 1.0 if y < x, at most = 1000000 { y * 2.0 } }

        fn doublings(x: f32) -> (f32, i64) {
            while (x, n) = (x, 0) if x < 100.0, at most = 3 { (x * 2.0, n + 1) }
        }

        fn doubled(x: &mut f32[2]) -> f32 {
            let (next, _) = while (x, n) = (x, 0) if n < 5, at most = 4 { (x * 2.0, n + 1) };
            x = next;
            sum(x)
        }
    }
    // Nothing is stored for each of the steps that are allowed.
    const { assert!(searched::PEAK_BYTES < 1024) };
    assert_eq!(searched(5.0), 8.0);
    assert_eq!(doublings(100.0), (100.0, 0));
    assert_eq!(doublings(30.0), (120.0, 2));
    // The last step that is allowed.
    assert_eq!(doublings(13.0), (104.0, 3));
    let error = try_doublings(12.0).unwrap_err();
    assert_eq!(error.to_string(), "E6010: `doublings`: `while` did not end within its limit of 3 steps");
    let mut x = Tensor::from([1.0, 2.0]);
    assert_eq!(try_doubled(&mut x).unwrap_err().code(), "E6010");
    assert_eq!(x.as_slice(), [1.0, 2.0]);
}

#[test]
fn a_loop_without_a_limit_has_structs_and_tensors_as_carries() {
    mind! {
        struct State<N> { x: f64[N], n: i64 }

        /// The vector of the largest eigenvalue, by powers of the matrix.
        fn power<N>(m: f64[N, N], x: f64[N], tolerance: f64) -> (f64[N], i64) {
            let first = State { x: x, n: 0 };
            let s = while s = first if max(abs(m @ s.x - sqrt(sum((m @ s.x) * (m @ s.x))) * s.x)) > tolerance {
                let y = m @ s.x;
                State { x: y / sqrt(sum(y * y)), n: s.n + 1 }
            };
            (s.x, s.n)
        }
    }
    let m = Tensor::from_vec((3, 3), vec![2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0]).unwrap();
    let (x, steps) = power(&m, &Tensor::from_vec((3,), vec![1.0, 0.0, 0.0]).unwrap(), 1e-9);
    let half = 0.5_f64.sqrt();
    for (found, expected) in x.as_slice().iter().zip([0.5, half, 0.5]) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    assert!((10..60).contains(&steps), "{steps}");
    let (same, none) = power(&m, &x, 1e-6);
    assert_eq!((same.as_slice(), none), (x.as_slice(), 0));
}

#[test]
fn one_branch_runs() {
    mind! {
        fn picked<N>(c: bool, table: f32[N], at: i64[2]) -> f32[2] {
            if c { gather(table, at) } else { [2.0, -1.0] }
        }

        fn sign(x: f64) -> f64 { if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x } }

        fn both(c: bool, x: f32[3], y: f32[2, 2]) -> (f32[3], f32[2, 2], bool) {
            if c { (x * 2.0, y.T, sum(x) > 0.0) } else { (x, y, c) }
        }

        fn kept(c: bool, x: &mut f32[2]) { x = if c { x + 1.0 } else { x }; }
    }
    let table = Tensor::from_vec((2,), vec![3.0, 4.0]).unwrap();
    assert_eq!(picked(true, &table, &Tensor::from([1, 0])).as_slice(), [4.0, 3.0]);
    // An index out of range is an error only where it is used.
    assert_eq!(picked(false, &table, &Tensor::from([1, 2])).as_slice(), [2.0, -1.0]);
    assert_eq!(try_picked(true, &table, &Tensor::from([1, 2])).unwrap_err().code(), "E6001");
    assert_eq!([sign(2.5), sign(-0.5), sign(0.0)], [1.0, -1.0, 0.0]);
    assert!(sign(f64::NAN).is_nan());
    let (x, y) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    let (doubled, transposed, positive) = both(true, &x, &y);
    assert_eq!(
        (doubled.as_slice(), transposed.as_slice(), positive),
        (&[2.0, 4.0, 6.0][..], &[1.0, 3.0, 2.0, 4.0][..], true)
    );
    let (same, unchanged, c) = both(false, &x, &y);
    assert_eq!((same.as_slice(), unchanged.as_slice(), c), (x.as_slice(), y.as_slice(), false));
    let mut x = Tensor::from([1.0, 2.0]);
    kept(false, &mut x);
    assert_eq!(x.as_slice(), [1.0, 2.0]);
    kept(true, &mut x);
    assert_eq!(x.as_slice(), [2.0, 3.0]);
}

#[test]
fn branches_stand_in_loops_and_loops_in_branches() {
    mind! {
        /// The steps of the Collatz sequence of each number.
        fn collatz<N>(numbers: i64[N]) -> i64[N] {
            for n in numbers {
                let (_, steps) = while (n, steps) = (n, 0) if n > 1 {
                    (if n % 2 == 0 { n / 2 } else { 3 * n + 1 }, steps + 1)
                };
                steps
            }
        }

        /// A sum of powers, of which some elements are left out.
        fn powers<N>(x: f64[N], w: f64) -> f64 {
            fold s = 0.0 for e in x {
                s + if e > 0.0 { fold p = w for _i in 0..3 { p * e } } else { e * w }
            }
        }

        fn gradients<N>(x: f64[N], w: f64) -> (f64[N], f64) { grad(powers, wrt = (x, w))(x, w) }
    }
    let numbers = Tensor::from_vec((5,), vec![1, 2, 3, 7, 27]).unwrap();
    assert_eq!(collatz(&numbers).as_slice(), [0, 1, 7, 16, 111]);
    let x = Tensor::from_vec((3,), vec![2.0, -3.0, 0.5]).unwrap();
    assert_eq!(powers(&x, 4.0), 4.0 * 8.0 - 12.0 + 0.5);
    let (by_x, by_w) = gradients(&x, 4.0);
    assert_eq!((by_x.as_slice(), by_w), (&[48.0, 4.0, 3.0][..], 8.0 - 3.0 + 0.125));
}

#[test]
fn large_branches_and_carries_have_gradients() {
    mind! {
        fn settled<N>(c: bool, x: f64[N, 8], w: f64[8, 8]) -> f64[N, 8] {
            let y = if c { tanh(x @ w) } else { x * 0.5 };
            let (y, _) = while (y, n) = (y, 0) if sum(y * y) > 1.0 && n < 9, at most = 9 { (y @ w * 0.5, n + 1) };
            y
        }

        fn loss<N>(c: bool, x: f64[N, 8], w: f64[8, 8]) -> f64 { sum(sin(settled(c, x, w))) }

        fn slopes<N>(c: bool, x: f64[N, 8], w: f64[8, 8]) -> (f64[N, 8], f64[8, 8]) {
            grad(loss, wrt = (x, w))(c, x, w)
        }
    }
    let sample = |count: usize, scale: f64| {
        (0..count).map(|i| ((i * 7919 % 1009) as f64 / 1009.0 - 0.5) * scale).collect::<Vec<_>>()
    };
    for c in [false, true] {
        let x = Tensor::from_vec((5, Const::<8>), sample(40, 3.0)).unwrap();
        let w = Tensor::from_vec((Const::<8>, Const::<8>), sample(64, 1.5)).unwrap();
        let (by_x, by_w) = slopes(c, &x, &w);
        for i in 0..64 {
            let at = |by: f64| {
                let mut w = w.clone();
                w.as_mut_slice()[i] += by;
                loss(c, &x, &w)
            };
            let quotient = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((quotient - by_w.as_slice()[i]).abs() < 1e-7, "{c} w {i}: {quotient}");
        }
        for i in 0..40 {
            let at = |by: f64| {
                let mut x = x.clone();
                x.as_mut_slice()[i] += by;
                loss(c, &x, &w)
            };
            let quotient = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((quotient - by_x.as_slice()[i]).abs() < 1e-7, "{c} x {i}: {quotient}");
        }
    }
}
