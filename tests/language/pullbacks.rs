//! Functions that define their own derivatives: `pullback(y, dy) { … }`.

use mind::{Tensor, mind};

use crate::support::{assert_close, spread};

mod shared {
    mind::mind! {
        /// Rounds `x`. Its derivative is that of the identity.
        pub fn straight<N>(x: f64[N]) -> f64[N] { round(x) } pullback(_, dy) { same(dy) }
        fn same<N>(x: f64[N]) -> f64[N] { x }
        pub fn sigmoid(x: float[..]) { 1.0 / (1.0 + exp(-x)) } pullback(y, dy) { dy * y * (1.0 - y) }
        /// Its pullback gives ten times the cotangent for `x`, and the sum of the result for `w`. It calls `through`,
        /// which has a pullback too.
        pub fn odd(x: float[..], w: float, const axis: axis = -1) {
            sum(x, axis = axis) * w
        } pullback(y, dy) {
            let again = through(dy);
            (expand_dims(again, axis = axis) * 10.0 + 0.0 * x, sum(y))
        }
        /// The factor in its pullback is infinite at 0.
        pub fn root(x: float[..]) { sqrt(x) } pullback(y, dy) { dy * (0.5 / y) }
        fn through(x: float[..]) { x * 1.0 } pullback(_, dz) { dz * 3.0 }
        pub fn both(a: float[..], b: float[..]) { (a + b, a * b) } pullback((s, p), (ds, dp)) { (ds * p, dp * s) }
    }
}

#[test]
fn expressions_over_rust_variables_take_what_templates_tell() {
    let (x, w) = (spread((mind::Const::<7>,), 1), spread((mind::Const::<7>,), 2));
    let told = mind!(grad(sum(shared::sigmoid(x * x) * w), wrt = x));
    let plain = mind!(grad(sum(w / (1.0 + exp(-x * x))), wrt = x));
    assert_close(told.as_slice(), plain.as_slice(), 1e-12);
    let told = mind!(grad(sum(grad(sum(shared::sigmoid(x * x) * w), wrt = x) * w), wrt = x));
    let plain = mind!(grad(sum(grad(sum(w / (1.0 + exp(-x * x))), wrt = x) * w), wrt = x));
    assert_close(told.as_slice(), plain.as_slice(), 1e-12);
    let value = mind!(shared::sigmoid(x));
    assert_eq!(value, mind!(1.0 / (1.0 + exp(-x))));

    let (m, k, v) = (Tensor::from([[1.0, 2.0], [3.0, -1.0]]), 0.5, Tensor::from([1.0, -2.0]));
    let (dm, dk) = mind!(grad(sum(shared::odd(m, k) * v), wrt = (m, k)));
    assert_eq!((dm, dk), (Tensor::from([[10.0, 10.0], [-20.0, -20.0]]), 2.5));
    // The derivative of `sum(dm * m)` by `v`. `dm` is `10 v`, and the pullback of `through` triples the derivative.
    let dv = mind!(grad(sum(grad(sum(shared::odd(m, 0.5) * v), wrt = m) * m), wrt = v));
    assert_eq!(dv, Tensor::from([90.0, 60.0]));
    mind! {
        use shared::odd;
        fn inner(m: f64[2, 2], v: f64[2]) -> f64 { sum(odd(m, 0.5) * v) }
        fn outer(m: f64[2, 2], v: f64[2]) -> f64 { sum(grad(inner, wrt = m)(m, v) * m) }
        fn by_function(m: f64[2, 2], v: f64[2]) -> f64[2] { grad(outer, wrt = v)(m, v) }
    }
    assert_eq!(by_function(&m, &v), dv);

    let (a, b) = (Tensor::from([2.0, 3.0]), Tensor::from([5.0, 7.0]));
    let (da, db) = mind!({
        let (s, p) = shared::both(a, b);
        grad(sum(s) + 10.0 * sum(p), wrt = (a, b))
    });
    assert_eq!((da, db), (Tensor::from([10.0, 21.0]), Tensor::from([70.0, 100.0])));
    let da = mind!({ let (_, p) = shared::both(a, b); grad(sum(p), wrt = (zero_ok a)) });
    assert_eq!(da, Tensor::from([0.0, 0.0]));
}

#[test]
fn a_true_pullback_changes_no_gradient_and_no_curvature() {
    mind! {
        fn told<N>(x: f64[N]) -> f64[N] { 1.0 / (1.0 + exp(-x)) } pullback(y, dy) { dy * y * (1.0 - y) }
        fn plain<N>(x: f64[N]) -> f64[N] { 1.0 / (1.0 + exp(-x)) }
        fn template(x: float[..]) { 1.0 / (1.0 + exp(-x)) } pullback(y, dy) { dy * y * (1.0 - y) }
        #[grad(x)]
        fn with<N>(x: f64[N], w: f64[N]) -> f64 { sum(told(x * x) * w) }
        fn without<N>(x: f64[N], w: f64[N]) -> f64 { sum(plain(x * x) * w) }
        fn inlined<N>(x: f64[N], w: f64[N]) -> f64 { sum(template(x * x) * w) }
        fn gradients<N>(x: f64[N], w: f64[N]) -> (f64[N], f64[N], f64[N]) {
            (grad(with, wrt = x)(x, w), grad(without, wrt = x)(x, w), grad(inlined, wrt = x)(x, w))
        }
        fn slope_with<N>(x: f64[N], w: f64[N]) -> f64 { sum(grad(with, wrt = x)(x, w) * w) }
        fn slope_without<N>(x: f64[N], w: f64[N]) -> f64 { sum(grad(without, wrt = x)(x, w) * w) }
        fn slope_inlined<N>(x: f64[N], w: f64[N]) -> f64 { sum(grad(inlined, wrt = x)(x, w) * w) }
        fn curvatures<N>(x: f64[N], w: f64[N]) -> (f64[N], f64[N], f64[N]) {
            (
                grad(slope_with, wrt = x)(x, w),
                grad(slope_without, wrt = x)(x, w),
                grad(slope_inlined, wrt = x)(x, w),
            )
        }
    }
    let (x, w) = (spread((7,), 1), spread((7,), 2));
    for (with, without, inlined) in [gradients(&x, &w), curvatures(&x, &w)] {
        assert_close(with.as_slice(), without.as_slice(), 1e-12);
        assert_close(inlined.as_slice(), without.as_slice(), 1e-12);
    }
    let (value, gradient) = with_grad(&x, &w);
    assert_eq!((value, gradient), (without(&x, &w), gradients(&x, &w).0));
    assert_eq!(value, inlined(&x, &w));
}

#[test]
fn what_a_pullback_tells_is_what_comes_out() {
    mind! {
        use shared::straight;
        fn clipped<N>(x: f64[N], least: f64, most: f64) -> f64[N] { x } pullback(_, dy) {
            (minimum(maximum(dy, least), most), 0.0, 0.0)
        }
        fn loss<N>(x: f64[N], w: f64[N]) -> f64 { sum(straight(clipped(x, -0.5, 2.0)) * w) }
        fn gradient<N>(x: f64[N], w: f64[N]) -> f64[N] { grad(loss, wrt = x)(x, w) }
        fn rounded<N>(x: f64[N], w: f64[N]) -> f64 { vjp(straight, wrt = x)(x, w)[0] }
    }
    let (x, w) = (Tensor::from([0.4, 1.6, -2.5]), Tensor::from([3.0, -1.0, 0.25]));
    assert_eq!(loss(&x, &w), -2.0 - 0.5);
    assert_eq!(gradient(&x, &w), Tensor::from([2.0, -0.5, 0.25]));
    assert_eq!(rounded(&x, &w), 3.0);
    let closure = mind!(use shared::straight; |x: f64[3]| sum(straight(x) * x));
    assert_eq!(closure(&x), 3.2 + 5.0);
}

/// As in the derivatives of built-in functions, elements that do not affect the loss get 0, even if their factor is
/// infinite.
#[test]
fn cotangents_of_0_stay_0() {
    mind! {
        use shared::root;
        fn divided<N>(x: f64[N]) -> f64[N] { sqrt(x) } pullback(y, dy) { 0.5 * dy / y }
        fn by_template<N>(x: f64[N], w: f64[N]) -> f64 { sum(root(x) * w) }
        fn by_function<N>(x: f64[N], w: f64[N]) -> f64 { sum(divided(x) * w) }
        fn gradients<N>(x: f64[N], w: f64[N]) -> (f64[N], f64[N]) {
            (grad(by_template, wrt = x)(x, w), grad(by_function, wrt = x)(x, w))
        }
    }
    let (x, w) = (Tensor::from([0.0, 0.0, 4.0, 4.0]), Tensor::from([0.0, 1.0, 0.0, 2.0]));
    let expected = Tensor::from([0.0, f64::INFINITY, 0.0, 0.5]);
    let (template, function) = gradients(&x, &w);
    assert_eq!([template.as_slice(), function.as_slice()], [expected.as_slice(); 2]);
    let of_expression = mind!(grad(sum(shared::root(x) * w), wrt = x));
    assert_eq!(of_expression.as_slice(), expected.as_slice());
}

#[test]
fn several_results_and_parameters_of_every_kind_have_their_place() {
    mind! {
        struct Line { w: f64[2], b: f64 }
        fn affine(x: f64[2], k: i64, p: Line) -> (f64[2], f64) {
            (x * p.w, sum(x) + p.b)
        } pullback((y, s), (dy, ds)) {
            (dy * f64(k) + ds, Line { w: y, b: s })
        }
        fn loss(x: f64[2], p: Line) -> f64 { let (y, s) = affine(x, 3, p); sum(y) + 10.0 * s }
        fn second(x: f64[2], p: Line) -> f64 { affine(x, 5, p).1 }
        fn gradient(x: f64[2], p: Line) -> (f64[2], Line) { grad(loss, wrt = (x, p))(x, p) }
        fn of_second(x: f64[2], p: Line) -> (f64[2], Line) { grad(second, wrt = (x, p))(x, p) }
    }
    let (x, p) = (Tensor::from([2.0, 3.0]), Line { w: Tensor::from([0.5, 4.0]), b: 7.0 });
    let (dx, dp) = gradient(&x, &p);
    assert_eq!((dx, dp.w, dp.b), (Tensor::from([13.0, 13.0]), Tensor::from([1.0, 12.0]), 12.0));
    let (dx, dp) = of_second(&x, &p);
    assert_eq!((dx, dp.w, dp.b), (Tensor::from([1.0, 1.0]), Tensor::from([1.0, 12.0]), 12.0));
}

#[test]
fn a_step_in_place_runs_pullbacks_and_plans_nothing_else_of_them() {
    mind! {
        fn guarded(x: float[..]) { log(x) } pullback(y, dy) { where(x > 0.0, dy / x, 0.0) }
        fn loss<N>(w: f32[N], x: f32[N]) -> f32 { sum(guarded(w) * x) }
        fn step<N>(w: &mut f32[N], x: f32[N]) -> f32 {
            let (l, dw) = value_and_grad(loss, wrt = w)(w, x);
            w -= 0.5 * dw;
            l
        }
        fn plain<N>(w: f32[N], x: f32[N]) -> f32 { sum(log(w) * x) }
    }
    let (mut w, x) = (Tensor::from([1.0, 2.0, 4.0]), Tensor::from([1.0, 1.0, 2.0]));
    assert_eq!(step(&mut w, &x), loss(&Tensor::from([1.0, 2.0, 4.0]), &x));
    assert_eq!(w, Tensor::from([0.5, 1.75, 3.75]));
    // The function does not pay for operations that only its derivative reads.
    assert_eq!(loss::flops(100), plain::flops(100));
    assert_eq!(loss::peak_bytes(100), plain::peak_bytes(100));
}

/// A `while` without a limit has no gradient of its own.
#[test]
fn a_pullback_takes_the_place_of_a_loop_without_a_limit() {
    mind! {
        fn root(a: f64) -> f64 {
            let (x, _) = while (x, step) = (a, a) if abs(step) > 1e-12 {
                let next = 0.5 * (x + a / x);
                (next, next - x)
            };
            x
        } pullback(y, dy) { 0.5 * dy / y }
        #[grad(a)]
        fn loss(a: f64) -> f64 { 3.0 * root(a * a) + root(a) }
        fn slope(a: f64) -> f64 { grad(loss, wrt = a)(a) }
        fn curvature(a: f64) -> f64 { grad(slope, wrt = a)(a) }
    }
    let (value, gradient) = loss_grad(4.0);
    assert!((value - 14.0).abs() < 1e-12 && (gradient - 3.25).abs() < 1e-12, "{value} {gradient}");
    assert!((curvature(4.0) + 1.0 / 32.0).abs() < 1e-12, "{}", curvature(4.0));
}

#[test]
fn a_pullback_of_more_results_than_parameters_has_a_gradient() {
    mind! {
        fn powers(x: f64) -> (f64, f64, f64) { (x, x * x, x * x * x) } pullback(_, (da, db, dc)) {
            da + 2.0 * x * db + 3.0 * x * x * dc
        }
        #[grad(x)]
        fn loss(x: f64) -> f64 { let (a, b, c) = powers(x); a + b * c }
    }
    assert_eq!(loss_grad(2.0), (34.0, 81.0));
}
