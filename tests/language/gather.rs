//! `gather`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn rows_are_picked_by_integers_of_both_widths() {
    mind! {
        fn f<N>(table: f32[5, 3], rows: i64[N], short: i32[2, 2]) -> (f32[N, 3], f32[2, 2, 3]) {
            (gather(table, rows), table.gather(short))
        }
    }
    let table = small_integers((Const::<5>, Const::<3>), 1);
    let rows = Tensor::from([4_i64, 0, 4, 2]);
    let short = Tensor::from([[0, 1], [3, 3]]);
    let (a, b) = f(&table, &rows, &short);
    assert_eq!(a, Tensor::from_fn(|[i, j]| table[[rows[[i]] as usize, j]]));
    assert_eq!(b, Tensor::from_fn(|[i, j, k]| table[[short[[i, j]] as usize, k]]));
}

#[test]
fn elements_of_a_vector_and_single_rows_are_picked() {
    mind! {
        fn f(v: i64[4], m: f64[3, 2], i: i32[3], one: i64) -> (i64[3], f64[2], i64) {
            (gather(v, i), gather(m, one), gather(v, one))
        }
    }
    let m = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let (a, b, c) = f(&Tensor::from([10, 20, 30, 40]), &m, &Tensor::from([3, 3, 0]), 1);
    assert_eq!((a, b, c), (Tensor::from([40, 40, 10]), Tensor::from([3.0, 4.0]), 20));
}

#[test]
fn indices_may_be_computed_and_results_used() {
    mind! {
        fn f<N>(table: f32[6, 2], rows: i64[N]) -> f32[N] {
            sum(gather(table, rows * 2 + 1) * 10.0, axes = [1])
        }
    }
    let table = small_integers((Const::<6>, Const::<2>), 4);
    let y = f(&table, &Tensor::from([2, 0, 1]));
    let row = |i: usize| 10.0 * table[[i, 0]] + 10.0 * table[[i, 1]];
    assert_eq!(y, Tensor::from([row(5), row(1), row(3)]));
}

#[test]
fn rows_are_picked_from_what_is_computed() {
    mind! {
        fn f<V>(table: f32[V, 3], i: i64[2]) -> (f32[2, 3], f32[2, V]) {
            (gather(relu(table) + 1.0, i), gather(table.T, i))
        }
    }
    let table = small_integers((4, Const::<3>), 2);
    let (a, b) = f(&table, &Tensor::from([2, 1]));
    assert_eq!(a, Tensor::from_fn(|[i, j]| table[[2 - i, j]].max(0.0) + 1.0));
    assert_eq!(b, Tensor::from_fn_with((Const, 4), |[i, j]| table[[j, 2 - i]]));
}
