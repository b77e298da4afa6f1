//! Single known numbers, and the arithmetic on them that gives every machine's bits.

use crate::{
    data::TensorData,
    ir::{Inst, Op},
    map::{Row, Shapes},
    ty::DType,
};

/// A single known number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
}

impl Number {
    /// The number that a canonical instruction is a constant of.
    pub(crate) fn of(Inst { op, ty, .. }: &Inst) -> Option<Self> {
        let Op::Const(constant) = op else { return None };
        if ty.rank() == 0 { Self::filling(&constant.data()?) } else { None }
    }

    /// The constant that it is.
    pub(crate) fn data(self) -> TensorData {
        match self {
            Self::I32(value) => vec![value].into(),
            Self::I64(value) => vec![value].into(),
            Self::F32(value) => vec![value].into(),
            Self::F64(value) => vec![value].into(),
            Self::Bool(value) => vec![value].into(),
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
            TensorData::Bool(elements) => Self::Bool(elements[0]),
        })
    }

    /// The constant operation, unless a NaN: its sign and payload depend on the machine.
    pub(crate) fn into_op(self) -> Option<Op> {
        (!self.is_nan()).then(|| self.constant())
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
        let operands: Option<Vec<Self>> = (0..row.arity()).map(operand).collect();
        Self::of_function(row, &operands?)
    }

    /// What a function of elements gives for these numbers; nothing where it does not take them, an integer divided by 0 too.
    pub(crate) fn of_function(row: &Row, operands: &[Self]) -> Option<Self> {
        let leading = operands[row.leading()];
        let dtype = row.result(leading.dtype());
        let divides_by_zero = row.pole.is_some_and(|divisor| operands[divisor].integer() == Some(0));
        if !row.takes(leading.dtype()) || divides_by_zero {
            return None;
        }
        if let Shapes::Choice = row.shapes {
            return if operands[0].integer()? != 0 { Some(operands[1]) } else { Some(operands[2]) };
        }
        let floats = || operands.iter().map(|operand| operand.float()).collect::<Option<Vec<f64>>>();
        let integers = || operands.iter().map(|operand| operand.integer()).collect::<Option<Vec<i64>>>();
        Some(match (leading.dtype().is_float(), dtype) {
            (true, DType::F32) => Self::F32((row.float)(&floats()?) as f32),
            (true, DType::F64) => Self::F64((row.float)(&floats()?)),
            (true, DType::I32) => Self::I32((row.float)(&floats()?) as i32),
            (true, DType::I64) => Self::I64((row.float)(&floats()?) as i64),
            (true, DType::Bool) => Self::Bool((row.float)(&floats()?) != 0.0),
            (false, DType::F32) => Self::F32((row.integer)(&integers()?) as f32),
            (false, DType::F64) => Self::F64((row.integer)(&integers()?) as f64),
            (false, DType::I32) => Self::I32((row.integer)(&integers()?) as i32),
            (false, DType::I64) => Self::I64((row.integer)(&integers()?)),
            (false, DType::Bool) => Self::Bool((row.integer)(&integers()?) & 1 == 1),
        })
    }

    /// Its element type.
    const fn dtype(self) -> DType {
        match self {
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::Bool(_) => DType::Bool,
        }
    }

    /// A float as the widest one.
    pub(crate) fn float(self) -> Option<f64> {
        match self {
            Self::F32(number) => Some(number.into()),
            Self::F64(number) => Some(number),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) => None,
        }
    }

    /// An integer as the widest one; a truth value as 1 or 0.
    fn integer(self) -> Option<i64> {
        match self {
            Self::I32(number) => Some(number.into()),
            Self::I64(number) => Some(number),
            Self::Bool(truth) => Some(truth.into()),
            Self::F32(_) | Self::F64(_) => None,
        }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::I32(a) => Self::I32(a.wrapping_neg()),
            Self::I64(a) => Self::I64(a.wrapping_neg()),
            Self::F32(a) => Self::F32(-a),
            Self::F64(a) => Self::F64(-a),
            Self::Bool(_) => self,
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
            Self::I32(_) | Self::I64(_) | Self::Bool(_) => None,
        }
    }

    /// Whether it is a whole number, and the zero of floats one of this sign.
    pub(crate) fn is(self, whole: i8) -> bool {
        match self {
            Self::I32(a) => a == i32::from(whole),
            Self::I64(a) => a == i64::from(whole),
            Self::F32(a) => a.to_bits() == f32::from(whole).to_bits(),
            Self::F64(a) => a.to_bits() == f64::from(whole).to_bits(),
            Self::Bool(_) => false,
        }
    }

    /// Whether adding it changes nothing: the zero of integers, the negative zero of floats.
    pub(crate) fn is_nothing_to_add(self) -> bool {
        match self {
            Self::I32(_) | Self::I64(_) => self.is(0),
            Self::F32(_) | Self::F64(_) => self.negated().is(0),
            Self::Bool(_) => false,
        }
    }

    /// Whether its arithmetic is that of integers, which wraps.
    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::I32(_) | Self::I64(_))
    }
}
