//! `concat`, `stack`, `pad`.

use mind_shape::{
    DType, Type,
    rules::{concat, pad, stack},
};

use super::support::{Program, f32s, lists_up_to, name, shapes};

#[test]
fn tensors_stand_one_after_the_other() {
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)));
    let parameters = program.parameters();
    for a in &parameters {
        for b in &parameters {
            for axis in [-3, -1, 0, 1] {
                let expression = format!("concat([{}, {}], axis = {axis})", a.0, b.0);
                program.case(expression, concat(&[a.1, b.1], axis), "concat", &[name(a), name(b)]);
                let expression = format!("stack([{}, {}], axis = {axis})", a.0, b.0);
                program.case(expression, stack(&[a.1, b.1], axis), "stack", &[name(a), name(b)]);
            }
        }
    }
    program.check();
}

#[test]
fn the_first_that_does_not_fit_is_told() {
    let types = [f32s(&[2, 3]), f32s(&[2, 1]), f32s(&[1, 3]), f32s(&[3]), Type::new(DType::F64, &[2, 3])];
    let mut program = Program::new(types);
    let parameters = program.parameters();
    for a in &parameters {
        for b in &parameters {
            for c in &parameters {
                let expression = format!("concat(({}, {}, {}), -1)", a.0, b.0, c.0);
                let operands = [name(a), name(b), name(c)];
                program.case(expression, concat(&[a.1, b.1, c.1], -1), "concat", &operands);
                let expression = format!("stack([{}, {}, {}], 0)", a.0, b.0, c.0);
                program.case(expression, stack(&[a.1, b.1, c.1], 0), "stack", &operands);
            }
        }
    }
    program.check();
}

#[test]
fn zeros_stand_around_tensors() {
    let types =
        [f32s(&[]), f32s(&[3]), f32s(&[2, 1]), Type::new(DType::Bool, &[2]), Type::new(DType::I64, &[1])];
    let mut program = Program::new(types);
    let amounts = lists_up_to(2, &[-1, 0, 2, i64::MAX]);
    for x in &program.parameters() {
        for low in &amounts {
            for high in &amounts {
                let expression = format!("pad({}, {low:?}, {high:?})", x.0);
                program.case(expression, pad(x.1, low, high), "pad", &[name(x)]);
            }
        }
    }
    program.check();
}
