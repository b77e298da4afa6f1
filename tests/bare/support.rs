//! Sample values, and the comparison of a bare expression with the closure that declares its shapes.

use mind::{Element, Shape, StaticShape, Tensor};

/// The element types that have samples.
pub trait Sample: Element {
    /// Element `index` of an irregular sequence: between 0.1 and 2.1 for floats, between 0 and 3 for integers.
    fn sample(index: usize) -> Self;
    /// The element as `f64`, for comparisons.
    fn to_f64(self) -> f64;
}

macro_rules! floats {
    ($($ty:ty),*) => {
        $(impl Sample for $ty {
            fn sample(index: usize) -> Self {
                (index * 7919 % 1009) as $ty / 504.5 + 0.1
            }

            fn to_f64(self) -> f64 {
                self.into()
            }
        })*
    };
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(impl Sample for $ty {
            fn sample(index: usize) -> Self {
                (index * 7919 % 1009 % 4) as $ty
            }

            fn to_f64(self) -> f64 {
                self as f64
            }
        })*
    };
}

floats!(f32, f64);
integers!(i32, i64);

impl Sample for bool {
    fn sample(index: usize) -> Self {
        i64::sample(index) > 1
    }

    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// A tensor of samples, different ones for each seed.
pub fn sample<T: Sample, S: StaticShape>(seed: usize) -> Tensor<T, S> {
    let elements: Vec<T> = (0..S::SHAPE.len()).map(|i| T::sample(i + 31 * seed)).collect();
    Tensor::try_from(elements).expect("there are as many as the shape has")
}

/// A result, which is a number or a tensor of any shape type.
pub trait Flat {
    /// Returns the extents and elements of the result.
    fn flat(&self) -> (Vec<usize>, Vec<f64>);
}

macro_rules! numbers {
    ($($ty:ty),*) => {
        $(impl Flat for $ty {
            fn flat(&self) -> (Vec<usize>, Vec<f64>) {
                (Vec::new(), vec![self.to_f64()])
            }
        })*
    };
}

numbers!(f32, f64, i32, i64);

impl<T: Sample, S: Shape> Flat for Tensor<T, S> {
    fn flat(&self) -> (Vec<usize>, Vec<f64>) {
        (self.shape().dims().to_vec(), self.iter().map(|element| element.to_f64()).collect())
    }
}

/// Panics unless both have the same extents and, except for rounding, the same elements.
#[track_caller]
pub fn assert_close(found: &impl Flat, expected: &impl Flat) {
    let ((dims, found), (expected_dims, expected)) = (found.flat(), expected.flat());
    assert_eq!(dims, expected_dims);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{found}, expected {expected}");
    }
}

/// Compares an expression in the bare form with the closure form, which goes through Core IR:
/// `same!([x: f32[2, 3], y: f32[3]] x + y)`. The tensors have static shapes, after `dynamic` dynamic ones. With
/// `MIND_TESTS=all` both are tried.
#[macro_export]
macro_rules! same {
    (dynamic [$($name:ident: $ty:ident [$($dim:literal),*]),*] $($body:tt)*) => {{
        let mut seed = 0;
        $(
            seed += 1;
            let $name: mind::Tensor![$ty; $($dim),*] = $crate::support::sample(seed);
        )*
        let expected = mind::mind!(|$($name: $ty[$($dim),*]),*| $($body)*)($(&$name),*);
        #[cfg(every_case)]
        $crate::support::assert_close(&mind::mind!($($body)*), &expected);
        $(let $name = $name.as_dyn();)*
        $crate::support::assert_close(&mind::mind!($($body)*), &expected);
    }};
    ([$($name:ident: $ty:ident [$($dim:literal),*]),*] $($body:tt)*) => {{
        let mut seed = 0;
        $(
            seed += 1;
            let $name: mind::Tensor![$ty; $($dim),*] = $crate::support::sample(seed);
        )*
        let expected = mind::mind!(|$($name: $ty[$($dim),*]),*| $($body)*)($(&$name),*);
        $crate::support::assert_close(&mind::mind!($($body)*), &expected);
        #[cfg(every_case)]
        {
            $(let $name = $name.as_dyn();)*
            $crate::support::assert_close(&mind::mind!($($body)*), &expected);
        }
    }};
}
