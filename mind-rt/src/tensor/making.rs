//! Tensors of ones, of evenly spaced numbers and of random numbers; tensors from iterators and vectors.

use super::numeric::{Float, Numeric};
use crate::element::Element;
use crate::kernels::math::to_f64;
use crate::kernels::memory::Buffer;
use crate::random::Rng;
use crate::shape::{Rank, Shape, StaticShape};
use crate::tensor::storage::Tensor;

impl<T: Numeric, S: StaticShape> Tensor<T, S> {
    /// A tensor of ones with a static shape.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::ones();
    /// assert_eq!(x.as_slice(), [1.0; 4]);
    /// ```
    ///
    /// # Panics
    /// If the memory cannot be allocated (E6004). The same holds for all functions here that make a tensor.
    #[must_use]
    #[track_caller]
    pub fn ones(/* The type has the extents. To pass them, write `Tensor::ones_with((5, 3))`. */) -> Self {
        Self::ones_with(S::SHAPE)
    }

    /// The identity matrix with a static shape: ones on the diagonal, zeros elsewhere.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x: Tensor![f32; 2, 2] = Tensor::eye();
    /// assert_eq!(x, Tensor::from([[1.0, 0.0], [0.0, 1.0]]));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn eye(/* The type has the extents. To pass them, write `Tensor::eye_with((5, 5))`. */) -> Self
    where
        S: Rank<2>,
    {
        Self::eye_with(S::SHAPE)
    }
}

impl<T: Numeric, S: Shape> Tensor<T, S> {
    /// A tensor of ones with the given shape.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// assert_eq!(Tensor::<i64, _>::ones_with((2, 3)).sum(), 6);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn ones_with(dims: S) -> Self {
        Self::full_with(dims, T::ONE)
    }

    /// A matrix with ones on the diagonal and zeros elsewhere, with the given shape, which need not be square.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// assert_eq!(Tensor::<f32, _>::eye_with((2, 3)).as_slice(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn eye_with(dims: S) -> Self
    where
        S: Rank<2>,
    {
        let mut tensor = Self::zeros_with(dims);
        let [rows, columns] = dims.extents();
        for i in 0..rows.min(columns) {
            tensor[[i, i]] = T::ONE;
        }
        tensor
    }
}

impl<T: Numeric> Tensor<T, (usize,)> {
    /// The numbers from `start` on in steps of `step`, up to but excluding `end`.
    ///
    /// Each number is `start + i * step`, rounded once in `f32`, so errors do not accumulate. With a step that is not
    /// exact in binary, such as 0.1, the last number may round to `end`. [`linspace`](Self::linspace) avoids this.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// assert_eq!(Tensor::arange(0, 5, 2).as_slice(), [0, 2, 4]);
    /// assert_eq!(Tensor::arange(1.0, 0.0, -0.25).as_slice(), [1.0, 0.75, 0.5, 0.25]);
    /// ```
    ///
    /// # Panics
    /// If the step is 0 or a number is NaN (E4008), or the memory cannot be allocated (E6004).
    #[must_use]
    #[track_caller]
    pub fn arange(start: T, end: T, step: T) -> Self {
        let Some(count) = T::count_of_steps(start, end, step) else {
            panic!("E4008: `arange`: no numbers go from {start} to {end} by steps of {step}");
        };
        let mut tensor = Self::zeros_with((count,));
        for (i, element) in tensor.iter_mut().enumerate() {
            *element = T::after_steps(start, step, i);
        }
        tensor
    }
}

impl<T: Float> Tensor<T, (usize,)> {
    /// `count` evenly spaced numbers from `start` to `end`, including both. A single number is `start`.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// assert_eq!(Tensor::linspace(0.0, 1.0, 5).as_slice(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn linspace(start: T, end: T, count: usize) -> Self {
        let mut tensor = Self::zeros_with((count,));
        let (from, to, last) = (to_f64(start), to_f64(end), count.saturating_sub(1));
        for (i, element) in tensor.iter_mut().enumerate() {
            let part = i as f64 / last as f64;
            let distance = to - from;
            // The difference of very large numbers may overflow.
            let between =
                if distance.is_finite() { from + distance * part } else { from * (1.0 - part) + to * part };
            *element = match i {
                0 => start,
                i if i == last => end,
                _ => T::rounded(between),
            };
        }
        tensor
    }
}

impl<T: Float, S: StaticShape> Tensor<T, S> {
    /// Random numbers, uniform from 0 to below 1, with a static shape. Each takes one 64-bit random number.
    ///
    /// ```
    /// use mind_rt::{Tensor, Xoshiro256};
    ///
    /// let x: Tensor![f32; 3, 3] = Tensor::rand(&mut Xoshiro256::new(1));
    /// assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn rand<R: Rng + ?Sized>(random: &mut R) -> Self {
        Self::rand_with(S::SHAPE, random)
    }

    /// Random numbers from the normal distribution with mean 0 and variance 1, with a static shape. Each takes one
    /// 64-bit random number.
    ///
    /// ```
    /// use mind_rt::{Tensor, Xoshiro256};
    ///
    /// let x: Tensor![f64; 100, 100] = Tensor::randn(&mut Xoshiro256::new(1));
    /// assert!(x.mean().abs() < 0.05 && (&x * &x).mean() < 1.1);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn randn<R: Rng + ?Sized>(random: &mut R) -> Self {
        Self::randn_with(S::SHAPE, random)
    }
}

impl<T: Float, S: Shape> Tensor<T, S> {
    /// Random numbers, uniform from 0 to below 1, with the given shape. Each takes one 64-bit random number.
    ///
    /// ```
    /// use mind_rt::{Tensor, Xoshiro256};
    ///
    /// let x = Tensor::<f64, _>::rand_with((2, 3), &mut Xoshiro256::new(1));
    /// assert_eq!(x, Tensor::rand_with((2, 3), &mut Xoshiro256::new(1)));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn rand_with<R: Rng + ?Sized>(dims: S, random: &mut R) -> Self {
        let mut tensor = Self::zeros_with(dims);
        tensor.map_inplace(|element| *element = T::even(random.next_u64()));
        tensor
    }

    /// Random numbers from the normal distribution with mean 0 and variance 1, with the given shape. Each takes one
    /// 64-bit random number.
    ///
    /// ```
    /// use mind_rt::{Tensor, Xoshiro256};
    ///
    /// let x = Tensor::<f32, _>::randn_with((1000,), &mut Xoshiro256::new(1));
    /// assert!(x.mean().abs() < 0.1);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn randn_with<R: Rng + ?Sized>(dims: S, random: &mut R) -> Self {
        let mut tensor = Self::zeros_with(dims);
        tensor.map_inplace(|element| {
            *element = T::rounded(crate::initialise::standard_normal(random.next_u64()))
        });
        tensor
    }
}

impl<T: Element> FromIterator<T> for Tensor<T, (usize,)> {
    /// Collects the items of the iterator into a vector.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let squares: Tensor![i64; ?] = (0..4).map(|i| i * i).collect();
    /// assert_eq!(squares.as_slice(), [0, 1, 4, 9]);
    /// ```
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::from(Vec::from_iter(elements))
    }
}

/// Implemented where `Self: From<V>`. The separate trait has its own error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`Tensor::from` cannot make `{Self}` from `{V}`",
    label = "needed: a number, nested arrays of numbers, or a `Vec` of numbers for a vector",
    note = "the length of a `Vec` or slice is known only at run time: write `Tensor::from_vec((rows, columns), vec)?`, or `Tensor::try_from(vec)?` for a type of fixed extents; `rows.concat()` joins a `Vec` of rows",
    note = "`t.try_into_shape()?` converts a tensor to a type with more or fewer static extents"
)]
pub trait MadeFrom<V> {
    /// Converts the value to a tensor.
    fn made_from(value: V) -> Self;
}

#[diagnostic::do_not_recommend]
impl<V, X: From<V>> MadeFrom<V> for X {
    #[inline(always)]
    fn made_from(value: V) -> Self {
        X::from(value)
    }
}

impl<T: Element, S: Shape> Tensor<T, S> {
    /// [`From::from`] for a number, nested arrays of up to six dimensions, or a `Vec`, which becomes a vector of
    /// dynamic extent.
    #[inline]
    #[track_caller]
    pub fn from<V>(value: V) -> Self
    where
        Self: MadeFrom<V>,
    {
        Self::made_from(value)
    }
}

impl<T: Element> From<Vec<T>> for Tensor<T, (usize,)> {
    /// A vector of the elements, which keeps the memory of the `Vec`.
    ///
    /// ```
    /// use mind_rt::Tensor;
    ///
    /// let x = Tensor::from(vec![1.0_f32, 2.0, 3.0]);
    /// assert_eq!(x.dims(), [3]);
    /// ```
    fn from(elements: Vec<T>) -> Self {
        Self::from_buffer((elements.len(),), Buffer::from_vec(elements))
    }
}

#[cfg(test)]
mod tests {
    use crate::tensor::tests::message;
    use crate::{Const, Tensor, Xoshiro256};

    #[test]
    fn ones_stand_everywhere_or_on_the_diagonal() {
        assert_eq!(Tensor::<f32, (Const<2>,)>::ones().as_slice(), [1.0, 1.0]);
        for (rows, columns) in [(3, 3), (2, 3), (3, 2), (0, 3), (3, 0), (1, 1)] {
            let expected = Tensor::from_fn_with((rows, columns), |[i, j]| i32::from(i == j));
            assert_eq!(Tensor::eye_with((rows, columns)), expected);
        }
    }

    #[test]
    fn numbers_in_a_row_end_before_the_end() {
        let naive = |start: i32, end: i32, step: i32| -> Vec<i32> {
            std::iter::successors(Some(start), |x| Some(x + step))
                .take_while(|x| if step > 0 { *x < end } else { *x > end })
                .collect()
        };
        for start in -3..3 {
            for end in -4..7 {
                for step in [-3, -2, -1, 1, 2, 5] {
                    let expected = naive(start, end, step);
                    assert_eq!(Tensor::arange(start, end, step).to_vec(), expected, "{start} {end} {step}");
                    let quarters = |x: i32| f64::from(x) / 4.0;
                    let floats = Tensor::arange(quarters(start), quarters(end), quarters(step));
                    assert_eq!(floats.to_vec(), expected.iter().map(|x| quarters(*x)).collect::<Vec<_>>());
                }
            }
        }
        assert_eq!(Tensor::arange(i64::MIN, i64::MAX, i64::MAX).as_slice(), [i64::MIN, -1, i64::MAX - 1]);
        assert_eq!(Tensor::arange(0.0_f32, 1.0, 0.1)[9], (9.0 * f64::from(0.1_f32)) as f32);
    }

    #[test]
    fn equal_distances_reach_both_ends() {
        let x = Tensor::linspace(-1.0_f32, 2.0, 7);
        assert_eq!(x.as_slice(), [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(Tensor::linspace(0.1_f64, 0.3, 2).as_slice(), [0.1, 0.3]);
        assert_eq!(Tensor::linspace(3.0_f64, 4.0, 1).as_slice(), [3.0]);
        assert!(Tensor::linspace(3.0_f64, 4.0, 0).is_empty());
        let whole = Tensor::linspace(f64::MIN, f64::MAX, 3);
        assert_eq!(whole.as_slice(), [f64::MIN, 0.0, f64::MAX]);
    }

    #[test]
    fn steps_that_lead_nowhere_are_refused() {
        assert_eq!(
            message(|| Tensor::arange(0, 5, 0)),
            "E4008: `arange`: no numbers go from 0 to 5 by steps of 0"
        );
        assert!(message(|| Tensor::arange(0.0, f64::NAN, 1.0)).contains("from 0 to NaN by steps of 1"));
        assert!(
            message(|| Tensor::arange(0.0, f64::INFINITY, 1.0)).starts_with("E6004: cannot allocate f64[")
        );
        assert!(
            message(|| Tensor::arange(0.0_f32, 1.0, f32::MIN_POSITIVE)).starts_with("E6004: cannot allocate")
        );
        assert!(message(|| Tensor::linspace(0.0_f32, 1.0, usize::MAX)).starts_with("E6004: cannot allocate"));
    }

    #[test]
    fn random_numbers_have_the_moments_of_their_distribution() {
        let n = 100_000;
        let x = Tensor::<f32, _>::rand_with((n,), &mut Xoshiro256::new(3)).cast::<f64>();
        assert!(x.min() >= 0.0 && x.min() < 1e-4 && x.max() < 1.0 && x.max() > 1.0 - 1e-4);
        let (mean, square) = (x.mean(), (&x * &x).mean());
        assert!((mean - 0.5).abs() < 0.005 && (square - 1.0 / 3.0).abs() < 0.005, "{mean} {square}");
        let z = Tensor::<f64, _>::randn_with((n,), &mut Xoshiro256::new(4));
        let square = &z * &z;
        let (mean, variance, fourth) = (z.mean(), square.mean(), (&square * &square).mean());
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02 && (fourth - 3.0).abs() < 0.2, "{fourth}");
        assert!(z.max() > 3.5 && z.min() < -3.5);
    }

    #[test]
    fn the_extremes_of_a_generator_are_inside() {
        for bits in [0, 1, u64::MAX] {
            let x = Tensor::<f32, _>::rand_with((2,), &mut || bits);
            assert!(x.iter().all(|x| (0.0..1.0).contains(x)), "{x}");
            let z = Tensor::<f32, _>::randn_with((2,), &mut || bits);
            assert!(z.iter().all(|z| z.is_finite() && (bits == u64::MAX || z.abs() > 8.0)), "{z}");
        }
    }

    #[test]
    fn vectors_and_iterators_become_tensors_uncopied() {
        let vec = vec![1_i64, 2, 3];
        let pointer = vec.as_ptr();
        assert_eq!(Tensor::from(vec).as_slice().as_ptr(), pointer);
        let x: Tensor![f32; ?] = [1.0, 2.0].into_iter().collect();
        assert_eq!(x.as_slice(), [1.0, 2.0]);
        let fixed: Result<Tensor![i32; 3], _> = vec![1, 2].try_into();
        assert_eq!(fixed.expect_err("2 are not 3").to_string(), "E3007: i32[3] has 3 elements, got 2");
    }
}
