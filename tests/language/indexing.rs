//! `x[…]` and `slice`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn every_form_of_subscript_takes_what_it_says() {
    mind! {
        fn places(x: f32[2, 3, 4]) -> (f32[3, 4], f32[4], f32, f32[3, 4], f32[2, 3], f32[2, 3]) {
            (x[1], x[0, 2], x[1, -1, 0], x[-2], x[.., -1], x[.., 1])
        }

        fn ranges(x: f32[5, 6]) -> (f32[2, 6], f32[3, 6], f32[3, 6], f32[5, 2], f32[4, 5], f32[2, 1]) {
            (x[1..3], x[..3], x[2..], x[.., -2..], x[..-1, 0..-1], x[-3..-1, 5..6])
        }

        fn steps(x: f32[7, 4]) -> (f32[3, 4], f32[4, 4], f32[2, 4], f32[7, 2], f32[3, 2], f32[1, 4]) {
            (x[0..6;2], x[..;2], x[1..7;3], x[.., 0..;2], x[..5;2, 1..4;2], x[2..4;100])
        }

        fn mixed(x: f32[2, 3, 4]) -> (f32[2, 2], f32[3], f32[2, 3, 4], f32[1, 4], f32[4]) {
            (x[.., 1..3, -1], x[1, .., 2], x[..], x[0..1, 1, ..], x[1, 1, ..])
        }
    }
    let x = small_integers((Const::<2>, Const::<3>, Const::<4>), 1);
    let (a, b, c, d, e, f) = places(&x);
    assert_eq!(a, Tensor::from_fn(|[j, k]| x[[1, j, k]]));
    assert_eq!(b, Tensor::from_fn(|[k]| x[[0, 2, k]]));
    assert_eq!(c, x[[1, 2, 0]]);
    assert_eq!(d, Tensor::from_fn(|[j, k]| x[[0, j, k]]));
    assert_eq!(e, Tensor::from_fn(|[i, j]| x[[i, j, 3]]));
    assert_eq!(f, Tensor::from_fn(|[i, j]| x[[i, j, 1]]));

    let (a, b, c, d, e) = mixed(&x);
    assert_eq!(a, Tensor::from_fn(|[i, j]| x[[i, j + 1, 3]]));
    assert_eq!(b, Tensor::from_fn(|[j]| x[[1, j, 2]]));
    assert_eq!(c, x);
    assert_eq!(d, Tensor::from_fn(|[_, k]| x[[0, 1, k]]));
    assert_eq!(e, Tensor::from_fn(|[k]| x[[1, 1, k]]));

    let x = small_integers((Const::<5>, Const::<6>), 2);
    let (a, b, c, d, e, f) = ranges(&x);
    assert_eq!(a, Tensor::from_fn(|[i, j]| x[[i + 1, j]]));
    assert_eq!(b, Tensor::from_fn(|[i, j]| x[[i, j]]));
    assert_eq!(c, Tensor::from_fn(|[i, j]| x[[i + 2, j]]));
    assert_eq!(d, Tensor::from_fn(|[i, j]| x[[i, j + 4]]));
    assert_eq!(e, Tensor::from_fn(|[i, j]| x[[i, j]]));
    assert_eq!(f, Tensor::from_fn(|[i, _]| x[[i + 2, 5]]));

    let x = small_integers((Const::<7>, Const::<4>), 3);
    let (a, b, c, d, e, f) = steps(&x);
    assert_eq!(a, Tensor::from_fn(|[i, j]| x[[2 * i, j]]));
    assert_eq!(b, Tensor::from_fn(|[i, j]| x[[2 * i, j]]));
    assert_eq!(c, Tensor::from_fn(|[i, j]| x[[1 + 3 * i, j]]));
    assert_eq!(d, Tensor::from_fn(|[i, j]| x[[i, 2 * j]]));
    assert_eq!(e, Tensor::from_fn(|[i, j]| x[[2 * i, 1 + 2 * j]]));
    assert_eq!(f, Tensor::from_fn(|[_, j]| x[[2, j]]));
}

#[test]
fn bounds_may_be_dimensions() {
    mind! {
        const HALF: dim = 3;

        fn f<N>(x: f32[N, 6]) -> (f32[6], f32[N, HALF], f32[N, 3], f32[N - 1, 6], f32[1, 6], f32[N]) {
            (x[N - 1], x[.., ..HALF], x[.., HALF..2 * HALF], x[1..], x[N - 1..N], x[.., HALF])
        }
    }
    for n in [2, 5] {
        let x = small_integers((n, Const::<6>), 1);
        let (a, b, c, d, e, g) = f(&x);
        assert_eq!(a, Tensor::from_fn(|[j]| x[[n - 1, j]]));
        assert_eq!(b, Tensor::from_fn_with((n, Const), |[i, j]| x[[i, j]]));
        assert_eq!(c, Tensor::from_fn_with((n, Const), |[i, j]| x[[i, j + 3]]));
        assert_eq!(d, Tensor::from_fn_with((n - 1, Const), |[i, j]| x[[i + 1, j]]));
        assert_eq!(e, Tensor::from_fn(|[_, j]| x[[n - 1, j]]));
        assert_eq!(g, Tensor::from_fn_with((n,), |[i]| x[[i, 3]]));
    }
}

#[test]
fn subscripts_follow_each_other_and_any_expression() {
    mind! {
        fn f(x: f32[4, 4], y: f32[4, 4]) -> (f32, f32[2], f32, f32[3, 3]) {
            (x[1][2], (x + y)[0, 1..3], exp(x.T)[0, 0] + x.sum(axes = [0])[-1], x[1.., 1..][.., 0..3] - y[..3, ..3])
        }
    }
    let (x, y) = (small_integers((Const::<4>, Const::<4>), 1), small_integers((Const::<4>, Const::<4>), 2));
    let (a, b, c, d) = f(&x, &y);
    assert_eq!(a, x[[1, 2]]);
    assert_eq!(b, Tensor::from_fn(|[j]| x[[0, j + 1]] + y[[0, j + 1]]));
    let expected = x[[0, 0]].exp() + (0..4).map(|i| x[[i, 3]]).sum::<f32>();
    assert!((c - expected).abs() <= 1e-5 * expected.abs());
    assert_eq!(d, Tensor::from_fn(|[i, j]| x[[i + 1, j + 1]] - y[[i, j]]));
}

#[test]
fn the_call_form_takes_lists_of_bounds() {
    mind! {
        fn f(x: i32[5, 6]) -> (i32[2, 3], i32[4, 6], i32[3, 6]) {
            (
                slice(x, starts = [1, 0], ends = [5, 6], steps = [2, 2]),
                x.slice(starts = [1, 0], ends = [5, 6]),
                slice(x, [0, 0], [5, 6], [2, 1]),
            )
        }
    }
    let x: Tensor![i32; 5, 6] = Tensor::from_fn(|[i, j]| (10 * i + j) as i32);
    let (a, b, c) = f(&x);
    assert_eq!(a, Tensor::from([[10, 12, 14], [30, 32, 34]]));
    assert_eq!(b, Tensor::from_fn(|[i, j]| x[[i + 1, j]]));
    assert_eq!(c, Tensor::from_fn(|[i, j]| x[[2 * i, j]]));
}

#[test]
fn slices_of_slices_and_transposes_compose() {
    mind! {
        fn f<N>(x: f32[N, 8]) -> (f32[2, N], f32[N], f32[2, N]) {
            let odd = x[.., 1..;2];
            (odd.T[1..3], x.T[3], relu(odd[.., 2..].T))
        }
    }
    let x = small_integers((3, Const::<8>), 9);
    let (a, b, c) = f(&x);
    assert_eq!(a, Tensor::from_fn_with((Const, 3), |[j, i]| x[[i, 1 + 2 * (j + 1)]]));
    assert_eq!(b, Tensor::from_fn_with((3,), |[i]| x[[i, 3]]));
    assert_eq!(c, Tensor::from_fn_with((Const, 3), |[j, i]| x[[i, 1 + 2 * (j + 2)]].max(0.0)));
}
