//! `sum` and `mean`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn every_set_of_axes_is_summed() {
    mind! {
        fn f(x: f32[2, 3, 4]) -> (f32, f32[3, 4], f32[2, 4], f32[2, 3], f32[4], f32[3], f32[2], f32) {
            (
                sum(x),
                sum(x, axes = [0]),
                sum(x, axes = [1]),
                sum(x, axes = [2]),
                sum(x, axes = [0, 1]),
                sum(x, axes = [0, 2]),
                sum(x, axes = [1, 2]),
                sum(x, axes = [0, 1, 2]),
            )
        }
    }
    let x = small_integers((Const::<2>, Const::<3>, Const::<4>), 1);
    let (all, s0, s1, s2, s01, s02, s12, s012) = f(&x);
    let at = |i, j, k| x[[i, j, k]];
    assert_eq!(all, x.iter().sum::<f32>());
    assert_eq!(s0, Tensor::from_fn(|[j, k]| (0..2).map(|i| at(i, j, k)).sum()));
    assert_eq!(s1, Tensor::from_fn(|[i, k]| (0..3).map(|j| at(i, j, k)).sum()));
    assert_eq!(s2, Tensor::from_fn(|[i, j]| (0..4).map(|k| at(i, j, k)).sum()));
    let pairs = |a: usize, b: usize| (0..a).flat_map(move |i| (0..b).map(move |j| (i, j)));
    assert_eq!(s01, Tensor::from_fn(|[k]| pairs(2, 3).map(|(i, j)| at(i, j, k)).sum()));
    assert_eq!(s02, Tensor::from_fn(|[j]| pairs(2, 4).map(|(i, k)| at(i, j, k)).sum()));
    assert_eq!(s12, Tensor::from_fn(|[i]| pairs(3, 4).map(|(j, k)| at(i, j, k)).sum()));
    assert_eq!(s012, all);
}

#[test]
fn keepdims_leaves_an_extent_of_1() {
    mind! {
        fn f(x: f32[2, 3]) -> (f32[1, 3], f32[2, 1], f32[1, 1], f32[1, 1], f32[2, 3]) {
            let rows = sum(x, axes = [1], keepdims = true);
            (sum(x, [0], true), rows, sum(x, keepdims = true), mean(x, axes = [0, 1], keepdims = true), x - rows)
        }
    }
    let (columns, rows, all, mean, less) = f(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!((columns, rows), (Tensor::from([[5.0, 7.0, 9.0]]), Tensor::from([[6.0], [15.0]])));
    assert_eq!((all, mean), (Tensor::from([[21.0]]), Tensor::from([[3.5]])));
    assert_eq!(less, Tensor::from([[-5.0, -4.0, -3.0], [-11.0, -10.0, -9.0]]));
}

#[test]
fn axes_may_be_negative_in_any_order_or_one() {
    mind! {
        fn f(x: f32[2, 3, 4]) -> (f32[2, 3], f32[2, 3], f32[3], f32[3], f32[3, 4], f32[2, 1, 4]) {
            (
                sum(x, axes = [-1]),
                sum(x, axis = -1),
                sum(x, axes = [-1, 0]),
                x.sum(axes = [2, 0], keepdims = false),
                x.mean(axis = 0),
                mean(x, axis = -2, keepdims = true),
            )
        }
    }
    let x = small_integers((Const::<2>, Const::<3>, Const::<4>), 2);
    let (a, b, c, d, e, g) = f(&x);
    assert_eq!(a, Tensor::from_fn(|[i, j]| (0..4).map(|k| x[[i, j, k]]).sum()));
    assert_eq!(b, a);
    assert_eq!(c, Tensor::from_fn(|[j]| a[[0, j]] + a[[1, j]]));
    assert_eq!(d, c);
    assert_eq!(e, Tensor::from_fn(|[j, k]| (x[[0, j, k]] + x[[1, j, k]]) / 2.0));
    let mean = |i, k| (0..3).map(|j| x[[i, j, k]]).sum::<f32>() / 3.0;
    for (i, k) in [(0, 0), (1, 3), (0, 2)] {
        assert!((g[[i, 0, k]] - mean(i, k)).abs() < 1e-6);
    }
}

#[test]
fn a_mean_over_all_is_the_sum_over_the_count() {
    mind! {
        fn f<N, M>(x: f64[N, M]) -> (f64, f64[N]) {
            (mean(x), mean(x, axes = [1]))
        }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0, 6.0], [-1.0, 0.0, 1.0, 4.0]]);
    assert_eq!(f(&x), (2.0, Tensor::from([3.0, 1.0])));
}

#[test]
fn integers_sum_exactly_and_wrap() {
    mind! {
        fn f<N>(x: i32[N, 2], y: i64[N]) -> (i32, i32[2], i64) {
            (sum(x), sum(x, axes = [0]), sum(y))
        }
    }
    let x = Tensor::from([[i32::MAX, 1], [1, 2], [-5, i32::MIN]]);
    let column = |j: usize| (0..3).fold(0_i32, |sum, i| sum.wrapping_add(x[[i, j]]));
    let y = Tensor::from([i64::MAX, 1, 1]);
    let (all, by_column, long) = f(&x, &y);
    assert_eq!(by_column, Tensor::from([column(0), column(1)]));
    assert_eq!(all, column(0).wrapping_add(column(1)));
    assert_eq!(long, i64::MIN + 1);
}

#[test]
fn reductions_of_every_length_agree_with_naive_ones() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32, f32[M], f32[N]) {
            (sum(x), sum(x, axes = [0]), sum(relu(x) * 2.0, axes = [1]))
        }
    }
    for (n, m) in (1..40).map(|n| (n, 41 - n)).chain([(1, 1000), (1000, 1), (123, 77)]) {
        let x = small_integers((n, m), 5);
        let (all, columns, rows) = f(&x);
        assert_eq!(all, x.iter().sum::<f32>(), "{n} by {m}");
        assert_eq!(columns, Tensor::from_fn_with((m,), |[j]| (0..n).map(|i| x[[i, j]]).sum()));
        assert_eq!(rows, Tensor::from_fn_with((n,), |[i]| (0..m).map(|j| x[[i, j]].max(0.0) * 2.0).sum()));
    }
}

#[test]
fn a_softmax_sums_to_one() {
    mind! {
        fn softmax<N, M>(x: f64[N, M]) -> f64[N, M] {
            let e = exp(x);
            e / sum(e, axes = [1], keepdims = true)
        }
    }
    let y = softmax(&Tensor::from([[0.0, 1.0, 2.0], [-3.0, 0.0, 3.0]]));
    for i in 0..2 {
        let row: f64 = (0..3).map(|j| y[[i, j]]).sum();
        assert!((row - 1.0).abs() < 1e-15);
    }
    let e = [1.0, 1_f64.exp(), 2_f64.exp()];
    assert!((y[[0, 2]] - e[2] / e.iter().sum::<f64>()).abs() < 1e-15);
}

#[test]
fn sums_of_a_scalar_and_of_one_element_are_it() {
    mind! {
        fn f(x: f32, y: f32[1, 1]) -> (f32, f32, f32) {
            (sum(x), sum(y), mean(y))
        }
    }
    assert_eq!(f(3.0, &Tensor::from([[4.0]])), (3.0, 4.0, 4.0));
}
