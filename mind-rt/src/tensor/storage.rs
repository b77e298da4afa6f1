//! The tensor types for owned and borrowed memory.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::element::Element;
use crate::kernels::memory::Buffer;
use crate::shape::Shape;

/// An owned tensor: contiguous, row-major and 64-byte aligned. A tensor made from a `Vec` or an ndarray keeps that
/// memory with its alignment. Dereferences to [`TensorRef`].
///
/// ```
/// use mind_rt::Tensor;
///
/// let mut x: Tensor![f32; 2, 3] = Tensor::from_fn(|[i, j]| (10 * i + j) as f32);
/// x[[1, 2]] = -1.0;
/// assert_eq!(x.as_slice(), [0.0, 1.0, 2.0, 10.0, 11.0, -1.0]);
/// ```
///
/// # Methods
/// The names are ndarray's. A tensor also has the methods of views and of `&TensorRef`.
///
/// | purpose | methods |
/// | --- | --- |
/// | making | [`zeros`](Self::zeros), [`ones`](Self::ones), [`full`](Self::full), [`eye`](Self::eye), [`from_fn`](Self::from_fn), [`rand`](Self::rand), [`randn`](Self::randn), each also with a given shape: `zeros_with`; [`arange`](Self::arange), [`linspace`](Self::linspace); `From` arrays and `Vec`s, `collect` |
/// | elements | `x[[i, j]]`, `x[(i, j)]`, [`get`](TensorRef::get), [`iter`](TensorRef::iter), [`indexed_iter`](TensorRef::indexed_iter), [`map`](TensorRef::map), [`map_inplace`](TensorRef::map_inplace), [`zip_map`](TensorRef::zip_map), [`cast`](TensorRef::cast), [`swap`](TensorRef::swap), [`fill`](TensorRef::fill), [`assign`](TensorRef::assign), [`all_close`](TensorRef::all_close), [`to_vec`](TensorRef::to_vec) |
/// | reductions | [`sum`](TensorRef::sum), [`mean`](TensorRef::mean), [`product`](TensorRef::product), [`max`](TensorRef::max), [`min`](TensorRef::min), [`argmax`](TensorRef::argmax), [`argmin`](TensorRef::argmin), each also along an axis: [`sum_axis`](TensorRef::sum_axis) |
/// | parts | [`row`](TensorRef::row), [`rows`](TensorRef::rows), [`outer_iter`](TensorRef::outer_iter), [`axis_iter`](TensorRef::axis_iter), [`index_axis`](TensorRef::index_axis), [`slice`](TensorRef::slice), [`select`](TensorRef::select) |
/// | other shapes | [`reshape`](Self::reshape), [`flatten`](TensorRef::flatten), [`t`](TensorRef::t), [`permuted_axes`](TensorRef::permuted_axes), [`stack`](Self::stack), [`concatenate`](Self::concatenate), [`try_into_shape`](Self::try_into_shape), [`as_dyn`](TensorRef::as_dyn) |
///
/// # Arithmetic
/// `+ - * /` work between tensors of one shape type, owned or by reference, and between a tensor and a number on either
/// side. `+= -= *= /=` change the left operand, and `-x` negates. An owned operand of the result's shape is overwritten
/// with the result. Then nothing is allocated, unless the other operand broadcasts. A dynamic extent of 1 broadcasts,
/// as in NumPy. For tensors of different shape types write `mind!(a + b)`, which broadcasts between them too.
///
/// Integer arithmetic wraps, and integer quotients are rounded towards zero.
///
/// ```
/// use mind_rt::Tensor;
///
/// let x: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
/// let mut y = 2.0 * &x + 1.0;
/// y -= &x;
/// assert_eq!(y.as_slice(), [2.0, 3.0, 4.0]);
/// assert_eq!((-&y / x).as_slice(), [-2.0, -1.5, -4.0 / 3.0]);
///
/// let rows = Tensor::from_vec((2, 2), vec![1, 2, 3, 4])?;
/// let row = Tensor::from_vec((1, 2), vec![10, 20])?;
/// assert_eq!((rows + row).as_slice(), [11, 22, 13, 24]);
/// # Ok::<(), mind_rt::Error>(())
/// ```
///
/// These operators panic in the following cases, before they write anything:
///
/// - With E3001 if the shapes do not broadcast, or the left operand of an assignment would have to broadcast. The
///   message contains both shapes.
/// - With E6010 if an integer is divided by 0.
/// - With E6004 if the memory cannot be allocated.
///
/// ```should_panic
/// use mind_rt::Tensor;
///
/// // E3001: `+`: extents 2 and 3 do not broadcast in dimension 0: the left is f32[2], the right is f32[3]
/// let _ = Tensor::<f32, _>::zeros_with((2,)) + Tensor::zeros_with((3,));
/// ```
pub struct Tensor<T, S> {
    head: TensorRef<T, S, [(); 0]>,
    buffer: Buffer<T>,
}

/// A read-only view of a tensor's elements, contiguous and row-major. Dereferences to [`TensorRef`].
///
/// ```
/// use mind_rt::TensorView;
///
/// let data = [1.0_f64, 2.0, 3.0, 4.0];
/// let x = TensorView::from_slice((2, 2), &data)?;
/// assert_eq!(x[[1, 0]], 3.0);
/// # Ok::<(), mind_rt::Error>(())
/// ```
pub struct TensorView<'a, T, S> {
    head: TensorRef<T, S, [(); 0]>,
    elements: PhantomData<&'a [T]>,
}

/// A mutable view of a tensor's elements, contiguous and row-major. Dereferences to [`TensorRef`].
///
/// ```
/// use mind_rt::{Tensor, TensorViewMut};
///
/// let mut data = [1.0_f64, 2.0, 3.0, 4.0];
/// TensorViewMut::from_slice((2, 2), &mut data)?[[1, 0]] = 0.0;
/// assert_eq!(data, [1.0, 2.0, 0.0, 4.0]);
/// # Ok::<(), mind_rt::Error>(())
/// ```
pub struct TensorViewMut<'a, T, S> {
    head: TensorRef<T, S, [(); 0]>,
    elements: PhantomData<&'a mut [T]>,
}

/// The type to which [`Tensor`], [`TensorView`] and [`TensorViewMut`] dereference. Functions take `&TensorRef<T, S>`,
/// or `&mut TensorRef<T, S>` if they change elements.
///
/// It is not `Sized`, so two of them cannot be swapped through references without their owners:
///
/// ```compile_fail,E0277
/// use mind_rt::{Tensor, TensorRef, TensorViewMut};
///
/// fn exchange(a: &mut TensorRef<f32, (usize,)>, b: &mut TensorRef<f32, (usize,)>) {
///     std::mem::swap(a, b);
/// }
/// ```
// The third parameter makes the type unsized: owners hold `[(); 0]`, and `&TensorRef<_, _, [(); 0]>` coerces to
// `&TensorRef<_, _, [()]>`, as for any struct whose last field is an array.
//
// Invariant: `pointer` is aligned and valid for reads of `len` initialised elements while a shared reference to this
// value exists, and for exclusive reads and writes while a unique reference exists. `len` is stored rather than derived
// from `shape`, whose dims other crates may define.
pub struct TensorRef<T, S, Tail: ?Sized = [()]> {
    pointer: NonNull<T>,
    len: usize,
    shape: S,
    _tail: Tail,
}

// SAFETY: by its invariant, a `TensorRef` gives the same access to its elements as `[T]`.
unsafe impl<T: Send, S: Send, Tail: ?Sized + Send> Send for TensorRef<T, S, Tail> {}
// SAFETY: as above.
unsafe impl<T: Sync, S: Sync, Tail: ?Sized + Sync> Sync for TensorRef<T, S, Tail> {}

impl<T, S> TensorRef<T, S> {
    /// The elements in row-major order.
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the type's invariant; the elements stay shared while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    /// The elements in row-major order, mutable.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the type's invariant; the elements stay exclusive while `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }

    /// The shape: a tuple of dims.
    #[inline(always)]
    pub fn shape(&self) -> S
    where
        S: Copy,
    {
        self.shape
    }

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T, S> TensorRef<T, S, [(); 0]> {
    fn new(pointer: NonNull<T>, len: usize, shape: S) -> Self {
        Self { pointer, len, shape, _tail: [] }
    }
}

/// Panics if the shape does not have `len` elements. Every caller has ensured that it does.
fn check_len<S: Shape>(shape: &S, len: usize) {
    assert!(shape.checked_len() == Some(len), "the caller counts the elements");
}

impl<T: Element, S: Shape> Tensor<T, S> {
    #[inline(always)]
    pub(crate) fn from_buffer(shape: S, buffer: Buffer<T>) -> Self {
        let len = buffer.as_slice().len();
        check_len(&shape, len);
        Self { head: TensorRef::new(buffer.pointer(), len, shape), buffer }
    }

    pub(crate) fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T, S: Copy> Tensor<T, S> {
    /// A view of the whole tensor, for any `T`.
    #[inline(always)]
    pub(crate) fn borrowed(&self) -> TensorView<'_, T, S> {
        TensorView { head: self.head, elements: PhantomData }
    }
}

impl<'a, T: Element, S: Shape> TensorView<'a, T, S> {
    pub(crate) fn from_elements(shape: S, elements: &'a [T]) -> Self {
        check_len(&shape, elements.len());
        // The pointer is never written through, since no `&mut` to `head` leaves this type.
        Self {
            head: TensorRef::new(NonNull::from(elements).cast(), elements.len(), shape),
            elements: PhantomData,
        }
    }

    /// The elements in row-major order, for the lifetime of the borrow.
    #[inline(always)]
    #[must_use]
    pub fn into_slice(self) -> &'a [T] {
        // SAFETY: `from_elements` and `Tensor::borrowed` take the pointer and the length from elements shared for `'a`.
        unsafe { std::slice::from_raw_parts(self.head.pointer.as_ptr(), self.head.len) }
    }
}

impl<'a, T: Element, S: Shape> TensorViewMut<'a, T, S> {
    pub(crate) fn from_elements(shape: S, elements: &'a mut [T]) -> Self {
        check_len(&shape, elements.len());
        let len = elements.len();
        Self { head: TensorRef::new(NonNull::from(elements).cast(), len, shape), elements: PhantomData }
    }

    /// The elements in row-major order, for the lifetime of the borrow.
    #[inline(always)]
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        // SAFETY: `from_elements` took the pointer and the length from a slice exclusive for `'a`, and `self` is
        // consumed.
        unsafe { std::slice::from_raw_parts_mut(self.head.pointer.as_ptr(), self.head.len) }
    }
}

impl<T, S> Deref for Tensor<T, S> {
    type Target = TensorRef<T, S>;

    #[inline(always)]
    fn deref(&self) -> &TensorRef<T, S> {
        &self.head
    }
}

impl<T, S> DerefMut for Tensor<T, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut TensorRef<T, S> {
        &mut self.head
    }
}

impl<T, S> Deref for TensorView<'_, T, S> {
    type Target = TensorRef<T, S>;

    #[inline(always)]
    fn deref(&self) -> &TensorRef<T, S> {
        &self.head
    }
}

impl<T, S> Deref for TensorViewMut<'_, T, S> {
    type Target = TensorRef<T, S>;

    #[inline(always)]
    fn deref(&self) -> &TensorRef<T, S> {
        &self.head
    }
}

impl<T, S> DerefMut for TensorViewMut<'_, T, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut TensorRef<T, S> {
        &mut self.head
    }
}

impl<T, S: Copy> Clone for TensorView<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Copy> Copy for TensorView<'_, T, S> {}

impl<T, S: Copy> Clone for TensorRef<T, S, [(); 0]> {
    fn clone(&self) -> Self {
        *self
    }
}

// Only this module can name a value of this type. A copy borrows the same elements as the original, as in `TensorView`.
impl<T, S: Copy> Copy for TensorRef<T, S, [(); 0]> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutable_reference_writes_through() {
        let mut tensor = Tensor::<i32, (usize,)>::from_buffer((4,), Buffer::zeroed(4).expect("memory"));
        let reference: &mut TensorRef<i32, (usize,)> = &mut tensor;
        reference.as_mut_slice()[3] = 5;
        reference.as_mut_slice()[0] = reference.as_slice()[3];
        let moved = tensor;
        assert_eq!(moved.as_slice(), [5, 0, 0, 5]);
    }

    #[test]
    fn tensors_cross_threads() {
        fn crosses<T: Send + Sync>() {}
        crosses::<Tensor<f32, (usize,)>>();
        crosses::<TensorView<'_, f32, (usize,)>>();
        crosses::<TensorViewMut<'_, f32, (usize,)>>();
    }
}
