//! Modules that cannot be differentiated: the messages and paths of their errors.

use mind_core::{
    canon::Canonical,
    dim::Dim,
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, differentiate},
    ir::{Convolution, Op, Padding, Part, Reduction, Rows, Slice, ValueId, Window},
    map::Map,
    ops::Profile,
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

use super::support::{PROFILES, build, numbers, push, run, scalar, scalar_options, vector};

fn f32s(extents: &[i64]) -> Type {
    Type::new(DType::F32, Shape::literal(extents))
}

fn sum() -> Op {
    Op::Reduce(Reduce::Sum, Reduction { axes: vec![0], keepdims: false })
}

fn error(module: &Canonical, options: &GradientOptions) -> (&'static str, String) {
    let error = differentiate(module, options).expect_err("cannot be differentiated");
    (error.code().info().name, error.to_string())
}

#[test]
fn a_type_that_core_v1_lacks_is_e5001_there() {
    for dtype in [DType::Bool, DType::U8] {
        let module = build(&[f32s(&[3]), Type::new(dtype, Shape::literal(&[3]))], |b, inputs| {
            vec![push(b, sum(), &inputs[..1])]
        });
        let problem =
            format!("Core v1 has no `{dtype}`, so a module that has it has no gradient in this profile");
        assert_eq!(error(&module, &scalar_options(&[0], Profile::CoreV1)), ("E5001", problem));
        assert!(differentiate(&module, &scalar_options(&[0], Profile::Extended)).is_ok());
    }
}

#[test]
fn an_operation_without_a_rule_is_e5001_with_the_path_to_the_parameter() {
    let convolution = Convolution { strides: vec![1, 1], padding: Padding::Same };
    let module = build(&[f32s(&[1, 4, 4, 2]), f32s(&[3, 3, 2, 5])], |b, inputs| {
        let y = push(b, Op::Window(Window::Conv2d(convolution)), inputs);
        let y = push(b, Op::Map(Map::Relu), &[y]);
        vec![push(b, Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1, 2, 3], keepdims: false }), &[y])]
    });
    let found =
        differentiate(&module, &scalar_options(&[1], Profile::CoreV1)).expect_err("Conv2d in Core v1");
    let path = "%4 Sum <- %3 Relu <- %2 Conv2d <- %1 b".to_owned();
    assert_eq!(found, AutodiffError::UnsupportedOp { op: "Conv2d", value: ValueId::new(2), path });
    assert_eq!(
        (found.code().info().name, found.to_string().as_str()),
        (
            "E5001",
            "`Conv2d` has no derivative in this profile; it is on the path %4 Sum <- %3 Relu <- %2 Conv2d <- %1 b"
        )
    );
    assert!(differentiate(&module, &scalar_options(&[1], Profile::Extended)).is_ok());
}

#[test]
fn a_convolution_beside_the_path_is_no_obstacle() {
    let convolution = Convolution { strides: vec![1, 1], padding: Padding::Valid };
    for join in [Op::Map(Map::Add), Op::Map(Map::Mul)] {
        let module = build(&[f32s(&[1, 1, 1, 1]), f32s(&[1, 1, 1, 1]), f32s(&[])], |b, inputs| {
            let y = push(b, Op::Window(Window::Conv2d(convolution.clone())), &inputs[..2]);
            let y =
                push(b, Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1, 2, 3], keepdims: false }), &[y]);
            vec![push(b, join.clone(), &[y, inputs[2]])]
        });
        assert!(differentiate(&module, &scalar_options(&[2], Profile::CoreV1)).is_ok(), "{join:?}");
    }
}

#[test]
fn an_extension_in_the_primal_is_e5001_in_core_v1_wherever_it_stands() {
    let module = build(&[f32s(&[3]), f32s(&[3])], |b, inputs| {
        let quotient = push(b, Op::Map(Map::Div), &[inputs[0], inputs[0]]);
        let product = push(b, Op::Map(Map::Mul), &[quotient, inputs[1]]);
        vec![push(b, sum(), &[product])]
    });
    let (code, message) = error(&module, &scalar_options(&[1], Profile::CoreV1));
    assert_eq!(code, "E5001");
    assert!(message.ends_with("it is on the path %4 Sum <- %3 Mul <- %2 Div"), "{message}");
    let (_, message) = error(&module, &scalar_options(&[0], Profile::CoreV1));
    assert!(message.ends_with("it is on the path %4 Sum <- %3 Mul <- %2 Div <- %0 a"), "{message}");
}

#[test]
fn a_long_path_is_shortened_in_the_middle() {
    let module = build(&[f32s(&[]), f32s(&[])], |b, inputs| {
        let mut y = push(b, Op::Map(Map::Div), inputs);
        for _ in 0..30 {
            y = push(b, Op::Map(Map::Exp), &[y]);
        }
        vec![y]
    });
    let (_, message) = error(&module, &scalar_options(&[1], Profile::CoreV1));
    let path = "%32 Exp <- %31 Exp <- %30 Exp <- … 26 more … <- %3 Exp <- %2 Div <- %1 b";
    assert!(message.ends_with(path), "{message}");
}

#[test]
fn an_output_that_is_not_one_float_is_e5004() {
    for profile in PROFILES {
        let vector = build(&[f32s(&[3])], |b, inputs| vec![push(b, Op::Map(Map::Exp), inputs)]);
        let (code, message) = error(&vector, &scalar_options(&[0], profile));
        assert_eq!(
            (code, message.as_str()),
            ("E5004", "the output is f32[3], needed a single f32, or a cotangent")
        );

        let two = build(&[f32s(&[])], |b, inputs| vec![push(b, Op::Map(Map::Exp), inputs), inputs[0]]);
        let (code, message) = error(&two, &scalar_options(&[0], profile));
        assert_eq!(
            (code, message.as_str()),
            ("E5004", "there are 2 outputs, f32, f32; needed one output, or one cotangent per output")
        );

        let integers = build(&[Type::scalar(DType::I64), f32s(&[])], |b, inputs| {
            vec![push(b, Op::Map(Map::Add), &[inputs[0], inputs[0]])]
        });
        for cotangent in [Cotangent::One, Cotangent::Input] {
            let (code, message) =
                error(&integers, &GradientOptions { cotangent, ..scalar_options(&[1], profile) });
            assert_eq!(code, "E5004");
            assert_eq!(message, "the output is i64, needed f32 or f64: only floats have a derivative");
        }
    }
}

#[test]
fn unknown_extents_are_e5004_where_core_v1_needs_them() {
    let unknown = Type::new(DType::F32, Shape::new(vec![Dim::symbol("N"), 4.into()]));
    let everything = Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1], keepdims: false });
    let slice =
        Slice { starts: vec![0.into(); 2], ends: vec![Dim::symbol("N"), 2.into()], steps: vec![1, 1] };
    let cases = [
        (Op::Part(Part::Slice(Box::new(slice))), vec![unknown.clone()], Some(everything.clone())),
        (Op::Part(Part::Index { indices: vec![0.into(), 1.into()] }), vec![unknown.clone()], None),
        (
            Op::Rows(Rows::Gather),
            vec![unknown.clone(), Type::new(DType::I32, Shape::literal(&[3]))],
            Some(everything),
        ),
    ];
    for (op, operands, reduction) in cases {
        let name = op.info().name;
        let module = build(&operands, |b, inputs| {
            let y = push(b, op.clone(), inputs);
            vec![reduction.map_or(y, |reduction| push(b, reduction, &[y]))]
        });
        let (code, message) = error(&module, &scalar_options(&[0], Profile::CoreV1));
        assert_eq!(code, "E5004", "{message}");
        assert!(message.starts_with(&format!("`{name}`: ")), "{message}");
        assert!(message.contains("[N, 4]") && message.contains(&format!("{name} <- %0 a")), "{message}");
        assert!(differentiate(&module, &scalar_options(&[0], Profile::Extended)).is_ok(), "{name}");
    }
}

#[test]
fn more_rows_than_a_constant_lists_are_e5004_in_core_v1() {
    for (dtype, rows, fits) in
        [(DType::F32, 1 << 24, true), (DType::F32, (1 << 24) + 1, false), (DType::F64, 1 << 40, false)]
    {
        let module =
            build(&[Type::new(dtype, Shape::literal(&[rows])), Type::scalar(DType::I64)], |b, inputs| {
                vec![push(b, Op::Rows(Rows::Gather), inputs)]
            });
        let options = GradientOptions { ..scalar_options(&[0], Profile::CoreV1) };
        match differentiate(&module, &options) {
            Ok(_) => assert!(fits),
            Err(error) => {
                assert!(!fits, "{error}");
                assert_eq!(error.code().info().name, "E5004");
                let message = format!("an axis of [{rows}] has more than 16777216 positions");
                assert!(error.to_string().contains(&message), "{error}");
            }
        }
    }
}

#[test]
fn a_parameter_of_integers_is_e5005() {
    let module = build(
        &[f32s(&[3]), Type::new(DType::I32, Shape::literal(&[2])), Type::scalar(DType::I64)],
        |b, inputs| {
            let y = push(b, Op::Rows(Rows::Gather), &inputs[..2]);
            vec![push(b, sum(), &[y])]
        },
    );
    for profile in PROFILES {
        for zero_ok in [false, true] {
            let by = |position| {
                let wrt = vec![Wrt { input: ValueId::new(position), zero_ok }];
                error(&module, &GradientOptions { wrt, ..scalar_options(&[], profile) })
            };
            let indices = "`b` is i32[2], needed f32 or f64; it reaches the output only as gather indices";
            assert_eq!(by(1), ("E5005", indices.into()));
            assert_eq!(by(2), ("E5005", "`c` is i64, needed f32 or f64".into()));
        }
    }
}

#[test]
fn a_value_that_is_no_input_is_e5005() {
    let module = build(&[f32s(&[])], |b, inputs| vec![push(b, Op::Map(Map::Exp), inputs)]);
    for position in [1, 2, 1000] {
        let found = error(&module, &scalar_options(&[position], Profile::Extended));
        assert_eq!(found, ("E5005", format!("%{position} is not an input")));
    }
}

#[test]
fn a_parameter_that_does_not_reach_the_output_is_e5005_or_zeros() {
    let n = Shape::new(vec![Dim::symbol("N")]);
    let inputs = [f32s(&[]), f32s(&[2]), Type::new(DType::F32, n), f32s(&[])];
    let module = build(&inputs, |b, inputs| vec![push(b, Op::Map(Map::Exp), &inputs[..1])]);
    for profile in PROFILES {
        assert_eq!(
            error(&module, &scalar_options(&[0, 1], profile)),
            ("E5005", "`b` does not reach the output".into())
        );
        let wrt =
            (0..4).map(|position| Wrt { input: ValueId::new(position), zero_ok: position > 0 }).collect();
        let gradient =
            differentiate(&module, &GradientOptions { wrt, ..scalar_options(&[], profile) }).expect("zeros");
        let nan = f64::NAN;
        let arguments = [
            scalar(DType::F32, 0.0),
            vector(DType::F32, &[nan, 1.0]),
            vector(DType::F32, &[nan, f64::INFINITY, -1.0]),
            scalar(DType::F32, nan),
        ];
        let outputs: Vec<_> = run(&gradient.module, &arguments).iter().map(numbers).collect();
        assert_eq!(outputs, [vec![1.0], vec![1.0], vec![0.0; 2], vec![0.0; 3], vec![0.0]]);
    }
}

#[test]
fn a_parameter_behind_stop_gradient_is_e5005_with_the_path() {
    let module = build(&[f32s(&[]), f32s(&[])], |b, inputs| {
        let stopped = push(b, Op::Map(Map::StopGradient), &inputs[1..]);
        let power = push(b, Op::Map(Map::Exp), &[stopped]);
        vec![push(b, Op::Map(Map::Add), &[inputs[0], power])]
    });
    let (code, message) = error(&module, &scalar_options(&[1], Profile::Extended));
    assert_eq!(code, "E5005");
    let label = Op::Map(Map::StopGradient).info().label;
    let wanted = format!(
        "`b` reaches the output only through `{label}`, which has no derivative with respect to it: \
         %4 Add <- %3 Exp <- %2 StopGradient <- %1 b"
    );
    assert_eq!(message, wanted);
}

#[test]
fn a_parameter_whose_every_rule_contributes_nothing_is_e5005_with_the_path() {
    let module = build(&[f32s(&[]), f32s(&[])], |b, inputs| vec![push(b, Op::Map(Map::ReluGrad), inputs)]);
    let (code, message) = error(&module, &scalar_options(&[1], Profile::Extended));
    assert_eq!(code, "E5005");
    assert!(
        message.ends_with("which has no derivative with respect to it: %2 ReluGrad <- %1 b"),
        "{message}"
    );
}

#[test]
fn the_numbers_of_errors_are_stable() {
    let text = String::new;
    let errors = [
        AutodiffError::UnsupportedOp { op: "Div", value: ValueId::new(0), path: text() },
        AutodiffError::Verification(text()),
        AutodiffError::InvalidAxis { op: "Mean", axis: 3, shape: text() },
        AutodiffError::UnsupportedShape(text()),
        AutodiffError::NotDifferentiable { input: ValueId::new(0), problem: text() },
    ];
    let codes = errors.map(|error| error.code().info().name);
    assert_eq!(codes, ["E5001", "E5002", "E5003", "E5004", "E5005"]);
}
