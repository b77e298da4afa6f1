use mind_shape::rules::{at, dot, matmul};
use mind_shape::{DType, Operand, Type};

use super::support::{Program, f32s, name, shapes};

#[test]
fn products_contract_inner_dimensions() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    let parameters = program.parameters();
    for x in &parameters {
        for y in &parameters {
            let ((a, b), operands) = ((&x.0, &y.0), [name(x), name(y)]);
            program.case(format!("{a} @ {b}"), at(x.1, y.1), "@", &operands);
            program.case(format!("dot({a}, {b})"), dot(x.1, y.1), "dot", &operands);
            program.case(format!("matmul({a}, {b})"), matmul(x.1, y.1), "matmul", &operands);
        }
    }
    program.check();
}

#[test]
fn products_take_one_element_type() {
    let shapes: [&[i64]; 6] = [&[], &[2], &[3], &[2, 2], &[3, 2], &[3, 2, 2]];
    let types = DType::ALL.into_iter().flat_map(|dtype| shapes.map(|shape| Type::new(dtype, shape)));
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for x in &parameters {
        for y in &parameters {
            program.case(format!("{} @ {}", x.0, y.0), at(x.1, y.1), "@", &[name(x), name(y)]);
        }
    }
    program.check();
}

#[test]
fn help_puts_operators_in_parentheses() {
    let types = [f32s(&[2, 3]), f32s(&[4, 3]), f32s(&[5, 2])];
    let mut program = Program::new(types);
    let [x, y, z] = types;
    let sum = |ty| Operand::new("`x1 + x1`", "(x1 + x1)", ty);
    let relu = |ty| Operand::new("`relu(x0)`", "relu(x0)", ty);
    program.case("relu(x0) @ (x1 + x1)".into(), at(x, y), "@", &[relu(x), sum(y)]);
    program.case("(x1 + x1) @ x0".into(), at(y, x), "@", &[sum(y), Operand::name("x0", x)]);
    program.case("x0 @ x2".into(), at(x, z), "@", &[Operand::name("x0", x), Operand::name("x2", z)]);
    assert_eq!(program.check(), [0, 3]);
}
