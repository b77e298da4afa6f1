//! The size of a gradient is at most a constant times that of its module. Benches measure its time.

use mind_core::{
    canon::Canonical,
    grad::differentiate,
    ir::{Op, Product, Reduction},
    map::Map,
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

use super::support::{PROFILES, build, push, scalar_options};

/// A program of `length` operations in which every value is used more than once, and one weight is used everywhere.
fn long_program(length: usize) -> Canonical {
    let types = [Type::new(DType::F32, Shape::literal(&[4, 4])), Type::new(DType::F32, Shape::literal(&[4]))];
    build(&types, |b, inputs| {
        let [mut x, w] = *inputs else { panic!("two inputs") };
        while b.insts().len() < length {
            let scaled = push(b, Op::Map(Map::Mul), &[x, w]);
            let relu = push(b, Op::Map(Map::Relu), &[scaled]);
            let power = push(b, Op::Map(Map::Exp), &[relu]);
            let sum = push(b, Op::Map(Map::Add), &[power, scaled]);
            x = push(b, Op::Product(Product::MatMul), &[sum, x]);
        }
        vec![push(b, Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1], keepdims: false }), &[x])]
    })
}

#[test]
fn a_gradient_has_a_few_operations_for_each_of_the_primal() {
    let module = long_program(1_000);
    for (profile, factor) in PROFILES.into_iter().zip([4, 6]) {
        let gradient = differentiate(&module, &scalar_options(&[0, 1], profile)).expect("differentiable");
        let (found, of) = (gradient.module.insts().len(), module.insts().len());
        assert!(found < factor * of, "{profile:?}: {found} operations for {of}");
    }
}
