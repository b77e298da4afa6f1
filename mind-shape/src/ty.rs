//! The types of values.

use crate::DType;

/// The highest rank a value may have.
pub const MAX_RANK: usize = 8;

/// An extent that is not known yet; shown as `?`.
pub const UNKNOWN: i64 = -1;

/// The type of a value as far as it is known before the program runs: element type and extents, outermost first.
///
/// ```
/// use mind_shape::{DType, Type, UNKNOWN};
/// const BATCH: Type = Type::new(DType::F32, &[UNKNOWN, 784]);
/// assert_eq!((BATCH.rank(), BATCH.extent(1), BATCH.is_static()), (2, 784, false));
/// assert_eq!(BATCH.text().as_str(), "f32[?, 784]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    dtype: DType,
    rank: u8,
    /// The extents; 0 from the rank on, so that equal types are equal field by field.
    dims: [i64; MAX_RANK],
}

impl Type {
    /// A tensor type. Each extent must be at least 1 or [`UNKNOWN`]; [`crate::rules::input`] checks this.
    ///
    /// # Panics
    /// If there are more than [`MAX_RANK`] extents.
    #[inline]
    pub const fn new(dtype: DType, extents: &[i64]) -> Self {
        assert!(extents.len() <= MAX_RANK, "a value has at most rank 8");
        let (mut dims, mut axis) = ([0; MAX_RANK], 0);
        while axis < extents.len() {
            dims[axis] = extents[axis];
            axis += 1;
        }
        Self { dtype, rank: extents.len() as u8, dims }
    }

    /// The type of a single number.
    #[inline]
    pub const fn scalar(dtype: DType) -> Self {
        Self { dtype, rank: 0, dims: [0; MAX_RANK] }
    }

    /// The type of the elements.
    #[inline]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of dimensions.
    #[inline]
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The extents, outermost first.
    #[inline]
    pub const fn dims(&self) -> &[i64] {
        self.dims.split_at(self.rank as usize).0
    }

    /// The extent of an axis.
    ///
    /// # Panics
    /// If the axis is not below the rank.
    #[inline]
    pub const fn extent(&self, axis: usize) -> i64 {
        assert!(axis < self.rank as usize, "the axis is within the rank");
        self.dims[axis]
    }

    /// Whether every extent is known.
    #[inline]
    pub const fn is_static(&self) -> bool {
        let mut axis = 0;
        while axis < self.rank as usize {
            if self.dims[axis] == UNKNOWN {
                return false;
            }
            axis += 1;
        }
        true
    }

    /// Whether another type has the same extents, known or not.
    #[inline]
    pub(crate) const fn has_shape_of(&self, other: &Self) -> bool {
        if self.rank != other.rank {
            return false;
        }
        let mut axis = 0;
        while axis < MAX_RANK {
            if self.dims[axis] != other.dims[axis] {
                return false;
            }
            axis += 1;
        }
        true
    }

    /// The number of elements; `None` if an extent is [`UNKNOWN`] or the number exceeds 64 bits.
    pub const fn element_count(&self) -> Option<i64> {
        if self.is_static() { crate::extent::element_count(self.dims()) } else { None }
    }

    /// The type with the same extents and another element type.
    pub const fn with_dtype(self, dtype: DType) -> Self {
        Self { dtype, ..self }
    }

    /// The text in the language: `f32[32, 784]`, and `f32` for a single number; an unknown extent is `?`.
    pub const fn text(&self) -> crate::Text {
        let mut text = crate::Text::new();
        text.push_type(self);
        text
    }
}

impl core::fmt::Display for Type {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text().as_str())
    }
}
