//! `grad`, `value_and_grad`, `vjp`, `#[grad(…)]`, `zero_ok`, `stop_gradient`.

use mind::{Const, Tensor, mind};

use crate::support::{assert_close, differences, spread};

#[test]
fn the_gradient_is_bare_for_a_name_and_a_tuple_for_a_list() {
    mind! {
        fn loss(w: f32[2], b: f32) -> f32 {
            sum(w * w) * b
        }

        fn bare(w: f32[2], b: f32) -> f32[2] {
            grad(loss, wrt = w)(w, b)
        }

        fn one(w: f32[2], b: f32) -> (f32[2],) {
            grad(loss, wrt = (w,))(w, b)
        }

        fn both(w: f32[2], b: f32) -> (f32, f32[2]) {
            let (db, dw) = grad(loss, wrt = (b, w))(w, b);
            (db, dw)
        }
    }
    let w = Tensor::from([1.0, 2.0]);
    assert_eq!(bare(&w, 3.0), Tensor::from([6.0, 12.0]));
    assert_eq!(one(&w, 3.0), (Tensor::from([6.0, 12.0]),));
    assert_eq!(both(&w, 3.0), (5.0, Tensor::from([6.0, 12.0])));
}

#[test]
fn value_and_grad_gives_the_value_first() {
    mind! {
        fn loss(x: f32[2], w: f32[2]) -> f32 {
            sum(x * w * w)
        }

        fn f(x: f32[2], w: f32[2]) -> (f32, (f32[2], f32[2]), f32[2]) {
            let (value, (dx, dw)) = value_and_grad(loss, wrt = (x, w))(x, w);
            let (_, only) = value_and_grad(loss, wrt = w)(x, w = w + 1.0);
            (value, (dx, dw), only)
        }
    }
    let (value, (dx, dw), only) = f(&Tensor::from([1.0, 2.0]), &Tensor::from([3.0, 4.0]));
    assert_eq!((value, dx, dw), (41.0, Tensor::from([9.0, 16.0]), Tensor::from([6.0, 16.0])));
    assert_eq!(only, Tensor::from([8.0, 20.0]));
}

#[test]
fn the_attribute_makes_a_function_of_the_value_and_the_gradients() {
    mind! {
        #[grad(w)]
        fn one(w: f32[2]) -> f32 {
            sum(w * w)
        }

        #[grad(w,)]
        fn tuple(w: f32[2]) -> f32 {
            sum(w * w)
        }

        #[grad(b, w)]
        fn several<N>(x: f32[N, 2], w: f32[2], b: f32) -> f32 {
            sum(x @ w + b)
        }
    }
    let w = Tensor::from([1.0, 2.0]);
    assert_eq!(one(&w), 5.0);
    assert_eq!(one_grad(&w), (5.0, Tensor::from([2.0, 4.0])));
    assert_eq!(tuple_grad(&w), (5.0, (Tensor::from([2.0, 4.0]),)));
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let expected = (5.0 + 11.0 + 17.0 + 3.0, (3.0, Tensor::from([9.0, 12.0])));
    assert_eq!(several_grad(&x, &w, 1.0), expected);
    assert_eq!(try_several_grad(&x, &w, 1.0), Ok(expected));
}

#[test]
fn gradients_of_gradients_are_derivatives_of_higher_order() {
    mind! {
        fn power(x: f64) -> f64 {
            x * x * x * x
        }

        fn third(x: f64) -> f64 {
            grad(grad(grad(power, wrt = x), wrt = x), wrt = x)(x)
        }

        fn slope(x: f64) -> f64 {
            grad(power, wrt = x)(x)
        }

        fn slope_and_curvature(x: f64) -> (f64, f64) {
            value_and_grad(slope, wrt = x)(x)
        }

        fn energy(x: f64[3]) -> f64 {
            sum(exp(x) * x)
        }

        fn along(x: f64[3], v: f64[3]) -> f64 {
            sum(grad(energy, wrt = x)(x) * v)
        }

        fn hessian_times(x: f64[3], v: f64[3]) -> f64[3] {
            grad(along, wrt = x)(x, v)
        }
    }
    assert_eq!(third(2.0), 48.0);
    assert_eq!(slope_and_curvature(2.0), (32.0, 48.0));
    let (x, v) = ([0.5_f64, -1.0, 2.0], [1.0, 2.0, -1.0]);
    let expected: Vec<f64> = x.iter().zip(&v).map(|(x, v)| (x + 2.0) * x.exp() * v).collect();
    let found = hessian_times(&Tensor::from(x), &Tensor::from(v));
    assert_close(found.as_slice(), &expected, 1e-13);
}

#[test]
fn vjp_pulls_a_cotangent_back() {
    mind! {
        fn layer<N>(x: f32[N, 2], w: f32[2, 3]) -> f32[N, 3] {
            relu(x @ w)
        }

        fn back<N>(x: f32[N, 2], w: f32[2, 3], dy: f32[N, 3]) -> (f32[N, 2], f32[2, 3]) {
            vjp(layer, wrt = (x, w))(x, w, dy)
        }

        fn pair(x: f32[2], y: f32) -> (f32[2], f32) {
            (x * y, sum(x))
        }

        fn back_of_pair(x: f32[2], y: f32, dx: f32[2]) -> (f32[2], f32) {
            vjp(pair, wrt = (x, y))(x, y, (dx, 1.0))
        }

        fn named(x: f32[1, 2], w: f32[2, 3]) -> f32[2, 3] {
            vjp(layer, wrt = w)(x, w, cotangent = ones([1, 3]))
        }
    }
    let x = Tensor::from([[1.0, 2.0]]);
    let w = Tensor::from([[1.0, -1.0, 0.5], [1.0, -1.0, 0.5]]);
    let (dx, dw) = back(&x, &w, &Tensor::from([[10.0, 20.0, 30.0]]));
    // The second unit is inactive.
    assert_eq!(dx, Tensor::from([[25.0, 25.0]]));
    assert_eq!(dw, Tensor::from([[10.0, 0.0, 30.0], [20.0, 0.0, 60.0]]));
    let (dx, dy) = back_of_pair(&Tensor::from([1.0, 2.0]), 3.0, &Tensor::from([10.0, 20.0]));
    assert_eq!((dx, dy), (Tensor::from([31.0, 61.0]), 50.0));
    assert_eq!(named(&x, &w), Tensor::from([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0]]));
}

#[test]
fn zero_ok_gives_zeros_for_what_does_not_reach_the_output() {
    mind! {
        #[grad(w, zero_ok unused)]
        fn loss<N>(w: f32[2], unused: f32[N, 2]) -> f32 {
            sum(w * w)
        }

        fn f(w: f32[2], u: f32[3, 2]) -> f32[3, 2] {
            grad(loss, wrt = (zero_ok unused))(w, u)
        }

        #[grad(zero_ok w)]
        fn reached(w: f32[2]) -> f32 {
            sum(w * w)
        }
    }
    let (w, u) = (Tensor::from([1.0, 2.0]), Tensor::<f32, _>::full_with((3, Const), f32::NAN));
    let (value, (dw, du)) = loss_grad(&w, &u);
    assert_eq!((value, dw), (5.0, Tensor::from([2.0, 4.0])));
    assert_eq!((du.dims(), du.as_slice()), ([3, 2], &[0.0; 6][..]));
    assert_eq!(f(&w, &Tensor::full(1.0)), Tensor::zeros());
    assert_eq!(reached_grad(&w).1, Tensor::from([2.0, 4.0]));
}

#[test]
fn stop_gradient_is_a_constant_for_derivatives_only() {
    mind! {
        #[grad(x)]
        fn f(x: f32[3]) -> f32 {
            sum(x * stop_gradient(x * x))
        }
    }
    let (value, dx) = f_grad(&Tensor::from([1.0, 2.0, 3.0]));
    assert_eq!((value, dx), (36.0, Tensor::from([1.0, 4.0, 9.0])));
}

#[test]
fn relu_has_derivative_zero_at_zero_and_at_nan() {
    mind! {
        #[grad(x)]
        fn f(x: f32[4]) -> f32 {
            sum(relu(x) * [1.0, 2.0, 3.0, 4.0])
        }
    }
    let (_, dx) = f_grad(&Tensor::from([0.0, f32::NAN, -1.0, 1.0]));
    assert_eq!(dx, Tensor::from([0.0, 0.0, 0.0, 4.0]));
}

#[test]
fn gradients_flow_through_calls_tuples_and_shadowed_names() {
    mind! {
        fn halves(x: f32[4]) -> (f32[2], f32[2]) {
            (x[..2], x[2..])
        }

        fn dot_of_halves(x: f32[4]) -> f32 {
            let (a, b) = halves(x);
            let a = a * 2.0;
            let b = { let b = b + 0.0; b };
            a @ b
        }

        fn df(x: f32[4]) -> f32[4] {
            grad(dot_of_halves, wrt = x)(x)
        }
    }
    assert_eq!(df(&Tensor::from([1.0, 2.0, 3.0, 4.0])), Tensor::from([6.0, 8.0, 2.0, 4.0]));
}

#[test]
fn a_parameter_used_twice_gets_the_sum() {
    mind! {
        fn product(a: f32[2], b: f32[2]) -> f32 {
            sum(a * b)
        }

        fn square(x: f32[2]) -> f32 {
            product(x, x) + product(b = x, a = x * x)
        }

        fn df(x: f32[2]) -> f32[2] {
            grad(square, wrt = x)(x)
        }
    }
    // 2 x + 3 x².
    assert_eq!(df(&Tensor::from([1.0, 2.0])), Tensor::from([5.0, 16.0]));
}

#[test]
fn gradients_of_a_network_agree_with_differences() {
    mind! {
        fn network<N>(x: f64[N, 3], w1: f64[3, 4], b1: f64[4], w2: f64[4, 2], b2: f64[2]) -> f64[N, 2] {
            relu(x @ w1 + b1) @ w2 + b2
        }

        #[grad(x, w1, b1, w2, b2)]
        fn loss<N>(x: f64[N, 3], y: f64[N, 2], w1: f64[3, 4], b1: f64[4], w2: f64[4, 2], b2: f64[2]) -> f64 {
            let z = network(x, w1, b1, w2, b2);
            let logp = z - log(sum(exp(z), axes = [1], keepdims = true));
            -mean(sum(y * logp, axes = [1]))
        }
    }
    let (x, y) = (spread((5, Const), 1), spread((5, Const), 2));
    let (w1, b1) = (spread((Const, Const), 3), spread((Const,), 4));
    let (w2, b2) = (spread((Const, Const), 5), spread((Const,), 6));
    let (value, (dx, dw1, db1, dw2, db2)) = loss_grad(&x, &y, &w1, &b1, &w2, &b2);
    assert_close(&[value], &[loss(&x, &y, &w1, &b1, &w2, &b2)], 1e-14);
    assert_close(dx.as_slice(), &differences(&x, |x| loss(x, &y, &w1, &b1, &w2, &b2)), 1e-8);
    assert_close(dw1.as_slice(), &differences(&w1, |w1| loss(&x, &y, w1, &b1, &w2, &b2)), 1e-8);
    assert_close(db1.as_slice(), &differences(&b1, |b1| loss(&x, &y, &w1, b1, &w2, &b2)), 1e-8);
    assert_close(dw2.as_slice(), &differences(&w2, |w2| loss(&x, &y, &w1, &b1, w2, &b2)), 1e-8);
    assert_close(db2.as_slice(), &differences(&b2, |b2| loss(&x, &y, &w1, &b1, &w2, b2)), 1e-8);
}

#[test]
fn gradients_of_rearranging_and_reducing_agree_with_differences() {
    mind! {
        #[grad(x, v)]
        fn f(x: f64[4, 6], v: f64[6]) -> f64 {
            let a = reshape(x.T, [3, 8])[1.., ..;3] * 2.0;
            let b = expand_dims(x, axes = [1])[.., 0, 1..-1] / exp(v[1..5]);
            let c = mean(broadcast_to(v, [4, 6]) * x, axes = [0], keepdims = true);
            let d = squeeze(x[0..1], axes = [0]) - v[2] * x[3, 4];
            sum(a * a) + mean(b) * sum(log(exp(c) + 1.0)) - dot(d, v) + x[-1, -1]
        }
    }
    let (x, v) = (spread((Const, Const), 1), spread((Const,), 2));
    let (_, (dx, dv)) = f_grad(&x, &v);
    assert_close(dx.as_slice(), &differences(&x, |x| f(x, &v)), 1e-8);
    assert_close(dv.as_slice(), &differences(&v, |v| f(&x, v)), 1e-8);
}

#[test]
fn gradients_of_batched_products_agree_with_differences() {
    mind! {
        #[grad(a, b, c)]
        fn f<N>(a: f64[N, 2, 3], b: f64[3, 4], c: f64[5, 1, 4, 2]) -> f64 {
            let y = a @ b @ c;
            sum(y * y)
        }

        #[grad(m, u, v)]
        fn vectors(m: f64[3, 4], u: f64[3], v: f64[4]) -> f64 {
            let s = u @ m @ v;
            s * s + sum(exp(m @ v) * (u @ m)[..3]) + u @ u
        }
    }
    let (a, b, c) =
        (spread((3, Const, Const), 1), spread((Const, Const), 2), spread((Const, Const, Const, Const), 3));
    let (_, (da, db, dc)) = f_grad(&a, &b, &c);
    assert_close(da.as_slice(), &differences(&a, |a| f(a, &b, &c)), 1e-7);
    assert_close(db.as_slice(), &differences(&b, |b| f(&a, b, &c)), 1e-7);
    assert_close(dc.as_slice(), &differences(&c, |c| f(&a, &b, c)), 1e-7);
    let (m, u, v) = (spread((Const, Const), 1), spread((Const,), 2), spread((Const,), 3));
    let (_, (dm, du, dv)) = vectors_grad(&m, &u, &v);
    assert_close(dm.as_slice(), &differences(&m, |m| vectors(m, &u, &v)), 1e-8);
    assert_close(du.as_slice(), &differences(&u, |u| vectors(&m, u, &v)), 1e-8);
    assert_close(dv.as_slice(), &differences(&v, |v| vectors(&m, &u, v)), 1e-8);
}

#[test]
fn gradients_of_gather_agree_with_differences() {
    mind! {
        #[grad(table)]
        fn f<V>(table: f64[V, 3], rows: i64[5], weights: f64[5, 3]) -> f64 {
            let picked = gather(table, rows);
            sum(picked * picked * weights)
        }
    }
    let (table, weights) = (spread((4, Const), 1), spread((Const, Const), 2));
    let rows = Tensor::from([2, 0, 2, 2, 1]);
    let (_, d) = f_grad(&table, &rows, &weights);
    assert_close(d.as_slice(), &differences(&table, |table| f(table, &rows, &weights)), 1e-8);
    assert!(d.as_slice()[9..].iter().all(|d| *d == 0.0));
}

#[test]
fn gradients_of_convolutions_agree_with_differences() {
    mind! {
        #[grad(x, k)]
        fn strided(x: f64[2, 5, 6, 2], k: f64[3, 2, 2, 3]) -> f64 {
            let y = conv2d(x, k, strides = [2, 1], padding = [[1, 0], [0, 2]]);
            sum(y * y)
        }

        #[grad(x, k)]
        fn same<N>(x: f64[N, 4, 5, 2], k: f64[3, 2, 2, 3]) -> f64 {
            mean(exp(conv2d(x, k, padding = same)))
        }
    }
    let (x, k) = (spread((Const, Const, Const, Const), 1), spread((Const, Const, Const, Const), 2));
    let (_, (dx, dk)) = strided_grad(&x, &k);
    assert_close(dx.as_slice(), &differences(&x, |x| strided(x, &k)), 1e-7);
    assert_close(dk.as_slice(), &differences(&k, |k| strided(&x, k)), 1e-7);
    let x = spread((3, Const, Const, Const), 3);
    let (_, (dx, dk)) = same_grad(&x, &k);
    assert_close(dx.as_slice(), &differences(&x, |x| same(x, &k)), 1e-7);
    assert_close(dk.as_slice(), &differences(&k, |k| same(&x, k)), 1e-7);
}

#[test]
fn gradients_sum_back_over_broadcast_axes() {
    mind! {
        #[grad(s, row, column, one)]
        fn f<N>(x: f32[N, 3], s: f32, row: f32[3], column: f32[N, 1], one: f32[1, 1]) -> f32 {
            sum(x * s + row - column * one)
        }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let column = Tensor::from([[1.0], [2.0]]);
    let (_, (ds, drow, dcolumn, done)) = f_grad(&x, 1.0, &Tensor::zeros(), &column, &Tensor::from([[2.0]]));
    assert_eq!((ds, drow), (21.0, Tensor::from([2.0, 2.0, 2.0])));
    assert_eq!((dcolumn, done), (Tensor::from([[-6.0], [-6.0]]), Tensor::from([[-9.0]])));
}

/// If both operands are 0, the length has no derivative. Its gradient is 0 there, not NaN.
#[test]
fn the_length_of_nothing_has_no_slope() {
    mind! {
        fn length(x: f64[3], y: f64[3]) -> f64 {
            sum(hypot(x, y))
        }

        fn slopes(x: f64[3], y: f64[3]) -> (f64[3], f64[3]) {
            grad(length, wrt = (x, y))(x, y)
        }

        fn squares(x: f64[3], y: f64[3]) -> f64 {
            let (a, b) = slopes(x, y);
            sum(a * 2.0 + b * b)
        }

        fn curvatures(x: f64[3], y: f64[3]) -> f64[3] {
            grad(squares, wrt = x)(x, y)
        }
    }
    let (x, y) = (Tensor::from([0.0, 3.0, 0.0]), Tensor::from([0.0, 4.0, -2.0]));
    assert_eq!(slopes(&x, &y), (Tensor::from([0.0, 0.6, 0.0]), Tensor::from([0.0, 0.8, -1.0])));
    // 2 y²/r³ - 2 x y²/r⁴ for 3 and 4, and 2/r for 0 and -2.
    let found = curvatures(&x, &y);
    for (found, expected) in found.as_slice().iter().zip([0.0, 0.256 - 0.1536, 1.0]) {
        assert!((found - expected).abs() < 1e-15, "{found}, expected {expected}");
    }
}
