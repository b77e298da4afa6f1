//! The operations of derivatives in Core v1, and the agreement of both profiles.

use mind_core::{
    canon::Canonical,
    diag::Code,
    dim::Dim,
    grad::{Cotangent, Gradient, GradientOptions, Wrt, differentiate},
    ir::{Const, Module, Op, Part, Product, Reduction, Rows, Slice, ValueId},
    map::Map,
    ops::{self, Derivative, Profile, sample::Domain},
    reduce::Reduce,
    ty::{DType, Shape, Type},
    verify::verify,
};

use super::support::{
    FLOATS, PROFILES, Rng, arguments, build, canonical, every_float, like, numbers, push, rows, run,
    scalar_options, single, vector,
};

fn f32s(extents: &[i64]) -> Type {
    Type::new(DType::F32, Shape::literal(extents))
}

/// The names of the operations besides those of the primal and the inputs, in order.
fn operations(gradient: &Gradient, primal: &Module) -> Vec<&'static str> {
    let mut names: Vec<_> = gradient.module.insts().iter().map(|inst| inst.op.info().name).collect();
    for name in primal.insts().iter().map(|inst| inst.op.info().name).chain(["Input"]) {
        if let Some(position) = names.iter().position(|other| *other == name) {
            names.remove(position);
        }
    }
    names.sort_unstable();
    names
}

fn made_of(module: &Canonical, profile: Profile) -> Vec<&'static str> {
    let options = GradientOptions { cotangent: Cotangent::Input, ..every_float(module, profile) };
    operations(&differentiate(module, &options).expect("differentiable"), module)
}

fn of_single(op: Op, operands: &[Type], profile: Profile) -> Vec<&'static str> {
    made_of(&single(&op, operands), profile)
}

#[test]
fn core_v1_is_made_of_what_the_documentation_says() {
    let symbolic = Type::new(DType::F32, Shape::new([Dim::symbol("N"), 3.into()]));
    let rows = Reduction { axes: vec![0], keepdims: false };
    let keep = Reduction { axes: vec![0], keepdims: true };
    let slice = Slice { starts: vec![0.into(), 1.into()], ends: vec![4.into(), 3.into()], steps: vec![1, 1] };
    let one = |op, operands: &[Type]| of_single(op, operands, Profile::CoreV1);

    // The broadcast needs ones: a constant for known extents, `relu(-relu(x)) + 1` for others.
    assert_eq!(one(Op::Reduce(Reduce::Sum, keep.clone()), &[f32s(&[2, 3])]), ["ConstTensor", "Mul"]);
    assert_eq!(
        one(Op::Reduce(Reduce::Sum, rows.clone()), std::slice::from_ref(&symbolic)),
        ["Add", "ConstF32", "ExpandDims", "Mul", "Neg", "Relu", "Relu"]
    );
    // The factor 1/n.
    assert_eq!(
        one(Op::Reduce(Reduce::Mean, keep.clone()), &[f32s(&[2, 3])]),
        ["ConstF32", "ConstTensor", "Mul", "Mul"]
    );
    // Sums that reduce to the operand's shape.
    assert_eq!(one(Op::Map(Map::Add), &[f32s(&[2, 3]), f32s(&[1, 3])]), ["Sum"]);
    assert_eq!(one(Op::Map(Map::Add), &[f32s(&[2, 3]), f32s(&[3])]), ["Sum"]);
    assert_eq!(one(Op::Map(Map::Add), &[symbolic.clone(), f32s(&[1, 3])]), ["Sum"]);
    let stretched = Type::new(DType::F32, Shape::new([Dim::symbol("N"), 1.into()]));
    assert_eq!(one(Op::Map(Map::Add), &[f32s(&[2, 1, 3]), stretched]), ["Squeeze", "Sum", "Sum"]);
    // dy * exp(-y).
    assert_eq!(one(Op::Map(Map::Log), &[f32s(&[3])]), ["Exp", "Mul", "Neg"]);
    // The mask: 1 - relu(1 - relu((x * B) * B)).
    assert_eq!(
        one(Op::Map(Map::Relu), &[f32s(&[3])]),
        ["ConstF32", "ConstF32", "Mul", "Mul", "Mul", "Relu", "Relu", "Sub", "Sub"]
    );
    // One one-hot constant per axis.
    let index = Op::Part(Part::Index { indices: vec![1.into(), 2.into()] });
    assert_eq!(one(index, &[f32s(&[2, 3])]), ["ConstTensor", "ConstTensor", "ExpandDims", "Mul", "Mul"]);
    // The first axis is taken whole. The second axis is gathered and masked.
    assert_eq!(
        one(Op::Part(Part::Slice(Box::new(slice))), &[f32s(&[4, 5])]),
        ["ConstTensor", "ConstTensor", "Gather", "Mul", "Transpose", "Transpose"]
    );
    // relu(1 - |i - iota|), applied by a matrix product.
    assert_eq!(
        one(Op::Rows(Rows::Gather), &[f32s(&[5, 2]), Type::new(DType::I32, Shape::literal(&[3]))]),
        [
            "Add",
            "ConstF32",
            "ConstTensor",
            "Gather",
            "MatMul",
            "Neg",
            "Relu",
            "Relu",
            "Relu",
            "Reshape",
            "Reshape",
            "Sub",
            "Sub"
        ]
    );
}

#[test]
fn extended_is_made_of_the_fast_operations() {
    let rows = Reduction { axes: vec![0], keepdims: false };
    let slice = Slice { starts: vec![1.into()], ends: vec![3.into()], steps: vec![1] };
    let one = |op, operands: &[Type]| of_single(op, operands, Profile::Extended);
    assert_eq!(one(Op::Reduce(Reduce::Sum, rows.clone()), &[f32s(&[3])]), ["BroadcastTo", "ExpandDims"]);
    assert_eq!(
        one(Op::Reduce(Reduce::Mean, rows), &[f32s(&[3])]),
        ["BroadcastTo", "ConstF32", "Div", "ExpandDims"]
    );
    assert_eq!(one(Op::Map(Map::Relu), &[f32s(&[3])]), ["ReluGrad"]);
    assert_eq!(one(Op::Map(Map::Log), &[f32s(&[3])]), ["DivKeepZero"]);
    assert_eq!(one(Op::Part(Part::Slice(Box::new(slice))), &[f32s(&[4])]), ["SliceGrad"]);
    let indices = Type::new(DType::I64, Shape::literal(&[3]));
    assert_eq!(one(Op::Rows(Rows::Gather), &[f32s(&[5, 2]), indices]), ["ScatterAdd"]);
}

#[test]
fn no_constant_of_core_v1_is_larger_than_an_extent() {
    let long = 1000;
    let indices = Type::new(DType::I32, Shape::literal(&[long]));
    let slice = Slice {
        starts: vec![1.into(), 0.into()],
        ends: vec![(long - 1).into(), (long / 2).into()],
        steps: vec![2, 1],
    };
    for (op, operands) in [
        (Op::Rows(Rows::Gather), vec![f32s(&[long, long]), indices]),
        (Op::Part(Part::Slice(Box::new(slice))), vec![f32s(&[long, long])]),
        (Op::Part(Part::Index { indices: vec![3.into(), 4.into()] }), vec![f32s(&[long, long])]),
        (
            Op::Reduce(Reduce::Mean, Reduction { axes: vec![0, 1], keepdims: false }),
            vec![f32s(&[long, long])],
        ),
        (Op::Map(Map::Relu), vec![f32s(&[long, long])]),
    ] {
        let module = single(&op, &operands);
        let gradient =
            differentiate(&module, &every_float(&module, Profile::CoreV1)).expect("differentiable");
        for inst in gradient.module.insts() {
            if let Op::Const(Const::Tensor { data, shape }) = &inst.op {
                assert!(data.stored() <= long as usize, "{op:?}: a constant of shape {shape}");
            }
        }
    }
}

#[test]
fn gradients_verify_in_their_profile() {
    for row in ops::TABLE {
        for dtype in FLOATS {
            for case in row.cases(dtype) {
                let module = single(&case.op, &case.operands);
                for profile in PROFILES {
                    if let Ok(gradient) = differentiate(&module, &every_float(&module, profile)) {
                        let found = verify(Module::clone(&gradient.module), profile);
                        assert!(found.is_ok(), "{} in {profile:?}: {found:?}", row.name);
                    }
                }
            }
        }
    }
}

#[test]
fn both_profiles_agree_on_every_case() {
    for row in ops::TABLE {
        match row.derivative {
            Derivative::Rule | Derivative::Linear => {}
            Derivative::Zero | Derivative::Unsupported => continue,
        }
        for dtype in FLOATS {
            for case in row.cases(dtype) {
                let module = single(&case.op, &case.operands);
                let Ok(core) = differentiate(&module, &every_float(&module, Profile::CoreV1)) else {
                    continue;
                };
                let extended =
                    differentiate(&module, &every_float(&module, Profile::Extended)).expect(row.name);
                let mut given =
                    arguments(&mut Rng::new(row.name), &case.operands, row.sample.domain, rows(&case));
                let results = run(&module, &given);
                given.extend(results.iter().map(|result| like(result, |i| 1.0 / (1.0 + i as f64))));
                let eps = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
                for (a, b) in run(&core.module, &given).iter().zip(run(&extended.module, &given)) {
                    for (a, b) in numbers(a).into_iter().zip(numbers(&b)) {
                        assert!((a - b).abs() <= 8.0 * eps * b.abs().max(1.0), "{}: {a} and {b}", row.name);
                    }
                }
            }
        }
    }
}

#[test]
fn a_stop_gradient_stops_derivatives_of_every_order_in_extended() {
    let module = build(&[f32s(&[])], |b, inputs| {
        let twice = push(b, Op::Map(Map::Add), &[inputs[0], inputs[0]]);
        let stopped = push(b, Op::Map(Map::StopGradient), &[twice]);
        vec![push(b, Op::Map(Map::Mul), &[inputs[0], stopped])]
    });
    let gradient = differentiate(&module, &scalar_options(&[0], Profile::Extended)).expect("differentiable");
    let three = [super::support::scalar(DType::F32, 3.0)];
    let numbers_of = |module: &Canonical| -> Vec<f64> {
        run(module, &three).iter().map(|output| numbers(output)[0]).collect()
    };
    assert_eq!(numbers_of(&gradient.module), [18.0, 6.0]);
    let (insts, outputs) = Module::clone(&gradient.module).into_parts();
    let slope = canonical(Module::from_parts(insts, outputs[1..].into()));
    let second = differentiate(&slope, &zero_ok(Profile::Extended)).expect("differentiable");
    assert_eq!(numbers_of(&second.module), [6.0, 0.0]);
}

#[test]
fn core_v1_refuses_what_only_a_stop_gradient_keeps_a_derivative_from() {
    // For the gradient by `a`, by `b` or by neither: a second derivative by `a` would pass through the stop gradient.
    for wrt in [&[0][..], &[1], &[]] {
        let module = build(&[f32s(&[]), f32s(&[])], |b, inputs| {
            let stopped = push(b, Op::Map(Map::StopGradient), &inputs[..1]);
            let product = push(b, Op::Map(Map::Mul), &[stopped, inputs[0]]);
            vec![push(b, Op::Map(Map::Mul), &[product, inputs[1]])]
        });
        let error = differentiate(&module, &scalar_options(wrt, Profile::CoreV1)).expect_err("it would pass");
        assert_eq!(error.code(), Code::E5001, "{error}");
        assert!(error.to_string().starts_with("`StopGradient` has no derivative in this profile"), "{error}");
    }
    // No derivative reaches a constant or an integer.
    let module = build(&[f32s(&[4]), Type::new(DType::I64, Shape::literal(&[2]))], |b, inputs| {
        let half = b.constant(DType::F32, 0.5);
        let stopped = [half, inputs[1]].map(|operand| push(b, Op::Map(Map::StopGradient), &[operand]));
        let scaled = push(b, Op::Map(Map::Mul), &[inputs[0], stopped[0]]);
        vec![push(b, Op::Rows(Rows::Gather), &[scaled, stopped[1]])]
    });
    let gradient = differentiate(&module, &every_float(&module, Profile::CoreV1)).expect("nothing to stop");
    assert!(gradient.module.insts().iter().all(|inst| inst.op.info().profile == Profile::CoreV1));
}

/// Differentiates by the first input, which need not reach the output.
fn zero_ok(profile: Profile) -> GradientOptions {
    GradientOptions {
        wrt: vec![Wrt { input: ValueId::new(0), zero_ok: true }],
        profile,
        ..GradientOptions::default()
    }
}

#[test]
fn cotangent_inputs_follow_the_inputs_under_names_that_are_free() {
    let names = |inputs: &[&str], outputs: usize| {
        let mut b = mind_core::build::Builder::new();
        let values: Vec<ValueId> =
            inputs.iter().map(|name| b.input(*name, f32s(&[2])).expect("an input")).collect();
        let outputs: Vec<_> = (0..outputs).map(|_| push(&mut b, Op::Map(Map::Exp), &values[..1])).collect();
        let module = canonical(b.finish(outputs));
        let gradient =
            differentiate(&module, &every_float(&module, Profile::Extended)).expect("differentiable");
        gradient.module.inputs().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["x"], 1), ["x", "cotangent"]);
    assert_eq!(names(&["x"], 3), ["x", "cotangent", "cotangent1", "cotangent2"]);
    assert_eq!(
        names(&["cotangent", "cotangent1"], 2),
        ["cotangent", "cotangent1", "cotangent2", "cotangent3"]
    );
}

#[test]
fn several_outputs_add_their_cotangents() {
    let module = build(&[f32s(&[2])], |b, inputs| {
        let twice = push(b, Op::Map(Map::Add), &[inputs[0], inputs[0]]);
        vec![twice, inputs[0], twice]
    });
    for profile in PROFILES {
        let gradient = differentiate(&module, &every_float(&module, profile)).expect("linear");
        let given =
            [[1.0, 2.0], [10.0, 20.0], [100.0, 200.0], [0.5, 0.25]].map(|pair| vector(DType::F32, &pair));
        let outputs = run(&gradient.module, &given);
        assert_eq!(numbers(&outputs[3]), [121.0, 240.5]);
    }
}

#[test]
fn each_recorded_gradient_is_that_of_its_value() {
    // f = sum(k) with k = h * w and h = exp(x).
    let sum = || Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: false });
    let module = build(&[f32s(&[2]), f32s(&[2])], |b, inputs| {
        let h = push(b, Op::Map(Map::Exp), &inputs[..1]);
        let k = push(b, Op::Map(Map::Mul), &[h, inputs[1]]);
        vec![push(b, sum(), &[k])]
    });
    for profile in PROFILES {
        let gradient = differentiate(&module, &scalar_options(&[0, 1], profile)).expect("differentiable");
        assert!(gradient.gradients.is_sorted_by(|a, b| a.0 < b.0));
        let given = [vector(DType::F32, &[0.0, 0.0]), vector(DType::F32, &[3.0, 5.0])];
        let mut found = Vec::new();
        for (value, of) in &gradient.gradients {
            assert_eq!(gradient.module.ty(*value), gradient.module.ty(*of), "{value} and its gradient {of}");
            let (insts, _) = Module::clone(&gradient.module).into_parts();
            let outputs = run(&canonical(Module::from_parts(insts, vec![*of])), &given);
            found.push((gradient.module.inst(*value).op.info().name, numbers(&outputs[0])));
        }
        let named = |name| {
            found.iter().filter(|(other, _)| *other == name).map(|(_, of)| of.clone()).collect::<Vec<_>>()
        };
        assert_eq!(named("Input"), [[3.0, 5.0], [1.0, 1.0]]);
        assert_eq!(named("Exp"), [[3.0, 5.0]]);
        let position = gradient.module.outputs()[1];
        assert!(gradient.gradients.contains(&(ValueId::new(0), position)));
    }
}

#[test]
fn a_parameter_asked_for_twice_is_given_twice() {
    let module =
        build(&[f32s(&[2])], |b, inputs| vec![push(b, Op::Product(Product::Dot), &[inputs[0], inputs[0]])]);
    for profile in PROFILES {
        let gradient = differentiate(&module, &scalar_options(&[0, 0], profile)).expect("differentiable");
        let outputs = run(&gradient.module, &[vector(DType::F32, &[1.0, 2.0])]);
        assert_eq!(
            outputs.iter().map(numbers).collect::<Vec<_>>(),
            [vec![5.0], vec![2.0, 4.0], vec![2.0, 4.0]]
        );
    }
}

#[test]
fn gradients_that_the_outputs_do_not_need_leave_no_code_behind() {
    // For the gradient by `b` alone, the path to `a` is not differentiated.
    let module = build(&[f32s(&[3]), f32s(&[3])], |b, inputs| {
        let power = push(b, Op::Map(Map::Exp), &inputs[..1]);
        let log = push(b, Op::Map(Map::Log), &[power]);
        vec![push(b, Op::Map(Map::Add), &[log, inputs[1]])]
    });
    for profile in PROFILES {
        let by_b = GradientOptions { cotangent: Cotangent::Input, ..scalar_options(&[1], profile) };
        let gradient = differentiate(&module, &by_b).expect("differentiable");
        assert_eq!(operations(&gradient, &module), Vec::<&str>::new());
    }
}

#[test]
fn linear_operations_read_no_argument() {
    // The gradient of a row that is marked linear must not depend on the values of its operands.
    for row in ops::TABLE {
        let Derivative::Linear = row.derivative else { continue };
        for case in row.cases(DType::F64) {
            let module = single(&case.op, &case.operands);
            let gradient = differentiate(&module, &every_float(&module, Profile::Extended)).expect(row.name);
            let at = |name: &str| {
                let mut rng = Rng::new(name);
                let mut given = arguments(&mut rng, &case.operands, Domain::Any, rows(&case));
                for (position, ty) in case.operands.iter().enumerate().filter(|(_, ty)| ty.dtype.is_integer())
                {
                    given[position] = like(&given[position], |i| (i as i64 % rows(&case)) as f64);
                    assert!(ty.dtype.is_integer());
                }
                let results = run(&module, &given);
                given.extend(results.iter().map(|result| like(result, |i| 1.0 + i as f64)));
                run(&gradient.module, &given)[results.len()..].iter().map(numbers).collect::<Vec<_>>()
            };
            assert_eq!(at("here"), at("there"), "{}", row.name);
        }
    }
}
