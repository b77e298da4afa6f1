//! The results of functions at points where the direct formula fails. Each test also shows that the formula fails.

use std::f64::consts::LN_2;

use mind_core::{
    diag::Code,
    interp::{self, Array},
    ty::DType,
};

use super::support::{compiled, floats, run, with_gradients};

/// The allowed errors, in f64 and in f32.
const WITHIN: [f64; 2] = [1e-13, 1e-6];

/// A function and its direct formula.
struct Case<'a> {
    file: &'a str,
    /// A call of the function with `x`, and a formula that fails.
    stable: &'a str,
    naive: Option<&'a str>,
    /// The extents of `x`.
    shape: &'a [usize],
    x: &'a [f64],
    /// The result. Its shape is that of `x` or a part of it.
    result: Shaped<'a>,
    /// The gradient of `x` for a cotangent of ones.
    gradient: &'a [f64],
}

type Shaped<'a> = (&'a [usize], &'a [f64]);

/// Checks the function in f64 and f32, and that the formula fails at least in f32.
fn check(case: &Case) {
    let outcome = |dtype: DType, call: &str| {
        let ty = |shape: &[usize]| match shape {
            [] => dtype.name().to_owned(),
            _ => format!("{}{shape:?}", dtype.name()),
        };
        let program = format!("fn case(x: {}) -> {} {{ {call} }}", ty(case.shape), ty(case.result.0));
        let module = compiled(case.file, &program);
        let ones = floats(dtype, case.result.0, &vec![1.0; case.result.1.len()]);
        let found = with_gradients(&module, &[floats(dtype, case.shape, case.x)], &[ones]);
        let within = WITHIN[usize::from(dtype == DType::F32)];
        let wrong = |what: &str, found: &Array, wanted: &[f64]| {
            let found = found.elements.to_f64();
            assert_eq!(found.len(), wanted.len(), "{call}: {what}");
            let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= within * b.abs();
            let message = format!("`{call}` in {dtype} at {:?}: {what} {found:?}, needed {wanted:?}", case.x);
            (!found.iter().zip(wanted).all(same)).then_some(message)
        };
        wrong("result", &found[0], case.result.1).or_else(|| wrong("gradient", &found[1], case.gradient))
    };
    for dtype in [DType::F64, DType::F32] {
        assert_eq!(outcome(dtype, case.stable), None);
    }
    if let Some(naive) = case.naive {
        assert!(outcome(DType::F32, naive).is_some(), "`{naive}` is right too");
    }
}

/// A case with a vector `x` and a result of the same shape.
fn vector(file: &str, stable: &str, naive: &str, x: &[f64], result: &[f64], gradient: &[f64]) {
    let shape = &[x.len()];
    check(&Case { file, stable, naive: Some(naive), shape, x, result: (shape, result), gradient });
}

/// A case with a vector `x` and a scalar result.
fn number(file: &str, stable: &str, naive: &str, x: &[f64], result: f64, gradient: &[f64]) {
    check(&Case {
        file,
        stable,
        naive: Some(naive),
        shape: &[x.len()],
        x,
        result: (&[], &[result]),
        gradient,
    });
}

/// A case at zeros, where the formula also has the correct result and gradient because a factor of 0 makes a gradient
/// 0.
fn at_zeros(file: &str, stable: &str, x: &[f64], result: f64) {
    let gradient = &vec![0.0; x.len()];
    check(&Case { file, stable, naive: None, shape: &[x.len()], x, result: (&[], &[result]), gradient });
}

const INF: f64 = f64::INFINITY;

#[test]
fn sigmoid_of_large_numbers_is_finite_and_so_is_its_gradient() {
    vector("nn", "sigmoid(x)", "exp(x) / (1.0 + exp(x))", &[1000.0, -1000.0], &[1.0, 0.0], &[0.0, 0.0]);
}

#[test]
fn softplus_of_large_numbers_is_a_line() {
    vector("nn", "softplus(x)", "log(1.0 + exp(x))", &[1000.0, -1000.0], &[1000.0, 0.0], &[1.0, 0.0]);
    let small = (-20.0_f64).exp();
    let slope = small / (1.0 + small);
    vector("nn", "softplus(x)", "log(1.0 + exp(x))", &[-20.0], &[small.ln_1p()], &[slope]);
}

#[test]
fn log_sigmoid_of_large_numbers_is_a_line() {
    let naive = "log(1.0 / (1.0 + exp(-x)))";
    vector("nn", "log_sigmoid(x)", naive, &[1000.0, -1000.0], &[0.0, -1000.0], &[0.0, 1.0]);
}

#[test]
fn gelu_keeps_its_digits_far_below_zero() {
    // -10 Φ(-10) and Φ(-10) - 10 φ(-10), rounded from 40 digits.
    let (tail, slope) = (-7.619_853_024_160_526e-23, -7.618_400_096_464_815e-22);
    vector("nn", "gelu(x)", "0.5 * x * (1.0 + erf(sqrt(0.5) * x))", &[-10.0], &[tail], &[slope]);
}

#[test]
fn softmax_of_large_scores_and_of_rows_without_any_is_finite() {
    let naive = "exp(x) / sum(exp(x), axis = -1, keepdims = true)";
    vector("nn", "softmax(x)", naive, &[10000.0, 10000.0], &[0.5, 0.5], &[0.0, 0.0]);
    vector("nn", "softmax(x)", naive, &[-10000.0, -10000.0], &[0.5, 0.5], &[0.0, 0.0]);
    vector("nn", "softmax(x)", naive, &[-INF, -INF], &[0.0, 0.0], &[0.0, 0.0]);
    let shifted = "exp(x - max(x)) / sum(exp(x - max(x)))";
    vector("nn", "softmax(x)", shifted, &[-INF, -INF], &[0.0, 0.0], &[0.0, 0.0]);
}

#[test]
fn log_softmax_of_large_scores_and_of_rows_with_minus_infinity_has_no_nan() {
    let (half, naive) = (-LN_2, "x - log(sum(exp(x), axis = -1, keepdims = true))");
    vector("nn", "log_softmax(x)", naive, &[10000.0, 10000.0], &[half, half], &[0.0, 0.0]);
    vector("nn", "log_softmax(x)", naive, &[10000.0, -INF], &[0.0, -INF], &[-1.0, 1.0]);
    vector("nn", "log_softmax(x)", naive, &[-INF, -INF], &[-INF, -INF], &[1.0, 1.0]);
    // A softmax of these scores underflows.
    let of_softmax = "log(exp(x - max(x)) / sum(exp(x - max(x))))";
    vector("nn", "log_softmax(x)", of_softmax, &[0.0, -1000.0], &[0.0, -1000.0], &[-1.0, 1.0]);
}

#[test]
fn logsumexp_of_ten_thousand_is_finite() {
    let naive = "log(sum(exp(x)))";
    let result = 10000.0 + LN_2;
    number("nn", "logsumexp(x)", naive, &[10000.0, 10000.0], result, &[0.5, 0.5]);
    number("nn", "logsumexp(x)", naive, &[-10000.0, -INF], -10000.0, &[1.0, 0.0]);
    let shifted = "max(x) + log(sum(exp(x - max(x))))";
    number("nn", "logsumexp(x)", shifted, &[-INF, -INF], -INF, &[0.0, 0.0]);
}

#[test]
fn norms_of_large_numbers_that_are_close_keep_their_digits() {
    let x = [10000.0, 10001.0, 10002.0, 10003.0];
    let size = 1.25_f64.sqrt();
    let result = [-1.5 / size, -0.5 / size, 0.5 / size, 1.5 / size];
    let naive = "(x - mean(x)) / sqrt(mean(x * x) - mean(x) * mean(x))";
    let numbers = |dtype: DType, call: &str| {
        let program = format!("fn case(x: {dtype}[4]) -> {dtype}[4] {{ {call} }}");
        run(&compiled("nn", &program), &[floats(dtype, &[4], &x)])[0].elements.to_f64()
    };
    let error = |found: &[f64]| found.iter().zip(&result).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error(&numbers(DType::F32, "standardize(x, eps = 0.0)")) < 1e-6);
    let layer = "layer_norm(x, [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], eps = 0.0)";
    assert!(error(&numbers(DType::F32, layer)) < 1e-6);
    let found = error(&numbers(DType::F32, naive));
    assert!(found > 1e-2 || found.is_nan(), "{found}");
}

#[test]
fn bce_of_scores_of_a_hundred_is_finite_and_keeps_its_digits() {
    let naive = "{ let p = 1.0 / (1.0 + exp(-x)); mean(-T * log(p) - (1.0 - T) * log(1.0 - p)) }";
    let right = (-100.0_f64).exp();
    for (target, x, result, slope) in [
        ("0.0", 100.0, 100.0, 1.0),
        ("1.0", -100.0, 100.0, -1.0),
        // In f32 the result is subnormal, but not 0.
        ("1.0", 20.0, (-20.0_f64).exp().ln_1p(), -1.0 / (1.0 + 20.0_f64.exp())),
    ] {
        let stable = format!("bce_with_logits(x, [{target}])");
        number("nn", &stable, &naive.replace('T', target), &[x], result, &[slope]);
    }
    let wide = compiled("nn", "fn case(x: f64[1]) -> f64 { bce_with_logits(x, [1.0]) }");
    let found = run(&wide, &[floats(DType::F64, &[1], &[100.0])])[0].elements.to_f64();
    assert!((found[0] - right).abs() < 1e-13 * right, "{found:?}");
}

#[test]
fn cross_entropy_of_large_scores_is_finite() {
    let naive = "-sum([0.0, 1.0] * log(exp(x) / sum(exp(x))))";
    let stable = "cross_entropy_of(x[_, ..], [[0.0, 1.0]])";
    number("nn", stable, naive, &[10000.0, 0.0], 10000.0, &[1.0, -1.0]);
    number("nn", stable, naive, &[-INF, 3.0], 0.0, &[0.0, 0.0]);
}

#[test]
fn cross_entropy_of_classes_with_large_scores_is_finite() {
    let naive = "-log(exp(x[1]) / sum(exp(x)))";
    number("nn", "cross_entropy(x[_, ..], [1])", naive, &[10000.0, 0.0], 10000.0, &[1.0, -1.0]);
    number("nn", "cross_entropy(x[_, ..], [1])", naive, &[-10000.0, -10000.0], LN_2, &[0.5, -0.5]);
    // The ignored row's term is NaN, and so is its product with 0.
    let naive = "-(1.0 * log(exp(x[1]) / sum(exp(x))) + 0.0 * log(exp(x[0]) / sum(exp(x)))) / 1.0";
    let stable = "cross_entropy_ignoring(stack([x, x], axis = 0), [1, -1], ignore = -1)";
    number("nn", stable, naive, &[-INF, 3.0], 0.0, &[0.0, 0.0]);
}

#[test]
fn a_class_that_is_none_is_an_error_before_anything_is_computed() {
    let module = compiled("nn", "fn case(x: f64[2, 3], i: i64[2]) -> f64 { cross_entropy(x, i) }");
    let scores = floats(DType::F64, &[2, 3], &[0.0; 6]);
    for class in [3, -1] {
        let target = Array::new([2], vec![0_i64, class]);
        let error = interp::run(&module, &[scores.clone(), target]).expect_err("there are three classes");
        assert_eq!(error.code, Code::E6001);
    }
}

#[test]
fn attention_of_a_query_that_sees_nothing_is_zero_and_so_is_its_gradient() {
    let stable = "attention_masked(x[.., _], [[1.0], [2.0]], [[3.0], [5.0]], [[true, true], [false, false]])";
    let naive = "{ let s = where([[true, true], [false, false]], x[.., _] @ [[1.0, 2.0]], -inf);
        let e = exp(s - max(s, axis = -1, keepdims = true));
        (e / sum(e, axis = -1, keepdims = true)) @ [[3.0], [5.0]] }";
    // At query 0 both keys have equal weights, and the slope is a variance: (2 - 1) / 4 of the difference of the
    // values.
    let (x, result, gradient) = (&[0.0, 1.0], &[4.0, 0.0], &[0.5, 0.0]);
    check(&Case {
        file: "nn",
        stable,
        naive: Some(naive),
        shape: &[2],
        x,
        result: (&[2, 1], result),
        gradient,
    });
}

#[test]
fn a_class_of_probability_zero_counts_for_nothing() {
    let naive = "sum([1.0, 0.0] * (log([1.0, 0.0]) - x))";
    number("nn", "kl(x[_, ..], [[1.0, 0.0]])", naive, &[-1.0, -2.0], 1.0, &[-1.0, 0.0]);
    let naive = "-sum(x * log(x))";
    number("num", "entropy(x)", naive, &[1.0, 0.0], 0.0, &[-1.0, 0.0]);
}

#[test]
fn the_gradient_of_a_norm_at_zero_is_zero() {
    at_zeros("num", "norm(x)", &[0.0, 0.0], 0.0);
    at_zeros("num", "std(x)", &[2.0, 2.0], 0.0);
    number(
        "nn",
        "cosine_loss(x[_, ..], [[1.0, 2.0]])",
        "1.0 - sum(x * [1.0, 2.0]) / sqrt(sum(x * x) * 5.0)",
        &[0.0, 0.0],
        1.0,
        &[0.0, 0.0],
    );
    number(
        "num",
        "cosine_similarity(x, [1.0, 2.0])",
        "sum(x * [1.0, 2.0]) / sqrt(sum(x * x) * 5.0)",
        &[0.0, 0.0],
        0.0,
        &[0.0, 0.0],
    );
}

#[test]
fn a_norm_neither_overflows_nor_vanishes() {
    number("num", "norm(x)", "sqrt(sum(x * x))", &[3e30, 4e30], 5e30, &[0.6, 0.8]);
    number("num", "norm(x)", "sqrt(sum(x * x))", &[3e-30, 4e-30], 5e-30, &[0.6, 0.8]);
}

#[test]
fn a_variance_does_not_cancel() {
    let x = [10000.0, 10001.0, 10002.0, 10003.0];
    let gradient = [-0.75, -0.25, 0.25, 0.75];
    for stable in ["var(x)", "nanvar(x)"] {
        number("num", stable, "mean(x * x) - mean(x) * mean(x)", &x, 1.25, &gradient);
    }
}

#[test]
fn a_factor_that_clips_nothing_has_a_gradient() {
    at_zeros("optim", "clip_factor(squares(x), 1.0)", &[0.0], 1.0);
}

#[test]
fn log_densities_far_from_the_mean_are_finite() {
    let naive = "log(exp(-0.5 * x * x) / sqrt(6.283185307179586))";
    let result = -800.0 - 0.918_938_533_204_672_7;
    vector("stats", "normal_logpdf(x, 0.0, 1.0)", naive, &[40.0], &[result], &[-40.0]);
    let naive = "0.5 * (1.0 + erf(sqrt(0.5) * x))";
    let (tail, slope) = (7.619_853_024_160_526e-24, 7.694_598_626_706_419e-23);
    vector("stats", "normal_cdf(x, 0.0, 1.0)", naive, &[-10.0], &[tail], &[slope]);
    let naive = "log(1.0 / (1.0 + exp(-x)))";
    vector("stats", "bernoulli_logits_logpmf(1.0, x)", naive, &[-100.0], &[-100.0], &[1.0]);
}

#[test]
fn what_has_two_branches_at_zero_is_smooth_there_to_the_second_order() {
    for name in ["sigmoid", "softplus", "log_sigmoid", "silu", "gelu", "gelu_tanh", "mish"] {
        let program = format!(
            "fn total(x: f64[1]) -> f64 {{ sum({name}(x)) }}
            fn slope(x: f64[1]) -> f64 {{ sum(grad(total, wrt = x)(x)) }}
            fn case(x: f64[1]) -> (f64, f64, f64[1]) {{ (total(x), slope(x), grad(slope, wrt = x)(x)) }}"
        );
        let module = compiled("nn", &program);
        let at = |x: f64| {
            let found = run(&module, &[floats(DType::F64, &[1], &[x])]);
            [0, 1, 2].map(|order| found[order].elements.to_f64()[0])
        };
        let (zero, step) = (at(0.0), 1e-3);
        for order in [1, 2] {
            let slope = |step: f64| (at(step)[order - 1] - at(-step)[order - 1]) / (2.0 * step);
            let wanted = (4.0 * slope(step / 2.0) - slope(step)) / 3.0;
            assert!((zero[order] - wanted).abs() < 1e-9, "{name}: order {order}: {} {wanted}", zero[order]);
        }
    }
}
