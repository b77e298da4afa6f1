//! Linear algebra: results of compiled functions, and matrices that have none.

use mind::{Error, Tensor, Workspace, mind};

use crate::support::assert_close;

mind! {
    fn factors<B>(a: f64[B, 2, 2]) -> f64[B, 2, 2] { linalg::cholesky(a) }
    fn solutions<B>(a: f64[B, 2, 2], b: f64[B, 2, 1]) -> f64[B, 2, 1] { linalg::solve(a, b) }
    fn updated<B>(a: &mut f64[B, 2, 2], count: &mut f64) {
        count += 1.0;
        a = linalg::cholesky(a);
    }
    fn both<B>(a: f64[B, 2, 2]) -> (f64[B, 2, 2], f64[B, 2, 2]) {
        (linalg::cholesky(a), linalg::inv(a))
    }
    fn one(a: f64[2, 2]) -> f64 { sum(linalg::cholesky(a)) }
    fn in_loop<B>(a: f64[B, 2, 2]) -> f64 { fold total = 0.0 for m in a { total + sum(linalg::cholesky(m)) } }
    fn determinants<B>(a: f64[B, 2, 2]) -> f64[B] { linalg::det(a) }
    fn total(a: f64[2, 2], b: f64[2, 1]) -> f64 { sum(sin(linalg::solve(a, b))) + sum(linalg::expm(a)) }
    fn slope(a: f64[2, 2], b: f64[2, 1]) -> f64[2, 2] { grad(total, wrt = a)(a, b) }
    fn pushed(a: f64[2, 2], b: f64[2, 1], da: f64[2, 2]) -> f64 {
        let (_, tangent) = jvp(total, wrt = a)(a, b, da);
        tangent
    }
}

const GOOD: [[f64; 2]; 2] = [[4.0, 2.0], [2.0, 5.0]];
const BAD: [[f64; 2]; 2] = [[4.0, 2.0], [2.0, 1.0]];

#[test]
fn one_matrix_without_a_factor_does_not_affect_the_others() {
    let found = factors(&Tensor::from([GOOD, BAD, GOOD]));
    assert_eq!(found.as_slice()[..4], [2.0, 0.0, 1.0, 2.0]);
    assert_eq!(found.as_slice()[8..], [2.0, 0.0, 1.0, 2.0]);
    let is_nan: Vec<bool> = found.as_slice()[4..8].iter().map(|x| x.is_nan()).collect();
    assert_eq!(is_nan, [true, false, true, true]);
    let found = solutions(&Tensor::from([BAD, GOOD]), &Tensor::from([[[1.0], [2.0]]; 2]));
    assert!(found.as_slice()[..2].iter().all(|x| x.is_nan()));
    assert_eq!(found.as_slice()[2..], [0.0625, 0.375]);
    assert_eq!(determinants(&Tensor::from([BAD, GOOD])), Tensor::from([0.0, 16.0]));
}

#[test]
fn a_function_that_returns_errors_lists_the_matrices() {
    let a = Tensor::from([GOOD, BAD, GOOD, BAD]);
    let error = try_factors(&a).expect_err("two have no factor");
    assert_eq!(error.code(), "E6010");
    assert_eq!(error.to_string(), "E6010: `factors`: matrices 1 and 3 of 4 are not positive definite");
    let Error::Matrices { listed, more: 0, count: 4, .. } = error else { panic!("{error}") };
    assert_eq!(listed, [1, 3]);
    let error = try_solutions(&a, &Tensor::from([[[1.0], [2.0]]; 4])).expect_err("two are singular");
    assert_eq!(error.to_string(), "E6010: `solutions`: matrices 1 and 3 of 4 are singular");
    assert!(try_both(&a).is_err() && try_both(&Tensor::from([GOOD])).is_ok());
    let error = try_one(&Tensor::from(BAD)).expect_err("it has no factor");
    assert_eq!(error.to_string(), "E6010: `one`: the matrix is not positive definite");
    assert_eq!(try_one(&Tensor::from(GOOD)), Ok(5.0));
    assert!(try_in_loop(&a).is_err());
    assert_eq!(try_in_loop(&Tensor::from([GOOD, GOOD])), Ok(10.0));
    // The other forms give NaN, also after an error.
    assert!(one(&Tensor::from(BAD)).is_nan());
    let (mut out, mut workspace) = (0.0, Workspace::new());
    assert_eq!(one_into(&Tensor::from(BAD), &mut out, &mut workspace), Ok(()));
    assert!(out.is_nan());
}

#[test]
fn nothing_is_written_before_a_matrix_is_refused() {
    let a = Tensor::from([GOOD, BAD]);
    let (mut updated_a, mut count) = (a.clone(), 1.0);
    let error = try_updated(&mut updated_a, &mut count).expect_err("one has no factor");
    assert_eq!(error.to_string(), "E6010: `updated`: matrix 1 of 2 is not positive definite");
    assert_eq!((&updated_a, count), (&a, 1.0));
    updated(&mut updated_a, &mut count);
    assert_eq!((updated_a.as_slice()[2], count), (1.0, 2.0));
}

#[test]
fn derivatives_are_those_of_difference_quotients() {
    let (a, b) = ([[0.9, 0.3], [-0.2, 0.6]], Tensor::from([[0.5], [-0.7]]));
    let gradient = slope(&Tensor::from(a), &b);
    let step = 1e-6;
    for at in 0..4 {
        let moved = |by: f64| {
            let mut a = a;
            a[at / 2][at % 2] += by;
            total(&Tensor::from(a), &b)
        };
        let quotient = (moved(step) - moved(-step)) / (2.0 * step);
        assert_close(&[gradient.as_slice()[at]], &[quotient], 1e-8);
        let mut direction = [[0.0; 2]; 2];
        direction[at / 2][at % 2] = 1.0;
        let tangent = pushed(&Tensor::from(a), &b, &Tensor::from(direction));
        assert_close(&[tangent], &[quotient], 1e-8);
    }
}

#[test]
fn expressions_over_rust_variables_have_them_too() {
    let m = Tensor::from(GOOD);
    assert_eq!(mind!(linalg::inv(m)).as_slice(), [0.3125, -0.125, -0.125, 0.25]);
    assert_eq!(mind!(linalg::cholesky(m)).as_slice(), [2.0, 0.0, 1.0, 2.0]);
    assert!(mind!(linalg::det(m)) == 16.0);
    let gradient = mind!(grad(linalg::logdet(m), wrt = m));
    assert_eq!(gradient, Tensor::from([[0.3125, -0.125], [-0.125, 0.25]]));
    let product = mind!(linalg::kron(m, [[1.0, 0.0]]));
    assert_eq!(product.as_slice(), [4.0, 0.0, 2.0, 0.0, 2.0, 0.0, 5.0, 0.0]);
}

mind! {
    fn orthogonal<B, M, N>(a: f64[B, M, N]) -> (f64[B, M, N], f64[B, N, N]) { linalg::qr(a) }
    fn symmetric<B, N>(a: f32[B, N, N]) -> (f32[B, N], f32[B, N, N]) { linalg::eigh(a) }
    fn singular<B, M, N>(a: f64[B, M, N]) -> (f64[B, M, N], f64[B, N], f64[B, N, N]) { linalg::svd(a) }
    fn singular_of_one(a: f64[4, 3]) -> (f64[4, 3], f64[3], f64[3, 3]) { linalg::svd(a) }
    fn singular_of_each(a: f64[2, 4, 3]) -> (f64[2, 4, 3], f64[2, 3], f64[2, 3, 3]) {
        vmap(singular_of_one, over = a)(a)
    }
    fn ranks<B>(a: f32[B, 3, 2]) -> i64[B] { linalg::matrix_rank(a) }
    fn inverse(a: f32[3, 2]) -> f32[2, 3] { linalg::pinv(a) }
    fn fitted(a: f64[3, 2], b: f64[3, 1]) -> f64[2, 1] { linalg::lstsq(a, b) }
    fn values(a: f64[2, 2]) -> f64 { let w = linalg::eigvalsh(a); w[0] + 3.0 * w[1] }
    fn values_slope(a: f64[2, 2]) -> f64[2, 2] { grad(values, wrt = a)(a) }
    fn sizes(a: f64[3, 2]) -> f64 { sum(linalg::svdvals(a)) }
    fn sizes_slope(a: f64[3, 2]) -> f64[3, 2] { grad(sizes, wrt = a)(a) }
    fn decomposed(a: f64[3, 2]) -> f64 {
        let (q, r) = linalg::qr(a);
        let (u, s, vt) = linalg::svd(a);
        let (w, v) = linalg::eigh(a.T @ a);
        sum(sin(q)) + sum(cos(r)) + sum(sin(u * exp(s)[_, 0..2])) + sum(vt * vt * vt) + sum(w * sin(v[0]))
            + sum(sin(linalg::pinv(a)))
    }
    fn decomposed_slope(a: f64[3, 2]) -> f64[3, 2] { grad(decomposed, wrt = a)(a) }
    fn along(a: f64[3, 2], da: f64[3, 2]) -> f64 { sum(da * decomposed_slope(a)) }
    fn curvature(a: f64[3, 2], da: f64[3, 2]) -> f64[3, 2] { grad(along, wrt = a)(a, da) }
}

const TALL: [[f64; 2]; 3] = [[3.0, 1.0], [0.5, -2.0], [4.0, 0.25]];

/// `a @ b`, row by row.
fn product(a: &[f64], b: &[f64], columns: usize) -> Vec<f64> {
    let inner = b.len() / columns;
    let element =
        |at: usize| (0..inner).map(|k| a[at / columns * inner + k] * b[k * columns + at % columns]).sum();
    (0..a.len() / inner * columns).map(element).collect()
}

#[test]
fn factors_multiply_to_the_matrix() {
    let a = Tensor::from([TALL, TALL]);
    let (q, r) = orthogonal(&a);
    assert_close(&product(&q.as_slice()[..6], &r.as_slice()[..4], 2), TALL.as_flattened(), 1e-14);
    assert_eq!(r.as_slice()[2], 0.0);
    assert!(q.as_slice()[0] < 0.0 && r.as_slice()[0] < 0.0);
    assert_eq!(q.as_slice()[..6], q.as_slice()[6..]);
    let (u, s, vt) = singular(&a);
    let scaled: Vec<f64> =
        u.as_slice()[..6].iter().enumerate().map(|(at, u)| u * s.as_slice()[at % 2]).collect();
    assert_close(&product(&scaled, &vt.as_slice()[..4], 2), TALL.as_flattened(), 1e-14);
    assert!(s.as_slice()[0] > s.as_slice()[1] && s.as_slice()[1] > 0.0);
    let (w, v) = symmetric(&Tensor::from([[[2.0_f32, 0.0], [2.0, 5.0]], [[0.0, 1.0], [1.0, 0.0]]]));
    let half = 0.5_f32.sqrt();
    for (found, expected) in w.as_slice().iter().zip([1.697_224_4, 5.302_775_6, -1.0, 1.0]) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    for (found, expected) in v.as_slice()[4..].iter().zip([half, half, -half, half]) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let many =
        Tensor::from([[TALL[0], TALL[1], TALL[2], [1.0, 2.0]], [[0.5, 1.0], TALL[0], TALL[2], TALL[1]]]);
    let wide: Vec<[f64; 3]> =
        many.as_slice().chunks(2).map(|row| [row[0], row[1], row[0] * row[1]]).collect();
    let many = Tensor::from([[wide[0], wide[1], wide[2], wide[3]], [wide[4], wide[5], wide[6], wide[7]]]);
    assert_eq!(singular_of_each(&many), singular(&many));
}

mind! {
    fn wide_orthogonal(a: f64[2, 2, 3]) -> (f64[2, 2, 2], f64[2, 2, 3]) { linalg::qr(a) }
    fn wide_singular<N>(a: f64[N, N + 1], _like: f64[N]) -> (f64[N, N], f64[N], f64[N, N + 1]) { linalg::svd(a) }
    fn wide_rank(a: f32[2, 3]) -> i64 { linalg::matrix_rank(a) }
    fn wide_inverse(a: f64[2, 3]) -> f64[3, 2] { linalg::pinv(a) }
    fn shortest(a: f64[2, 3], b: f64[2, 1]) -> f64[3, 1] { linalg::lstsq(a, b) }
    fn wide(a: f64[2, 3]) -> f64 {
        let (q, r) = linalg::qr(a);
        let (u, s, vt) = linalg::svd(a);
        sum(sin(q)) + sum(cos(r)) + sum(sin(u * exp(s)[_, 0..2])) + sum(vt * vt * vt) + sum(sin(linalg::pinv(a)))
            + sum(sin(linalg::lstsq(a, [[1.0], [2.0]])))
    }
    fn wide_slope(a: f64[2, 3]) -> f64[2, 3] { grad(wide, wrt = a)(a) }
    fn wide_along(a: f64[2, 3], da: f64[2, 3]) -> f64 { sum(da * wide_slope(a)) }
    fn wide_curvature(a: f64[2, 3], da: f64[2, 3]) -> f64[2, 3] { grad(wide_along, wrt = a)(a, da) }
}

const WIDE: [[f64; 3]; 2] = [[3.0, 0.5, 4.0], [1.0, -2.0, 0.25]];

#[test]
fn matrices_with_more_columns_than_rows_have_factors() {
    let other = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]];
    let (q, r) = wide_orthogonal(&Tensor::from([WIDE, other]));
    assert_close(&product(&q.as_slice()[..4], &r.as_slice()[..6], 3), WIDE.as_flattened(), 1e-14);
    assert_close(&product(&q.as_slice()[4..], &r.as_slice()[6..], 3), other.as_flattened(), 1e-14);
    assert_eq!((r.as_slice()[3], r.as_slice()[9]), (0.0, 0.0));
    let (u, s, vt) = wide_singular(&Tensor::from(WIDE), &Tensor::from([0.0; 2]));
    let (v, same, ut) = singular(&Tensor::from([TALL]));
    assert_close(s.as_slice(), same.as_slice(), 1e-15);
    let scaled: Vec<f64> = u.as_slice().iter().enumerate().map(|(at, u)| u * s.as_slice()[at % 2]).collect();
    assert_close(&product(&scaled, vt.as_slice(), 3), WIDE.as_flattened(), 1e-14);
    // The factors of the transpose, exchanged.
    for (at, (own, v)) in vt.as_slice().iter().zip([0, 2, 4, 1, 3, 5].map(|at| v.as_slice()[at])).enumerate()
    {
        assert!((own - v).abs() < 1e-14, "{at}");
    }
    assert_close(u.as_slice(), &[0, 2, 1, 3].map(|at| ut.as_slice()[at]), 1e-14);
    assert_eq!(wide_rank(&Tensor::from([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])), 1);
    let inverse = wide_inverse(&Tensor::from(WIDE));
    assert_close(&product(WIDE.as_flattened(), inverse.as_slice(), 2), &[1.0, 0.0, 0.0, 1.0], 1e-14);
    let b = Tensor::from([[1.0], [2.0]]);
    let x = shortest(&Tensor::from(WIDE), &b);
    assert_close(x.as_slice(), &product(inverse.as_slice(), b.as_slice(), 1), 1e-14);
    let m = Tensor::from(WIDE);
    assert_eq!(mind!(linalg::pinv(m)).as_slice(), inverse.as_slice());
    assert_eq!(mind!(linalg::lstsq(m, b)).as_slice(), x.as_slice());
    let gradient = mind!(grad(sum(linalg::lstsq(m, b)), wrt = m));
    let step = 1e-6;
    for at in 0..6 {
        let moved = |by: f64| {
            let mut a = WIDE;
            a[at / 3][at % 3] += by;
            shortest(&Tensor::from(a), &b).as_slice().iter().sum::<f64>()
        };
        assert_close(&[gradient.as_slice()[at]], &[(moved(step) - moved(-step)) / (2.0 * step)], 1e-7);
    }
}

#[test]
fn derivatives_of_wide_matrices_are_those_of_difference_quotients() {
    let direction = [[0.3, -0.5, 0.7], [0.2, -0.4, 0.6]];
    let curvature = wide_curvature(&Tensor::from(WIDE), &Tensor::from(direction));
    let gradient = wide_slope(&Tensor::from(WIDE));
    let step = 1e-5;
    for at in 0..6 {
        let moved = |by: f64| {
            let mut a = WIDE;
            a[at / 3][at % 3] += by;
            let a = Tensor::from(a);
            [wide(&a), wide_along(&a, &Tensor::from(direction))]
        };
        let (after, before) = (moved(step), moved(-step));
        let [first, second] = [0, 1].map(|order| (after[order] - before[order]) / (2.0 * step));
        assert_close(&[gradient.as_slice()[at]], &[first], 1e-6);
        assert_close(&[curvature.as_slice()[at]], &[second], 1e-5);
    }
}

mind! {
    fn of_each_side<B>(a: f64[2, 2], b: f64[B, 2, 1]) -> f64[B, 2, 1] { linalg::solve(a, b) }
    fn of_each_system<B>(a: f64[B, 2, 2], b: f64[2, 1]) -> f64[B, 2, 1] { linalg::solve(a, b) }
    fn of_each_pair<A, B>(a: f64[A, 1, 2, 2], b: f64[B, 2, 1]) -> f64[A, B, 2, 1] {
        linalg::solve_triangular(a, b, lower = true)
    }
    #[grad(a)]
    fn total_of_sides<B>(a: f64[2, 2], b: f64[B, 2, 1]) -> f64 { sum(sin(linalg::solve(a, b))) }
}

#[test]
fn batches_of_systems_and_of_right_hand_sides_broadcast() {
    let (a, b) = ([[1.0, 2.0], [4.0, 3.0]], [[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [7.0]]]);
    let x = of_each_side(&Tensor::from(a), &Tensor::from(b));
    for (x, b) in x.as_slice().chunks(2).zip(b) {
        assert_close(&product(a.as_flattened(), x, 1), b.as_flattened(), 1e-14);
    }
    let systems = [a, GOOD, [[0.0, 1.0], [2.0, 0.0]]];
    let x = of_each_system(&Tensor::from(systems), &Tensor::from(b[0]));
    for (x, a) in x.as_slice().chunks(2).zip(systems) {
        assert_close(&product(a.as_flattened(), x, 1), b[0].as_flattened(), 1e-14);
    }
    let x = of_each_pair(&Tensor::from([[a], [GOOD]]), &Tensor::from(b));
    for (at, x) in x.as_slice().chunks(2).enumerate() {
        let lower = if at < 3 { [1.0, 0.0, 4.0, 3.0] } else { [4.0, 0.0, 2.0, 5.0] };
        assert_close(&product(&lower, x, 1), b[at % 3].as_flattened(), 1e-14);
    }
    // Those of JAX 0.10.2.
    let (_, gradient) = total_of_sides_grad(&Tensor::from(a), &Tensor::from(b));
    assert_close(gradient.as_slice(), &[-0.406_751_87, 4.229_948_23, 0.150_691_30, -2.184_563_62], 1e-8);
    let (m, v) = (Tensor::from(a), Tensor::from(b));
    assert_eq!(mind!(linalg::solve(m, v)).as_slice(), of_each_side(&m, &v).as_slice());
}

mind! {
    fn vector(a: f64[3, 3], b: f64[3]) -> f64[3] { linalg::solve(a, b) }
    fn of_vector<B, N>(a: f64[B, N, N], b: f64[N]) -> f64[B, N] { linalg::solve(a, b) }
    fn triangle_of_vector<B>(a: f64[B, 3, 3], b: f64[3]) -> f64[B, 3] {
        linalg::solve_triangular(a, b, lower = true, transposed = true)
    }
    fn least_of_vector<B, M, N>(a: f64[B, M, N], b: f64[M]) -> f64[B, N] { linalg::lstsq(a, b) }
    fn least_of_matrix<B>(a: f64[3, 2], b: f64[B, 3, 1]) -> f64[B, 2, 1] { linalg::lstsq(a, b) }
    fn vectors(a: f64[3, 3], b: f64[4, 3]) -> f64[4, 3] { vmap(vector, over = b)(a, b) }
    fn all_of_vector(a: f64[3, 3], b: f64[3]) -> f64 {
        sum(sin(linalg::solve(a, b))) + sum(cos(linalg::solve_triangular(a, b))) + sum(exp(linalg::lstsq(a[.., 0..2], b)))
    }
    fn slope_of_vector(a: f64[3, 3], b: f64[3]) -> f64[3] { grad(all_of_vector, wrt = b)(a, b) }
    fn slope_of_matrix(a: f64[3, 3], b: f64[3]) -> f64[3, 3] { grad(all_of_vector, wrt = a)(a, b) }
    fn bend_of_vector(a: f64[3, 3], b: f64[3]) -> f64[3, 3] { hessian(all_of_vector, wrt = b)(a, b) }
}

const SYSTEM: [[f64; 3]; 3] = [[2.0, -1.0, 0.5], [0.25, 1.5, 1.0], [-0.5, 0.75, 3.0]];

#[test]
fn a_right_hand_side_of_rank_1_is_a_vector() {
    let b = [1.0, -2.0, 0.5];
    let (a, v) = (Tensor::from([SYSTEM, [[0.0, 2.0, 1.0], SYSTEM[0], SYSTEM[1]]]), Tensor::from(b));
    let x = of_vector(&a, &v);
    for (x, a) in x.as_slice().chunks(3).zip(a.as_slice().chunks(9)) {
        assert_close(&product(a, x, 1), &b, 1e-14);
    }
    let first = vector(&Tensor::from(SYSTEM), &v);
    assert_close(first.as_slice(), &x.as_slice()[..3], 1e-14);
    let several = Tensor::from([b, [0.0, 1.0, 2.0], b, [3.0, 0.0, 0.0]]);
    let found = vectors(&Tensor::from(SYSTEM), &several);
    assert_close(&found.as_slice()[..3], first.as_slice(), 1e-14);
    assert_eq!(found.as_slice()[..3], found.as_slice()[6..9]);
    let (m, t) = (Tensor::from(SYSTEM), triangle_of_vector(&a, &v));
    let lower_transposed = [2.0, 0.25, -0.5, 0.0, 1.5, 0.75, 0.0, 0.0, 3.0];
    assert_close(&product(&lower_transposed, &t.as_slice()[..3], 1), &b, 1e-14);
    assert_eq!(mind!(linalg::solve(m, v)).as_slice(), first.as_slice());
    assert_eq!(mind!(linalg::solve(a, v)).as_slice(), x.as_slice());
    // The other matrix has a 0 on its diagonal.
    let found = mind!(linalg::solve_triangular(a, v, lower = true, transposed = true));
    assert_eq!(found.as_slice()[..3], t.as_slice()[..3]);
    assert!(found.as_slice()[3..].iter().chain(&t.as_slice()[3..]).all(|x| x.is_nan()));
    let fit = least_of_vector(&Tensor::from([TALL]), &v);
    let both = least_of_matrix(&Tensor::from(TALL), &Tensor::from([b.map(|x| [x]); 2]));
    assert_close(both.as_slice(), &[fit.as_slice(), fit.as_slice()].concat(), 1e-14);
    let tall = Tensor::from(TALL);
    assert_close(mind!(linalg::lstsq(tall, v)).as_slice(), fit.as_slice(), 1e-14);
}

#[test]
fn derivatives_by_a_vector_on_the_right_are_those_of_difference_quotients() {
    let (m, v) = (Tensor::from(SYSTEM), Tensor::from([1.0, -2.0, 0.5]));
    let (of_b, of_a, bend) = (slope_of_vector(&m, &v), slope_of_matrix(&m, &v), bend_of_vector(&m, &v));
    let step = 1e-5;
    let quotient = |a: &dyn Fn(f64) -> f64| (a(step) - a(-step)) / (2.0 * step);
    let moved = |at: usize, by: f64| {
        let mut b = [1.0, -2.0, 0.5];
        b[at] += by;
        Tensor::from(b)
    };
    for at in 0..3 {
        assert_close(&[of_b.as_slice()[at]], &[quotient(&|by| all_of_vector(&m, &moved(at, by)))], 1e-8);
        for row in 0..3 {
            let expected = quotient(&|by| slope_of_vector(&m, &moved(at, by)).as_slice()[row]);
            assert_close(&[bend.as_slice()[row * 3 + at]], &[expected], 1e-8);
        }
    }
    for at in 0..9 {
        let expected = quotient(&|by| {
            let mut a = SYSTEM;
            a[at / 3][at % 3] += by;
            all_of_vector(&Tensor::from(a), &v)
        });
        assert_close(&[of_a.as_slice()[at]], &[expected], 1e-8);
    }
    let by_expression =
        mind!(grad(sum(sin(linalg::solve(m, v))) + sum(cos(linalg::solve_triangular(m, v))), wrt = v));
    let least = mind!(grad(sum(exp(linalg::lstsq(m[.., 0..2], v))), wrt = v));
    let sum: Vec<f64> = by_expression.as_slice().iter().zip(least.as_slice()).map(|(a, b)| a + b).collect();
    assert_close(&sum, of_b.as_slice(), 1e-14);
}

mind! {
    fn hard_solutions(a: f64[3, 12, 12], b: f64[12, 2]) -> f64[3, 12, 2] { linalg::solve(a, b) }
    fn hard_vectors(a: f64[3, 12, 12]) -> (f64[3, 12], f64[3, 12, 12]) { linalg::eigh(a) }
    fn hard_factors(a: f64[3, 12, 12]) -> (f64[3, 12, 12], f64[3, 12], f64[3, 12, 12]) { linalg::svd(a) }
    fn hard_triangles(a: f64[3, 12, 12]) -> (f64[3, 12, 12], f64[3, 12, 12]) { linalg::qr(a) }
}

/// A Hilbert matrix, whose condition is 2e16, a matrix whose rows and columns fall from 1 to 1e-11, and one with
/// eigenvalues near 1.
fn hard(kind: usize, i: usize, j: usize) -> f64 {
    let scattered = (((i + 1) * (j + 1) * (i + j + 3)) as f64 * 0.37).sin();
    match kind {
        0 => 1.0 / (i + j + 1) as f64,
        1 => (scattered + 2.0 * f64::from(u8::from(i == j))) * 10.0_f64.powi(-((i + j) as i32) / 2),
        _ => f64::from(u8::from(i == j)) + 1e-12 * scattered,
    }
}

/// Checks that the product of `factors` is `whole`, with errors of at most `16 n ε` times the product of magnitudes.
fn check_residual(factors: [&[f64]; 2], whole: &[f64], columns: usize) {
    let [a, b] = factors;
    let sizes = [a, b].map(|x| x.iter().map(|x| x.abs()).collect::<Vec<_>>());
    let products = product(a, b, columns);
    let bounds = product(&sizes[0], &sizes[1], columns);
    for ((found, wanted), size) in products.iter().zip(whole).zip(bounds) {
        let most = 16.0 * 12.0 * f64::EPSILON * (size + wanted.abs());
        assert!((found - wanted).abs() <= most, "{found:e} {wanted:e} {most:e}");
    }
}

#[test]
fn residuals_of_hard_matrices_are_rounding_errors() {
    let a = Tensor::<f64, _>::from_fn(|[kind, i, j]| hard(kind, i, j));
    let b = Tensor::from_fn(|[i, j]| ((i * 3 + j * 7) as f64).cos());
    let x = hard_solutions(&a, &b);
    let ((w, v), (u, s, vt), (q, r)) = (hard_vectors(&a), hard_factors(&a), hard_triangles(&a));
    for kind in 0..3 {
        let matrix = |all: &[f64]| all[kind * 144..][..144].to_vec();
        let a = matrix(a.as_slice());
        check_residual([&a, &x.as_slice()[kind * 24..][..24]], b.as_slice(), 2);
        check_residual([&matrix(q.as_slice()), &matrix(r.as_slice())], &a, 12);
        // The bounds of eigenvalues and singular values are relative to the norm.
        let norm = a.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (w, s) = (&w.as_slice()[kind * 12..][..12], &s.as_slice()[kind * 12..][..12]);
        assert!(w.is_sorted() && s.is_sorted_by(|a, b| a >= b) && s[11] >= 0.0);
        let v = matrix(v.as_slice());
        let across = |x: &[f64]| (0..144).map(|at| x[at % 12 * 12 + at / 12]).collect::<Vec<f64>>();
        let scaled =
            |x: &[f64], by: &[f64]| x.iter().enumerate().map(|(at, x)| x * by[at % 12]).collect::<Vec<_>>();
        let identity: Vec<f64> = (0..144).map(|at| f64::from(u8::from(at / 12 == at % 12))).collect();
        let pairs = [
            (product(&scaled(&v, w), &across(&v), 12), a.clone(), norm),
            (product(&scaled(&matrix(u.as_slice()), s), &matrix(vt.as_slice()), 12), a, norm),
            (product(&across(&v), &v, 12), identity.clone(), 1.0),
            (product(&across(&matrix(u.as_slice())), &matrix(u.as_slice()), 12), identity, 1.0),
        ];
        for (found, wanted, size) in pairs {
            assert_close(&found, &wanted, 16.0 * 12.0 * f64::EPSILON * size);
        }
    }
}

#[test]
fn too_few_rows_are_an_error_at_run_time() {
    let wide = Tensor::from([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]);
    for error in [try_orthogonal(&wide).err(), try_singular(&wide).err()] {
        let error = error.expect("there are more columns than rows");
        assert_eq!(error.code(), "E6009");
    }
}

mind! {
    fn of_transposed<M, N>(a: f64[M, N]) -> f64[N, M] { linalg::pinv(a.mT).mT }
    fn of_any<M, N>(a: f64[M, N]) -> f64[N, M] { linalg::pinv(a) }
    fn inverse_of_any<N>(a: f64[N, N]) -> f64[N, N] { linalg::inv(a) }
}

#[test]
fn transposed_matrices_of_unknown_extents_may_have_more_columns_than_rows() {
    let wide = Tensor::from_vec((2, 3), WIDE.as_flattened().to_vec()).expect("six numbers");
    assert_close(of_transposed(&wide).as_slice(), wide_inverse(&Tensor::from(WIDE)).as_slice(), 1e-14);
    let error = try_of_any(&wide).expect_err("there are more columns than rows");
    assert_eq!(error.to_string(), "E6009: `of_any`: N exceeds M: 3 > 2");
}

#[test]
fn matrices_without_rows_are_refused() {
    let error = try_inverse_of_any(&Tensor::zeros_with((0, 0))).expect_err("there are no rows");
    assert_eq!(
        error.to_string(),
        "E3006: `inverse_of_any`: parameter `a`: dimension 0 is 0, needed 1 or more"
    );
    let error = try_of_any(&Tensor::zeros_with((2, 0))).expect_err("there are no columns");
    assert_eq!(error.to_string(), "E3006: `of_any`: parameter `a`: dimension 1 is 0, needed 1 or more");
}

#[test]
fn a_matrix_with_nan_does_not_affect_the_others() {
    let mut bad = TALL;
    bad[2][1] = f64::NAN;
    let (both, alone) = (Tensor::from([bad, TALL]), Tensor::from([TALL]));
    let ((q, r), (u, s, vt)) = (orthogonal(&both), singular(&both));
    let ((own_q, own_r), (own_u, own_s, own_vt)) = (orthogonal(&alone), singular(&alone));
    let pairs = [
        (q.as_slice(), own_q.as_slice()),
        (r.as_slice(), own_r.as_slice()),
        (u.as_slice(), own_u.as_slice()),
        (vt.as_slice(), own_vt.as_slice()),
    ];
    for (found, own) in pairs {
        let (bad, good) = found.split_at(own.len());
        assert!(bad.iter().all(|x| x.is_nan()));
        assert_eq!(good, own);
    }
    assert!(s.as_slice()[..2].iter().all(|x| x.is_nan()));
    assert_eq!(&s.as_slice()[2..], own_s.as_slice());
}

#[test]
fn ranks_and_least_squares_are_those_of_the_singular_values() {
    let dependent = [[1.0_f32, 2.0], [2.0, 4.0], [0.1, 0.2]];
    let a = Tensor::from([dependent, [[1.0, 0.0], [0.0, 1e-3], [0.0, 0.0]], [[0.0; 2]; 3]]);
    assert_eq!(ranks(&a), Tensor::from([1, 2, 0]));
    // The pseudo-inverse of `x yᵀ` is `y xᵀ / (|x|² |y|²)`.
    let found = inverse(&Tensor::from(dependent));
    for (found, expected) in found.as_slice().iter().zip([1.0_f32, 2.0, 0.1, 2.0, 4.0, 0.2]) {
        assert!((found - expected / (5.01 * 5.0)).abs() < 1e-6, "{found} {expected}");
    }
    let line =
        fitted(&Tensor::from([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), &Tensor::from([[1.0], [2.0], [6.0]]));
    assert_close(line.as_slice(), &[0.5, 2.5], 1e-14);
}

#[test]
fn gradients_of_equal_values_are_finite() {
    let slope = values_slope(&Tensor::from([[2.0, 0.0], [0.0, 2.0]]));
    assert_eq!(slope, Tensor::from([[1.0, 0.0], [0.0, 3.0]]));
    let slope = sizes_slope(&Tensor::from([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]));
    assert_close(slope.as_slice(), &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 1e-15);
    assert!(sizes_slope(&Tensor::from([[0.0; 2]; 3])).as_slice().iter().all(|x| x.is_finite()));
}

#[test]
fn derivatives_of_decompositions_are_those_of_difference_quotients() {
    let direction = [[0.3, -0.5], [0.7, 0.2], [-0.4, 0.6]];
    let curvature = curvature(&Tensor::from(TALL), &Tensor::from(direction));
    let gradient = decomposed_slope(&Tensor::from(TALL));
    let step = 1e-5;
    for at in 0..6 {
        let moved = |by: f64| {
            let mut a = TALL;
            a[at / 2][at % 2] += by;
            let a = Tensor::from(a);
            [decomposed(&a), along(&a, &Tensor::from(direction))]
        };
        let (after, before) = (moved(step), moved(-step));
        let [first, second] = [0, 1].map(|order| (after[order] - before[order]) / (2.0 * step));
        assert_close(&[gradient.as_slice()[at]], &[first], 1e-6);
        assert_close(&[curvature.as_slice()[at]], &[second], 1e-6);
    }
}
