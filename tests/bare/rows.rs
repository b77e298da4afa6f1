//! Reductions over inner axes with the operations before and after them. The results have the same bits as those of the
//! separate operations.

use mind::{Shape, Tensor, mind};

use crate::support::Sample;

type Matrix<T> = Tensor![T; ?, ?];

/// A matrix of samples, some of them negative.
fn matrix<T: Sample>(rows: usize, columns: usize, seed: usize) -> Matrix<T> {
    Tensor::from_fn_with((rows, columns), |[i, j]| T::sample((i * columns + j) * 5 + 31 * seed))
}

#[track_caller]
fn same<S: Shape, R: Shape>(found: &Tensor<f32, S>, expected: &Tensor<f32, R>, case: &str) {
    assert_eq!(found.shape().dims(), expected.shape().dims(), "{case}");
    for (place, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
        assert_eq!(found.to_bits(), expected.to_bits(), "{case} at {place}: {found}, {expected}");
    }
}

/// Extents below and above the block sizes: rows, elements, lanes and chains of a sum, and leaves of a sum of a whole
/// tensor.
fn shapes() -> impl Iterator<Item = (usize, usize)> {
    let rows = [1, 2, 3, 7, 31, 32, 33, 65];
    let columns = [1, 2, 5, 8, 16, 31, 33, 64, 100, 127, 128, 300, 2047, 4500];
    let each = rows.into_iter().flat_map(move |rows| columns.map(|columns| (rows, columns)));
    each.chain([(1, 20_000), (2, 20_000)])
}

#[test]
fn softmax_is_its_operations_one_by_one() {
    for (rows, columns) in shapes() {
        let x: Matrix<f32> = matrix(rows, columns, 1);
        let y = mind!({
            let e = exp(x - max(x, axis = 1, keepdims = true));
            e / sum(e, axis = 1, keepdims = true)
        });
        let largest = mind!(max(x, axis = 1, keepdims = true));
        let shifted = mind!(x - largest);
        let powers = mind!(exp(shifted));
        let total = mind!(sum(powers, axis = 1, keepdims = true));
        same(&y, &mind!(powers / total), &format!("{rows}x{columns}"));
    }
}

#[test]
fn layer_norm_is_its_operations_one_by_one() {
    for (rows, columns) in shapes() {
        let x: Matrix<f32> = matrix(rows, columns, 2);
        let (g, b): (Matrix<f32>, Matrix<f32>) = (matrix(1, columns, 3), matrix(1, columns, 4));
        let eps = 0.001_f32;
        let y = mind!({
            let centred = x - mean(x, axis = -1, keepdims = true);
            centred / sqrt(mean(centred * centred, axis = -1, keepdims = true) + eps) * g + b
        });
        let average = mind!(mean(x, axis = -1, keepdims = true));
        let centred = mind!(x - average);
        let squares = mind!(centred * centred);
        let variance = mind!(mean(squares, axis = -1, keepdims = true));
        let deviation = mind!(sqrt(variance + eps));
        let normal = mind!(centred / deviation);
        let scaled = mind!(normal * g);
        same(&y, &mind!(scaled + b), &format!("{rows}x{columns}"));
    }
}

#[test]
fn every_reduction_is_fed_and_used() {
    for (rows, columns) in shapes() {
        let (x, y): (Matrix<f32>, Matrix<f32>) = (matrix(rows, columns, 5), matrix(rows, columns, 6));
        // One number per row, one row, and one number.
        let (r, c, t): (Matrix<f32>, Matrix<f32>, f32) = (matrix(rows, 1, 7), matrix(1, columns, 8), 1.5);
        let (all, scaled, spread, product) = mind!({
            let h = (x - r) * y + c;
            let most = max(h, axes = [1], keepdims = true);
            let least = min(h, axes = [1], keepdims = true);
            let width = (most - least) * t + 1.0;
            let scaled = (h - least) / width * t;
            (sum(scaled * scaled, axis = 1), scaled, width, prod(scaled * 0.1 + 1.0, axis = 1))
        });
        let difference = mind!(x - r);
        let times = mind!(difference * y);
        let h = mind!(times + c);
        let (most, least) =
            (mind!(max(h, axis = 1, keepdims = true)), mind!(min(h, axis = 1, keepdims = true)));
        let width = mind!((most - least) * t + 1.0);
        let below = mind!(h - least);
        let quotient = mind!(below / width);
        let wanted = mind!(quotient * t);
        let squares = mind!(wanted * wanted);
        let factors = mind!(wanted * 0.1 + 1.0);
        let case = format!("{rows}x{columns}");
        same(&scaled, &wanted, &case);
        same(&spread, &width, &case);
        same(&all, &mind!(sum(squares, axis = 1)), &case);
        same(&product, &mind!(prod(factors, axis = 1)), &case);
    }
}

#[test]
fn shapes_that_are_no_rows_are_computed_step_by_step() {
    for (rows, columns) in [(3, 4), (1, 1), (1, 7), (40, 1), (33, 65)] {
        let x: Matrix<f32> = matrix(rows, columns, 9);
        let case = format!("{rows}x{columns}");
        // A sum over the outer axis.
        let y = mind!({
            let e = exp(x);
            e / sum(e, axis = 0, keepdims = true)
        });
        let e = mind!(exp(x));
        let total = mind!(sum(e, axis = 0, keepdims = true));
        same(&y, &mind!(e / total), &case);
        // The numerator is larger than the summed tensor.
        let z: Tensor![f32; ?, ?, ?] =
            Tensor::from_fn_with((2, rows, columns), |[i, j, k]| f32::sample(i * 77 + j * columns + k));
        let y = mind!({
            let e = exp(x);
            (z + e) / sum(e, axis = 1, keepdims = true)
        });
        let (both, total) = (mind!(z + e), mind!(sum(e, axis = 1, keepdims = true)));
        same(&y, &mind!(both / total), &case);
    }
}

#[test]
fn rows_may_have_several_axes() {
    for [a, b, c] in [[1, 1, 1], [3, 1, 5], [2, 4, 40], [33, 3, 700]] {
        let x: Tensor![f32; ?, ?, ?] =
            Tensor::from_fn_with((a, b, c), |[i, j, k]| f32::sample((i * b + j) * c + k));
        let w: Matrix<f32> = matrix(b, c, 1);
        let y = mind!({
            let h = x * w;
            h - mean(h, axes = [1, -1], keepdims = true)
        });
        let h = mind!(x * w);
        let average = mind!(mean(h, axes = [1, 2], keepdims = true));
        same(&y, &mind!(h - average), &format!("{a}x{b}x{c}"));
    }
}

#[test]
fn integers_have_rows_too() {
    for (rows, columns) in shapes() {
        let x: Matrix<i64> = matrix(rows, columns, 10);
        let y = mind!({
            let h = x * x - 3;
            h - max(h, axis = 1, keepdims = true) + sum(h, axis = 1, keepdims = true)
        });
        for i in 0..rows {
            let h: Vec<i64> = (0..columns).map(|j| x[[i, j]] * x[[i, j]] - 3).collect();
            let (most, total) = (*h.iter().max().expect("a row has elements"), h.iter().sum::<i64>());
            (0..columns).for_each(|j| assert_eq!(y[[i, j]], h[j] - most + total));
        }
    }
}

/// The same with extents that rustc knows.
macro_rules! known {
    ($($rows:literal x $columns:literal)*) => {
        #[test]
        fn extents_that_rustc_knows_give_the_same_bits() {
            $({
                let x: Tensor![f32; $rows, $columns] = Tensor::from_fn(|[i, j]| f32::sample(i * $columns + j));
                let open: Matrix<f32> = Tensor::from_fn_with(($rows, $columns), |[i, j]| x[[i, j]]);
                let y = mind!({
                    let e = exp(x - max(x, axis = 1, keepdims = true));
                    (e / sum(e, axis = 1, keepdims = true), sum(e * e, axis = 1))
                });
                let z = mind!({
                    let e = exp(open - max(open, axis = 1, keepdims = true));
                    (e / sum(e, axis = 1, keepdims = true), sum(e * e, axis = 1))
                });
                let case = concat!($rows, "x", $columns);
                same(&y.0, &z.0, case);
                same(&y.1, &z.1, case);
            })*
        }
    };
}

known!(1 x 1 1 x 9 9 x 1 4 x 8 40 x 100 2 x 3000);
