//! Errors about the extents and the memory of a tensor.

use crate::element::Element;
use crate::error::{Error, describe};
use crate::shape::Shape;

impl Error {
    /// The error for `extents` that do not fit the shape type `S`.
    #[cold]
    pub(crate) fn shape_mismatch<T: Element, S: Shape>(extents: &[usize]) -> Self {
        let found = describe(T::DTYPE, extents);
        let needed = describe_type::<T, S>();
        if extents.len() != S::RANK {
            return Self::RankMismatch { found, needed };
        }
        let differs = |axis: &usize| S::STATIC[*axis].is_some_and(|extent| extent != extents[*axis]);
        Self::ShapeMismatch { dimension: (0..S::RANK).find(differs).unwrap_or(0), found, needed }
    }

    /// The error for memory that cannot be allocated for a tensor of this shape.
    // Inlined, so that LLVM knows the variant at the call and drops the checks for a tensor.
    #[inline(always)]
    pub(crate) fn allocation<T: Element, S: Shape>(shape: S) -> Self {
        Self::Allocation { shape: describe_shape::<T, S>(shape) }
    }

    #[cold]
    pub(crate) fn length_mismatch<T: Element, S: Shape>(shape: &S, found: usize) -> Self {
        match shape.checked_len() {
            Some(needed) => Self::LengthMismatch { shape: describe(T::DTYPE, &shape.dims()), needed, found },
            None => Self::allocation::<T, S>(*shape),
        }
    }
}

/// [`describe`], out of line, so that the code that makes the error is small where it is inlined.
#[cold]
#[inline(never)]
fn describe_shape<T: Element, S: Shape>(shape: S) -> String {
    describe(T::DTYPE, &shape.dims())
}

/// The tensor type as text, as in `f32[?, Batch, 3]`.
fn describe_type<T: Element, S: Shape>() -> String {
    let names = S::names();
    let dims: Vec<String> = (0..S::RANK)
        .map(|axis| match (S::STATIC[axis], names[axis]) {
            (Some(extent), _) => extent.to_string(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => "?".to_owned(),
        })
        .collect();
    format!("{}[{}]", T::DTYPE, dims.join(", "))
}
