//! Permuted axes, flattened tensors, and tensors joined along an axis.

use super::axes::{Axis, InsertAxis, ReverseAxes};
use super::parts::{copied, stale};
use super::{position, strides};
use crate::element::Element;
use crate::error::{Error, describe};
use crate::kernels::join;
use crate::shape::{Rank, Shape};
use crate::tensor::storage::{Tensor, TensorRef};

impl<T: Element, S: Shape> TensorRef<T, S> {
    /// The transpose, copied to a new tensor: the axes in reverse order. Static extents stay static.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// let y: Tensor![f32; 3, 2] = x.t();
    /// assert_eq!(y, Tensor::from([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]));
    /// ```
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn t(&self) -> Tensor<T, S::Reversed>
    where
        S: ReverseAxes,
    {
        let (mut extents, mut own) =
            (self.shape().dims().to_vec(), strides(&self.shape())[..S::RANK].to_vec());
        extents.reverse();
        own.reverse();
        let shape = S::Reversed::from_extents(&extents).expect("they are extents of dims of the same types");
        copied(shape, &own, 0, self)
    }

    /// The axes in another order, copied to a new tensor: axis `i` of the result is axis `axes[i]`.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let images: Tensor![f32; 8, 3, 32, 32] = Tensor::zeros();
    /// assert_eq!(images.permuted_axes([0, 2, 3, 1]).dims(), [8, 32, 32, 3]);
    /// ```
    ///
    /// # Panics
    /// If `axes` does not name each axis once (E3008), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn permuted_axes<const R: usize>(&self, axes: [usize; R]) -> Tensor<T, S::Dynamic>
    where
        S: Rank<R>,
    {
        let mut named = [false; R];
        for axis in axes {
            let why = match named.get(axis) {
                None => "is out of range",
                Some(true) => "occurs twice",
                Some(false) => {
                    named[axis] = true;
                    continue;
                }
            };
            let x = describe(T::DTYPE, &self.shape().dims());
            panic!(
                "E3008: `permuted_axes`: {axes:?} is not a permutation of the axes of rank {R}: axis {axis} {why}: x \
                    is {x}"
            );
        }
        let (extents, own) = (self.dims(), strides(&self.shape()));
        let (extents, own) = (axes.map(|axis| extents[axis]), axes.map(|axis| own[axis]));
        let shape =
            S::Dynamic::from_extents(&extents).expect("a dynamic shape of that rank takes any extents");
        copied(shape, &own, 0, self)
    }

    /// The elements in row-major order, copied to a new vector. [`Tensor::into_flat`] copies nothing.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.flatten().dims(), [4]);
    /// ```
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn flatten(&self) -> Tensor<T, (usize,)> {
        let mut out = stale(&[self.len()]);
        out.as_mut_slice().copy_from_slice(self.as_slice());
        out
    }

    /// Swaps two elements.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let mut x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// x.swap([0, 0], [1, 1]);
    /// assert_eq!(x.as_slice(), [4.0, 2.0, 3.0, 1.0]);
    /// ```
    ///
    /// # Panics
    /// If an index is out of range. The message contains the index and the shape.
    #[track_caller]
    pub fn swap<const R: usize>(&mut self, one: [usize; R], other: [usize; R])
    where
        S: Rank<R>,
    {
        let (one, other) = (position(&self.shape(), &one), position(&self.shape(), &other));
        self.as_mut_slice().swap(one, other);
    }
}

impl<T: Element, S: Shape> Tensor<T, S> {
    /// The elements in row-major order, as a vector. Nothing is copied.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.into_flat().as_slice(), [1.0, 2.0, 3.0, 4.0]);
    /// ```
    #[must_use]
    pub fn into_flat(self) -> Tensor<T, (usize,)> {
        let shape = (self.len(),);
        Tensor::from_buffer(shape, self.into_buffer())
    }

    /// Joins tensors of one shape along a new axis, whose extent is the number of tensors.
    ///
    /// The arguments may be tensors, views or references to them.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let (a, b): (Tensor![f32; 2], Tensor![f32; 2]) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0, 4.0]));
    /// let rows = Tensor::stack(Axis(0), &[&a, &b]);
    /// assert_eq!((rows.dims(), rows.as_slice()), ([2, 2], &[1.0, 2.0, 3.0, 4.0][..]));
    /// assert_eq!(Tensor::stack(Axis(1), &[a, b]).as_slice(), [1.0, 3.0, 2.0, 4.0]);
    /// ```
    ///
    /// # Panics
    /// If there are no tensors (E3006), the new axis is out of range (E3004), the shapes differ (E3003), or the memory
    /// cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn stack<P: AsRef<TensorRef<T, S>>>(axis: Axis, parts: &[P]) -> Tensor<T, S::Larger>
    where
        S: InsertAxis,
    {
        let first = first("stack", parts);
        let axis = axis.below(S::RANK + 1, "stack", first);
        if let Some(other) = parts.iter().position(|part| part.as_ref().shape() != first.shape()) {
            differ("shapes differ", "stack", first, other, parts[other].as_ref());
        }
        let mut extents = first.shape().dims().to_vec();
        extents.insert(axis, parts.len());
        joined(&extents, axis, parts)
    }

    /// Joins tensors along an existing axis. Their other extents must be equal.
    ///
    /// The arguments may be tensors, views or references to them, of one shape type. If their static extents differ,
    /// [`as_dyn`](TensorRef::as_dyn) converts them to one type.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let a: Tensor![f32; 1, 2] = Tensor::from([[1.0, 2.0]]);
    /// let b: Tensor![f32; 2, 2] = Tensor::from([[3.0, 4.0], [5.0, 6.0]]);
    /// let all = Tensor::concatenate(Axis(0), &[a.as_dyn(), b.as_dyn()]);
    /// assert_eq!((all.dims(), all.as_slice()), ([3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
    /// ```
    ///
    /// # Panics
    /// If there are no tensors (E3006), the axis does not exist (E3004), another extent differs (E3003), or the memory
    /// cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn concatenate<const R: usize, P: AsRef<TensorRef<T, S>>>(
        axis: Axis,
        parts: &[P],
    ) -> Tensor<T, S::Dynamic>
    where
        S: Rank<R>,
    {
        let first = first("concatenate", parts);
        let axis = axis.below(R, "concatenate", first);
        let mut extents: [usize; R] = first.dims();
        extents[axis] = 0;
        for (at, part) in parts.iter().enumerate() {
            let part = part.as_ref();
            let own: [usize; R] = part.dims();
            if let Some(differing) = (0..R).find(|other| *other != axis && own[*other] != extents[*other]) {
                differ(&format!("dimension {differing} differs"), "concatenate", first, at, part);
            }
            let Some(sum) = extents[axis].checked_add(own[axis]) else {
                panic!("{}", Error::Allocation { shape: "the concatenation".to_owned() });
            };
            extents[axis] = sum;
        }
        joined(&extents, axis, parts)
    }
}

/// The first of the tensors. Panics if there is none.
#[track_caller]
fn first<'a, T: Element, S: Shape, P: AsRef<TensorRef<T, S>>>(
    what: &str,
    parts: &'a [P],
) -> &'a TensorRef<T, S> {
    match parts.first() {
        Some(first) => first.as_ref(),
        None => panic!("E3006: `{what}`: there are 0 tensors, needed 1 or more"),
    }
}

/// Panics with the types of two tensors that do not fit.
#[cold]
#[track_caller]
fn differ<T: Element, S: Shape>(
    why: &str,
    what: &str,
    first: &TensorRef<T, S>,
    at: usize,
    other: &TensorRef<T, S>,
) -> ! {
    let [first, other] = [first, other].map(|x| describe(T::DTYPE, &x.shape().dims()));
    panic!("E3003: `{what}`: {why}: tensor 0 is {first}, tensor {at} is {other}")
}

/// Concatenates the tensors for each index of the axes before `axis`.
#[track_caller]
fn joined<T: Element, S: Shape, P: AsRef<TensorRef<T, S>>, To: Shape>(
    extents: &[usize],
    axis: usize,
    parts: &[P],
) -> Tensor<T, To> {
    let mut out = stale(extents);
    if !out.is_empty() {
        let parts = parts.iter().map(|part| part.as_ref().as_slice());
        join::concat(extents[..axis].iter().product(), parts, out.as_mut_slice());
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::parallel::tests::Threads;
    use crate::tensor::tests::message;
    use crate::{Axis, Const, Tensor};

    fn sample(a: usize, b: usize, c: usize) -> Tensor<i64, (usize, usize, usize)> {
        Tensor::from_fn_with((a, b, c), |[i, j, k]| (10_000 * i + 100 * j + k) as i64)
    }

    const SHAPES: [[usize; 3]; 7] =
        [[2, 3, 4], [1, 3, 1], [3, 1, 2], [1, 1, 1], [0, 2, 3], [2, 0, 3], [2, 3, 0]];

    #[test]
    fn axes_are_permuted_as_by_loops() {
        for [a, b, c] in SHAPES.into_iter().chain([[70, 60, 90]]) {
            let x = sample(a, b, c);
            for threads in [1, 5] {
                let _held = Threads::set(threads);
                for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let dims = axes.map(|axis| [a, b, c][axis]);
                    let expected = Tensor::from_fn_with((dims[0], dims[1], dims[2]), |index| {
                        let mut from = [0; 3];
                        axes.iter().zip(index).for_each(|(axis, i)| from[*axis] = i);
                        x[from]
                    });
                    assert_eq!(x.permuted_axes(axes), expected, "{axes:?}");
                    if axes == [2, 1, 0] {
                        assert_eq!(x.t(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_transpose_has_the_extents_that_the_type_knew() {
        let x: Tensor![f32; ?, 3] = Tensor::from_fn_with((2, Const), |[i, j]| (3 * i + j) as f32);
        let y: Tensor![f32; 3, ?] = x.t();
        assert_eq!(y.as_slice(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        assert_eq!(y.t(), x);
        assert_eq!(Tensor::from([1.0_f32, 2.0]).t().as_slice(), [1.0, 2.0]);
        assert_eq!(Tensor::from(1.0_f32).t().scalar(), 1.0);
    }

    #[test]
    fn a_flat_tensor_keeps_its_memory_where_it_is_owned() {
        let x = sample(2, 3, 4);
        assert_eq!(x.flatten().as_slice(), x.as_slice());
        let pointer = x.as_slice().as_ptr();
        assert_eq!(x.into_flat().as_slice().as_ptr(), pointer);
        assert_eq!(sample(0, 2, 3).flatten().dims(), [0]);
    }

    #[test]
    fn tensors_are_joined_as_by_loops() {
        for [a, b, c] in SHAPES {
            let (x, y) = (sample(a, b, c), sample(a, b, c).map(|x| -1 - x));
            for axis in 0..4 {
                let stacked = Tensor::stack(Axis(axis), &[&x, &y, &x]);
                let mut dims = vec![a, b, c];
                dims.insert(axis, 3);
                let expected = Tensor::from_fn_with((dims[0], dims[1], dims[2], dims[3]), |index| {
                    let mut from = index.to_vec();
                    let part = from.remove(axis);
                    [&x, &y, &x][part][[from[0], from[1], from[2]]]
                });
                assert_eq!(stacked, expected, "{axis}");
            }
            for axis in 0..3 {
                let longer = Tensor::concatenate(Axis(axis), &[x.view(), y.view()]);
                let mut dims = [a, b, c];
                let extent = std::mem::replace(&mut dims[axis], 2 * [a, b, c][axis]);
                let expected = Tensor::from_fn_with((dims[0], dims[1], dims[2]), |mut index| {
                    let part = if index[axis] < extent { &x } else { &y };
                    index[axis] %= extent;
                    part[index]
                });
                assert_eq!(longer, expected, "{axis}");
            }
        }
        let parts = vec![sample(2, 1, 2), sample(2, 0, 2), sample(2, 3, 2)];
        assert_eq!(Tensor::concatenate(Axis(1), &parts).dims(), [2, 4, 2]);
        assert_eq!(
            Tensor::stack(Axis(0), &[Tensor::from(1.0_f32), Tensor::from(2.0)]).as_slice(),
            [1.0, 2.0]
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (x, y) = (sample(2, 3, 4), sample(2, 3, 5));
        assert_eq!(
            message(|| Tensor::stack(Axis(0), &[&x, &x, &y])),
            "E3003: `stack`: shapes differ: tensor 0 is i64[2, 3, 4], tensor 2 is i64[2, 3, 5]"
        );
        assert_eq!(
            message(|| Tensor::concatenate(Axis(1), &[&x, &y])),
            "E3003: `concatenate`: dimension 2 differs: tensor 0 is i64[2, 3, 4], tensor 1 is i64[2, 3, 5]"
        );
        assert_eq!(
            message(|| Tensor::stack(Axis(4), &[&x])),
            "E3004: `stack`: axis 4 is out of range for i64[2, 3, 4], needed 0 to 3"
        );
        let endless = Tensor::<f32, _>::zeros_with((usize::MAX, 0));
        assert!(message(|| Tensor::concatenate(Axis(0), &[&endless, &endless])).starts_with("E6004: "));
        let none: [Tensor![f32; 2]; 0] = [];
        assert_eq!(
            message(|| Tensor::stack(Axis(0), &none)),
            "E3006: `stack`: there are 0 tensors, needed 1 or more"
        );
        assert_eq!(
            message(|| x.permuted_axes([0, 1, 1])),
            "E3008: `permuted_axes`: [0, 1, 1] is not a permutation of the axes of rank 3: axis 1 occurs twice: x is i64[2, 3, 4]"
        );
        assert!(message(|| x.permuted_axes([0, 3, 1])).contains("axis 3 is out of range"));
        assert_eq!(
            message(|| x.clone().swap([0, 0, 0], [0, 3, 0])),
            "index [0, 3, 0] is out of range for shape [2, 3, 4]"
        );
    }
}
