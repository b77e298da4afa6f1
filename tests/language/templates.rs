//! Templates: functions that leave shapes, element types and attributes open. They are checked and inlined where they
//! are called.

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

#[test]
fn a_pack_stands_in_lists_of_shapes() {
    mind! {
        /// Merges the last two axes.
        fn merged<..B, H, D>(x: num[..B, H, D]) { reshape(x, [..B, H * D]) }
        /// Splits the last axis in two, and adds `y`, which has the same leading dimensions.
        fn parted<..B, N>(x: num[..B, N], y: num[..B], const parts: dim) {
            reshape(x, [..B, parts, -1]) + broadcast_to(y[.., _, _], [..B, parts, N / parts])
        }
        fn made<..B, N>(x: float[..B, N]) {
            let shape = [N, ..B];
            (ones([..B, 2]) + zeros([..B, 1]), full([2, ..B], 0.5), iota([..B], axis = -1), reshape(x, shape))
        }
        fn outer<..A, ..B>(x: float[..A], y: float[..B]) {
            reshape(reshape(x, [-1, 1]) * reshape(y, [-1]), [..A, ..B])
        }
        /// `B` is empty for a number.
        fn beside<..B>(x: float[..B]) { ones([..B, 2]) * x }

        fn f<N>(x: f64[N, 3, 2]) -> f64[N, 6] { merged(x) }
        fn g(x: i32[4], y: i32) -> i32[2, 2] { parted(x, y, parts = 2) }
        fn h<N>(x: f32[N, 2, 3]) -> (f32[N, 2, 2], f32[2, N, 2], i64[N, 2], f32[3, N, 2]) { made(x) }
        fn k<N>(x: f32[N], y: f32[2, 1]) -> f32[N, 2, 1] { outer(x, y) }
        fn l() -> f32[2] { beside(3.0) }
        #[grad(x)]
        fn loss<N>(x: f64[N, 3, 2], w: f64[6]) -> f64 { sum(merged(x) * merged(x) @ w) }
    }
    let x = Tensor::from([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]);
    assert_eq!(f(&x), Tensor::from([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]));
    assert_eq!(g(&Tensor::from([1, 2, 3, 4]), 10), Tensor::from([[11, 12], [13, 14]]));
    let (ones, halves, places, turned) = h(&Tensor::from([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]));
    assert_eq!((ones, halves), (Tensor::from([[[1.0; 2]; 2]]), Tensor::from([[[0.5; 2]]; 2])));
    assert_eq!(places, Tensor::from([[0, 1]]));
    assert_eq!(turned, Tensor::from([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]));
    assert_eq!(
        k(&Tensor::from([1.0, 2.0]), &Tensor::from([[3.0], [4.0]])),
        Tensor::from([[[3.0], [4.0]], [[6.0], [8.0]]])
    );
    assert_eq!(l(), Tensor::from([3.0; 2]));
    let w = Tensor::from([1.0, 1.0, 1.0, 0.0, 0.0, 0.5]);
    assert_eq!(loss_grad(&x, &w).1, Tensor::from([[[2.0, 4.0], [6.0, 0.0], [0.0, 6.0]]]));
}
