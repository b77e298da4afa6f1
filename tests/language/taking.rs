//! `take_along`.

use mind::{Tensor, mind};

#[test]
fn elements_are_picked_along_an_axis() {
    mind! {
        fn f<N, K>(x: f32[N, 3], i: i64[N, K], j: i32[2, 3]) -> (f32[N, K], f32[2, 3]) {
            (take_along(x, i, axis = -1), x.take_along(j, axis = 0))
        }

        fn of_truths(x: bool[3], i: i64[2]) -> bool[2] { take_along(x, i, 0) }

        fn of_view<N, M>(x: f32[N, M], i: i64[M]) -> f32[M, 1] { take_along(x.T + 1.0, i[.., _], axis = 1) }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (along, down) =
        f(&x, &Tensor::from([[2, 0, 2, 1], [0, 0, 1, 1]]), &Tensor::from([[1, 0, 1], [0, 0, 0]]));
    assert_eq!(along.as_slice(), [3.0, 1.0, 3.0, 2.0, 4.0, 4.0, 5.0, 5.0]);
    assert_eq!(down.as_slice(), [4.0, 2.0, 6.0, 1.0, 2.0, 3.0]);
    assert_eq!(
        of_truths(&Tensor::from([true, false, true]), &Tensor::from([1, 2])),
        Tensor::from([false, true])
    );
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(of_view(&x, &Tensor::from([1, 0, 1])).as_slice(), [5.0, 3.0, 7.0]);
}

#[test]
fn an_index_out_of_range_is_an_error_before_anything_is_written() {
    mind! {
        fn f(x: f32[2, 3], i: i64[2, 1], y: &mut f32[2, 3]) -> f32[2, 1] {
            y = x + 1.0;
            take_along(x, i, axis = 1)
        }
    }
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    for bad in [3, -1, i64::MIN] {
        let mut y = Tensor::zeros();
        let error = try_f(&x, &Tensor::from([[0], [bad]]), &mut y).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("E6001: `f`: index {bad} at position 1 is out of range, needed 0 to 2")
        );
        assert_eq!(y, Tensor::zeros());
    }
}

#[test]
fn what_is_picked_gets_the_cotangents_in_the_order_of_the_indices() {
    mind! {
        fn loss<N, K>(scores: f64[N, K], target: i32[N]) -> f64 {
            let logp = scores - log(sum(exp(scores), axes = [-1], keepdims = true));
            -mean(take_along(logp, target[.., _], axis = -1))
        }

        fn slope<N, K>(scores: f64[N, K], target: i32[N]) -> f64[N, K] { grad(loss, wrt = scores)(scores, target) }

        fn cubes<N, M>(x: f64[N], i: i64[M]) -> f64 {
            let y = take_along(x, i, axis = 0);
            sum(y * y * y)
        }

        fn first<N, M>(x: f64[N], i: i64[M]) -> f64[N] { grad(cubes, wrt = x)(x, i) }

        fn all<N, M>(x: f64[N], i: i64[M]) -> f64 { sum(first(x, i)) }

        fn second<N, M>(x: f64[N], i: i64[M]) -> f64[N] { grad(all, wrt = x)(x, i) }
    }
    let scores = Tensor::from([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]);
    let slopes = slope(&scores, &Tensor::from([2, 0]));
    let [a, b, c] = [0.0_f64, 1.0, 2.0].map(f64::exp);
    let total = a + b + c;
    let exact = [a / total, b / total, c / total - 1.0, -2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0];
    for (found, exact) in slopes.as_slice().iter().zip(exact) {
        assert!((found - exact / 2.0).abs() < 1e-15, "{slopes:?}");
    }
    let (x, i) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([2, 0, 2, 2]));
    assert_eq!(first(&x, &i).as_slice(), [3.0, 0.0, 81.0]);
    assert_eq!(second(&x, &i).as_slice(), [6.0, 0.0, 54.0]);
}

#[test]
#[should_panic(expected = "E6001: `i`: index -1 at position 1 is out of range, needed 0 to 2")]
fn an_expression_tells_the_index_that_is_out_of_range() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let i = Tensor::from([0_i64, -1]);
    let _ = mind!(take_along(x, i, axis = 0)).into_vec();
}
