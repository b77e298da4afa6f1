//! Parts of tensors: rows, slices and selected indices.
//!
//! Tensors are contiguous, so a part that is not contiguous is copied. Only rows, and other parts at an index of the
//! outermost axis, are views.

use super::axes::{Axis, RemoveAxis, inner, without};
use super::ranges::{Ranges, within};
use super::strides;
use crate::element::Element;
use crate::error::describe;
use crate::kernels::copy::copy_strided;
use crate::shape::{Rank, Shape};
use crate::tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};

impl<T: Element, S: Shape> TensorRef<T, S> {
    /// A row of a matrix. Nothing is copied, and a static number of columns stays static.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(x.row(1), Tensor::from([4.0, 5.0, 6.0]));
    /// ```
    ///
    /// # Panics
    /// If the row does not exist (E6001).
    #[must_use]
    #[track_caller]
    pub fn row(&self, index: usize) -> TensorView<'_, T, S::Inner>
    where
        S: Rank<2> + RemoveAxis,
    {
        let index = inside(index, 0, "row", self);
        outermost(self, index)
    }

    /// A mutable view of a row of a matrix.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let mut x: Tensor![f32; 2, 2] = Tensor::zeros();
    /// x.row_mut(1).fill(7.0);
    /// assert_eq!(x.as_slice(), [0.0, 0.0, 7.0, 7.0]);
    /// ```
    ///
    /// # Panics
    /// If the row does not exist (E6001).
    #[must_use]
    #[track_caller]
    pub fn row_mut(&mut self, index: usize) -> TensorViewMut<'_, T, S::Inner>
    where
        S: Rank<2> + RemoveAxis,
    {
        let index = inside(index, 0, "row_mut", self);
        let shape = inner(&self.shape());
        let len = shape.len();
        TensorViewMut::from_elements(shape, &mut self.as_mut_slice()[index * len..][..len])
    }

    /// The rows of a matrix, from the first to the last. Nothing is copied.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// let largest: Vec<f32> = x.rows().map(|row| row.max()).collect();
    /// assert_eq!(largest, [3.0, 6.0]);
    /// ```
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = TensorView<'_, T, S::Inner>> + ExactSizeIterator
    where
        S: Rank<2> + RemoveAxis,
    {
        self.outer_iter()
    }

    /// The part at each index of the outermost axis: the rows of a matrix, the images of a batch. Nothing is copied,
    /// and static extents stay static.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let images: Tensor![f32; ?, 2, 2] = Tensor::from_fn_with((3, mind_rt::Const, mind_rt::Const), |[n, _, _]| n as f32);
    /// let sums: Vec<f32> = images.outer_iter().map(|image| image.sum()).collect();
    /// assert_eq!(sums, [0.0, 4.0, 8.0]);
    /// ```
    pub fn outer_iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = TensorView<'_, T, S::Inner>> + ExactSizeIterator
    where
        S: RemoveAxis,
    {
        (0..self.shape().padded()[0]).map(|index| outermost(self, index))
    }

    /// The part at each index of an axis, copied to new tensors. For the outermost axis,
    /// [`outer_iter`](Self::outer_iter) copies nothing.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// let columns: Vec<Vec<f32>> = x.axis_iter(Axis(1)).map(|column| column.to_vec()).collect();
    /// assert_eq!(columns, [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004); during iteration, if the memory cannot be allocated (E6004).
    #[track_caller]
    pub fn axis_iter(
        &self,
        axis: Axis,
    ) -> impl DoubleEndedIterator<Item = Tensor<T, S::Smaller>> + ExactSizeIterator
    where
        S: RemoveAxis,
    {
        let along = axis.below(S::RANK, "axis_iter", self);
        (0..self.shape().padded()[along]).map(move |index| self.index_axis(axis, index))
    }

    /// The part at one index of an axis, copied to a new tensor: `x.index_axis(Axis(1), 0)` is the first column.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(x.index_axis(Axis(1), 0).as_slice(), [1.0, 4.0]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), the index is out of range (E6001), or the memory cannot be allocated
    /// (E6004).
    #[must_use]
    #[track_caller]
    pub fn index_axis(&self, axis: Axis, index: usize) -> Tensor<T, S::Smaller>
    where
        S: RemoveAxis,
    {
        let axis = axis.below(S::RANK, "index_axis", self);
        let index = inside(index, axis, "index_axis", self);
        let mut steps = strides(&self.shape())[..S::RANK].to_vec();
        let offset = index.wrapping_mul(steps.remove(axis));
        copied(without(&self.shape(), axis), &steps, offset, self)
    }

    /// The parts at the given indices of an axis, in this order, copied to a new tensor. An index may occur more than
    /// once.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![i32; 3, 2] = Tensor::from([[1, 2], [3, 4], [5, 6]]);
    /// assert_eq!(x.select(Axis(0), &[2, 0, 2]).as_slice(), [5, 6, 1, 2, 5, 6]);
    /// assert_eq!(x.select(Axis(1), &[1]).as_slice(), [2, 4, 6]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), an index is out of range (E6001), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn select<const R: usize>(&self, axis: Axis, indices: &[usize]) -> Tensor<T, S::Dynamic>
    where
        S: Rank<R>,
    {
        let axis = axis.below(R, "select", self);
        indices.iter().for_each(|index| {
            inside(*index, axis, "select", self);
        });
        let mut extents: [usize; R] = self.dims();
        let extent = std::mem::replace(&mut extents[axis], indices.len());
        let mut out = stale::<T, S::Dynamic>(&extents);
        if out.is_empty() {
            return out;
        }
        // The length of a contiguous piece: an index of the axis with all axes inside it.
        let piece: usize = extents[axis + 1..].iter().product();
        let from = self.as_slice().chunks_exact(extent * piece);
        for (from, to) in from.zip(out.as_mut_slice().chunks_exact_mut(indices.len() * piece)) {
            for (index, to) in indices.iter().zip(to.chunks_exact_mut(piece)) {
                to.copy_from_slice(&from[index * piece..][..piece]);
            }
        }
        out
    }

    /// The part within a range of each axis, copied to a new tensor of the same rank. `..` takes a whole axis.
    ///
    /// A range may be empty. `mind!(x[1, ..;2])` also takes single indices and steps.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(x.slice((.., 1..3)).as_slice(), [2.0, 3.0, 5.0, 6.0]);
    /// assert_eq!(x.slice((1.., ..=0)).as_slice(), [4.0]);
    /// assert_eq!(x.row(0).slice(1..).as_slice(), [2.0, 3.0]);
    /// ```
    ///
    /// # Panics
    /// If a bound exceeds its axis or a range ends before it begins (E3011), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn slice<const R: usize>(&self, ranges: impl Ranges<R>) -> Tensor<T, S::Dynamic>
    where
        S: Rank<R>,
    {
        let mut extents: [usize; R] = self.dims();
        let (own, mut offset) = (strides(&self.shape()), 0_usize);
        for (axis, (start, end)) in ranges.bounds().into_iter().enumerate() {
            let range = within(start, end, axis, extents[axis], self);
            offset = offset.wrapping_add(own[axis].wrapping_mul(range.start));
            extents[axis] = range.len();
        }
        let shape = dynamic::<S::Dynamic>(&extents);
        copied(shape, &own[..R], offset, self)
    }
}

/// Returns the index. Panics unless it is below the extent of the axis.
#[track_caller]
fn inside<T: Element, S: Shape>(index: usize, axis: usize, what: &str, x: &TensorRef<T, S>) -> usize {
    let extent = x.shape().padded()[axis];
    if index >= extent {
        let x = describe(T::DTYPE, &x.shape().dims());
        panic!("E6001: `{what}`: index {index} is outside dimension {axis} of extent {extent}: x is {x}");
    }
    index
}

/// The part at an index of the outermost axis, which must be in range.
fn outermost<T: Element, S: RemoveAxis>(x: &TensorRef<T, S>, index: usize) -> TensorView<'_, T, S::Inner> {
    let shape = inner(&x.shape());
    let len = shape.len();
    TensorView::from_elements(shape, &x.as_slice()[index * len..][..len])
}

/// A tensor whose elements are arbitrary, for code that writes all of them. The shape type must be dynamic.
#[track_caller]
pub(super) fn stale<T: Element, S: Shape>(extents: &[usize]) -> Tensor<T, S> {
    Tensor::try_stale_with(dynamic(extents)).unwrap_or_else(|error| panic!("{error}"))
}

fn dynamic<S: Shape>(extents: &[usize]) -> S {
    S::from_extents(extents).expect("a dynamic shape of that rank takes any extents")
}

/// A new tensor with the elements at these strides and this offset.
#[track_caller]
pub(super) fn copied<T: Element, S: Shape, To: Shape>(
    shape: To,
    strides: &[usize],
    offset: usize,
    x: &TensorRef<T, S>,
) -> Tensor<T, To> {
    let mut out = Tensor::try_stale_with(shape).unwrap_or_else(|error| panic!("{error}"));
    if !out.is_empty() {
        copy_strided(&shape.dims(), strides, offset, x.as_slice(), out.as_mut_slice());
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::tensor::tests::message;
    use crate::{Axis, Const, Tensor};

    fn sample(a: usize, b: usize, c: usize) -> Tensor<i64, (usize, usize, usize)> {
        Tensor::from_fn_with((a, b, c), |[i, j, k]| (100 * i + 10 * j + k) as i64)
    }

    const SHAPES: [[usize; 3]; 6] = [[2, 3, 4], [1, 3, 1], [3, 1, 2], [0, 2, 3], [2, 0, 3], [2, 3, 0]];

    #[test]
    fn places_along_every_axis_are_those_of_loops() {
        for [a, b, c] in SHAPES {
            let x = sample(a, b, c);
            for (axis, extent) in [a, b, c].into_iter().enumerate() {
                let parts: Vec<_> = x.axis_iter(Axis(axis)).collect();
                assert_eq!(parts.len(), extent);
                for (at, part) in parts.iter().enumerate() {
                    let expected = match axis {
                        0 => Tensor::from_fn_with((b, c), |[j, k]| x[[at, j, k]]),
                        1 => Tensor::from_fn_with((a, c), |[i, k]| x[[i, at, k]]),
                        _ => Tensor::from_fn_with((a, b), |[i, j]| x[[i, j, at]]),
                    };
                    assert_eq!(*part, expected, "{axis} {at}");
                    assert_eq!(x.index_axis(Axis(axis), at), expected);
                }
            }
            let outer: Vec<_> = x.outer_iter().map(|part| part.to_owned()).collect();
            assert_eq!(outer, x.axis_iter(Axis(0)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn selections_are_those_of_loops() {
        for [a, b, c] in SHAPES {
            let x = sample(a, b, c);
            for axis in 0..3 {
                let extent = [a, b, c][axis];
                for indices in
                    [vec![], (0..extent).rev().collect(), vec![extent.max(1) - 1; extent.min(1) * 5]]
                {
                    let mut dims = [a, b, c];
                    dims[axis] = indices.len();
                    let expected = Tensor::from_fn_with((dims[0], dims[1], dims[2]), |mut index| {
                        index[axis] = indices[index[axis]];
                        x[index]
                    });
                    assert_eq!(x.select(Axis(axis), &indices), expected, "{axis} {indices:?}");
                }
            }
        }
    }

    #[test]
    fn slices_are_those_of_loops() {
        for [a, b, c] in SHAPES {
            let x = sample(a, b, c);
            for (i, j) in (0..=b).flat_map(|i| (i..=b).map(move |j| (i, j))) {
                let expected = Tensor::from_fn_with((a, j - i, c.min(2)), |[p, q, r]| x[[p, i + q, r]]);
                assert_eq!(x.slice((.., i..j, ..c.min(2))), expected, "{i}..{j}");
            }
        }
        let x = sample(2, 3, 4);
        assert_eq!(x.slice((1..=1, 2.., ..=0)).as_slice(), [120]);
        let fixed: Tensor![i64; 3] = Tensor::from([1, 2, 3]);
        assert_eq!((fixed.slice(..2).to_vec(), fixed.slice((1..,)).to_vec()), (vec![1, 2], vec![2, 3]));
    }

    #[test]
    fn nothing_of_extents_that_overflow_is_taken_apart_too() {
        let x = Tensor::<f32, _>::zeros_with((0, usize::MAX, usize::MAX));
        assert_eq!(x.select(Axis(0), &[]).dims(), [0, usize::MAX, usize::MAX]);
        assert_eq!(x.slice((.., 5..7, usize::MAX - 1..)).dims(), [0, 2, 1]);
        assert_eq!(x.index_axis(Axis(1), usize::MAX - 1).dims(), [0, usize::MAX]);
        assert_eq!(x.t().dims(), [usize::MAX, usize::MAX, 0]);
        assert_eq!(x.outer_iter().count(), 0);
    }

    #[test]
    fn rows_are_views_whose_columns_stay_static() {
        let mut x: Tensor![f32; ?, 3] = Tensor::from_fn_with((2, Const), |[i, j]| (3 * i + j) as f32);
        let row: crate::TensorView<'_, f32, (Const<3>,)> = x.row(1);
        assert_eq!(row.as_slice().as_ptr(), x.as_slice()[3..].as_ptr());
        assert_eq!(x.rows().rev().map(|row| row[[0]]).collect::<Vec<_>>(), [3.0, 0.0]);
        x.row_mut(0).assign(&Tensor::from([9.0, 8.0, 7.0]));
        assert_eq!(x.as_slice(), [9.0, 8.0, 7.0, 3.0, 4.0, 5.0]);
        let narrow = Tensor::<f32, _>::zeros_with((3, 0));
        assert_eq!((narrow.rows().len(), narrow.row(2).len()), (3, 0));
        assert_eq!(Tensor::<f32, _>::zeros_with((0, 3)).rows().count(), 0);
    }

    #[test]
    fn what_is_out_of_range_is_named_with_the_shape() {
        let x: Tensor![f32; 2, 3] = Tensor::zeros();
        let expected = "index 2 is outside dimension 0 of extent 2: x is f32[2, 3]";
        assert_eq!(message(|| x.row(2).len()), format!("E6001: `row`: {expected}"));
        assert_eq!(message(|| x.clone().row_mut(2).len()), format!("E6001: `row_mut`: {expected}"));
        assert_eq!(message(|| x.index_axis(Axis(0), 2)), format!("E6001: `index_axis`: {expected}"));
        assert_eq!(message(|| x.select(Axis(0), &[1, 2])), format!("E6001: `select`: {expected}"));
        assert_eq!(
            message(|| x.select(Axis(2), &[])),
            "E3004: `select`: axis 2 is out of range for f32[2, 3], needed 0 to 1"
        );
        assert_eq!(
            message(|| x.axis_iter(Axis(3)).len()),
            "E3004: `axis_iter`: axis 3 is out of range for f32[2, 3], needed 0 to 1"
        );
        assert_eq!(
            message(|| x.slice((.., 1..4))),
            "E3011: `slice`: bound 4 is outside dimension 1 of extent 3: x is f32[2, 3]"
        );
        assert!(message(|| x.slice((3.., ..))).contains("bound 3 is outside dimension 0 of extent 2"));
        assert!(message(|| x.slice((..=usize::MAX, ..))).contains("bound 18446744073709551615 is outside"));
        #[allow(clippy::reversed_empty_ranges, reason = "it is what is refused")]
        let backwards = 2..1;
        assert_eq!(
            message(|| x.slice((.., backwards))),
            "E3011: `slice`: 2..1 of dimension 1 ends before it starts: x is f32[2, 3]"
        );
    }
}
