//! Single elements: with their indices, in pairs, in another element type.

use std::ops::{Index, IndexMut};

use mind_shape::match_elements;

use super::numeric::Float;
use super::{advance, position};
use crate::element::Element;
use crate::element::{Elements, ElementsMut};
use crate::error::describe;
use crate::kernels::math::{As, Convert};
use crate::shape::{Indexed, Rank, Shape};
use crate::tensor::storage::{Tensor, TensorRef};

impl<T: Element, S: Shape> TensorRef<T, S> {
    /// A copy of the elements in row-major order.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.to_vec(), [1.0, 2.0, 3.0, 4.0]);
    /// ```
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.as_slice().to_vec()
    }

    /// The elements in row-major order, each with its index.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![i32; 2, 2] = Tensor::from([[1, 2], [3, 4]]);
    /// let even: Vec<[usize; 2]> = x.indexed_iter().filter(|(_, x)| **x % 2 == 0).map(|(at, _)| at).collect();
    /// assert_eq!(even, [[0, 1], [1, 1]]);
    /// ```
    pub fn indexed_iter<const R: usize>(&self) -> impl ExactSizeIterator<Item = ([usize; R], &T)>
    where
        S: Rank<R>,
    {
        let (extents, mut next) = (self.dims(), [0; R]);
        self.iter().map(move |element| {
            let index = next;
            advance(&mut next, &extents);
            (index, element)
        })
    }

    /// A new tensor with `f` applied to the pair of elements at each index.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
    /// let y: Tensor![f32; 3] = Tensor::from([3.0, 2.0, 1.0]);
    /// assert_eq!(x.zip_map(&y, |x, y| x > y).as_slice(), [false, false, true]);
    /// ```
    ///
    /// # Panics
    /// If a dynamic extent differs (E3003), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn zip_map<U: Element, V: Element>(
        &self,
        other: &TensorRef<U, S>,
        mut f: impl FnMut(T, U) -> V,
    ) -> Tensor<V, S> {
        same_extents("zip_map", self, other);
        let mut out = Tensor::zeros_with(self.shape());
        for ((out, x), y) in out.iter_mut().zip(self.iter()).zip(other.iter()) {
            *out = f(*x, *y);
        }
        out
    }

    /// Applies `f` to every element in place.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let mut x: Tensor![f32; 3] = Tensor::from([1.0, 4.0, 9.0]);
    /// x.map_inplace(|x| *x = x.sqrt());
    /// assert_eq!(x.as_slice(), [1.0, 2.0, 3.0]);
    /// ```
    pub fn map_inplace(&mut self, f: impl FnMut(&mut T)) {
        self.iter_mut().for_each(f);
    }

    /// The elements converted to another type, as by Rust's `as`. A `bool` becomes 1 or 0; any value but 0 becomes
    /// true.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 3] = Tensor::from([1.5, -2.5, 0.0]);
    /// assert_eq!(x.cast::<i64>().as_slice(), [1, -2, 0]);
    /// assert_eq!(x.cast::<bool>().as_slice(), [true, true, false]);
    /// ```
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn cast<U: Element>(&self) -> Tensor<U, S> {
        let mut out = Tensor::try_stale_with(self.shape()).unwrap_or_else(|error| panic!("{error}"));
        convert(T::elements(self.as_slice()), U::elements_mut(out.as_mut_slice()));
        out
    }
}

impl<T: Float, S: Shape> TensorRef<T, S> {
    /// Whether the elements at each index are equal or at most `tolerance` apart. NaN is close to nothing.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2] = Tensor::from([0.1 + 0.2, 1.0]);
    /// assert!(x.all_close(&Tensor::from([0.3, 1.0]), 1e-6));
    /// ```
    ///
    /// # Panics
    /// If a dynamic extent differs (E3003).
    #[must_use]
    #[track_caller]
    pub fn all_close(&self, other: &Self, tolerance: T) -> bool {
        same_extents("all_close", self, other);
        self.iter().zip(other).all(|(x, y)| {
            let apart = if x > y { x.minus(*y) } else { y.minus(*x) };
            x == y || apart <= tolerance
        })
    }
}

/// Panics unless both tensors have the same extents.
#[track_caller]
fn same_extents<T: Element, U: Element, S: Shape>(what: &str, x: &TensorRef<T, S>, y: &TensorRef<U, S>) {
    if x.shape() != y.shape() {
        let (x, y) = (describe(T::DTYPE, &x.shape().dims()), describe(U::DTYPE, &y.shape().dims()));
        panic!("E3003: `{what}`: shapes differ: the left is {x}, the right is {y}");
    }
}

/// Converts the elements to another type; both slices have the same length. This function is compiled with this crate,
/// since nothing in it depends on a program.
fn convert(from: Elements<'_>, to: ElementsMut<'_>) {
    match_elements!(from, Elements(from) => convert_all(from, to));
}

fn convert_all<T: Convert>(from: &[T], to: ElementsMut<'_>) {
    fn each<T: As<U> + Copy, U>(from: &[T], to: &mut [U]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to());
    }
    match_elements!(to, ElementsMut(to) => each(from, to));
}

macro_rules! indices {
    ($($rank:literal: $index:ty, |$from:ident| $to:expr;)*) => {
        $(
            impl<T: Element, S: Indexed<$rank>> Index<$index> for TensorRef<T, S> {
                type Output = T;

                #[inline]
                #[track_caller]
                fn index(&self, $from: $index) -> &T {
                    &self.as_slice()[position(&self.shape(), &$to)]
                }
            }

            impl<T: Element, S: Indexed<$rank>> IndexMut<$index> for TensorRef<T, S> {
                #[inline]
                #[track_caller]
                fn index_mut(&mut self, $from: $index) -> &mut T {
                    let position = position(&self.shape(), &$to);
                    &mut self.as_mut_slice()[position]
                }
            }
        )*
    };
}

indices! {
    1: usize, |i| [i];
    2: (usize, usize), |index| <[usize; 2]>::from(index);
    3: (usize, usize, usize), |index| <[usize; 3]>::from(index);
    4: (usize, usize, usize, usize), |index| <[usize; 4]>::from(index);
    5: (usize, usize, usize, usize, usize), |index| <[usize; 5]>::from(index);
    6: (usize, usize, usize, usize, usize, usize), |index| <[usize; 6]>::from(index);
    7: (usize, usize, usize, usize, usize, usize, usize), |index| <[usize; 7]>::from(index);
    8: (usize, usize, usize, usize, usize, usize, usize, usize), |index| <[usize; 8]>::from(index);
}

#[cfg(test)]
mod tests {
    use crate::tensor::tests::message;
    use crate::{Const, Tensor};

    #[test]
    fn elements_come_with_their_indices() {
        let x = Tensor::from_fn_with((2, Const::<3>), |[i, j]| (3 * i + j) as i64);
        let mut seen = 0;
        for ([i, j], x) in x.indexed_iter() {
            assert_eq!(*x, (3 * i + j) as i64);
            seen += 1;
        }
        assert_eq!((seen, x.indexed_iter().len()), (6, 6));
        assert_eq!(Tensor::from(2.0_f32).indexed_iter().collect::<Vec<_>>(), [([], &2.0)]);
        assert_eq!(Tensor::<f32, _>::zeros_with((0, 3)).indexed_iter().count(), 0);
    }

    #[test]
    fn indices_are_numbers_arrays_and_tuples() {
        let mut v: Tensor![f32; 3] = Tensor::from([1.0, 2.0, 3.0]);
        v[1] += v[[0]];
        assert_eq!(v.as_slice(), [1.0, 3.0, 3.0]);
        let mut x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        x[(0, 1)] = x[[1, 0]] + x[(1, 1)];
        assert_eq!(x.as_slice(), [1.0, 7.0, 3.0, 4.0]);
        let deep = Tensor::from_fn_with((1, 2, 1, 2, 1, 2, 1, 2), |index| index.iter().sum::<usize>() as i64);
        assert_eq!(deep[(0, 1, 0, 1, 0, 0, 0, 1)], 3);
        assert_eq!(message(|| v[3]), "index [3] is out of range for shape [3]");
        assert_eq!(message(|| x[(1, 2)]), "index [1, 2] is out of range for shape [2, 2]");
    }

    #[test]
    fn elements_are_taken_two_by_two() {
        let x = Tensor::from_fn_with((2, 3), |[i, j]| (3 * i + j) as f32);
        let y = x.map(|x| x as i64 * 10);
        assert_eq!(x.zip_map(&y, |x, y| x as i64 + y).as_slice(), [0, 11, 22, 33, 44, 55]);
        let empty = Tensor::<f32, _>::zeros_with((0, 3));
        assert!(empty.zip_map(&empty, |x, _| x).is_empty());
        let other = Tensor::<i64, _>::zeros_with((3, 2));
        assert_eq!(
            message(|| x.zip_map(&other, |x, _| x)),
            "E3003: `zip_map`: shapes differ: the left is f32[2, 3], the right is i64[3, 2]"
        );
    }

    #[test]
    fn every_type_is_cast_as_rust_does() {
        let x = Tensor::from([-1.5_f64, f64::NAN, 1e300, 0.0]);
        assert_eq!(x.cast::<i32>().as_slice(), [-1, 0, i32::MAX, 0]);
        assert_eq!(x.cast::<f32>().as_slice()[2], f32::INFINITY);
        assert_eq!(x.cast::<bool>().as_slice(), [true, true, true, false]);
        assert_eq!(x.cast::<bool>().cast::<i64>().as_slice(), [1, 1, 1, 0]);
        let n = Tensor::from([i64::MAX, -1]);
        assert_eq!(n.cast::<i32>().as_slice(), [-1, -1]);
        assert_eq!(n.cast::<f64>().as_slice(), [i64::MAX as f64, -1.0]);
        assert_eq!(n.cast::<i64>(), n);
        assert!(Tensor::<i32, _>::zeros_with((3, 0)).cast::<f32>().is_empty());
    }

    #[test]
    fn close_is_within_the_tolerance() {
        let x = Tensor::from([1.0_f32, -2.0, f32::INFINITY, f32::MAX]);
        assert!(x.all_close(&x, 0.0));
        assert!(x.all_close(&x.map(|x| x + 0.5), 0.5) && !x.all_close(&x.map(|x| x - 0.5), 0.25));
        assert!(!x.all_close(&x.map(|x| -x), 10.0));
        let nan = Tensor::from([f32::NAN]);
        assert!(!nan.all_close(&nan, f32::INFINITY));
        let (x, y) = (Tensor::<f32, _>::zeros_with((2,)), Tensor::zeros_with((3,)));
        assert_eq!(
            message(|| x.all_close(&y, 1.0)),
            "E3003: `all_close`: shapes differ: the left is f32[2], the right is f32[3]"
        );
    }
}
