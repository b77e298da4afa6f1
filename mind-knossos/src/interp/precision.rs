//! The precision of Floats.

/// The precision of Floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits.
    F64,
    /// 32 bits: each operation is computed in 64 bits and rounded.
    F32,
}

impl Precision {
    /// The nearest number in this precision.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            Self::F32 => f64::from(value as f32),
        }
    }

    /// The shortest digits that identify the number, with a decimal point.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::F64 => format!("{value:?}"),
            Self::F32 => format!("{:?}", value as f32),
        }
    }
}
