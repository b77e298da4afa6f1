//! Views: which element of which source stands at an index.

use crate::{
    dim::Dim,
    ir::Slice,
    plan::{BufferId, Scalar},
    ty::Shape,
};

/// A strided arrangement of elements of a source; index `i` is at `offset + sum of i[k] * strides[k]`.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Where the elements lie.
    pub source: Source,
    /// The element at index zero.
    pub offset: Dim,
    /// The extents.
    pub shape: Shape,
    /// In elements, none negative; 0 where the axis is broadcast. All 0 for a single number.
    pub strides: Vec<Dim>,
}

/// Where the elements of a view lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In memory.
    Buffer(BufferId),
    /// There is only one.
    Scalar(Scalar),
}

const FITS: &str = "a stride is a product of extents of a type, and those are within the limits";

impl View {
    /// All of a buffer in its own order.
    pub fn contiguous(buffer: BufferId, shape: &Shape) -> Self {
        let strides = row_major(shape);
        Self { source: Source::Buffer(buffer), offset: Dim::ZERO, shape: shape.clone(), strides }
    }

    /// A single number, at every index of a shape.
    pub fn scalar(scalar: Scalar, shape: &Shape) -> Self {
        let strides = vec![Dim::ZERO; shape.rank()];
        Self { source: Source::Scalar(scalar), offset: Dim::ZERO, shape: shape.clone(), strides }
    }

    /// The elements of another buffer at the same places.
    pub(super) fn of(&self, buffer: BufferId) -> Self {
        Self { source: Source::Buffer(buffer), ..self.clone() }
    }

    /// The buffer, if the elements are in memory.
    pub fn buffer(&self) -> Option<BufferId> {
        match self.source {
            Source::Buffer(buffer) => Some(buffer),
            Source::Scalar(_) => None,
        }
    }

    /// Whether the elements lie in memory one after the other from the start of the buffer.
    pub fn is_contiguous(&self) -> bool {
        let placed = self.buffer().is_some() && self.offset == Dim::ZERO;
        let expected = row_major(&self.shape);
        let mut axes = self.shape.iter().zip(self.strides.iter().zip(&expected));
        placed && axes.all(|(extent, (stride, expected))| extent.is_one() || stride == expected)
    }

    /// Axis `i` of the result is axis `permutation[i]`.
    pub fn transpose(&self, permutation: &[i64]) -> Self {
        let at = |axis: &i64| usize::try_from(*axis).expect("a verified permutation");
        Self {
            source: self.source.clone(),
            offset: self.offset.clone(),
            shape: permutation.iter().map(|axis| self.shape[at(axis)].clone()).collect(),
            strides: permutation.iter().map(|axis| self.strides[at(axis)].clone()).collect(),
        }
    }

    /// With extent-1 axes where `shape` has them and `self` has not, or the other way round.
    pub fn insert_or_remove_ones(&self, shape: &Shape) -> Self {
        let axes = self.shape.iter().zip(&self.strides);
        let mut kept = axes.filter(|(extent, _)| !extent.is_one()).map(|(_, stride)| stride.clone());
        let differ = "the shapes differ in ones only";
        let strides = shape
            .iter()
            .map(|extent| if extent.is_one() { Dim::ZERO } else { kept.next().expect(differ) })
            .collect();
        assert!(kept.next().is_none(), "{differ}");
        Self { source: self.source.clone(), offset: self.offset.clone(), strides, shape: shape.clone() }
    }

    /// Right-aligned to a shape it broadcasts to.
    pub fn broadcast(&self, shape: &Shape) -> Self {
        let added = shape.rank() - self.shape.rank();
        let strides = shape.iter().enumerate().map(|(axis, extent)| match axis.checked_sub(added) {
            Some(own) if &self.shape[own] == extent => self.strides[own].clone(),
            Some(_) | None => Dim::ZERO,
        });
        Self {
            source: self.source.clone(),
            offset: self.offset.clone(),
            strides: strides.collect(),
            shape: shape.clone(),
        }
    }

    /// A box of it, where its places are within the limits of dims; they are in a contiguous tensor.
    pub fn slice(&self, slice: &Slice, shape: &Shape) -> Option<Self> {
        let offset = self.offset_of(&slice.starts)?;
        let mut strides = Vec::with_capacity(self.strides.len());
        for ((extent, step), stride) in shape.iter().zip(&slice.steps).zip(&self.strides) {
            // No step is taken along an axis of one element, whatever its length.
            let is_one = extent.is_one();
            strides.push(if is_one { Dim::ZERO } else { stride.mul(&Dim::literal(*step)).ok()? });
        }
        Some(Self { source: self.source.clone(), offset, shape: shape.clone(), strides })
    }

    /// A single element of it, where its place is within the limits of dims; it is in a contiguous tensor.
    pub fn index(&self, indices: &[Dim]) -> Option<Self> {
        let offset = self.offset_of(indices)?;
        Some(Self { source: self.source.clone(), offset, shape: Shape::scalar(), strides: Vec::new() })
    }

    /// Where the element at these indices is.
    fn offset_of(&self, indices: &[Dim]) -> Option<Dim> {
        assert_eq!(indices.len(), self.strides.len(), "an index for each axis");
        let along = indices.iter().zip(&self.strides);
        along
            .map(|(index, stride)| index.mul(stride))
            .try_fold(self.offset.clone(), |sum, part| sum.add(&part.ok()?).ok())
    }

    /// The same elements in row-major order in another shape, where no element has to move.
    pub fn reshape(&self, shape: &Shape) -> Option<Self> {
        if let Source::Scalar(scalar) = &self.source {
            return Some(Self::scalar(scalar.clone(), shape));
        }
        let ones =
            |shape: &Shape| shape.iter().filter(|extent| !extent.is_one()).cloned().collect::<Vec<_>>();
        if ones(&self.shape) == ones(shape) {
            return Some(self.insert_or_remove_ones(shape));
        }
        // From the outside in, each run of own axes that is contiguous in itself covers a run of new axes.
        let expected = row_major(&self.shape);
        let mut scale = None;
        for ((extent, stride), expected) in self.shape.iter().zip(&self.strides).zip(&expected) {
            if extent.is_one() {
                continue;
            }
            let ratio = stride.exact_div(expected).ok()??;
            if scale.get_or_insert_with(|| ratio.clone()) != &ratio {
                return None;
            }
        }
        let scale = scale.unwrap_or(Dim::ONE);
        let strides = row_major(shape).iter().map(|stride| stride.mul(&scale).ok()).collect::<Option<_>>()?;
        Some(Self { source: self.source.clone(), offset: self.offset.clone(), shape: shape.clone(), strides })
    }
}

/// The strides of a contiguous tensor.
pub fn row_major(shape: &Shape) -> Vec<Dim> {
    let mut strides = vec![Dim::ONE; shape.rank()];
    for axis in (1..shape.rank()).rev() {
        strides[axis - 1] = strides[axis].mul(&shape[axis]).expect(FITS);
    }
    strides
}

/// Joins neighbouring axes that every view steps through alike; at least one is left.
pub fn collapse_all(extents: &mut Vec<Dim>, views: &mut [&mut View]) {
    let mut joinable = vec![true; extents.len()];
    collapse(extents, views, &mut joinable);
    if extents.is_empty() {
        extents.push(Dim::ONE);
        for view in views {
            view.strides.push(Dim::ZERO);
            view.shape = Shape::new(extents.clone());
        }
    }
}

/// Joins neighbouring axes that every view steps through alike and that `joinable` allows; the extents and, for each
/// view, the strides change together.
pub fn collapse(extents: &mut Vec<Dim>, views: &mut [&mut View], joinable: &mut Vec<bool>) {
    assert_eq!(extents.len(), joinable.len(), "a flag for each axis");
    let drop = |extents: &mut Vec<Dim>, views: &mut [&mut View], flags: &mut Vec<bool>, axis: usize| {
        extents.remove(axis);
        flags.remove(axis);
        for view in views.iter_mut() {
            view.strides.remove(axis);
        }
    };
    for axis in (0..extents.len()).rev() {
        if extents[axis].is_one() {
            drop(extents, views, joinable, axis);
        }
    }
    for axis in (1..extents.len()).rev() {
        let follows = |view: &&mut View| {
            view.strides[axis].mul(&extents[axis]).is_ok_and(|joined| view.strides[axis - 1] == joined)
        };
        if joinable[axis - 1] == joinable[axis]
            && views.iter().all(follows)
            && let Ok(joined) = extents[axis - 1].mul(&extents[axis])
        {
            extents[axis - 1] = joined;
            for view in views.iter_mut() {
                view.strides[axis - 1] = view.strides[axis].clone();
            }
            drop(extents, views, joinable, axis);
        }
    }
    for view in views {
        view.shape = Shape::new(extents.clone());
    }
}
