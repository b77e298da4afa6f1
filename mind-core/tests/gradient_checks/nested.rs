//! Functions that define their own derivatives.

use mind_core::{
    canon::Canonical,
    diag::Code,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::Array,
    ir::{Module, Op, ValueId},
    ops::Profile,
    opt::{optimise, unoptimised},
    text::{Limits, core_ir},
    ty::DType,
};

use super::support::{canonical, numbers, run, scalar, vector};

/// Reads a text as a canonical module.
fn read(text: &str) -> Canonical {
    canonical(core_ir::parse(text, &Limits::default()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")))
}

/// `tanh(x)` for two numbers, summed with weights. The text in place of `{pullback}` computes `%4` from the result
/// `%3`.
fn weighted_tanh(pullback: &str) -> Canonical {
    read(&format!(
        "%0 = Input () {{name=\"x\"}} : f64[2]\n%1 = Input () {{name=\"w\"}} : f64[2]\n%3 = Tanh (%0) : f64[2]\n\
         {pullback}%5 = Mul (%4, %1) : f64[2]\n%6 = Sum (%5) {{axes=[], keepdims=false}} : f64\noutputs: %6\n"
    ))
}

/// A pullback whose module ends with this text.
fn told(body: &str) -> String {
    format!(
        "%4 = Pullback (%3, %0) : f64[2] {{\n%0 = Input () {{name=\"x\"}} : f64[2]\n%1 = Input () {{name=\"y\"}} : f64[2]\n\
         %2 = Input () {{name=\"dy\"}} : f64[2]\n{body}}}\n"
    )
}

/// The true pullback of `tanh`: `dy * (1 - y * y)`
const TRUE: &str =
    "%3 = Mul (%1, %1) : f64[2]\n%4 = Mul (%2, %3) : f64[2]\n%5 = Sub (%2, %4) : f64[2]\noutputs: %5\n";

fn by_x(cotangent: Cotangent) -> GradientOptions {
    let wrt = vec![Wrt { input: ValueId::new(0), zero_ok: false }];
    GradientOptions { wrt, cotangent, profile: Profile::Extended }
}

/// The module of the gradient by `x` alone, for a module with a single output.
fn gradient(module: &Canonical) -> Canonical {
    let gradient = differentiate(module, &by_x(Cotangent::One)).unwrap_or_else(|error| panic!("{error}"));
    let (insts, outputs) = Module::clone(&gradient.module).into_parts();
    canonical(Module::from_parts(insts, outputs[module.outputs().len()..].to_vec()))
}

/// The product of the second derivative by `x` and a vector of ones.
fn curvature(module: &Canonical) -> Canonical {
    let first = gradient(module);
    let second = differentiate(&first, &by_x(Cotangent::Input)).unwrap_or_else(|error| panic!("{error}"));
    let (insts, outputs) = Module::clone(&second.module).into_parts();
    canonical(Module::from_parts(insts, outputs[1..].to_vec()))
}

fn arguments() -> Vec<Array> {
    vec![vector(DType::F64, &[0.3, -0.7]), vector(DType::F64, &[1.5, 2.5])]
}

fn near(a: &[Array], b: &[Array]) {
    let (a, b) = (numbers(&a[0]), numbers(&b[0]));
    assert!(a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} and {b:?}");
}

#[test]
fn a_true_pullback_changes_no_derivative_of_any_order() {
    let (plain, own) = (weighted_tanh("%4 = Neg (%3) : f64[2]\n"), weighted_tanh(&told(TRUE)));
    let ones = [arguments(), vec![vector(DType::F64, &[1.0, 1.0])]].concat();
    // Where `own` has the pullback, `plain` negates the result, so its gradients have the other sign.
    let negative = |value: Vec<Array>| {
        vec![vector(DType::F64, &numbers(&value[0]).iter().map(|x| -x).collect::<Vec<_>>())]
    };
    near(&run(&gradient(&own), &arguments()), &negative(run(&gradient(&plain), &arguments())));
    near(&run(&curvature(&own), &ones), &negative(run(&curvature(&plain), &ones)));
}

#[test]
fn another_pullback_is_what_comes_out_at_every_order() {
    // The cotangent passes straight through, so no curvature is left.
    let straight = weighted_tanh(&told("outputs: %2\n"));
    near(&run(&gradient(&straight), &arguments()), &[vector(DType::F64, &[1.5, 2.5])]);
    let error = differentiate(&gradient(&straight), &by_x(Cotangent::Input)).expect_err("it is constant");
    assert_eq!(error.code(), Code::E5005, "{error}");
    // x * dy: its derivative by x is dy, which is w here.
    let own = weighted_tanh(&told("%3 = Mul (%0, %2) : f64[2]\noutputs: %3\n"));
    near(&run(&gradient(&own), &arguments()), &[vector(DType::F64, &[0.45, -1.75])]);
    let ones = [arguments(), vec![vector(DType::F64, &[1.0, 1.0])]].concat();
    near(&run(&curvature(&own), &ones), &[vector(DType::F64, &[1.5, 2.5])]);
    // y * dy: the derivative of y in it is the one that the pullback defines, y again.
    let of_result = weighted_tanh(&told("%3 = Mul (%1, %2) : f64[2]\noutputs: %3\n"));
    let expected: Vec<f64> = [(0.3f64, 1.5), (-0.7, 2.5)].map(|(x, w)| x.tanh() * w).to_vec();
    near(&run(&gradient(&of_result), &arguments()), &[vector(DType::F64, &expected)]);
    near(&run(&curvature(&of_result), &ones), &[vector(DType::F64, &expected)]);
}

/// `(x + w, x * w)` for scalars, with a pullback from both results to both parameters.
const TWO: &str = "\
%0 = Input () {name=\"x\"} : f64
%1 = Input () {name=\"w\"} : f64
%2 = Add (%0, %1) : f64
%3 = Mul (%0, %1) : f64
%4 = Pullback (%2, %3, %0, %1) : f64 {
  %0 = Input () {name=\"x\"} : f64
  %1 = Input () {name=\"w\"} : f64
  %2 = Input () {name=\"sum\"} : f64
  %3 = Input () {name=\"product\"} : f64
  %4 = Input () {name=\"dsum\"} : f64
  %5 = Input () {name=\"dproduct\"} : f64
  %6 = ConstF64 () {value=100.0} : f64
  %7 = Mul (%5, %6) : f64
  %8 = Add (%4, %7) : f64
  %9 = Mul (%8, %3) : f64
  outputs: %8, %9
}
%5 = Result (%4) {position=1} : f64
";

#[test]
fn cotangents_of_further_results_reach_the_module() {
    for (outputs, expected) in [
        // The results of the pullback that are used: both, only the second, the second twice, only the first.
        ("%6 = Add (%4, %5) : f64\noutputs: %6\n", [101.0, 606.0]),
        ("outputs: %5\n", [100.0, 600.0]),
        ("%6 = Add (%5, %5) : f64\noutputs: %6\n", [200.0, 1200.0]),
        ("outputs: %4\n", [1.0, 6.0]),
    ] {
        let module = read(&format!("{TWO}{outputs}"));
        let wrt = [0, 1].map(|input| Wrt { input: ValueId::new(input), zero_ok: false }).to_vec();
        let options = GradientOptions { wrt, cotangent: Cotangent::One, profile: Profile::Extended };
        let gradient = differentiate(&module, &options).unwrap_or_else(|error| panic!("{error}"));
        let given = [scalar(DType::F64, 2.0), scalar(DType::F64, 3.0)];
        let found = run(&gradient.module, &given);
        assert_eq!([numbers(&found[1])[0], numbers(&found[2])[0]], expected, "{outputs}");
    }
}

#[test]
fn plans_know_flat_modules_only() {
    let module = read(&format!("{TWO}%6 = Mul (%4, %5) : f64\noutputs: %6\n"));
    for program in [optimise(&module), unoptimised(&module)] {
        assert!(program.insts().iter().all(|inst| !matches!(inst.op, Op::Own(_))), "{}", *program);
        assert_eq!(program.insts().len(), 5, "{}", *program);
    }
}

#[test]
fn symbols_in_a_module_are_those_around_it() {
    let text = "%0 = Input () {name=\"x\"} : f64[N]\n%1 = Pullback (%0, %0) : f64[N] {\n  \
        %0 = Input () {name=\"x\"} : f64[N]\n  %1 = Input () {name=\"y\"} : f64[N]\n  %2 = Input () {name=\"dy\"} : f64[N]\n  \
        %3 = Count () {shape=[N], dtype=f64} : f64\n  %4 = Mul (%2, %3) : f64[N]\n  outputs: %4\n}\n\
        %2 = Sum (%1) {axes=[0], keepdims=false} : f64\noutputs: %2\n";
    let module = read(text);
    near(&run(&gradient(&module), &[vector(DType::F64, &[0.0; 5])]), &[vector(DType::F64, &[5.0; 5])]);
}
