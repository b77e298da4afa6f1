//! `cumsum`, `cumprod`, `cummax` and `cummin`.

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
    // The cubes of 0, 1 and 3.
    assert_eq!(first(&x).as_slice(), [30.0, 27.0, 0.0]);
    // d/dx (3 · 1² + 2 · 3 · 3²) by the elements before each.
    assert_eq!(second(&x).as_slice(), [6.0 + 36.0, 36.0, 0.0]);
}

#[test]
fn products_run_along_an_axis_from_either_end() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], f32[N, M]) {
            (cumprod(x, axis = 0), x.cumprod(axis = 1, reverse = true), cumprod(x, -1, exclusive = true))
        }

        fn of_integers(x: i32[3]) -> i32[3] { cumprod(x, axis = 0) }
    }
    let (down, back, before) = f(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!(down.as_slice(), [1.0, 2.0, 3.0, 4.0, 10.0, 18.0]);
    assert_eq!(back.as_slice(), [6.0, 6.0, 3.0, 120.0, 30.0, 6.0]);
    assert_eq!(before.as_slice(), [1.0, 1.0, 2.0, 1.0, 4.0, 20.0]);
    let wrapped = (i32::MAX.wrapping_mul(3), i32::MAX.wrapping_mul(3).wrapping_mul(-2));
    assert_eq!(of_integers(&Tensor::from([i32::MAX, 3, -2])).as_slice(), [i32::MAX, wrapped.0, wrapped.1]);
}

#[test]
fn gradients_of_running_products_are_right_at_any_number_of_zeros() {
    mind! {
        fn own<N>(x: f64[N], w: f64[N]) -> f64 { sum(cumprod(x, axis = 0) * w) }
        fn before<N>(x: f64[N], w: f64[N]) -> f64 { sum(cumprod(x, axis = 0, exclusive = true) * w) }
        fn behind<N>(x: f64[N], w: f64[N]) -> f64 { sum(cumprod(x, axis = 0, reverse = true) * w) }

        fn d_own<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(own, wrt = x)(x, w) }
        fn d_before<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(before, wrt = x)(x, w) }
        fn d_behind<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(behind, wrt = x)(x, w) }

        fn slope<N>(x: f64[N], w: f64[N], v: f64[N]) -> f64 { sum(d_own(x, w) * v) }
        fn second<N>(x: f64[N], w: f64[N], v: f64[N]) -> f64[N] { grad(slope, wrt = x)(x, w, v) }
    }
    let len = 5;
    let w = Tensor::from([1.0, -2.0, 3.0, 0.5, 2.0]);
    let v = Tensor::from([1.0, 3.0, -1.0, 2.0, 0.5]);
    // The product of the elements at `places`, except for those in `without`.
    let product = |x: &[f64], places: std::ops::Range<usize>, without: &[usize]| -> f64 {
        places.filter(|place| !without.contains(place)).map(|place| x[place]).product()
    };
    for zeros in 0..1_usize << len {
        let elements: Vec<f64> =
            (0..len).map(|i| if zeros >> i & 1 == 1 { 0.0 } else { i as f64 - 1.5 }).collect();
        let x = Tensor::from_vec((len,), elements.clone()).expect("as many as there are");
        let x = &x;
        let (w, v) = (Tensor::from_vec((len,), w.as_slice().to_vec()).expect("five"), &v);
        let v = Tensor::from_vec((len,), v.as_slice().to_vec()).expect("five");
        let at = |i: usize| w.as_slice()[i];
        for j in 0..len {
            let own: f64 = (j..len).map(|i| at(i) * product(&elements, 0..i + 1, &[j])).sum();
            assert_eq!(d_own(x, &w).as_slice()[j], own, "{elements:?} at {j}");
            let before: f64 = (j + 1..len).map(|i| at(i) * product(&elements, 0..i, &[j])).sum();
            assert_eq!(d_before(x, &w).as_slice()[j], before, "{elements:?} at {j}");
            let behind: f64 = (0..j + 1).map(|i| at(i) * product(&elements, i..len, &[j])).sum();
            assert_eq!(d_behind(x, &w).as_slice()[j], behind, "{elements:?} at {j}");
            let others = (0..len).filter(|other| *other != j);
            let by = |k: usize| {
                let from = j.max(k);
                v.as_slice()[k]
                    * (from..len).map(|i| at(i) * product(&elements, 0..i + 1, &[j, k])).sum::<f64>()
            };
            let expected: f64 = others.map(by).sum();
            let found = second(x, &w, &v).as_slice()[j];
            assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}: {elements:?} at {j}");
        }
    }
}

#[test]
fn the_largest_and_the_smallest_so_far() {
    mind! {
        fn f(x: f32[5]) -> (f32[5], f32[5], f32[5], f32[5]) {
            (cummax(x, axis = 0), cummin(x, axis = 0), cummax(x, 0, reverse = true), cummin(x, 0, exclusive = true))
        }

        fn of_integers(x: i64[4]) -> (i64[4], i64[4]) { (cummax(x, axis = 0), cummax(x, 0, exclusive = true)) }
    }
    let (max, min, back, before) = f(&Tensor::from([1.0, 3.0, -2.0, 3.0, 5.0]));
    assert_eq!(max.as_slice(), [1.0, 3.0, 3.0, 3.0, 5.0]);
    assert_eq!(min.as_slice(), [1.0, 1.0, -2.0, -2.0, -2.0]);
    assert_eq!(back.as_slice(), [5.0; 5]);
    assert_eq!(before.as_slice(), [f32::INFINITY, 1.0, 1.0, -2.0, -2.0]);
    let (own, before) = of_integers(&Tensor::from([-7, 4, 2, 9]));
    assert_eq!((own.as_slice(), before.as_slice()), (&[-7, 4, 4, 9][..], &[i64::MIN, -7, 4, 4][..]));
    let (max, min, back, _) = f(&Tensor::from([1.0, f32::NAN, 5.0, -1.0, 0.0]));
    assert!(max.as_slice()[1..].iter().chain(&min.as_slice()[1..]).all(|x| x.is_nan()));
    assert_eq!(back.as_slice()[2..], [5.0, 0.0, 0.0]);
    assert!(back.as_slice()[..2].iter().all(|x| x.is_nan()));
}

#[test]
fn the_first_of_equal_elements_gets_what_the_largest_passes_back() {
    mind! {
        fn own(x: f64[6], w: f64[6]) -> f64 { sum(cummax(x, axis = 0) * w) }
        fn before(x: f64[6], w: f64[6]) -> f64 { sum(where(w > 0.0, cummax(x, axis = 0, exclusive = true), 0.0) * w) }
        fn behind(x: f64[6], w: f64[6]) -> f64 { sum(cummin(x, axis = 0, reverse = true) * w) }

        fn d_own(x: f64[6], w: f64[6]) -> f64[6] { grad(own, wrt = x)(x, w) }
        fn d_before(x: f64[6], w: f64[6]) -> f64[6] { grad(before, wrt = x)(x, w) }
        fn d_behind(x: f64[6], w: f64[6]) -> f64[6] { grad(behind, wrt = x)(x, w) }
    }
    let inf = f64::INFINITY;
    let w = Tensor::from([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    for (x, own, before, behind) in [
        (
            [1.0, 3.0, 3.0, 2.0, 5.0, 5.0],
            [1.0, 14.0, 0.0, 0.0, 48.0, 0.0],
            [2.0, 28.0, 0.0, 0.0, 32.0, 0.0],
            [1.0, 0.0, 0.0, 14.0, 0.0, 48.0],
        ),
        (
            [2.0; 6],
            [63.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [62.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 63.0],
        ),
        // An element at the first position that does not change the maximum counts too.
        (
            [-inf, -inf, 0.0, -inf, inf, inf],
            [3.0, 0.0, 12.0, 0.0, 48.0, 0.0],
            [6.0, 0.0, 24.0, 0.0, 32.0, 0.0],
            [0.0, 0.0, 0.0, 15.0, 0.0, 48.0],
        ),
    ] {
        let x = Tensor::from(x);
        assert_eq!(d_own(&x, &w).as_slice(), own);
        assert_eq!(d_before(&x, &w).as_slice(), before);
        assert_eq!(d_behind(&x, &w).as_slice(), behind);
    }
}
