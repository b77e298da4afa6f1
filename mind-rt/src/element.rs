//! Element types.

use std::fmt;

pub use mind_shape::DType;
use mind_shape::{element_types, match_elements};

use crate::kernels::compiled::{Compiled, SumKernels};
use crate::kernels::conv::Convolve;
use crate::kernels::matmul::Gemm;
use crate::kernels::memory::Storable;
use crate::kernels::number::Number;
use crate::kernels::reduce::Reduce;
use crate::kernels::rows::SumRows;

/// An element type of the language: the types that a tensor can hold. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Element:
    Storable + Compiled + PartialEq + PartialOrd + Default + fmt::Debug + fmt::Display
{
    /// The element type as a value.
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

/// A numeric element type: it has the kernels of all kinds.
#[allow(private_bounds, reason = "sealed")]
pub trait Arithmetic: Element + Number + SumKernels + Convolve + Gemm + Reduce + SumRows {}

macro_rules! arithmetic {
    ($($number:ident $variant:ident;)*) => { $(impl Arithmetic for $number {})* };
}

macro_rules! elements {
    ($($element:ident $variant:ident;)*) => {
        $(impl Element for $element {
            const DTYPE: DType = DType::$variant;

            #[inline(always)]
            fn elements(elements: &[Self]) -> Elements<'_> {
                Elements::$variant(elements)
            }

            #[inline(always)]
            fn elements_mut(elements: &mut [Self]) -> ElementsMut<'_> {
                ElementsMut::$variant(elements)
            }

            #[inline(always)]
            fn slice(elements: Elements<'_>) -> Option<&[Self]> {
                if let Elements::$variant(elements) = elements { Some(elements) } else { None }
            }

            #[inline(always)]
            fn slice_mut(elements: ElementsMut<'_>) -> Option<&mut [Self]> {
                if let ElementsMut::$variant(elements) = elements { Some(elements) } else { None }
            }
        })*

        /// Elements of one of the element types.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Elements<'a> {
            $(#[doc = concat!("Of `", stringify!($element), "`.")] $variant(&'a [$element]),)*
        }

        /// Elements of one of the element types, mutable.
        #[derive(Debug, PartialEq)]
        pub enum ElementsMut<'a> {
            $(#[doc = concat!("Of `", stringify!($element), "`.")] $variant(&'a mut [$element]),)*
        }

        impl Elements<'_> {
            /// The element type.
            #[must_use]
            pub const fn dtype(&self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }
        }

        impl ElementsMut<'_> {
            /// The element type.
            #[must_use]
            pub const fn dtype(&self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }
        }
    };
}

element_types!(numbers => arithmetic!);
element_types!(all => elements!);

impl Elements<'_> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match_elements!(self, Self(elements) => elements.len())
    }

    /// Whether the slice is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ElementsMut<'_> {
    /// Sets each element to zero or false.
    pub(crate) fn clear(self) {
        match_elements!(self, Self(elements) => elements.fill(Default::default()));
    }
}
