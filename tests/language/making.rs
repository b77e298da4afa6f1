//! `iota` and `one_hot`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn positions_along_an_axis() {
    mind! {
        fn f<N>(x: f32[N]) -> (i64[N], i64[2, N], i64[2, N], f32[N]) {
            (iota(N), iota([2, N], axis = 1), iota([2, N]), x + f32(iota([N])))
        }

        fn of_known() -> (i64[3], i64[2, 1, 2], i64[4]) { (iota(3), iota([2, 1, 2], axis = -1), 2 + 3 * iota(4)) }

        fn of_sums<N>(_x: f32[N]) -> i64[2 * N + 1] { iota(2 * N + 1) }

        fn of_one() -> (i64, i64[1, 2]) { (sum(iota(1)), iota([1, 2], axis = 0)) }
    }
    let (one, columns, rows, added) = f(&Tensor::from_fn_with((3,), |[i]| 10.0 * i as f32));
    assert_eq!(one.as_slice(), [0, 1, 2]);
    assert_eq!(columns.as_slice(), [0, 1, 2, 0, 1, 2]);
    assert_eq!(rows.as_slice(), [0, 0, 0, 1, 1, 1]);
    assert_eq!(added.as_slice(), [0.0, 11.0, 22.0]);
    let (three, last, steps) = of_known();
    assert_eq!((three, last), (Tensor::from([0, 1, 2]), Tensor::from([[[0, 1]], [[0, 1]]])));
    assert_eq!(steps, Tensor::from([2, 5, 8, 11]));
    assert_eq!(of_sums(&Tensor::from([1.0, 2.0])).as_slice(), [0, 1, 2, 3, 4]);
    assert_eq!(of_one(), (0, Tensor::from([[0, 0]])));
}

#[test]
fn triangles_and_counts_are_compared_with_positions() {
    mind! {
        fn lower<N, M>(x: f32[N, M]) -> f32[N, M] { where(iota(N)[.., _] >= iota(M), x, 0.0) }

        fn histogram<N>(bins: i32[N]) -> i64[4] { sum(one_hot(bins, 4, dtype = i64), axis = 0) }
    }
    let x = small_integers((3, 4), 1);
    let found = lower(&x);
    for i in 0..3 {
        for j in 0..4 {
            let place = 4 * i + j;
            assert_eq!(found.as_slice()[place], if i >= j { x.as_slice()[place] } else { 0.0 });
        }
    }
    assert_eq!(histogram(&Tensor::from([1, 3, 3, 0, 3, 7, -1])), Tensor::from([1, 1, 0, 3]));
}

#[test]
fn one_at_the_place_of_each_index() {
    mind! {
        fn f<N, K>(i: i64[N], w: f32[K]) -> (f32[N, K], f64[N, K], bool[N, 2]) {
            (one_hot(i, K) * w, one_hot(i, n = K, dtype = f64), one_hot(i, 2, bool))
        }

        fn of_number(i: i32) -> f32[3] { one_hot(i, 3) }

        fn of_literals() -> f32[2, 3] { one_hot([2, 0], 3) }

        fn cross_entropy<N, K>(scores: f64[N, K], i: i32[N]) -> f64 {
            -mean(sum(one_hot(i, K, f64) * (scores - log(sum(exp(scores), axes = [-1], keepdims = true))), axes = [-1]))
        }

        fn slope<N, K>(scores: f64[N, K], i: i32[N]) -> f64[N, K] { grad(cross_entropy, wrt = scores)(scores, i) }
    }
    let w = Tensor::from_fn_with((3,), |[i]| 1.0 + i as f32);
    let (scaled, doubles, truths) = f(&Tensor::from([2, 0, 3, -1]), &w);
    assert_eq!(scaled.as_slice(), [0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(doubles.as_slice(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(truths.as_slice(), [false, false, true, false, false, false, false, false]);
    assert_eq!(of_number(1), Tensor::from([0.0, 1.0, 0.0]));
    assert_eq!(of_literals(), Tensor::from([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]));
    let scores: Tensor![f64; 2, 3] = Tensor::from([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]);
    let slopes = slope(&scores, &Tensor::from([2, 0]));
    let [a, b, c] = [0.0_f64, 1.0, 2.0].map(f64::exp);
    let all = a + b + c;
    let exact = [a / all, b / all, c / all - 1.0, -2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0];
    for (found, exact) in slopes.as_slice().iter().zip(exact) {
        assert!((found - exact / 2.0).abs() < 1e-15, "{slopes:?}");
    }
}

#[test]
fn expressions_have_them_too() {
    let i = Tensor::from([2, 0]);
    let x: Tensor![f64; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let picked: Tensor<f64, (Const<2>,)> = mind!(sum(one_hot(i, 3, f64) * x, axis = 1)).into();
    assert_eq!(picked, Tensor::from([3.0, 4.0]));
    let places: Tensor![i64; 4] = mind!(10 * iota(4) + 1).into();
    assert_eq!(places, Tensor::from([1, 11, 21, 31]));
    let sized: Tensor![f64; 2, 3] =
        mind!(one_hot(i, extent(x, 1), f64) + f64(iota([extent(x, 0), 1]))).into();
    assert_eq!(sized, Tensor::from([[0.0, 0.0, 1.0], [2.0, 1.0, 1.0]]));
    let alone: Tensor![i64; 2, 2] = mind!(iota([2, 2], axis = -1)).into();
    assert_eq!(alone, Tensor::from([[0, 1], [0, 1]]));
}
