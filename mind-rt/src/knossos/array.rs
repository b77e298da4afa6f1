//! Owned tensors.

use super::{
    fault::{At, Fault},
    view::{Extents, View, ViewMut},
};
use crate::{Element, Rank, Tensor, TensorRef};

/// A tensor, owned or borrowed.
pub trait Nest {
    /// The type of the extents.
    type Size: Extents;
    /// The element type.
    type Element;

    /// The extents.
    fn size(&self) -> Self::Size;

    /// The elements in row-major order.
    fn data(&self) -> &[Self::Element];
}

/// An owned tensor.
pub trait Array: Nest + Sized {
    /// The elements in row-major order, mutable.
    fn data_mut(&mut self) -> &mut [Self::Element];

    /// A tensor of `elements`, whose number must be the product of the extents.
    fn from_parts(size: Self::Size, elements: Vec<Self::Element>) -> Self;

    /// A copy of the tensor in `view`.
    ///
    /// # Errors
    /// E6004 if the memory cannot be allocated.
    fn copy_of(view: View<'_, Self::Element, Self::Size>, at: At) -> Result<Self, Fault>
    where
        Self::Element: Clone,
    {
        let mut elements = elements(view.size, at)?;
        elements.extend_from_slice(view.data);
        Ok(Self::from_parts(view.size, elements))
    }

    /// A view for reading.
    #[inline(always)]
    fn view(&self) -> View<'_, Self::Element, Self::Size> {
        View { size: self.size(), data: self.data() }
    }

    /// A view for adding.
    #[inline(always)]
    fn view_mut(&mut self) -> ViewMut<'_, Self::Element, Self::Size> {
        ViewMut { size: self.size(), data: self.data_mut() }
    }
}

/// A tensor of rank 2 or more whose elements a [`Tensor`](struct@Tensor) cannot hold: truth values, texts, tensors that
/// may differ in size.
///
/// ```
/// use mind_rt::Nested;
///
/// let words = Nested::new([2, 2], vec!["a", "b", "c", "d"]).expect("four elements");
/// assert_eq!((words.size(), words.elements()[2]), ([2, 2], "c"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nested<T, const N: usize> {
    size: Sizes<N>,
    elements: Vec<T>,
}

/// Extents that have a default, which is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sizes<const N: usize>([usize; N]);

impl<const N: usize> Default for Sizes<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<T, const N: usize> Nested<T, N> {
    /// A tensor of `elements` in row-major order; `None` if their number is not the product of the extents.
    #[must_use]
    pub fn new(size: [usize; N], elements: Vec<T>) -> Option<Self> {
        let count = size.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))?;
        (count == elements.len()).then_some(Self { size: Sizes(size), elements })
    }

    /// The extents.
    #[must_use]
    pub fn size(&self) -> [usize; N] {
        self.size.0
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn elements(&self) -> &[T] {
        &self.elements
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn into_elements(self) -> Vec<T> {
        self.elements
    }
}

impl<T, const N: usize> Nest for Nested<T, N> {
    type Size = [usize; N];
    type Element = T;

    fn size(&self) -> [usize; N] {
        self.size.0
    }

    fn data(&self) -> &[T] {
        &self.elements
    }
}

impl<T, const N: usize> Array for Nested<T, N> {
    fn data_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }

    fn from_parts(size: [usize; N], elements: Vec<T>) -> Self {
        Self { size: Sizes(size), elements }
    }
}

impl<T> Nest for Vec<T> {
    type Size = [usize; 1];
    type Element = T;

    fn size(&self) -> [usize; 1] {
        [self.len()]
    }

    fn data(&self) -> &[T] {
        self
    }
}

impl<T> Array for Vec<T> {
    fn data_mut(&mut self) -> &mut [T] {
        self
    }

    fn from_parts(_: [usize; 1], elements: Self) -> Self {
        elements
    }
}

impl<T, S: Extents> Nest for View<'_, T, S> {
    type Size = S;
    type Element = T;

    #[inline(always)]
    fn size(&self) -> S {
        self.size
    }

    #[inline(always)]
    fn data(&self) -> &[T] {
        self.data
    }
}

macro_rules! tensor_of_rank {
    ($rank:literal; $($extent:ident: $dim:ty),*) => {
        impl<T: Element> Nest for Tensor<T, ($($dim,)*)> {
            type Size = [usize; $rank];
            type Element = T;

            #[inline(always)]
            fn size(&self) -> [usize; $rank] {
                self.shape().extents()
            }

            #[inline(always)]
            fn data(&self) -> &[T] {
                self.as_slice()
            }
        }

        impl<T: Element> Array for Tensor<T, ($($dim,)*)> {
            #[inline(always)]
            fn data_mut(&mut self) -> &mut [T] {
                self.as_mut_slice()
            }

            fn from_parts([$($extent),*]: [usize; $rank], elements: Vec<T>) -> Self {
                Self::from_vec(($($extent,)*), elements).expect("there are as many elements as the extents say")
            }

            #[inline]
            fn copy_of(view: View<'_, T, [usize; $rank]>, at: At) -> Result<Self, Fault> {
                let mut copy: Self = stale(view.size, at)?;
                copy.as_mut_slice().copy_from_slice(view.data);
                Ok(copy)
            }
        }

        impl<T: Element> Stale for Tensor<T, ($($dim,)*)> {
            #[inline]
            fn stale([$($extent),*]: [usize; $rank]) -> Option<Self> {
                Self::try_stale_with(($($extent,)*)).ok()
            }
        }
    };
}

tensor_of_rank!(1; a: usize);
tensor_of_rank!(2; a: usize, b: usize);
tensor_of_rank!(3; a: usize, b: usize, c: usize);
tensor_of_rank!(4; a: usize, b: usize, c: usize, d: usize);
tensor_of_rank!(5; a: usize, b: usize, c: usize, d: usize, e: usize);
tensor_of_rank!(6; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize);
tensor_of_rank!(7; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize);
tensor_of_rank!(8; a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize);

/// A tensor that can be allocated without writing its elements.
pub trait Stale: Array {
    /// A tensor with arbitrary elements; `None` if the memory cannot be allocated.
    fn stale(size: Self::Size) -> Option<Self>;
}

/// A tensor of numbers with arbitrary elements, for code that writes all of them.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline]
pub fn stale<A: Stale>(size: A::Size, at: At) -> Result<A, Fault> {
    A::stale(size).ok_or_else(|| at.no_memory(size.as_slice()))
}

/// The memory of a tensor of numbers that each iteration of a loop builds anew, with arbitrary elements. It is allocated
/// again only if the size has changed.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline]
pub fn again<A: Stale>(kept: &mut Option<A>, size: A::Size, at: At) -> Result<&mut A, Fault> {
    if kept.as_ref().is_none_or(|kept| kept.size() != size) {
        // The other memory is freed first.
        *kept = None;
        *kept = Some(stale(size, at)?);
    }
    Ok(kept.as_mut().expect("it has just been allocated"))
}

/// The memory of a sum of tensors of one size, to which another tensor is added. The first call allocates the memory
/// and fills it with numbers that leave every sum unchanged.
///
/// # Errors
/// E6010 if the size is not that of the sum; E6004 if the memory cannot be allocated.
#[inline]
pub fn summand<A: Stale>(
    sum: &mut Option<A>,
    size: A::Size,
    at: At,
    at_sum: At,
) -> Result<&mut [A::Element], Fault>
where
    A::Element: Neutral,
{
    let sum = match sum {
        Some(sum) if sum.size() != size => {
            return Err(at_sum.sizes_differ(sum.size().as_slice(), size.as_slice()));
        }
        Some(sum) => sum,
        None => {
            let sum = sum.insert(stale(size, at)?);
            sum.data_mut().fill(A::Element::NEUTRAL);
            sum
        }
    };
    Ok(sum.data_mut())
}

/// A number that leaves every number unchanged when it is added, including the sign of a zero.
pub trait Neutral: Copy {
    /// The neutral number.
    const NEUTRAL: Self;
}

impl Neutral for f64 {
    const NEUTRAL: Self = -0.0;
}

impl Neutral for f32 {
    const NEUTRAL: Self = -0.0;
}

impl Neutral for i64 {
    const NEUTRAL: Self = 0;
}

/// An empty vector with capacity for the elements of a tensor.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline]
pub fn elements<T, S: Extents>(size: S, at: At) -> Result<Vec<T>, Fault> {
    let count = size.as_slice().iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent));
    let mut elements = Vec::new();
    match count.map(|count| elements.try_reserve_exact(count)) {
        Some(Ok(())) => Ok(elements),
        Some(Err(_)) | None => Err(at.no_memory(size.as_slice())),
    }
}

/// A copy of a tensor.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline]
pub fn owned<A: Array>(view: View<'_, A::Element, A::Size>, at: At) -> Result<A, Fault>
where
    A::Element: Clone,
{
    A::copy_of(view, at)
}

/// A view of an argument that is a tensor of numbers.
#[inline(always)]
pub fn tensor<T: Element, S: Rank<N>, const N: usize>(tensor: &TensorRef<T, S>) -> View<'_, T, [usize; N]> {
    View { size: tensor.shape().extents(), data: tensor.as_slice() }
}
