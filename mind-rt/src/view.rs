//! Access to a tensor's elements, and views of tensors.

use std::ops::{Index, IndexMut};

use crate::element::Element;
use crate::error::Error;
use crate::shape::{Indexed, Rank, Shape};
use crate::tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};
use crate::tensor::{convert_shape, position};

impl<T: Element, S: Shape> TensorRef<T, S> {
    /// The extents.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::zeros();
    /// let [rows, columns] = x.dims();
    /// assert_eq!((rows, columns), (2, 3));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn dims<const R: usize>(&self) -> [usize; R]
    where
        S: Rank<R>,
    {
        self.shape().extents()
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.as_slice().iter()
    }

    /// The elements in row-major order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.as_mut_slice().iter_mut()
    }

    /// The element at an index, or `None` if it is out of range.
    pub fn get<const R: usize>(&self, index: [usize; R]) -> Option<&T>
    where
        S: Rank<R>,
    {
        let inside = index.iter().zip(self.dims()).all(|(i, extent)| *i < extent);
        inside.then(|| &self.as_slice()[position(&self.shape(), &index)])
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> TensorView<'_, T, S> {
        TensorView::from_elements(self.shape(), self.as_slice())
    }

    /// A mutable view of the whole tensor.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, S> {
        TensorViewMut::from_elements(self.shape(), self.as_mut_slice())
    }

    /// A view of the whole tensor with only dynamic dims.
    ///
    /// ```
    /// use mind_rt::{Tensor, TensorRef};
    ///
    /// fn rows(x: &TensorRef<f32, (usize, usize)>) -> usize {
    ///     x.dims()[0]
    /// }
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::zeros();
    /// assert_eq!(rows(&x.as_dyn()), 2);
    /// ```
    #[must_use]
    pub fn as_dyn<const R: usize>(&self) -> TensorView<'_, T, S::Dynamic>
    where
        S: Rank<R>,
    {
        TensorView::from_elements(self.shape().dynamic(), self.as_slice())
    }

    /// A mutable view of the whole tensor with only dynamic dims.
    #[must_use]
    pub fn as_dyn_mut<const R: usize>(&mut self) -> TensorViewMut<'_, T, S::Dynamic>
    where
        S: Rank<R>,
    {
        TensorViewMut::from_elements(self.shape().dynamic(), self.as_mut_slice())
    }
}

impl<T: Element> TensorRef<T, ()> {
    /// The only element of a rank-0 tensor.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// assert_eq!(Tensor::from(2.5_f32).scalar(), 2.5);
    /// ```
    #[inline]
    #[must_use]
    pub fn scalar(&self) -> T {
        self.as_slice()[0]
    }
}

impl<'a, T: Element, S: Shape> TensorView<'a, T, S> {
    /// A view of `elements` in row-major order.
    ///
    /// # Errors
    /// E3007 if their number is not the number that the shape has.
    pub fn from_slice(dims: S, elements: &'a [T]) -> Result<Self, Error> {
        if dims.checked_len() != Some(elements.len()) {
            return Err(Error::length_mismatch::<T, S>(&dims, elements.len()));
        }
        Ok(Self::from_elements(dims, elements))
    }

    /// The same elements with a shape type in which more or fewer extents are static.
    ///
    /// ```
    /// use mind_rt::{Tensor, TensorView, Const};
    ///
    /// let x = Tensor::from_vec((2, 3), vec![0.0_f32; 6])?;
    /// let rows: TensorView<'_, f32, (usize, Const<3>)> = x.view().try_into_shape()?;
    /// assert_eq!(rows.dims(), [2, 3]);
    /// # Ok::<(), mind_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// E6009 if a static extent differs; E3002 if the rank differs.
    pub fn try_into_shape<S2: Shape>(self) -> Result<TensorView<'a, T, S2>, Error> {
        let shape = convert_shape::<T, S, S2>(&self.shape())?;
        Ok(TensorView::from_elements(shape, self.into_slice()))
    }

    /// An owned tensor with the same elements.
    #[must_use]
    #[track_caller]
    pub fn to_owned(&self) -> Tensor<T, S> {
        Tensor::copy_of(self)
    }
}

impl<'a, T: Element, S: Shape> TensorViewMut<'a, T, S> {
    /// A view of `elements` in row-major order.
    ///
    /// # Errors
    /// E3007 if their number is not the number that the shape has.
    pub fn from_slice(dims: S, elements: &'a mut [T]) -> Result<Self, Error> {
        if dims.checked_len() != Some(elements.len()) {
            return Err(Error::length_mismatch::<T, S>(&dims, elements.len()));
        }
        Ok(Self::from_elements(dims, elements))
    }

    /// The same elements with a shape type in which more or fewer extents are static.
    ///
    /// # Errors
    /// E6009 if a static extent differs; E3002 if the rank differs.
    pub fn try_into_shape<S2: Shape>(self) -> Result<TensorViewMut<'a, T, S2>, Error> {
        let shape = convert_shape::<T, S, S2>(&self.shape())?;
        Ok(TensorViewMut::from_elements(shape, self.into_slice()))
    }
}

impl<const R: usize, T: Element, S: Indexed<R>> Index<[usize; R]> for TensorRef<T, S> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        &self.as_slice()[position(&self.shape(), &index)]
    }
}

impl<const R: usize, T: Element, S: Indexed<R>> IndexMut<[usize; R]> for TensorRef<T, S> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; R]) -> &mut T {
        let position = position(&self.shape(), &index);
        &mut self.as_mut_slice()[position]
    }
}

impl<T: Element, S: Shape> PartialEq for TensorRef<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && T::are_equal(self.as_slice(), other.as_slice())
    }
}

macro_rules! owners {
    ($($owner:ident $(<$life:lifetime>)?),*) => {
        $(
            impl<T: Element, S: Shape> AsRef<TensorRef<T, S>> for $owner<$($life,)? T, S> {
                fn as_ref(&self) -> &TensorRef<T, S> {
                    self
                }
            }

            impl<T: Element, S: Shape> PartialEq<TensorRef<T, S>> for $owner<$($life,)? T, S> {
                fn eq(&self, other: &TensorRef<T, S>) -> bool {
                    **self == *other
                }
            }

            impl<T: Element, S: Shape> PartialEq<Tensor<T, S>> for $owner<$($life,)? T, S> {
                fn eq(&self, other: &Tensor<T, S>) -> bool {
                    **self == **other
                }
            }

            impl<T: Element, S: Shape> PartialEq<TensorView<'_, T, S>> for $owner<$($life,)? T, S> {
                fn eq(&self, other: &TensorView<'_, T, S>) -> bool {
                    **self == **other
                }
            }

            impl<T: Element, S: Shape> PartialEq<TensorViewMut<'_, T, S>> for $owner<$($life,)? T, S> {
                fn eq(&self, other: &TensorViewMut<'_, T, S>) -> bool {
                    **self == **other
                }
            }
        )*
    };
}

owners!(Tensor, TensorView<'_>, TensorViewMut<'_>);

impl<'a, T: Element, S: Shape> IntoIterator for &'a TensorRef<T, S> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Element, S: Shape> IntoIterator for &'a Tensor<T, S> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};

    #[test]
    fn views_alias_what_they_view() {
        let mut x: Tensor![f32; 2, 3] = Tensor::from_fn(|[i, j]| (3 * i + j) as f32);
        let pointer = x.as_slice().as_ptr();
        assert_eq!(x.view().as_slice().as_ptr(), pointer);
        assert_eq!(x.as_dyn().into_slice().as_ptr(), pointer);
        let mut view = x.view_mut();
        view[[0, 1]] = 10.0;
        let value = view.view()[[0, 1]] + 1.0;
        view.view_mut().fill(value);
        x.as_dyn_mut()[[1, 1]] = 0.5;
        assert_eq!(x.as_slice(), [11.0, 11.0, 11.0, 11.0, 0.5, 11.0]);
    }

    #[test]
    fn a_view_outlives_the_value_it_came_through() {
        let data = [1.0_f32, 2.0];
        let slice = {
            let view = TensorView::from_slice((2,), &data).expect("2 elements");
            let copy = view;
            copy.into_slice()
        };
        assert_eq!(slice, [1.0, 2.0]);
    }

    #[test]
    fn a_mutable_view_converts_and_gives_its_slice_back() {
        let mut data = [1_i32, 2, 3, 4];
        let view = TensorViewMut::from_slice((2, 2), &mut data).expect("4 elements");
        let view: TensorViewMut<'_, i32, (Const<2>, usize)> = view.try_into_shape().expect("2 rows");
        view.into_slice()[3] = 9;
        assert_eq!(data, [1, 2, 3, 9]);
        let view = TensorViewMut::from_slice((2, 2), &mut data).expect("4 elements");
        assert_eq!(view.try_into_shape::<(Const<3>, usize)>().err().map(|e| e.code()), Some("E6009"));
        assert_eq!(TensorViewMut::from_slice((3,), &mut data).err().map(|e| e.code()), Some("E3007"));
    }

    #[test]
    fn owners_of_all_kinds_compare() {
        let mut x: Tensor![f32; 2] = Tensor::from([1.0, 2.0]);
        let y = x.clone();
        assert!(x == y.view() && y.view() == x && *x == *y && x == *y.view());
        assert!(x.view_mut() == y);
        x[[0]] = f32::NAN;
        assert!(x != x.clone());
        assert!(Tensor::<f32, _>::zeros_with((0, 2)) != Tensor::zeros_with((2, 0)));
    }

    #[test]
    fn elements_are_reached_in_several_ways() {
        let mut x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(x.get([1, 0]), Some(&3.0));
        assert_eq!(x.get([0, 2]), None);
        x.iter_mut().for_each(|x| *x += 1.0);
        assert_eq!((&x).into_iter().sum::<f32>(), 14.0);
        assert_eq!(x.view().to_owned(), x);
    }
}
