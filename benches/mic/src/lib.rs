//! The module for the measurements of time and memory.

use mind_core::{
    reduce::Reduce,
    map::Map,
    build::Builder, ir::{Arrange, Module, Op, Product, Reduction, ValueId},
    ty::{DType, Shape, Type},
};

/// A module of `nodes` nodes: repeated products, elementwise operations and transposes of a matrix, with a sum at the
/// end.
pub fn chain(nodes: usize) -> Module {
    let mut b = Builder::new();
    let matrix = |rows: i64, columns: i64| Type::new(DType::F32, Shape::literal(&[rows, columns]));
    let mut h = b.input("x", matrix(32, 64)).expect("a new name");
    let w = b.input("w", matrix(64, 64)).expect("a new name");
    while b.insts().len() < nodes - 1 {
        let op: (Op, &[ValueId]) = match b.insts().len() % 5 {
            0 => (Op::Product(Product::MatMul), &[h, w]),
            1 => (Op::Map(Map::Relu), &[h]),
            2 => (Op::Map(Map::Add), &[h, h]),
            3 => (Op::Map(Map::Neg), &[h]),
            _ => (Op::Arrange(Arrange::Transpose { permutation: vec![0, 1] }), &[h]),
        };
        h = b.push(op.0, op.1).expect("shapes fit");
    }
    let total = b.push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1], keepdims: false }), &[h]).expect("a matrix");
    b.finish([total])
}
