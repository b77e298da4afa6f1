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
