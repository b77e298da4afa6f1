//! The types that generated functions accept for a tensor parameter with the feature `ndarray`: tensors, views of
//! tensors, and ndarray arrays.

use std::ops::{Deref, DerefMut};

use crate::{
    bare::Read,
    element::Element,
    error::Error,
    shape::Shape,
    tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut},
};

/// A tensor of `T` with the shape `S`, or a value that can be read as one.
///
/// `D` says how each dim of `S` is declared: [`Open`] or [`Fixed`]. The Rust type of an array does not contain its
/// extents: they are `usize` where a dim is open, and checked where it is fixed. rustc cannot derive this from `S`
/// alone.
#[diagnostic::on_unimplemented(
    message = "expected a tensor of `{T}` with the shape `{S}`, found `{Self}`",
    label = "not a tensor of this element type and shape, nor an array of it",
    note = "the extents of an ndarray array are known only at run time: if it determines a symbol, the other tensors need `usize` for that dimension",
    note = "`t.try_into_shape()?` checks the extents of a tensor and converts it to a type with more or fewer static extents"
)]
pub trait Argument<T, S, D> {
    /// Borrows the elements, or copies them if an array is not contiguous.
    ///
    /// # Errors
    /// E6009 if an extent of an array is not the declared one; E6004 if the array has to be copied and memory is short.
    fn read(&self, function: &'static str, parameter: &'static str) -> Result<Read<'_, T, S>, Error>;
}

/// A tensor of `T` with the shape `S` that is updated in place, or a value that can be written as one.
#[diagnostic::on_unimplemented(
    message = "expected a tensor of `{T}` with the shape `{S}` to update, found `{Self}`",
    label = "not a tensor of this element type and shape, nor an array of it",
    note = "the extents of an ndarray array are known only at run time: if it determines a symbol, the other tensors need `usize` for that dimension",
    note = "`t.try_into_shape()?` checks the extents of a tensor and converts it to a type with more or fewer static extents"
)]
pub trait ArgumentMut<T, S, D> {
    /// Borrows the elements mutably.
    ///
    /// # Errors
    /// E6009 if an extent of an array is not the declared one; E6003 if an array is not in standard layout.
    fn write(&mut self, function: &'static str, parameter: &'static str) -> Result<Write<'_, T, S>, Error>;
}

/// A dim that a symbol or an expression declares. `N` is the type of the dim.
pub struct Open<N>(N);

/// A dim whose declared extent is `N`.
pub struct Fixed<const N: usize>;

impl<T, S: Copy> Deref for Read<'_, T, S> {
    type Target = TensorRef<T, S>;

    #[inline(always)]
    fn deref(&self) -> &TensorRef<T, S> {
        match self {
            Self::Borrowed(view) => view,
            Self::Copied(tensor) => tensor,
        }
    }
}

/// The mutably borrowed elements of an argument that is updated in place.
pub struct Write<'a, T, S>(Target<'a, T, S>);

enum Target<'a, T, S> {
    Tensor(&'a mut TensorRef<T, S>),
    #[cfg(feature = "ndarray")]
    Array(TensorViewMut<'a, T, S>),
}

impl<T, S> Deref for Write<'_, T, S> {
    type Target = TensorRef<T, S>;

    #[inline(always)]
    fn deref(&self) -> &TensorRef<T, S> {
        match &self.0 {
            Target::Tensor(tensor) => tensor,
            #[cfg(feature = "ndarray")]
            Target::Array(view) => view,
        }
    }
}

impl<T, S> DerefMut for Write<'_, T, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut TensorRef<T, S> {
        match &mut self.0 {
            Target::Tensor(tensor) => tensor,
            #[cfg(feature = "ndarray")]
            Target::Array(view) => view,
        }
    }
}

macro_rules! arguments {
    ($trait:ident::$method:ident($self:ident: $receiver:ty) -> $given:ident: $value:expr;
     $($(<$life:lifetime>)? $tensor:ident)*; $($pointer:ty),*) => {
        $(impl<$($life,)? T: Element, S: Shape, D> $trait<T, S, D> for $tensor<$($life,)? T, S> {
            #[inline(always)]
            fn $method($self: $receiver, _: &'static str, _: &'static str) -> Result<$given<'_, T, S>, Error> {
                Ok($value)
            }
        })*

        $(impl<T, S, D, A: $trait<T, S, D> + ?Sized> $trait<T, S, D> for $pointer {
            #[inline(always)]
            fn $method(
                $self: $receiver,
                function: &'static str,
                parameter: &'static str,
            ) -> Result<$given<'_, T, S>, Error> {
                A::$method($self, function, parameter)
            }
        })*
    };
}

arguments! {
    Argument::read(self: &Self) -> Read: Read::Borrowed(self.view());
    Tensor TensorRef <'a> TensorView <'a> TensorViewMut;
    &A, &mut A, Box<A>, std::rc::Rc<A>, std::sync::Arc<A>
}
arguments! {
    ArgumentMut::write(self: &mut Self) -> Write: Write(Target::Tensor(self));
    Tensor TensorRef <'a> TensorViewMut;
    &mut A, Box<A>
}

#[cfg(feature = "ndarray")]
mod arrays {
    use ndarray::{ArrayBase, ArrayRef, Data, DataMut, Dimension, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

    use super::{
        Argument, ArgumentMut, Element, Error, Fixed, Open, Read, Shape, Target, TensorViewMut, Write,
    };
    use crate::{
        bare::read_as,
        dims::{Const, Dim},
    };

    /// Maps the declaration of a dim to the dim of an array there.
    pub trait OfArray {
        /// The dim.
        type Dim: Dim;
    }

    impl OfArray for Open<usize> {
        type Dim = usize;
    }

    impl<const N: usize> OfArray for Fixed<N> {
        type Dim = Const<N>;
    }

    macro_rules! array {
        ($trait:ident::$method:ident($self:ident: $receiver:ty) -> $given:ident,
         $array:ty $(, $storage:ident: $data:path)?; $($axis:ident)*) => {
            // An error that recommended these implementations would contain six lines of projections.
            #[diagnostic::do_not_recommend]
            impl<T, $($storage,)? $($axis),*> $trait<T, ($($axis::Dim,)*), ($($axis,)*)> for $array
            where
                T: Element,
                $($storage: $data,)?
                $($axis: OfArray,)*
            {
                fn $method(
                    $self: $receiver,
                    function: &'static str,
                    parameter: &'static str,
                ) -> Result<$given<'_, T, ($($axis::Dim,)*)>, Error> {
                    $method($self, function, parameter)
                }
            }
        };
    }

    macro_rules! arrays {
        ($($dimension:ident: $($axis:ident)*;)*) => {
            $(
                array!(Argument::read(self: &Self) -> Read, ArrayBase<A, $dimension, T>, A: Data<Elem = T>; $($axis)*);
                array!(Argument::read(self: &Self) -> Read, ArrayRef<T, $dimension>; $($axis)*);
                array! {
                    ArgumentMut::write(self: &mut Self) -> Write,
                    ArrayBase<A, $dimension, T>, A: DataMut<Elem = T>; $($axis)*
                }
                array!(ArgumentMut::write(self: &mut Self) -> Write, ArrayRef<T, $dimension>; $($axis)*);
            )*
        };
    }

    // Rank 0 is a plain number in signatures.
    arrays! {
        Ix1: D0;
        Ix2: D0 D1;
        Ix3: D0 D1 D2;
        Ix4: D0 D1 D2 D3;
        Ix5: D0 D1 D2 D3 D4;
        Ix6: D0 D1 D2 D3 D4 D5;
    }

    fn read<'a, T: Element, D: Dimension, S: Shape>(
        array: &'a ArrayRef<T, D>,
        function: &'static str,
        parameter: &'static str,
    ) -> Result<Read<'a, T, S>, Error> {
        let shape = shape(array, function, parameter)?;
        read_as(array.view(), shape)
    }

    fn write<'a, T: Element, D: Dimension, S: Shape>(
        array: &'a mut ArrayRef<T, D>,
        function: &'static str,
        parameter: &'static str,
    ) -> Result<Write<'a, T, S>, Error> {
        let shape = shape(array, function, parameter)?;
        if !array.is_standard_layout() {
            return Err(Error::NotContiguous {
                shape: array.shape().to_vec(),
                strides: array.strides().to_vec(),
            });
        }
        let elements = array.as_slice_mut().expect("a standard layout is a slice");
        Ok(Write(Target::Array(TensorViewMut::from_elements(shape, elements))))
    }

    /// The array's extents as a value of the declared shape `S`, with the static extents checked.
    fn shape<T, D: Dimension, S: Shape>(
        array: &ArrayRef<T, D>,
        function: &'static str,
        parameter: &'static str,
    ) -> Result<S, Error> {
        for (dimension, (found, needed)) in array.shape().iter().zip(S::STATIC).enumerate() {
            if let Some(needed) = needed.filter(|needed| needed != found) {
                let (found, why) = (*found, "as declared");
                return Err(Error::DimensionMismatch { function, parameter, dimension, found, needed, why });
            }
        }
        Ok(S::from_extents(array.shape()).expect("the ranks are equal, and the static extents"))
    }
}
