//! Single numbers in their dtype's own arithmetic.

use crate::ir::{Const, Op};
pub(crate) use crate::number::Number as Scalar;
use crate::surface::ast::{BinaryOp, Number, NumberValue};
use crate::ty::{DType, Shape};

impl Scalar {
    /// The number, which is in range.
    pub(crate) fn written(number: &Number, dtype: DType) -> Self {
        match (&number.value, dtype) {
            (NumberValue::Float(digits), DType::F32) => Self::F32(digits.parse().unwrap_or_default()),
            (NumberValue::Float(digits), _) => Self::F64(digits.parse().unwrap_or_default()),
            (NumberValue::Integer(value), DType::I32) => Self::I32(i32::try_from(*value).unwrap_or_default()),
            // Zeros and ones only: other integers do not fit a float.
            (NumberValue::Integer(value), DType::F32) => Self::F32(*value as f32),
            (NumberValue::Integer(value), DType::F64) => Self::F64(*value as f64),
            (NumberValue::Integer(value), DType::I64) => Self::I64(*value),
            (NumberValue::Integer(value), DType::Bool) => Self::Bool(*value != 0),
        }
    }

    pub(crate) fn constant(self) -> Op {
        Op::Const(Const::new(self.data(), Shape::scalar()))
    }

    /// Nothing where the operation is not one of the dtype.
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> Option<Self> {
        let BinaryOp::Map(map) = op else { return None };
        Self::of_function(map.row(), &[self, other])
    }
}
