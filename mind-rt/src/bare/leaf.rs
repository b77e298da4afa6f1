//! The Rust values that an expression reads: its leaves.

use std::marker::PhantomData;

use mind_shape::{Type, UNKNOWN};

use super::{
    form::{Form, Plain, Tensors},
    number::Datum,
};
use crate::{
    dims::Const,
    element::Element,
    shape::{MAX_RANK, Shape, StaticShape},
    tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut},
};

/// A Rust value that a bare expression can read: a tensor, a Rust array or ndarray array, a view of one, a plain
/// number, or a reference to any of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not allowed in a tensor expression",
    label = "neither a tensor nor a number of the language",
    note = "an expression in `mind!` reads numbers such as `f32` and `i64`, bools, and tensors, Rust arrays, slices and `Vec`s of them; with the feature `ndarray` also its arrays, of up to 6 dimensions",
    note = "Rust in braces converts: `{{n as f32}}` a number, `{{x?}}` or `{{x.unwrap()}}` an `Option` or a `Result`, `{{x.mapv(f32::from)}}` an array, `{{x.into_dimensionality::<ndarray::Ix2>()?}}` an `ArrayD`; `Tensor::from_vec((rows, columns), x.concat())` makes a matrix of a `Vec` of rows",
    note = "for a variable that is a struct of `mind!`, write its type at the first use, `(net: Net)`, after `use crate::nets::Net;`"
)]
pub trait Leaf {
    /// The element type.
    type Element: Datum;
    /// The shape type.
    type Shape: Shape;
    /// The type as an owned value. A gradient by the leaf has this type.
    type Owned;
    /// The library of the array.
    type Form: Form;

    /// Borrows the elements, or copies them.
    fn read(&self) -> Read<'_, Self::Element, Self::Shape>;

    /// Converts a tensor to the type as an owned value.
    fn owned(tensor: Tensor<Self::Element, Self::Shape>) -> Self::Owned;
}

/// The elements of a leaf, contiguous and row-major.
pub enum Read<'a, T, S> {
    /// The elements in their own memory, borrowed.
    Borrowed(TensorView<'a, T, S>),
    /// A copy, since the elements were in another order or not contiguous.
    Copied(Tensor<T, S>),
}

impl<T, S: Copy> Read<'_, T, S> {
    /// The elements. `T` has no bound, so that a type that is not an element type causes one error only.
    #[inline(always)]
    pub fn view(&self) -> TensorView<'_, T, S> {
        match self {
            Self::Borrowed(view) => *view,
            Self::Copied(tensor) => tensor.borrowed(),
        }
    }
}

/// The element types of leaves.
pub trait LeafElement: Datum {
    /// The same type. Where a type is not an element type, rustc does not know this name, so it reports no further
    /// errors.
    type Itself: Datum;
}

macro_rules! numbers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl LeafElement for $ty {
            type Itself = Self;
        }

        #[diagnostic::do_not_recommend]
        impl Leaf for $ty {
            type Element = $ty;
            type Shape = ();
            type Owned = $ty;
            type Form = Plain;

            #[inline(always)]
            fn read(&self) -> Read<'_, $ty, ()> {
                Read::Borrowed(TensorView::from_elements((), std::slice::from_ref(self)))
            }

            fn owned(tensor: Tensor<$ty, ()>) -> $ty {
                tensor.scalar()
            }
        })*
    };
}

mind_shape::element_types!(all => numbers!);

macro_rules! tensors {
    ($($(<$life:lifetime>)? $ty:ident;)*) => {
        $(#[diagnostic::do_not_recommend]
        impl<$($life,)? T: Datum, S: Shape> Leaf for $ty<$($life,)? T, S> {
            type Element = T;
            type Shape = S;
            type Owned = Tensor<T, S>;
            type Form = Tensors;

            #[inline(always)]
            fn read(&self) -> Read<'_, T, S> {
                Read::Borrowed(TensorView::from_elements(self.shape(), self.as_slice()))
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

macro_rules! lists {
    ($($ty:ty),*) => {
        $(#[diagnostic::do_not_recommend]
        impl<T: LeafElement<Itself = T>> Leaf for $ty {
            type Element = T::Itself;
            type Shape = (usize,);
            type Owned = Tensor<T, (usize,)>;
            type Form = Plain;

            #[inline(always)]
            fn read(&self) -> Read<'_, T, (usize,)> {
                Read::Borrowed(TensorView::from_elements((self.len(),), self))
            }

            fn owned(tensor: Tensor<T, (usize,)>) -> Tensor<T, (usize,)> {
                tensor
            }
        })*
    };
}

lists!([T], Vec<T>);

macro_rules! nested {
    (@array $inner:ty;) => { $inner };
    (@array $inner:ty; $last:ident $($rest:ident)*) => { nested!(@array [$inner; $last]; $($rest)*) };
    // The extents from the innermost to the outermost, then from the outermost to the innermost, then the flattening
    // steps.
    ($([$($inward:ident)*] [$($outward:ident)*] $($flatten:ident)*;)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<T: LeafElement<Itself = T>, $(const $outward: usize),*> Leaf for nested!(@array T; $($inward)*) {
                type Element = T::Itself;
                type Shape = ($(Const<$outward>,)*);
                type Owned = Tensor<T, ($(Const<$outward>,)*)>;
                type Form = Plain;

                #[inline(always)]
                fn read(&self) -> Read<'_, T, Self::Shape> {
                    Read::Borrowed(TensorView::from_elements(Self::Shape::SHAPE, self.as_slice()$(.$flatten())*))
                }

                fn owned(tensor: Self::Owned) -> Self::Owned {
                    tensor
                }
            }
        )*
    };
}

nested! {
    [A] [A];
    [B A] [A B] as_flattened;
    [C B A] [A B C] as_flattened as_flattened;
    [D C B A] [A B C D] as_flattened as_flattened as_flattened;
    [E D C B A] [A B C D E] as_flattened as_flattened as_flattened as_flattened;
    [F E D C B A] [A B C D E F] as_flattened as_flattened as_flattened as_flattened as_flattened;
}

macro_rules! pointers {
    ($($ty:ty),*) => {
        $(#[diagnostic::do_not_recommend]
        impl<L: Leaf + ?Sized> Leaf for $ty {
            type Element = L::Element;
            type Shape = L::Shape;
            type Owned = L::Owned;
            type Form = L::Form;

            #[inline(always)]
            fn read(&self) -> Read<'_, L::Element, L::Shape> {
                L::read(self)
            }

            #[inline(always)]
            fn owned(tensor: Tensor<L::Element, L::Shape>) -> L::Owned {
                L::owned(tensor)
            }
        })*
    };
}

pointers!(&L, &mut L, Box<L>, std::rc::Rc<L>, std::sync::Arc<L>);

/// The type of a leaf, whose value is not read.
#[inline(always)]
pub const fn leaf<L: ?Sized>(_: &L) -> PhantomData<L> {
    PhantomData
}

/// Converts a tensor to the type of a leaf as an owned value.
#[inline(always)]
pub fn owned<L: Leaf + ?Sized>(_: PhantomData<L>, tensor: Tensor<L::Element, L::Shape>) -> L::Owned {
    L::owned(tensor)
}

/// The type of a leaf, as far as its Rust type determines it.
pub const fn type_of<T: Element, S: Shape>() -> Type {
    let (mut extents, mut axis) = ([UNKNOWN; MAX_RANK], 0);
    while axis < S::RANK {
        if let Some(extent) = S::STATIC[axis] {
            // An extent of more than 63 bits fits in no memory. It becomes 0, which the rules refuse.
            extents[axis] = if extent <= i64::MAX as usize { extent as i64 } else { 0 };
        }
        axis += 1;
    }
    Type::new(T::DTYPE, extents.split_at(S::RANK).0)
}

/// The type of a leaf at run time, when every extent is known.
pub fn known<T: Element, S: Shape>(leaf: &TensorView<'_, T, S>) -> Type {
    let (padded, mut extents) = (leaf.shape().padded(), [0; MAX_RANK]);
    for (extent, known) in extents.iter_mut().zip(padded) {
        *extent = i64::try_from(known).unwrap_or(0);
    }
    Type::new(T::DTYPE, &extents[..S::RANK])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn a_type_has_what_the_rust_type_tells() {
        const TYPE: Type = type_of::<f64, (usize, Const<784>)>();
        assert_eq!(TYPE.to_string(), "f64[?, 784]");
        let x: Tensor![f64; ?, 784] = Tensor::zeros_with((3, Const));
        assert_eq!(known(&x.read().view()).to_string(), "f64[3, 784]");
        assert_eq!(known(&(&&mut 2_i32).read().view()).to_string(), "i32");
    }

    #[test]
    fn leaves_are_read_where_they_are() {
        let mut x: Tensor![f32; 2] = Tensor::from([1.0, 2.0]);
        assert_eq!(x.read().view().as_slice(), [1.0, 2.0]);
        assert_eq!((&&x).read().view().as_slice(), [1.0, 2.0]);
        assert_eq!((*x).read().view().as_slice(), [1.0, 2.0]);
        assert_eq!(x.view().read().view().as_slice(), [1.0, 2.0]);
        assert_eq!(Leaf::read(&&mut x.view_mut()).view().as_slice(), [1.0, 2.0]);
        assert_eq!(Box::new(0.5_f64).read().view().as_slice(), [0.5]);
        assert_eq!(owned(leaf(&&1.0_f32), Tensor::from(2.0)), 2.0);
    }
}
