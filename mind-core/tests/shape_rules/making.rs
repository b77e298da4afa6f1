//! `iota` and `one_hot`.

use mind_shape::{DType, Type, rules::indices};

use super::support::{Program, f32s, name, shapes};

#[test]
fn indices_are_integers() {
    let types = [DType::I32, DType::I64, DType::F64].map(|dtype| Type::new(dtype, &[2, 3]));
    let mut program = Program::new(types.into_iter().chain(shapes().iter().map(|shape| f32s(shape))));
    let parameters = program.parameters();
    for x in &parameters {
        let last = indices(x.1).map(|ty| {
            let dims = [ty.dims(), &[4]].concat();
            Type::new(DType::F32, &dims)
        });
        program.case(format!("one_hot({}, 4)", x.0), last, "one_hot", &[name(x)]);
    }
    program.check();
}
