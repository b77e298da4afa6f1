//! Truth values: results of comparisons, masks for selections, and elements of tensors.

use mind::{Tensor, TensorRef, mind};

mind! {
    /// Every comparison, of two tensors and of a tensor with a number.
    fn compared<N>(x: f32[N], y: f32[N]) -> (bool[N], bool[N], bool[N], bool[N], bool[N], bool[N]) {
        (x == y, x != y, x < y, x <= 0.0, x > y, 0.0 >= x)
    }

    fn of_integers<N>(x: i64[N], y: i64[N]) -> (bool[N], i64[N], i64[N], i64[N], i64[N], i64[N], i64[N]) {
        (x < y && !(x == 3), x & y, x | y, x ^ y, x << y, x >> y, !x)
    }

    /// The selected values and their sums.
    fn selected<N, M>(x: f32[N, M], keep: bool[M]) -> (f32[N, M], f32[N], f32) {
        let kept = where(keep && x > 0.0, x, -1.0);
        (kept, sum(kept, axes = 1), sum(where(keep, x, 0.0)))
    }

    fn conversions<N>(x: f64[N], i: i32[N]) -> (i32[N], i64[N], f32[N], bool[N], f32[N], i64[N]) {
        (i32(x), i64(x), f32(x), bool(x), f32(i), i64(i > 2))
    }

    fn scalars(a: f32, b: bool) -> (bool, f32, bool) {
        (a > 1.0 || b, where(b, a, 2.0), is_nan(a) || !is_finite(a))
    }

    fn constants<N>(x: bool[N]) -> (bool[N], bool[3], bool[2, N]) {
        (x != true, [true, false, true], broadcast_to(!x, [2, N]))
    }

    fn moved<N, M>(x: bool[N, M], i: i64[2]) -> (bool[M, N], bool[M], bool[2, M], bool[N * M]) {
        (x.T, x[0], gather(x, i), reshape(x, [N * M]))
    }

    fn kept<N>(seen: &mut bool[N], x: f32[N]) -> bool[N] {
        let before = seen;
        seen = seen || x > 0.0;
        before
    }

    #[grad(x, y)]
    fn chosen<N>(x: f32[N], y: f32[N]) -> f32 {
        sum(where(x > y, x * x, log(y)))
    }
}

#[test]
fn comparisons_are_those_of_rust() {
    let special = [0.0, -0.0, 1.5, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let pairs: Vec<(f32, f32)> = special.iter().flat_map(|x| special.map(|y| (*x, y))).collect();
    let [x, y] = [0, 1].map(|side| {
        let side = pairs.iter().map(|pair| if side == 0 { pair.0 } else { pair.1 });
        Tensor::from_vec((pairs.len(),), side.collect()).expect("as many")
    });
    let (eq, ne, lt, le, gt, ge) = compared(&x, &y);
    for (i, (x, y)) in pairs.into_iter().enumerate() {
        let found = [eq[[i]], ne[[i]], lt[[i]], le[[i]], gt[[i]], ge[[i]]];
        assert_eq!(found, [x == y, x != y, x < y, x <= 0.0, x > y, 0.0 >= x], "{x} {y}");
    }
}

#[test]
fn bits_of_integers() {
    let (x, y) = ([1_i64, 3, -5, i64::MIN], [4_i64, 63, 64, -1]);
    let (less, and, or, xor, shl, shr, not) = of_integers(&Tensor::from(x), &Tensor::from(y));
    for i in 0..4 {
        let (a, b) = (x[i], y[i]);
        assert_eq!(less[[i]], a < b && a != 3);
        assert_eq!([and[[i]], or[[i]], xor[[i]], not[[i]]], [a & b, a | b, a ^ b, !a]);
    }
    assert_eq!(shl.as_slice(), [16, i64::MIN, 0, 0]);
    assert_eq!(shr.as_slice(), [0, 0, -1, -1]);
}

#[test]
fn what_is_not_chosen_does_not_matter() {
    for (rows, columns) in [(1, 1), (3, 7), (5, 200)] {
        let x = Tensor::from_fn_with((rows, columns), |[i, j]| match (i * columns + j) % 5 {
            0 => f32::NAN,
            1 => -2.0,
            other => other as f32,
        });
        let keep = Tensor::from_fn_with((columns,), |[j]| j % 5 != 0 || j % 3 == 1);
        let (kept, sums, sum) = selected(&x, &keep);
        let mut all = 0.0;
        for i in 0..rows {
            let mut of_row = 0.0;
            for j in 0..columns {
                let expected = if keep[[j]] && x[[i, j]] > 0.0 { x[[i, j]] } else { -1.0 };
                assert_eq!(kept[[i, j]], expected, "{i} {j}");
                of_row += expected;
                all += if keep[[j]] { x[[i, j]] } else { 0.0 };
            }
            assert_eq!(sums[[i]], of_row);
        }
        assert!(sum == all || sum.is_nan() && all.is_nan(), "{sum} {all}");
    }
}

#[test]
fn conversions_are_those_of_rust() {
    let x = [0.0, -0.5, 2.9, f64::NAN, 1e300, -1e300];
    let i = [0, 1, 2, 3, i32::MAX, i32::MIN];
    let (to_i32, to_i64, to_f32, to_bool, of_i32, of_bool) = conversions(&Tensor::from(x), &Tensor::from(i));
    for at in 0..6 {
        assert_eq!((to_i32[[at]], to_i64[[at]]), (x[at] as i32, x[at] as i64));
        assert_eq!(to_f32[[at]].to_bits(), (x[at] as f32).to_bits());
        assert_eq!((to_bool[[at]], of_i32[[at]]), (x[at] != 0.0, i[at] as f32));
        assert_eq!(of_bool[[at]], i64::from(i[at] > 2));
    }
}

#[test]
fn any_and_all_of_axes() {
    mind! {
        fn f<N, M>(x: f32[N, M], keep: bool[N, M]) -> (bool, bool, bool[N], bool[N, 1], bool[M], bool[M], bool) {
            (
                any(x > 2.0), all(x > -9.0), any(keep && x > 0.0, axis = 1), all(keep, axes = [-1], keepdims = true),
                keep.any(axis = 0), all(x < 3.0, axis = 0), any(x),
            )
        }
    }
    for (rows, columns) in [(1, 1), (3, 5), (40, 33), (2, 700)] {
        let x = Tensor::from_fn_with((rows, columns), |[i, j]| ((i * 7 + j * 3) % 11) as f32 - 8.0);
        let keep = Tensor::from_fn_with((rows, columns), |[i, j]| (i + 2 * j) % 5 != 1);
        let (above, below, of_row, whole_row, of_column, small, any) = f(&x, &keep);
        let row = |i: usize| (0..columns).map(move |j| [i, j]);
        let column = |j: usize| (0..rows).map(move |i| [i, j]);
        assert_eq!(above, x.iter().any(|x| *x > 2.0));
        assert_eq!((below, any), (true, x.iter().any(|x| *x != 0.0)));
        for i in 0..rows {
            assert_eq!(of_row[[i]], row(i).any(|at| keep[at] && x[at] > 0.0), "row {i}");
            assert_eq!(whole_row[[i, 0]], row(i).all(|at| keep[at]), "row {i}");
        }
        for j in 0..columns {
            assert_eq!(of_column[[j]], column(j).any(|at| keep[at]), "column {j}");
            assert_eq!(small[[j]], column(j).all(|at| x[at] < 3.0), "column {j}");
        }
    }
}

#[test]
fn single_truth_values() {
    assert_eq!(scalars(2.0, false), (true, 2.0, false));
    assert_eq!(scalars(0.5, true), (true, 0.5, false));
    assert_eq!(scalars(f32::INFINITY, false), (true, 2.0, true));
    assert_eq!(scalars(-3.0, false), (false, 2.0, false));
}

#[test]
fn truth_values_are_moved_like_numbers() {
    let x = Tensor::from([true, false, true]);
    let (other, constant, twice) = constants(&x);
    assert_eq!(other.as_slice(), [false, true, false]);
    assert_eq!(constant.as_slice(), [true, false, true]);
    assert_eq!(twice.as_slice(), [false, true, false, false, true, false]);
    let x = Tensor::from_fn_with((3, 2), |[i, j]| (i + j) % 3 == 0);
    let (transposed, row, rows, flat) = moved(&x, &Tensor::from([2, 0]));
    assert_eq!(transposed, Tensor::from_fn_with((2, 3), |[i, j]| x[[j, i]]));
    assert_eq!(row.as_slice(), &x.as_slice()[..2]);
    assert_eq!(rows.as_slice(), [x[[2, 0]], x[[2, 1]], x[[0, 0]], x[[0, 1]]]);
    assert_eq!(flat.as_slice(), x.as_slice());
}

#[test]
fn a_mask_is_updated_in_place() {
    let mut seen = Tensor::from([true, false, false]);
    let before = kept(&mut seen, &Tensor::from([-1.0, 1.0, 0.0]));
    assert_eq!(before.as_slice(), [true, false, false]);
    assert_eq!(seen.as_slice(), [true, true, false]);
}

#[test]
fn no_derivative_comes_from_what_is_not_chosen() {
    // The logarithm of a negative number is NaN, and its derivative is infinite at 0.
    let (x, y) = (Tensor::from([3.0_f32, 1.0, 2.0]), Tensor::from([-1.0, 4.0, 0.0]));
    let (value, (dx, dy)) = chosen_grad(&x, &y);
    assert_eq!(value, 9.0 + 4.0_f32.ln() + 4.0);
    assert_eq!((dx.as_slice(), dy.as_slice()), (&[6.0, 0.0, 4.0][..], &[0.0, 0.25, 0.0][..]));
}

#[test]
fn tensors_of_truth_values() {
    let x: Tensor![bool; 2, 2] = Tensor::zeros();
    assert_eq!(x.as_slice(), [false; 4]);
    let y: Tensor![bool; 2] = Tensor::full(true);
    assert_eq!(format!("{y} {y:?}"), "[true, true] [true, true], bool[2]");
    let view: &TensorRef<bool, _> = &y;
    assert_eq!(view.map(i32::from).as_slice(), [1, 1]);
}

#[test]
fn the_other_of_a_constant_is_worked_out() {
    mind! {
        fn f<N>(x: bool[N]) -> (bool[N], bool[N], bool[N]) {
            (x && !true, x || !false, x ^ (2 < 3))
        }
    }
    let (never, always, other) = f(&Tensor::from([true, false]));
    assert_eq!([never.as_slice(), always.as_slice()], [[false, false], [true, true]]);
    assert_eq!(other.as_slice(), [false, true]);
}
