//! `reshape`, `transpose`, `.T`, `.mT`, `x[.., _]`, `expand_dims`, `squeeze`, `broadcast_to`.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn reshape_keeps_the_row_major_order() {
    mind! {
        fn f(x: f32[2, 3, 4]) -> (f32[6, 4], f32[24], f32[4, 1, 6], f32[2, 12], f32[3, 8]) {
            (reshape(x, [6, 4]), x.reshape([-1]), reshape(x, [4, 1, 6]), reshape(x, [2, -1]), x.reshape([-1, 8]))
        }

        fn of_one(x: f32, y: f32[1, 1]) -> (f32[1], f32[1, 1, 1], f32) {
            (reshape(x, [1]), reshape(x, [1, 1, 1]), reshape(y, []))
        }
    }
    let x = small_integers((Const::<2>, Const::<3>, Const::<4>), 1);
    let (a, b, c, d, e) = f(&x);
    for slice in [a.as_slice(), b.as_slice(), c.as_slice(), d.as_slice(), e.as_slice()] {
        assert_eq!(slice, x.as_slice());
    }
    let (a, b, c) = of_one(7.0, &Tensor::from([[8.0]]));
    assert_eq!((a, b, c), (Tensor::from([7.0]), Tensor::from([[[7.0]]]), 8.0));
}

#[test]
fn the_last_two_axes_are_swapped() {
    mind! {
        fn f<B>(x: f32[B, 3, 4], m: f32[3, 4]) -> (f32[B, 4, 3], f32[4, 3], f32[B, 3, 3]) {
            (x.mT, m.mT, x @ x.mT)
        }
    }
    let x = small_integers((2, Const::<3>, Const::<4>), 1);
    let m = small_integers((Const::<3>, Const::<4>), 2);
    let (batch, matrix, products) = f(&x, &m);
    assert_eq!(batch, Tensor::from_fn_with((2, Const::<4>, Const::<3>), |[b, j, i]| x[[b, i, j]]));
    assert_eq!(matrix, Tensor::from_fn(|[j, i]| m[[i, j]]));
    let product = |[b, i, j]: [usize; 3]| (0..4).map(|k| x[[b, i, k]] * x[[b, j, k]]).sum::<f32>();
    assert_eq!(products, Tensor::from_fn_with((2, Const::<3>, Const::<3>), product));
}

#[test]
fn a_part_is_turned_from_where_it_begins() {
    mind! {
        fn f<N, M>(x: f64[N, M]) -> f64[M - 2, N - 1] { x[1.., 2..].T }
    }
    let x = Tensor::from_fn_with((5, 7), |[i, j]| (10 * i + j) as f64);
    assert_eq!(f(&x), Tensor::from_fn_with((5, 4), |[j, i]| x[[i + 1, j + 2]]));
}

#[test]
fn new_axes_stand_where_they_are_written() {
    mind! {
        fn f<N>(x: f32[N, 3]) -> (f32[1, N, 3], f32[N, 3, 1], f32[N, 1, 3], f32[1, 1, 2, 1], f32[N, 1, 1]) {
            (x[_], x[.., _], x[0.., _], x[_, 1, _, 1.., _], x[.., _, 1, _])
        }

        fn of_one(x: f32) -> (f32[1], f32[1, 1]) { (x[_], x[_, .., _]) }

        fn outer<N, M>(x: f32[N], y: f32[M]) -> f32[N, M] { x[.., _] - y[_] }
    }
    let x = small_integers((2, Const::<3>), 1);
    let (first, last, middle, part, both) = f(&x);
    for whole in [first.as_slice(), last.as_slice(), middle.as_slice()] {
        assert_eq!(whole, x.as_slice());
    }
    assert_eq!(part.as_slice(), [x[[1, 1]], x[[1, 2]]]);
    assert_eq!(both.as_slice(), [x[[0, 1]], x[[1, 1]]]);
    assert_eq!(of_one(7.0), (Tensor::from([7.0]), Tensor::from([[7.0]])));
    let differences = outer(&Tensor::from([5.0, 7.0]), &Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!(differences.as_slice(), [4.0, 3.0, 2.0, 6.0, 5.0, 4.0]);
}

#[test]
fn transpose_moves_axes() {
    mind! {
        fn f(x: f32[2, 3, 4]) -> (f32[4, 3, 2], f32[4, 3, 2], f32[3, 4, 2], f32[2, 4, 3], f32[2, 3, 4]) {
            (x.T, transpose(x), transpose(x, [1, 2, 0]), x.transpose([0, -1, 1]), x.T.T)
        }

        fn low(s: f32, v: f32[3], m: f32[2, 3]) -> (f32, f32[3], f32[3, 2]) {
            (s.T, v.T, m.T)
        }
    }
    let x = small_integers((Const::<2>, Const::<3>, Const::<4>), 1);
    let (a, b, c, d, e) = f(&x);
    assert_eq!(a, Tensor::from_fn(|[k, j, i]| x[[i, j, k]]));
    assert_eq!(b, a);
    assert_eq!(c, Tensor::from_fn(|[j, k, i]| x[[i, j, k]]));
    assert_eq!(d, Tensor::from_fn(|[i, k, j]| x[[i, j, k]]));
    assert_eq!(e, x);
    let (v, m) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    assert_eq!(low(5.0, &v, &m), (5.0, v.clone(), Tensor::from([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])));
}

#[test]
fn arithmetic_on_rearranged_operands_sees_the_rearranged_order() {
    mind! {
        fn f(x: f32[3, 3], y: f32[9]) -> (f32[3, 3], f32[3, 3], f32[9], f32[3]) {
            let square = reshape(y, [3, 3]);
            (x + x.T, square.T - x, reshape(square.T, [9]) * y, sum((x * square).T, axes = [0]))
        }
    }
    let x = small_integers((Const::<3>, Const::<3>), 1);
    let y = small_integers((Const::<9>,), 2);
    let square = |i: usize, j: usize| y[[3 * i + j]];
    let (a, b, c, d) = f(&x, &y);
    assert_eq!(a, Tensor::from_fn(|[i, j]| x[[i, j]] + x[[j, i]]));
    assert_eq!(b, Tensor::from_fn(|[i, j]| square(j, i) - x[[i, j]]));
    assert_eq!(c, Tensor::from_fn(|[n]| square(n % 3, n / 3) * y[[n]]));
    assert_eq!(d, Tensor::from_fn(|[i]| (0..3).map(|j| x[[i, j]] * square(i, j)).sum()));
}

#[test]
fn axes_of_extent_1_come_and_go() {
    mind! {
        fn expand(x: f32[2, 3]) -> (f32[1, 2, 3], f32[2, 3, 1], f32[1, 2, 1, 3], f32[2, 1, 3], f32[2, 3, 1]) {
            (
                expand_dims(x, axes = [0]),
                expand_dims(x, [2]),
                x.expand_dims(axes = [0, 2]),
                expand_dims(x, axis = 1),
                expand_dims(x, axis = -1),
            )
        }

        fn shrink(x: f32[1, 2, 1, 3]) -> (f32[2, 3], f32[2, 1, 3], f32[1, 2, 3], f32[2, 3], f32[2, 3]) {
            (
                squeeze(x),
                squeeze(x, axes = [0]),
                x.squeeze(axis = -2),
                squeeze(x, axes = [0, 2]),
                squeeze(x, axes = [2, 0]),
            )
        }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (a, b, c, d, e) = expand(&x);
    for slice in [a.as_slice(), b.as_slice(), c.as_slice(), d.as_slice(), e.as_slice()] {
        assert_eq!(slice, x.as_slice());
    }
    let (a, b, c, d, e) = shrink(&c);
    for slice in [a.as_slice(), b.as_slice(), c.as_slice(), d.as_slice(), e.as_slice()] {
        assert_eq!(slice, x.as_slice());
    }
}

#[test]
fn squeeze_without_axes_keeps_symbols() {
    mind! {
        fn f<N>(x: f32[1, N, 1]) -> f32[N] {
            squeeze(x)
        }
    }
    assert_eq!(f(&Tensor::<f32, _>::full_with((Const, 1, Const), 2.0)).dims(), [1]);
    assert_eq!(f(&Tensor::<f32, _>::full_with((Const, 3, Const), 2.0)).as_slice(), [2.0; 3]);
}

#[test]
fn broadcast_to_repeats() {
    mind! {
        fn f<N>(v: f32[3], c: f32[2, 1], s: f32, x: f32[N, 1]) -> (f32[2, 3], f32[2, 3], f32[2, 2], f32[2, N, 3]) {
            (broadcast_to(v, [2, 3]), c.broadcast_to([2, 3]), broadcast_to(s, [2, 2]), broadcast_to(x, [2, N, 3]))
        }
    }
    let (v, c, x) = (
        Tensor::from([1.0, 2.0, 3.0]),
        Tensor::from([[4.0], [5.0]]),
        Tensor::from([[6.0], [7.0], [8.0], [9.0]]),
    );
    let (a, b, s, d) = f(&v, &c, 1.5, &x);
    assert_eq!(a, Tensor::from([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]));
    assert_eq!(b, Tensor::from([[4.0, 4.0, 4.0], [5.0, 5.0, 5.0]]));
    assert_eq!(s, Tensor::full(1.5));
    assert_eq!(d, Tensor::from_fn(|[_, i, _]| x[[i, 0]]));
}

#[test]
fn a_rearranged_parameter_may_be_the_result() {
    mind! {
        fn f(x: i64[2, 3]) -> (i64[3, 2], i64[6], i64[2], i64[2, 3]) {
            (x.T, reshape(x, [6]), x[.., 1], x)
        }
    }
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let (a, b, c, d) = f(&x);
    assert_eq!(a, Tensor::from([[1, 4], [2, 5], [3, 6]]));
    assert_eq!((b, c, d), (Tensor::from([1, 2, 3, 4, 5, 6]), Tensor::from([2, 5]), x));
}

#[test]
fn parts_copies_and_padding_are_of_symbolic_extents() {
    mind! {
        fn halves<N>(a: f32[N, 3], b: f32[N, 3]) -> (f32[N, 3], f32[N, 3]) {
            split(concat([a, b], axis = 0), 2, axis = 0)
        }
        fn copies<N>(x: f32[N]) -> (f32[3 * N], f32[2 * N], f32[N * N]) {
            (tile(x, [3]), repeat(x, 2, axis = 0), tile(x, [N]))
        }
        fn padded<N>(x: f32[N]) -> (f32[N + 3], f32[N + 2], f32[N + 3], f32[2 * N - 1]) {
            let far = pad(x, [1], [2], mode = "wrap");
            (pad(x, [1], [2], mode = "edge"), pad(x, [1], [1], value = 9.0), far, pad(x, [0], [0], interior = [1]))
        }
        fn back<N>(x: f32[N, 4]) -> (f32[N, 2], f32[4], f32[N, 4]) {
            (x[..;-1, 1..4;-2], x[-1, ..;-1], stack([x[0, ..;-1]], axis = 0)[0] + 0.0 * x)
        }
    }
    let (a, b) = (small_integers((2, Const), 1), small_integers((2, Const), 2));
    assert_eq!(halves(&a, &b), (a, b));
    let v = Tensor::from_fn_with((3,), |[i]| i as f32 + 1.0);
    let (tiled, repeated, squared) = copies(&v);
    assert_eq!(tiled.as_slice(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    assert_eq!(repeated.as_slice(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(squared.as_slice(), tiled.as_slice());
    let (edge, value, far, between) = padded(&v);
    assert_eq!(edge.as_slice(), [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!(value.as_slice(), [9.0, 1.0, 2.0, 3.0, 9.0]);
    assert_eq!(far.as_slice(), [3.0, 1.0, 2.0, 3.0, 1.0, 2.0]);
    assert_eq!(between.as_slice(), [1.0, 0.0, 2.0, 0.0, 3.0]);
    let m = Tensor::from_fn_with((2, Const::<4>), |[i, j]| (10 * i + j) as f32);
    let (both, last, first) = back(&m);
    assert_eq!(both.as_slice(), [13.0, 11.0, 3.0, 1.0]);
    assert_eq!(last.as_slice(), [13.0, 12.0, 11.0, 10.0]);
    assert_eq!(first.as_slice(), [3.0, 2.0, 1.0, 0.0, 3.0, 2.0, 1.0, 0.0]);
}

#[test]
fn coordinates_of_a_grid_have_an_axis_for_each_vector() {
    mind! {
        fn grid<N>(x: f32[N], y: f64[2], z: i32[3]) -> (f32[N, 2, 3], f64[N, 2, 3], i32[N, 2, 3]) {
            meshgrid(x, y, z)
        }
        fn single(x: bool[2]) -> bool[2] { meshgrid(x) }
        #[grad(x, y)]
        fn total<N, M>(x: f64[N], y: f64[M]) -> f64 {
            let (a, b) = meshgrid(x, y);
            sum(a * b * b)
        }
    }
    let (x, y, z) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0, 4.0]), Tensor::from([5, 6, 7]));
    let (a, b, c) = grid(&x, &y, &z);
    assert_eq!(a.as_slice(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(b.as_slice(), [3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0]);
    assert_eq!(c.as_slice(), [5, 6, 7, 5, 6, 7, 5, 6, 7, 5, 6, 7]);
    let (d, e, f) = mind!(meshgrid(x, y, z));
    assert_eq!((d.as_slice(), e.as_slice(), f.as_slice()), (a.as_slice(), b.as_slice(), c.as_slice()));
    assert_eq!(single(&Tensor::from([true, false])), Tensor::from([true, false]));
    let points = mind!(stack(meshgrid(y, 2.0 * y), axis = -1));
    assert_eq!(points.as_slice(), [3.0, 6.0, 3.0, 8.0, 4.0, 6.0, 4.0, 8.0]);
    let (value, (dx, dy)) = total_grad(&Tensor::from([1.0, 2.0, 3.0]), &y);
    assert_eq!(value, 6.0 * 25.0);
    assert_eq!(dx.as_slice(), [25.0; 3]);
    assert_eq!(dy.as_slice(), [2.0 * 6.0 * 3.0, 2.0 * 6.0 * 4.0]);
}

#[test]
fn copies_and_padding_are_of_every_element_type() {
    mind! {
        fn truths(x: bool[2]) -> (bool[4], bool[4], bool[3], bool[2]) {
            (tile(x, [2]), repeat(x, 2, axis = 0), pad(x, [0], [1], mode = "edge"), x[..;-1])
        }
        fn integers(x: i32[2]) -> (i32[4], i32[4], i32[3]) {
            (pad(x, [1], [1], value = 7), pad(x, [1], [1], mode = "symmetric"), pad(x, [0], [0], interior = [1]))
        }
    }
    let (tiled, repeated, edge, back) = truths(&Tensor::from([true, false]));
    assert_eq!(tiled, Tensor::from([true, false, true, false]));
    assert_eq!(repeated, Tensor::from([true, true, false, false]));
    assert_eq!((edge, back), (Tensor::from([true, false, false]), Tensor::from([false, true])));
    let (value, symmetric, between) = integers(&Tensor::from([1, 2]));
    assert_eq!((value, symmetric), (Tensor::from([7, 1, 2, 7]), Tensor::from([1, 1, 2, 2])));
    assert_eq!(between, Tensor::from([1, 0, 2]));
}
