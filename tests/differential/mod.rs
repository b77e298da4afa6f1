//! Random well-typed programs: compares the results of their plans, run with the kernels, with the naive interpreter
//! within rounding errors, with and without the optimiser.

mod check;
pub mod execute;
mod nan;

use std::{collections::BTreeSet, ops::Range};

use check::{compare, compare_on, gradient, verified};
use mind_core::{
    batch::batch,
    canon::canonicalise,
    checkpoint::variants,
    dim::Dim,
    interp::Elements,
    ir::{Module, ValueId},
    loops::{Execution, LoweredStep, Statement, of_step},
    opt::{optimise, optimise_exactly},
    plan::{Limits, plan, plan_by},
    surface::{lex, lower, lower::Function, parse},
    testing::{
        Bounded, Random, possible_updates, random_inputs, random_module, run_bounded, shrink, special_inputs,
    },
    text::core_ir,
};
use mind_tests::{sample, some};
use nan::has_nan_where_the_interpreter_has;

/// The number of programs. The number of a program is its seed, so a failure identifies the program.
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

/// Batches of short vectors and small matrices, which the optimiser splits into columns. The batch is longer than a block
/// of a nest.
#[test]
fn batches_of_small_programs_compute_what_the_interpreter_does() {
    let extent = 37;
    let split = std::cell::Cell::new(0);
    check_seeds(0..PROGRAMS / 4, &|module| {
        let over: Vec<ValueId> = (0..module.inputs().count()).map(ValueId::new).collect();
        let canonical = canonicalise(verified(module));
        let Ok(batched) = batch(&canonical, &over, &Dim::literal(extent)) else { return Ok(()) };
        let batched = batched.module;
        let first = gradient(&batched);
        for module in [Some(batched), first].into_iter().flatten() {
            let canonical = canonicalise(verified(&module));
            split.set(split.get() + usize::from(*optimise(&canonical) != *optimise_exactly(&canonical)));
            compare(&module, &[])?;
        }
        Ok(())
    });
    assert!(split.get() > 0, "no program has columns");
}

#[test]
fn batches_of_short_vectors_compute_what_the_interpreter_does() {
    let program = "
        fn rotate(r: f64[3], p: f64[3]) -> f64[3] {
            let square = sum(r * r);
            if square > 0.5 {
                let angle = sqrt(square);
                let axis = r / angle;
                p * cos(angle) + num::cross(axis, p) * sin(angle) + axis * (dot(axis, p) * (1.0 - cos(angle)))
            } else {
                p + num::cross(r, p)
            }
        }
        fn rotations<N>(r: f64[N, 3], p: f64[N, 3]) -> f64[N, 3] { vmap(rotate, over = (r, p))(r, p) }
        fn rotated_by_one<N>(r: f64[3], p: f64[N, 3]) -> f64[N, 3] { vmap(rotate, over = p)(r, p) }
        fn of_many(r: f64[40, 3], p: f64[40, 3]) -> (f64[40, 3, 3], f64[40, 3, 3]) {
            vmap(jacobian(rotate, wrt = (r, p)), over = (r, p))(r, p)
        }
        fn forwards<N>(r: f64[N, 3], p: f64[N, 3]) -> f64[N, 3, 3] {
            vmap(jacobian(rotate, wrt = p, mode = forward), over = (r, p))(r, p)
        }
        fn matrices(x: f32[19, 2, 3], y: f32[19, 3, 2], w: f32[2, 2], b: f32[2]) -> (f32[19, 2, 2], f32[19]) {
            let z = x @ y + w @ w.T;
            let t = concat([z[.., 0..1, 0..] * 2.0, z[.., 1.., 0..] - b], axis = 1);
            (reshape(t.mT, [19, 2, 2]) * broadcast_to(b, [19, 2, 2]), mean(max(t, axes = [2]), axes = [1]))
        }
        fn beside_kernels<N>(x: f32[N, 3], w: f32[3, 40], v: f32[40, 2]) -> (f32[N, 2], f32[3], f32) {
            let y = tanh(x @ w) @ v;
            let z = stack([y[.., 0] - x[.., 2], y[.., 1] * x[.., 0]], axis = 1);
            (z, sum(x * z[.., 0..1], axes = [0]), sum(exp(-z)))
        }
        fn whole_numbers(x: i32[17, 3], t: bool[17, 2]) -> (i32[17, 2], bool[17, 3]) {
            let y = concat([x[.., 1..], x[.., 0..1] % 5], axis = 1);
            (where(t, y[.., 1..], y[.., 0..2] / 3), y == x)
        }
        fn pixels(image: f32[5, 7, 3], bias: f32[7, 1], shade: f32[5, 1, 3]) -> (f32[5, 7, 3], f32[3]) {
            let y = 0.3 * image[0.., 0.., 0] + 0.6 * image[0.., 0.., 1] * bias[0.., 0];
            let t = image * image + bias;
            let turned = stack([t[0.., 0.., 2], y, t[0.., 0.., 0]], axis = 2) * shade;
            (turned * y[0.., 0.., _], sum(turned[0.., 0.., 1..] * t[0.., 0.., 0..1], axes = [0, 1])[0..2] @ shade[0..2, 0])
        }
        fn transformations<V>(t: f64[6, 4, 4], p: f64[V, 4]) -> f64[6, V, 3] {
            (p @ (t @ t.mT))[0.., 0.., 0..3] * p[0.., 3..4]
        }
        fn gated<V>(x: f64[V, 3], y: f64[6, 1, 3]) -> f64 {
            let z = relu(broadcast_to(x, [6, V, 3])) * y;
            sum(z[0.., 0.., 1..] + z[0.., 0.., 0..2])
        }
        fn joined_twice(x: f64[21, 2]) -> f64[21, 5] {
            let y = x[.., 0] * x[.., 1];
            let z = exp(x[.., 1]);
            stack([y, z, y, z * y, x[.., 0]], axis = 1)
        }
    ";
    for (name, module) in some("functions", functions(program)) {
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Tensors that are joined, or placed among zeros, and read element by element. Known extents are those of long tensors.
#[test]
fn sections_compute_what_the_interpreter_does() {
    let program = "
        fn shifted<N>(x: f64[N], y: f64[N]) -> f64[N] { x * concat([[1.0], y[..-1]]) }
        fn differences<N>(x: f64[N]) -> f64 { let d = x[1..] - x[..-1]; sum(d * d * d) }
        fn known_differences(x: f64[300]) -> f64 { let d = x[1..] - x[..-1]; sum(d * d * d) }
        fn laplacian(u: f64[300]) -> f64[300] {
            pad(u[..-2] - 2.0 * u[1..-1] + u[2..], low = [1], high = [1]) * 0.1 + u
        }
        fn twice(u: f64[300]) -> f64 { let v = laplacian(laplacian(u)); sum(v * v) }
        fn of_matrices(w: f32[6, 7, 9], x: f32[5, 7]) -> f32[5, 9] {
            tanh(x @ w[1]) + x @ w[4] * 0.5 - x @ w[0] + sum(w[2] * w[3], axes = [0])
        }
        fn three<N, M>(x: f32[N, 40], y: f32[M, 40], b: f32[40], c: f32[1, 40]) -> (f32[N + M + 1, 40], f32[40]) {
            let z = concat([x, c, y], axis = 0) * b - c;
            (exp(-z) * z, sum(z, axes = [0]))
        }
        fn across<N>(x: f32[N, 3], y: f32[2, 3]) -> f32[N, 3] {
            let z = relu(concat([y, x, y], axis = 0));
            z[1..-3] * z[3..-1] + z[2..-2] * 2.0
        }
        fn inside<N>(x: f32[N, 3], y: f32[9, 3]) -> (f32[4, 2], f32[N, 3]) {
            let z = concat([y, x], axis = 0) * 3.0;
            (z[2..6, 1..] + z[3..7, ..2], z[9..] - x)
        }
        fn totals<N>(x: f64[N], y: f64[4]) -> (f64, f64[1], f64, f64, f64) {
            let z = concat([y, x]) * 2.0;
            (sum(z), sum(z, axes = [0], keepdims = true), max(z), prod(z), mean(z))
        }
        fn whole_numbers(x: i32[260], t: bool[300]) -> (i32[300], bool[300]) {
            let y = pad(x, low = [30], high = [10]);
            (where(t, y + 1, -y), y == 0)
        }
        fn masked(x: f32[260], y: f32[300]) -> f32 { sum(relu(pad(x, low = [0], high = [40]) * y) * y) }
        fn placed_twice(x: f32[300, 2]) -> f32 {
            let a = x[..100] * 2.0;
            let b = x[150..] / 3.0;
            sum(a * a) + sum(b) + sum(x[250..] * x[250..])
        }
        fn in_loops<N>(x: f64[N], y: f64[N]) -> f64 {
            let z = fold y = y for _i in 0..4 { y + 0.1 * x * concat([[1.0], y[..-1]]) };
            sum(z * z)
        }
        fn with_a_product(x: f32[20, 30], w: f32[30, 16], y: f32[4, 16]) -> f32[20, 16] {
            x @ w + concat([y, y, y, y, y], axis = 0)
        }
        fn read_twice(x: f32[200], y: f32[200]) -> (f32[400], f32) {
            let z = concat([x, y]);
            let t = z * z + 1.0;
            (t, sum(sqrt(t) * z))
        }
    ";
    let split = std::cell::Cell::new(0);
    for (name, module) in some("functions", functions(program)) {
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            let canonical = canonicalise(verified(&module));
            split.set(split.get() + usize::from(*optimise(&canonical) != *optimise_exactly(&canonical)));
            for seed in 1..4 {
                let Some(inputs) = random_inputs(&verified(&module), seed) else { continue };
                compare_on(&module, &[], &inputs).unwrap_or_else(|why| panic!("{name}: {why}"));
            }
        }
    }
    assert!(split.get() > 2, "{} functions have sections", split.get());
}

/// A step before a check does not write parts of results, neither rows nor columns.
#[test]
fn results_are_not_written_before_a_check() {
    let program = "
        fn columns(x: f64[20, 2], t: f64[9, 2]) -> (f64[20, 2], f64[20, 2]) {
            let y = exp(x[.., 0]) * x[.., 1];
            (stack([y, -y], axis = 1), gather(t, i64(y * 9.0)))
        }
        fn rows(x: f64[2, 20], t: f64[9, 2]) -> (f64[2, 20], f64[20, 2]) {
            let y = exp(x[0]) * x[1];
            (stack([y, -y], axis = 0), gather(t, i64(y * 9.0)))
        }
        fn beside(x: f64[2, 20], t: f64[9, 2]) -> (f64[2, 20], f64[20, 2]) {
            let y = exp(x[0]) * x[1];
            (stack([y - 1.0, y], axis = 0), gather(t, i64((y - 1.0) * 9.0)))
        }
    ";
    for (name, module) in some("functions", functions(program)) {
        let inputs = random_inputs(&verified(&module), 7).expect("known shapes");
        assert!(run_bounded(&verified(&module), &inputs).is_err(), "{name} fails");
        compare_on(&module, &[], &inputs).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// Zeros, infinities, NaN, and very large and small numbers in every input, up to the second derivative.
#[test]
fn special_values_give_what_the_interpreter_gives() {
    check_seeds(0..PROGRAMS / 4, &|module| {
        let first = gradient(module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module.clone()), first, second].into_iter().flatten() {
            let Some(inputs) = special_inputs(&verified(&module), 7) else { continue };
            compare_on(&module, &[], &inputs)?;
            has_nan_where_the_interpreter_has(&module, &inputs)?;
        }
        Ok(())
    });
}

/// Products that are large enough for every kernel, including the other crate's. Random programs have small extents.
#[test]
fn large_products_compute_what_the_interpreter_does() {
    let program = "
        fn layer(x: f32[140, 300], w: f32[300, 40], b: f32[40]) -> f32[140, 40] { relu(x @ w + b) }
        fn wide(x: f32[33, 8], w: f32[8, 530]) -> f32[33, 530] { (x @ w) * 0.5 }
        fn batched(x: f64[3, 40, 20], y: f64[3, 20, 44]) -> f64[3, 40, 44] { x @ y - 1.0 }
        fn transposed(x: f64[36, 270], y: f64[33, 36]) -> f64[270, 33] { x.T @ y.T }
    ";
    for (name, module) in some("functions", functions(program)) {
        let gradient = gradient(&module).expect("it has a gradient");
        for module in [module, gradient] {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Operations along the rows of a product, a few rows at a time: with sums over rows, rows of one batch and of several,
/// large results, and values that derivatives compute again.
#[test]
fn strips_of_products_compute_what_the_interpreter_does() {
    let program = "
        fn heads(q: f32[2, 3, 7, 2], k: f32[2, 3, 5, 2], v: f32[2, 3, 5, 4], see: bool[7, 5]) -> f32[2, 3, 7, 4] {
            nn::attention_masked(q, k, v, see)
        }
        fn groups(q: f64[2, 3, 4, 2], k: f64[2, 5, 2], v: f64[2, 5, 3]) -> f64[2, 3, 4, 3] {
            nn::attention_grouped(q, k, v)
        }
        fn twice(q: f64[2, 6, 2], k: f64[2, 6, 2], v: f64[2, 6, 2]) -> f64[2, 6, 2] {
            let y = nn::attention_causal(q, k, v);
            nn::attention(y, k * 2.0, y * sum(y))
        }
        fn square(x: f64[6, 2], w: f64[2, 2]) -> f64[6, 2] { tanh(x @ w @ x.T) @ x * 3.0 }
        fn scores(q: f32[2, 7, 2], k: f32[2, 9, 2]) -> (f32[2, 7, 9], f32[2, 7]) {
            let p = nn::softmax(q @ k.mT);
            (p, sum(p * p, axes = [-1]))
        }
        fn among_results(q: f64[5, 2], k: f64[7, 2], v: f64[7, 2]) -> (f64[5, 2], f64[5, 7]) {
            let e = exp(q @ k.T);
            (e @ v, relu(e - 1.0))
        }
        fn classes(x: f32[11, 2], w: f32[2, 9], b: f32[9], y: i64[11]) -> f32 {
            nn::cross_entropy(x @ w + b, minimum(maximum(y, 0), 8))
        }
        fn any_batch<B>(q: f32[B, 7, 2], k: f32[B, 5, 2], v: f32[B, 5, 2]) -> f32[B, 7, 2] {
            nn::attention(q, k, v)
        }
        fn one_row(q: f64[3, 1, 2], k: f64[3, 8, 2], v: f64[3, 8, 2]) -> f64[3, 1, 2] { nn::attention(q, k, v) }
        fn by_other_rows(a: f64[4, 3, 2], b: f64[4, 8, 2], w: f64[8, 8], c: f64[12, 2], d: f64[2, 8]) -> f64[12, 8] {
            let p = nn::softmax(a @ b.mT);
            reshape(p, [12, 8]) @ w + c @ d
        }
        fn two_that_need_each_other(
            q: f64[5, 2], k: f64[2, 9], c: f64[5, 2], d: f64[2, 11], vs: f64[9, 2], vt: f64[11, 2]
        ) -> (f64[5, 2], f64[5, 2]) {
            let s = q @ k;
            let x = s @ vs;
            let t = c @ d;
            let a = t @ vt;
            let e2 = exp(x[.., 0..1] * t * a[.., 0..1]);
            let o2 = e2 @ vt;
            let e1 = exp(x[.., 0..1] * s * a[.., 0..1]);
            (o2, e1 @ vs)
        }
        fn beside_a_check(q: f32[5, 2], k: f32[2, 9], t: f32[3, 2]) -> (f32[5], f32[5, 2]) {
            let e = exp(q @ k);
            (sum(e, axes = [1]), gather(t, i64(max(e, axes = [1]))))
        }
        fn before_a_check(q: f32[5, 2], k: f32[2, 9], t: f32[3, 2]) -> f32[5, 2] {
            gather(t, i64(0.0 * max(exp(q @ k), axes = [1])))
        }
        fn kept_for_a_later_pass(x: f64[4, 5, 4, 2], c: f64) -> f64[4, 5, 1, 1] {
            let d = cosh(x) - mean(cosh(x), axes = [2, 3], keepdims = true);
            let r = mean(d * d, axes = [2, 3], keepdims = true) + c;
            let m = (d * r)[2..3, 2..3, 3..4, 1..2];
            r @ m @ m
        }
        fn of_whole_numbers(a: i32[5, 2], b: i32[2, 9], c: i32[9, 3]) -> i32[5, 3] { (maximum(a @ b, 1)) @ c }
    ";
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        assert!(plan.steps.iter().any(|step| step.strips().is_some()), "{name} has strips");
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Columns that are masked in all rows of a strip are left out, unless the other factor is infinite, because 0 times
/// infinity is NaN.
#[test]
fn what_rows_do_not_see_changes_nothing() {
    let program = "
        fn causal(q: f32[2, 9, 2], k: f32[2, 9, 2], v: f32[2, 9, 3]) -> f32[2, 9, 3] { nn::attention_causal(q, k, v) }
        fn more_keys(q: f64[7, 2], k: f64[11, 2], v: f64[11, 3]) -> f64[7, 3] { nn::attention_causal(q, k, v) }
        fn more_queries(q: f32[11, 2], k: f32[7, 2], v: f32[7, 3]) -> f32[11, 3] { nn::attention_causal(q, k, v) }
        fn groups(q: f32[2, 3, 8, 2], k: f32[2, 8, 2], v: f32[2, 8, 3]) -> f32[2, 3, 8, 3] {
            nn::attention_grouped_causal(q, k, v)
        }
        fn biased(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3], bias: f32[9, 9]) -> f32[9, 3] {
            nn::attend(where(iota([9, 9], axis = 1) > iota([9, 9], axis = 0), -inf, q @ k + bias), v)
        }
        fn before_its_place(q: f64[9, 2], k: f64[2, 9], v: f64[9, 3]) -> f64[9, 3] {
            relu(where(iota([9, 9], axis = 0) > iota([9, 9], axis = 1), q @ k, 0.0)) @ v
        }
        fn up_to_two_ahead(q: f64[9, 2], k: f64[2, 9], v: f64[9, 3]) -> f64[9, 3] {
            let (i, j) = (iota([9, 9], axis = 0), iota([9, 9], axis = 1));
            where(i + 3 > j && j - i >= -4, exp(q @ k), 0.0) @ v
        }
        fn maxima(q: f64[9, 2], k: f64[2, 9], v: f64[9, 3]) -> (f64[9, 3], f64[9]) {
            let s = where(iota([9, 9], axis = 0) >= iota([9, 9], axis = 1), q @ k, -inf);
            (exp(s) @ v, max(s, axes = [1]))
        }
        fn whole_numbers(q: i32[9, 2], k: i32[2, 9], v: i32[9, 3]) -> i32[9, 3] {
            where(iota([9, 9], axis = 0) >= iota([9, 9], axis = 1), q @ k, 0) @ v
        }
    ";
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        let mut strips = plan.steps.iter().filter_map(|step| step.strips());
        assert!(strips.any(|strips| strips.seen.is_some()), "{name} leaves columns out");
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        second.iter().for_each(|second| compare(second, &[]).unwrap_or_else(|why| panic!("{name}: {why}")));
        for module in [Some(module), first].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
            for input in 0..module.inputs().count() {
                let mut inputs = random_inputs(&verified(&module), 7).expect("known shapes");
                match &mut inputs[input].elements {
                    Elements::F32(elements) => *elements.last_mut().expect("an element") = f32::INFINITY,
                    Elements::F64(elements) => *elements.last_mut().expect("an element") = f64::INFINITY,
                    _ => continue,
                }
                let compared = compare_on(&module, &[], &inputs)
                    .and_then(|()| has_nan_where_the_interpreter_has(&module, &inputs));
                compared.unwrap_or_else(|why| panic!("{name}, infinity at the end of input {input}: {why}"));
            }
        }
    }
}

/// Masked columns are kept if their values are used in another way.
#[test]
fn what_counts_without_being_seen_is_kept() {
    let program = "
        fn weights(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> (f32[9, 9], f32[9, 3]) {
            let p = nn::softmax(where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k, -inf));
            (p, p @ v)
        }
        fn little_is_not_nothing(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            nn::softmax(where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k, -1e3)) @ v
        }
        fn ones(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k, 1.0) @ v
        }
        fn a_sum_of_ones(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            let e = where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k, 0.0);
            (e @ v) / sum(cosh(e), axes = [1], keepdims = true)
        }
        fn behind_its_place(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            where(iota([9, 9], axis = 1) >= iota([9, 9], axis = 0), q @ k, 0.0) @ v
        }
        fn twice_as_far(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            where(iota([9, 9], axis = 1) <= 2 * iota([9, 9], axis = 0), q @ k, 0.0) @ v
        }
        fn any_mask(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3], see: bool[9, 9]) -> f32[9, 3] {
            nn::attention_masked(q, k.T, v, see)
        }
        fn of_rows_that_see_nothing(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            nn::softmax(where(iota([9, 9], axis = 1) < iota([9, 9], axis = 0), q @ k, -inf)) @ v
        }
        fn of_the_first_column(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            let (see, s) = (iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k);
            (where(see, s, 0.0)[.., 0..1] * where(see, s, 1.0)) @ v
        }
        fn the_first_column_spread(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            let s = where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), exp(q @ k), 0.0);
            broadcast_to(s[.., 0..1], [9, 9]) @ v
        }
        fn far_places(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            let (i, j) = (iota([9, 9], axis = 0), iota([9, 9], axis = 1));
            where(j - (-9223372036854775807 - 1) <= i + 9223372036854775807, q @ k, 0.0) @ v
        }
        fn not_a_number(q: f32[9, 2], k: f32[2, 9], v: f32[9, 3]) -> f32[9, 3] {
            (0.0 * where(iota([9, 9], axis = 1) <= iota([9, 9], axis = 0), q @ k, -inf)) @ v
        }
    ";
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        let strips: Vec<_> = plan.steps.iter().filter_map(|step| step.strips()).collect();
        assert!(!strips.is_empty(), "{name} has strips");
        assert!(strips.iter().all(|strips| strips.seen.is_none()), "{name} has all columns");
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// One value is used as several results, as the new value of a parameter, and in a check.
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
    for (name, module) in some("functions", functions(program)) {
        for updates in [Vec::new(), possible_updates(&module)] {
            compare(&module, &updates).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Cheap values are computed again where they are read, unless their operands are broadcast, transposed or of another
/// shape.
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
    for (name, module) in some("functions", functions(program)) {
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// A program of which parts are computed again for the gradient, so that a bound on memory is met.
#[test]
fn programs_in_parts_compute_what_whole_programs_do() {
    let parts = std::cell::Cell::new(0);
    check_seeds(0..PROGRAMS / 4, &|module| {
        let module = canonicalise(verified(module));
        let values = |module: &Module| {
            let module = verified(module);
            Some(run_bounded(&module, &random_inputs(&module, 7)?))
        };
        let whole = [values(&module), gradient(&module).and_then(|module| values(&module))];
        for (variant, _) in variants(&module).take(4) {
            parts.set(parts.get() + 1);
            let first = gradient(&variant);
            let found = [values(&variant), first.as_ref().and_then(values)];
            for (whole, found) in whole.iter().zip(found) {
                match (whole, found) {
                    (Some(Ok(whole)), Some(Ok(found))) => {
                        whole.iter().zip(found).try_for_each(|(whole, found)| whole.check(&found.value))?;
                    }
                    (Some(Err(_)), Some(Err(_))) | (None, None) => {}
                    (whole, found) => return Err(format!("{whole:?} and {found:?}")),
                }
            }
            compare(&variant, &[])?;
            first.map_or(Ok(()), |gradient| compare(&gradient, &[]))?;
        }
        Ok(())
    });
    assert!(parts.get() > 0, "no program has parts");
}

/// Programs for all kinds of loops: long rows and many rows, few and short rows, sums along each axis. Random programs
/// have small extents.
#[test]
fn every_kind_of_loop_computes_what_the_interpreter_does() {
    let program = "
        fn long_rows(x: f32[3, 5013]) -> (f32[3], f32[3]) { (sum(exp(x), axis = 1), max(x, axis = 1)) }
        fn rows_alone(x: f64[9, 700]) -> f64[9] { mean(x, axis = 1) }
        fn short_rows_alone(x: f32[200, 10]) -> f32[200] { mean(x, axis = 1) }
        fn short_rows(x: f32[200, 10], y: f32[200]) -> f32[200] { sum(exp(x), axis = 1) * 2.0 + y }
        fn normalised(x: f32[150, 10]) -> f32[150, 10] {
            let e = exp(x);
            e / sum(e, axis = 1, keepdims = true)
        }
        fn entropy(x: f32[77, 40]) -> f32 { mean(log(sum(exp(x), axis = 1))) }
        fn rows_and_total(x: f64[40, 33]) -> (f64[40], f64) {
            let s = sum(x * x, axis = 1);
            (s, max(s))
        }
        fn few_columns(x: f32[400, 3]) -> (f32[3], f32[400, 3]) {
            let y = x * 3.0;
            (mean(y, axis = 0), y)
        }
        fn columns(x: f32[133, 50], y: f32[133, 50]) -> f32[50] { sum(x * y, axis = 0) }
        fn many_columns(x: f32[70, 300], y: f32[300]) -> f32[300] { sum(x * y, axis = 0) }
        fn columns_alone(x: f64[90, 300]) -> f64[300] { mean(x, axis = 0) }
        fn least(x: i32[41, 300]) -> (i32[300], i32) { (min(x, axis = 0), prod(x)) }
        fn both_axes(x: f64[30, 40, 5]) -> (f64[40], f64[30, 5]) { (sum(x, axes = [0, 2]), sum(x, axis = 1)) }
        fn within_blocks(x: f32[3, 20, 30]) -> (f32[3, 30], f32[3, 20], f32[3]) {
            let e = exp(x - max(x, axes = [1, 2], keepdims = true));
            (sum(e, axis = 1), sum(e, axis = 2), sum(e, axes = [1, 2]))
        }
        fn total(x: f32[17000], y: f32[17000]) -> (f32, f32[17000]) {
            let z = exp(x) * y;
            (mean(z), z)
        }
        fn turned(x: f32[70, 50], y: f32[50, 70]) -> (f32[50, 70], f32[50, 70]) { (x.T, exp(x.T) - y) }
        fn across(x: f32[64, 40]) -> f32[40] { sum(log(x.T + 9.0), axis = 1) }
        fn tiny(x: f32[3, 4], w: f32[4, 5], b: f32[5]) -> f32[3, 5] { relu(x @ w + b) }
        fn layer(x: f32[20, 9], w: f32[9, 100], b: f32[100], c: f32[20, 1]) -> (f32[20, 100], f32[20, 100]) {
            let h = exp(x @ w + b) * c;
            (h, h - 1.0)
        }
        fn both(x: f32[20, 9], w: f32[9, 33]) -> f32[20, 33] {
            let y = x @ w;
            y + x @ (w - 0.1 * (x.T @ y))
        }
        fn pixels(x: f32[1, 7, 7, 2], k: f32[3, 3, 2, 40], b: f32[40]) -> f32[1, 5, 5, 40] {
            relu(conv2d(x, k) + b)
        }
    ";
    let mut kinds = BTreeSet::new();
    let mut modules = Vec::new();
    for (name, module) in functions(program) {
        for module in [Some(module.clone()), gradient(&module)].into_iter().flatten() {
            kinds.extend(kinds_of_statements(&module));
            modules.push((name.clone(), module));
        }
    }
    for (name, module) in some("functions and gradients", modules) {
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let expected = [
        "Array",
        "Assign",
        "Blocks",
        "Borrow",
        "Chains",
        "Chunk",
        "Chunks",
        "Columns",
        "Combine",
        "CombineChains",
        "CombineChains in lanes",
        "Copy",
        "CopyInto",
        "Cut",
        "Divide",
        "Elements",
        "Fill",
        "For",
        "If",
        "Mask",
        "Number",
        "OneByOne",
        "Padded",
        "ProductRow",
        "PutBack",
        "Size",
        "Store",
        "SumColumns",
        "SumRows",
        "TakeOut",
    ];
    assert_eq!(kinds.iter().map(|kind| &**kind).collect::<Vec<_>>(), expected);
}

/// The kinds of statements in the loops of a program.
fn kinds_of_statements(module: &Module) -> Vec<String> {
    let plan = plan(&optimise(&canonicalise(verified(module))), &[]);
    let mut kinds = Vec::new();
    for step in &plan.steps {
        let of = of_step(&plan, step);
        let Some(loops) = of.as_ref().and_then(LoweredStep::loops) else { continue };
        kinds.extend(matches!(loops.run, Execution::Cut(_)).then(|| "Cut".to_owned()));
        let mut rest: Vec<&Statement> = loops.body.iter().collect();
        while let Some(statement) = rest.pop() {
            let word = |text: String| text.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
            kinds.extend(match statement {
                Statement::Do(head, body) => {
                    rest.extend(body);
                    word(format!("{head:?}"))
                }
                Statement::CombineChains { lanes: true, .. } => Some("CombineChains in lanes".to_owned()),
                simple => word(format!("{simple:?}")),
            });
        }
    }
    kinds
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

/// Runs a check on every program. A failing program is shrunk as long as it still fails.
fn check_all(check: &dyn Fn(&Module) -> Result<(), String>) {
    check_seeds(0..PROGRAMS, check);
}

fn check_seeds(seeds: Range<u64>, check: &dyn Fn(&Module) -> Result<(), String>) {
    for seed in sample("random programs", seeds) {
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

/// Error bounds are useful only if they are narrow.
#[test]
fn nearly_every_result_is_known_to_four_digits() {
    // Each result counts as one, so that no large result dominates.
    let (mut results, mut known) = (0, 0.0);
    for seed in 0..PROGRAMS / 2 {
        let module = verified(&random_module(seed, 4 + (seed % 12) as usize));
        let Some(inputs) = random_inputs(&module, 7) else { continue };
        for Bounded { value, bounds } in run_bounded(&module, &inputs).into_iter().flatten() {
            let near = |(element, bound): &(f64, &f64)| **bound <= 1e-4 * element.abs().max(1.0);
            let near = value.elements.to_f64().into_iter().zip(&bounds).filter(near).count();
            results += 1;
            known += near as f64 / bounds.len() as f64;
        }
    }
    assert!(known > f64::from(results) * 0.9, "{known} of {results}");
}
