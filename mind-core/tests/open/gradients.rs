//! Gradients of expressions compared with central differences by the reference interpreter.

use mind_core::{
    interp::{Array, Elements},
    testing::Random,
};

use super::support::{Arguments, evaluate, sampled, types};

/// Leaves, and a scalar expression that uses them.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("x: f64[2, 3], w: f64[3, 4], b: f64[4], y: f64[2, 4]", "mean((x @ w + b - y) * (x @ w + b - y))"),
    ("x: f64[2, 3], y: f64[3]", "sum(x * y + x - y / (x * x + 1.0))"),
    ("x: f64[2, 1], y: f64[1, 3], z: f64", "sum((x * y) * z + x * z)"),
    ("x: f64[4]", "sum(relu(x) * exp(x))"),
    ("x: f64[4]", "sum(log(x * x + 1.0))"),
    ("x: f64[3, 4]", "{ let z = exp(x); -mean(log(z / sum(z, axes = [1], keepdims = true))) }"),
    ("x: f64[3], y: f64[3]", "(x @ y) * (x @ x)"),
    ("x: f64[3], w: f64[3, 2], v: f64[2]", "dot(x @ w, v) + v @ (w.T @ x)"),
    ("x: f64[2, 1, 2, 3], w: f64[3, 3, 2]", "sum(matmul(x, w) * matmul(x, w))"),
    ("x: f64[2, 3, 2]", "sum(mean(x, axes = [0, 2]) * sum(x, axis = 1)[0, 0])"),
    ("x: f64[2, 3, 2]", "sum(x * mean(x, axes = [1], keepdims = true) * x.sum(keepdims = true))"),
    ("x: f64[2, 3]", "sum(x.reshape([3, -1]) * x.T) + sum(x.reshape([-1]) * x.reshape([6]))"),
    ("x: f64[2, 3, 4]", "sum(x.mT[0] * x.mT[1] * x.mT[_, 0, ..]) + sum(x @ x.mT @ x)"),
    ("x: f64[3, 4], y: f64[3]", "sum(exp(y[.., _] * x - y[_, .., _] * x[1, _]))"),
    ("x: f64[2, 3, 4]", "sum(transpose(x, [2, 0, 1]) * transpose(x, [-1, 0, 1]) * x.T.transpose([0, 2, 1]))"),
    ("x: f64[2, 1, 3]", "sum(expand_dims(squeeze(x), axes = [0, -1]) * squeeze(x, axes = [1])[0, 1])"),
    ("x: f64[4, 3]", "sum(x[1..3] * x[0] * x[-1, 2]) + x[0, 0] * sum(x[..;2, 1..])"),
    ("x: f64[4, 3]", "sum(slice(x, [0, 1], [4, 3], [2, 1]) * slice(x, [1, 0], [3, 2]))"),
    ("t: f64[4, 2], i: i64[3]", "sum(gather(t, i) * gather(t, [0, 3, 0]))"),
    ("x: f64[4, 2], i: i64[3]", "sum(x[i] * x[i, 1][.., _] * x[[0, 3, 0]])"),
    (
        "x: f64[2, 4, 3], i: i64[2, 3]",
        "sum(exp(x[0.., i] * 0.1) * x[1, i, 2][_, .., _]) + sum(x.T[.., i, 0] * x.T[0, i, 1])",
    ),
    ("x: f64[4, 4, 2], i: i64[3, 1], j: i64[3]", "sum(x[i, j] * x[j, i] * x[.., 0].T[i, j][.., _])"),
    ("x: f64[2, 2, 3], y: f64[3, 4]", "{ let z = einsum(\"...ij,jk->...ik\", x, y); sum(z * z * z) }"),
    (
        "x: f64[2, 1, 3, 2], y: f64[3, 2, 2], z: f64[2]",
        "{ let z = einsum(\"...ij,i...j,...->...i\", x, y, z); sum(z * z) }",
    ),
    (
        "x: f64[1, 5, 4, 2], f: f64[2, 2, 2, 3]",
        "{ let c = conv2d(x, f, strides = [2, 1], padding = same); sum(c * c) }",
    ),
    (
        "x: f64[1, 5, 4, 2], f: f64[2, 3, 2, 2]",
        "{ let c = conv2d(x, f, padding = [[1, 0], [0, 2]]); sum(exp(c * 0.1)) }",
    ),
    ("x: f64[3], y: f64", "sum(broadcast_to(x, [2, 3]) * full([2, 3], y)) * y"),
    ("x: f64[3]", "sum((ones_like(x) + [1.0, 2.0, 3.0]) * x * x - zeros_like(x))"),
    ("x: f64[3]", "{ let h = x * x; sum(h * stop_gradient(x) * 0.0 + h * h) }"),
    ("x: f64[2, 2]", "sum(x @ x @ x) + sum(x * x @ x)"),
    ("x: f64[3]", "sum(x * grad(sum(x * x * x), wrt = x))"),
    ("x: f64[3], w: f64[3, 2]", "sum(exp(grad(sum(relu(x @ w) * (x @ w)), wrt = w)) * 0.1)"),
    ("x: f64[2, 3]", "{ let (l, g) = value_and_grad(mean(exp(x) * x), wrt = x); l * sum(g * g) }"),
    ("x: f64[3], c: f64[3]", "sum(vjp(x * x * x, wrt = x)(c) * c)"),
    ("x: f64[1, 4, 4, 1], f: f64[2, 2, 1, 2]", "sum(grad(sum(conv2d(x, f) * conv2d(x, f)), wrt = x) * x)"),
];

#[test]
fn gradients_are_the_slopes() {
    for (parameters, expression) in crate::sample::some("expressions", EXPRESSIONS) {
        let types = types(parameters);
        let arguments = sampled(&types, &mut Random::new(11));
        let floats: Vec<&str> =
            types.iter().filter(|(_, ty)| ty.dtype.is_float()).map(|(name, _)| name.as_str()).collect();
        let wrt: String = floats.iter().map(|name| format!("{name}, ")).collect();
        let source = format!("value_and_grad({expression}, wrt = ({wrt}))");
        let found = evaluate(&source, &types, &arguments);
        let value = evaluate(expression, &types, &arguments);
        assert_eq!(found[0], value[0], "{expression}: the value changed");
        for (name, gradient) in floats.iter().zip(&found[1..]) {
            let gradient = numbers(gradient);
            for (element, found) in gradient.iter().enumerate() {
                let wanted = slope(expression, &types, &arguments, name, element);
                let allowed = 1e-6 * wanted.abs().max(1.0);
                assert!(
                    (found - wanted).abs() <= allowed,
                    "{expression}: by element {element} of {name}: gradient {found:e}, differences {wanted:e}"
                );
            }
        }
    }
}

fn numbers(value: &Array) -> &[f64] {
    let Elements::F64(elements) = &value.elements else { panic!("all floats are f64") };
    elements
}

/// The fourth-order central difference.
fn slope(
    expression: &str,
    types: &[(String, mind_core::ty::Type)],
    arguments: &Arguments,
    name: &str,
    element: usize,
) -> f64 {
    let at = |offset: f64| {
        let mut moved = arguments.clone();
        let (_, value) = moved.iter_mut().find(|(known, _)| known == name).unwrap();
        let Elements::F64(elements) = &mut value.elements else { panic!("all floats are f64") };
        elements[element] += offset;
        numbers(&evaluate(expression, types, &moved)[0])[0]
    };
    let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
    let step = 1e-3;
    (4.0 * central(step / 2.0) - central(step)) / 3.0
}
