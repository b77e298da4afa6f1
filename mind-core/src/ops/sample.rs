//! How generated tests sample an operation: instances with operand types, where to draw elements, how close to agree.

use super::OpInfo;
pub use crate::map::Domain;
use crate::{
    ir::Op,
    ty::{DType, Shape, Type},
};

/// The part of a row that drives generated tests.
#[derive(Clone, Copy)]
pub struct Sampling {
    /// Instances that together cover every form and broadcast pattern, for an element type of the table's choice;
    /// none where the operation does not take the element type.
    pub cases: fn(&OpInfo, DType) -> Vec<Case>,
    /// Where to draw elements of the operands.
    pub domain: Domain,
    /// The largest relative error of an analytic gradient against central differences in f64, for f32 and f64.
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
    /// An operation on operands of one element type, but for a condition, with these known extents.
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

/// No instances: for operations without operands.
pub fn none(_: &OpInfo, _: DType) -> Vec<Case> {
    Vec::new()
}
