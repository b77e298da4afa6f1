//! `cumsum`.

use mind_shape::{
    DType, Type,
    rules::{Takes, along},
};

use super::support::{Program, f32s, name, shapes};

#[test]
fn running_sums_have_the_shape_of_the_operand() {
    let others = [Type::new(DType::Bool, &[2]), Type::new(DType::I32, &[2])];
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)).chain(others));
    let parameters = program.parameters();
    for x in &parameters {
        for axis in [-3, -1, 0, 1] {
            let expression = format!("cumsum({}, axis = {axis}, exclusive = true)", x.0);
            program.case(expression, along(Takes::Numbers, x.1, axis), "cumsum", &[name(x)]);
        }
    }
    program.check();
}
