//! How generated tests sample an operation: instances with operand types, the range of elements, the tolerance of
//! results.

use super::OpInfo;
pub use crate::map::Domain;
use crate::{
    ir::Op,
    ty::{DType, Shape, Type},
};

/// The part of a row that drives generated tests.
#[derive(Clone, Copy)]
pub struct Sampling {
    /// Instances that together cover every form and broadcast pattern, with operands of the given element type. Empty
    /// if the operation does not take it. It may still hold instances for `bool` that inference refuses.
    pub cases: fn(&OpInfo, DType) -> Vec<Case>,
    /// The range from which elements of the operands are drawn.
    pub domain: Domain,
    /// The largest relative error of a gradient compared with central differences in `f64`, for `f32` and for `f64`.
    pub tolerance: (f64, f64),
}

/// An operation with its attributes and operand types.
#[derive(Clone)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// The types of its operands.
    pub operands: Vec<Type>,
}

impl Case {
    /// An operation on operands with these extents. All have the element type `dtype`, except for the condition of a
    /// selection.
    pub fn new(op: Op, dtype: DType, shapes: &[&[i64]]) -> Self {
        let of = |position: usize| match &op {
            Op::Map(map) => map.row().operand(position, dtype),
            _ => dtype,
        };
        let types = shapes.iter().enumerate();
        let operands = types.map(|(at, shape)| Type::new(of(at), Shape::literal(shape))).collect();
        Self { op, operands }
    }
}

/// No instances: the default for operations that generated tests do not sample.
pub fn none(_: &OpInfo, _: DType) -> Vec<Case> {
    Vec::new()
}
