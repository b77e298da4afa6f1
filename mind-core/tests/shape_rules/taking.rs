//! `take_along`.

use mind_shape::{DType, Type, rules::take_along};

use super::support::{Program, f32s, name, shapes};

#[test]
fn elements_along_an_axis_have_the_shape_of_the_indices() {
    let integers = shapes();
    let integers = integers.iter().map(|shape| Type::new(DType::I64, shape));
    let mut program = Program::new(shapes().iter().map(|shape| f32s(shape)).chain(integers));
    let parameters = program.parameters();
    for x in &parameters {
        for i in &parameters {
            for axis in [-1, 0, 1] {
                let expression = format!("take_along({}, {}, axis = {axis})", x.0, i.0);
                program.case(expression, take_along(x.1, i.1, axis), "take_along", &[name(x), name(i)]);
            }
        }
    }
    program.check();
}
