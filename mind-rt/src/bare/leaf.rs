//! The Rust values that an expression reads.

use std::marker::PhantomData;

use mind_shape::{DType, Type, UNKNOWN};

use super::number::Number;
use crate::{
    element::{self, Element},
    kernels::storage::{Tensor, TensorRef, TensorView, TensorViewMut},
    shape::{MAX_RANK, Shape},
};

/// A Rust value that may stand in a bare expression: a tensor or a view of one, a plain number, or a reference to either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a tensor expression",
    label = "neither a tensor nor a number of the language",
    note = "an expression in `mind!` reads tensors, views of tensors, `f32`, `f64`, `i32` and `i64`"
)]
pub trait Leaf {
    /// The type of the elements.
    type Element: Number;
    /// The type of the shape.
    type Shape: Shape;
    /// Its type as an owned value: what a gradient by it is.
    type Owned;

    /// The elements.
    fn view(&self) -> TensorView<'_, Self::Element, Self::Shape>;

    /// A tensor of its type as an owned value.
    fn owned(tensor: Tensor<Self::Element, Self::Shape>) -> Self::Owned;
}

macro_rules! numbers {
    ($($ty:ty),*) => {
        $(impl Leaf for $ty {
            type Element = $ty;
            type Shape = ();
            type Owned = $ty;

            #[inline(always)]
            fn view(&self) -> TensorView<'_, $ty, ()> {
                TensorView::from_elements((), std::slice::from_ref(self))
            }

            fn owned(tensor: Tensor<$ty, ()>) -> $ty {
                tensor.scalar()
            }
        })*
    };
}

numbers!(f32, f64, i32, i64);

macro_rules! tensors {
    ($($(<$life:lifetime>)? $ty:ident;)*) => {
        $(impl<$($life,)? T: Number, S: Shape> Leaf for $ty<$($life,)? T, S> {
            type Element = T;
            type Shape = S;
            type Owned = Tensor<T, S>;

            #[inline(always)]
            fn view(&self) -> TensorView<'_, T, S> {
                TensorView::from_elements(self.shape(), self.as_slice())
            }

            #[inline(always)]
            fn owned(tensor: Tensor<T, S>) -> Tensor<T, S> {
                tensor
            }
        })*
    };
}

tensors! {
    Tensor;
    TensorRef;
    <'a> TensorView;
    <'a> TensorViewMut;
}

macro_rules! pointers {
    ($($ty:ty),*) => {
        $(impl<L: Leaf + ?Sized> Leaf for $ty {
            type Element = L::Element;
            type Shape = L::Shape;
            type Owned = L::Owned;

            #[inline(always)]
            fn view(&self) -> TensorView<'_, L::Element, L::Shape> {
                L::view(self)
            }

            #[inline(always)]
            fn owned(tensor: Tensor<L::Element, L::Shape>) -> L::Owned {
                L::owned(tensor)
            }
        })*
    };
}

pointers!(&L, &mut L, Box<L>, std::rc::Rc<L>, std::sync::Arc<L>);

/// The elements of a leaf, and its type.
///
/// `T` and `S` are parameters so that what is no leaf is one error, and not a second one of its element type.
#[inline(always)]
pub fn view<L, T, S>(leaf: &L) -> (TensorView<'_, T, S>, PhantomData<L>)
where
    L: Leaf<Element = T, Shape = S> + ?Sized,
{
    (leaf.view(), PhantomData)
}

/// A tensor of a leaf's type as an owned value.
#[inline(always)]
pub fn owned<L: Leaf + ?Sized>(_: PhantomData<L>, tensor: Tensor<L::Element, L::Shape>) -> L::Owned {
    L::owned(tensor)
}

/// What the Rust types of a leaf tell.
pub const fn type_of<T: Element, S: Shape>() -> Type {
    let (mut extents, mut axis) = ([UNKNOWN; MAX_RANK], 0);
    while axis < S::RANK {
        if let Some(extent) = S::STATIC[axis] {
            // An extent beyond 63 bits is one that no memory has; the rules refuse 0.
            extents[axis] = if extent <= i64::MAX as usize { extent as i64 } else { 0 };
        }
        axis += 1;
    }
    Type::new(dtype::<T>(), extents.split_at(S::RANK).0)
}

/// What is known of a leaf when the program runs: everything.
pub fn known<T: Element, S: Shape>(leaf: &TensorView<'_, T, S>) -> Type {
    let (padded, mut extents) = (leaf.shape().padded(), [0; MAX_RANK]);
    for (extent, known) in extents.iter_mut().zip(padded) {
        *extent = i64::try_from(known).unwrap_or(0);
    }
    Type::new(dtype::<T>(), &extents[..S::RANK])
}

const fn dtype<T: Element>() -> DType {
    match T::DTYPE {
        element::DType::F32 => DType::F32,
        element::DType::F64 => DType::F64,
        element::DType::I32 => DType::I32,
        element::DType::I64 => DType::I64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};

    #[test]
    fn a_type_has_what_the_rust_type_tells() {
        const TYPE: Type = type_of::<f64, (usize, Const<784>)>();
        assert_eq!(TYPE.to_string(), "f64[?, 784]");
        let x: Tensor![f64; ?, 784] = Tensor::zeros_with((3, Const));
        assert_eq!(known(&view(&x).0).to_string(), "f64[3, 784]");
        assert_eq!(known(&view(&&mut 2_i32).0).to_string(), "i32");
    }

    #[test]
    fn leaves_are_read_where_they_are() {
        let mut x: Tensor![f32; 2] = Tensor::from([1.0, 2.0]);
        assert_eq!(view(&x).0.as_slice(), [1.0, 2.0]);
        assert_eq!(view(&&x).0.as_slice(), [1.0, 2.0]);
        assert_eq!(view(&*x).0.as_slice(), [1.0, 2.0]);
        assert_eq!(view(&x.view()).0.as_slice(), [1.0, 2.0]);
        assert_eq!(view(&&mut x.view_mut()).0.as_slice(), [1.0, 2.0]);
        assert_eq!(view(&Box::new(0.5_f64)).0.as_slice(), [0.5]);
        assert_eq!(owned(view(&&1.0_f32).1, Tensor::from(2.0)), 2.0);
    }
}
