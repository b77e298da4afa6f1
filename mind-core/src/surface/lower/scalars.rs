//! Single numbers in their dtype's own arithmetic.

use crate::data::TensorData;
use crate::ir::Op;
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
        match self {
            Self::F32(value) => Op::ConstF32(value.into()),
            Self::F64(value) => Op::ConstF64(value.into()),
            Self::I32(_) => Op::ConstTensor { data: self.data(), shape: Shape::scalar() },
            Self::I64(value) => Op::ConstI64(value),
        }
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
        macro_rules! apply {
            ($kind:ident, $a:expr, $b:expr, $add:expr, $sub:expr, $mul:expr, $div:expr) => {
                match op {
                    BinaryOp::Add => Some(Self::$kind($add($a, $b))),
                    BinaryOp::Sub => Some(Self::$kind($sub($a, $b))),
                    BinaryOp::Mul => Some(Self::$kind($mul($a, $b))),
                    BinaryOp::Div => $div($a, $b).map(Self::$kind),
                    BinaryOp::MatMul => None,
                }
            };
        }
        use std::ops::{Add, Div, Mul, Sub};
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => {
                apply!(F32, a, b, f32::add, f32::sub, f32::mul, |a, b| Some(f32::div(a, b)))
            }
            (Self::F64(a), Self::F64(b)) => {
                apply!(F64, a, b, f64::add, f64::sub, f64::mul, |a, b| Some(f64::div(a, b)))
            }
            (Self::I32(a), Self::I32(b)) => {
                apply!(I32, a, b, i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul, |_, _| None)
            }
            (Self::I64(a), Self::I64(b)) => {
                apply!(I64, a, b, i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul, |_, _| None)
            }
            (Self::F32(_) | Self::F64(_) | Self::I32(_) | Self::I64(_), _) => None,
        }
    }
}
