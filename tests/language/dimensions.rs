//! Symbols: static, dynamic and named arguments, and arithmetic on dimensions.

use mind::{Const, Tensor, mind};

mind::dim!(Batch);
mind::dim!(Features);

mind! {
    /// Most tests in this file use it.
    fn scale<N, M>(x: f32[N, M], by: f32[M]) -> (f32[N, M], f32[N]) {
        (x * by, sum(x, axes = [1]))
    }
}

#[test]
fn static_arguments_give_static_results() {
    let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (y, rows): (Tensor![f32; 2, 3], Tensor![f32; 2]) = scale(&x, &Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!(y, Tensor::from([[1.0, 4.0, 9.0], [4.0, 10.0, 18.0]]));
    assert_eq!(rows, Tensor::from([6.0, 15.0]));
}

#[test]
fn dynamic_arguments_give_dynamic_results() {
    let x: Tensor![f32; ?, ?] = Tensor::from_vec((2, 2), vec![1.0, 2.0, 3.0, 4.0]).expect("4");
    let by: Tensor![f32; ?] = Tensor::from_vec((2,), vec![10.0, 100.0]).expect("2");
    let (y, rows): (Tensor![f32; ?, ?], Tensor![f32; ?]) = scale(&x, &by);
    assert_eq!((y.dims(), y.as_slice()), ([2, 2], &[10.0, 200.0, 30.0, 400.0][..]));
    assert_eq!(rows.as_slice(), [3.0, 7.0]);
}

#[test]
fn named_arguments_give_named_results() {
    let x: Tensor![f32; Batch, Features] = Tensor::full_with((Batch(3), Features(2)), 1.0);
    let by: Tensor![f32; Features] = Tensor::full_with((Features(2),), 2.0);
    let (y, rows): (Tensor![f32; Batch, Features], Tensor![f32; Batch]) = scale(&x, &by);
    assert_eq!((y.as_slice(), rows.as_slice()), (&[2.0; 6][..], &[2.0; 3][..]));
}

#[test]
fn the_kinds_of_dimensions_mix() {
    let x: Tensor![f32; Batch, 2] = Tensor::full_with((Batch(3), Const), 1.0);
    let (y, rows): (Tensor![f32; Batch, 2], Tensor![f32; Batch]) = scale(&x, &Tensor::from([1.0, 2.0]));
    assert_eq!((y.dims(), rows.dims()), ([3, 2], [3]));
}

#[test]
fn derived_dimensions_of_results_are_dynamic() {
    mind! {
        fn f<N, H>(x: f32[N, H]) -> (f32[2 * N, H], f32[N * H], f32[N, H - 1], f32[(H - 3) / 2 + 1], f32[H * H + N]) {
            (
                x.reshape([N, 1, H]).broadcast_to([N, 2, H]).reshape([2 * N, H]),
                x.reshape([-1]),
                x[.., 1..],
                x[0, 0..H - 2;2],
                zeros([H * H + N]),
            )
        }
    }
    for (n, h) in [(1, 3), (2, 4), (3, 8)] {
        let x = Tensor::from_fn_with((n, h), |[i, j]| (10 * i + j) as f32);
        let (a, b, c, d, e) = f(&x);
        assert_eq!(a, Tensor::from_fn_with((2 * n, h), |[i, j]| x[[i / 2, j]]));
        assert_eq!(b.as_slice(), x.as_slice());
        assert_eq!(c, Tensor::from_fn_with((n, h - 1), |[i, j]| x[[i, j + 1]]));
        assert_eq!(d, Tensor::from_fn_with(((h - 3) / 2 + 1,), |[j]| x[[0, 2 * j]]));
        assert_eq!(e.dims(), [h * h + n]);
    }
    // Static arguments work too.
    let (a, ..) = f(&Tensor::from([[1.0, 2.0, 3.0]]));
    let a: Tensor![f32; ?, 3] = a;
    assert_eq!(a.dims(), [2, 3]);
}

#[test]
fn derived_dimensions_of_parameters_take_any_argument_of_that_extent() {
    mind! {
        fn differences<N>(x: f32[N + 1], w: f32[N]) -> f32[N] {
            (x[1..] - x[..-1]) * w
        }

        fn halves<N>(x: f32[N], y: f32[2 * N, N * N]) -> f32[N, N * N] {
            y[..N] + y[N..] * x[0]
        }
    }
    let x = Tensor::from([1.0, 4.0, 9.0, 16.0]);
    let w = Tensor::from([1.0, 1.0, 10.0]);
    let expected = [3.0, 5.0, 70.0];
    assert_eq!(differences(&x, &w).as_slice(), expected);
    assert_eq!(differences(&x.as_dyn(), &w).as_slice(), expected);
    let y: Tensor![f32; 3] = differences(&x.as_dyn(), &w);
    assert_eq!(y, Tensor::from(expected));
    let y = Tensor::from([
        [1.0, 2.0, 3.0, 4.0],
        [5.0, 6.0, 7.0, 8.0],
        [0.0, 1.0, 0.0, 1.0],
        [1.0, 0.0, 1.0, 0.0],
    ]);
    let z = halves(&Tensor::from([10.0, 0.0]), &y);
    assert_eq!(z.as_slice(), [1.0, 12.0, 3.0, 14.0, 15.0, 6.0, 17.0, 8.0]);
}

#[test]
fn dimensions_are_equal_when_their_normal_forms_are() {
    mind! {
        fn f<N, M>(a: f32[N * (M + 1)], b: f32[N + M * N], x: f32[(2 * N + 4) / 2], y: f32[N + 2], _n: f32[N], _m: f32[M])
            -> (f32[M * N + N], f32[2 + N]) {
            (a + b, x * y)
        }
    }
    let (a, b) = (Tensor::full_with((8,), 1.0), Tensor::full_with((8,), 2.0));
    let (x, y) = (Tensor::full_with((4,), 3.0), Tensor::full_with((4,), 4.0));
    let (c, d) = f(&a, &b, &x, &y, &Tensor::zeros_with((2,)), &Tensor::zeros_with((3,)));
    assert_eq!((c.as_slice(), d.as_slice()), (&[3.0; 8][..], &[12.0; 4][..]));
}

#[test]
fn a_symbol_may_meet_an_extent_of_1() {
    mind! {
        fn f<N>(x: f32[N, 1], y: f32[1, N]) -> (f32[N, N], f32[N, N]) {
            (x * y, x - y.T.T)
        }
    }
    let x = Tensor::from([[1.0], [2.0]]);
    let y = Tensor::from([[3.0, 4.0]]);
    assert_eq!(f(&x, &y).0, Tensor::from([[3.0, 4.0], [6.0, 8.0]]));
    // Dynamic extents that happen to be 1.
    let (a, _) = f(&Tensor::full_with((1, Const), 2.0), &Tensor::full_with((Const, 1), 3.0));
    assert_eq!((a.dims(), a.as_slice()), ([1, 1], &[6.0][..]));
}

#[test]
fn rank_8_and_unused_symbols_are_fine() {
    mind! {
        fn f<A, B>(x: f32[A, 1, 2, 1, B, 1, 2, 1], _unused: f32[A, A]) -> f32[B, 2, A, 2] {
            transpose(squeeze(x, axes = [1, 3, 5, 7]), [2, 1, 0, 3])
        }
    }
    let x =
        Tensor::from_fn_with((2, Const, Const, Const, 3, Const, Const, Const), |[a, _, b, _, c, _, d, _]| {
            (1000 * a + 100 * b + 10 * c + d) as f32
        });
    let y = f(&x, &Tensor::zeros_with((2, 2)));
    let expected =
        Tensor::from_fn_with((3, Const, 2, Const), |[c, b, a, d]| (1000 * a + 100 * b + 10 * c + d) as f32);
    assert_eq!(y, expected);
}

#[test]
fn the_number_of_elements_is_that_of_the_argument_of_a_call() {
    mind! {
        fn average<M>(x: f32[M]) -> f32 { sum(x) / M }

        fn both<N>(y: f32[N, 3]) -> (f32, f32) { (average(y[.., 0]), average(y[0])) }

        fn slope<N>(y: f32[N, 3]) -> f32[N, 3] { grad(first, wrt = y)(y) }

        fn first<N>(y: f32[N, 3]) -> f32 { average(y[.., 0]) }
    }
    let y = Tensor::from_vec((2, Const::<3>), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!(both(&y), (2.5, 2.0));
    assert_eq!(slope(&y).as_slice(), [0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
}
