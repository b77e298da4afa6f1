//! Single known numbers, and the arithmetic on them that gives every machine's bits.

use crate::{
    data::TensorData,
    ir::{Inst, Op},
    ty::{DType, Shape, Type},
};

/// Applies one of the exact operations to numbers of one element type.
macro_rules! combine {
    ($a:expr, $b:expr, $integer:ident, $float:tt) => {
        match ($a, $b) {
            (Number::I32(a), Number::I32(b)) => Some(Number::I32(a.$integer(b))),
            (Number::I64(a), Number::I64(b)) => Some(Number::I64(a.$integer(b))),
            (Number::F32(a), Number::F32(b)) => Some(Number::F32(a $float b)),
            (Number::F64(a), Number::F64(b)) => Some(Number::F64(a $float b)),
            (Number::I32(_) | Number::I64(_) | Number::F32(_) | Number::F64(_), _) => None,
        }
    };
}

/// A single known number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

impl Number {
    /// The number that a canonical instruction is a constant of.
    pub(crate) fn of(Inst { op, ty, .. }: &Inst) -> Option<Self> {
        if let Op::ConstI64(value) = op {
            Some(Self::I64(*value))
        } else if let Op::ConstF32(value) = op {
            Some(Self::F32(value.get()))
        } else if let Op::ConstF64(value) = op {
            Some(Self::F64(value.get()))
        } else if let Op::ConstTensor { data: TensorData::I32(elements), .. } = op {
            (*ty == Type::scalar(DType::I32)).then(|| Self::I32(elements[0]))
        } else {
            None
        }
    }

    /// The number that fills a constant tensor, if there is one.
    pub(crate) fn filling(data: &TensorData) -> Option<Self> {
        if data.stored() != 1 {
            return None;
        }
        Some(match data {
            TensorData::I32(elements) => Self::I32(elements[0]),
            TensorData::I64(elements) => Self::I64(elements[0]),
            TensorData::F32(elements) => Self::F32(elements[0].get()),
            TensorData::F64(elements) => Self::F64(elements[0].get()),
        })
    }

    /// The constant operation, unless a NaN: its sign and payload depend on the machine.
    pub(crate) fn into_op(self) -> Option<Op> {
        match self {
            Self::I32(value) => Some(Op::ConstTensor { data: vec![value].into(), shape: Shape::scalar() }),
            Self::I64(value) => Some(Op::ConstI64(value)),
            Self::F32(value) => (!value.is_nan()).then(|| Op::ConstF32(value.into())),
            Self::F64(value) => (!value.is_nan()).then(|| Op::ConstF64(value.into())),
        }
    }

    /// What an elementwise operation gives for numbers, `operand` telling each; nothing unless the operation is exact.
    pub(crate) fn apply(op: &Op, operand: impl Fn(usize) -> Option<Self>) -> Option<Self> {
        match op {
            Op::Add => combine!(operand(0)?, operand(1)?, wrapping_add, +),
            Op::Sub => combine!(operand(0)?, operand(1)?, wrapping_sub, -),
            Op::Mul => combine!(operand(0)?, operand(1)?, wrapping_mul, *),
            Op::Div => operand(0)?.divided_by(operand(1)?),
            Op::Neg => Some(operand(0)?.negated()),
            Op::Relu => match operand(0)? {
                Self::F32(a) => Some(Self::F32(if a > 0.0 { a } else { 0.0 })),
                Self::F64(a) => Some(Self::F64(if a > 0.0 { a } else { 0.0 })),
                Self::I32(_) | Self::I64(_) => None,
            },
            _ => None,
        }
    }

    /// The quotient of floats.
    fn divided_by(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => Some(Self::F32(a / b)),
            (Self::F64(a), Self::F64(b)) => Some(Self::F64(a / b)),
            (Self::I32(_) | Self::I64(_) | Self::F32(_) | Self::F64(_), _) => None,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::I32(a) => Self::I32(a.wrapping_neg()),
            Self::I64(a) => Self::I64(a.wrapping_neg()),
            Self::F32(a) => Self::F32(-a),
            Self::F64(a) => Self::F64(-a),
        }
    }

    /// 1 over a float, if multiplying by it is dividing by the float, to the bit: a power of two whose inverse is normal.
    pub(crate) fn exact_inverse(self) -> Option<Self> {
        match self {
            Self::F32(a) => {
                let inverse = 1.0 / a;
                let is_power = |x: f32| x.is_normal() && x.to_bits().trailing_zeros() >= 23;
                (is_power(a) && is_power(inverse)).then_some(Self::F32(inverse))
            }
            Self::F64(a) => {
                let inverse = 1.0 / a;
                let is_power = |x: f64| x.is_normal() && x.to_bits().trailing_zeros() >= 52;
                (is_power(a) && is_power(inverse)).then_some(Self::F64(inverse))
            }
            Self::I32(_) | Self::I64(_) => None,
        }
    }

    /// Whether it is a whole number, and the zero of floats one of this sign.
    pub(crate) fn is(self, whole: i8) -> bool {
        match self {
            Self::I32(a) => a == i32::from(whole),
            Self::I64(a) => a == i64::from(whole),
            Self::F32(a) => a.to_bits() == f32::from(whole).to_bits(),
            Self::F64(a) => a.to_bits() == f64::from(whole).to_bits(),
        }
    }

    /// Whether adding it changes nothing: the zero of integers, the negative zero of floats.
    pub(crate) fn is_nothing_to_add(self) -> bool {
        match self {
            Self::I32(_) | Self::I64(_) => self.is(0),
            Self::F32(_) | Self::F64(_) => self.negated().is(0),
        }
    }

    /// Whether its arithmetic is that of integers, which wraps.
    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::I32(_) | Self::I64(_))
    }
}
