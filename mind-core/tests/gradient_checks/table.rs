//! Compares gradients with central differences for every operation of the table × every case of its row × f32 and f64 ×
//! both profiles.

use mind_core::{
    canon::Canonical,
    dim::Dim,
    grad::{AutodiffError, differentiate},
    interp::Array,
    ir::{Inst, Module, Op, Part, Rows, ValueId, Window},
    map::Map,
    ops::{self, Derivative, OpInfo, Profile, sample::Case},
    opt::optimise,
    plan::plan,
    stablehlo,
    text::{core_ir, mic},
    ty::{DType, Type},
};

use super::extents::variants;
use super::support::{
    FLOATS, PROFILES, Rng, are_fractions, arguments, assert_gradients, build, every_float,
    jumps_between_integers, numbers, push, rows, run, single,
};
use crate::sample::{in_turn, sample, some};

#[test]
fn every_case_of_every_operation_agrees_with_central_differences() {
    let mut cases = Vec::new();
    for (at, row) in differentiable().enumerate() {
        for dtype in FLOATS {
            for (number, case) in float_cases(row, dtype).into_iter().enumerate() {
                let turn = at + number + usize::from(dtype == DType::F64);
                let what = format!("{} {dtype} case {number}", row.name);
                cases.extend(
                    in_turn(turn, PROFILES)
                        .into_iter()
                        .map(|profile| (row, case.clone(), profile, what.clone())),
                );
            }
        }
    }
    for (row, case, profile, what) in some("cases of operations", cases) {
        check(row, &case, &case, profile, &what);
    }
}

/// Replaces each extent above 1 of a case by a symbol, one at a time and all at once, where the rules allow it.
#[test]
fn cases_with_symbolic_extents_agree_with_central_differences() {
    let mut cases = Vec::new();
    for row in differentiable() {
        for case in float_cases(row, DType::F64) {
            cases.extend(symbolic_variants(&case).into_iter().map(|symbolic| (row, case.clone(), symbolic)));
        }
    }
    let cases = sample("cases with symbolic extents", cases);
    let mut checked = [0, 0];
    for (row, case, symbolic) in &cases {
        let what = format!("{} on {}", row.name, types(&symbolic.operands));
        for (profile, checked) in PROFILES.into_iter().zip(&mut checked) {
            *checked += usize::from(check(row, symbolic, case, profile, &what));
        }
    }
    // Core v1 refuses most of them: the remaining number varies with the sample.
    assert!(
        checked[0] * 10 > cases.len() * 9 && checked[1] * 10 > cases.len(),
        "{checked:?} of {}",
        cases.len()
    );
}

#[test]
fn every_operation_has_cases_unless_it_has_no_operands() {
    for row in ops::TABLE {
        let sampled = row.arity > 0 && !row.name.starts_with("Extern") && row.class != ops::WorkClass::Module;
        let cases = DType::ALL.map(|dtype| row.cases(dtype).len());
        assert_eq!(cases == [0; DType::ALL.len()], !sampled, "{}", row.name);
        // An operation with a derivative has one for both float types.
        for dtype in
            FLOATS.into_iter().filter(|_| sampled && differentiable().any(|other| other.name == row.name))
        {
            assert!(!row.cases(dtype).is_empty(), "{}", row.name);
        }
    }
}

#[test]
fn every_differentiable_operation_is_differentiated_in_both_profiles_or_refused_as_documented() {
    for row in differentiable() {
        for profile in PROFILES {
            for case in float_cases(row, DType::F32) {
                let module = single(&case.op, &case.operands);
                let refused = differentiate(&module, &every_float(&module, profile)).is_err();
                let expected = profile == Profile::CoreV1 && expects_e5001(&module);
                assert_eq!(refused, expected, "{} in {profile:?}", row.name);
            }
        }
    }
}

#[test]
fn operations_without_a_derivative_are_e5001() {
    for row in ops::TABLE {
        if let Derivative::Unsupported = row.derivative {
            for case in float_cases(row, DType::F32) {
                let module = single(&case.op, &case.operands);
                let error =
                    differentiate(&module, &every_float(&module, Profile::Extended)).expect_err(row.name);
                assert_eq!(error.code().info().name, "E5001", "{}", row.name);
            }
        }
    }
}

#[test]
fn operations_of_zero_derivative_give_zeros() {
    for row in ops::TABLE.iter().filter(|row| row.arity > 0) {
        if let Derivative::Zero = row.derivative {
            // If the first operand has the shape of the result, each of its elements has its full gradient.
            let is_whole = |case: &Case| {
                let module = single(&case.op, &case.operands);
                *module.ty(module.outputs()[0]) == case.operands[0]
            };
            let cases: Vec<_> = float_cases(row, DType::F64).into_iter().filter(is_whole).collect();
            let gives_floats = float_cases(row, DType::F64).iter().any(|case| {
                let module = single(&case.op, &case.operands);
                module.ty(module.outputs()[0]).dtype.is_float()
            });
            assert_eq!(cases.is_empty(), !gives_floats, "{}", row.name);
            for case in cases {
                // Combined with another operand that has a gradient, to check that its path is not lost.
                let module = build(&case.operands, |b, inputs| {
                    let stopped = push(b, case.op.clone(), inputs);
                    vec![push(b, Op::Map(Map::Mul), &[inputs[0], stopped])]
                });
                let mut rng = Rng::new(row.name);
                let mut given = arguments(&mut rng, &case.operands, row.sample.domain, rows(&case));
                let of = |profile| differentiate(&module, &every_float(&module, profile));
                assert_eq!(
                    of(Profile::CoreV1).expect_err(row.name).code().info().name,
                    "E5001",
                    "{}",
                    row.name
                );
                let gradient = of(Profile::Extended).expect(row.name);
                let result = run(&module, &given);
                given.extend(result.iter().cloned());
                let outputs = run(&gradient.module, &given);
                let factors = run(&single(&case.op, &case.operands), &given[..case.operands.len()]);
                let wanted: Vec<f64> =
                    numbers(&result[0]).iter().zip(numbers(&factors[0])).map(|(dy, y)| dy * y).collect();
                assert_eq!(numbers(&outputs[1]), wanted);
            }
        }
    }
}

/// Checks one case, or that it is refused where it should be. `literal` is the same case with known extents in place of
/// symbols. Returns whether gradients were compared.
fn check(row: &OpInfo, case: &Case, literal: &Case, profile: Profile, what: &str) -> bool {
    let module = single(&case.op, &case.operands);
    let mut rng = Rng::new(what);
    let mut draws = (0..64).map(|_| arguments(&mut rng, &literal.operands, row.sample.domain, rows(literal)));
    let is_smooth = |arguments: &Vec<Array>| {
        !jumps_between_integers(&literal.op)
            || are_fractions(&numbers(&run(&single(&Op::Map(Map::Div), &literal.operands), arguments)[0]))
    };
    let arguments = draws.find(is_smooth).expect("a few draws are away from where it jumps");
    let (narrow, wide) = row.sample.tolerance;
    let tolerance = if module.ty(module.outputs()[0]).dtype == DType::F32 { narrow } else { wide };
    match assert_gradients(what, &module, &arguments, profile, tolerance) {
        Ok(gradient) => {
            let refused = expects_e5001(&module) || expects_e5004(&module);
            assert!(profile == Profile::Extended || !refused, "{what}: Core v1 was to refuse it");
            let allowed = gradient.module.insts().iter().all(|inst| inst.op.info().profile <= profile);
            assert!(allowed, "{what}: an extension in a Core v1 gradient");
            true
        }
        Err(AutodiffError::UnsupportedOp { op, path, .. }) => {
            assert!(
                profile == Profile::CoreV1 && expects_e5001(&module),
                "{what}: refused in {profile:?}: {path}"
            );
            assert_eq!(op, row.name);
            false
        }
        Err(AutodiffError::UnsupportedShape(problem)) => {
            assert!(
                profile == Profile::CoreV1 && expects_e5004(&module),
                "{what}: refused in {profile:?}: {problem}"
            );
            false
        }
        Err(error) => panic!("{what} in {profile:?}: {error}"),
    }
}

/// Core v1 cannot differentiate a convolution, and cannot represent the extensions.
fn expects_e5001(module: &Module) -> bool {
    module.insts().iter().any(|Inst { op, .. }| {
        op.info().profile == Profile::Extended || matches!(op, Op::Window(Window::Conv2d(_)))
    })
}

fn expects_e5004(module: &Module) -> bool {
    let needs_extents = |op: &Op| {
        matches!(op, Op::Part(Part::Index { .. }) | Op::Part(Part::Slice(_)) | Op::Rows(Rows::Gather))
    };
    let symbolic = |value: &ValueId| module.ty(*value).shape.as_literals().is_none();
    module.insts().iter().any(|inst| needs_extents(&inst.op) && inst.operands.iter().any(symbolic))
}

pub fn differentiable() -> impl Iterator<Item = &'static OpInfo> {
    ops::TABLE.iter().copied().filter(|row| match row.derivative {
        Derivative::Rule | Derivative::Linear => true,
        Derivative::Zero | Derivative::Unsupported => false,
    })
}

pub fn float_cases(row: &OpInfo, dtype: DType) -> Vec<Case> {
    let cases = row.cases(dtype);
    cases.into_iter().filter(|case| case.operands.iter().any(|ty| ty.dtype == dtype)).collect()
}

fn types(types: &[Type]) -> String {
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// With extents of 2^40, one at a time and all at once, programs and gradients are planned and printed, or refused,
/// without allocating their elements.
#[test]
fn huge_extents_take_no_memory() {
    let huge = [const { 1_i64 << 40 }; 7].map(Dim::literal);
    let mut planned = 0;
    for row in ops::TABLE {
        for dtype in FLOATS {
            let cases = float_cases(row, dtype);
            for case in sample("cases", cases.iter().flat_map(|case| variants(case, &huge))) {
                let module = single(&case.op, &case.operands);
                goes_on(&module);
                for profile in PROFILES {
                    let gradient = differentiate(&module, &every_float(&module, profile));
                    planned += usize::from(gradient.map(|gradient| goes_on(&gradient.module)).is_ok());
                }
            }
        }
    }
    assert!(planned > 200, "{planned}");
}

/// Optimises, plans and prints a module.
fn goes_on(module: &Canonical) {
    let optimised = optimise(module);
    let _ = plan(&optimised, &[]);
    assert!(!core_ir::print(&optimised).is_empty() && !mic::print(&optimised).is_empty());
    // Some programs have no StableHLO text.
    let _ = stablehlo::print(module, &stablehlo::Options::default());
}

/// The case with extents replaced by symbols in all their occurrences, if it is still well typed.
fn symbolic_variants(case: &Case) -> Vec<Case> {
    variants(case, &["N", "M", "K", "P", "Q", "H", "W"].map(Dim::symbol))
}
