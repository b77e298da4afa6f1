//! Element types, shapes and the types of values.

use std::{fmt, ops::Deref, sync::Arc};

use crate::{
    diag::Code,
    dim::{Bindings, Dim, DimResult, Overflow},
};

/// The highest rank a value may have.
pub const MAX_RANK: usize = 8;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// Truth values: read in MIC types and kept for extension results; no Core v1 operation takes it.
    Bool,
    /// 32-bit signed integers; arithmetic wraps.
    I32,
    /// 64-bit signed integers; arithmetic wraps.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl DType {
    /// Every element type.
    pub const ALL: [Self; 5] = [Self::Bool, Self::I32, Self::I64, Self::F32, Self::F64];
    /// The element types that tensors of a program can have.
    pub const NUMERIC: [Self; 4] = [Self::I32, Self::I64, Self::F32, Self::F64];

    /// As written in every form of the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is `i32` or `i64`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// The size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The extents of a tensor, outermost first; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape(Arc<[Dim]>);

impl Shape {
    /// The shape of a single number.
    pub fn scalar() -> Self {
        Self(Arc::new([]))
    }

    /// The shape with these extents.
    pub fn new(dims: impl Into<Arc<[Dim]>>) -> Self {
        Self(dims.into())
    }

    /// The shape with these known extents.
    pub fn literal(extents: &[i64]) -> Self {
        extents.iter().copied().map(Dim::literal).collect()
    }

    /// The shape with copies of these extents.
    pub fn from_slice(dims: &[Dim]) -> Self {
        Self(dims.iter().cloned().collect())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements.
    ///
    /// # Errors
    /// If it leaves 64 bits.
    pub fn element_count(&self) -> DimResult {
        if let Some(count) = self.literal_count() {
            return Ok(Dim::literal(count));
        }
        self.0.iter().try_fold(Dim::ONE, |product, dim| product.mul(dim))
    }

    /// The number of elements where every extent is known and it fits 64 bits.
    fn literal_count(&self) -> Option<i64> {
        self.0.iter().try_fold(1i64, |product, dim| product.checked_mul(dim.as_literal()?))
    }

    /// The extents where all are known.
    pub fn as_literals(&self) -> Option<Vec<i64>> {
        self.0.iter().map(Dim::as_literal).collect()
    }

    /// With every bound symbol replaced.
    ///
    /// # Errors
    /// If a dim leaves 64 bits.
    pub fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        if bindings.is_empty() {
            return Ok(self.clone());
        }
        self.0.iter().map(|dim| dim.substitute(bindings)).collect()
    }
}

impl Deref for Shape {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        &self.0
    }
}

impl FromIterator<Dim> for Shape {
    fn from_iter<I: IntoIterator<Item = Dim>>(dims: I) -> Self {
        // Nearly every shape is within the limit, and then takes one allocation.
        let mut dims = dims.into_iter();
        let mut few = [const { Dim::ONE }; MAX_RANK];
        let mut count = 0;
        for (place, dim) in few.iter_mut().zip(&mut dims) {
            *place = dim;
            count += 1;
        }
        let few = few.into_iter().take(count);
        match if count == MAX_RANK { dims.next() } else { None } {
            None => Self(few.collect()),
            Some(next) => Self(few.chain([next]).chain(dims).collect::<Vec<_>>().into()),
        }
    }
}

/// `[2, N]`; with `{:#}` without spaces, `[2,N]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.iter().enumerate() {
            match (i, f.alternate()) {
                (0, false) => write!(f, "{dim}")?,
                (0, true) => write!(f, "{dim:#}")?,
                (_, false) => write!(f, ", {dim}")?,
                (_, true) => write!(f, ",{dim:#}")?,
            }
        }
        f.write_str("]")
    }
}

/// What is known of a value before the program runs: element type and shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// The type of the elements.
    pub dtype: DType,
    /// The extents.
    pub shape: Shape,
}

impl Type {
    /// A tensor type.
    pub fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, shape }
    }

    /// The type of a single number.
    pub fn scalar(dtype: DType) -> Self {
        Self::new(dtype, Shape::scalar())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The same elements in another shape.
    pub fn with_shape(&self, shape: Shape) -> Self {
        Self::new(self.dtype, shape)
    }

    /// With every bound symbol replaced.
    ///
    /// # Errors
    /// If a dim leaves 64 bits.
    pub fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        Ok(self.with_shape(self.shape.substitute(bindings)?))
    }
}

/// What is wrong with a type whatever value has it: rank, extents and element count are within the limits.
pub(crate) fn type_fault(ty: &Type) -> Option<(Code, String)> {
    let positive = |dim: &Dim| dim.as_literal().is_some_and(|extent| extent >= 1);
    if ty.rank() <= MAX_RANK && ty.shape.iter().all(positive) && ty.shape.literal_count().is_some() {
        return None;
    }
    if ty.rank() > MAX_RANK {
        return Some((Code::E1008, format!("rank {} exceeds the limit of {MAX_RANK}", ty.rank())));
    }
    for (axis, dim) in ty.shape.iter().enumerate() {
        if dim.is_below_one() {
            return Some((Code::E3006, format!("dimension {axis} of {ty} is {dim}, needed at least 1")));
        }
    }
    ty.shape.element_count().is_err().then(|| (Code::E1008, format!("{ty} has more than 2^63 elements")))
}

/// As in the surface language: `f32[N, 784]`, and `f32` for a single number.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dtype.fmt(f)?;
        if self.rank() == 0 { Ok(()) } else { self.shape.fmt(f) }
    }
}
