//! `flip`, `roll`, `sort` and `argsort`.

use mind::{Tensor, mind};

#[test]
fn elements_along_an_axis_from_the_last_to_the_first() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], f32[M, N]) {
            (flip(x, axis = 0), x.flip(axis = -1) * 2.0, flip(x.T, 0))
        }

        fn of_others(x: i64[3], y: bool[3]) -> (i64[3], bool[3]) { (flip(x, axis = 0), flip(y, axis = 0)) }

        fn loss<N>(x: f32[N]) -> f32 { sum(flip(x, axis = 0) * x * x) }

        fn slope<N>(x: f32[N]) -> f32[N] { grad(loss, wrt = x)(x) }
    }
    let (down, across, turned) = f(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!(down.as_slice(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    assert_eq!(across.as_slice(), [6.0, 4.0, 2.0, 12.0, 10.0, 8.0]);
    assert_eq!(turned.as_slice(), [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]);
    let (ints, truths) = of_others(&Tensor::from([1, 2, 3]), &Tensor::from([true, false, false]));
    assert_eq!((ints.as_slice(), truths.as_slice()), (&[3, 2, 1][..], &[false, false, true][..]));
    // The gradient of c a² + b b² + a c² is (2 a c + c², 3 b², a² + 2 a c).
    assert_eq!(slope(&Tensor::from([1.0, 2.0, 3.0])).as_slice(), [15.0, 12.0, 7.0]);
}

#[test]
fn elements_along_an_axis_moved_by_some_places() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], f32[N, M]) {
            (roll(x, 1, axis = 0), x.roll(-1, axis = -1) * 2.0, roll(x, shift = 5, axis = 1))
        }

        fn of_others(x: i64[3], y: bool[3]) -> (i64[3], bool[3]) { (roll(x, 1, axis = 0), roll(y, 2, axis = 0)) }

        fn loss<N>(x: f32[N]) -> f32 { sum(roll(x, 1, axis = 0) * x * x) }

        fn slope<N>(x: f32[N]) -> f32[N] { grad(loss, wrt = x)(x) }
    }
    let (down, across, around) = f(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!(down.as_slice(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    assert_eq!(across.as_slice(), [4.0, 6.0, 2.0, 10.0, 12.0, 8.0]);
    assert_eq!(around.as_slice(), [2.0, 3.0, 1.0, 5.0, 6.0, 4.0]);
    let (ints, truths) = of_others(&Tensor::from([1, 2, 3]), &Tensor::from([true, false, false]));
    assert_eq!((ints.as_slice(), truths.as_slice()), (&[3, 1, 2][..], &[false, false, true][..]));
    // The gradient of c a² + a b² + b c² is (2 a c + b², 2 a b + c², a² + 2 b c).
    assert_eq!(slope(&Tensor::from([1.0, 2.0, 3.0])).as_slice(), [10.0, 13.0, 13.0]);
}

#[test]
fn elements_in_order_and_where_they_are() {
    mind! {
        fn f<N, M>(x: f32[N, M]) -> (f32[N, M], f32[N, M], i64[N, M], i64[N, M]) {
            (sort(x), sort(x, axis = 0, descending = true), argsort(x), x.argsort(0, descending = true))
        }

        fn of_integers(x: i32[5]) -> (i32[5], i64[5]) { (sort(x, descending = true), argsort(x)) }
    }
    let (across, down, places, places_down) =
        f(&Tensor::from([[3.0, f32::NAN, 2.0, 3.0], [4.0, 1.0, 2.0, -1.0]]));
    assert_eq!(across.as_slice()[..3], [2.0, 3.0, 3.0]);
    assert!(across.as_slice()[3].is_nan());
    assert_eq!(across.as_slice()[4..], [-1.0, 1.0, 2.0, 4.0]);
    assert_eq!((down.as_slice()[0], down.as_slice()[4], down.as_slice()[5]), (4.0, 3.0, 1.0));
    assert!(down.as_slice()[1].is_nan());
    assert_eq!(places.as_slice(), [2, 0, 3, 1, 3, 1, 2, 0]);
    assert_eq!(places_down.as_slice(), [1, 0, 0, 0, 0, 1, 1, 1]);
    let (ints, places) = of_integers(&Tensor::from([5, -2, 5, 7, i32::MIN]));
    assert_eq!((ints.as_slice(), places.as_slice()), (&[7, 5, 5, -2, i32::MIN][..], &[4, 1, 0, 2, 3][..]));
}

#[test]
fn zeros_of_both_signs_are_equal_and_stay_as_they_are() {
    mind! {
        fn f(x: f64[5]) -> (f64[5], f64[5]) { (sort(x), sort(x, descending = true)) }
    }
    let (up, down) = f(&Tensor::from([0.0, 1.0, -0.0, -1.0, 0.0]));
    let signs = |x: &[f64]| x.iter().map(|x| x.is_sign_negative()).collect::<Vec<_>>();
    assert_eq!(
        (up.as_slice(), signs(up.as_slice())),
        (&[-1.0, 0.0, 0.0, 0.0, 1.0][..], vec![true, false, true, false, false])
    );
    assert_eq!(signs(down.as_slice()), [false, false, true, false, true]);
}

#[test]
fn each_place_passes_back_to_the_element_that_comes_there() {
    mind! {
        fn loss<N>(x: f64[N], w: f64[N]) -> f64 {
            let y = sort(x);
            sum(y * y * w)
        }

        fn slope<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(loss, wrt = x)(x, w) }

        fn second<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(of_slope, wrt = x)(x, w) }

        fn of_slope<N>(x: f64[N], w: f64[N]) -> f64 { sum(slope(x, w) * w) }
    }
    let (x, w) = (Tensor::from([3.0, 1.0, 2.0]), Tensor::from([1.0, 10.0, 100.0]));
    // The loss is 1 · 1² + 10 · 2² + 100 · 3².
    assert_eq!(slope(&x, &w).as_slice(), [600.0, 2.0, 40.0]);
    assert_eq!(second(&x, &w).as_slice(), [200.0, 20.0, 2000.0]);
}
