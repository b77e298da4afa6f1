//! `einsum`.

use mind::{Tensor, TensorRef, mind};

use crate::support::small_integers;

/// An element of the definition: the sum of a product over two indices.
fn sum(extents: [usize; 2], of: impl Fn(usize, usize) -> f32) -> f32 {
    (0..extents[0]).flat_map(|i| (0..extents[1]).map(move |j| (i, j))).map(|(i, j)| of(i, j)).sum()
}

#[test]
fn einsum_is_a_product_of_matrices() {
    mind! {
        fn f<N, K, M>(x: f32[N, K], w: f32[K, M]) -> (f32[N, M], f32[M, N]) {
            (einsum("ij,jk->ik", x, w), einsum("ij,jk->ki", x, w))
        }
    }
    for (n, k, m) in [(1, 1, 1), (2, 3, 4), (33, 65, 31)] {
        let (x, w) = (small_integers((n, k), 1), small_integers((k, m), 2));
        let (a, b) = f(&x, &w);
        let product = Tensor::from_fn_with((n, m), |[i, j]| (0..k).map(|k| x[[i, k]] * w[[k, j]]).sum());
        assert_eq!(b, Tensor::from_fn_with((m, n), |[i, j]| product[[j, i]]));
        assert_eq!(a, product);
    }
}

#[test]
fn einsum_multiplies_heads_of_attention() {
    mind! {
        fn f<B, Q, K>(q: f32[B, Q, 3, 4], k: f32[B, K, 3, 4]) -> (f32[B, 3, Q, K], f32[B, Q, 3, 4]) {
            let scores = einsum("bqhd,bkhd->bhqk", q, k);
            (scores, einsum("bhqk,bkhd->bqhd", scores, k))
        }
    }
    let (q, k) = (
        small_integers((2, 5, mind::Const, mind::Const), 1),
        small_integers((2, 7, mind::Const, mind::Const), 2),
    );
    let (scores, values) = f(&q, &k);
    for b in 0..2 {
        for h in 0..3 {
            for i in 0..5 {
                for j in 0..7 {
                    let expected: f32 = (0..4).map(|d| q[[b, i, h, d]] * k[[b, j, h, d]]).sum();
                    assert_eq!(scores[[b, h, i, j]], expected);
                }
                for d in 0..4 {
                    let expected: f32 = (0..7).map(|j| scores[[b, h, i, j]] * k[[b, j, h, d]]).sum();
                    assert_eq!(values[[b, i, h, d]], expected);
                }
            }
        }
    }
}

mind! {
    fn bilinear<B, O, I, J>(x: f32[B, I], w: f32[O, I, J], y: f32[B, J]) -> f32[B, O] {
        einsum("bi,oij,bj->bo", x, w, y)
    }

    #[grad(x, w)]
    fn total<B, O, I, J>(x: f32[B, I], w: f32[O, I, J], y: f32[B, J], dy: f32[B, O]) -> f32 {
        sum(bilinear(x, w, y) * dy)
    }

    /// The second derivative with respect to `x` of a cubic form, times a vector.
    fn curvature(x: f32[3], w: f32[3, 3, 3], v: f32[3]) -> f32[3] { hvp(cubic, wrt = x)(x, w, v) }
    fn cubic(x: f32[3], w: f32[3, 3, 3]) -> f32 { einsum("i,j,k,ijk", x, x, x, w) }

    fn diagonals<N>(x: f32[N, N], y: f32[4, 4]) -> (f32, f32[N], f32, f32[4]) {
        (einsum("ii", x), einsum("ii->i", x), einsum("ii", y), einsum("ii->i", y))
    }

    fn each<B>(xs: f32[B, 3], w: f32[3, 3, 3]) -> f32[B] { vmap(cubic, over = x)(xs, w) }

    fn steps<T>(h: f32[4], ws: f32[T, 4, 4]) -> f32[4] {
        fold h = h for w in ws { einsum("i,ij", h, w) }
    }

    fn leading<B>(x: f32[B, 2, 3], w: f32[2, 3, 4]) -> (f32[B, 2, 4], f32[B, 2, 1, 4]) {
        (einsum("...j,...jk->...k", x, w), einsum("...i,h...ik->...hk", x, w[0..1]))
    }
}

fn small<S: mind::Shape>(x: &TensorRef<f32, S>) -> &[f32] {
    x.as_slice()
}

#[test]
fn einsum_has_gradients() {
    let (x, w, y) = (small_integers((5, 2), 1), small_integers((3, 2, 4), 2), small_integers((5, 4), 3));
    let dy = small_integers((5, 3), 4);
    let (value, (dx, dw)) = total_grad(&x, &w, &y, &dy);
    assert_eq!(value, small(&(&bilinear(&x, &w, &y) * &dy)).iter().sum::<f32>());
    let dx_of = |[b, i]: [usize; 2]| sum([3, 4], |o, j| dy[[b, o]] * w[[o, i, j]] * y[[b, j]]);
    assert_eq!(dx, Tensor::from_fn_with((5, 2), dx_of));
    let dw_of = |[o, i, j]: [usize; 3]| (0..5).map(|b| dy[[b, o]] * x[[b, i]] * y[[b, j]]).sum();
    assert_eq!(dw, Tensor::from_fn_with((3, 2, 4), dw_of));
}

#[test]
fn einsum_has_second_derivatives() {
    let w = Tensor::from_fn(|[i, j, k]| ((i * 5 + j * 3 + k) % 7) as f32 - 3.0);
    let (x, v) = (Tensor::from([1.0, -2.0, 3.0]), Tensor::from([2.0, 0.0, -1.0]));
    let found = curvature(&x, &w, &v);
    let expected = Tensor::from_fn(|[a]| {
        sum([3, 3], |b, c| {
            let all = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
            // All orders of a direction, of `v` and of `x`.
            all.iter().map(|at| w[*at]).sum::<f32>() * v[[b]] * x[[c]]
        })
    });
    assert_eq!(found, expected);
}

#[test]
fn einsum_takes_diagonals() {
    let y = Tensor::from_fn(|[i, j]| (i * 4 + j) as f32);
    for n in [1, 2, 5] {
        let x = small_integers((n, n), 1);
        let (trace, diagonal, known, of_known) = diagonals(&x, &y);
        assert_eq!(diagonal, Tensor::from_fn_with((n,), |[i]| x[[i, i]]));
        assert_eq!(trace, small(&diagonal).iter().sum::<f32>());
        assert_eq!((known, of_known), (30.0, Tensor::from([0.0, 5.0, 10.0, 15.0])));
    }
}

#[test]
fn einsum_is_batched_and_runs_in_loops() {
    let w = Tensor::from_fn(|[i, j, k]| ((i * 5 + j * 3 + k) % 7) as f32 - 3.0);
    let xs = small_integers((4, mind::Const), 1);
    let all = each(&xs, &w);
    for b in 0..4 {
        assert_eq!(all[[b]], cubic(&Tensor::from_fn(|[i]| xs[[b, i]]), &w));
    }
    let ws = small_integers((3, mind::Const, mind::Const), 2);
    let mut h = Tensor::from([1.0, 0.0, -1.0, 2.0]);
    let found = steps(&h, &ws);
    for t in 0..3 {
        h = Tensor::from_fn(|[j]| (0..4).map(|i| h[[i]] * ws[[t, i, j]]).sum());
    }
    assert_eq!(found, h);
}

#[test]
fn leading_axes_are_aligned_at_the_last_one() {
    let (x, w) = (
        small_integers((5, mind::Const, mind::Const), 1),
        Tensor::from_fn(|[i, j, k]| (i + 2 * j + k) as f32),
    );
    let (a, b) = leading(&x, &w);
    for n in 0..5 {
        for i in 0..2 {
            for k in 0..4 {
                let of = |from: usize| (0..3).map(|j| x[[n, i, j]] * w[[from, j, k]]).sum::<f32>();
                assert_eq!(a[[n, i, k]], of(i));
                assert_eq!(b[[n, i, 0, k]], of(0));
            }
        }
    }
}

#[test]
fn matrices_may_lie_across_the_batch() {
    mind! {
        fn update(x: f32[9, 7, 5], y: f32[8, 7, 5]) -> f32[9, 8, 5] { einsum("ikc,jkc->ijc", x, y) }
        fn across(x: f32[9, 8], y: f32[8, 9]) -> f32 { einsum("ij,ji->", x, y) }
        fn gate(x: f32[2, 3], y: f32[40, 3, 20]) -> f32[40, 2, 20] { einsum("ab,cbd->cad", x, y) }
    }
    let number = |at: usize| (at * 7 % 11) as f32 - 5.0;
    let (x, y) = (
        Tensor::from_fn(|[i, k, c]| number(i * 35 + k * 5 + c)),
        Tensor::from_fn(|[j, k, c]| number(j * 36 + k * 5 + c)),
    );
    let expected = |[i, j, c]: [usize; 3]| (0..7).map(|k| x[[i, k, c]] * y[[j, k, c]]).sum::<f32>();
    assert_eq!(update(&x, &y), Tensor::from_fn(expected));
    let (x, y) =
        (Tensor::from_fn(|[i, j]| number(i * 8 + j)), Tensor::from_fn(|[j, i]| number(3 * j + 2 * i)));
    assert_eq!(across(&x, &y), sum([9, 8], |i, j| x[[i, j]] * y[[j, i]]));
    let (x, y) = (
        Tensor::from_fn(|[a, b]| number(a + 2 * b)),
        Tensor::from_fn(|[c, b, d]| number(c * 60 + b * 20 + d)),
    );
    let expected = |[c, a, d]: [usize; 3]| (0..3).map(|b| x[[a, b]] * y[[c, b, d]]).sum::<f32>();
    assert_eq!(gate(&x, &y), Tensor::from_fn(expected));
}

#[test]
fn einsum_works_on_rust_variables() {
    let (x, w) = (small_integers((5, 3), 1), small_integers((3, 4), 2));
    let product: Tensor<f32, (usize, usize)> = mind!(einsum("ij,jk->ki", x, w)).into();
    assert_eq!(product, Tensor::from_fn_with((4, 5), |[k, i]| (0..3).map(|j| x[[i, j]] * w[[j, k]]).sum()));
    let y = small_integers((5, 4), 3);
    let (value, gradient) = mind!(value_and_grad(einsum("ij,jk,ik", x, w, y), wrt = w));
    let expected = Tensor::from_fn_with((3, 4), |[j, k]| (0..5).map(|i| x[[i, j]] * y[[i, k]]).sum());
    assert_eq!(value, small(&(&expected * &w)).iter().sum::<f32>());
    let gradient: Tensor<f32, (usize, usize)> = gradient.into();
    assert_eq!(gradient, expected);
    let square = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
    assert_eq!(mind!(einsum("ii", square)), 5.0);
}
