//! Single numbers in their dtype's own arithmetic.

use mind_shape::match_dtype;

use crate::ir::{Const, Op};
pub(crate) use crate::number::KnownNumber as Scalar;
use crate::surface::ast::{BinaryOp, Number, NumberValue};
use crate::ty::{DType, Shape};

impl Scalar {
    /// Converts a written number, which is in the range of the dtype.
    pub(crate) fn written(number: &Number, dtype: DType) -> Self {
        match &number.value {
            NumberValue::Float(digits) => match_dtype!(dtype, T {
                floats => digits.parse::<T>().unwrap_or_default().into(),
                others => digits.parse::<f64>().unwrap_or_default().into(),
            }),
            NumberValue::Integer(value) => match_dtype!(dtype, T {
                truths => (*value != 0).into(),
                integers => T::try_from(*value).unwrap_or_default().into(),
                // Only zeros and ones: no other integer literal fits a float.
                floats => (*value as T).into(),
            }),
        }
    }

    pub(crate) fn constant(self) -> Op {
        Op::Const(Const::new(self.data(), Shape::scalar()))
    }

    /// Applies a binary operator; `None` if the dtype does not have the operation.
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> Option<Self> {
        let BinaryOp::Map(map) = op else { return None };
        Self::of_function(map.row(), &[self, other])
    }
}
