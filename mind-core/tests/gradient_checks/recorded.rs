//! Elementwise functions whose derivatives cancel in their usual form. They are compared with `recorded.txt`, which
//! `ci/derivatives` writes with mpmath, and tested at special numbers.

use mind_core::{
    canon::canonicalise,
    interp::{Array, Elements, run},
    open,
    ops::Profile,
    ty::{DType, Type},
    verify::verify,
};

/// Recorded with mpmath at 1200 digits.
const RECORDED: &str = include_str!("recorded.txt");

/// Evaluates an expression over `x` and `y` at these numbers.
fn at(expression: &str, numbers: &[f64]) -> f64 {
    let program =
        mind_core::testing::open_program(expression).unwrap_or_else(|diags| panic!("{expression}\n{diags}"));
    let types = vec![Type::scalar(DType::F64); program.leaves.len()];
    let module = open::instantiate(&program, &types).expect("numbers fit");
    let of =
        |leaf: &open::Leaf| numbers[["x", "y"].iter().position(|name| *name == leaf.text).expect("x or y")];
    let inputs: Vec<_> =
        program.leaves.iter().map(|leaf| Array::new(vec![], Elements::from(vec![of(leaf)]))).collect();
    let module = canonicalise(verify(module, Profile::Extended).expect("a verified module"));
    match &run(&module, &inputs).expect("it runs")[0].elements {
        Elements::F64(elements) => elements[0],
        other => panic!("{expression} gives {other:?}"),
    }
}

fn grad(expression: &str, by: &str) -> String {
    format!("grad({expression}, wrt = {by})")
}

#[test]
fn values_and_derivatives_to_the_second_order_are_those_of_mpmath() {
    let mut count = 0;
    for line in RECORDED.lines() {
        let [expression, numbers, values] = line.split("; ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let parsed = |text: &str| -> Vec<f64> {
            text.split(' ').map(|number| number.parse().expect("a number")).collect()
        };
        let (numbers, values) = (parsed(numbers), parsed(values));
        let first = grad(expression, "x");
        let found = [expression.to_owned(), first.clone(), grad(&first, "x"), grad(&first, "y")];
        for (expression, expected) in found.iter().zip(values) {
            let found = at(expression, &numbers);
            // The density of the normal distribution has the square of its operand in an exponent.
            let units = 16.0 + if expression.contains("log_ndtr") { numbers[0] * numbers[0] } else { 0.0 };
            let units = units + if numbers.len() == 2 { (numbers[0] - numbers[1]).abs() } else { 0.0 };
            let near = (found - expected).abs() <= units * f64::EPSILON * expected.abs();
            assert!(near || found == expected, "{expression} at {numbers:?}: {found:e}, not {expected:e}");
            count += 1;
        }
    }
    assert!(count > 150, "{count} values");
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Values equal those of NumPy and SciPy. Derivatives are tested where both one-sided derivatives exist.
#[test]
fn special_numbers_have_the_values_of_numpy_and_scipy() {
    let cases: &[(&str, &[f64], f64)] = &[
        ("logaddexp(x, y)", &[INF, INF], INF),
        ("logaddexp(x, y)", &[-INF, -INF], -INF),
        ("logaddexp(x, y)", &[INF, -INF], INF),
        ("logaddexp(x, y)", &[-INF, 3.0], 3.0),
        ("logaddexp(x, y)", &[INF, NAN], NAN),
        ("grad(logaddexp(x, y), wrt = x)", &[INF, INF], 0.5),
        ("grad(logaddexp(x, y), wrt = y)", &[-INF, -INF], 0.5),
        ("grad(logaddexp(x, y), wrt = x)", &[-INF, 3.0], 0.0),
        ("grad(logaddexp(x, y), wrt = y)", &[-INF, 3.0], 1.0),
        ("grad(grad(logaddexp(x, y), wrt = x), wrt = x)", &[INF, INF], 0.0),
        ("grad(grad(logaddexp(x, y), wrt = x), wrt = x)", &[-INF, 3.0], 0.0),
        ("log1mexp(x)", &[0.0], -INF),
        ("log1mexp(x)", &[-1.0], NAN),
        ("log1mexp(x)", &[INF], 0.0),
        ("grad(log1mexp(x), wrt = x)", &[0.0], INF),
        ("grad(log1mexp(x), wrt = x)", &[INF], 0.0),
        ("erfcx(x)", &[INF], 0.0),
        ("erfcx(x)", &[-INF], INF),
        ("grad(erfcx(x), wrt = x)", &[INF], 0.0),
        ("grad(erfcx(x), wrt = x)", &[-INF], -INF),
        ("log_ndtr(x)", &[INF], 0.0),
        ("log_ndtr(x)", &[-INF], -INF),
        ("grad(log_ndtr(x), wrt = x)", &[INF], 0.0),
        ("grad(log_ndtr(x), wrt = x)", &[-INF], INF),
        ("fmax(x, y)", &[NAN, 1.0], 1.0),
        ("fmax(x, y)", &[1.0, NAN], 1.0),
        ("fmax(x, y)", &[NAN, NAN], NAN),
        ("fmax(x, y)", &[-INF, NAN], -INF),
        ("fmin(x, y)", &[NAN, 1.0], 1.0),
        ("fmin(x, y)", &[2.0, NAN], 2.0),
        ("grad(fmax(x, y), wrt = x)", &[2.0, 2.0], 0.5),
        ("grad(fmax(x, y), wrt = x)", &[2.0, NAN], 1.0),
        ("grad(fmax(x, y), wrt = y)", &[2.0, NAN], 0.0),
        ("grad(fmin(x, y), wrt = y)", &[NAN, 2.0], 1.0),
        ("grad(fmin(x, y), wrt = y)", &[1.0, 2.0], 0.0),
        ("copysign(x, y)", &[1.0, -0.0], -1.0),
        ("copysign(x, y)", &[-1.0, 0.0], 1.0),
        ("copysign(x, y)", &[-2.0, -INF], -2.0),
        ("copysign(x, y)", &[-2.0, NAN], 2.0),
        ("copysign(x, y)", &[NAN, -2.0], NAN),
        ("grad(copysign(x, y), wrt = x)", &[3.0, -2.0], -1.0),
        ("grad(copysign(x, y), wrt = x)", &[-3.0, -2.0], 1.0),
        ("grad(copysign(x, y), wrt = x)", &[0.0, -2.0], 0.0),
        ("floor_divide(x, y)", &[1.0, 0.1], 9.0),
        ("floor_divide(x, y)", &[5.0, INF], 0.0),
        ("floor_divide(x, y)", &[-5.0, INF], -1.0),
        ("floor_divide(x, y)", &[-5.0, 0.0], -INF),
        ("floor_divide(x, y)", &[0.0, 0.0], NAN),
        ("floor_divide(x, y)", &[INF, 2.0], NAN),
        ("floor_divide(x, y)", &[-7.5, 2.0], -4.0),
        ("grad(floor_divide(x, y), wrt = x)", &[7.5, 2.0], 0.0),
        ("remainder(x, y)", &[1.0, 0.1], 0.099_999_999_999_999_95),
        ("remainder(x, y)", &[5.0, INF], 5.0),
        ("remainder(x, y)", &[-5.0, INF], INF),
        ("remainder(x, y)", &[5.0, 0.0], NAN),
        ("remainder(x, y)", &[INF, 5.0], NAN),
        ("remainder(x, y)", &[-7.5, 2.0], 0.5),
        ("remainder(x, y)", &[7.5, -2.0], -0.5),
        ("grad(remainder(x, y), wrt = x)", &[-7.5, 2.0], 1.0),
        ("grad(remainder(x, y), wrt = y)", &[-7.5, 2.0], 4.0),
        ("grad(remainder(x, y), wrt = y)", &[5.0, INF], -0.0),
        // A zero remainder has the sign of the divisor, a zero quotient the sign of the exact quotient.
        ("1.0 / remainder(x, y)", &[6.0, -2.0], -INF),
        ("1.0 / remainder(x, y)", &[-6.0, 2.0], INF),
        ("1.0 / floor_divide(x, y)", &[0.0, -2.0], -INF),
        ("1.0 / fmax(x, y)", &[-0.0, 0.0], INF),
        ("1.0 / fmin(x, y)", &[0.0, -0.0], -INF),
    ];
    for (expression, numbers, expected) in cases {
        let found = at(expression, numbers);
        let same = found == *expected || found.is_nan() && expected.is_nan();
        assert!(same, "{expression} at {numbers:?}: {found}, not {expected}");
    }
}

#[test]
fn integers_are_rounded_down_by_division() {
    let of = |expression: &str, x: i64, y: i64| {
        let program = mind_core::testing::open_program(expression).expect("an expression");
        let types = vec![Type::scalar(DType::I64); program.leaves.len()];
        let module = open::instantiate(&program, &types).expect("numbers fit");
        let of = |leaf: &open::Leaf| if leaf.text == "x" { x } else { y };
        let inputs: Vec<_> =
            program.leaves.iter().map(|leaf| Array::new(vec![], Elements::from(vec![of(leaf)]))).collect();
        let module = canonicalise(verify(module, Profile::Extended).expect("a verified module"));
        run(&module, &inputs).map(|results| match &results[0].elements {
            Elements::I64(elements) => elements[0],
            other => panic!("{expression} gives {other:?}"),
        })
    };
    for x in [i64::MIN, i64::MIN + 1, -7, -6, -1, 0, 1, 6, 7, i64::MAX] {
        for y in [i64::MIN, -3, -2, -1, 1, 2, 3, i64::MAX] {
            // Computed with enough bits.
            let (wide_x, wide_y) = (i128::from(x), i128::from(y));
            let left = ((wide_x % wide_y) + wide_y) % wide_y;
            let quotient = (wide_x - left) / wide_y;
            assert_eq!(of("floor_divide(x, y)", x, y).expect("it runs"), quotient as i64, "{x} {y}");
            assert_eq!(of("remainder(x, y)", x, y).expect("it runs"), left as i64, "{x} {y}");
        }
        for expression in ["floor_divide(x, y)", "remainder(x, y)"] {
            let error = of(expression, x, 0).expect_err("0 divides");
            assert!(error.to_string().contains("divided by 0"), "{error}");
        }
    }
}
