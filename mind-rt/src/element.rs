//! Element types.

use std::fmt;

use crate::kernels::compiled::{Compiled, Sums};
use crate::kernels::conv::Convolve;
use crate::kernels::matmul::Gemm;
use crate::kernels::memory::Storable;
use crate::kernels::number::Number;
use crate::kernels::reduce::Reduce;
use crate::kernels::rows::SumRows;

/// What a tensor can hold: `f32`, `f64`, `i32`, `i64`, `bool`. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Element:
    Storable + Compiled + PartialEq + PartialOrd + Default + fmt::Debug + fmt::Display
{
    /// The same, as a value.
    const DTYPE: DType;

    #[doc(hidden)]
    fn elements(elements: &[Self]) -> Elements<'_>;

    #[doc(hidden)]
    fn elements_mut(elements: &mut [Self]) -> ElementsMut<'_>;

    #[doc(hidden)]
    fn slice(elements: Elements<'_>) -> Option<&[Self]>;

    #[doc(hidden)]
    fn slice_mut(elements: ElementsMut<'_>) -> Option<&mut [Self]>;
}

macro_rules! element {
    ($element:ident, $variant:ident) => {
        impl Element for $element {
            const DTYPE: DType = DType::$variant;

            fn elements(elements: &[Self]) -> Elements<'_> {
                Elements::$variant(elements)
            }

            fn elements_mut(elements: &mut [Self]) -> ElementsMut<'_> {
                ElementsMut::$variant(elements)
            }

            fn slice(elements: Elements<'_>) -> Option<&[Self]> {
                if let Elements::$variant(elements) = elements { Some(elements) } else { None }
            }

            fn slice_mut(elements: ElementsMut<'_>) -> Option<&mut [Self]> {
                if let ElementsMut::$variant(elements) = elements { Some(elements) } else { None }
            }
        }
    };
}

element!(f32, F32);
element!(f64, F64);
element!(i32, I32);
element!(i64, I64);
element!(bool, Bool);

/// A number: what has the kernels of all kinds.
#[allow(private_bounds, reason = "sealed")]
pub trait Arithmetic: Element + Number + Sums + Convolve + Gemm + Reduce + SumRows {}

impl Arithmetic for f32 {}
impl Arithmetic for f64 {}
impl Arithmetic for i32 {}
impl Arithmetic for i64 {}

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
    /// A truth value.
    Bool,
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Bool => "bool",
        })
    }
}

/// Elements of one of the element types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Of `f32`.
    F32(&'a [f32]),
    /// Of `f64`.
    F64(&'a [f64]),
    /// Of `i32`.
    I32(&'a [i32]),
    /// Of `i64`.
    I64(&'a [i64]),
    /// Of `bool`.
    Bool(&'a [bool]),
}

/// Elements of one of the element types, to be changed.
#[derive(Debug, PartialEq)]
pub enum ElementsMut<'a> {
    /// Of `f32`.
    F32(&'a mut [f32]),
    /// Of `f64`.
    F64(&'a mut [f64]),
    /// Of `i32`.
    I32(&'a mut [i32]),
    /// Of `i64`.
    I64(&'a mut [i64]),
    /// Of `bool`.
    Bool(&'a mut [bool]),
}

impl Elements<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(elements) => elements.len(),
            Self::F64(elements) => elements.len(),
            Self::I32(elements) => elements.len(),
            Self::I64(elements) => elements.len(),
            Self::Bool(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::Bool(_) => DType::Bool,
        }
    }
}

impl ElementsMut<'_> {
    /// Their type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::Bool(_) => DType::Bool,
        }
    }

    /// Makes each zero, or false.
    pub(crate) fn clear(self) {
        match self {
            Self::F32(elements) => elements.fill(0.0),
            Self::F64(elements) => elements.fill(0.0),
            Self::I32(elements) => elements.fill(0),
            Self::I64(elements) => elements.fill(0),
            Self::Bool(elements) => elements.fill(false),
        }
    }
}
