//! Results and derivatives at infinities, zeros and equal numbers, in both element types.

use mind_core::{
    diag::Code,
    interp::Array,
    ty::{DType, Shape, Type},
};

use super::support::{compiled, expression, floats, run};

const INF: f64 = f64::INFINITY;

/// The allowed errors in f64 and in f32, relative to the larger of the expected number's magnitude and 1.
const WITHIN: [f64; 2] = [1e-13, 4e-6];

/// Calls `case` at these numbers, in a program in which `F` stands for the element type.
#[track_caller]
fn check(file: &str, program: &str, at: &[&[f64]], wanted: &[f64]) {
    for dtype in [DType::F64, DType::F32] {
        let module = compiled(file, &program.replace('F', dtype.name()));
        let inputs: Vec<Array> = module
            .inputs()
            .zip(at)
            .map(|((_, ty), numbers)| {
                let extents = ty.shape.as_literals().expect("every extent is written");
                let extents: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
                floats(ty.dtype, &extents, numbers)
            })
            .collect();
        let found = run(&module, &inputs)[0].elements.to_f64();
        let within = WITHIN[usize::from(dtype == DType::F32)];
        let close = |(found, wanted): (&f64, &f64)| {
            found == wanted
                || found.is_nan() && wanted.is_nan()
                || (found - wanted).abs() <= within * wanted.abs().max(1.0)
        };
        assert!(
            found.len() == wanted.len() && found.iter().zip(wanted).all(close),
            "{program} in {dtype} at {at:?}: {found:?}, needed {wanted:?}"
        );
    }
}

/// Checks the derivative of a sum by a scalar operand. The other operand is a pair of elements.
#[track_caller]
fn slope(file: &str, call: &str, at: f64, pair: [f64; 2], wanted: f64) {
    let program = format!(
        "fn total(x: F, a: F[2]) -> F {{ sum({call}) }}
        fn case(x: F, a: F[2]) -> F {{ grad(total, wrt = x)(x, a) }}"
    );
    check(file, &program, &[&[at], &pair], &[wanted]);
}

/// Checks the derivative of the summed derivative of a function from a vector to a scalar.
#[track_caller]
fn second(file: &str, body: &str, at: &[f64], wanted: &[f64]) {
    let n = at.len();
    let program = format!(
        "fn value(x: F[{n}]) -> F {{ {body} }}
        fn slope(x: F[{n}]) -> F {{ sum(grad(value, wrt = x)(x)) }}
        fn case(x: F[{n}]) -> F[{n}] {{ grad(slope, wrt = x)(x) }}"
    );
    check(file, &program, &[at], wanted);
}

#[test]
fn a_score_of_infinity_and_the_right_sign_costs_nothing() {
    let program = "fn case(z: F[2], k: F[2]) -> F { bce_with_logits(z, k) }";
    check("nn", program, &[&[INF, -INF], &[1.0, 0.0]], &[0.0]);
    check("nn", program, &[&[INF, -INF], &[0.0, 0.0]], &[INF]);
    let program = "fn case(z: F[2], k: F[2]) -> F[2] { bernoulli_logits_logpmf(k, z) }";
    check("stats", program, &[&[INF, -INF], &[1.0, 0.0]], &[0.0, 0.0]);
    check("stats", program, &[&[INF, -INF], &[0.0, 1.0]], &[-INF, -INF]);
}

#[test]
fn a_row_that_is_ignored_has_no_gradient_whatever_its_scores_are() {
    let program = "fn loss(s: F[2, 2]) -> F { cross_entropy_ignoring(s, [1, -1], ignore = -1) }
        fn case(s: F[2, 2]) -> F[2, 2] { grad(loss, wrt = s)(s) }";
    for bad in [INF, -INF, f64::NAN] {
        for row in [[bad, 1.0], [1.0, bad], [bad, bad]] {
            let at = [0.0, 0.0, row[0], row[1]];
            check("nn", program, &[&at], &[0.5, -0.5, 0.0, 0.0]);
            for dtype in [DType::F64, DType::F32] {
                let call = "grad(cross_entropy_ignoring(s, [1, -1], ignore = -1), wrt = s)";
                let ty = Type::new(dtype, Shape::literal(&[2, 2]));
                let (module, _) =
                    expression("nn", call, &[("s".to_owned(), ty)]).expect("it is an expression");
                let found = run(&module, &[floats(dtype, &[2, 2], &at)])[0].elements.to_f64();
                assert_eq!(found, [0.5, -0.5, 0.0, 0.0], "{dtype} at {at:?}");
            }
        }
    }
}

#[test]
fn interpolation_takes_two_points_or_one_and_equal_points_at_the_end() {
    let program = "fn case(x: F[3], xs: F[2], ys: F[2]) -> F[3] { interp(x, xs, ys) }";
    check("num", program, &[&[-1.0, 0.25, 2.0], &[0.0, 1.0], &[2.0, 4.0]], &[2.0, 2.5, 4.0]);
    check("num", program, &[&[-1.0, 0.0, 2.0], &[0.0, 0.0], &[2.0, 4.0]], &[2.0, 4.0, 4.0]);
    let program = "fn case(x: F, xs: F[1], ys: F[1]) -> F { interp(x, xs, ys) }";
    check("num", program, &[&[0.25], &[0.0], &[2.0]], &[2.0]);
    let program = "fn case(x: F[3], xs: F[3], ys: F[3]) -> F[3] { interp(x, xs, ys) }";
    check("num", program, &[&[0.5, 1.0, 2.0], &[0.0, 1.0, 1.0], &[5.0, 3.0, 4.0]], &[4.0, 4.0, 4.0]);
}

#[test]
fn a_schedule_of_no_steps_is_at_its_end() {
    for schedule in ["linear_decay", "cosine_decay"] {
        let program = format!("fn case(t: F, start: F, steps: F) -> F {{ {schedule}(t, start, steps) }}");
        check("optim", &program, &[&[0.0], &[1.0], &[0.0]], &[0.0]);
        let program = format!("fn case(t: F, peak: F, n: F) -> F {{ {schedule}(t, peak, n, end = 0.25) }}");
        check("optim", &program, &[&[3.0], &[1.0], &[0.0]], &[0.25]);
    }
    let program = "fn case(t: F, peak: F, n: F) -> F { warmup_cosine(t, peak, n, n, end = 0.25) }";
    check("optim", program, &[&[0.0], &[1.0], &[0.0]], &[0.25]);
}

#[test]
fn clipping_cuts_gradients_of_any_size_and_leaves_zeros() {
    let program = "fn case(g: F[2], limit: F) -> F[2] { clip_by_global_norm(g, limit) * 1e30 }";
    check("optim", program, &[&[3e-30, 4e-30], &[1e-30]], &[0.6, 0.8]);
    check("optim", program, &[&[0.0, 0.0], &[0.0]], &[0.0, 0.0]);
    let program = "fn case(g: F[2], limit: F) -> F[2] { clip_by_global_norm(g, limit) * 1e-30 }";
    check("optim", program, &[&[3e30, 4e30], &[1e30]], &[0.6, 0.8]);
}

#[test]
fn a_normal_s_tail_has_a_logarithm_and_an_inverse() {
    let program = "fn case(p: F[3]) -> F[3] { ndtri(p) }";
    check("stats", program, &[&[1e-20, 0.0, 1.0]], &[-9.262_340_089_798_408, -INF, INF]);
    let program = "fn case(x: F[2]) -> F[2] { log_ndtr(x) / (x * x) }";
    check("stats", program, &[&[-1e10, -40.0]], &[-0.5, -0.502_880_276_258_596_1]);
    let program = "fn case(x: F[2]) -> F[2] { erfcx(x) * x }";
    check("stats", program, &[&[1e10, 1e4]], &[0.564_189_583_547_756_3, 0.564_189_580_726_808_4]);
}

#[test]
fn the_share_of_a_class_in_an_entropy_is_zero_at_zero_and_infinite_below() {
    let program = "fn case(p: F[3]) -> F[3] { entr(p) }";
    check("num", program, &[&[0.0, -1.0, 1.0]], &[0.0, -INF, 0.0]);
    let program = "fn total(p: F[2]) -> F { sum(entr(p)) }
        fn case(p: F[2]) -> F[2] { grad(total, wrt = p)(p) }";
    check("num", program, &[&[0.0, 1.0]], &[0.0, -1.0]);
}

#[test]
fn the_gradient_of_a_smooth_maximum_goes_to_what_is_infinite() {
    let program = "fn value(x: F[3]) -> F { logsumexp(x) }
        fn case(x: F[3]) -> F[3] { grad(value, wrt = x)(x) }";
    check("nn", program, &[&[INF, 1.0, -INF]], &[1.0, 0.0, 0.0]);
    check("nn", program, &[&[INF, 1.0, INF]], &[0.5, 0.0, 0.5]);
    check("nn", program, &[&[-INF, 1.0, 1.0]], &[0.0, 0.5, 0.5]);
    check("nn", program, &[&[-INF, -INF, -INF]], &[0.0, 0.0, 0.0]);
}

#[test]
fn a_loss_of_nan_is_nan() {
    let program = "fn case(y: F[2]) -> F { hinge(y, ones_like(y)) }";
    check("nn", program, &[&[f64::NAN, 2.0]], &[f64::NAN]);
}

#[test]
fn a_number_against_several_elements_has_the_derivative_of_each() {
    slope("num", "xlogy(a, x)", 0.0, [0.0, 0.0], 0.0);
    slope("stats", "bernoulli_logpmf(a, x)", 0.0, [0.0, 0.0], -2.0);
    slope("stats", "bernoulli_logpmf(a, x)", 1.0, [1.0, 1.0], 2.0);
    slope("stats", "poisson_logpmf(a, x)", 0.0, [0.0, 0.0], -2.0);
    slope("stats", "gamma_logpdf(x, a, 2.0)", 0.0, [1.0, 1.0], -4.0);
    slope("stats", "beta_logpdf(x, a, 1.0)", 0.0, [1.0, 1.0], 0.0);
    slope("stats", "beta_logpdf(x, 1.0, a)", 1.0, [1.0, 1.0], 0.0);
}

#[test]
fn second_derivatives_at_kinks_are_numbers() {
    second("num", "sum(root(x))", &[0.0, 4.0], &[0.0, -1.0 / 32.0]);
    second("num", "norm(x) * norm(x)", &[0.0, 0.0], &[0.0, 0.0]);
    second("num", "norm(x) * norm(x)", &[3.0, 4.0], &[2.0, 2.0]);
    second("num", "std(x) * std(x)", &[1.0, 1.0], &[0.0, 0.0]);
    second("num", "cosine_similarity(x, ones_like(x))", &[0.0, 0.0], &[0.0, 0.0]);
}

#[test]
fn a_class_that_is_none_is_an_error_beside_rows_that_are_ignored() {
    let program = "fn case(s: f64[2, 2], t: i64[2]) -> f64 { cross_entropy_ignoring(s, t, ignore = -1) }";
    let module = compiled("nn", program);
    let scores = floats(DType::F64, &[2, 2], &[0.0; 4]);
    let error = mind_core::interp::run(&module, &[scores, Array::new([2], vec![-1_i64, 2])])
        .expect_err("there are two classes");
    assert_eq!(error.code, Code::E6001);
}
