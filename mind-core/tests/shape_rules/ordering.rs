//! `flip`, `roll`, `sort` and `argsort`.

use mind_shape::{
    DType, Type,
    rules::{Takes, along, positions_along},
};

use super::support::{Program, f32s, name, shapes};

#[test]
fn other_orders_have_the_shape_of_the_operand() {
    let truths = Type::new(DType::Bool, &[2]);
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)).chain([truths]));
    let parameters = program.parameters();
    for x in &parameters {
        for axis in [-3, -1, 0, 1] {
            let expression = format!("flip({}, axis = {axis})", x.0);
            program.case(expression, along(Takes::All, x.1, axis), "flip", &[name(x)]);
            let expression = format!("roll({}, 1, axis = {axis})", x.0);
            program.case(expression, along(Takes::All, x.1, axis), "roll", &[name(x)]);
            let expression = format!("sort({}, axis = {axis})", x.0);
            program.case(expression, along(Takes::Numbers, x.1, axis), "sort", &[name(x)]);
            let expression = format!("argsort({}, {axis}, descending = true)", x.0);
            program.case(expression, positions_along(x.1, axis), "argsort", &[name(x)]);
        }
    }
    program.check();
}
