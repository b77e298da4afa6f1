//! `flip`, `roll`, `sort` and `argsort`.

use mind::{Tensor, mind};
use mind_tests::every_case;

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

#[test]
fn the_greatest_elements_with_their_positions() {
    mind! {
        fn head<N>(x: f32[N]) -> (f32[3], i64[3]) { num::top_k(x, k = 3) }

        fn columns(x: i32[4, 2]) -> (i32[2, 2], i64[2, 2]) { num::top_k(x, 2, axis = 0) }

        fn loss<N>(x: f32[N]) -> f32 {
            let (values, _places) = head(x);
            sum(values * values * [1.0, 10.0, 100.0])
        }

        fn slope<N>(x: f32[N]) -> f32[N] { grad(loss, wrt = x)(x) }

        fn of_rows<B, N>(x: f32[B, N]) -> (f32[B, 3], i64[B, 3]) { vmap(head, over = x)(x) }

        fn one_by_one<B, N>(x: f32[B, N]) -> f32[3] {
            fold most = [0.0, 0.0, 0.0] for row in x {
                let (values, _places) = head(row);
                most + values
            }
        }
    }
    let negative_nan = f32::from_bits(0xffc0_0000);
    let (values, places) =
        head(&Tensor::from([1.0, negative_nan, -0.0, 0.0, f32::NEG_INFINITY, 0.0, f32::NAN]));
    assert_eq!(places.as_slice(), [1, 6, 0]);
    assert_eq!(values.as_slice()[0].to_bits(), negative_nan.to_bits());
    let (values, places) = head(&Tensor::from([-1.0, -0.0, 0.0, -2.0]));
    assert_eq!((places.as_slice(), values.as_slice()[0].is_sign_negative()), (&[1, 2, 0][..], true));
    let (values, places) = columns(&Tensor::from([[1, i32::MIN], [7, 5], [7, i32::MAX], [-1, 5]]));
    assert_eq!((values.as_slice(), places.as_slice()), (&[7, i32::MAX, 7, 5][..], &[1, 2, 2, 1][..]));
    // The loss is 1 · 4² + 10 · 3² + 100 · 2².
    assert_eq!(slope(&Tensor::from([3.0, 1.0, 4.0, 2.0])).as_slice(), [60.0, 0.0, 8.0, 400.0]);
    let rows = Tensor::from([[3.0, 1.0, 4.0, 2.0], [0.0, 9.0, 8.0, 7.0]]);
    let (values, places) = of_rows(&rows);
    assert_eq!(values.as_slice(), [4.0, 3.0, 2.0, 9.0, 8.0, 7.0]);
    assert_eq!(places.as_slice(), [2, 0, 3, 1, 2, 3]);
    assert_eq!(one_by_one(&rows).as_slice(), [13.0, 11.0, 9.0]);
}

#[test]
fn the_first_elements_are_those_of_the_whole_sort() {
    mind! {
        fn heads<N, M>(x: f32[N, M]) -> (f32[N, 3], i64[5, M]) {
            (sort(x)[.., ..3], argsort(x, axis = 0, descending = true)[..5])
        }

        fn all<N, M>(x: f32[N, M]) -> (f32[N, M], i64[N, M]) { (sort(x), argsort(x, axis = 0, descending = true)) }

        fn loss<N, M>(x: f32[N, M]) -> f32 {
            let y = sort(x)[.., ..3];
            sum(y * y)
        }

        fn slope<N, M>(x: f32[N, M]) -> f32[N, M] { grad(loss, wrt = x)(x) }
    }
    for (rows, columns) in [(7, 4), (300, 500)] {
        let number = |[i, j]: [usize; 2]| match (i * 31 + j * 17) % 101 {
            0 => -0.0,
            1 => f32::NAN,
            2 => f32::NEG_INFINITY,
            other => (other * other % 53) as f32,
        };
        let x = Tensor::<f32, _>::from_fn_with((rows, columns), number);
        let (low, high) = heads(&x);
        let (sorted, order) = all(&x);
        let bits = |row: &[f32]| row.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        for (row, whole) in low.as_slice().chunks(3).zip(sorted.as_slice().chunks(columns)) {
            assert_eq!(bits(row), bits(&whole[..3]));
        }
        assert_eq!(high.as_slice(), &order.as_slice()[..5 * columns]);
        let (a, b): (_, _) = mind!((sort(x)[.., ..3], argsort(x, axis = 0, descending = true)[..5]));
        assert_eq!((bits(a.as_slice()), b.as_slice()), (bits(low.as_slice()), high.as_slice()));
        let (values, places) = mind!(num::top_k(x, k = 3));
        assert_eq!(places.as_slice(), mind!(argsort(x, descending = true)[.., ..3]).as_slice());
        assert_eq!(bits(values.as_slice()), bits(mind!(sort(x, descending = true)[.., ..3]).as_slice()));
    }
    let x = Tensor::from([[4.0, 2.0, 5.0, 1.0, 2.0]]);
    assert_eq!(slope(&x).as_slice(), [0.0, 4.0, 0.0, 2.0, 4.0]);
    assert_eq!(mind!(grad(sum(sort(x)[.., ..3] * 2.0), wrt = x)).as_slice(), [0.0, 2.0, 0.0, 2.0, 2.0]);
}

/// Ten million elements with `MIND_TESTS=all`, which are more than the caches hold.
#[test]
fn long_lines_are_in_the_order_of_a_stable_sort() {
    mind! {
        fn all<N>(x: f32[N]) -> (f32[N], i64[N]) { (sort(x), argsort(x)) }
        fn down<N>(x: f32[N]) -> i64[N] { argsort(x, descending = true) }
        fn head<N>(x: f32[N]) -> (f32[100], i64[100]) { num::top_k(x, k = 100) }
        fn different<N>(x: f32[N]) -> (f32[1000], i64[1000]) {
            (num::unique(x, size = 1000), num::unique_counts(x, size = 1000))
        }
    }
    let count = if every_case() { 10_000_000 } else { 50_000 };
    let number = |at: usize| ((at.wrapping_mul(0x9e37_79b9) >> 7) % 1000) as f32 - 500.0;
    let x: Vec<f32> = (0..count).map(number).collect();
    let tensor = Tensor::from(x.clone());
    let mut order: Vec<i64> = (0..count as i64).collect();
    order.sort_by(|a, b| x[*a as usize].total_cmp(&x[*b as usize]));
    let (sorted, found) = all(&tensor);
    assert!(found.as_slice() == order);
    assert!(sorted.as_slice().iter().zip(&order).all(|(number, at)| *number == x[*at as usize]));
    let (values, counts) = different(&tensor);
    for (value, count) in values.as_slice().iter().zip(counts.as_slice()) {
        let first = sorted.as_slice().partition_point(|number| number < value);
        let last = sorted.as_slice().partition_point(|number| number <= value);
        assert_eq!((last - first) as i64, *count, "{value}");
    }
    assert!(values.as_slice().is_sorted_by(|a, b| a < b), "a thousand different numbers");
    order.sort_by(|a, b| x[*b as usize].total_cmp(&x[*a as usize]).then(a.cmp(b)));
    assert!(down(&tensor).as_slice() == order);
    let (values, places) = head(&tensor);
    assert_eq!(places.as_slice(), &order[..100]);
    assert!(values.as_slice().iter().zip(&order).all(|(number, at)| *number == x[*at as usize]));
}

#[test]
fn more_elements_than_there_are_is_an_error_before_anything_is_computed() {
    mind! {
        fn head<N>(x: f32[N]) -> (f32[3], i64[3]) { num::top_k(x, k = 3) }
    }
    let error = try_head(&Tensor::from(vec![1.0, 2.0])).expect_err("two elements have no three greatest");
    assert!(error.to_string().contains("E6009"), "{error}");
}

#[test]
fn ranks_among_elements() {
    mind! {
        fn middle<N, M>(x: f32[N, M]) -> (f32[N], f32[1, M]) {
            (num::median(x), num::quantile(x, 0.25, axis = 0, keepdims = true))
        }

        fn places<N, M>(edges: i32[N], x: i32[M]) -> (i64[M], i64[M]) {
            (num::searchsorted(edges, x), num::searchsorted_right(edges, x))
        }

        fn different<N>(x: f64[N]) -> (f64[4], i64[4], i64[N]) {
            (num::unique(x, size = 4), num::unique_counts(x, size = 4), num::unique_inverse(x))
        }

        fn by_two_keys<N>(a: i32[N], b: f64[N]) -> i64[N] {
            num::argsort_by(argsort(b, descending = true), a)
        }

        fn where_true<N>(c: bool[N]) -> i64[4] { num::nonzero(c, size = 4, fill = -1) }
    }
    let (medians, quarters) = middle(&Tensor::from([[4.0, 1.0, 2.0, 9.0], [0.0, f32::NAN, 1.0, 5.0]]));
    assert_eq!(medians.as_slice()[0], 3.0);
    assert!(medians.as_slice()[1].is_nan() && quarters.as_slice()[1].is_nan());
    assert_eq!((quarters.as_slice()[0], quarters.as_slice()[2], quarters.as_slice()[3]), (1.0, 1.25, 6.0));
    let (before, after) =
        places(&Tensor::from([1, 3, 3, i32::MAX]), &Tensor::from([i32::MIN, 3, i32::MAX, 2]));
    assert_eq!((before.as_slice(), after.as_slice()), (&[0, 1, 3, 1][..], &[0, 3, 4, 1][..]));
    let negative_nan = -f64::NAN;
    let (values, counts, inverse) = different(&Tensor::from([-0.0, f64::NAN, 2.0, 0.0, negative_nan, 2.0]));
    assert!(values.as_slice()[0] == 0.0 && values.as_slice()[0].is_sign_negative());
    assert!(values.as_slice()[1] == 2.0 && values.as_slice()[2].is_nan() && values.as_slice()[3] == 0.0);
    assert_eq!((counts.as_slice(), inverse.as_slice()), (&[2, 2, 2, 0][..], &[0, 2, 1, 0, 2, 1][..]));
    let order = by_two_keys(&Tensor::from([1, 0, 1, 0]), &Tensor::from([0.5, 2.0, 7.0, 3.0]));
    assert_eq!(order.as_slice(), [3, 1, 2, 0]);
    assert_eq!(where_true(&Tensor::from([false, true, true])).as_slice(), [1, 2, -1, -1]);
    assert_eq!(where_true(&Tensor::from([true; 6])).as_slice(), [0, 1, 2, 3]);
    let (one, quarter) = middle(&Tensor::from([[7.0]]));
    assert_eq!((one.as_slice(), quarter.as_slice()), (&[7.0][..], &[7.0][..]));
}
