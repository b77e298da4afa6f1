//! `cumsum`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn sums_run_along_an_axis_from_either_end() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], f32[N, M], f32[N, M]) {
            let exclusive = cumsum(x, -1, exclusive = true);
            (cumsum(x, axis = 0), x.cumsum(axis = 1, reverse = true), exclusive, cumsum(x.T, 0, true, true).T)
        }

        fn of_integers(x: i32[4], y: i64[2, 2]) -> (i32[4], i64[2, 2]) { (cumsum(x, axis = 0), cumsum(y, axis = 0)) }

        fn of_one(x: f64[1, 3]) -> (f64[1, 3], f64[1, 3]) { (cumsum(x, axis = 0), cumsum(x, 0, exclusive = true)) }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (down, back, before, behind) = f(&x);
    assert_eq!(down.as_slice(), [1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
    assert_eq!(back.as_slice(), [6.0, 5.0, 3.0, 15.0, 11.0, 6.0]);
    assert_eq!(before.as_slice(), [0.0, 1.0, 3.0, 0.0, 4.0, 9.0]);
    assert_eq!(behind.as_slice(), [5.0, 3.0, 0.0, 11.0, 6.0, 0.0]);
    let (ints, longs) = of_integers(&Tensor::from([i32::MAX, 1, 2, -3]), &Tensor::from([[1, 2], [3, 4]]));
    assert_eq!(ints, Tensor::from([i32::MAX, i32::MIN, i32::MIN + 2, i32::MAX]));
    assert_eq!(longs, Tensor::from([[1, 2], [4, 6]]));
    let (own, none) = of_one(&Tensor::from([[1.0, 2.0, 3.0]]));
    assert_eq!((own.as_slice(), none.as_slice()), (&[1.0, 2.0, 3.0][..], &[0.0; 3][..]));
}

#[test]
fn a_long_sum_is_as_exact_as_a_short_one() {
    mind! {
        fn f<N>(x: f32[N]) -> f32[N] { cumsum(x, axis = 0) }
    }
    let all = f(&Tensor::full_with((1 << 20,), 0.1));
    let exact = f64::from(0.1_f32) * f64::from(1 << 20);
    assert!((f64::from(all.as_slice()[(1 << 20) - 1]) / exact - 1.0).abs() < 2e-6);
}

#[test]
fn what_is_summed_may_be_a_view_or_what_a_loop_makes() {
    mind! {
        fn f<N>(x: f32[N, 3], s: f32) -> f32[3, N] {
            2.0 * cumsum(x.T + 1.0, axis = 1) + cumsum(x.T, axis = 0) + cumsum(broadcast_to(s, [3, N]), axis = 1)
        }
    }
    let x = small_integers((4, Const::<3>), 1);
    let found = f(&x, 0.5);
    let x = |i: usize, j: usize| x.as_slice()[3 * i + j];
    for j in 0..3 {
        for i in 0..4 {
            let down: f32 = (0..=i).map(|i| x(i, j) + 1.0).sum();
            let across: f32 = (0..=j).map(|j| x(i, j)).sum();
            assert_eq!(found.as_slice()[4 * j + i], 2.0 * down + across + 0.5 * (i + 1) as f32);
        }
    }
}

#[test]
fn each_element_gets_what_it_is_part_of() {
    mind! {
        fn f<N>(x: f64[N]) -> f64 {
            let y = cumsum(x, axis = 0, exclusive = true);
            sum(y * y * y)
        }

        fn first<N>(x: f64[N]) -> f64[N] { grad(f, wrt = x)(x) }

        fn slope<N>(x: f64[N]) -> f64 { sum(first(x)) }

        fn second<N>(x: f64[N]) -> f64[N] { grad(slope, wrt = x)(x) }
    }
    let x = Tensor::from([1.0, 2.0, 3.0]);
    // Of 0, 1 and 3 the cubes.
    assert_eq!(first(&x).as_slice(), [30.0, 27.0, 0.0]);
    // d/dx (3 · 1² + 2 · 3 · 3²) by what is before each.
    assert_eq!(second(&x).as_slice(), [6.0 + 36.0, 36.0, 0.0]);
}
