//! `jvp`, `vmap`, `jacobian`, `hessian` and `hvp`, alone, in each other and through loops.

use mind::{Const, Tensor, mind};

use crate::support::spread;

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}, {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found:?}, {expected:?}");
    }
}

mind! {
    struct Layer<I, O> { w: f64[I, O], b: f64[O] }

    /// `sin(x y)`.
    fn product(x: f64, y: f64) -> f64 { sin(x * y) }

    fn push_both(x: f64, y: f64, dx: f64, dy: f64) -> (f64, f64) {
        jvp(product, wrt = (x, y))(x, y, dx, dy)
    }

    fn layer(x: f64[3], p: Layer<3, 2>) -> f64[2] { tanh(x @ p.w + p.b) }

    fn push_layer(x: f64[3], p: Layer<3, 2>, dp: Layer<3, 2>) -> (f64[2], f64[2]) {
        jvp(layer, wrt = p)(x, p, dp)
    }

    fn rosenbrock(x: f64[3]) -> f64 {
        let (a, b) = (x[1..], x[..2]);
        sum(100.0 * (a - b * b) * (a - b * b) + (1.0 - b) * (1.0 - b))
    }

    fn curvature(x: f64[3]) -> f64[3, 3] { hessian(rosenbrock, wrt = x)(x) }

    fn along(x: f64[3], v: f64[3]) -> f64[3] { hvp(rosenbrock, wrt = x)(x, v) }

    fn columns(x: f64[3], p: Layer<3, 2>) -> f64[2, 3] { jacobian(layer, wrt = x, mode = forward)(x, p) }

    fn rows(x: f64[3], p: Layer<3, 2>) -> f64[2, 3] { jacobian(layer, wrt = x, mode = reverse)(x, p) }

    fn by_struct(x: f64[3], p: Layer<3, 2>) -> f64[2, 8] { jacobian(layer, wrt = p)(x, p) }

    fn by_both(x: f64[3], p: Layer<3, 2>) -> (f64[2, 3], f64[2, 8]) {
        jacobian(layer, wrt = (x, p))(x, p)
    }
}

fn parameters() -> Layer<Const<3>, Const<2>> {
    Layer { w: Tensor::from([[0.5, -0.25], [0.125, 1.0], [-1.5, 0.75]]), b: Tensor::from([0.1, -0.2]) }
}

#[test]
fn tangents_are_pushed_through_a_function_of_several_parameters() {
    let (x, y) = (0.7, -1.3);
    let (value, slope) = push_both(x, y, 2.0, 0.5);
    near(&[value, slope], &[(x * y).sin(), (x * y).cos() * (2.0 * y + 0.5 * x)]);
}

#[test]
fn a_tangent_of_a_struct_is_a_struct() {
    let x = Tensor::from([0.3, -0.6, 0.9]);
    let direction =
        Layer { w: Tensor::from([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]), b: Tensor::from([0.5, 0.25]) };
    let (value, tangent) = push_layer(&x, &parameters(), &direction);
    let y = layer(&x, &parameters());
    near(value.as_slice(), y.as_slice());
    let linear = [0.3 - 0.9 + 0.5, -1.2 + 0.9 + 0.25];
    let expected: Vec<f64> =
        y.as_slice().iter().zip(linear).map(|(y, linear)| (1.0 - y * y) * linear).collect();
    near(tangent.as_slice(), &expected);
}

#[test]
fn second_derivatives_of_a_function_by_its_only_parameter() {
    let x = [1.2, -0.4, 0.8];
    let square = |x: f64| 1200.0 * x * x + 2.0;
    let expected = [
        [square(x[0]) - 400.0 * x[1], -400.0 * x[0], 0.0],
        [-400.0 * x[0], 200.0 + square(x[1]) - 400.0 * x[2], -400.0 * x[1]],
        [0.0, -400.0 * x[1], 200.0],
    ];
    let x = Tensor::from(x);
    near(curvature(&x).as_slice(), expected.as_flattened());
    let v = [0.5, -1.0, 2.0];
    let product = expected.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum());
    near(along(&x, &Tensor::from(v)).as_slice(), &product);
}

#[test]
fn both_modes_and_all_forms_of_parameters_give_one_jacobian() {
    let x = Tensor::from([0.3, -0.6, 0.9]);
    let p = parameters();
    let y = layer(&x, &p);
    let slope = |row: usize| 1.0 - y.as_slice()[row] * y.as_slice()[row];
    let mut by_x = Vec::new();
    let mut by_p = Vec::new();
    for row in 0..2 {
        by_x.extend((0..3).map(|i| slope(row) * p.w.as_slice()[2 * i + row]));
        for i in 0..3 {
            by_p.extend((0..2).map(|column| if column == row { slope(row) * x.as_slice()[i] } else { 0.0 }));
        }
        by_p.extend((0..2).map(|column| if column == row { slope(row) } else { 0.0 }));
    }
    near(columns(&x, &p).as_slice(), &by_x);
    near(rows(&x, &p).as_slice(), &by_x);
    near(by_struct(&x, &p).as_slice(), &by_p);
    let (first, second) = by_both(&x, &p);
    near(first.as_slice(), &by_x);
    near(second.as_slice(), &by_p);
}

#[test]
fn a_function_of_one_example_is_mapped_over_a_batch() {
    mind! {
        fn score(x: f64[3], w: f64[3, 2], b: f64) -> f64 { max(nn::softmax(x @ w) * b) }

        fn scores<N>(xs: f64[N, 3], w: f64[3, 2], b: f64) -> f64[N] { vmap(score, over = x)(xs, w, b) }

        fn scaled<N>(xs: f64[N, 3], w: f64[3, 2], bs: f64[N]) -> f64[N] {
            vmap(score, over = (x, b))(xs, w, bs)
        }

        fn shifted(x: f64[2], s: f64) -> f64[2] { x + s }

        fn columns<N>(xs: f64[2, N], ss: f64[N]) -> f64[2, N] {
            vmap(shifted, over = x, axis = 1, out = -1)(xs, ss[0])
        }

        fn outer<M, N>(xs: f64[M, 2], ss: f64[N]) -> f64[M, N, 2] {
            vmap(vmap(shifted, over = s), over = x)(xs, ss)
        }
    }
    let rows = [[0.1, 0.2, 0.3], [-1.0, 0.5, 2.0], [0.0, -0.5, 1.5], [3.0, 1.0, -1.0]];
    let xs = Tensor::from(rows);
    let w = Tensor::from([[1.0, -1.0], [0.5, 2.0], [-0.25, 0.75]]);
    let expected = rows.map(|row| score(&Tensor::from(row), &w, 1.5));
    near(scores(&xs, &w, 1.5).as_slice(), &expected);
    let factors = [1.0, -2.0, 0.5, 3.0];
    let mut expected = [0.0; 4];
    for (at, row) in rows.iter().enumerate() {
        expected[at] = score(&Tensor::from(*row), &w, factors[at]);
    }
    near(scaled(&xs, &w, &Tensor::from(factors)).as_slice(), &expected);
    let xs = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let ss = Tensor::from([10.0, 20.0, 30.0]);
    near(columns(&xs, &ss).as_slice(), &[11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
    let pairs = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    near(
        outer(&pairs, &ss).as_slice(),
        &[11.0, 12.0, 21.0, 22.0, 31.0, 32.0, 13.0, 14.0, 23.0, 24.0, 33.0, 34.0],
    );
}

#[test]
fn gradients_of_each_example_are_a_map_of_a_gradient() {
    mind! {
        fn loss(w: f64[3, 2], x: f64[3], label: i64) -> f64 {
            let y = x @ w;
            nn::logsumexp(y) - gather(y, label)
        }

        fn of_each<N>(w: f64[3, 2], xs: f64[N, 3], labels: i64[N]) -> f64[N, 3, 2] {
            vmap(grad(loss, wrt = w), over = (x, label))(w, xs, labels)
        }

        fn of_one(w: f64[3, 2], x: f64[3], label: i64) -> f64[3, 2] { grad(loss, wrt = w)(w, x, label) }
    }
    let w = Tensor::from([[1.0, -1.0], [0.5, 2.0], [-0.25, 0.75]]);
    let rows = [[0.1, 0.2, 0.3], [-1.0, 0.5, 2.0]];
    let labels = [1_i64, 0];
    let expected: Vec<f64> = rows
        .iter()
        .zip(labels)
        .flat_map(|(row, label)| of_one(&w, &Tensor::from(*row), label).as_slice().to_vec())
        .collect();
    near(of_each(&w, &Tensor::from(rows), &Tensor::from(labels)).as_slice(), &expected);
}

#[test]
fn loops_and_branches_are_mapped_and_pushed_through() {
    mind! {
        /// The square root by Newton's method. No limit is stated, which reverse mode would need.
        fn root(a: f64) -> f64 {
            let (x, _) = while (x, step) = (a, a) if abs(step) > 1e-13 { let y = 0.5 * (x + a / x); (y, y - x) };
            x
        }

        fn slope(a: f64) -> f64 { let (_, slope) = jvp(root, wrt = a)(a, 1.0); slope }

        fn curvature(a: f64) -> f64 { let (_, curvature) = jvp(slope, wrt = a)(a, 1.0); curvature }

        fn roots<N>(a: f64[N]) -> f64[N] { vmap(root, over = a)(a) }

        fn slopes<N>(a: f64[N]) -> f64[N] { vmap(slope, over = a)(a) }

        fn kind(x: f64) -> f64 { if x > 1.0 { x * x } else if x > 0.0 { sin(x) } else { 0.0 - x } }

        fn kinds<N>(x: f64[N]) -> (f64[N], f64[N]) { jvp(mapped, wrt = x)(x, 0.0 * x + 1.0) }

        fn mapped<N>(x: f64[N]) -> f64[N] { vmap(kind, over = x)(x) }

        fn filtered(xs: f64[4], decay: f64) -> (f64, f64[4]) {
            scan h = 0.0 for x in xs { let h = decay * h + x; (h, h * h) }
        }

        fn bank<N>(xs: f64[4], decays: f64[N]) -> (f64[N], f64[N, 4]) { vmap(filtered, over = decay)(xs, decays) }

        fn by_decay(xs: f64[4], decay: f64) -> (f64, f64[4]) { jacobian(filtered, wrt = decay)(xs, decay) }
    }
    let given = [0.25, 2.0, 9.0, 1e4];
    for a in given {
        near(&[slope(a), curvature(a)], &[0.5 / a.sqrt(), -0.25 * a.powf(-1.5)]);
    }
    near(roots(&Tensor::from(given)).as_slice(), &given.map(f64::sqrt));
    near(slopes(&Tensor::from(given)).as_slice(), &given.map(|a| 0.5 / a.sqrt()));
    let (values, slopes) = kinds(&Tensor::from([3.0, 0.5, -2.0]));
    near(values.as_slice(), &[9.0, 0.5_f64.sin(), 2.0]);
    near(slopes.as_slice(), &[6.0, 0.5_f64.cos(), -1.0]);
    let xs = Tensor::from([1.0, 2.0, -1.0, 0.5]);
    let (last, squares) = bank(&xs, &Tensor::from([0.5, -0.25]));
    for (at, decay) in [0.5, -0.25].into_iter().enumerate() {
        let (one, of_one) = filtered(&xs, decay);
        near(&[last.as_slice()[at]], &[one]);
        near(&squares.as_slice()[4 * at..][..4], of_one.as_slice());
    }
    // h is 1, d + 2, d² + 2 d - 1, d³ + 2 d² - d + 0.5.
    let d: f64 = 0.5;
    let h = [1.0, d + 2.0, d * d + 2.0 * d - 1.0, d * d * d + 2.0 * d * d - d + 0.5];
    let slopes = [0.0, 1.0, 2.0 * d + 2.0, 3.0 * d * d + 4.0 * d - 1.0];
    let (last, squares) = by_decay(&xs, d);
    near(&[last], &slopes[3..]);
    near(squares.as_slice(), &[0, 1, 2, 3].map(|at| 2.0 * h[at] * slopes[at]));
}

#[test]
fn transforms_of_transforms_to_depth_three() {
    mind! {
        fn f(x: f64[2], a: f64) -> f64 { sum(exp(a * x) * x) }

        /// The Hessian for each `a`, differentiated by `a` in forward mode.
        fn hessians<N>(x: f64[2], a: f64[N]) -> f64[N, 2, 2] { vmap(hessian(f, wrt = x), over = a)(x, a) }

        fn deep<N>(x: f64[2], a: f64[N], da: f64[N]) -> (f64[N, 2, 2], f64[N, 2, 2]) {
            jvp(vmap(hessian(f, wrt = x), over = a), wrt = a)(x, a, da)
        }

        fn third(x: f64[2], a: f64) -> f64[2, 2, 2] { jacobian(jacobian(grad(f, wrt = x), wrt = x), wrt = x)(x, a) }
    }
    let (x, a) = ([0.3, -0.7], [0.5, 1.5, -1.0]);
    let second = |x: f64, a: f64| (a * x).exp() * (2.0 * a + a * a * x);
    let by_a = |x: f64, a: f64| (a * x).exp() * (x * (2.0 * a + a * a * x) + 2.0 + 2.0 * a * x);
    let of = |g: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        a.iter().flat_map(|a| [g(x[0], *a), 0.0, 0.0, g(x[1], *a)]).collect()
    };
    let (xs, all) = (Tensor::from(x), Tensor::from(a));
    near(hessians(&xs, &all).as_slice(), &of(&second));
    let (value, tangent) = deep(&xs, &all, &Tensor::from([1.0; 3]));
    near(value.as_slice(), &of(&second));
    near(tangent.as_slice(), &of(&by_a));
    let third_of = |x: f64, a: f64| (a * x).exp() * (3.0 * a * a + a * a * a * x);
    let (first, last) = (third_of(x[0], 1.5), third_of(x[1], 1.5));
    near(third(&xs, 1.5).as_slice(), &[first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, last]);
}

#[test]
fn a_custom_derivative_is_pushed_forward_and_mapped() {
    mind! {
        fn steep(x: float[..]) { x * x * x } pullback(_, dy) { 10.0 * dy * x }

        fn f(x: f64[2]) -> f64 { sum(steep(x)) }

        fn slope(x: f64[2], dx: f64[2]) -> (f64, f64) { jvp(f, wrt = x)(x, dx) }

        fn mapped(xs: f64[3, 2]) -> f64[3, 2] { vmap(grad(f, wrt = x), over = x)(xs) }
    }
    let (value, slope) = slope(&Tensor::from([1.0, 2.0]), &Tensor::from([0.5, 3.0]));
    near(&[value, slope], &[9.0, 10.0 * (0.5 + 6.0)]);
    let xs = [[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]];
    near(mapped(&Tensor::from(xs)).as_slice(), xs.map(|row| row.map(|x| 10.0 * x)).as_flattened());
}

#[test]
fn running_results_of_an_associative_function() {
    mind! {
        fn product(a: f64[2, 2], b: f64[2, 2]) -> f64[2, 2] { b @ a }

        fn products<T>(ms: f64[T, 2, 2]) -> f64[T, 2, 2] { associative_scan(product)(ms) }

        fn backwards<T>(ms: f64[T, 2, 2]) -> f64[T, 2, 2] { associative_scan(product, reverse = true)(ms) }

        /// The recurrence `h = a h + b` as an associative function of pairs.
        fn linear(a: f64, b: f64, c: f64, d: f64) -> (f64, f64) { (a * c, b * c + d) }

        fn recurrence<T>(decays: f64[T], xs: f64[T]) -> f64[T] { associative_scan(linear)(decays, xs).1 }

        #[grad(decays, xs)]
        fn last(decays: f64[4], xs: f64[4]) -> f64 { recurrence(decays, xs)[3] }

        fn several<N>(decays: f64[N, 4], xs: f64[N, 4]) -> f64[N, 4] {
            vmap(associative_scan(linear), over = (a, b))(decays, xs).1
        }
    }
    let ms = [[[1.0, 2.0], [0.0, 1.0]], [[2.0, 0.0], [1.0, 3.0]], [[0.0, 1.0], [-1.0, 0.5]]];
    let times = |a: [[f64; 2]; 2], b: [[f64; 2]; 2]| {
        [0, 1].map(|i| [0, 1].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
    };
    let (second, first) = (times(ms[1], ms[0]), times(ms[1], ms[2]));
    let forwards = [ms[0], second, times(ms[2], second)];
    near(products(&Tensor::from(ms)).as_slice(), forwards.as_flattened().as_flattened());
    let backwards_expected = [times(ms[0], first), first, ms[2]];
    near(backwards(&Tensor::from(ms)).as_slice(), backwards_expected.as_flattened().as_flattened());
    near(products(&Tensor::from([ms[1]])).as_slice(), ms[1].as_flattened());

    let (decays, xs) = ([0.5, -0.25, 2.0, 0.75], [1.0, 2.0, -1.0, 0.5]);
    let states = |decays: [f64; 4], xs: [f64; 4]| {
        let mut h = 0.0;
        [0, 1, 2, 3].map(|at| {
            h = decays[at] * h + xs[at];
            h
        })
    };
    let expected = states(decays, xs);
    near(recurrence(&Tensor::from(decays), &Tensor::from(xs)).as_slice(), &expected);
    let (value, (by_decays, by_xs)) = last_grad(&Tensor::from(decays), &Tensor::from(xs));
    near(&[value], &expected[3..]);
    let after = [decays[1] * decays[2] * decays[3], decays[2] * decays[3], decays[3], 1.0];
    near(by_xs.as_slice(), &after);
    near(
        by_decays.as_slice(),
        &[0.0, after[1] * expected[0], after[2] * expected[1], after[3] * expected[2]],
    );
    let others = ([1.5, 0.5, -1.0, 0.25], [0.0, 1.0, 2.0, 3.0]);
    let both = several(&Tensor::from([decays, others.0]), &Tensor::from([xs, others.1]));
    near(both.as_slice(), [expected, states(others.0, others.1)].as_flattened());
}

#[test]
fn structs_are_mapped_as_stacks() {
    mind! {
        struct Cell { w: f64[2, 2], b: f64[2] }

        fn apply(p: Cell, x: f64[2]) -> f64[2] { tanh(x @ p.w + p.b) }

        fn ensemble<N>(ps: Cell[N], x: f64[2]) -> f64[N, 2] { vmap(apply, over = p)(ps, x) }

        fn error(p: Cell, x: f64[2], y: f64[2]) -> f64 { let d = apply(p, x) - y; sum(d * d) }

        /// The gradient of each example, a stack of structs.
        fn of_each<N>(p: Cell, xs: f64[N, 2], ys: f64[N, 2]) -> Cell[N] {
            vmap(grad(error, wrt = p), over = (x, y))(p, xs, ys)
        }

        fn of_one(p: Cell, x: f64[2], y: f64[2]) -> Cell { grad(error, wrt = p)(p, x, y) }

        fn composed(a: Cell, b: Cell) -> Cell { Cell { w: a.w @ b.w, b: a.b @ b.w + b.b } }

        fn compositions(ps: Cell[2]) -> Cell[2] { associative_scan(composed)(ps) }
    }
    let cell = |a: f64| Cell { w: Tensor::from([[a, -0.5], [0.25, 1.0]]), b: Tensor::from([0.1 * a, -0.2]) };
    let x = Tensor::from([0.5, -1.5]);
    let both = ensemble(&CellStack::from([cell(0.5), cell(-1.0)]), &x);
    near(both.as_slice(), &[apply(&cell(0.5), &x).as_slice(), apply(&cell(-1.0), &x).as_slice()].concat());
    let (xs, ys) = ([[0.5, -1.5], [1.0, 2.0]], [[0.0, 1.0], [0.5, 0.25]]);
    let found = of_each(&cell(0.5), &Tensor::from(xs), &Tensor::from(ys));
    let each = [0, 1].map(|at| of_one(&cell(0.5), &Tensor::from(xs[at]), &Tensor::from(ys[at])));
    near(found.w.as_slice(), &[each[0].w.as_slice(), each[1].w.as_slice()].concat());
    near(found.b.as_slice(), &[each[0].b.as_slice(), each[1].b.as_slice()].concat());
    let (a, b) = (cell(0.5), cell(-1.0));
    let last = composed(&a, &b);
    let all = compositions(&CellStack::from([a, b]));
    near(all.w.as_slice(), &[cell(0.5).w.as_slice(), last.w.as_slice()].concat());
    near(all.b.as_slice(), &[cell(0.5).b.as_slice(), last.b.as_slice()].concat());
}

mind! {
    /// A point rotated about an axis; the length of `r` is the angle.
    fn rotated(r: f64[3], p: f64[3]) -> f64[3] {
        let angle = sqrt(sum(r * r));
        let axis = r / angle;
        if angle > 0.5 {
            p * cos(angle) + num::cross(axis, p) * sin(angle) + axis * (dot(axis, p) * (1.0 - cos(angle)))
        } else {
            p + num::cross(r, p)
        }
    }

    fn rotations<N>(r: f64[N, 3], p: f64[N, 3]) -> f64[N, 3] { vmap(rotated, over = (r, p))(r, p) }

    fn by_rotation(r: f64[3], p: f64[3]) -> f64[3, 3] { jacobian(rotated, wrt = r)(r, p) }

    fn by_rotations<N>(r: f64[N, 3], p: f64[N, 3]) -> f64[N, 3, 3] {
        vmap(jacobian(rotated, wrt = r), over = (r, p))(r, p)
    }

    fn total<N>(r: f64[N, 3], p: f64[N, 3]) -> f64 { sum(rotations(r, p) * p) }

    fn gradients<N>(r: f64[N, 3], p: f64[N, 3]) -> f64[N, 3] { grad(total, wrt = r)(r, p) }
}

/// The batch is split into columns, in blocks of vectors and a rest. A row is computed as by the function itself.
#[test]
fn a_batch_of_short_vectors_has_the_rows_of_the_function() {
    for count in [1, 2, 7, 8, 15, 16, 17, 31, 33, 100, 1000] {
        let [r, p] = [1, 2].map(|seed| spread((count, Const::<3>), seed));
        let row = |of: &Tensor<f64, (usize, Const<3>)>, i: usize| {
            let row: [f64; 3] = of.as_slice()[3 * i..3 * i + 3].try_into().expect("three numbers");
            Tensor::from(row)
        };
        let (points, jacobians, slopes) = (rotations(&r, &p), by_rotations(&r, &p), gradients(&r, &p));
        for i in 0..count {
            let (r, p) = (row(&r, i), row(&p, i));
            let jacobian = by_rotation(&r, &p);
            near(&points.as_slice()[3 * i..3 * i + 3], rotated(&r, &p).as_slice());
            near(&jacobians.as_slice()[9 * i..9 * i + 9], jacobian.as_slice());
            let slope = |j: usize| (0..3).map(|k| p.as_slice()[k] * jacobian.as_slice()[3 * k + j]).sum();
            near(&slopes.as_slice()[3 * i..3 * i + 3], &[0, 1, 2].map(slope));
        }
    }
}
