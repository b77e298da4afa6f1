//! Element types and the types of values.

/// The highest rank a value may have.
pub const MAX_RANK: usize = 8;

/// An extent that is not known yet; shown as `?`.
pub const UNKNOWN: i64 = -1;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers.
    I64,
    /// Truth values.
    Bool,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::F32, Self::F64, Self::I32, Self::I64, Self::Bool];

    /// As written in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Bool => "bool",
        }
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The larger, the more of the other types' values it holds.
    pub(crate) const fn holds(self) -> u8 {
        match self {
            Self::Bool => 0,
            Self::I32 => 1,
            Self::I64 => 2,
            Self::F32 => 3,
            Self::F64 => 4,
        }
    }

    /// Whether both are the same one; `==` is not for `const fn`.
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

/// What is known of a value before the program runs: element type and extents, outermost first.
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
    /// A tensor type; each extent is at least 1 or [`UNKNOWN`], which [`crate::rules::input`] checks.
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

    /// Whether another has the same extents, known or not.
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

    /// The number of elements; nothing where an extent is [`UNKNOWN`].
    pub const fn element_count(&self) -> Option<i64> {
        if self.is_static() { crate::extent::element_count(self.dims()) } else { None }
    }

    /// The same extents with elements of another type.
    pub const fn with_dtype(self, dtype: DType) -> Self {
        Self { dtype, ..self }
    }

    /// As in the language: `f32[32, 784]`, and `f32` for a single number; an unknown extent is `?`.
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
