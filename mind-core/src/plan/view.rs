//! Views: the element of a source at each index.

use crate::{
    dim::Dim,
    ir::{Slice, Windows},
    plan::{BufferId, Scalar},
    ty::Shape,
};

/// A strided arrangement of the elements of a source. Index `i` is at `offset + sum of i[k] * strides[k]`.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The source of the elements.
    pub source: Source,
    /// The element at index zero.
    pub offset: Dim,
    /// The extents.
    pub shape: Shape,
    /// The strides in elements, none negative; 0 along a broadcast axis. All are 0 for a scalar.
    pub strides: Vec<Dim>,
}

/// The source of the elements of a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A buffer in memory.
    Buffer(BufferId),
    /// A scalar.
    Scalar(Scalar),
    /// The numbers from 0 up, as many as the dim. They take no memory: a loop counts them.
    Positions(Dim),
}

const FITS: &str = "a stride is a product of extents of a type, and those are within the limits";

impl View {
    /// A whole buffer, in row-major order.
    pub fn contiguous(buffer: BufferId, shape: &Shape) -> Self {
        let strides = row_major(shape);
        Self { source: Source::Buffer(buffer), offset: Dim::ZERO, shape: shape.clone(), strides }
    }

    /// A scalar at every index of a shape.
    pub fn scalar(scalar: Scalar, shape: &Shape) -> Self {
        let strides = vec![Dim::ZERO; shape.rank()];
        Self { source: Source::Scalar(scalar), offset: Dim::ZERO, shape: shape.clone(), strides }
    }

    /// The same view of another buffer.
    pub(super) fn of(&self, buffer: BufferId) -> Self {
        Self { source: Source::Buffer(buffer), ..self.clone() }
    }

    /// The buffer, if the elements are in memory.
    pub fn buffer(&self) -> Option<BufferId> {
        match self.source {
            Source::Buffer(buffer) => Some(buffer),
            Source::Scalar(_) | Source::Positions(_) => None,
        }
    }

    /// Whether the elements are contiguous in memory, from the start of the buffer.
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

    /// Inserts and removes axes of extent 1, so that the view has this shape.
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

    /// Broadcasts the view to a shape, aligned at the last axes.
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

    /// A slice of the view; `None` if an offset or a stride exceeds the limits of dims, which does not happen in a
    /// contiguous tensor.
    pub fn slice(&self, slice: &Slice, shape: &Shape) -> Option<Self> {
        let offset = self.offset_of(&slice.starts)?;
        let mut strides = Vec::with_capacity(self.strides.len());
        for ((extent, step), stride) in shape.iter().zip(&slice.steps).zip(&self.strides) {
            // An axis of one element is never stepped along, so its stride does not matter.
            let is_one = extent.is_one();
            strides.push(if is_one { Dim::ZERO } else { stride.mul(&Dim::literal(*step)).ok()? });
        }
        Some(Self { source: self.source.clone(), offset, shape: shape.clone(), strides })
    }

    /// The windows of the view, of this shape; `None` if a stride exceeds the limits of dims, which does not happen in a
    /// contiguous tensor.
    pub fn windows(&self, windows: &Windows, shape: &Shape) -> Option<Self> {
        let mut strides = self.strides.clone();
        for ((place, stride), dilation) in windows.places().zip(&windows.strides).zip(&windows.dilations) {
            let along = strides[place].clone();
            // An axis of one element is never stepped along, so its stride does not matter.
            let times = |axis: usize, step: i64| match shape[axis].is_one() {
                true => Some(Dim::ZERO),
                false => along.mul(&Dim::literal(step)).ok(),
            };
            strides[place] = times(place, *stride)?;
            strides.insert(place + 1, times(place + 1, *dilation)?);
        }
        Some(Self { source: self.source.clone(), offset: self.offset.clone(), shape: shape.clone(), strides })
    }

    /// A single element of the view; `None` if its offset exceeds the limits of dims, which does not happen in a
    /// contiguous tensor.
    pub fn index(&self, indices: &[Dim]) -> Option<Self> {
        let offset = self.offset_of(indices)?;
        Some(Self { source: self.source.clone(), offset, shape: Shape::scalar(), strides: Vec::new() })
    }

    /// The offset of the element at these indices.
    fn offset_of(&self, indices: &[Dim]) -> Option<Dim> {
        assert_eq!(indices.len(), self.strides.len(), "an index for each axis");
        let along = indices.iter().zip(&self.strides);
        along
            .map(|(index, stride)| index.mul(stride))
            .try_fold(self.offset.clone(), |sum, part| sum.add(&part.ok()?).ok())
    }

    /// Reshapes the view, with the elements in row-major order; `None` if elements would have to move.
    pub fn reshape(&self, shape: &Shape) -> Option<Self> {
        if let Source::Scalar(scalar) = &self.source {
            return Some(Self::scalar(scalar.clone(), shape));
        }
        let ones =
            |shape: &Shape| shape.iter().filter(|extent| !extent.is_one()).cloned().collect::<Vec<_>>();
        if ones(&self.shape) == ones(shape) {
            return Some(self.insert_or_remove_ones(shape));
        }
        // No element moves if the first axes stay, and the strides of the rest are a common multiple of the row-major
        // strides.
        let same = self.shape.iter().zip(shape.iter()).take_while(|(old, new)| old == new).count();
        let [old, new] = [&self.shape, shape].map(|shape| Shape::from_slice(&shape[same..]));
        let (kept, rest) = self.strides.split_at(same);
        let mut scale = None;
        for ((extent, stride), expected) in old.iter().zip(rest).zip(&row_major(&old)) {
            if extent.is_one() {
                continue;
            }
            let ratio = stride.exact_div(expected).ok()??;
            if scale.get_or_insert_with(|| ratio.clone()) != &ratio {
                return None;
            }
        }
        let scale = scale.unwrap_or(Dim::ONE);
        let rest =
            row_major(&new).iter().map(|stride| stride.mul(&scale).ok()).collect::<Option<Vec<_>>>()?;
        let strides = [kept, &rest].concat();
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

/// Merges neighbouring axes that every view traverses alike. At least one axis is left.
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

/// Merges neighbouring axes that every view traverses alike and whose flags in `joinable` are equal. Also removes axes
/// whose extent is 1. The extents, the flags and the strides of all views change together.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reshape_of_a_part_is_a_view_if_no_element_moves() {
        // Six columns of eight, in five rows.
        let whole = View::contiguous(BufferId(0), &Shape::literal(&[5, 8]));
        let part = View { shape: Shape::literal(&[5, 6]), ..whole };
        let strides = |shape: &[i64]| Some(part.reshape(&Shape::literal(shape))?.strides);
        let dims = |strides: &[i64]| Some(Shape::literal(strides).to_vec());
        assert_eq!(strides(&[5, 2, 3]), dims(&[8, 3, 1]));
        assert_eq!(strides(&[30]), None);
        assert_eq!(strides(&[10, 3]), None);
    }
}
