//! Single numbers in their dtype's own arithmetic.

use crate::data::TensorData;
use crate::ir::{Const, Op};
use crate::surface::ast::{BinaryOp, Number, NumberValue};
use crate::ty::{DType, Shape};

/// A number in its dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar {
    F32(f32),
    F64(f64),
    I32(i32),
    I64(i64),
}

impl Scalar {
    /// The number, which is in range.
    pub(crate) fn of(number: &Number, dtype: DType) -> Self {
        match (&number.value, dtype) {
            (NumberValue::Float(digits), DType::F32) => Self::F32(digits.parse().unwrap_or_default()),
            (NumberValue::Float(digits), _) => Self::F64(digits.parse().unwrap_or_default()),
            (NumberValue::Integer(value), DType::I32) => Self::I32(i32::try_from(*value).unwrap_or_default()),
            // Zeros and ones only: other integers do not fit a float.
            (NumberValue::Integer(value), DType::F32) => Self::F32(*value as f32),
            (NumberValue::Integer(value), DType::F64) => Self::F64(*value as f64),
            (NumberValue::Integer(value), DType::I64 | DType::Bool) => Self::I64(*value),
        }
    }

    pub(crate) fn data(self) -> TensorData {
        match self {
            Self::F32(value) => vec![value].into(),
            Self::F64(value) => vec![value].into(),
            Self::I32(value) => vec![value].into(),
            Self::I64(value) => vec![value].into(),
        }
    }

    pub(crate) fn constant(self) -> Op {
        Op::Const(Const::new(self.data(), Shape::scalar()))
    }

    pub(crate) fn neg(self) -> Self {
        match self {
            Self::F32(value) => Self::F32(-value),
            Self::F64(value) => Self::F64(-value),
            Self::I32(value) => Self::I32(value.wrapping_neg()),
            Self::I64(value) => Self::I64(value.wrapping_neg()),
        }
    }

    /// Nothing where the operation is not one of the dtype.
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> Option<Self> {
        let BinaryOp::Map(map) = op else { return None };
        let row = map.row();
        let float = |a: f64, b: f64| (row.float)(&[a, b]);
        let integer = |a: i64, b: i64| row.takes(DType::I64).then(|| (row.integer)(&[a, b]));
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => Some(Self::F32(float(a.into(), b.into()) as f32)),
            (Self::F64(a), Self::F64(b)) => Some(Self::F64(float(a, b))),
            (Self::I32(a), Self::I32(b)) => {
                integer(a.into(), b.into()).map(|number| Self::I32(number as i32))
            }
            (Self::I64(a), Self::I64(b)) => integer(a, b).map(Self::I64),
            (Self::F32(_) | Self::F64(_) | Self::I32(_) | Self::I64(_), _) => None,
        }
    }
}
