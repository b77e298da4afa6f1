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

mod short_rows {
    use super::*;

    mind! {
        fn of_rows<N, D>(x: f64[N, D], y: f64[N, D]) -> (f64[N], f64[N], f64[N], f64) {
            let z = (x - y) * x;
            let least = min(z, axis = 1);
            (sum(z, axis = 1), least, max(x, axis = 1), sum(least * least))
        }

        fn of_one<D>(x: f64[D], y: f64[D]) -> (f64, f64, f64) {
            let z = (x - y) * x;
            (sum(z), min(z), max(x))
        }

        fn of_singles<N, D>(x: f32[N, D]) -> (f32[N], f32[N]) { (sum(x * x, axis = 1), mean(exp(x) - x, axis = 1)) }

        fn of_single<D>(x: f32[D]) -> (f32, f32) { (sum(x * x), mean(exp(x) - x)) }

        fn of_integers<N, D>(x: i64[N, D]) -> i64[N] { sum(x * x - x, axis = 1) }

        fn shares<N, D>(x: f32[N, D]) -> f32[N, D] {
            let e = exp(x);
            e / sum(e, axis = 1, keepdims = true)
        }

        fn nearest<N, K, D>(x: f64[N, D], y: f64[K, D]) -> f64[N] {
            let d = expand_dims(x, axes = [1]) - y;
            min(sum(d * d, axis = -1), axis = -1)
        }
    }

    /// Numbers with infinities and NaN in one row of seven, which must not reach the rows beside it.
    fn element([row, column]: [usize; 2]) -> f64 {
        match (row % 7, column % 3) {
            (3, 0) => f64::INFINITY,
            (3, 1) => f64::NAN,
            _ => ((row * 31 + column * 17) % 23) as f64 * 0.37 - 4.0,
        }
    }

    #[test]
    fn each_row_is_folded_as_if_it_were_alone() {
        for columns in 1..=40 {
            for rows in [1, 2, 7, 20] {
                let x = Tensor::from_fn_with((rows, columns), element);
                let y =
                    Tensor::from_fn_with((rows, columns), |[row, column]| 0.1 * element([column, row]).abs());
                let (sums, least, greatest, _) = of_rows(&x, &y);
                for row in 0..rows {
                    let [x, y] = [&x, &y].map(|all| {
                        let row = all.as_slice()[row * columns..][..columns].to_vec();
                        Tensor::from_vec((columns,), row).expect("a row")
                    });
                    let (sum, min, max) = of_one(&x, &y);
                    let found = [sums.as_slice()[row], least.as_slice()[row], greatest.as_slice()[row]];
                    let alike = |(a, b): (f64, f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    assert!(
                        found.into_iter().zip([sum, min, max]).all(alike),
                        "row {row} of {rows}, {columns} long"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_of_other_types_are_folded_as_if_each_were_alone() {
        for columns in 1..=70 {
            let x = Tensor::from_fn_with((9, columns), |[row, column]| {
                ((row * 5 + column * 3) % 11) as f32 * 0.3 - 1.5
            });
            let (squares, means) = of_singles(&x);
            let all = shares(&x);
            let integers = x.map(|x| (x * 1e6) as i64);
            let sums = of_integers(&integers);
            for row in 0..9 {
                let elements = &x.as_slice()[row * columns..][..columns];
                let (square, mean) =
                    of_single(&Tensor::from_vec((columns,), elements.to_vec()).expect("a row"));
                let found = [squares.as_slice()[row], means.as_slice()[row]];
                assert_eq!(found.map(f32::to_bits), [square, mean].map(f32::to_bits), "{columns}");
                let integers = &integers.as_slice()[row * columns..][..columns];
                assert_eq!(
                    sums.as_slice()[row],
                    integers.iter().map(|x| x * x - x).sum::<i64>(),
                    "{columns}"
                );
                let share: f32 = all.as_slice()[row * columns..][..columns].iter().sum();
                assert!((share - 1.0).abs() < 1e-5, "{share} of {columns}");
            }
        }
    }

    #[test]
    fn rows_are_compared_with_rows_of_any_length() {
        for (columns, count) in (1..=36).zip([1, 2, 15, 16, 17, 33].into_iter().cycle()) {
            let x = Tensor::from_fn_with((5, columns), |[row, column]| (row * 3 + column) as f64);
            let y =
                Tensor::from_fn_with((count, columns), |[row, column]| (row * 5 + 2 * column) as f64 * 0.5);
            let expected: Vec<f64> = (0..5)
                .map(|row| {
                    let x = &x.as_slice()[row * columns..][..columns];
                    let distance = |at: usize| {
                        let y = &y.as_slice()[at * columns..][..columns];
                        x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
                    };
                    (0..count).map(distance).fold(f64::INFINITY, f64::min)
                })
                .collect();
            assert_eq!(nearest(&x, &y).as_slice(), expected, "{count} rows of {columns}");
        }
    }
}
