//! Owned tensors: construction and conversion.

mod arithmetic;
pub(crate) mod axes;
mod elements;
mod errors;
mod making;
pub(crate) mod numeric;
mod parts;
pub(crate) mod ranges;
mod rearranging;
mod reductions;
pub(crate) mod same_shape;
#[cfg(feature = "serde")]
mod serde;
pub(crate) mod storage;

use crate::element::Element;
use crate::error::Error;
use crate::kernels::memory::Buffer;
use crate::shape::{MAX_RANK, Rank, Shape, StaticShape};
use crate::tensor::storage::{Tensor, TensorRef};

impl<T: Element, S: StaticShape> Tensor<T, S> {
    /// A tensor of zeros with a static shape.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::zeros();
    /// assert_eq!(x.as_slice(), [0.0; 6]);
    /// ```
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004). The same holds for all functions here that make a tensor.
    #[must_use]
    #[track_caller]
    pub fn zeros(/* The type has the extents. To pass them, write `Tensor::zeros_with((5, 3))`. */) -> Self {
        Self::zeros_with(S::SHAPE)
    }

    /// A tensor with every element equal to `value`, with a static shape.
    #[must_use]
    #[track_caller]
    pub fn full(value: T /* of others than the type's extents: `full_with((5, 3), value)` */) -> Self {
        Self::full_with(S::SHAPE, value)
    }

    /// A tensor whose elements `f` computes from their indices, with a static shape. `f` is called in row-major order.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let identity: Tensor![f64; 2, 2] = Tensor::from_fn(|[i, j]| f64::from(i == j));
    /// assert_eq!(identity.as_slice(), [1.0, 0.0, 0.0, 1.0]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn from_fn<const R: usize>(f: impl FnMut([usize; R]) -> T) -> Self
    where
        S: Rank<R>,
    {
        Self::from_fn_with(S::SHAPE, f)
    }
}

impl<T: Element, S: Shape> Tensor<T, S> {
    /// A tensor of zeros with the given shape.
    ///
    /// ```
    /// use mind_rt::{Const, Tensor};
    ///
    /// let x: Tensor![f32; ?, 784] = Tensor::zeros_with((32, Const));
    /// assert_eq!(x.dims(), [32, 784]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn zeros_with(dims: S) -> Self {
        Self::try_zeros_with(dims).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A tensor of zeros with the given shape.
    ///
    /// # Errors
    /// E6004 if the memory cannot be allocated or its size overflows.
    pub fn try_zeros_with(dims: S) -> Result<Self, Error> {
        Self::try_from_memory(dims, Buffer::zeroed)
    }

    /// A tensor whose elements are arbitrary, for code that writes all of them.
    // Inlined, since a call of a small program takes little longer than copying its result on the stack. Only the
    // address of a memory block is computed out of line.
    #[inline(always)]
    pub(crate) fn try_stale_with(dims: S) -> Result<Self, Error> {
        Self::try_from_memory(dims, Buffer::stale)
    }

    #[inline(always)]
    fn try_from_memory(dims: S, take: fn(usize) -> Option<Buffer<T>>) -> Result<Self, Error> {
        match dims.checked_len().and_then(take) {
            Some(buffer) => Ok(Self::from_buffer(dims, buffer)),
            None => Err(Error::allocation::<T, S>(dims)),
        }
    }

    /// A tensor with every element equal to `value`, with the given shape.
    #[must_use]
    #[track_caller]
    pub fn full_with(dims: S, value: T) -> Self {
        let mut tensor = Self::zeros_with(dims);
        tensor.fill(value);
        tensor
    }

    /// A tensor whose elements `f` computes from their indices, with the given shape. `f` is called in row-major order.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x = Tensor::from_fn_with((2, 2), |[i, j]| (10 * i + j) as i64);
    /// assert_eq!(x.as_slice(), [0, 1, 10, 11]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn from_fn_with<const R: usize>(dims: S, mut f: impl FnMut([usize; R]) -> T) -> Self
    where
        S: Rank<R>,
    {
        let mut tensor = Self::zeros_with(dims);
        let extents = dims.extents();
        let mut index = [0; R];
        for element in tensor.as_mut_slice() {
            *element = f(index);
            advance(&mut index, &extents);
        }
        tensor
    }

    /// A tensor from `elements` in row-major order. It keeps the vector's memory.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x = Tensor::from_vec((2, 3), vec![1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x[[1, 0]], 4);
    /// # Ok::<(), mind_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// E3007 if their number is not the number that the shape has.
    pub fn from_vec(dims: S, elements: Vec<T>) -> Result<Self, Error> {
        if dims.checked_len() != Some(elements.len()) {
            return Err(Error::length_mismatch::<T, S>(&dims, elements.len()));
        }
        Ok(Self::from_buffer(dims, Buffer::from_vec(elements)))
    }

    /// A tensor with a copy of `elements`, in row-major order.
    ///
    /// # Errors
    /// E3007 if their number is not the number that the shape has; E6004 if the memory cannot be allocated.
    pub fn from_slice(dims: S, elements: &[T]) -> Result<Self, Error> {
        if dims.checked_len() != Some(elements.len()) {
            return Err(Error::length_mismatch::<T, S>(&dims, elements.len()));
        }
        let mut tensor = Self::try_stale_with(dims)?;
        tensor.as_mut_slice().copy_from_slice(elements);
        Ok(tensor)
    }

    /// The elements in row-major order. They are not copied if the tensor was made from a `Vec`.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::full(1.5);
    /// assert_eq!(x.into_vec(), [1.5; 4]);
    /// ```
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.into_buffer().into_vec()
    }

    /// The same elements with a shape type in which more or fewer extents are static. Nothing is copied.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x = Tensor::from_vec((2, 3), vec![0.0_f32; 6])?;
    /// let x: Tensor![f32; 2, 3] = x.try_into_shape()?;
    /// let error = x.try_into_shape::<(usize, mind_rt::Const<4>)>().unwrap_err();
    /// assert_eq!(error.to_string(), "E6009: dimension 1 differs: got f32[2, 3], needed f32[?, 4]");
    /// # Ok::<(), mind_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// E6009 if a static extent differs; E3002 if the rank differs.
    pub fn try_into_shape<S2: Shape>(self) -> Result<Tensor<T, S2>, Error> {
        let shape = convert_shape::<T, S, S2>(&self.shape())?;
        Ok(Tensor::from_buffer(shape, self.into_buffer()))
    }

    /// The same elements in row-major order with another shape. Nothing is copied.
    ///
    /// # Errors
    /// E3007 if the shapes have different numbers of elements.
    pub fn reshape<S2: Shape>(self, dims: S2) -> Result<Tensor<T, S2>, Error> {
        if dims.checked_len() != Some(self.len()) {
            return Err(Error::length_mismatch::<T, S2>(&dims, self.len()));
        }
        Ok(Tensor::from_buffer(dims, self.into_buffer()))
    }
}

/// The shape of type `S2` with the extents of `shape`.
pub(crate) fn convert_shape<T: Element, S: Shape, S2: Shape>(shape: &S) -> Result<S2, Error> {
    let extents = shape.dims();
    S2::from_extents(&extents).ok_or_else(|| Error::shape_mismatch::<T, S2>(&extents))
}

/// Advances `index` to the next one in row-major order.
fn advance<const R: usize>(index: &mut [usize; R], extents: &[usize; R]) {
    for axis in (0..R).rev() {
        index[axis] += 1;
        if index[axis] < extents[axis] {
            return;
        }
        index[axis] = 0;
    }
}

/// The stride of each axis. Strides wrap around where there are no elements.
fn strides<S: Shape>(shape: &S) -> [usize; MAX_RANK] {
    let (extents, mut strides, mut stride) = (shape.padded(), [0; MAX_RANK], 1_usize);
    for axis in (0..S::RANK).rev() {
        strides[axis] = stride;
        stride = stride.wrapping_mul(extents[axis]);
    }
    strides
}

impl<T: Element, S: Shape> TensorRef<T, S> {
    /// A new tensor with `f` applied to each element.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    /// assert_eq!(x.map(|x| 2.0 * x).as_slice(), [2.0, 4.0, 6.0]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn map<U: Element>(&self, mut f: impl FnMut(T) -> U) -> Tensor<U, S> {
        let mut tensor = Tensor::zeros_with(self.shape());
        for (out, element) in tensor.as_mut_slice().iter_mut().zip(self.as_slice()) {
            *out = f(*element);
        }
        tensor
    }

    /// Sets every element to `value`.
    pub fn fill(&mut self, value: T) {
        T::fill(self.as_mut_slice(), value);
    }

    /// Copies the elements of a tensor of the same shape.
    ///
    /// # Panics
    /// If a dynamic dimension differs.
    #[track_caller]
    pub fn assign(&mut self, other: &Self) {
        assert!(
            self.shape() == other.shape(),
            "cannot assign {:?} to {:?}",
            other.shape().dims(),
            self.shape().dims()
        );
        self.as_mut_slice().copy_from_slice(other.as_slice());
    }
}

impl<T: Element, S: Shape> Clone for Tensor<T, S> {
    fn clone(&self) -> Self {
        Self::copy_of(self)
    }
}

impl<T: Element, S: Shape> ToOwned for TensorRef<T, S> {
    type Owned = Tensor<T, S>;

    fn to_owned(&self) -> Tensor<T, S> {
        Tensor::copy_of(self)
    }
}

impl<T: Element, S: Shape> std::borrow::Borrow<TensorRef<T, S>> for Tensor<T, S> {
    fn borrow(&self) -> &TensorRef<T, S> {
        self
    }
}

impl<T: Element, S: Shape> Tensor<T, S> {
    #[track_caller]
    pub(crate) fn copy_of(tensor: &TensorRef<T, S>) -> Self {
        let mut copy = Self::try_stale_with(tensor.shape()).unwrap_or_else(|error| panic!("{error}"));
        copy.as_mut_slice().copy_from_slice(tensor.as_slice());
        copy
    }
}

impl<T: Element, S: StaticShape> Default for Tensor<T, S> {
    fn default() -> Self {
        Self::zeros()
    }
}

/// The position of the element at `index` in row-major order.
#[inline]
#[track_caller]
pub(crate) fn position<S: Shape>(shape: &S, index: &[usize]) -> usize {
    let extents: [usize; MAX_RANK] = shape.padded();
    let inside = index.iter().zip(&extents).all(|(i, extent)| i < extent);
    if !inside {
        panic!("index {index:?} is out of range for shape {:?}", shape.dims());
    }
    index.iter().zip(&extents).fold(0, |position, (i, extent)| position * extent + i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};

    /// The message of the panic in `f`.
    pub(super) fn message<R>(f: impl FnOnce() -> R) -> String {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err().expect("it panics");
        *panic.downcast::<String>().expect("its message is formatted")
    }

    #[test]
    fn zeros_as_an_argument_infers_its_type() {
        fn takes(x: &TensorRef<f32, (Const<2>, Const<3>)>, y: &mut TensorRef<f64, (Const<4>,)>) -> usize {
            y.as_mut_slice()[0] = 1.0;
            x.len() + y.len()
        }
        assert_eq!(takes(&Tensor::zeros(), &mut Tensor::zeros()), 10);
        assert_eq!(takes(&Tensor::from_fn(|[i, j]| (i + j) as f32), &mut Tensor::full(2.0)), 10);
        assert_eq!(takes(&Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), &mut Tensor::from([0.0; 4])), 10);
    }

    #[test]
    fn from_fn_goes_in_row_major_order() {
        let mut calls = 0;
        let x = Tensor::from_fn_with((2, Const::<3>, 2), |[i, j, k]| {
            calls += 1;
            (i * 100 + j * 10 + k) as i64 + 1000 * (calls - 1)
        });
        assert_eq!(x[[1, 2, 0]], 120 + 10_000);
        assert_eq!(x.as_slice()[10], x[[1, 2, 0]]);
        assert_eq!(Tensor::<f32, ()>::from_fn(|[]| 3.0).as_slice(), [3.0]);
        assert_eq!(Tensor::<f32, _>::from_fn_with((0, 3), |[_, _]| 3.0).len(), 0);
    }

    #[test]
    fn a_tensor_made_by_us_is_aligned() {
        for n in 1..100 {
            assert_eq!(Tensor::<f32, _>::full_with((n,), 1.0).as_slice().as_ptr().align_offset(64), 0);
            assert_eq!(Tensor::<i64, _>::zeros_with((n, 3)).clone().as_slice().as_ptr().align_offset(64), 0);
        }
    }

    #[test]
    fn a_vec_is_kept_where_it_is() {
        let vec = vec![1.0_f32; 12];
        let pointer = vec.as_ptr();
        let x = Tensor::from_vec((3, 4), vec).expect("12 elements");
        assert_eq!(x.as_slice().as_ptr(), pointer);
        let x: Tensor<f32, (Const<3>, usize)> = x.try_into_shape().expect("3 rows");
        let x = x.reshape((2, Const::<6>)).expect("12 elements");
        let vec = x.into_vec();
        assert_eq!(vec.as_ptr(), pointer);
    }

    #[test]
    fn wrong_lengths_are_errors() {
        let error = Tensor::from_vec((2, Const::<2>), vec![1_i32; 3]).expect_err("3 is not 4");
        assert_eq!(error.to_string(), "E3007: i32[2, 2] has 4 elements, got 3");
        let error = Tensor::from_slice((), &[1.0_f32, 2.0]).expect_err("2 is not 1");
        assert_eq!(error.to_string(), "E3007: f32[] has 1 elements, got 2");
        let x = Tensor::from_slice((2, 3), &[0_i64; 6]).expect("6 elements");
        assert_eq!(x.reshape((4,)).expect_err("4 is not 6").code(), "E3007");
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        let error = Tensor::<f32, _>::try_zeros_with((usize::MAX, 2)).expect_err("it overflows");
        assert_eq!(error.code(), "E6004");
        let text = error.to_string();
        assert!(text.starts_with("E6004: cannot allocate f32[18446744073709551615, 2]"), "{text}");
        assert_eq!(
            Tensor::from_vec((usize::MAX, 2), vec![0.0_f32]).expect_err("it overflows").code(),
            "E6004"
        );
    }

    #[test]
    #[should_panic(expected = "E6004: cannot allocate f64[4611686018427387904]")]
    fn zeros_of_an_impossible_size_panics_with_the_same_message() {
        let _ = Tensor::<f64, _>::zeros_with((1 << 62,));
    }

    #[test]
    fn assign_and_map_and_clone() {
        let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        let mut y = x.map(|x| x as i64 * 2);
        assert_eq!(y.as_slice(), [2, 4, 6, 8]);
        let mut z = y.clone();
        z.fill(0);
        assert_ne!(y, z);
        y.assign(&z);
        assert_eq!(y, z);
        assert_eq!(y, Tensor::default());
        assert_eq!(TensorRef::to_owned(&x), x);
    }

    #[test]
    #[should_panic(expected = "cannot assign [3] to [2]")]
    fn assigning_another_extent_panics() {
        Tensor::<f32, _>::zeros_with((2,)).assign(&Tensor::zeros_with((3,)));
    }

    #[test]
    #[should_panic(expected = "index [1, 3] is out of range for shape [2, 3]")]
    fn an_index_out_of_range_panics() {
        let _ = Tensor::<f32, _>::zeros_with((2, 3))[[1, 3]];
    }
}
