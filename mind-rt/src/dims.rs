//! Dims: the members of a shape tuple.

use std::fmt;

/// One dimension of a shape: static ([`Const`]), dynamic (`usize`) or named ([`dim!`](crate::dim)).
///
/// The trait is sealed: only [`dim!`](crate::dim) adds implementations.
///
/// ```
/// use mind_rt::{Const, Dim};
///
/// assert_eq!(Const::<784>::STATIC, Some(784));
/// assert_eq!(Const::<784>.extent(), 784);
/// assert_eq!(usize::STATIC, None);
/// assert_eq!(Const::<784>::from_extent(31), None);
/// ```
pub trait Dim: Copy + fmt::Debug + PartialEq + Send + Sync + 'static + sealed::DimMarker {
    /// The extent, if the type alone determines it.
    const STATIC: Option<usize>;

    /// The number of positions along this dimension.
    fn extent(self) -> usize;

    /// The dim of this type with the given extent; `None` if the type is static and has another extent.
    fn from_extent(extent: usize) -> Option<Self>;

    /// The name given by [`dim!`](crate::dim), if any.
    #[must_use]
    fn name() -> Option<&'static str> {
        None
    }
}

/// A static dimension of extent `N`. The value is written `Const`; its extent is usually inferred.
///
/// ```
/// use mind_rt::{Const, Tensor};
///
/// let x: Tensor![f32; ?, 784] = Tensor::zeros_with((32, Const));
/// assert_eq!(x.dims(), [32, 784]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Const<const N: usize>;

impl<const N: usize> fmt::Debug for Const<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Const<{N}>")
    }
}

impl<const N: usize> sealed::DimMarker for Const<N> {}

impl<const N: usize> Dim for Const<N> {
    const STATIC: Option<usize> = Some(N);

    #[inline(always)]
    fn extent(self) -> usize {
        N
    }

    #[inline(always)]
    fn from_extent(extent: usize) -> Option<Self> {
        (extent == N).then_some(Self)
    }
}

impl sealed::DimMarker for usize {}

impl Dim for usize {
    const STATIC: Option<usize> = None;

    #[inline(always)]
    fn extent(self) -> usize {
        self
    }

    #[inline(always)]
    fn from_extent(extent: usize) -> Option<Self> {
        Some(extent)
    }
}

/// A dim whose type determines its value.
pub trait StaticDim: Dim {
    /// The only value.
    const DIM: Self;
}

impl<const N: usize> StaticDim for Const<N> {
    const DIM: Self = Self;
}

/// Defines a named dynamic dimension: a distinct type, which unifies with no other dim even where extents are equal.
///
/// ```
/// use mind_rt::{Const, Tensor, TensorRef};
///
/// mind_rt::dim!(Batch);
/// mind_rt::dim!(
///     /// Columns of the design matrix.
///     pub Features
/// );
///
/// fn rows(x: &TensorRef<f32, (Batch, Features)>) -> usize {
///     x.dims()[0]
/// }
///
/// let x: Tensor![f32; Batch, Features] = Tensor::zeros_with((Batch(32), Features(784)));
/// assert_eq!(rows(&x), 32);
/// ```
///
/// ```compile_fail,E0308
/// # use mind_rt::{Tensor, TensorRef};
/// # mind_rt::dim!(Batch);
/// # mind_rt::dim!(Features);
/// fn rows(x: &TensorRef<f32, (Batch, Features)>) -> usize {
///     x.dims()[0]
/// }
///
/// let x: Tensor![f32; Features, Batch] = Tensor::zeros_with((Features(8), Batch(8)));
/// rows(&x);
/// ```
#[macro_export]
macro_rules! dim {
    ($(#[$meta:meta])* $vis:vis $name:ident) => {
        $(#[$meta])*
        #[doc = concat!("The dimension `", stringify!($name), "`, holding its extent.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis struct $name(pub usize);

        impl $crate::private::DimMarker for $name {}

        impl $crate::Dim for $name {
            const STATIC: ::core::option::Option<usize> = ::core::option::Option::None;

            #[inline(always)]
            fn extent(self) -> usize {
                self.0
            }

            #[inline(always)]
            fn from_extent(extent: usize) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self(extent))
            }

            fn name() -> ::core::option::Option<&'static str> {
                ::core::option::Option::Some(stringify!($name))
            }
        }
    };
}

pub(crate) mod sealed {
    /// Marks the types that may be a [`Dim`](super::Dim): those of this crate and those that `dim!` defines.
    pub trait DimMarker {}
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::dim!(Batch);

    #[test]
    fn a_dim_says_what_it_is() {
        assert_eq!(Const::<7>::from_extent(7), Some(Const));
        assert_eq!(Const::<7>::from_extent(8), None);
        assert_eq!(Const::<0>::from_extent(0), Some(Const));
        assert_eq!(usize::from_extent(0), Some(0));
        assert_eq!(Batch::from_extent(9), Some(Batch(9)));
        assert_eq!((Batch::name(), usize::name(), Const::<3>::name()), (Some("Batch"), None, None));
        assert_eq!((Batch::STATIC, Batch(4).extent()), (None, 4));
        assert_eq!(format!("{:?}", (Const::<3>, Batch(2))), "(Const<3>, Batch(2))");
    }
}
