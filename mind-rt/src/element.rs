//! Element types.

use std::fmt;

use crate::kernels::compiled::Compiled;
use crate::kernels::storage::Stored;
use crate::parameters::{Elements, ElementsMut};

/// What a tensor can hold: `f32`, `f64`, `i32`, `i64`, `bool`. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Element: Stored + Compiled + PartialEq + PartialOrd + Default + fmt::Debug + fmt::Display {
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
