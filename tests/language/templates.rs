//! Templates: functions that leave shapes, element types and attributes open, checked and inlined where they are called.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn a_template_takes_any_rank_and_float() {
    mind! {
        fn softmax(x: float[..], const axis: axis = -1) {
            let e = exp(x - max(x, axes = axis, keepdims = true));
            e / sum(e, axes = axis, keepdims = true)
        }
        fn all<N>(x: f32[N, 3], m: f64[4]) -> (f32[N, 3], f32[N, 3], f64[4]) {
            (softmax(x), softmax(x, axis = 0), m.softmax())
        }
    }
    let x = small_integers((2, Const::<3>), 1);
    let m = Tensor::from([-100.0, 700.0, 710.0, -1000.0]);
    let (rows, columns, vector) = all(&x, &m);
    let naive = |place: &dyn Fn(usize) -> f32, count: usize| -> f32 { (0..count).map(place).sum() };
    for [i, j] in [[0, 0], [0, 2], [1, 1], [1, 2]] {
        let row = x[[i, j]].exp() / naive(&|k| x[[i, k]].exp(), 3);
        let column = x[[i, j]].exp() / naive(&|k| x[[k, j]].exp(), 2);
        assert!((rows[[i, j]] - row).abs() < 1e-6, "{i} {j}: {} {row}", rows[[i, j]]);
        assert!((columns[[i, j]] - column).abs() < 1e-6, "{i} {j}: {} {column}", columns[[i, j]]);
    }
    let least = (-10.0f64).exp() / (1.0 + (-10.0f64).exp());
    assert!((vector[[1]] - least).abs() < 1e-15 && (vector[[2]] - (1.0 - least)).abs() < 1e-15);
    assert_eq!((vector[[0]], vector[[3]]), (0.0, 0.0));
}

#[test]
fn the_names_of_the_caller_mean_nothing_inside() {
    mind! {
        const K: dim = 2;
        fn scaled<N>(x: num[.., N], by) { let y = by * x; y / N + K }
        fn f<N>(y: i64[N, 4], x: i64, by: i64) -> (i64[N, 4], i64[N, 4], i64) {
            let n = 7;
            (scaled(y, x), scaled(by = y, x = y), n + by)
        }
    }
    let y = Tensor::from([[4, 8, 12, 16]]);
    let (first, second, n) = f(&y, 10, 0);
    assert_eq!(first, Tensor::from([[12, 22, 32, 42]]));
    assert_eq!((second, n), (Tensor::from([[6, 18, 38, 66]]), 7));
}

#[test]
fn a_gradient_goes_through_templates_that_call_each_other() {
    mind! {
        fn half(x: float[..]) { square(x) / 2.0 }
        fn square(x: float[..]) { x * x }
        #[grad(w)]
        fn loss<N>(x: f64[N, 3], w: f64[3]) -> f64 { sum(half(x @ w)) }
        fn written<N>(x: f64[N, 3], w: f64[3]) -> f64[3] { x.T @ (x @ w) }
    }
    let x = Tensor::from([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]);
    let w = Tensor::from([2.0, 1.0, -1.0]);
    assert_eq!(loss_grad(&x, &w).1, written(&x, &w));
}

#[test]
fn what_has_no_type_is_anything() {
    mind! {
        struct Line { a: f32, b: f32 }
        fn at(line, x: float[..]) { line.a * x + line.b }
        fn both(pair) { (pair.1, pair.0) }
        fn f(line: Line, x: f32[2]) -> (f32[2], f32[2]) { both((x, at(line, x))) }
    }
    let (y, x) = f(&Line { a: 2.0, b: 1.0 }, &Tensor::from([1.0, 3.0]));
    assert_eq!((y, x), (Tensor::from([3.0, 7.0]), Tensor::from([1.0, 3.0])));
}

#[test]
fn a_variable_of_element_types_is_a_type_to_convert_to() {
    mind! {
        fn weighed<T: float>(i: int[..], y: T[..]) { cast(i, T) * y } pullback(_, dy) { cast(i, T) * dy }
        fn hot<T: num>(i: int[..], like: T[..]) { one_hot(i, 2, dtype = T) }
        fn f<N>(i: i32[N], x: f32[N], y: f64[N]) -> (f32[N], f64[N], i32[N, 2]) {
            (weighed(i, x), weighed(i, y), hot(i, i))
        }
        #[grad(y)]
        fn loss<N>(i: i32[N], y: f64[N]) -> f64 { sum(weighed(i, y)) }
    }
    let (i, x, y) = (Tensor::from([0, 1]), Tensor::from([1.5f32, 2.5]), Tensor::from([0.5f64, 0.25]));
    let expected = (Tensor::from([0.0, 2.5]), Tensor::from([0.0, 0.25]), Tensor::from([[1, 0], [0, 1]]));
    assert_eq!(f(&i, &x, &y), expected);
    assert_eq!(loss_grad(&i, &y).1, Tensor::from([0.0, 1.0]));
}
