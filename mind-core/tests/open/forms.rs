//! Expressions among Rust variables mean the same as closures with the same text, and report their errors in the same
//! words.

use mind_core::{
    diag::Diags,
    open,
    surface::{lower, parse},
    testing::{Random, leaf_types, open_program, same},
};

use super::support::{Arguments, evaluate, results, sampled, types};

/// Parameters and an expression that uses them.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("x: f32[2, 3], w: f32[3, 4], b: f32[4]", "relu(x @ w + b)"),
    ("x: f64[2, 1], y: f64[3]", "x + y - x * y / 2.0"),
    ("x: f64[2, 3]", "(-x, exp(x), log(x), neg(x), relu(x))"),
    ("x: f64[3], y: f64[3], w: f64[3, 2]", "(x @ y, x @ w, w.T @ x, dot(x, w), dot(w.T, w))"),
    ("x: f32[2, 1, 2, 3], w: f32[2, 3, 2]", "(matmul(x, w), x @ w)"),
    ("x: f64[2, 3, 2]", "(sum(x), mean(x), sum(x, axes = [-1, 0]), mean(x, axis = 1, keepdims = true))"),
    ("x: f64[2, 3, 2]", "(x.sum(keepdims = true), x.mean(axes = [2]))"),
    ("x: i64[2, 3]", "(sum(x), x * 2 - 1, x.T)"),
    ("x: f64[2, 3]", "(reshape(x, [3, 2]), x.reshape([-1]), reshape(x, [1, -1, 2]))"),
    ("x: f64[2, 3, 4]", "(x.T, transpose(x), transpose(x, [2, 0, 1]), x.transpose([-1, 0, 1]))"),
    ("x: f64[2, 3, 4], m: f32[3, 2]", "(x.mT, m.mT, x[0].mT, x @ x.mT)"),
    (
        "x: f64[2, 3, 4]",
        "(x[_], x[.., _], x[_, .., _], x[0, _, 1..], x[_, 0, .., _, 1], x[1.., _, .., 2, _])",
    ),
    ("x: f64", "(x[_], x[_, _], x[.., _])"),
    ("x: f64[2, 3]", "(expand_dims(x, axes = [0, -1]), expand_dims(x, axes = [1, 2]))"),
    ("x: f64[1, 2, 1]", "(squeeze(x), squeeze(x, axes = [-1]), x.squeeze(axes = [0]))"),
    ("x: f64[4, 3, 2]", "(x[0], x[-1, 1..], x[.., 0], x[1..3;2, .., ..-1], x[0, 1, 1])"),
    ("x: f64[4, 3]", "(slice(x, [0, 1], [4, 3], [2, 1]), slice(x, starts = [0, 0], ends = [1, 3]))"),
    ("t: f64[4, 3], i: i64[2, 2]", "(gather(t, i), gather(t, [0, 3, 3]), gather(t, [1]))"),
    (
        "x: f64[1, 5, 4, 2], f: f64[2, 2, 2, 3]",
        "(conv2d(x, f), conv2d(x, f, strides = [2, 1], padding = same))",
    ),
    ("x: f64[1, 5, 4, 2], f: f64[2, 2, 2, 3]", "conv2d(x, f, padding = [[1, 0], [0, 2]])"),
    ("x: f64[3], y: f64", "(broadcast_to(x, [2, 3]), full([2, 2], y), full([2], 0.5) + x[..2])"),
    ("x: f32[2, 3]", "(zeros_like(x), ones_like(x), x + zeros([3]) * ones([2, 1]), stop_gradient(x))"),
    ("x: f64[2]", "([1.0, 2.5] * 2.0 - -x, [[1.0], [2.0]] + x, -[0.5, 1.0] @ x, 3.0 * 0.1 + x)"),
    ("x: f32[2], i: i64[2]", "{ let two = 1.0 + 1.0; let one = ones([2]); (x * two, i * one, x * one) }"),
    ("x: f64[2]", "{ let (a, b) = (x, { let c = x * x; c }); let x = a + b; (x, (x, a)).1.0 - b }"),
    ("x: i32[2]", "(x * 3, 2 - x)"),
];

#[test]
fn expressions_compute_what_closures_compute() {
    for (parameters, expression) in EXPRESSIONS {
        // Within an expression, the braces of an inner block contain Rust code.
        let open = expression.replace("{ let c = x * x; c }", "x * x");
        let types = types(parameters);
        let arguments = sampled(&types, &mut Random::new(7));
        let found = evaluate(&open, &types, &arguments);
        let wanted = of_closure(parameters, expression, &arguments);
        assert_eq!(found.len(), wanted.len(), "{expression}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(same(found, wanted), "{expression}: found {found:?}, wanted {wanted:?}");
        }
    }
}

fn of_closure(parameters: &str, expression: &str, arguments: &Arguments) -> Vec<mind_core::interp::Array> {
    let (program, diags) = parse(format!("|{parameters}| {expression}").parse().unwrap());
    assert!(diags.is_empty(), "{expression}: {diags:?}");
    let (lowered, diags) = lower(&program);
    assert!(diags.is_empty(), "{expression}: {diags:?}");
    let source = lowered.functions[0].program.clone().unwrap();
    let values: Vec<_> = arguments.iter().map(|(_, value)| value.clone()).collect();
    results(source.module, &values)
}

/// Parameters and an expression that violates a rule for their types.
const MISTAKES: &[(&str, &str)] = &[
    ("x: f32[2, 3], w: f32[4, 3]", "x @ w"),
    ("x: f32[2, 3], w: f32[4, 3]", "relu(x * 2.0) @ (w + 1.0)"),
    ("x: f32[2, 3], y: f32[2]", "x + y"),
    ("x: f32[2, 3], y: f64[2, 3]", "x - y"),
    ("x: f32[2]", "x * 2"),
    ("x: i64[2]", "2.0 + x"),
    ("x: i64[2]", "x * 1.5"),
    ("x: f32[2]", "x - 2_i64"),
    ("x: f32[2]", "x * 1e300"),
    ("x: i32[2]", "x * 3000000000"),
    ("x: i64[2]", "x / 0"),
    ("x: i64[2]", "relu(x) + exp(x)"),
    ("x: f32[2], y: f32[2, 2]", "matmul(x, y)"),
    ("x: f32[2, 2, 2], y: f32[2]", "dot(x, y)"),
    ("x: f32[2, 3]", "sum(x, axis = 2)"),
    ("x: f32[2, 3]", "mean(x, axes = [0, -2])"),
    ("x: f32[2, 3]", "sum(x, axes = [])"),
    ("x: i64[2, 3]", "mean(x)"),
    ("x: f32[2, 3]", "reshape(x, [4])"),
    ("x: f32[2, 3]", "reshape(x, [-1, 4])"),
    ("x: f32[2, 3]", "reshape(x, [-1, -1])"),
    ("x: f32[2, 3]", "reshape(x, [0, 6])"),
    ("x: f32[2, 3]", "transpose(x, [0, 0])"),
    ("x: f32[2, 3]", "transpose(x, [0])"),
    ("x: f32[2, 3]", "expand_dims(x, axes = [4])"),
    ("x: f32[2, 3]", "squeeze(x, axes = [0])"),
    ("x: f32[2, 3]", "x[2]"),
    ("x: f32[2, 3]", "x[0, 0, 0]"),
    ("x: f32[2, 3]", "x[0, 1..4]"),
    ("x: f32[2, 3]", "x[0, 2..2]"),
    ("x: f32[2, 3]", "x[0, ..;0]"),
    ("x: f32[2, 3]", "slice(x, [0], [1])"),
    ("x: f32[2, 3]", "slice(x, [0, 0], [1, 4])"),
    ("x: f32[2, 3]", "slice(x, [0, 0], [1, 1], [0, 1])"),
    ("t: f32[2, 3], i: f32[2]", "gather(t, i)"),
    ("t: f32, i: i64[2]", "gather(t, i)"),
    ("x: f32[1, 5, 5, 2], f: f32[2, 2, 3, 1]", "conv2d(x, f)"),
    ("x: f32[1, 5, 5, 2], f: f32[6, 2, 2, 1]", "conv2d(x, f)"),
    ("x: f32[1, 5, 5, 2], f: f32[2, 2, 2, 1]", "conv2d(x, f, strides = [0, 1])"),
    ("x: f32[5, 5, 2], f: f32[2, 2, 2, 1]", "conv2d(x, f)"),
    ("x: f32[3]", "broadcast_to(x, [2])"),
    ("x: f32[3]", "x + zeros([0])"),
    ("x: f32[3]", "x + full([2, -3], 1.0)"),
    ("x: f32[3]", "x + []"),
    ("x: f32[3]", "x + zeros([9223372036854775807, 2])"),
];

/// A message without positions and without the notes on the origin of extents, which differ between the forms.
fn told(diags: Diags) -> Vec<String> {
    diags
        .into_iter()
        .map(|mut diag| {
            diag.notes.clear();
            diag.to_string()
        })
        .collect()
}

#[test]
fn mistakes_are_told_in_the_words_of_closures() {
    for (parameters, expression) in MISTAKES {
        let (program, diags) = parse(format!("|{parameters}| {expression}").parse().unwrap());
        assert!(diags.is_empty(), "{expression}: {diags:?}");
        let wanted = told(lower(&program).1);
        let found = match open_program(expression) {
            Ok(program) => {
                let leaves = leaf_types(&program, &types(parameters)).unwrap();
                open::types(&program, &leaves).unwrap_err().to_string()
            }
            Err(diags) => diags,
        };
        // The help may differ, because an expression has no declarations.
        let sentence = |message: &String| message.lines().next().map(str::to_owned);
        assert_eq!(sentence(&found), wanted.first().and_then(sentence), "{expression}");
    }
}

#[test]
fn mistakes_of_gradients_and_declared_types_are_found_once_types_are_known() {
    for (parameters, expression, wanted) in [
        (
            "x: f32[3]",
            "grad(x * x, wrt = x)",
            "[E5004] `grad`: `x * x` returns f32[3], needed a single f32 or f64\n  \
             help: reduce the result, as in `mean(…)`, or give a cotangent with `vjp`",
        ),
        (
            "x: i64[3]",
            "value_and_grad(sum(x), wrt = x)",
            "[E5005] `x` is i64[3]: a gradient is only with respect to f32 and f64",
        ),
        (
            "t: f32[3], i: i64[2]",
            "grad(sum(gather(t, i)), wrt = (t, zero_ok i))",
            "[E5005] `i` is i64[2]: a gradient is only with respect to f32 and f64",
        ),
        (
            "x: f32[3], dy: f32[2]",
            "vjp(x * x, wrt = x)(dy)",
            "[E2001] argument `cotangent` of `vjp`: expected f32[3], found f32[2]",
        ),
        ("x: f32[3]", "{ let h: f32[2] = x * x; h }", "[E2001] `h`: expected f32[2], found f32[3]"),
    ] {
        let program = open_program(expression).unwrap();
        let leaves = leaf_types(&program, &types(parameters)).unwrap();
        let found = open::types(&program, &leaves).unwrap_err().to_string();
        assert_eq!(found, wanted, "{expression}");
    }
}

#[test]
fn mistakes_are_told_at_once_where_every_type_is_written() {
    let told = |source: &str| open::check_annotated(&open_program(source).unwrap());
    assert!(told("x @ (w: f32[3, 4])").is_ok());
    assert!(told("(x: f32[2, 3]) @ (w: f32[3, 4]) : f32[2, 4]").is_ok());
    assert!(told("[1.0, 2.0] * 2.0").is_ok());
    for (source, wanted) in [
        ("(x: f32[2, 3]) @ (w: f32[4, 3])", "[E3003] `@`: inner dimensions differ, 3 and 4"),
        ("(x: f32[2, 3]) * 1.0 : f32[2]", "[E2001] the result: expected f32[2], found f32[2, 3]"),
        ("[1.0, 2.0] + [1.0, 2.0, 3.0]", "[E3001] `+`: extents 2 and 3 do not broadcast in dimension 0"),
        ("sum((x: f32[2, 3]), axes = [2])", "[E3004] `sum`: axis 2 is out of range for rank 2"),
    ] {
        let diag = told(source).unwrap_err();
        assert!(diag.to_string().starts_with(wanted), "{source}: {diag}");
    }
}
