//! Sums, means and extremes, over all elements and along an axis.
//!
//! Expressions such as `mind!(sum(x, axis = 0))` have the same results to the bit, since they use the same kernels.

use super::axes::{Axis, RemoveAxis, without};
use super::numeric::Numeric;
use crate::bare::{self, Argument, known};
use crate::element::Element;
use crate::error::describe;
use crate::shape::Shape;
use crate::tensor::storage::{Tensor, TensorRef};

/// A kernel that reduces over the given axes, or over all axes.
type Kernel<T, U> = fn(Argument<'_, T>, Option<&[i64]>, &mut [U]);

/// Defines the methods that reduce over all elements and along an axis.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])* $name:ident
        $(#[$doc_axis:meta])* $name_axis:ident
        $kernel:ident $empty:expr;
    )*) => {
        impl<T: Numeric, S: Shape> TensorRef<T, S> {
            $(
                $(#[$doc])*
                #[must_use]
                #[track_caller]
                pub fn $name(&self) -> T {
                    over_all(self, stringify!($name), $empty, bare::$kernel)
                }

                $(#[$doc_axis])*
                #[must_use]
                #[track_caller]
                pub fn $name_axis(&self, axis: Axis) -> Tensor<T, S::Smaller>
                where
                    S: RemoveAxis,
                {
                    along(self, stringify!($name_axis), axis, $empty, bare::$kernel)
                }
            )*
        }
    };
}

reductions! {
    /// The sum of all elements; 0 if there are none. The rounding error does not grow with the length. Integers wrap.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.sum(), 10.0);
    /// ```
    sum
    /// The sums along an axis, which is removed; 0 if there are no elements.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![i64; 2, 3] = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.sum_axis(Axis(0)).as_slice(), [5, 7, 9]);
    /// assert_eq!(x.sum_axis(Axis(1)).as_slice(), [6, 15]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), or the memory cannot be allocated (E6004).
    sum_axis
    sum Some(T::ZERO);

    /// The arithmetic mean of all elements. For integers it is the wrapping sum divided by the count, rounded towards
    /// zero.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mean(), 2.5);
    /// ```
    ///
    /// # Panics
    /// If there are no elements (E3006).
    mean
    /// The arithmetic means along an axis, which is removed.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    /// assert_eq!(x.mean_axis(Axis(1)).as_slice(), [2.0, 5.0]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), its extent is 0 (E3006), or the memory cannot be allocated (E6004).
    mean_axis
    mean None;

    /// The product of all elements; 1 if there are none. Integers wrap.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![i32; 3] = Tensor::from([2, 3, 4]);
    /// assert_eq!(x.product(), 24);
    /// ```
    product
    /// The products along an axis, which is removed; 1 if there are no elements.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![i32; 2, 2] = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.product_axis(Axis(0)).as_slice(), [3, 8]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), or the memory cannot be allocated (E6004).
    product_axis
    prod Some(T::ONE);

    /// The largest element. NaN if an element is NaN; +0 is larger than -0.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 3] = Tensor::from([1.0, 3.0, 2.0]);
    /// assert_eq!(x.max(), 3.0);
    /// ```
    ///
    /// # Panics
    /// If there are no elements (E3006).
    max
    /// The largest elements along an axis, which is removed; NaN where an element is NaN.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]);
    /// assert_eq!(x.max_axis(Axis(0)).as_slice(), [4.0, 5.0, 6.0]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), its extent is 0 (E3006), or the memory cannot be allocated (E6004).
    max_axis
    max None;

    /// The smallest element. NaN if an element is NaN; -0 is smaller than +0.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 3] = Tensor::from([1.0, -3.0, 2.0]);
    /// assert_eq!(x.min(), -3.0);
    /// ```
    ///
    /// # Panics
    /// If there are no elements (E3006).
    min
    /// The smallest elements along an axis, which is removed; NaN where an element is NaN.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]);
    /// assert_eq!(x.min_axis(Axis(1)).as_slice(), [1.0, 2.0]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), its extent is 0 (E3006), or the memory cannot be allocated (E6004).
    min_axis
    min None;
}

impl<T: Numeric, S: Shape> TensorRef<T, S> {
    /// The position of the largest element in row-major order, as in [`as_slice`](Self::as_slice): the first NaN if
    /// there is one, else the first of equal elements.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let scores: Tensor![f32; 4] = Tensor::from([0.1, 0.7, 0.0, 0.2]);
    /// assert_eq!(scores.argmax(), 1);
    /// ```
    ///
    /// # Panics
    /// If there are no elements (E3006).
    #[must_use]
    #[track_caller]
    pub fn argmax(&self) -> usize {
        over_all(self, "argmax", None, bare::argmax) as usize
    }

    /// The position of the smallest element in row-major order: the first NaN if there is one, else the first of equal
    /// elements.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![i32; 2, 2] = Tensor::from([[3, 2], [1, 1]]);
    /// assert_eq!(x.argmin(), 2);
    /// ```
    ///
    /// # Panics
    /// If there are no elements (E3006).
    #[must_use]
    #[track_caller]
    pub fn argmin(&self) -> usize {
        over_all(self, "argmin", None, bare::argmin) as usize
    }

    /// The indices of the largest elements along an axis, which is removed: of the first NaN if there is one, else of
    /// the first of equal elements. Expressions accept these indices, as in `mind!(gather(table, ids))`.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let scores: Tensor![f32; 2, 3] = Tensor::from([[0.1, 0.7, 0.2], [0.9, 0.0, 0.1]]);
    /// assert_eq!(scores.argmax_axis(Axis(1)).as_slice(), [1, 0]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), its extent is 0 (E3006), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn argmax_axis(&self, axis: Axis) -> Tensor<i64, S::Smaller>
    where
        S: RemoveAxis,
    {
        along(self, "argmax_axis", axis, None, bare::argmax)
    }

    /// The indices of the smallest elements along an axis, which is removed: of the first NaN if there is one, else of
    /// the first of equal elements.
    ///
    /// ```
    /// use mind_rt::{Axis, Tensor};
    ///
    /// let x: Tensor![i32; 2, 3] = Tensor::from([[3, 1, 2], [0, 5, 0]]);
    /// assert_eq!(x.argmin_axis(Axis(0)).as_slice(), [1, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// If the axis does not exist (E3004), its extent is 0 (E3006), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn argmin_axis(&self, axis: Axis) -> Tensor<i64, S::Smaller>
    where
        S: RemoveAxis,
    {
        along(self, "argmin_axis", axis, None, bare::argmin)
    }
}

/// The result of `kernel` over all elements; `of_none` if there are no elements. Panics if that is `None`.
#[track_caller]
fn over_all<T: Numeric, U: Numeric, S: Shape>(
    x: &TensorRef<T, S>,
    what: &str,
    of_none: Option<U>,
    kernel: Kernel<T, U>,
) -> U {
    if x.is_empty() {
        return of_none.unwrap_or_else(|| panic_without_elements(what, x));
    }
    let mut out = [U::ZERO];
    let ty = known(&x.view());
    kernel(Argument::new(x.as_slice(), &ty), None, &mut out);
    out[0]
}

/// The result of `kernel` along an axis; `of_none` everywhere if there are no elements. Panics if that is `None`.
#[track_caller]
fn along<T: Numeric, U: Element, S: RemoveAxis>(
    x: &TensorRef<T, S>,
    what: &str,
    axis: Axis,
    of_none: Option<U>,
    kernel: Kernel<T, U>,
) -> Tensor<U, S::Smaller> {
    let axis = axis.below(S::RANK, what, x);
    let mut out = Tensor::try_stale_with(without(&x.shape(), axis)).unwrap_or_else(|error| panic!("{error}"));
    if out.is_empty() {
        return out;
    }
    if x.is_empty() {
        out.fill(of_none.unwrap_or_else(|| panic_without_elements(what, x)));
        return out;
    }
    let ty = known(&x.view());
    kernel(Argument::new(x.as_slice(), &ty), Some(&[axis as i64]), out.as_mut_slice());
    out
}

/// Panics, since a reduction such as the maximum is undefined without elements.
#[cold]
#[track_caller]
fn panic_without_elements<T: Element, S: Shape, U>(what: &str, x: &TensorRef<T, S>) -> U {
    let extents = x.shape().dims();
    let axis =
        extents.iter().position(|extent| *extent == 0).expect("an extent is 0 where there are no elements");
    let x = describe(T::DTYPE, &extents);
    panic!("E3006: `{what}`: {x} has no elements: dimension {axis} is 0, needed 1 or more")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::tests::Threads;
    use crate::tensor::tests::message;
    use crate::{Const, Tensor};

    type Block<T> = Tensor<T, (usize, usize, usize)>;

    fn sample(a: usize, b: usize, c: usize) -> Block<i64> {
        Tensor::from_fn_with((a, b, c), |[i, j, k]| (i * 31 + j * 17 + k * 7) as i64 % 23 - 11)
    }

    /// The elements along an axis, for each index of the result.
    fn groups(x: &Block<i64>, axis: usize) -> Vec<Vec<i64>> {
        let dims = x.dims();
        let kept: Vec<usize> = (0..3).filter(|other| *other != axis).collect();
        let mut groups = Vec::new();
        for outer in 0..dims[kept[0]] {
            for inner in 0..dims[kept[1]] {
                let at = |along: usize| {
                    let mut index = [along; 3];
                    (index[kept[0]], index[kept[1]]) = (outer, inner);
                    x[index]
                };
                groups.push((0..dims[axis]).map(at).collect());
            }
        }
        groups
    }

    #[test]
    fn every_axis_is_reduced_as_by_loops() {
        for (a, b, c) in [(2, 3, 4), (1, 3, 1), (4, 1, 2), (1, 1, 1), (3, 40, 5), (70, 90, 60)] {
            let x = sample(a, b, c);
            let groups: Vec<_> = (0..3).map(|axis| groups(&x, axis)).collect();
            for threads in [1, 5] {
                let _held = Threads::set(threads);
                for (axis, groups) in groups.iter().enumerate() {
                    let expected = |f: &dyn Fn(&[i64]) -> i64| -> Vec<i64> {
                        groups.iter().map(|group| f(group)).collect()
                    };
                    let sum = |group: &[i64]| group.iter().sum::<i64>();
                    let (max, min) =
                        (expected(&|g| *g.iter().max().unwrap()), expected(&|g| *g.iter().min().unwrap()));
                    let first = |g: &[i64], best: i64| g.iter().position(|x| *x == best).unwrap() as i64;
                    assert_eq!(x.sum_axis(Axis(axis)).as_slice(), expected(&|g| sum(g)));
                    assert_eq!(x.mean_axis(Axis(axis)).as_slice(), expected(&|g| sum(g) / g.len() as i64));
                    assert_eq!(
                        x.product_axis(Axis(axis)).as_slice(),
                        expected(&|g| g.iter().fold(1, |all, x| i64::wrapping_mul(all, *x)))
                    );
                    assert_eq!(x.max_axis(Axis(axis)).as_slice(), max);
                    assert_eq!(x.min_axis(Axis(axis)).as_slice(), min);
                    assert_eq!(
                        x.argmax_axis(Axis(axis)).as_slice(),
                        expected(&|g| first(g, *g.iter().max().unwrap()))
                    );
                    assert_eq!(
                        x.argmin_axis(Axis(axis)).as_slice(),
                        expected(&|g| first(g, *g.iter().min().unwrap()))
                    );
                }
                let all = x.as_slice();
                assert_eq!(x.sum(), all.iter().sum::<i64>());
                assert_eq!(x.mean(), all.iter().sum::<i64>() / all.len() as i64);
                assert_eq!(x.product(), all.iter().fold(1, |product, x| i64::wrapping_mul(product, *x)));
                assert_eq!((x.max(), x.min()), (*all.iter().max().unwrap(), *all.iter().min().unwrap()));
                assert_eq!(x.argmax(), all.iter().position(|y| *y == x.max()).unwrap());
                assert_eq!(x.argmin(), all.iter().position(|y| *y == x.min()).unwrap());
            }
        }
    }

    #[test]
    fn shapes_lose_the_axis_whatever_they_know() {
        let x: Tensor![f64; 2, 3] = Tensor::from_fn(|[i, j]| (3 * i + j) as f64);
        assert_eq!(x.sum_axis(Axis(0)), Tensor::from([3.0, 5.0, 7.0]).try_into_shape().expect("rank 1"));
        assert_eq!(x.view().sum_axis(Axis(1)).dims(), [2]);
        assert_eq!(x.sum_axis(Axis(1)).sum_axis(Axis(0)).scalar(), x.sum());
        let mixed: Tensor![f64; ?, 3] = x.try_into_shape().expect("the same extents");
        assert_eq!(mixed.mean_axis(Axis(0)).as_slice(), [1.5, 2.5, 3.5]);
    }

    #[test]
    fn a_sum_of_many_floats_is_as_exact_as_one_of_few() {
        let x = Tensor::<f32, _>::full_with((3, 1_000_000), 0.1);
        let exact = f64::from(0.1_f32) * 1e6;
        for sum in x.sum_axis(Axis(1)).iter().chain(&[x.sum() / 3.0, x.mean() * 1e6]) {
            assert!((f64::from(*sum) / exact - 1.0).abs() < 1e-6, "{sum}");
        }
    }

    #[test]
    fn nan_and_zeros_of_both_signs_are_ordered() {
        let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, f32::NAN, 3.0], [-0.0, 0.0, -0.0]]);
        assert!(x.max().is_nan() && x.min().is_nan());
        assert_eq!((x.argmax(), x.argmin()), (1, 1));
        let (max, min) = (x.max_axis(Axis(1)), x.min_axis(Axis(1)));
        assert!(max[[0]].is_nan() && min[[0]].is_nan());
        assert_eq!((max[[1]].to_bits(), min[[1]].to_bits()), (0.0_f32.to_bits(), (-0.0_f32).to_bits()));
        assert_eq!(x.argmax_axis(Axis(1)).as_slice(), [1, 0]);
    }

    #[test]
    fn nothing_has_a_sum_and_a_product() {
        let x = Tensor::<f32, _>::zeros_with((2, 0, 3));
        assert_eq!((x.sum(), x.product()), (0.0, 1.0));
        assert_eq!(x.sum_axis(Axis(1)), Tensor::zeros_with((2, 3)));
        assert_eq!(x.product_axis(Axis(1)), Tensor::full_with((2, 3), 1.0));
        assert_eq!(x.sum_axis(Axis(0)).dims(), [0, 3]);
        assert_eq!(x.max_axis(Axis(2)).dims(), [2, 0]);
        assert_eq!(x.argmax_axis(Axis(0)).dims(), [0, 3]);
        assert_eq!(Tensor::<f32, (Const<0>,)>::zeros().sum_axis(Axis(0)).scalar(), 0.0);
    }

    #[test]
    fn nothing_has_no_largest_element() {
        let x = Tensor::<f32, _>::zeros_with((2, 0));
        let expected =
            |what| format!("E3006: `{what}`: f32[2, 0] has no elements: dimension 1 is 0, needed 1 or more");
        assert_eq!(message(|| x.max()), expected("max"));
        assert_eq!(message(|| x.argmin()), expected("argmin"));
        assert_eq!(message(|| x.mean()), expected("mean"));
        assert_eq!(message(|| x.min_axis(Axis(1))), expected("min_axis"));
        assert_eq!(message(|| x.argmax_axis(Axis(1))), expected("argmax_axis"));
    }

    #[test]
    fn an_axis_out_of_range_is_named_with_the_shape() {
        let x: Tensor![f32; 2, 3] = Tensor::zeros();
        let expected = "E3004: `sum_axis`: axis 2 is out of range for f32[2, 3], needed 0 to 1";
        assert_eq!(message(|| x.sum_axis(Axis(2))), expected);
        assert!(
            message(|| x.argmax_axis(Axis(usize::MAX))).contains("axis 18446744073709551615 is out of range")
        );
    }
}
