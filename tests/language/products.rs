//! `@`, `matmul`, `dot`, `.T`.

use mind::{Const, Tensor, TensorRef, mind};

use crate::support::small_integers;

/// `x @ w` by its definition.
fn product<A: mind::Dim, B: mind::Dim, C: mind::Dim>(
    x: &TensorRef<f32, (A, B)>,
    w: &TensorRef<f32, (B, C)>,
) -> Tensor<f32, (A, C)> {
    let dims = (x.shape().0, w.shape().1);
    let inner = x.dims()[1];
    Tensor::from_fn_with(dims, |[i, j]| (0..inner).map(|k| x[[i, k]] * w[[k, j]]).sum())
}

#[test]
fn matrices_multiply() {
    mind! {
        fn f<N, K, M>(x: f32[N, K], w: f32[K, M]) -> (f32[N, M], f32[N, M], f32[N, M]) {
            (x @ w, matmul(x, w), dot(x, w))
        }
    }
    for (n, k, m) in [(1, 1, 1), (2, 3, 4), (1, 17, 1), (5, 1, 7), (33, 65, 31), (64, 64, 64), (130, 70, 50)]
    {
        let (x, w) = (small_integers((n, k), 1), small_integers((k, m), 2));
        let expected = product(&x, &w);
        let (a, b, c) = f(&x, &w);
        assert_eq!(a, expected, "{n} by {k} by {m}");
        assert_eq!((b, c), (expected.clone(), expected));
    }
}

#[test]
fn matrices_of_static_shape_multiply() {
    mind! {
        fn small(x: f32[2, 3], w: f32[3, 4]) -> f32[2, 4] {
            x @ w
        }

        fn large(x: f32[96, 80], w: f32[80, 72]) -> f32[96, 72] {
            x @ w
        }
    }
    let (x, w) = (small_integers((Const, Const), 3), small_integers((Const, Const), 4));
    assert_eq!(small(&x, &w), product(&x, &w));
    let (x, w) = (small_integers((Const, Const), 5), small_integers((Const, Const), 6));
    assert_eq!(large(&x, &w), product(&x, &w));
}

#[test]
fn vectors_multiply_as_in_numpy() {
    mind! {
        fn f(m: f32[2, 3], row: f32[2], column: f32[3]) -> (f32[2], f32[3], f32, f32, f32[2]) {
            (m @ column, row @ m, column @ column, dot(row, row), dot(m, column))
        }
    }
    let m = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (a, b, c, d, e) = f(&m, &Tensor::from([1.0, -1.0]), &Tensor::from([1.0, 0.0, 2.0]));
    assert_eq!((a, b), (Tensor::from([7.0, 16.0]), Tensor::from([-3.0, -3.0, -3.0])));
    assert_eq!((c, d), (5.0, 2.0));
    assert_eq!(e, Tensor::from([7.0, 16.0]));
}

#[test]
fn products_associate_to_the_left() {
    mind! {
        fn f(a: f32[2, 3], b: f32[3, 2], c: f32[2, 2]) -> (f32[2, 2], f32[2, 2], f32[2, 2]) {
            (a @ b @ c, a @ b * c, c + a @ b)
        }
    }
    let (a, b, c) = (
        small_integers((Const, Const), 1),
        small_integers((Const, Const), 2),
        small_integers((Const, Const), 3),
    );
    let (all, scaled, added) = f(&a, &b, &c);
    let ab = product(&a, &b);
    assert_eq!(all, product(&ab, &c));
    assert_eq!(scaled, Tensor::from_fn(|[i, j]| ab[[i, j]] * c[[i, j]]));
    assert_eq!(added, Tensor::from_fn(|[i, j]| c[[i, j]] + ab[[i, j]]));
}

#[test]
fn batches_multiply_and_broadcast() {
    mind! {
        fn both(x: f32[4, 2, 3], w: f32[4, 3, 5]) -> f32[4, 2, 5] {
            x @ w
        }

        fn one_matrix(x: f32[4, 2, 3], w: f32[3, 5]) -> f32[4, 2, 5] {
            x @ w
        }

        fn one_on_the_left(x: f32[2, 3], w: f32[4, 3, 5]) -> f32[4, 2, 5] {
            matmul(x, w)
        }

        fn crossed(x: f32[4, 1, 2, 3], w: f32[6, 3, 5]) -> f32[4, 6, 2, 5] {
            x @ w
        }
    }
    let (x, w) = (small_integers((Const, Const, Const), 1), small_integers((Const, Const, Const), 2));
    let y = both(&x, &w);
    let expected = |b: usize, i: usize, j: usize| (0..3).map(|k| x[[b, i, k]] * w[[b, k, j]]).sum::<f32>();
    assert_eq!(y, Tensor::from_fn(|[b, i, j]| expected(b, i, j)));
    let (x, w) = (small_integers((Const, Const, Const), 3), small_integers((Const, Const), 4));
    let y = one_matrix(&x, &w);
    assert_eq!(y, Tensor::from_fn(|[b, i, j]| (0..3).map(|k| x[[b, i, k]] * w[[k, j]]).sum()));
    let (x, w) = (small_integers((Const, Const), 5), small_integers((Const, Const, Const), 6));
    let y = one_on_the_left(&x, &w);
    assert_eq!(y, Tensor::from_fn(|[b, i, j]| (0..3).map(|k| x[[i, k]] * w[[b, k, j]]).sum()));
    let (x, w) = (small_integers((Const, Const, Const, Const), 7), small_integers((Const, Const, Const), 8));
    let y = crossed(&x, &w);
    assert_eq!(y, Tensor::from_fn(|[a, b, i, j]| (0..3).map(|k| x[[a, 0, i, k]] * w[[b, k, j]]).sum()));
}

#[test]
fn transposed_operands_multiply() {
    mind! {
        fn f<N, M, K>(x: f32[N, K], y: f32[M, K], z: f32[K, N], v: f32[N]) -> (f32[N, M], f32[N, N], f32[N, M], f32[K]) {
            (x @ y.T, z.T @ z, z.T @ y.T, v @ z.T)
        }
    }
    for (n, m, k) in [(2, 3, 4), (40, 33, 17)] {
        let (x, y, z, v) = (
            small_integers((n, k), 1),
            small_integers((m, k), 2),
            small_integers((k, n), 3),
            small_integers((n,), 4),
        );
        let (a, b, c, d) = f(&x, &y, &z, &v);
        assert_eq!(a, Tensor::from_fn_with((n, m), |[i, j]| (0..k).map(|l| x[[i, l]] * y[[j, l]]).sum()));
        assert_eq!(b, Tensor::from_fn_with((n, n), |[i, j]| (0..k).map(|l| z[[l, i]] * z[[l, j]]).sum()));
        assert_eq!(c, Tensor::from_fn_with((n, m), |[i, j]| (0..k).map(|l| z[[l, i]] * y[[j, l]]).sum()));
        assert_eq!(d, Tensor::from_fn_with((k,), |[j]| (0..n).map(|i| v[[i]] * z[[j, i]]).sum()));
    }
}

#[test]
fn integer_products_wrap() {
    mind! {
        fn f(x: i32[2, 2], w: i32[2, 2], n: i64[2]) -> (i32[2, 2], i64) {
            (x @ w, n @ n)
        }
    }
    let x = [[i32::MAX, 2], [3, i32::MIN]];
    let (a, b) = f(&Tensor::from(x), &Tensor::from(x), &Tensor::from([i64::MAX, 3]));
    let at = |i: usize, j: usize| (0..2).fold(0_i32, |s, k| s.wrapping_add(x[i][k].wrapping_mul(x[k][j])));
    assert_eq!(a, Tensor::from_fn(|[i, j]| at(i, j)));
    assert_eq!(b, 10);
}

#[test]
fn a_dense_layer_agrees_with_its_parts() {
    mind! {
        fn layer<N>(x: f32[N, 24], w: f32[24, 40], b: f32[40]) -> f32[N, 40] {
            relu(x @ w + b)
        }
    }
    for n in [1, 2, 7, 64, 129] {
        let (x, w, b) =
            (small_integers((n, Const), 1), small_integers((Const, Const), 2), small_integers((Const,), 3));
        let xw = product(&x, &w);
        let expected = Tensor::from_fn_with((n, Const), |[i, j]| (xw[[i, j]] + b[[j]]).max(0.0));
        assert_eq!(layer(&x, &w, &b), expected);
    }
}
