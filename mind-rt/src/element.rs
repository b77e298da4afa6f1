//! Element types.

use std::fmt;

use crate::kernels::arithmetic::Arithmetic;

/// What a tensor can hold: `f32`, `f64`, `i32`, `i64`. Sealed.
pub trait Element: Arithmetic {
    /// The same, as a value.
    const DTYPE: DType;
}

impl Element for f32 {
    const DTYPE: DType = DType::F32;
}

impl Element for f64 {
    const DTYPE: DType = DType::F64;
}

impl Element for i32 {
    const DTYPE: DType = DType::I32;
}

impl Element for i64 {
    const DTYPE: DType = DType::I64;
}

/// An element type as a value. Displays as in the language: `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// 32-bit IEEE float.
    F32,
    /// 64-bit IEEE float.
    F64,
    /// 32-bit integer; arithmetic wraps.
    I32,
    /// 64-bit integer; arithmetic wraps.
    I64,
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::I64 => "i64",
        })
    }
}
