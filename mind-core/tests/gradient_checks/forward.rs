//! Forward mode against reverse mode, which is itself compared with differences: for any cotangent `u` and tangent `v`,
//! `u · (J v)` is `(Jᵀ u) · v`.

use mind_core::{
    canon::Canonical,
    grad::{differentiate, push_forward},
    interp::Array,
    ops::Profile,
    text::core_ir,
    ty::DType,
};

use super::{
    loops, programs,
    second_order::gradients_only,
    support::{Rng, arguments, bits, every_float, like, numbers, rows, run, single},
    table,
};
use crate::sample::sample;

/// Compares both modes. The difference may be `tolerance` times the sum of the magnitudes of all terms.
pub fn assert_modes_agree(what: &str, module: &Canonical, arguments: &[Array], tolerance: f64) {
    let options = every_float(module, Profile::Extended);
    let pushed = push_forward(module, &options.wrt).unwrap_or_else(|error| panic!("{what}: {error}")).module;
    let mut rng = Rng::new(what);
    let mut random = |value: &Array| like(value, |_| rng.between(-1.0, 1.0));
    let tangents: Vec<_> = options.wrt.iter().map(|wrt| random(&arguments[wrt.input.index()])).collect();
    let results = run(&pushed, &[arguments, &tangents].concat());
    let (values, slopes) = results.split_at(module.outputs().len());
    assert_eq!(bits(values), bits(&run(module, arguments)), "{what}: the results changed");
    let cotangents: Vec<_> = values.iter().map(&mut random).collect();
    let gradient = differentiate(module, &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    let results = run(&gradient.module, &[arguments, &cotangents].concat());
    let gradients = &results[module.outputs().len()..];

    let terms = |a: &[Array], b: &[Array]| -> Vec<f64> {
        let products = a.iter().zip(b).flat_map(|(a, b)| {
            numbers(a).into_iter().zip(numbers(b)).map(|(a, b)| a * b).collect::<Vec<_>>()
        });
        products.collect()
    };
    let (forward, reverse) = (terms(&cotangents, slopes), terms(gradients, &tangents));
    let scale: f64 = forward.iter().chain(&reverse).map(|term| term.abs()).sum();
    let difference: f64 = forward.iter().sum::<f64>() - reverse.iter().sum::<f64>();
    assert!(
        difference.abs() <= tolerance * scale.max(1.0),
        "{what}: forward {forward:?}, reverse {reverse:?}\nmodule\n{}pushed\n{}arguments {arguments:?}",
        core_ir::print(module),
        core_ir::print(&pushed)
    );
}

#[test]
fn every_case_of_every_operation_agrees_with_reverse_mode() {
    let mut checked = 0;
    for row in table::differentiable() {
        for (number, case) in table::float_cases(row, DType::F64).into_iter().enumerate() {
            let what = format!("{} case {number}", row.name);
            let module = single(&case.op, &case.operands);
            let given = arguments(&mut Rng::new(&what), &case.operands, row.sample.domain, rows(&case));
            assert_modes_agree(&what, &module, &given, 1e-9);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn loops_and_their_gradients_agree_with_reverse_mode() {
    for (what, program) in loops::PROGRAMS {
        let module = loops::module(program);
        let given = loops::given(what, &module);
        assert_modes_agree(what, &module, &given, 1e-9);
        let gradient = gradients_only(&module, &every_float(&module, Profile::Extended)).expect("it has one");
        let mut rng = Rng::new(what);
        let cotangents = run(&module, &given).into_iter();
        let cotangents = cotangents.map(|result| like(&result, |_| rng.between(-1.0, 1.0)));
        let given: Vec<Array> = given.into_iter().chain(cotangents).collect();
        assert_modes_agree(&format!("gradient of {what}"), &gradient, &given, 1e-8);
    }
}

#[test]
fn random_programs_agree_with_reverse_mode() {
    let mut checked = 0;
    for seed in sample("random programs", 0..2_000) {
        let Some((module, given)) = programs::smooth(seed) else { continue };
        assert_modes_agree(&format!("seed {seed}"), &module, &given, 1e-7);
        checked += 1;
    }
    assert!(checked > 0);
}
