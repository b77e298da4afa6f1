//! Numbers and arrays of numbers as they are written.

use crate::{data::TensorData, diag::Code, number::Number, ty::DType};

/// A number or an array of numbers as written, arithmetic on them worked out, for each element type it may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// As messages name it.
    pub text: String,
    /// Which numbers it consists of.
    pub kind: NumberKind,
    /// The element type that a suffix gives.
    pub suffix: Option<DType>,
    /// The element type it has without a witness.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// The elements in each of [`DType::ALL`], in that order, or why it cannot have that element type.
    pub values: [Result<TensorData, Misfit>; DType::ALL.len()],
}

impl Constant {
    /// A number of whatever element type its witness has.
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

    /// The number that it is in floats, as `f32` has it.
    pub(crate) fn as_number(&self) -> Option<f64> {
        Number::filling(self.values_in(DType::F32).as_ref().ok()?)?.float()
    }

    /// The elements in an element type, or why it cannot have it.
    pub fn values_in(&self, dtype: DType) -> &Result<TensorData, Misfit> {
        &self.values[dtype as usize]
    }

    /// What it is, as a message says it: `an integer`, `f64`.
    pub fn describe(&self) -> &'static str {
        self.suffix.map_or(self.kind.name(), DType::name)
    }
}

/// Which numbers a constant consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Zeros or ones, which are of any element type.
    Any,
    /// Truth values.
    Truth,
}

impl NumberKind {
    /// As a message says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Any => "any number",
            Self::Truth => "a truth value",
        }
    }
}

/// Why a constant cannot have an element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Misfit {
    /// Its numbers are of another kind: E2004 at the operator, `` `*`: element types differ: `2` is an integer, x is
    /// f32[3] ``, where the label, the constant's text and what it is, and the witness come from the node.
    Kind {
        /// What to write instead.
        help: Option<String>,
    },
    /// Its numbers are of the kind, but one is out of range or the arithmetic is not one of the element type: this code
    /// with this message, told at the constant itself.
    Value {
        /// The code.
        code: Code,
        /// The whole message.
        message: String,
    },
}
