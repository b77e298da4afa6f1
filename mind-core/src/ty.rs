//! Element types, shapes and the types of values.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use crate::{
    diag::Code,
    dim::{Bindings, Dim, DimResult, Overflow},
};

pub use mind_shape::{DType, Kind, MAX_RANK};

/// The extents of a tensor, outermost first. Clones are cheap.
#[derive(Clone)]
pub struct Shape(ExtentStorage);

/// Up to two extents are stored in place, and more in an allocation that clones share. Every shape has one
/// representation.
#[derive(Clone)]
enum ExtentStorage {
    Few(Few, [Dim; 2]),
    Many(Arc<[Dim]>),
}

/// The number of extents in place; the unused ones are 0. It has 64 bits, so that a shape is moved in whole words.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Few {
    Zero,
    One,
    Two,
}

impl Shape {
    /// The shape of a single number.
    pub const fn scalar() -> Self {
        Self(ExtentStorage::Few(Few::Zero, [Dim::ZERO; 2]))
    }

    /// The shape with these extents.
    pub fn new(dims: impl IntoIterator<Item = Dim>) -> Self {
        dims.into_iter().collect()
    }

    /// The shape with these known extents.
    pub fn literal(extents: &[i64]) -> Self {
        extents.iter().copied().map(Dim::literal).collect()
    }

    /// The shape with copies of these extents.
    pub fn from_slice(dims: &[Dim]) -> Self {
        dims.iter().cloned().collect()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.len()
    }

    /// The number of elements.
    ///
    /// # Errors
    /// If the number does not fit into 64 bits, or the extents have more terms than [`Dim::product`] multiplies.
    pub fn element_count(&self) -> DimResult {
        if let Some(count) = self.literal_count() {
            return Ok(Dim::literal(count));
        }
        Dim::product(self)
    }

    /// The number of elements, if every extent is known and the number fits into 64 bits.
    fn literal_count(&self) -> Option<i64> {
        self.iter().try_fold(1i64, |product, dim| product.checked_mul(dim.as_literal()?))
    }

    /// The extents, if all are known.
    pub fn as_literals(&self) -> Option<Vec<i64>> {
        self.iter().map(Dim::as_literal).collect()
    }

    /// Replaces every bound symbol.
    ///
    /// # Errors
    /// If a dim does not fit into 64 bits.
    pub fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        if bindings.is_empty() {
            return Ok(self.clone());
        }
        self.iter().map(|dim| dim.substitute(bindings)).collect()
    }
}

impl Deref for Shape {
    type Target = [Dim];
    #[inline]
    fn deref(&self) -> &[Dim] {
        match &self.0 {
            ExtentStorage::Few(Few::Zero, _) => &[],
            ExtentStorage::Few(Few::One, dims) => &dims[..1],
            ExtentStorage::Few(Few::Two, dims) => dims,
            ExtentStorage::Many(dims) => dims,
        }
    }
}

impl FromIterator<Dim> for Shape {
    #[inline]
    fn from_iter<I: IntoIterator<Item = Dim>>(dims: I) -> Self {
        let mut dims = dims.into_iter();
        let Some(first) = dims.next() else { return Self::scalar() };
        let Some(second) = dims.next() else { return Self(ExtentStorage::Few(Few::One, [first, Dim::ZERO])) };
        let Some(third) = dims.next() else { return Self(ExtentStorage::Few(Few::Two, [first, second])) };
        Self(ExtentStorage::Many(many([first, second, third].into_iter().chain(dims))))
    }
}

#[inline(never)]
fn many(mut dims: impl Iterator<Item = Dim>) -> Arc<[Dim]> {
    // Nearly every shape is within the rank limit, and is then allocated once.
    let mut few = [const { Dim::ZERO }; MAX_RANK];
    let mut count = 0;
    for (place, dim) in few.iter_mut().zip(&mut dims) {
        *place = dim;
        count += 1;
    }
    let few = few.into_iter().take(count);
    match if count == MAX_RANK { dims.next() } else { None } {
        None => few.collect(),
        Some(next) => few.chain([next]).chain(dims).collect::<Vec<_>>().into(),
    }
}

// A shape is compared and shown as the list of its extents.

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // Comparing the `Arc`s is fast for clones, which share their extents.
            (ExtentStorage::Many(dims), ExtentStorage::Many(others)) => dims == others,
            _ => **self == **other,
        }
    }
}

impl Eq for Shape {}

impl PartialOrd for Shape {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Shape {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shape").field(&&**self).finish()
    }
}

/// Writes `[2, N]`, or `[2,N]` with `{:#}`.
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

/// Whether Core v1 has this element type.
pub(crate) fn is_core_v1(dtype: DType) -> bool {
    match dtype {
        DType::I32 | DType::I64 | DType::F32 | DType::F64 => true,
        DType::Bool | DType::U8 => false,
    }
}

/// The type of a value: its element type and shape.
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

    /// The same element type with another shape.
    pub fn with_shape(&self, shape: Shape) -> Self {
        Self::new(self.dtype, shape)
    }

    /// Whether a quick check shows that a value may have this shape: at most two extents, all known and at least 1,
    /// with a product that fits into 64 bits.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        let ExtentStorage::Few(few, [first, second]) = &self.shape.0 else { return false };
        let (Some(first), Some(second)) = (first.as_literal(), second.as_literal()) else { return false };
        match few {
            Few::Zero => true,
            Few::One => first >= 1,
            Few::Two => first >= 1 && second >= 1 && first.checked_mul(second).is_some(),
        }
    }

    /// Replaces every bound symbol.
    ///
    /// # Errors
    /// If a dim does not fit into 64 bits.
    pub fn substitute(&self, bindings: &Bindings) -> Result<Self, Overflow> {
        Ok(self.with_shape(self.shape.substitute(bindings)?))
    }
}

/// The reason why no value may have this type: its rank, an extent or its element count is beyond the limits. `None`
/// for a valid type.
#[inline]
pub(crate) fn type_fault(ty: &Type) -> Option<(Code, String)> {
    if ty.is_plain() { None } else { unusual_type_fault(ty) }
}

/// As [`type_fault`], for a type that the quick check does not accept.
#[inline(never)]
fn unusual_type_fault(ty: &Type) -> Option<(Code, String)> {
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
    let problem = match ty.shape.element_count().err()? {
        Overflow::Range => format!("{ty} has more than 2^63 elements"),
        // The message leaves out the type, since the type is too long.
        overflow @ Overflow::Large { .. } => overflow.to_string(),
    };
    Some((Code::E1008, problem))
}

/// Writes the type as in the surface language: `f32[N, 784]`, and `f32` for a single number.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dtype.fmt(f)?;
        if self.rank() == 0 { Ok(()) } else { self.shape.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    #[test]
    fn shapes_compare_as_their_extents_whatever_holds_them() {
        let all: Vec<Vec<Dim>> = [vec![], vec!["N".into()], vec![1.into()], vec![1.into(), 0.into()]]
            .into_iter()
            .chain((2..=10).map(|rank| (0..rank).map(Dim::literal).collect()))
            .collect();
        let state = RandomState::new();
        for dims in &all {
            let shape = Shape::from_slice(dims);
            assert_eq!((&shape[..], shape.rank()), (&dims[..], dims.len()));
            assert_eq!(format!("{shape:?}"), format!("Shape({dims:?})"));
            assert_eq!(state.hash_one(&shape), state.hash_one(&dims[..]));
            for others in &all {
                let other = Shape::new(others.clone());
                assert_eq!(shape == other, dims == others, "{shape} and {other}");
                assert_eq!(shape.cmp(&other), dims.cmp(others), "{shape} and {other}");
            }
        }
    }
}
