//! Random well-typed programs: what the plan computes through the kernels against the naive interpreter, as far as
//! rounding allows, with the optimiser and without.

mod check;

use check::{compare, gradient, verified};
use mind_core::{
    ir::Module,
    surface::{lex, lower, lower::Function, parse},
    testing::{Bounded, Random, possible_updates, random_inputs, random_module, run_bounded, shrink},
    text::core_ir,
};
use mind_tests::sample;

/// Programs a run; each is a seed, so a failure names the program.
const PROGRAMS: u64 = 2_000;

#[test]
fn plans_compute_what_the_interpreter_does() {
    check_all(&|module| compare(module, &[]));
}

#[test]
fn updates_in_place_leave_what_the_interpreter_does() {
    check_all(&|module| {
        let updates = possible_updates(module);
        if updates.is_empty() { Ok(()) } else { compare(module, &updates) }
    });
}

#[test]
fn plans_of_gradients_compute_what_the_interpreter_does() {
    check_all(&|module| match gradient(module) {
        Some(gradient) => compare(&gradient, &[]),
        None => Ok(()),
    });
}

/// Products that are large enough for every kernel, and for another crate's. Random programs have small extents.
#[test]
fn large_products_compute_what_the_interpreter_does() {
    let program = "
        fn layer(x: f32[140, 300], w: f32[300, 40], b: f32[40]) -> f32[140, 40] { relu(x @ w + b) }
        fn wide(x: f32[33, 8], w: f32[8, 530]) -> f32[33, 530] { (x @ w) * 0.5 }
        fn batched(x: f64[3, 40, 20], y: f64[3, 20, 44]) -> f64[3, 40, 44] { x @ y - 1.0 }
        fn transposed(x: f64[36, 270], y: f64[33, 36]) -> f64[270, 33] { x.T @ y.T }
    ";
    for (name, module) in functions(program) {
        let gradient = gradient(&module).expect("it has a gradient");
        for module in [module, gradient] {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// One value is several results, a parameter's new value, and what a check sees.
#[test]
fn values_in_several_places_are_in_each() {
    let program = "
        fn twice(x: f32[3]) -> (f32[3], f32[3]) { let y = exp(x); (y, y) }
        fn seen(t: f32[7, 2], i: i32[3]) -> (f32[3, 2], i32[3], i32[3]) { let j = i * i - i; (gather(t, j), j, j) }
        fn failing(t: f32[1, 2], i: i32[3]) -> (f32[3, 2], i32[3], f32[1, 2]) {
            let j = i * i - i + 1;
            (gather(t, j), j, t * 2.0)
        }
        fn two_checks(t: f32[2, 2], i: i32[9], j: i32[9]) -> (f32[9, 2], f32[9, 2]) {
            (gather(t, i) + 1.0, gather(t * 3.0, j))
        }
        fn beside_checked(t: f32[2, 2], i: i32[3]) -> (f32[3, 2], i32[3], i32[3]) {
            (gather(t, i + 1), i * 2, i - 3)
        }
        fn checked_twice(t: f32[4, 2], i: i32[3]) -> (f32[3, 2], i32[3]) {
            let j = gather(i, i - i);
            (gather(t, j), j)
        }
    ";
    for (name, module) in functions(program) {
        for updates in [Vec::new(), possible_updates(&module)] {
            compare(&module, &updates).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// What is cheap is computed again where it is read, unless what it is made of is spread, turned or of another shape.
#[test]
fn what_is_computed_again_is_the_same() {
    let program = "
        fn plain(x: f32[8, 8], w: f32[8, 8]) -> f32[8, 8] {
            let t = x + w;
            t * sum(t, axis = 0)
        }
        fn spread(a: f32[1, 8], b: f32[1, 8], x: f32[8, 8]) -> f32[8, 8] {
            let t = (a + b) * x;
            t * sum(t, axis = 0)
        }
        fn down(a: f32[8, 1], b: f32[8, 1], x: f32[8, 8]) -> f32[8, 8] {
            let t = (a - b) + x;
            t * sum(t, axis = 0)
        }
        fn turned(x: f32[8, 8], w: f32[8, 8]) -> f32[8, 8] {
            let t = (x + w).T * x;
            t * sum(t, axis = 0)
        }
        fn reshaped(x: f32[4, 16], w: f32[8, 8]) -> f32[8, 8] {
            let t = reshape(x + x, [8, 8]) * w;
            t * sum(t, axis = 0)
        }
        fn taken(x: f32[9, 8], w: f32[8, 8]) -> f32[8, 8] {
            let t = (x - 1.0)[1..9] * w;
            t * sum(t, axis = 0)
        }
        fn longer(x: f32[8, 8], w: f32[8, 8]) -> f32[8, 8] {
            let t = relu(x + w) * x - w * (x + 1.0);
            t * sum(t, axis = 0)
        }
        fn lone(y: f32[8], x: f32[8, 8]) -> f32[8, 8] {
            let t = (y + y) * x;
            t * sum(t, axis = 0)
        }
    ";
    for (name, module) in functions(program) {
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// The functions of a program in the surface language.
fn functions(program: &str) -> impl Iterator<Item = (String, Module)> {
    let (lowered, diags) = lower(&parse(lex(program).0).0);
    assert!(diags.is_empty() && !lowered.functions.is_empty(), "{diags:?}");
    let function = |function: Function| {
        (function.name.to_string(), function.program.expect("it has no mistakes").module)
    };
    lowered.functions.into_iter().map(function)
}

/// Runs a check on every program; a failing one is made as small as it still fails.
fn check_all(check: &dyn Fn(&Module) -> Result<(), String>) {
    for seed in sample("random programs", 0..PROGRAMS) {
        let mut module = random_module(seed, 4 + (seed % 12) as usize);
        let Err(mut why) = check(&module) else { continue };
        while let Some((smaller, reason)) =
            shrink(&module).into_iter().find_map(|m| Some((m.clone(), check(&m).err()?)))
        {
            (module, why) = (smaller, reason);
        }
        panic!("seed {seed}: {why}\n{}", core_ir::print(&module));
    }
}

#[test]
fn random_programs_differ() {
    let mut random = Random::new(1);
    let seeds = [random.bits() % PROGRAMS, random.bits() % PROGRAMS];
    let [a, b] = seeds.map(|seed| core_ir::print(&random_module(seed, 10)));
    assert_ne!(a, b);
}

/// Bounds on errors judge results only as long as they are narrow.
#[test]
fn nearly_every_result_is_known_to_four_digits() {
    let (mut elements, mut known) = (0, 0);
    for seed in 0..PROGRAMS / 4 {
        let module = verified(&random_module(seed, 4 + (seed % 12) as usize));
        let Some(inputs) = random_inputs(&module, 7) else { continue };
        for Bounded { value, bounds } in run_bounded(&module, &inputs).into_iter().flatten() {
            let near = |(element, bound): &(f64, &f64)| **bound <= 1e-4 * element.abs().max(1.0);
            elements += bounds.len();
            known += value.elements.to_f64().into_iter().zip(&bounds).filter(near).count();
        }
    }
    assert!(known * 10 > elements * 9, "{known} of {elements}");
}
