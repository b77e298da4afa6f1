use mind_core::map::{Map, Row};
use mind_shape::rules::{Fit, Gives, Literal, Takes, binary, literal, unary};
use mind_shape::{DType, Operand, Type};

use super::support::{Program, f32s, lists_up_to, name, shapes};

fn operators() -> impl Iterator<Item = &'static Row> {
    Map::operators().map(Map::row)
}

#[test]
fn operators_broadcast() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    let parameters = program.parameters();
    for (position, x) in parameters.iter().enumerate() {
        for (other, y) in parameters.iter().enumerate() {
            // All operators share the shape rule, so the operators take turns over all pairs of shapes.
            let row = operators().nth((position + other) % operators().count()).expect("it is one of them");
            let expression = format!("{} {} {}", x.0, row.label, y.0);
            program.case(expression, binary(row.takes, row.gives, x.1, y.1), row.label, &[name(x), name(y)]);
        }
    }
    assert_eq!(program.check(), [3_759, 10_882]);
}

#[test]
fn operators_take_one_element_type() {
    let shapes: [&[i64]; 4] = [&[], &[2], &[3], &[2, 3]];
    let types = DType::ALL.into_iter().flat_map(|dtype| shapes.map(|shape| Type::new(dtype, shape)));
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for x in &parameters {
        for y in &parameters {
            for row in operators() {
                let expression = format!("{} {} {}", x.0, row.label, y.0);
                program.case(
                    expression,
                    binary(row.takes, row.gives, x.1, y.1),
                    row.label,
                    &[name(x), name(y)],
                );
            }
        }
    }
    program.check();
}

#[test]
fn elementwise_functions() {
    let types = DType::ALL
        .into_iter()
        .flat_map(|dtype| shapes().into_iter().map(move |shape| Type::new(dtype, &shape)));
    let mut program = Program::new(types);
    for x in &program.parameters() {
        for row in Map::ALL.iter().map(|map| map.row()).filter(|row| row.arity() == 1) {
            // Some functions occur only in gradients.
            let Some(label) = row.function() else { continue };
            program.case(format!("{label}({})", x.0), unary(row.takes, row.gives, x.1), label, &[name(x)]);
        }
        program.case(format!("-{}", x.0), unary(Takes::Numbers, Gives::Operand, x.1), "-", &[name(x)]);
    }
    program.check();
}

#[test]
fn operands_that_are_expressions_are_quoted() {
    let mut program = Program::new([f32s(&[2, 3]), f32s(&[4]), Type::new(DType::I64, &[2])]);
    let [x, y, i] = [f32s(&[2, 3]), f32s(&[4]), Type::new(DType::I64, &[2])];
    let relu = Operand::new("`relu(x0)`", "relu(x0)", x);
    let double = Operand::new("`x1 * 2.0`", "(x1 * 2.0)", y);
    program.case(
        "relu(x0) + x1 * 2.0".into(),
        binary(Takes::Numbers, Gives::Operand, x, y),
        "+",
        &[relu, double],
    );
    program.case(
        "log(-x2)".into(),
        unary(Takes::Floats, Gives::Operand, i),
        "log",
        &[Operand::new("`-x2`", "(-x2)", i)],
    );
    assert_eq!(program.check(), [0, 2]);
}

#[test]
fn literals_take_the_element_type_of_what_they_meet() {
    const NONE: Fit<'_> = Fit::OtherKind { help: "" };
    let kind = |help| Fit::OtherKind { help };
    let fault = |code, message| Fit::Fault { code, message };
    let literals = [
        ("2", "an integer", [Fit::Yes, Fit::Yes, kind("write `2.0`"), kind("write `2.0`")]),
        ("1.5", "a float", [NONE, NONE, Fit::Yes, Fit::Yes]),
        ("4.0", "a float", [kind("write `4`"), kind("write `4`"), Fit::Yes, Fit::Yes]),
        ("3_i32", "i32", [Fit::Yes, kind("write `3`"), kind("write `3.0`"), kind("write `3.0`")]),
        ("1e39", "a float", {
            let help = kind("");
            [help, help, fault("E1005", "`1e39` is out of range for f32"), Fit::Yes]
        }),
        ("3000000000", "an integer", {
            let help = kind("write `3000000000.0`");
            [fault("E1005", "`3000000000` is out of range for i32"), Fit::Yes, help, help]
        }),
    ];
    let mut program =
        Program::new([DType::I32, DType::I64, DType::F32, DType::F64].map(|dtype| Type::new(dtype, &[3])));
    for x in &program.parameters() {
        for (text, description, fits) in literals {
            let [i32, i64, f32, f64] = fits;
            // A literal that does not fit `i32` does not fit `u8` either. No operand here has type `u8`.
            let fits = [kind("a bool is not a number: convert it, as in `f32(…)`"), i32, i32, i64, f32, f64];
            let answer = literal(Literal { description, fits }, x.1.dtype(), &[]).and(Ok(x.1));
            let quoted = format!("`{text}`");
            let operands = [Operand::new(&quoted, text, Type::scalar(x.1.dtype())), name(x)];
            program.case(format!("{} * {text}", x.0), answer, "*", &operands);
            program.case(format!("{text} * {}", x.0), answer, "*", &operands);
        }
    }
    assert_eq!(program.check(), [18, 30]);
}

#[test]
fn constants_have_the_shape_that_is_written() {
    let mut program = Program::new([Type::scalar(DType::F32), Type::scalar(DType::I64)]);
    for shape in lists_up_to(3, &[-1, 0, 1, 2, 3]) {
        for (x, ty) in program.parameters() {
            let answer = mind_shape::rules::filled(ty.dtype(), &shape);
            for label in ["zeros", "ones"] {
                program.case(format!("{x} + {label}({shape:?})"), answer, label, &[]);
            }
            let number = if ty.dtype().is_float() { "2.5" } else { "2" };
            program.case(format!("{x} + full({shape:?}, {number})"), answer, "full", &[]);
        }
    }
    program.check();
}
