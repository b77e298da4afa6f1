//! Truth values in expressions over Rust variables.

use mind::{Tensor, mind};

fn numbers() -> Tensor![f32; 2, 3] {
    Tensor::from([[1.0, -2.0, 3.0], [f32::NAN, 0.0, -0.5]])
}

#[test]
fn comparisons_broadcast_and_choose() {
    let (x, y) = (numbers(), Tensor::from([0.0_f32, -2.0, 4.0]));
    let mask: Tensor![bool; 2, 3] = mind!(x > y);
    assert_eq!(mask, Tensor::from([[true, false, false], [false, true, false]]));
    assert_eq!(mind!(where(mask, x, 0.5 * y)).as_slice(), [1.0, -1.0, 2.0, 0.0, 0.0, 2.0]);
    assert_eq!(mind!(where(x > y, x, 0.5 * y)).as_slice(), [1.0, -1.0, 2.0, 0.0, 0.0, 2.0]);
    assert_eq!(mind!(sum(where(x > y, x, 0.0))), 1.0);
    // A condition with fewer axes than the operands that it selects, and one with more.
    let column = Tensor::from([[true], [false]]);
    assert_eq!(mind!(where(column, y, 1.0)).as_slice(), [0.0, -2.0, 4.0, 1.0, 1.0, 1.0]);
    assert!(
        mind!(where(is_nan(x), 7.0, x) == x).as_slice().iter().eq(&[true, true, true, false, true, true])
    );
}

#[test]
fn every_type_compares_with_its_own() {
    let (i, j) = (Tensor::from([1, 2, 3]), Tensor::from([3, 2, 1]));
    assert_eq!(mind!(i <= j), Tensor::from([true, true, false]));
    assert_eq!(mind!(i != j), Tensor::from([true, false, true]));
    let (p, q) = (Tensor::from([true, true, false]), Tensor::from([true, false, false]));
    assert_eq!(mind!(p == q), Tensor::from([true, false, true]));
    assert_eq!(mind!((p != q, p && !q, p | q, p ^ true)).1, Tensor::from([false, true, false]));
    assert_eq!(mind!(p ^ true), Tensor::from([false, false, true]));
    // The selected operands may be truth values.
    assert_eq!(mind!(where(i > j, p, !q)), Tensor::from([false, true, false]));
}

/// An expression with two numeric types, which no single loop computes.
#[test]
fn numbers_of_one_type_choose_among_those_of_another() {
    let (x, i) = (Tensor::from([0.5_f64, -1.0, 2.0]), Tensor::from([10_i64, 20, 30]));
    assert_eq!(mind!(where(x > 0.0, i, -i)), Tensor::from([10_i64, -20, 30]));
    assert_eq!(mind!(where(x > 0.0 && i > 15, i, 0)), Tensor::from([0_i64, 0, 30]));
    assert_eq!(mind!(f64(i) * x), Tensor::from([5.0, -20.0, 60.0]));
    assert_eq!(mind!(i64(x) + i), Tensor::from([10_i64, 19, 32]));
    assert_eq!(mind!(f64(x > 0.0) + x), Tensor::from([1.5, -1.0, 3.0]));
    assert_eq!(mind!(sum(i64(x > 0.0))), 2);
    assert_eq!(mind!(bool(i - 20)), Tensor::from([true, false, true]));
    assert_eq!(mind!(f32(f64(f32(x)) > 0.0)), Tensor::from([1.0_f32, 0.0, 1.0]));
}

/// The results of operations that have a fixed type can be combined with variables on either side of an operator.
#[test]
fn positions_meet_integers_of_variables() {
    let scores = Tensor::from([[0.5_f32, 0.25, 1.0], [2.0, -1.0, 0.0]]);
    let class = Tensor::from([2_i64, 2]);
    assert_eq!(mind!(argmax(scores, axis = 1) == class).as_slice(), [true, false]);
    assert_eq!(mind!(class != argmin(scores, axis = 1)).as_slice(), [true, true]);
    assert_eq!(mind!(argmax(scores, axis = 1) + class).as_slice(), [4, 2]);
    assert_eq!(mind!(class - iota(2)).as_slice(), [2, 1]);
    assert_eq!(mind!(mean(f32(argmax(scores, axis = 1) == class))), 0.5);
    let lengths = Tensor::from([1_i64, 3]);
    assert_eq!(mind!(sum(f32(iota([2, 3], axis = 1) < lengths[.., _]), axis = 1)).as_slice(), [1.0, 3.0]);
}

#[test]
fn bits_are_those_of_rust() {
    let (i, by) = (Tensor::from([0b1100, -1, 7]), Tensor::from([2, 31, 40]));
    assert_eq!(mind!(i & 0b1010 | 1), Tensor::from([0b1001, 0b1011, 3]));
    assert_eq!(mind!((i ^ 5) << 1), Tensor::from([18, -12, 4]));
    assert_eq!(mind!((i >> by, !i)).0, Tensor::from([3, -1, 0]));
    assert_eq!(mind!(i << by), Tensor::from([48, i32::MIN, 0]));
}

#[test]
fn any_and_all_over_axes() {
    let x = numbers();
    let (any, all) = mind!((any(x > 0.0, axis = 1), all(x > -1.0, axis = 0)));
    assert_eq!((any.as_slice(), all.as_slice()), (&[true, false][..], &[false, false, true][..]));
    // All values except 0 are true, also NaN.
    assert_eq!(mind!(all(x, axis = 1)).as_slice(), [true, false]);
    let (some, each): (bool, bool) = mind!((any(x == 3.0), all(x == x)));
    assert!(some && !each);
    let cube = Tensor::<bool, _>::from([[[false, true], [false, false]], [[true, true], [true, true]]]);
    assert_eq!(mind!(any(cube, axes = [0, 2])).as_slice(), [true, true]);
    assert_eq!(mind!(all(cube, axes = [0, 2])).as_slice(), [false, false]);
    assert_eq!(mind!(all(cube, axis = 1)).as_slice(), [false, false, true, true]);
    assert_eq!(mind!(any(cube, axes = [1], keepdims = true)).dims(), [2, 1, 2]);
}

#[test]
fn masks_are_moved_as_numbers_are() {
    let mask = Tensor::from([[true, false, true], [false, false, true]]);
    assert_eq!(mind!(mask.T).as_slice(), [true, false, false, false, true, true]);
    assert_eq!(mind!(mask.mT).as_slice(), [true, false, false, false, true, true]);
    assert_eq!(mind!(mask[_, .., _]).dims(), [1, 2, 3, 1]);
    assert_eq!(mind!(mask[1, ..]).as_slice(), [false, false, true]);
    assert_eq!(mind!(mask[.., 0..2]).as_slice(), [true, false, false, false]);
    assert_eq!(mind!(reshape(mask, [3, 2])).as_slice(), [true, false, true, false, false, true]);
    assert_eq!(mind!(gather(mask, [1_i64, 0])).as_slice(), [false, false, true, true, false, true]);
    assert!(mind!(mask[1, 0]) == false);
    let found: bool = mind!(!mask[1, 0]).into();
    assert!(found);
}

#[test]
fn a_mask_is_whatever_holds_truth_values() {
    let x = Tensor::from([1.0_f32, 2.0, 3.0]);
    let (list, array, slice) = (vec![true, false, true], [false, true, true], &[true, true, false][..]);
    assert_eq!(mind!(where(list && array, x, 0.0)).as_slice(), [0.0, 0.0, 3.0]);
    assert_eq!(mind!(where(slice, x, -x)).as_slice(), [1.0, 2.0, -3.0]);
    let (flag, other) = (true, &false);
    assert_eq!(mind!(where(flag, x, -x)), x);
    assert_eq!(mind!(where(flag && other, x, 0.0 * x)), Tensor::from([0.0; 3]));
    let both: bool = mind!(flag || other).into();
    assert!(both);
    assert_eq!(mind!(where(true, x, -x)), x);
    let rows = [[true, false], [false, true]];
    assert_eq!(mind!(f32(rows) @ {[[1.0_f32], [5.0]]}).as_slice(), [1.0, 5.0]);
}

#[test]
fn gradients_pass_by_what_is_not_chosen() {
    let x = Tensor::from([4.0_f32, 0.0, -1.0]);
    // The square root has no finite derivative at 0 and -1.
    let slope = mind!(grad(sum(where(x > 0.0, sqrt(x), 2.0 * x)), wrt = x));
    assert_eq!(slope, Tensor::from([0.25, 2.0, 2.0]));
    let second = mind!(grad(sum(grad(sum(where(x > 0.0, x * x * x, x * x)), wrt = x) * x), wrt = x));
    assert_eq!(second, Tensor::from([144.0, 0.0, -4.0]));
    // Conversions between numbers pass gradients on, comparisons do not.
    let wide = mind!(grad(sum(f64(x) * f64(x)), wrt = x));
    assert_eq!(wide, Tensor::from([8.0_f32, 0.0, -2.0]));
    assert_eq!(mind!(grad(sum(f32(x > 0.0) * x), wrt = x)), Tensor::from([1.0, 0.0, 0.0]));
}

/// Comparisons with a value per row, in the loops that process a few rows at a time.
#[test]
fn masks_of_rows_stay_in_registers() {
    let x = Tensor::from([[1.0_f32, 4.0, 2.0], [3.0, -1.0, 3.0]]);
    let largest = mind!(sum(where(x == max(x, axis = 1, keepdims = true), 1.0, 0.0), axis = 1));
    assert_eq!(largest.as_slice(), [1.0, 2.0]);
    let masked = mind!({
        let z = where(x > 0.0 && true, x, -inf);
        let e = exp(z - max(z, axis = 1, keepdims = true));
        e / sum(e, axis = 1, keepdims = true)
    });
    assert_eq!(masked.as_slice()[3..], [0.5, 0.0, 0.5]);
    let positive = mind!({
        let total = sum(x, axis = 1, keepdims = true);
        where(total > 6.0, x / total, 0.0)
    });
    assert_eq!(positive.as_slice(), [1.0 / 7.0, 4.0 / 7.0, 2.0 / 7.0, 0.0, 0.0, 0.0]);
}

/// Rows as long as tiles and longer, short rows with single numbers, and a single element.
#[test]
fn broadcast_masks_of_every_size() {
    for (rows, columns) in [(1, 1), (3, 5), (2, 64), (7, 63), (3, 257), (40, 1), (1, 300)] {
        let at = |i: usize, n: usize| (i * 7 + n).is_multiple_of(3);
        let rows_of = Tensor::from_vec((rows, 1), (0..rows).map(|i| at(i, 1)).collect()).expect("as many");
        let columns_of =
            Tensor::from_vec((columns,), (0..columns).map(|j| at(j, 2)).collect()).expect("as many");
        let x = Tensor::from_vec((rows, columns), (0..rows * columns).map(|i| i as f32).collect())
            .expect("as many");
        let (mask, chosen) = mind!((rows_of || columns_of, where(rows_of && !columns_of, x, -1.0)));
        for (index, (mask, chosen)) in mask.as_slice().iter().zip(chosen.as_slice()).enumerate() {
            let (row, column) = (at(index / columns, 1), at(index % columns, 2));
            assert_eq!(*mask, row || column, "{rows} {columns} {index}");
            assert_eq!(*chosen, if row && !column { index as f32 } else { -1.0 }, "{rows} {columns} {index}");
        }
    }
}
