//! Numbers and arrays of numbers, as written in programs.

use crate::{data::TensorData, diag::Code, number::KnownNumber, ty::DType};

/// A number or an array of numbers as written, with arithmetic on it evaluated, in each element type that it may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The text for messages.
    pub text: String,
    /// The kind of its numbers.
    pub kind: NumberKind,
    /// The element type of a suffix, if there is one.
    pub suffix: Option<DType>,
    /// The element type if there is no witness.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<i64>,
    /// The elements in each type of [`DType::ALL`], in that order, or the reason why the constant cannot have that
    /// element type.
    pub values: [Result<TensorData, Misfit>; DType::ALL.len()],
}

impl Constant {
    /// A number that takes the element type of its witness.
    pub(crate) fn number(number: f64) -> Self {
        Self {
            text: format!("`{number}`"),
            kind: NumberKind::Any,
            suffix: None,
            dtype: DType::F32,
            shape: Vec::new(),
            values: DType::ALL.map(|dtype| Ok(TensorData::splat(dtype, number))),
        }
    }

    /// The single number that the constant is in `f32`, if it is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        KnownNumber::filling(self.values_in(DType::F32).as_ref().ok()?)?.float()
    }

    /// The elements in an element type, or the reason why the constant cannot have it.
    pub fn values_in(&self, dtype: DType) -> &Result<TensorData, Misfit> {
        &self.values[dtype as usize]
    }

    /// A description for messages: `an integer`, `f64`.
    pub fn describe(&self) -> &'static str {
        self.suffix.map_or(self.kind.name(), DType::name)
    }
}

/// The kind of the numbers of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Zeros or ones, which may have any element type.
    Any,
    /// Truth values.
    Truth,
}

impl NumberKind {
    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Any => "any number",
            Self::Truth => "a truth value",
        }
    }
}

/// The reason why a constant cannot have an element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Misfit {
    /// The numbers are of another kind. The error is E2004 at the operator,
    /// `` `*`: element types differ: `2` is an integer, x is f32[3] ``. The node provides the label, the text and the
    /// description of the constant, and the witness.
    Kind {
        /// The text to write instead.
        help: Option<String>,
    },
    /// The numbers are of the right kind, but one is out of range, or the element type does not have the arithmetic.
    /// This error is reported at the constant.
    Value {
        /// The code of the error.
        code: Code,
        /// The complete message.
        message: String,
    },
}
