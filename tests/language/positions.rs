//! The positions of the largest and the smallest elements: `argmax` and `argmin`.

use mind::{Tensor, mind};

mind! {
    fn classes<N, C>(scores: f32[N, C]) -> (i64[N], i64[N], i64, i64[1, C]) {
        (
            argmax(scores, axis = 1),
            scores.argmin(axis = -1),
            argmax(scores),
            argmin(scores, axes = [0], keepdims = true),
        )
    }

    /// The share of correct predictions.
    fn accuracy<N, C>(scores: f64[N, C], labels: i64[N]) -> f64 {
        mean(f64(argmax(scores, axis = 1) == labels))
    }

    /// Takes `argmax` and `argmin` of computed values, and uses a position as an index.
    fn picked<N>(x: i32[N], table: f32[N]) -> (f32, i64) {
        (gather(table, argmax(x * x - 3)), argmin(broadcast_to(x[0], [4])))
    }

    fn several<A, B, C>(x: f32[A, B, C]) -> (i64[B], i64[A, C], i64[C]) {
        (argmax(x, axes = [0, 2]), argmax(x.transpose([1, 0, 2]), axis = 0), argmin(x, axes = [0, 1]))
    }

    /// No gradient passes through positions.
    fn loss(x: f32[3]) -> f32 {
        sum(x * f32(argmax(x)))
    }

    fn slope(x: f32[3]) -> f32[3] {
        grad(loss, wrt = x)(x)
    }
}

#[test]
fn positions_are_the_first_of_equal_elements() {
    let scores = Tensor::from([[0.5_f32, 2.0, 2.0], [-1.0, -0.0, 0.0], [f32::NAN, 9.0, f32::NAN]]);
    let (largest, smallest, whole, columns) = classes(&scores);
    assert_eq!(largest, Tensor::from([1_i64, 1, 0]));
    assert_eq!(smallest, Tensor::from([0_i64, 0, 0]));
    assert_eq!((whole, columns), (6, Tensor::from([[2_i64, 1, 2]])));
}

#[test]
fn positions_are_compared_and_index() {
    let scores = Tensor::from([[0.1, 0.9], [0.7, 0.3], [0.2, 0.8], [0.6, 0.5]]);
    assert_eq!(accuracy(&scores, &Tensor::from([1_i64, 0, 0, 0])), 0.75);
    assert_eq!(picked(&Tensor::from([1, -4, 3]), &Tensor::from([0.5_f32, 1.5, 2.5])), (1.5, 0));
    assert_eq!(slope(&Tensor::from([1.0_f32, 5.0, 2.0])), Tensor::from([1.0_f32; 3]));
}

#[test]
fn several_axes_are_counted_row_by_row() {
    let x = Tensor::from([[[1.0_f32, 2.0], [9.0, 0.0]], [[8.0, 2.0], [-1.0, 9.0]]]);
    let (outer, middle, leading) = several(&x);
    assert_eq!(outer, Tensor::from([2_i64, 0]));
    assert_eq!(middle, Tensor::from([[1_i64, 0], [0, 1]]));
    assert_eq!(leading, Tensor::from([3_i64, 1]));
}

#[test]
fn expressions_have_them_too() {
    let x = Tensor::from([[1.0_f64, 4.0, 4.0], [3.0, -1.0, 2.0]]);
    assert_eq!(mind!(argmax(x * 2.0, axis = 1)).as_slice(), [1, 0]);
    assert_eq!(mind!(argmin(x, axis = 0)).as_slice(), [0, 1, 1]);
    assert_eq!(mind!(argmax(x)), 1);
    assert_eq!(mind!(argmax(x, axes = [1], keepdims = true)).dims(), [2, 1]);
    assert_eq!(mind!(mean(f32(argmax(x, axis = 1) == [1, 1]))), 0.5);
}

/// Rows and columns are longer than any block, so that shapes are split in every way.
#[test]
fn long_rows_and_many_columns() {
    for (rows, columns) in [(1, 10_000), (10_000, 1), (70, 130), (3, 1_025)] {
        let element = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 10_007) as f32;
        let all: Vec<f32> = (0..rows * columns).map(|at| element(at / columns, at % columns)).collect();
        let x = Tensor::from_vec((rows, columns), all).expect("as many");
        let (by_row, by_column) = mind!((argmax(x, axis = 1), argmin(x, axis = 0)));
        for (i, found) in by_row.as_slice().iter().enumerate() {
            let best = (0..columns).rev().max_by(|a, b| element(i, *a).total_cmp(&element(i, *b)));
            assert_eq!(Some(*found as usize), best, "row {i} of {rows} by {columns}");
        }
        for (j, found) in by_column.as_slice().iter().enumerate() {
            let best = (0..rows).min_by(|a, b| element(*a, j).total_cmp(&element(*b, j)));
            assert_eq!(Some(*found as usize), best, "column {j} of {rows} by {columns}");
        }
    }
}
