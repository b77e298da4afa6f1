//! Constant data. Elements are compared and hashed by their bits, which distinguishes -0.0 from 0.0 and NaNs from each
//! other.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use mind_shape::{element_types, match_dtype, match_elements};

use crate::ty::DType;

/// An element that equals only elements with the same bits.
#[derive(Clone, Copy)]
pub struct Exact<T>(T);

/// An `f32` that equals only an `f32` with the same bits.
pub type F32 = Exact<f32>;
/// An `f64` that equals only an `f64` with the same bits.
pub type F64 = Exact<f64>;

impl<T: Copy> Exact<T> {
    /// The element.
    pub const fn get(self) -> T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Exact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> From<T> for Exact<T> {
    fn from(element: T) -> Self {
        Self(element)
    }
}

macro_rules! by_value {
    ($($element:ident $variant:ident;)*) => {$(
        impl PartialEq for Exact<$element> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl Eq for Exact<$element> {}

        impl Hash for Exact<$element> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }
    )*};
}

macro_rules! by_bits {
    ($($float:ident $variant:ident;)*) => {$(
        impl PartialEq for Exact<$float> {
            fn eq(&self, other: &Self) -> bool {
                self.0.to_bits() == other.0.to_bits()
            }
        }

        impl Eq for Exact<$float> {}

        impl Hash for Exact<$float> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }
    )*};
}

by_value!(bool Bool;);
element_types!(integers => by_value!);
element_types!(floats => by_bits!);

macro_rules! tensor_data {
    ($($element:ident $variant:ident;)*) => {
        /// The elements of a constant tensor in row-major order, or one element that fills it.
        ///
        /// Data whose elements all have the same bits is stored as one element by [`TensorData::from`]. Equal constants
        /// are therefore equal values, however they were written.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum TensorData {
            $(#[doc = concat!("`", stringify!($element), "` elements.")] $variant(Arc<[Exact<$element>]>),)*
        }

        impl TensorData {
            /// The element type.
            pub const fn dtype(&self) -> DType {
                match self {
                    $(Self::$variant(_) => DType::$variant,)*
                }
            }
        }

        $(impl From<Vec<$element>> for TensorData {
            fn from(elements: Vec<$element>) -> Self {
                Self::$variant(compress(elements.into_iter().map(Exact).collect()))
            }
        })*
    };
}

element_types!(all => tensor_data!);

fn compress<T: Clone + PartialEq>(elements: Vec<T>) -> Arc<[T]> {
    match elements.split_first() {
        Some((first, rest)) if rest.iter().all(|element| element == first) => Arc::new([first.clone()]),
        Some(_) | None => elements.into(),
    }
}

impl TensorData {
    /// One number that fills the whole tensor, rounded to the element type. For `bool` the element is `value != 0.0`.
    pub fn splat(dtype: DType, value: f64) -> Self {
        match_dtype!(dtype, T {
            truths => vec![value != 0.0].into(),
            numbers => vec![value as T].into(),
        })
    }

    /// A number of elements, converted to an element type as in the language.
    pub fn count(elements: i64, dtype: DType) -> Self {
        match_dtype!(dtype, T {
            truths => vec![elements != 0].into(),
            numbers => vec![elements as T].into(),
        })
    }

    /// The number of stored elements: 1 if one element fills the tensor.
    pub fn stored(&self) -> usize {
        match_elements!(self, Self(elements) => elements.len())
    }

    /// Whether an element is an integer 0.
    pub(crate) fn has_zero_integer(&self) -> bool {
        match_elements!(self, Self(elements) {
            truths => false,
            integers => elements.iter().any(|element| element.get() == 0),
            floats => false,
        })
    }

    /// The first `most` elements as texts.
    pub fn texts(&self, most: usize) -> Vec<String> {
        match_elements!(self, Self(elements) => {
            elements.iter().take(most).map(|element| format!("{:?}", element.get())).collect()
        })
    }
}
