//! Constant data: elements compared and hashed by their bits, so that -0.0 and every NaN stay themselves.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::ty::DType;

macro_rules! bitwise_float {
    ($name:ident, $float:ident) => {
        #[doc = concat!("An `", stringify!($float), "` that equals what has the same bits.")]
        #[derive(Clone, Copy)]
        pub struct $name($float);

        impl $name {
            /// The number.
            pub const fn get(self) -> $float {
                self.0
            }
        }

        impl From<$float> for $name {
            fn from(value: $float) -> Self {
                Self(value)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.to_bits() == other.0.to_bits()
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

bitwise_float!(F32, f32);
bitwise_float!(F64, f64);

/// The elements of a constant tensor in row-major order, or one element that fills it.
///
/// Data whose elements all have the same bits is always kept as that one element ([`TensorData::from`] sees to it), so
/// equal constants are equal values however they were written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TensorData {
    /// `i32` elements.
    I32(Arc<[i32]>),
    /// `i64` elements.
    I64(Arc<[i64]>),
    /// `f32` elements.
    F32(Arc<[F32]>),
    /// `f64` elements.
    F64(Arc<[F64]>),
    /// `bool` elements.
    Bool(Arc<[bool]>),
}

fn compress<T: Clone + PartialEq>(elements: Vec<T>) -> Arc<[T]> {
    match elements.split_first() {
        Some((first, rest)) if rest.iter().all(|element| element == first) => Arc::new([first.clone()]),
        Some(_) | None => elements.into(),
    }
}

impl From<Vec<i32>> for TensorData {
    fn from(elements: Vec<i32>) -> Self {
        Self::I32(compress(elements))
    }
}

impl From<Vec<i64>> for TensorData {
    fn from(elements: Vec<i64>) -> Self {
        Self::I64(compress(elements))
    }
}

impl From<Vec<f32>> for TensorData {
    fn from(elements: Vec<f32>) -> Self {
        Self::F32(compress(elements.into_iter().map(F32).collect()))
    }
}

impl From<Vec<f64>> for TensorData {
    fn from(elements: Vec<f64>) -> Self {
        Self::F64(compress(elements.into_iter().map(F64).collect()))
    }
}

impl From<Vec<bool>> for TensorData {
    fn from(elements: Vec<bool>) -> Self {
        Self::Bool(compress(elements))
    }
}

impl TensorData {
    /// One number of an element type that fills the whole tensor, rounded to the type; of truth values whether it is not 0.
    pub fn splat(dtype: DType, value: f64) -> Self {
        match dtype {
            DType::I32 => vec![value as i32].into(),
            DType::I64 => vec![value as i64].into(),
            DType::F32 => vec![value as f32].into(),
            DType::F64 => vec![value].into(),
            DType::Bool => vec![value != 0.0].into(),
        }
    }

    /// A number of elements, converted as the conversions of the language do.
    pub fn count(elements: i64, dtype: DType) -> Self {
        match dtype {
            DType::I32 => vec![elements as i32].into(),
            DType::I64 => vec![elements].into(),
            DType::F32 => vec![elements as f32].into(),
            DType::F64 => vec![elements as f64].into(),
            DType::Bool => vec![elements != 0].into(),
        }
    }

    /// The element type.
    pub const fn dtype(&self) -> DType {
        match self {
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::Bool(_) => DType::Bool,
        }
    }

    /// The number of elements held: 1 where one fills the tensor.
    pub fn stored(&self) -> usize {
        match self {
            Self::I32(elements) => elements.len(),
            Self::I64(elements) => elements.len(),
            Self::F32(elements) => elements.len(),
            Self::F64(elements) => elements.len(),
            Self::Bool(elements) => elements.len(),
        }
    }

    /// Whether an integer among them is 0.
    pub(crate) fn has_zero_integer(&self) -> bool {
        match self {
            Self::I32(elements) => elements.contains(&0),
            Self::I64(elements) => elements.contains(&0),
            Self::F32(_) | Self::F64(_) | Self::Bool(_) => false,
        }
    }
}
