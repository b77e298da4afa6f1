//! `fold`, `scan` and `for`.

use mind::{Const, Tensor, mind};

mind! {
    #[derive(Clone)]
    struct Cell { w: f64[3, 8], u: f64[8, 8], b: f64[8] }

    fn cell<B>(p: Cell, h: f64[B, 8], x: f64[B, 3]) -> f64[B, 8] { tanh(x @ p.w + h @ p.u + p.b) }

    fn states<B, T>(p: Cell, h: f64[B, 8], xs: f64[T, B, 3]) -> (f64[B, 8], f64[T, B, 8]) {
        scan h = h for x in xs { let h = cell(p, h, x); (h, h) }
    }

    fn last<B, T>(p: Cell, h: f64[B, 8], xs: f64[T, B, 3]) -> f64[B, 8] {
        fold h = h for x in xs, reverse = true { cell(p, h, x) }
    }

    fn loss<B, T>(p: Cell, h: f64[B, 8], xs: f64[T, B, 3]) -> f64 {
        let (end, all) = states(p, h, xs);
        sum(end * end) + mean(all) + sum(last(p, h, xs))
    }

    fn slope<B, T>(p: Cell, h: f64[B, 8], xs: f64[T, B, 3]) -> (Cell, f64[B, 8], f64[T, B, 3]) {
        grad(loss, wrt = (p, h, xs))(p, h, xs)
    }
}

fn sample(count: usize, scale: f64) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 % 1009) as f64 / 1009.0 - 0.5) * scale).collect()
}

/// Parameters, a state and the inputs of `steps` steps.
#[expect(clippy::type_complexity, reason = "shapes in full")]
fn inputs(steps: usize) -> (Cell, Tensor<f64, (usize, Const<8>)>, Tensor<f64, (usize, usize, Const<3>)>) {
    let cell = Cell {
        w: Tensor::from_vec((Const, Const), sample(24, 1.0)).expect("as many elements as places"),
        u: Tensor::from_vec((Const, Const), sample(64, 0.5)).expect("as many elements as places"),
        b: Tensor::from_vec((Const,), sample(8, 0.5)).expect("as many elements as places"),
    };
    let h = Tensor::from_vec((4, Const), sample(32, 1.0)).expect("as many elements as places");
    let xs = Tensor::from_vec((steps, 4, Const), sample(steps * 12, 2.0));
    (cell, h, xs.expect("as many elements as places"))
}

#[test]
fn each_step_has_what_the_step_before_gave() {
    for steps in [1, 2, 3, 7] {
        let (p, first, xs) = inputs(steps);
        let (end, all) = states(&p, &first, &xs);
        let mut h = first.clone();
        for step in 0..steps {
            let x = Tensor::from_vec((4, Const), xs.as_slice()[step * 12..][..12].to_vec()).unwrap();
            h = cell(&p, &h, &x);
            assert_eq!(&all.as_slice()[step * 32..][..32], h.as_slice(), "step {step} of {steps}");
        }
        assert_eq!(end.as_slice(), h.as_slice());
        let mut h = first.clone();
        for step in (0..steps).rev() {
            let x = Tensor::from_vec((4, Const), xs.as_slice()[step * 12..][..12].to_vec()).unwrap();
            h = cell(&p, &h, &x);
        }
        assert_eq!(last(&p, &first, &xs).as_slice(), h.as_slice());
    }
}

#[test]
fn gradients_go_back_through_all_steps() {
    for steps in [1, 2, 5] {
        let (p, h, xs) = inputs(steps);
        let (by_p, by_h, by_xs) = slope(&p, &h, &xs);
        let check = |name: &str, found: &[f64], loss: &dyn Fn(usize, f64) -> f64| {
            for (i, found) in found.iter().enumerate() {
                let quotient = (loss(i, 1e-5) - loss(i, -1e-5)) / 2e-5;
                let error = (quotient - found).abs();
                assert!(
                    error < 1e-8 * (1.0 + quotient.abs()),
                    "{name} {i}, {steps} steps: {found}, {quotient}"
                );
            }
        };
        let with = |place: &dyn Fn(&mut Cell, &mut Tensor<f64, _>, &mut Tensor<f64, _>)| {
            let (mut p, mut h, mut xs) = (p.clone(), h.clone(), xs.clone());
            place(&mut p, &mut h, &mut xs);
            loss(&p, &h, &xs)
        };
        check("h", by_h.as_slice(), &|i, by| with(&|_, h, _| h.as_mut_slice()[i] += by));
        check("xs", by_xs.as_slice(), &|i, by| with(&|_, _, xs| xs.as_mut_slice()[i] += by));
        check("w", by_p.w.as_slice(), &|i, by| with(&|p, _, _| p.w.as_mut_slice()[i] += by));
        check("u", by_p.u.as_slice(), &|i, by| with(&|p, _, _| p.u.as_mut_slice()[i] += by));
        check("b", by_p.b.as_slice(), &|i, by| with(&|p, _, _| p.b.as_mut_slice()[i] += by));
    }
}

/// The elements are small integers, so that products are exact in any order.
#[test]
fn products_without_the_carry_give_what_each_step_gives() {
    mind! {
        fn step(h: f64[2], x: f64[3], m: f64[2, 3], w: f64[3, 2], v: f64[2, 3]) -> f64[2] {
            let inner = relu(x @ w + 1.0) @ (w.T @ w);
            let column = v @ (x * 2.0);
            let rows = sum(m @ w, axis = 0) + sum(v @ m.T, axis = 1);
            let number = x @ w[.., 0] + w[.., 1] @ x;
            floor(h / 4.0) + inner + column + rows + number * (w.T @ w)[0] + sum(h) * v @ x
        }

        fn steps<T>(h: f64[2], xs: f64[T, 3], ms: f64[T, 2, 3], w: f64[3, 2], v: f64[2, 3]) -> (f64[2], f64[T, 2]) {
            scan h = h for (x, m) in (xs, ms), reverse = true { let h = step(h, x, m, w, v); (h, h) }
        }

        fn same<T>(xs: f64[T, 3], w: f64[3, 3]) -> (f64[T, 3, 3], f64[T, 3]) {
            for x in xs { (w @ w, w @ x) }
        }
    }
    let integers =
        |count: usize, by: usize| (0..count).map(|i| (i * by % 5) as f64 - 2.0).collect::<Vec<_>>();
    let w = Tensor::from_vec((Const::<3>, Const::<2>), integers(6, 3)).unwrap();
    let v = Tensor::from_vec((Const::<2>, Const::<3>), integers(6, 2)).unwrap();
    for count in [1, 4] {
        let (xs, ms) = (integers(count * 3, 7), integers(count * 6, 3));
        let mut h = Tensor::from([1.0, -1.0]);
        let (last, all) = steps(
            &h,
            &Tensor::from_vec((count, Const::<3>), xs.clone()).unwrap(),
            &Tensor::from_vec((count, Const::<2>, Const::<3>), ms.clone()).unwrap(),
            &w,
            &v,
        );
        for at in (0..count).rev() {
            let x = Tensor::from_vec((Const::<3>,), xs[at * 3..][..3].to_vec()).unwrap();
            let m = Tensor::from_vec((Const::<2>, Const::<3>), ms[at * 6..][..6].to_vec()).unwrap();
            h = step(&h, &x, &m, &w, &v);
            assert_eq!(&all.as_slice()[at * 2..][..2], h.as_slice(), "element {at} of {count}");
        }
        assert_eq!(last, h);
    }
    let w = Tensor::from([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [2.0, 0.0, 1.0]]);
    let (squares, products) = same(&Tensor::from_vec((2, Const::<3>), integers(6, 3)).unwrap(), &w);
    let square = [1.0, 4.0, 2.0, 2.0, 1.0, 2.0, 4.0, 4.0, 1.0];
    assert_eq!(squares.as_slice(), [square, square].concat());
    // The rows of `xs` are -2, 1, -1 and 2, 0, -2.
    assert_eq!(products.as_slice(), [0.0, 0.0, -5.0, 2.0, -2.0, 2.0]);
}

#[test]
fn loops_over_numbers_several_tensors_and_integers() {
    mind! {
        fn squares(x: f32[5]) -> f32[5] { for x in x { x * x } }

        fn powers(x: f32) -> (f32, f32[6]) { scan p = 1.0 for i in 0..6 { (p * x, p + f32(i)) } }

        fn backwards(x: f32) -> f32[3] { for i in 2..5, reverse = true { x * f32(i) } }

        fn two<N>(x: f32[N], y: f32[N, 2]) -> (f32, f32[2]) {
            fold (a, b) = (0.0, [0.0, 0.0]) for (x, y) in (x, y) { (a + x, b * x + y) }
        }

        fn counted<N>(x: f32[N]) -> i64 { fold n = 0 for e in x { n + i64(e > 0.0) } }

        fn picked<N>(table: f32[N, 2], at: i64[3]) -> f32[3, 2] { for i in at { gather(table, i) } }
    }
    assert_eq!(squares(&Tensor::from([1.0, 2.0, 3.0, 4.0, 5.0])).as_slice(), [1.0, 4.0, 9.0, 16.0, 25.0]);
    let (last, all) = powers(2.0);
    assert_eq!((last, all.as_slice()), (64.0, &[1.0, 3.0, 6.0, 11.0, 20.0, 37.0][..]));
    assert_eq!(backwards(2.0).as_slice(), [4.0, 6.0, 8.0]);
    let (a, b) = two(&Tensor::from([1.0, 2.0]), &Tensor::from([[1.0, 2.0], [3.0, 4.0]]));
    assert_eq!((a, b.as_slice()), (3.0, &[5.0, 8.0][..]));
    assert_eq!(counted(&Tensor::from([1.0, -2.0, 3.0])), 2);
    let table = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(picked(&table, &Tensor::from([1, 0, 1])).as_slice(), [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
    // A step that fails ends the call.
    let error = try_picked(&table, &Tensor::from([1, 2, 0])).unwrap_err();
    assert!(error.to_string().contains("E6001"), "{error}");
}

#[test]
fn loops_stand_in_loops() {
    mind! {
        fn sum_of_products<N, M>(x: f32[N, M]) -> f32 {
            fold s = 0.0 for row in x { s + (fold p = 1.0 for e in row { p * e }) }
        }

        fn slope<N, M>(x: f32[N, M]) -> f32[N, M] { grad(sum_of_products, wrt = x)(x) }

        fn table<N, M>(x: f32[N], y: f32[M]) -> f32[N, M] { for a in x { for b in y { a * b + a } } }
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]]);
    assert_eq!(sum_of_products(&x), 6.0);
    assert_eq!(slope(&x).as_slice(), [6.0, 3.0, 2.0, 0.0, 0.0, 20.0]);
    let products = table(&Tensor::from([1.0, 2.0]), &Tensor::from([3.0, 4.0, 5.0]));
    assert_eq!(products.as_slice(), [4.0, 5.0, 6.0, 8.0, 10.0, 12.0]);
}

#[test]
fn gradients_of_gradients_are_loops_too() {
    mind! {
        fn value(x: f64, n: f64[4]) -> f64 { fold p = 1.0 for n in n { p * x + n } }

        fn first(x: f64, n: f64[4]) -> f64 { grad(value, wrt = x)(x, n) }

        fn second(x: f64, n: f64[4]) -> f64 { grad(first, wrt = x)(x, n) }

        fn third(x: f64, n: f64[4]) -> f64 { grad(second, wrt = x)(x, n) }
    }
    // x⁴ + x³ + 2 x² + 3 x + 4.
    let n = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    let all = [value(2.0, &n), first(2.0, &n), second(2.0, &n), third(2.0, &n)];
    assert_eq!(all, [42.0, 55.0, 64.0, 54.0]);
}

#[test]
fn a_parameter_is_updated_by_what_a_loop_gives() {
    mind! {
        fn settle<N>(w: &mut f32[2], xs: f32[N, 2]) -> f32 {
            let (now, misses) = scan w = w for x in xs { (w + 0.5 * (x - w), sum((x - w) * (x - w))) };
            w = now;
            mean(misses)
        }
    }
    let mut w = Tensor::from([0.0, 0.0]);
    assert_eq!(settle(&mut w, &Tensor::from([[2.0, 4.0], [2.0, 4.0]])), 12.5);
    assert_eq!(w.as_slice(), [1.5, 3.0]);
}

#[test]
fn literals_of_first_carries_have_the_type_of_the_loop() {
    mind! {
        fn iterated(x: f64[3]) -> (f64, f64[1]) { (fold (s, (p, q)) = (0.0, (1.0, [2.0])) for e in x { (s + e, (p * e, q * e)) }).1 }
        fn carried(x: f64, n: i64) -> f64 { (fold (s, t) = (0.0, x) for i in 0..3 { (s + t + f64(i + n), t) }).0 }
        fn of_parameters(x: f64) -> f64 {
            let (s, _) = while (s, n) = (1.0, 0) if n < 3, at most = 20 { (s * x, n + 1) };
            s
        }
        fn integers(x: f64[2]) -> i64 { let (n, _) = fold (n, s) = (0, 0.0) for e in x { (n + 1, s + e) }; n }
    }
    let x = Tensor::from([0.1, 0.2, 3.0]);
    let (p, q) = iterated(&x);
    assert_eq!((p, q.as_slice()), (0.1 * 0.2 * 3.0, &[2.0 * 0.1 * 0.2 * 3.0][..]));
    assert_eq!(carried(0.1, 1), 0.1 + 1.0 + 0.1 + 2.0 + 0.1 + 3.0);
    assert_eq!(of_parameters(0.1), 0.1 * 0.1 * 0.1);
    assert_eq!(integers(&Tensor::from([0.5, 0.25])), 2);
}

#[test]
fn a_loop_along_another_axis_has_the_values_and_gradients_of_one_over_transposed_tensors() {
    mind! {
        fn along<B, T>(xs: f64[B, T, 3], w: f64[B, 3]) -> (f64[B], f64[B, T]) {
            scan h = zeros([B]) for x in xs, axis = 1, out = -1 { let h = tanh(sum(x * w, axis = 1) + h); (h, h) }
        }
        fn leading<B, T>(xs: f64[B, T, 3], w: f64[B, 3]) -> (f64[B], f64[B, T]) {
            let (h, hs) = scan h = zeros([B]) for x in transpose(xs, [1, 0, 2]) {
                let h = tanh(sum(x * w, axis = 1) + h);
                (h, h)
            };
            (h, hs.T)
        }
        fn of_along<B, T>(xs: f64[B, T, 3], w: f64[B, 3]) -> f64 { let (h, hs) = along(xs, w); sum(h) + sum(hs * hs) }
        fn of_leading<B, T>(xs: f64[B, T, 3], w: f64[B, 3]) -> f64 { let (h, hs) = leading(xs, w); sum(h) + sum(hs * hs) }
        fn slopes<B, T>(xs: f64[B, T, 3], w: f64[B, 3]) -> ((f64[B, T, 3], f64[B, 3]), (f64[B, T, 3], f64[B, 3])) {
            (grad(of_along, wrt = (xs, w))(xs, w), grad(of_leading, wrt = (xs, w))(xs, w))
        }
        fn columns(x: f64[2, 3]) -> f64[2, 3] { for c in x, axis = -1, out = 1, reverse = true { 2.0 * c } }
    }
    for (batch, steps) in [(1, 1), (2, 5), (5, 2)] {
        let xs = Tensor::from_vec((batch, steps, Const), sample(batch * steps * 3, 2.0)).unwrap();
        let w = Tensor::from_vec((batch, Const), sample(batch * 3, 1.0)).unwrap();
        let (found, expected) = (along(&xs, &w), leading(&xs, &w));
        assert_eq!(found.0.as_slice(), expected.0.as_slice());
        assert_eq!(found.1.as_slice(), expected.1.as_slice());
        let ((dxs, dw), (expected_dxs, expected_dw)) = slopes(&xs, &w);
        assert_eq!(dxs.as_slice(), expected_dxs.as_slice());
        assert_eq!(dw.as_slice(), expected_dw.as_slice());
    }
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(columns(&x).as_slice(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
}

/// The derivative of a square root at 0 is infinite, and 0 times that is NaN.
#[test]
fn a_gradient_ignores_results_of_a_loop_that_it_does_not_depend_on() {
    mind! {
        #[grad(x)]
        fn total(x: f64[3]) -> (f64, f64[3]) {
            scan s = 0.0 for a in x { (s + 2.0 * a, sqrt(a)) }
        }
    }
    let ((value, roots), slope) = total_grad(&Tensor::from([0.0, 1.0, 4.0]));
    assert_eq!((value, roots, slope), (10.0, Tensor::from([0.0, 1.0, 2.0]), Tensor::from([2.0, 2.0, 2.0])));
}
