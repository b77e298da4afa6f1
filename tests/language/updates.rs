//! `&mut` parameters: expressions read their old values, and results are written in place.

use mind::{Const, Tensor, mind};

use crate::support::small_integers;

#[test]
fn every_assignment_updates_in_place() {
    mind! {
        fn f(a: &mut f32[2], b: &mut f32[2], c: &mut f32[2], d: &mut f32[2], e: &mut f32[2], x: f32[2]) {
            a = x;
            b += x;
            c -= x * 2.0;
            d *= x;
            e /= 2.0;
        }
    }
    let make = || Tensor::from([10.0, 20.0]);
    let (mut a, mut b, mut c, mut d, mut e) = (make(), make(), make(), make(), make());
    f(&mut a, &mut b, &mut c, &mut d, &mut e, &Tensor::from([1.0, 2.0]));
    assert_eq!((a, b), (Tensor::from([1.0, 2.0]), Tensor::from([11.0, 22.0])));
    assert_eq!((c, d, e), (Tensor::from([8.0, 16.0]), Tensor::from([10.0, 40.0]), Tensor::from([5.0, 10.0])));
}

#[test]
fn two_parameters_swap() {
    mind! {
        fn swap(a: &mut f32[3], b: &mut f32[3]) {
            let old = a;
            a = b;
            b = old;
        }
    }
    let (mut a, mut b) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([4.0, 5.0, 6.0]));
    swap(&mut a, &mut b);
    assert_eq!((a, b), (Tensor::from([4.0, 5.0, 6.0]), Tensor::from([1.0, 2.0, 3.0])));
}

#[test]
fn three_parameters_rotate() {
    mind! {
        fn rotate(a: &mut f32[2], b: &mut f32[2], c: &mut f32[2]) {
            let first = a;
            a = b;
            b = c;
            c = first;
        }
    }
    let (mut a, mut b, mut c) =
        (Tensor::from([1.0, 1.0]), Tensor::from([2.0, 2.0]), Tensor::from([3.0, 3.0]));
    rotate(&mut a, &mut b, &mut c);
    assert_eq!((a, b, c), (Tensor::from([2.0, 2.0]), Tensor::from([3.0, 3.0]), Tensor::from([1.0, 1.0])));
}

#[test]
fn updates_that_read_each_others_old_values_do_not_see_the_new_ones() {
    mind! {
        fn crossed<N>(a: &mut f32[N], b: &mut f32[N], v: f32[N]) {
            let sum = a * 2.0 + b;
            let difference = b - a * v;
            a = sum;
            b = difference;
        }

        fn of_scalars(w: &mut f32[2], v: &mut f32[2], rate: &mut f32) {
            w *= rate;
            rate *= 0.5;
            v *= rate;
        }
    }
    for n in [1, 5, 100] {
        let before = (small_integers((n,), 1), small_integers((n,), 2));
        let (mut a, mut b, v) = (before.0.clone(), before.1.clone(), small_integers((n,), 3));
        crossed(&mut a, &mut b, &v);
        let (x, y) = before;
        assert_eq!(a, Tensor::from_fn_with((n,), |[i]| x[[i]] * 2.0 + y[[i]]));
        assert_eq!(b, Tensor::from_fn_with((n,), |[i]| y[[i]] - x[[i]] * v[[i]]));
    }
    let (mut w, mut v, mut rate) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0, 2.0]), 10.0);
    of_scalars(&mut w, &mut v, &mut rate);
    assert_eq!((w, v, rate), (Tensor::from([10.0, 20.0]), Tensor::from([5.0, 10.0]), 5.0));
}

#[test]
fn an_update_may_read_its_own_transpose() {
    mind! {
        fn transposed(w: &mut f32[3, 3]) {
            w = w.T;
        }

        fn symmetric<N>(w: &mut f32[N, N]) {
            w += w.T;
        }

        fn antisymmetric<N>(w: &mut f32[N, N], v: f32[N]) {
            w = (w - w.T) * v;
        }
    }
    let before = small_integers((Const::<3>, Const::<3>), 1);
    let mut w = before.clone();
    transposed(&mut w);
    assert_eq!(w, Tensor::from_fn(|[i, j]| before[[j, i]]));
    for n in [1, 2, 17] {
        let before = small_integers((n, n), 2);
        let mut w = before.clone();
        symmetric(&mut w);
        assert_eq!(w, Tensor::from_fn_with((n, n), |[i, j]| before[[i, j]] + before[[j, i]]));
        let (v, mut w) = (small_integers((n,), 3), before.clone());
        antisymmetric(&mut w, &v);
        assert_eq!(w, Tensor::from_fn_with((n, n), |[i, j]| (before[[i, j]] - before[[j, i]]) * v[[j]]));
    }
}

#[test]
fn an_update_may_read_its_own_slices_rows_sums_and_products() {
    mind! {
        fn shifted(w: &mut f32[6]) {
            w = reshape(w.reshape([2, 3])[.., 0..1] * [1.0, 1.0, 1.0], [6]) + w;
        }

        fn reversed_rows(w: &mut f32[4, 2], order: i64[4]) {
            w = gather(w, order);
        }

        fn centred<N>(w: &mut f32[N, 4]) {
            w -= sum(w, axes = [0], keepdims = true);
        }

        fn row_subtracted<N>(w: &mut f32[N, 4]) {
            w -= w[0];
        }

        fn squared(w: &mut f32[3, 3]) {
            w = w @ w;
        }

        fn filtered(w: &mut f32[1, 5, 5, 1], k: f32[3, 3, 1, 1]) {
            w = conv2d(w, k, padding = same);
        }
    }
    let before = small_integers((Const::<6>,), 1);
    let mut w = before.clone();
    shifted(&mut w);
    assert_eq!(w, Tensor::from_fn(|[i]| before[[i]] + before[[i / 3 * 3]]));

    let before = small_integers((Const::<4>, Const::<2>), 1);
    let mut w = before.clone();
    reversed_rows(&mut w, &Tensor::from([3, 2, 1, 0]));
    assert_eq!(w, Tensor::from_fn(|[i, j]| before[[3 - i, j]]));

    let before = small_integers((5, Const::<4>), 1);
    let mut w = before.clone();
    centred(&mut w);
    let column = |j: usize| (0..5).map(|i| before[[i, j]]).sum::<f32>();
    assert_eq!(w, Tensor::from_fn_with((5, Const), |[i, j]| before[[i, j]] - column(j)));

    let mut w = before.clone();
    row_subtracted(&mut w);
    assert_eq!(w, Tensor::from_fn_with((5, Const), |[i, j]| before[[i, j]] - before[[0, j]]));

    let before = small_integers((Const::<3>, Const::<3>), 1);
    let mut w = before.clone();
    squared(&mut w);
    assert_eq!(w, Tensor::from_fn(|[i, j]| (0..3).map(|k| before[[i, k]] * before[[k, j]]).sum()));

    let before = small_integers((Const::<1>, Const::<5>, Const::<5>, Const::<1>), 1);
    let mut w = before.clone();
    filtered(&mut w, &Tensor::full(1.0));
    let at = |y: usize, x: usize| {
        let near = |c: usize| c.saturating_sub(1)..(c + 2).min(5);
        near(y).flat_map(|y| near(x).map(move |x| (y, x))).map(|(y, x)| before[[0, y, x, 0]]).sum()
    };
    assert_eq!(w, Tensor::from_fn(|[_, y, x, _]| at(y, x)));
}

#[test]
fn later_statements_read_the_new_value_and_earlier_lets_keep_the_old() {
    mind! {
        fn f(a: &mut f32[2], b: &mut f32[2]) -> (f32[2], f32[2], f32) {
            let before = a;
            let doubled = a * 2.0;
            a += 1.0;
            b -= a;
            a *= b;
            (before, doubled, sum(a))
        }
    }
    let (mut a, mut b) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, 20.0]));
    let (before, doubled, sum) = f(&mut a, &mut b);
    assert_eq!((before, doubled), (Tensor::from([1.0, 2.0]), Tensor::from([2.0, 4.0])));
    assert_eq!((a, b), (Tensor::from([16.0, 51.0]), Tensor::from([8.0, 17.0])));
    assert_eq!(sum, 67.0);
}

#[test]
fn a_result_may_be_the_updated_or_the_old_value() {
    mind! {
        fn new(w: &mut f32[2]) -> f32[2] {
            w *= 3.0;
            w
        }

        fn old_and_new(w: &mut f32[2]) -> (f32[2], f32[2]) {
            let old = w;
            w *= 3.0;
            (old, w)
        }

        fn old_transposed(w: &mut f32[2, 2]) -> f32[2, 2] {
            let old = w.T;
            w = w * w;
            old
        }
    }
    let mut w = Tensor::from([1.0, 2.0]);
    assert_eq!(new(&mut w), Tensor::from([3.0, 6.0]));
    assert_eq!(old_and_new(&mut w), (Tensor::from([3.0, 6.0]), Tensor::from([9.0, 18.0])));
    assert_eq!(w, Tensor::from([9.0, 18.0]));
    let mut w = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(old_transposed(&mut w), Tensor::from([[1.0, 3.0], [2.0, 4.0]]));
    assert_eq!(w, Tensor::from([[1.0, 4.0], [9.0, 16.0]]));
}

#[test]
fn one_value_may_update_two_parameters_and_be_the_result() {
    mind! {
        fn f(a: &mut f32[2], b: &mut f32[2], x: f32[2]) -> f32[2] {
            let y = x * 2.0;
            a = y;
            b = y;
            y
        }

        fn copies(a: &mut f32[2], b: &mut f32[2], c: &mut f32[2]) {
            b = a;
            c = a;
        }
    }
    let (mut a, mut b) = (Tensor::zeros(), Tensor::zeros());
    let y = f(&mut a, &mut b, &Tensor::from([1.0, 2.0]));
    assert_eq!((&a, &b, &y), (&y, &y, &Tensor::from([2.0, 4.0])));
    let mut c = Tensor::zeros();
    copies(&mut a, &mut b, &mut c);
    assert_eq!((&b, &c), (&a, &a));
}

#[test]
fn numbers_are_updated_too() {
    mind! {
        fn count(n: &mut i64, steps: &mut i32, rate: &mut f64, loss: f32, best: &mut f32) -> i64 {
            let before = n;
            n += 1;
            steps *= 2;
            rate *= 0.5;
            best = loss;
            before
        }
    }
    let (mut n, mut steps, mut rate, mut best) = (41, 3, 0.1, 0.0);
    assert_eq!(count(&mut n, &mut steps, &mut rate, 0.25, &mut best), 41);
    assert_eq!((n, steps, rate, best), (42, 6, 0.05, 0.25));
}

#[test]
fn numbers_swap() {
    mind! {
        fn swap(a: &mut f32, b: &mut f32) -> f32 {
            let old = a;
            a = b;
            b = old;
            a - b
        }
    }
    let (mut a, mut b) = (1.0, 5.0);
    assert_eq!(swap(&mut a, &mut b), 4.0);
    assert_eq!((a, b), (5.0, 1.0));
}

#[test]
fn a_called_function_updates_its_callers_parameters() {
    mind! {
        fn step(w: &mut f32[2], g: f32[2]) -> f32 {
            w -= g;
            sum(w)
        }

        fn twice(w: &mut f32[2], v: &mut f32[2], g: f32[2]) -> f32 {
            let a = step(w, g);
            let b = step(v, w);
            let c = step(w, v);
            a + b + c
        }
    }
    let (mut w, mut v) = (Tensor::from([10.0, 20.0]), Tensor::from([1.0, 2.0]));
    // One after the other, w becomes [9, 18], v [-8, -16], and w [17, 34].
    assert_eq!(twice(&mut w, &mut v, &Tensor::from([1.0, 2.0])), 27.0 - 24.0 + 51.0);
    assert_eq!((w, v), (Tensor::from([17.0, 34.0]), Tensor::from([-8.0, -16.0])));
}

#[test]
fn a_parameter_that_is_never_assigned_keeps_its_value() {
    mind! {
        fn f(w: &mut f32[2], v: &mut f32[2]) -> f32 {
            v = w;
            sum(w)
        }
    }
    let (mut w, mut v) = (Tensor::from([1.0, 2.0]), Tensor::zeros());
    assert_eq!(f(&mut w, &mut v), 3.0);
    assert_eq!((&w, &v), (&Tensor::from([1.0, 2.0]), &Tensor::from([1.0, 2.0])));
}

#[test]
fn a_training_step_is_forward_backward_and_update() {
    mind! {
        fn loss<N>(x: f64[N, 2], y: f64[N], w: f64[2], b: f64) -> f64 {
            let e = x @ w + b - y;
            mean(e * e)
        }

        fn step<N>(x: f64[N, 2], y: f64[N], w: &mut f64[2], b: &mut f64, lr: f64) -> f64 {
            let (l, (dw, db)) = value_and_grad(loss, wrt = (w, b))(x, y, w, b);
            w -= lr * dw;
            b -= lr * db;
            l
        }
    }
    let x = Tensor::from([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]]);
    let y = Tensor::from_fn(|[i]| 3.0 * x[[i, 0]] - 2.0 * x[[i, 1]] + 0.5);
    let (mut w, mut b) = (Tensor::zeros(), 0.0);
    let first = step(&x, &y, &mut w, &mut b, 0.1);
    assert_eq!(first, y.iter().map(|y| y * y).sum::<f64>() / 4.0);
    let mut last = first;
    for _ in 0..1000 {
        let next = step(&x, &y, &mut w, &mut b, 0.1);
        assert!(next <= last);
        last = next;
    }
    assert!(last < 1e-9, "{last}");
    assert!((w[[0]] - 3.0).abs() < 1e-4 && (w[[1]] + 2.0).abs() < 1e-4 && (b - 0.5).abs() < 1e-4);
}

#[test]
fn parameters_of_dynamic_and_named_shape_are_updated() {
    mind::dim!(Rows);
    mind! {
        fn decay<N, M>(w: &mut f32[N, M], v: &mut f32[M]) {
            w -= v * 0.5;
            v += sum(w, axes = [0]);
        }
    }
    let mut w = Tensor::full_with((Rows(3), 2), 1.0);
    let mut v = Tensor::from_vec((2,), vec![2.0, 4.0]).expect("2");
    decay(&mut w, &mut v);
    assert_eq!(w.as_slice(), [0.0, -1.0, 0.0, -1.0, 0.0, -1.0]);
    assert_eq!(v.as_slice(), [2.0, 1.0]);
}
