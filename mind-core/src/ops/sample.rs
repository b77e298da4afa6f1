//! How generated tests sample an operation: instances with operand types, where to draw elements, how close to agree.

use crate::{
    ir::Op,
    ty::{DType, Shape, Type},
};

/// The part of a row that drives generated tests.
#[derive(Clone, Copy)]
pub struct Sampling {
    /// Instances that together cover every form and broadcast pattern, for an element type of the table's choice;
    /// none where the operation does not take the element type.
    pub cases: fn(DType) -> Vec<Case>,
    /// Where to draw elements of the operands.
    pub domain: Domain,
    /// The largest relative error of an analytic gradient against central differences in f64, for f32 and f64.
    pub tolerance: (f64, f64),
}

/// An operation with its attributes and operand types.
pub struct Case {
    /// The operation.
    pub op: Op,
    /// The types of its operands.
    pub operands: Vec<Type>,
}

impl Case {
    /// An operation on operands of one element type with these known extents.
    pub fn new(op: Op, dtype: DType, shapes: &[&[i64]]) -> Self {
        let operands = shapes.iter().map(|shape| Type::new(dtype, Shape::literal(shape))).collect();
        Self { op, operands }
    }
}

/// Where to draw elements of operands; integer operands of an operation on floats are indices below the first extent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// From -2 to 2.
    Any,
    /// From 0.5 to 2: for log and divisors.
    Positive,
    /// From -2 to 2 and at least 0.1 from 0: where the derivative jumps there.
    NonZero,
}

/// No instances: for operations without operands.
pub fn none(_: DType) -> Vec<Case> {
    Vec::new()
}
