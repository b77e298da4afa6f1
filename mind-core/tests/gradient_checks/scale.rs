//! Differentiation takes time and space in proportion to the module.

use std::time::{Duration, Instant};

use mind_core::{
    canon::Canonical,
    grad::differentiate,
    ir::{Module, Op, Reduction},
    ops::Profile,
    ty::{DType, Shape, Type},
};

use crate::support::{PROFILES, build, canonical, push, scalar_options};

/// `length` operations, every value used more than once, and one weight used everywhere.
fn long_program(length: usize) -> Canonical {
    let types = [Type::new(DType::F32, Shape::literal(&[4, 4])), Type::new(DType::F32, Shape::literal(&[4]))];
    build(&types, |b, inputs| {
        let [mut x, w] = *inputs else { panic!("two inputs") };
        while b.insts().len() < length {
            let scaled = push(b, Op::Mul, &[x, w]);
            let relu = push(b, Op::Relu, &[scaled]);
            let power = push(b, Op::Exp, &[relu]);
            let sum = push(b, Op::Add, &[power, scaled]);
            x = push(b, Op::MatMul, &[sum, x]);
        }
        vec![push(b, Op::Sum(Reduction { axes: vec![0, 1], keepdims: false }), &[x])]
    })
}

fn fastest(module: &Canonical, profile: Profile) -> Duration {
    let time = || {
        let start = Instant::now();
        let gradient = differentiate(module, &scalar_options(&[0, 1], profile)).expect("differentiable");
        (start.elapsed(), gradient).0
    };
    (0..3).map(|_| time()).min().expect("three runs")
}

#[test]
fn time_grows_in_proportion_to_the_module() {
    let (short, long) = (long_program(2_000), long_program(16_000));
    for profile in PROFILES {
        let ratio = fastest(&long, profile).as_secs_f64() / fastest(&short, profile).as_secs_f64();
        // Linear is 8, quadratic 64.
        assert!(ratio < 24.0, "{profile:?}: 8 times the operations took {ratio} times as long");
    }
}

#[test]
fn ten_thousand_operations_are_verified_made_canonical_and_differentiated_in_a_moment() {
    let module = Module::clone(&long_program(10_000));
    // 50 ms in a release build; the tests run without optimisation, beside each other.
    let allowed = Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 50 });
    let time = || {
        let start = Instant::now();
        let module = canonical(module.clone());
        let gradient =
            differentiate(&module, &scalar_options(&[0, 1], Profile::Extended)).expect("differentiable");
        (start.elapsed(), gradient).0
    };
    // One quiet moment of the machine is enough to see it.
    let taken: Vec<_> = (0..20).map(|_| time()).take_while(|taken| *taken >= allowed).collect();
    assert!(taken.len() < 20, "it took {taken:?}");
}

#[test]
fn a_gradient_has_a_few_operations_for_each_of_the_primal() {
    let module = long_program(1_000);
    for (profile, factor) in PROFILES.into_iter().zip([4, 6]) {
        let gradient = differentiate(&module, &scalar_options(&[0, 1], profile)).expect("differentiable");
        let (found, of) = (gradient.module.insts().len(), module.insts().len());
        assert!(found < factor * of, "{profile:?}: {found} operations for {of}");
    }
}
