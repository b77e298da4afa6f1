//! Single known numbers, and arithmetic on them whose results have the same bits on every machine.

use mind_shape::{element_types, match_dtype, match_elements};

use crate::{
    data::TensorData,
    ir::{Inst, Op},
    map::{Row, ShapeRule},
    ty::DType,
};

macro_rules! numbers {
    ($($element:ident $variant:ident;)*) => {
        /// A single known number.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum KnownNumber {
            $($variant($element),)*
        }

        impl KnownNumber {
            /// The number that fills a constant tensor, if there is one.
            pub(crate) fn filling(data: &TensorData) -> Option<Self> {
                if data.stored() != 1 {
                    return None;
                }
                Some(match data {
                    $(TensorData::$variant(elements) => Self::$variant(elements[0].get()),)*
                })
            }

            /// The element type of the number.
            const fn dtype(self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }
        }

        $(impl From<$element> for KnownNumber {
            fn from(number: $element) -> Self {
                Self::$variant(number)
            }
        }

        /// `None` if the number has another element type.
        impl From<KnownNumber> for Option<$element> {
            fn from(number: KnownNumber) -> Self {
                if let KnownNumber::$variant(number) = number { Some(number) } else { None }
            }
        })*
    };
}

element_types!(all => numbers!);

impl KnownNumber {
    /// The number, if a canonical instruction is a single constant.
    pub(crate) fn of(Inst { op, ty, .. }: &Inst) -> Option<Self> {
        let Op::Const(constant) = op else { return None };
        if ty.rank() == 0 { Self::filling(&constant.data()?) } else { None }
    }

    /// The number as the data of a constant.
    pub(crate) fn data(self) -> TensorData {
        match_elements!(self, Self(value) => vec![value].into())
    }

    /// The constant operation. `None` for NaN, whose sign and payload depend on the machine.
    pub(crate) fn into_op(self) -> Option<Op> {
        (!self.is_nan()).then(|| self.constant())
    }

    fn is_nan(self) -> bool {
        match_elements!(self, Self(value) { floats => value.is_nan(), others => false })
    }

    /// The result of an elementwise function on the numbers that `operand` returns. `None` unless every machine gives
    /// the same bits.
    pub(crate) fn apply(op: &Op, operand: impl Fn(usize) -> Option<Self>) -> Option<Self> {
        let Op::Map(map) = op else { return None };
        let row = map.row();
        if !row.is_reproducible() || row.is_identity() {
            return None;
        }
        let operands: Option<Vec<Self>> = (0..row.arity()).map(operand).collect();
        Self::of_function(row, &operands?)
    }

    /// The result of an elementwise function on these numbers. `None` if the function does not take them, or an integer
    /// is divided by 0.
    pub(crate) fn of_function(row: &Row, operands: &[Self]) -> Option<Self> {
        let leading = operands[row.leading()];
        let dtype = row.result(leading.dtype());
        let divides_by_zero = row.pole.is_some_and(|divisor| operands[divisor].integer() == Some(0));
        if !row.takes(leading.dtype()) || divides_by_zero {
            return None;
        }
        if let ShapeRule::Choice = row.shapes {
            return if operands[0].integer()? != 0 { Some(operands[1]) } else { Some(operands[2]) };
        }
        let floats = || operands.iter().map(|operand| operand.float()).collect::<Option<Vec<f64>>>();
        let integers = || operands.iter().map(|operand| operand.integer()).collect::<Option<Vec<i64>>>();
        let is_float = leading.dtype().is_float();
        Some(match_dtype!(dtype, T {
            truths => if is_float {
                ((row.float)(&floats()?) != 0.0).into()
            } else {
                ((row.integer)(&integers()?) & 1 == 1).into()
            },
            numbers => if is_float {
                ((row.float)(&floats()?) as T).into()
            } else {
                ((row.integer)(&integers()?) as T).into()
            },
        }))
    }

    /// A float as `f64`.
    pub(crate) fn float(self) -> Option<f64> {
        match_elements!(self, Self(number) { floats => Some(number.into()), others => None })
    }

    /// An integer as `i64`, or a truth value as 1 or 0.
    fn integer(self) -> Option<i64> {
        match_elements!(self, Self(number) {
            truths => Some(number.into()),
            integers => Some(number.into()),
            floats => None,
        })
    }

    pub(crate) fn negated(self) -> Self {
        match_elements!(self, Self(number) {
            truths => number.into(),
            integers => number.wrapping_neg().into(),
            floats => (-number).into(),
        })
    }

    /// The inverse of a float, if multiplying by it equals dividing by the float bit for bit. This holds for powers of
    /// two whose inverse is normal.
    pub(crate) fn exact_inverse(self) -> Option<Self> {
        /// Whether a normal number is a power of two: all digits after the first are 0.
        macro_rules! is_power {
            ($float:expr) => {
                $float.is_normal() && $float.to_bits().trailing_zeros() >= digits($float) - 1
            };
        }
        match_elements!(self, Self(number) {
            floats => {
                let inverse = 1.0 / number;
                (is_power!(number) && is_power!(inverse)).then(|| inverse.into())
            },
            others => None,
        })
    }

    /// Whether the number equals `whole`. For floats 0 means +0 only.
    pub(crate) fn is(self, whole: i8) -> bool {
        match self.float() {
            Some(float) => float.to_bits() == f64::from(whole).to_bits(),
            None => self.is_integer() && self.integer() == Some(whole.into()),
        }
    }

    /// Whether adding the number changes nothing: 0 for integers, -0 for floats.
    pub(crate) fn is_nothing_to_add(self) -> bool {
        match_elements!(self, Self(_) {
            truths => false,
            integers => self.is(0),
            floats => self.negated().is(0),
        })
    }

    /// Whether the number is an integer, whose arithmetic wraps.
    pub(crate) const fn is_integer(self) -> bool {
        self.dtype().is_integer()
    }
}

/// The number of binary digits of a float.
const fn digits<T: Copy>(_: T) -> u32 {
    if size_of::<T>() == size_of::<f32>() { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS }
}
