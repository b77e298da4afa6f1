//! The reference interpreter: naive loops, no sharing with the kernels it judges.

use crate::diag::Code;

/// A tensor of known values.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The extents.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub elements: Elements,
}

/// The elements of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// `i32` elements.
    I32(Vec<i32>),
    /// `i64` elements.
    I64(Vec<i64>),
    /// `f32` elements.
    F32(Vec<f32>),
    /// `f64` elements.
    F64(Vec<f64>),
}

/// Why a program stopped as it ran.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("[{code}] {message}")]
pub struct RunError {
    /// The stable number.
    pub code: Code,
    /// What happened.
    pub message: String,
}
