//! Arithmetic on values of any structure, member by member.

use super::{
    array::{Array, Nest, Nested, elements, stale},
    fault::{At, Fault},
    number::Real,
    view::{Extents, View},
};
use crate::Tensor;
use crate::element::Arithmetic;
use crate::kernels::check;

/// A value to which a tangent, or another value of the same type, can be added.
pub trait Grow<B: ?Sized> {
    /// Adds `by` to the value.
    ///
    /// # Errors
    /// E6010 if sizes differ.
    fn grow(&mut self, by: &B, at: At) -> Result<(), Fault>;
}

macro_rules! grow {
    ($($number:ty)+) => {$(
        impl Grow<$number> for $number {
            #[inline(always)]
            fn grow(&mut self, by: &$number, _: At) -> Result<(), Fault> {
                *self += by;
                Ok(())
            }
        }
    )+};
}

grow!(f64 f32);

impl Grow<i64> for i64 {
    #[inline(always)]
    fn grow(&mut self, by: &i64, _: At) -> Result<(), Fault> {
        *self = self.wrapping_add(*by);
        Ok(())
    }
}

/// Defines the addition of a tangent for types without tangents: it does nothing.
macro_rules! still {
    ($($ty:ty),+) => {$(
        impl Grow<()> for $ty {
            #[inline(always)]
            fn grow(&mut self, (): &(), _: At) -> Result<(), Fault> {
                Ok(())
            }
        }
    )+};
}

still!(i64, bool, String, ());

/// A type with a zero of the structure of a value of type `S`.
pub trait Zeros<S: ?Sized>: Sized {
    /// The zero of the structure of `shape`.
    ///
    /// # Errors
    /// E6004 if the memory cannot be allocated.
    fn zeros(shape: &S, at: At) -> Result<Self, Fault>;
}

macro_rules! zero {
    ($($number:ty = $zero:expr;)+) => {$(
        impl<S: ?Sized> Zeros<S> for $number {
            #[inline(always)]
            fn zeros(_: &S, _: At) -> Result<Self, Fault> {
                Ok($zero)
            }
        }
    )+};
}

zero! {
    f64 = 0.0;
    f32 = 0.0;
    () = ();
}

/// A value that can be scaled.
pub trait Linear<F>: Clone {
    /// Multiplies the value by a number.
    fn scale(&mut self, factor: F);

    /// Negates the value.
    fn negate(&mut self);

    /// Adds the products of the members of both values to `sum`.
    ///
    /// # Errors
    /// E6010 if sizes differ.
    fn dot(&self, other: &Self, sum: F, at: At) -> Result<F, Fault>;
}

macro_rules! linear_number {
    ($($number:ty)+) => {$(
        impl Linear<$number> for $number {
            #[inline(always)]
            fn scale(&mut self, factor: $number) {
                *self *= factor;
            }

            #[inline(always)]
            fn negate(&mut self) {
                *self = -*self;
            }

            #[inline(always)]
            fn dot(&self, other: &Self, sum: $number, _: At) -> Result<$number, Fault> {
                Ok(sum + self * other)
            }
        }
    )+};
}

linear_number!(f32 f64);

impl<F> Linear<F> for () {
    fn scale(&mut self, _: F) {}

    fn negate(&mut self) {}

    fn dot(&self, (): &Self, sum: F, _: At) -> Result<F, Fault> {
        Ok(sum)
    }
}

macro_rules! tensors {
    ($([$($generics:tt)*] $tensor:ty: $element:ty, $size:ty, [$($bound:tt)*];)+) => {$(
        impl<$($generics)*, B: Nest<Size = $size>> Grow<B> for $tensor
        where
            $element: Grow<B::Element> + $($bound)*,
        {
            #[inline]
            fn grow(&mut self, by: &B, at: At) -> Result<(), Fault> {
                self.view_mut().grow(by, at)
            }
        }

        impl<F: Copy, $($generics)*> Linear<F> for $tensor
        where
            $element: Linear<F> + $($bound)*,
        {
            fn scale(&mut self, factor: F) {
                self.data_mut().iter_mut().for_each(|element| element.scale(factor));
            }

            fn negate(&mut self) {
                self.data_mut().iter_mut().for_each(Linear::negate);
            }

            fn dot(&self, other: &Self, sum: F, at: At) -> Result<F, Fault> {
                dot(self.view(), other.view(), sum, at)
            }
        }
    )+};
}

tensors! {
    [T] Vec<T>: T, [usize; 1], [];
    [T, const N: usize] Nested<T, N>: T, [usize; N], [];
    [T] Tensor<T, (usize,)>: T, [usize; 1], [Arithmetic];
    [T] Tensor<T, (usize, usize)>: T, [usize; 2], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize)>: T, [usize; 3], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize, usize)>: T, [usize; 4], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize, usize, usize)>: T, [usize; 5], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize, usize, usize, usize)>: T, [usize; 6], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize, usize, usize, usize, usize)>: T, [usize; 7], [Arithmetic];
    [T] Tensor<T, (usize, usize, usize, usize, usize, usize, usize, usize)>: T, [usize; 8], [Arithmetic];
}

macro_rules! zeros_of_numbers {
    ($($size:ty, $shape:ty;)+) => {$(
        impl<T: Arithmetic, S: Nest<Size = $size>> Zeros<S> for Tensor<T, $shape> {
            #[inline]
            fn zeros(shape: &S, at: At) -> Result<Self, Fault> {
                let mut zeros: Self = stale(shape.size(), at)?;
                zeros.as_mut_slice().fill(T::ZERO);
                Ok(zeros)
            }
        }
    )+};
}

zeros_of_numbers! {
    [usize; 1], (usize,);
    [usize; 2], (usize, usize);
    [usize; 3], (usize, usize, usize);
    [usize; 4], (usize, usize, usize, usize);
    [usize; 5], (usize, usize, usize, usize, usize);
    [usize; 6], (usize, usize, usize, usize, usize, usize);
    [usize; 7], (usize, usize, usize, usize, usize, usize, usize);
    [usize; 8], (usize, usize, usize, usize, usize, usize, usize, usize);
}

impl<T: Zeros<S::Element>, S: Nest<Size = [usize; 1]>> Zeros<S> for Vec<T> {
    fn zeros(shape: &S, at: At) -> Result<Self, Fault> {
        zero_elements(shape, at)
    }
}

impl<T: Zeros<S::Element>, S: Nest<Size = [usize; N]>, const N: usize> Zeros<S> for Nested<T, N> {
    fn zeros(shape: &S, at: At) -> Result<Self, Fault> {
        Ok(Self::from_parts(shape.size(), zero_elements(shape, at)?))
    }
}

fn zero_elements<T: Zeros<S::Element>, S: Nest>(shape: &S, at: At) -> Result<Vec<T>, Fault> {
    let mut zeros = elements(shape.size(), at)?;
    for shape in shape.data() {
        zeros.push(T::zeros(shape, at)?);
    }
    Ok(zeros)
}

/// The zero with the structure of another value.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline]
pub fn zeros<T: Zeros<S>, S>(shape: &S, at: At) -> Result<T, Fault> {
    T::zeros(shape, at)
}

/// The product of a number and a tensor.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
pub fn scaled<A: Array, F: Real>(factor: F, view: View<'_, A::Element, A::Size>, at: At) -> Result<A, Fault>
where
    A::Element: Linear<F>,
{
    let mut scaled = A::copy_of(view, at)?;
    scaled.data_mut().iter_mut().for_each(|element| element.scale(factor));
    Ok(scaled)
}

/// The negative of a tensor.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
pub fn negated<A: Array, F: Real>(_: F, view: View<'_, A::Element, A::Size>, at: At) -> Result<A, Fault>
where
    A::Element: Linear<F>,
{
    let mut negated = A::copy_of(view, at)?;
    negated.data_mut().iter_mut().for_each(Linear::negate);
    Ok(negated)
}

/// The sum of a tensor and a tangent.
///
/// # Errors
/// E6010 if a size differs; E6004 if the memory cannot be allocated.
pub fn sum_of<A: Array, B: Nest<Size = A::Size>>(
    view: View<'_, A::Element, A::Size>,
    by: &B,
    at: At,
) -> Result<A, Fault>
where
    A::Element: Grow<B::Element> + Clone,
{
    let mut sum = A::copy_of(view, at)?;
    sum.view_mut().grow(by, at)?;
    Ok(sum)
}

/// Adds the products of the elements of two tensors to a sum.
///
/// # Errors
/// E6010 if sizes differ.
pub fn dot<T: Linear<F>, S: Extents, F>(
    x: View<'_, T, S>,
    y: View<'_, T, S>,
    mut sum: F,
    at: At,
) -> Result<F, Fault> {
    if x.size != y.size {
        return Err(at.failure("the values of `ts_dot` have different sizes"));
    }
    check(x.data.len() == y.data.len(), "a tensor has another number of elements than its size");
    for (x, y) in x.data.iter().zip(y.data) {
        sum = x.dot(y, sum, at)?;
    }
    Ok(sum)
}
