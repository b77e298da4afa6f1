//! Derivatives of loops: programs of the surface language against difference quotients, to second order.

use mind_core::{
    canon::Canonical,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::Array,
    ir::{Module, Op, Product, ValueId},
    ops::{Profile, sample::Domain},
    ty::Type,
};

use super::{
    second_order::gradients_only,
    support::{Rng, arguments, assert_gradients, canonical, every_float, like, numbers, run},
};
use crate::stablehlo::functions;

/// Programs with loops. Their last function is tested. Integer inputs are below 3.
pub const PROGRAMS: &[(&str, &str)] = &[
    (
        "a recurrence with a matrix product",
        "fn f<L>(h: f64[3], xs: f64[L, 2], w: f64[3, 3], u: f64[2, 3]) -> (f64[3], f64[L, 3]) {
            scan h = h for x in xs { let h = tanh(h @ w + x @ u); (h, h) }
        }",
    ),
    (
        "in reverse",
        "fn f<L>(h: f64[2], xs: f64[L, 2], w: f64[2]) -> (f64[2], f64[L]) {
            scan h = h for x in xs, reverse = true { let h = sin(h * w) + x; (h, sum(h * x)) }
        }",
    ),
    (
        "several carries of which one is of integers and the first",
        "fn f<L>(a: f64, b: f64[2], xs: f64[L, 2], n: i64) -> (f64, f64[2]) {
            let (n, a, b) = fold (n, a, b) = (n, a, b) for x in xs { (n + 1, a * cos(a) + sum(b), b * x + a * f64(n)) };
            (a * f64(n), b)
        }",
    ),
    (
        "results of integers beside those of floats",
        "fn f<L>(h: f64, xs: f64[L], k: i64) -> (f64[L], f64) {
            let (h, ks) = scan h = h for x in xs { (h * x + x, i64(x > 0.0) + k) };
            let (ks, ys) = for (k, x) in (ks, xs) { (k + k, sin(x) * f64(k)) };
            (ys * f64(ks), h)
        }",
    ),
    (
        "a bool from a loop in a loop, which is stacked twice",
        "fn f<L>(xs: f64[L], w: f64) -> f64[L] {
            let (some, others, ys) = for x in xs {
                let (a, y) = fold (a, y) = (true, x) for k in 0..3 { (!a, sin(y * w)) };
                (a, a, y)
            };
            ys * f64(i64(some) + i64(others))
        }",
    ),
    (
        "only stacked results",
        "fn f<L>(xs: f64[L, 2], w: f64[2]) -> (f64[L, 2], f64[L]) {
            for x in xs { (exp(x * w), sum(x * x * w)) }
        }",
    ),
    (
        "carries whose last values nothing reads",
        "fn f<L>(a: f64, b: f64, xs: f64[L]) -> f64[L] {
            let (_, ys) = scan (a, b) = (a, b) for x in xs { ((a * b + x, sin(b) + a), a * x) };
            ys
        }",
    ),
    (
        "a carry that starts and ends without the parameters",
        "fn f<L>(xs: f64[L], w: f64) -> f64 {
            let (a, _) = fold (a, b) = (f64(1.0), f64(2.0)) for x in xs { (b * x, sin(a) * w) };
            a
        }",
    ),
    (
        "a branch of each kind, one of them a literal",
        "fn f(x: f64[3], w: f64) -> (f64, f64[3]) {
            let y = if sum(x) > 0.0 { x * w } else { exp(x) };
            let z = if w > 0.0 { 0.0 } else { w * w };
            (z + sum(y), if max(x) > 0.5 { y * sin(x) } else { x })
        }",
    ),
    (
        "a branch without a derivative after one that has a derivative",
        "fn f(x: f64[3], w: f64) -> (f64[3], f64[3], f64) {
            let y = if sum(x) > 0.0 { x * w } else { zeros([3]) };
            let z = if sum(x) < 0.0 { x * w } else { ones([3]) };
            (y, z, if w > 0.0 { sin(w) } else { round(w) })
        }",
    ),
    (
        "a loop whose steps have no derivative, of which none may run",
        "fn f(x: f64[2], w: f64) -> (f64[2], f64) {
            let y = while y = x if sum(y) > 0.0, at most = 3 { full([2], -1.0) };
            (y, while v = w if false, at most = 3 { round(v) })
        }",
    ),
    (
        "a loop with a condition and a limit",
        "fn f(x: f64[2], w: f64) -> (f64[2], f64) {
            while (x, s) = (x, w) if sum(x * x) > 0.01, at most = 40 { (x * 0.5 * cos(w * x), s + sum(x * w)) }
        }",
    ),
    (
        "a loop with a condition in a loop, and a branch in it",
        "fn f<L>(xs: f64[L], w: f64) -> (f64, f64[L]) {
            scan h = w for x in xs {
                let (y, _) = while (y, n) = (x * h, 0) if abs(y) > 0.1 && n < 5, at most = 5 {
                    (if y > 0.0 { y * 0.5 * cos(w) } else { y * y - 0.05 }, n + 1)
                };
                (tanh(h + y), y * h)
            }
        }",
    ),
    (
        "a carry that is replaced",
        "fn f<L>(h: f64[2], xs: f64[L, 2]) -> f64[2] { fold h = h for x in xs { x * x } }",
    ),
    (
        "a carry that stays, and one that changes places with another",
        "fn f<L>(a: f64, b: f64, c: f64, xs: f64[L]) -> (f64, f64, f64) {
            fold (a, b, c) = (a, b, c) for x in xs { (b, a * x, c) }
        }",
    ),
    ("a carry that no operand changes", "fn f(h: f64[2]) -> f64[2] { fold h = h for i in 0..3 { sin(h) + h } }"),
    (
        "one step",
        "fn f(h: f64[2], xs: f64[1, 2], w: f64[2]) -> (f64[2], f64[1, 2]) {
            scan h = h for x in xs { let h = tanh(h * w + x); (h, h * x) }
        }",
    ),
    (
        "choices in the body",
        "fn f<L>(h: f64[2], xs: f64[L, 2], w: f64[2]) -> (f64[2], f64[L, 2]) {
            scan h = h for x in xs { let h = where(x > 0.0, h * w, sqrt(h * h + 1.0)); (h, relu(h * x)) }
        }",
    ),
    (
        "several values iterated, and a value that is iterated and captured",
        "fn f<L>(h: f64, xs: f64[L], ys: f64[L, 2]) -> (f64, f64[L]) {
            scan h = h for (x, y) in (xs, ys) { (h * x + sum(xs * xs) * sum(y), sum(y) * h) }
        }",
    ),
    (
        "rows that integers choose",
        "fn f<L>(table: f64[3, 2], at: i64[L], h: f64[2]) -> f64[2] {
            fold h = h for i in at { sin(h) * gather(table, i) }
        }",
    ),
    (
        "a loop in a loop",
        "fn f<N, M>(xs: f64[N, M], w: f64) -> (f64, f64[N]) {
            scan s = w for row in xs { let p = fold p = s for e in row { sin(p * e) + w }; (s + p, p * s) }
        }",
    ),
    (
        "a loop in a loop that goes the other way and stacks",
        "fn f<N, M>(xs: f64[N, M], h: f64[M]) -> f64[M] {
            fold h = h for row in xs { let (_, ys) = scan p = f64(1.0) for (e, h) in (row, h), reverse = true { (p * e + h, tanh(p * h)) }; ys }
        }",
    ),
    (
        "the result of a loop in another one",
        "fn f<L>(h: f64, xs: f64[L]) -> f64 {
            let (h, ys) = scan h = h for x in xs { (sin(h) * x, h + x) };
            fold h = h for y in ys, reverse = true { h * y + y }
        }",
    ),
    (
        "products of a captured matrix with matrices, from both sides",
        "fn f<L>(h: f64[2, 3], xs: f64[L, 2, 3], w: f64[3, 3], v: f64[2, 2]) -> (f64[2, 3], f64[L, 2, 3]) {
            scan h = h for x in xs, reverse = true { let h = tanh(h @ w + v @ x); (h, h) }
        }",
    ),
    (
        "products of transposes, of stacks of matrices, and of the same matrix twice beside other uses",
        "fn f<L>(h: f64[2, 1, 3], xs: f64[L, 2, 3, 3], w: f64[3, 3]) -> f64[2, 1, 3] {
            fold h = h for x in xs { tanh((h @ w) @ w.T + h @ x + sum(w * w)) }
        }",
    ),
    (
        "products of a captured matrix with vectors and no carry",
        "fn f<L>(xs: f64[L, 2], w: f64[3, 2]) -> f64[L, 3] { for x in xs { w @ x } }",
    ),
    (
        "a product in an inner loop, of a matrix from outside of both",
        "fn f<L, M>(h: f64[2], xs: f64[L, M, 2], w: f64[2, 2]) -> (f64[2], f64[L, M, 2]) {
            scan h = h for x in xs { let (h, ys) = scan h = h for x in x { let h = sin(h @ w / 4.0 + x); (h, h) }; (h @ w / 4.0, ys) }
        }",
    ),
    (
        "values of the largest rank, which cannot be stacked",
        "fn f<L>(h: f64[2], xs: f64[L, 4], w: f64[2, 2]) -> f64[2] {
            fold h = h for x in xs {
                let wide = exp(sin(reshape(x, [1, 1, 1, 1, 1, 1, 2, 2]) * h));
                sin(h) + sum(wide @ w, axes = [0, 1, 2, 3, 4, 5, 6])
                    + sum(reshape(x, [1, 1, 1, 1, 1, 1, 2, 2]) @ w, axes = [0, 1, 2, 3, 4, 5, 6])
            }
        }",
    ),
    (
        "products and maxima",
        "fn f<L>(h: f64[2, 2], xs: f64[L, 2, 2]) -> (f64[2, 2], f64[L]) {
            scan h = h for x in xs { (tanh(h @ x) + x, max(h * x)) }
        }",
    ),
];

pub fn module(program: &str) -> Canonical {
    let function = functions(program).pop().expect("there is a function");
    canonical(function.program.expect("it is right").module)
}

pub fn given(what: &str, module: &Module) -> Vec<Array> {
    let types: Vec<Type> = module.inputs().map(|(_, ty)| ty.clone()).collect();
    arguments(&mut Rng::new(what), &types, Domain::Any, 3)
}

fn by(input: usize) -> GradientOptions {
    let wrt = vec![Wrt { input: ValueId::new(input), zero_ok: true }];
    GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended }
}

#[test]
fn gradients_of_loops_are_difference_quotients_to_second_order() {
    for (what, program) in PROGRAMS {
        let module = module(program);
        let given = given(what, &module);
        let gradient = assert_gradients(what, &module, &given, Profile::Extended, 1e-7)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let has_loop = |module: &Module| module.insts().iter().any(|inst| matches!(inst.op, Op::Own(_)));
        assert!(has_loop(&module) && has_loop(&gradient.module), "{what}");
        let again = gradients_only(&module, &every_float(&module, Profile::Extended)).expect("it was made");
        let mut rng = Rng::new(what);
        let cotangents = run(&module, &given).into_iter();
        let cotangents = cotangents.map(|result| like(&result, |_| rng.between(-1.0, 1.0)));
        let given: Vec<Array> = given.iter().cloned().chain(cotangents).collect();
        assert_gradients(&format!("{what}, again"), &again, &given, Profile::Extended, 1e-6)
            .unwrap_or_else(|error| panic!("{what}, again: {error}"));
    }
}

#[test]
fn a_gradient_by_one_parameter_is_that_among_those_by_all() {
    for (what, program) in PROGRAMS {
        let module = module(program);
        let mut rng = Rng::new(what);
        let given = given(what, &module);
        let cotangents = run(&module, &given).into_iter();
        let cotangents = cotangents.map(|result| like(&result, |_| rng.between(-1.0, 1.0)));
        let all: Vec<Array> = given.iter().cloned().chain(cotangents).collect();
        let gradients =
            gradients_only(&module, &every_float(&module, Profile::Extended)).expect("it has one");
        let gradients = run(&gradients, &all);
        let floats = (0..given.len()).filter(|input| given[*input].dtype().is_float());
        for (input, expected) in floats.zip(&gradients) {
            let one = gradients_only(&module, &by(input)).unwrap_or_else(|error| panic!("{what}: {error}"));
            let found = run(&one, &all);
            for (found, expected) in numbers(&found[0]).iter().zip(numbers(expected)) {
                let difference = (found - expected).abs();
                assert!(
                    difference <= 1e-12 * expected.abs().max(1.0),
                    "{what} by {input}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn cotangents_of_zero_give_zeros_whatever_the_steps_compute() {
    // Square roots of 0 and quotients by 0, in masked and unmasked code.
    let program = "fn f<L>(h: f64, xs: f64[L], w: f64) -> (f64, f64[L]) {
        scan h = h for x in xs { (h + where(x > 0.0, sqrt(x) * w, 0.0), log(x) * sqrt(w)) }
    }";
    let module = module(program);
    let given = [vec![1.0], vec![4.0, 0.0, -1.0], vec![0.0]];
    let shapes: [&[usize]; 3] = [&[], &[3], &[]];
    let given: Vec<Array> =
        given.into_iter().zip(shapes).map(|(elements, shape)| Array::new(shape, elements)).collect();
    let gradient =
        differentiate(&module, &every_float(&module, Profile::Extended)).expect("it has one").module;
    for by_last in [0.0, 1.0] {
        let cotangents = [Array::new([], vec![by_last]), Array::new([3], vec![0.0; 3])];
        let results = run(&gradient, &[&given[..], &cotangents].concat());
        // The derivative by `xs` is w / (2 sqrt(x)) where x is positive. It is 0, because w is 0. The derivative by `w`
        // is the square root of 4.
        assert_eq!(numbers(&results[2]), [by_last]);
        assert_eq!(numbers(&results[3]), [0.0; 3]);
        assert_eq!(numbers(&results[4]), [2.0 * by_last]);
    }
}

#[test]
fn a_nest_of_loops_costs_its_steps_once_forwards_and_once_backwards() {
    let program = "fn f<A, B, C, D>(xs: f64[A, B, C, D], w: f64) -> f64 {
        fold s = w for xs in xs {
            fold s = s for xs in xs { fold s = s for xs in xs { fold s = s for x in xs { sin(s * x) + w } } }
        }
    }";
    let gradient = gradients_only(&module(program), &by(1)).expect("it has one");
    let loops = |module: &Module| module.insts().iter().filter_map(|inst| inst.op.as_loop()).count();
    let mut bodies: Vec<Module> = vec![Module::clone(&gradient)];
    for depth in 0..4 {
        let found: usize = bodies.iter().map(loops).sum();
        assert_eq!(found, 2, "at depth {depth}");
        bodies = bodies.iter().flat_map(|body| body.nested().map(|nested| Module::clone(nested))).collect();
    }
}

#[test]
fn the_cotangent_of_a_matrix_in_products_is_one_product_after_the_loop() {
    let program = "fn f<L, B>(h: f64[B, 3], xs: f64[L, B, 3], w: f64[3, 3]) -> f64[B, 3] {
        fold h = h for x in xs { tanh(h @ w + x) }
    }";
    let gradient = gradients_only(&module(program), &by(2)).expect("it has one");
    let products = |module: &Module| {
        module.insts().iter().filter(|inst| matches!(inst.op, Op::Product(Product::MatMul))).count()
    };
    let bodies: Vec<usize> = gradient.nested().map(|body| products(body)).collect();
    // The forward loop computes `h @ w`, the backward loop the cotangent of `h`.
    assert_eq!((bodies, products(&gradient)), (vec![1, 1], 1));
}
