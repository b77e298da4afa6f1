//! `+ - * /`, unary `-`, `relu exp log neg`, broadcasting, the four dtypes.

use mind::{Tensor, mind};

use crate::support::{assert_close, small_integers};

#[test]
fn operators_work_element_by_element() {
    mind! {
        fn f(x: f32[4], y: f32[4]) -> (f32[4], f32[4], f32[4], f32[4], f32[4]) {
            (x + y, x - y, x * y, x / y, -x)
        }
    }
    let x = Tensor::from([1.0, -2.0, 3.0, 0.5]);
    let y = Tensor::from([2.0, 4.0, -8.0, 0.25]);
    let (sum, difference, product, quotient, negative) = f(&x, &y);
    assert_eq!(sum, Tensor::from([3.0, 2.0, -5.0, 0.75]));
    assert_eq!(difference, Tensor::from([-1.0, -6.0, 11.0, 0.25]));
    assert_eq!(product, Tensor::from([2.0, -8.0, -24.0, 0.125]));
    assert_eq!(quotient, Tensor::from([0.5, -0.5, -0.375, 2.0]));
    assert_eq!(negative, Tensor::from([-1.0, 2.0, -3.0, -0.5]));
}

#[test]
fn operators_bind_as_in_rust() {
    mind! {
        fn f(a: f32, b: f32, c: f32) -> (f32, f32, f32, f32, f32) {
            (a + b * c, a - b - c, -a * b, a / b / c, (a + b) * c)
        }
    }
    assert_eq!(f(8.0, 2.0, 4.0), (16.0, 2.0, -16.0, 1.0, 40.0));
}

#[test]
fn shapes_broadcast_as_in_numpy() {
    mind! {
        fn row(x: f32[2, 3], b: f32[3]) -> f32[2, 3] {
            x + b
        }

        fn column(x: f32[2, 3], b: f32[2, 1]) -> f32[2, 3] {
            b * x
        }

        fn outer(a: f32[2, 1], b: f32[1, 3]) -> f32[2, 3] {
            a - b
        }

        fn scalar(x: f32[2, 3], s: f32) -> f32[2, 3] {
            s - x
        }

        fn ranks(x: f32[3, 1, 2], y: f32[4, 1]) -> f32[3, 4, 2] {
            x * 10.0 + y
        }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(
        row(&x, &Tensor::from([10.0, 20.0, 30.0])),
        Tensor::from([[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]])
    );
    assert_eq!(
        column(&x, &Tensor::from([[10.0], [1.0]])),
        Tensor::from([[10.0, 20.0, 30.0], [4.0, 5.0, 6.0]])
    );
    let (a, b) = (Tensor::from([[1.0], [2.0]]), Tensor::from([[1.0, 2.0, 3.0]]));
    assert_eq!(outer(&a, &b), Tensor::from([[0.0, -1.0, -2.0], [1.0, 0.0, -1.0]]));
    assert_eq!(scalar(&x, 1.0), Tensor::from([[0.0, -1.0, -2.0], [-3.0, -4.0, -5.0]]));
    let (x, y) = (
        small_integers((mind::Const, mind::Const, mind::Const), 1),
        Tensor::from([[0.0], [1.0], [2.0], [3.0]]),
    );
    let z = ranks(&x, &y);
    for (i, j, k) in [(0, 0, 0), (1, 2, 1), (2, 3, 0)] {
        assert_eq!(z[[i, j, k]], x[[i, 0, k]] * 10.0 + j as f32);
    }
}

#[test]
fn integers_wrap() {
    mind! {
        fn i32s(x: i32[3], y: i32[3]) -> (i32[3], i32[3], i32[3], i32[3], i32) {
            (x + y, x - y, x * y, -x, sum(x * y))
        }

        fn i64s(x: i64[2], y: i64[2]) -> (i64[2], i64[2], i64[2], i64[2], i64) {
            (x + y, x - y, x * y, -x, sum(x))
        }
    }
    let (x, y) = ([i32::MAX, i32::MIN, 65_536], [1, -1, 65_537]);
    let (sum, difference, product, negative, total) = i32s(&Tensor::from(x), &Tensor::from(y));
    let all = |f: fn(i32, i32) -> i32| Tensor::from([0, 1, 2].map(|i: usize| f(x[i], y[i])));
    assert_eq!(sum, all(i32::wrapping_add));
    assert_eq!(difference, all(i32::wrapping_sub));
    assert_eq!(product, all(i32::wrapping_mul));
    assert_eq!(negative, Tensor::from(x.map(i32::wrapping_neg)));
    assert_eq!(total, product.iter().fold(0, |sum, x| i32::wrapping_add(sum, *x)));
    let (x, y) = ([i64::MAX, i64::MIN], [2, i64::MIN]);
    let (sum, difference, product, negative, total) = i64s(&Tensor::from(x), &Tensor::from(y));
    assert_eq!(sum, Tensor::from([i64::MIN + 1, 0]));
    assert_eq!(difference, Tensor::from([i64::MAX - 2, 0]));
    assert_eq!(product, Tensor::from([-2, 0]));
    assert_eq!(negative, Tensor::from([i64::MIN + 1, i64::MIN]));
    assert_eq!(total, -1);
}

#[test]
fn numbers_are_plain_in_every_dtype() {
    mind! {
        fn single(x: f32, y: f32[]) -> f32 {
            x / y
        }

        fn double(x: f64) -> f64 {
            x * x
        }

        fn int(x: i32) -> i32 {
            x * x
        }

        fn long(x: i64) -> i64[] {
            x * x
        }
    }
    assert_eq!(single(1.0, 4.0), 0.25_f32);
    assert_eq!(double(1.5), 2.25_f64);
    assert_eq!(int(-7), 49_i32);
    assert_eq!(long(3_000_000_000), 9_000_000_000_000_000_000_i64);
}

#[test]
fn relu_is_zero_at_nan_and_keeps_infinity() {
    mind! {
        fn f(x: f32[5]) -> f32[5] {
            relu(x)
        }
    }
    let y = f(&Tensor::from([f32::NAN, f32::INFINITY, -0.0, -1.0, 2.0]));
    assert_eq!(y, Tensor::from([0.0, f32::INFINITY, 0.0, 0.0, 2.0]));
}

#[test]
fn log_follows_ieee_at_and_below_zero() {
    mind! {
        fn f(x: f64[4]) -> f64[4] {
            log(x)
        }
    }
    let y = f(&Tensor::from([0.0, -1.0, 1.0, f64::INFINITY]));
    assert_eq!((y[[0]], y[[2]], y[[3]]), (f64::NEG_INFINITY, 0.0, f64::INFINITY));
    assert!(y[[1]].is_nan());
}

#[test]
fn exp_and_log_agree_with_the_standard_library() {
    mind! {
        fn f<N>(x: f64[N]) -> (f64[N], f64[N]) {
            (exp(x), log(exp(x) + 1.0))
        }

        fn g<N>(x: f32[N]) -> (f32[N], f32[N]) {
            (exp(x), log(x * x + 0.5))
        }
    }
    let x: Vec<f64> = (-200..200).map(|i| f64::from(i) * 0.37).collect();
    let (a, b) = f(&Tensor::from_vec((400,), x.clone()).expect("400 of them"));
    let exact: Vec<f64> = x.iter().map(|x| x.exp()).collect();
    for (found, exact) in a.iter().zip(&exact) {
        assert!((found / exact - 1.0).abs() < 1e-14, "{found} {exact}");
    }
    assert_close(b.as_slice(), &x.iter().map(|x| (x.exp() + 1.0).ln()).collect::<Vec<_>>(), 1e-14);
    let x: Vec<f32> = (-100..100).map(|i| i as f32 * 0.37).collect();
    let (a, b) = g(&Tensor::from_vec((200,), x.clone()).expect("200 of them"));
    for ((found, log), x) in a.iter().zip(b.iter()).zip(&x) {
        assert!((f64::from(*found) / f64::from(*x).exp() - 1.0).abs() < 1e-6, "exp({x}) is {found}");
        let exact = f64::from(x * x + 0.5).ln();
        assert!((f64::from(*log) - exact).abs() < 1e-6 * exact.abs().max(1.0), "log is {log}, not {exact}");
    }
}

#[test]
fn division_by_zero_follows_ieee() {
    mind! {
        fn f(x: f32[3]) -> f32[3] {
            x / 0.0
        }
    }
    let y = f(&Tensor::from([1.0, -1.0, 0.0]));
    assert_eq!((y[[0]], y[[1]]), (f32::INFINITY, f32::NEG_INFINITY));
    assert!(y[[2]].is_nan());
}

#[test]
fn algebra_never_changes_a_bit() {
    mind! {
        fn f(x: f32[4]) -> (f32[4], f32[4], f32[4], f32[4], f32[4]) {
            (x * 0.0, x + 0.0, x - x, x * 1.0, 0.0 - x)
        }
    }
    let x = [f32::NAN, f32::INFINITY, -0.0, -3.0];
    let (times_zero, plus_zero, minus_self, times_one, from_zero) = f(&Tensor::from(x));
    let bits =
        |x: &Tensor![f32; 4]| [0, 1, 2, 3].map(|i: usize| if x[[i]].is_nan() { 1 } else { x[[i]].to_bits() });
    let of = |f: fn(f32) -> f32| bits(&Tensor::from(x.map(f)));
    assert_eq!(bits(&times_zero), of(|x| x * 0.0));
    assert_eq!(bits(&plus_zero), of(|x| x + 0.0));
    assert_eq!(bits(&minus_self), of(|x| x - x));
    assert_eq!(bits(&times_one), of(|x| x));
    assert_eq!(bits(&from_zero), of(|x| 0.0 - x));
}

#[test]
fn long_loops_and_their_ends_agree_with_naive_ones() {
    mind! {
        fn f<N>(x: f32[N], y: f32[N]) -> f32[N] {
            relu(x * y - 2.0) / 4.0 + x
        }
    }
    for n in (1..70).chain([1000, 4099]) {
        let (x, y) = (small_integers((n,), 1), small_integers((n,), 2));
        let expected = Tensor::from_fn_with((n,), |[i]| (x[[i]] * y[[i]] - 2.0).max(0.0) / 4.0 + x[[i]]);
        assert_eq!(f(&x, &y), expected);
    }
}

#[test]
fn the_two_zeros_are_two_constants() {
    mind! {
        fn f(x: f32[2], y: f64) -> (f32[2], f32[2], f64, f64, f32[2], f32[2], f32[2]) {
            let (up, down) = ([0.0, 1.0], [-0.0, 1.0]);
            (x * 0.0, x * -0.0, y * -0.0, y * 0.0, x * up, x * down, x - (0.0 - full([2], 0.0)))
        }
    }
    let (a, b, c, d, e, g, h) = f(&Tensor::from([1.0, 2.0]), 1.0);
    let signs = [a[[0]], b[[0]], c as f32, d as f32, e[[0]], g[[0]]].map(f32::is_sign_negative);
    assert_eq!(signs, [false, true, true, false, false, true]);
    assert_eq!(h, Tensor::from([1.0, 2.0]));
}

#[test]
fn operands_that_are_not_numbers_keep_their_order_and_place() {
    mind! {
        fn f(x: f32[3], y: f32[3]) -> (f32[3], f32[3], f32[3], f32[3]) {
            (x - y, y - x, x / y, y / x)
        }
    }
    let (x, y) = ([f32::INFINITY, 1.0, 0.0], [1.0, f32::INFINITY, -2.0]);
    let (a, b, c, d) = f(&Tensor::from(x), &Tensor::from(y));
    let inf = f32::INFINITY;
    assert_eq!((a, b), (Tensor::from([inf, -inf, 2.0]), Tensor::from([-inf, inf, -2.0])));
    assert_eq!(c, Tensor::from([inf, 0.0, -0.0]));
    assert_eq!(d, Tensor::from([0.0, inf, -inf]));
}

/// As docs/ops.md states, `relu` returns 0 for NaN, and `x + relu(-x)` keeps NaN.
#[test]
fn relu_of_nan_is_zero_and_a_sum_keeps_it() {
    mind! {
        fn rectified(x: f32[4]) -> f32[4] { relu(x) }
        fn keeping(x: f32[4]) -> f32[4] { x + relu(-x) }
    }
    let x = Tensor::from([f32::NAN, f32::INFINITY, 2.5, -1.5]);
    assert_eq!(rectified(&x), Tensor::from([0.0, f32::INFINITY, 2.5, 0.0]));
    let kept = keeping(&x);
    assert!(kept[[0]].is_nan());
    assert_eq!(kept.as_slice()[1..], [f32::INFINITY, 2.5, 0.0]);
}
