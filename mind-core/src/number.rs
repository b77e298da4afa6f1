//! Single known numbers, and the arithmetic on them that gives every machine's bits.

use crate::{
    data::TensorData,
    ir::{Const, Inst, Op},
    ty::{DType, Shape},
};

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
        let Op::Const(constant) = op else { return None };
        if ty.rank() == 0 { Self::filling(&constant.data()) } else { None }
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
        let data = match self {
            Self::I32(value) => vec![value].into(),
            Self::I64(value) => vec![value].into(),
            Self::F32(value) => vec![value].into(),
            Self::F64(value) => vec![value].into(),
        };
        let constant = || Op::Const(Const::new(data, Shape::scalar()));
        (!self.is_nan()).then(constant)
    }

    fn is_nan(self) -> bool {
        matches!(self, Self::F32(value) if value.is_nan())
            || matches!(self, Self::F64(value) if value.is_nan())
    }

    /// What a function of elements gives for numbers, `operand` telling each; nothing unless every machine gives it.
    pub(crate) fn apply(op: &Op, operand: impl Fn(usize) -> Option<Self>) -> Option<Self> {
        let Op::Map(map) = op else { return None };
        let row = map.row();
        if !row.is_reproducible() || row.is_identity() {
            return None;
        }
        let first = operand(0)?;
        let operands: Option<Vec<Self>> = (0..row.arity()).map(operand).collect();
        let operands = operands?;
        let floats = || operands.iter().map(|operand| operand.float()).collect::<Option<Vec<f64>>>();
        let integers = || operands.iter().map(|operand| operand.integer()).collect::<Option<Vec<i64>>>();
        let takes_integers = row.takes(DType::I64);
        match first {
            Self::F32(_) => Some(Self::F32((row.float)(&floats()?) as f32)),
            Self::F64(_) => Some(Self::F64((row.float)(&floats()?))),
            Self::I32(_) if takes_integers => Some(Self::I32((row.integer)(&integers()?) as i32)),
            Self::I64(_) if takes_integers => Some(Self::I64((row.integer)(&integers()?))),
            Self::I32(_) | Self::I64(_) => None,
        }
    }

    /// A float as the widest one.
    pub(crate) fn float(self) -> Option<f64> {
        match self {
            Self::F32(number) => Some(number.into()),
            Self::F64(number) => Some(number),
            Self::I32(_) | Self::I64(_) => None,
        }
    }

    fn integer(self) -> Option<i64> {
        match self {
            Self::I32(number) => Some(number.into()),
            Self::I64(number) => Some(number),
            Self::F32(_) | Self::F64(_) => None,
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
