//! What a result is in Rust: a tensor, or an ndarray where the leaves are.

use std::marker::PhantomData;

use super::{
    axes::{Axes, Known, NoAxes},
    leaf::Leaf,
    number::Number,
};
use crate::{element::Element, kernels::storage::Tensor, shape::Shape};

/// Whose arrays an expression reads, and so whose its results are.
pub trait Form: 'static {
    /// That of an expression which reads those of another form too.
    type With<Other: Form>: Form;
    /// That of an expression which reads ndarray's arrays too.
    #[cfg(feature = "ndarray")]
    type WithArrays: Form;
    /// A result.
    type Result<T: Element, S: Shape, A: Axes>;
    /// Whether results give their memory away as a `Vec`.
    const IS_VEC: bool;

    /// A result of the tensor that holds it.
    fn give<T: Element, S: Shape, A: Axes>(tensor: Tensor<T, S>) -> Self::Result<T, S, A>;
}

/// Of what has no say in it: numbers, arrays of Rust, slices and vectors. By themselves they give tensors.
pub struct Plain;

/// Of tensors and views of them.
pub struct Tensors;

/// Of ndarray's arrays.
#[cfg(feature = "ndarray")]
pub struct Arrays;

impl Form for Plain {
    type With<Other: Form> = Other;
    #[cfg(feature = "ndarray")]
    type WithArrays = Arrays;
    type Result<T: Element, S: Shape, A: Axes> = Tensor<T, S>;
    const IS_VEC: bool = false;

    #[inline(always)]
    fn give<T: Element, S: Shape, A: Axes>(tensor: Tensor<T, S>) -> Tensor<T, S> {
        tensor
    }
}

impl Form for Tensors {
    type With<Other: Form> = Self;
    #[cfg(feature = "ndarray")]
    type WithArrays = Self;
    type Result<T: Element, S: Shape, A: Axes> = Tensor<T, S>;
    const IS_VEC: bool = false;

    #[inline(always)]
    fn give<T: Element, S: Shape, A: Axes>(tensor: Tensor<T, S>) -> Tensor<T, S> {
        tensor
    }
}

#[cfg(feature = "ndarray")]
impl Form for Arrays {
    type With<Other: Form> = Other::WithArrays;
    type WithArrays = Self;
    type Result<T: Element, S: Shape, A: Axes> = ndarray::Array<T, A::Dimension>;
    const IS_VEC: bool = true;

    fn give<T: Element, S: Shape, A: Axes>(tensor: Tensor<T, S>) -> ndarray::Array<T, A::Dimension> {
        crate::interop::array(tensor)
    }
}

/// The form of two leaves together.
pub const fn join<F: Form, G: Form>(_: PhantomData<F>, _: PhantomData<G>) -> PhantomData<F::With<G>> {
    PhantomData
}

/// That of an expression without leaves.
pub const fn plain() -> PhantomData<Plain> {
    PhantomData
}

/// A result of the tensor that holds it.
#[inline(always)]
pub fn give<F: Form, T: Element, S: Shape, A: Axes>(
    _: PhantomData<F>,
    _: Known<A>,
    tensor: Tensor<T, S>,
) -> F::Result<T, S, A> {
    F::give::<T, S, A>(tensor)
}

// The form and the axes of a leaf are associated types of its trait. Of a number whose type is still open, as in
// `let rate = 0.1;`, rustc knows these only at the end of the function, which would be too late for a method of the result.
// So they are asked for by a method, `(&&&owner).__form()`: rustc takes the first of the traits below that may apply.

/// Of a number.
pub trait OfNumber: Sized {
    /// Its form and axes.
    #[inline(always)]
    fn __form(self) -> (PhantomData<Plain>, Known<NoAxes>) {
        (PhantomData, PhantomData)
    }
}

impl<T: Number> OfNumber for &&&PhantomData<T> {}

/// Of a reference to a number.
pub trait OfReference: Sized {
    /// Its form and axes.
    #[inline(always)]
    fn __form(self) -> (PhantomData<Plain>, Known<NoAxes>) {
        (PhantomData, PhantomData)
    }
}

impl<T: Number> OfReference for &&PhantomData<&T> {}

/// The form of a leaf.
pub type FormOf<L> = PhantomData<<L as Leaf>::Form>;

/// The axes of a leaf.
pub type AxesOf<L> = Known<<L as Leaf>::Axes>;

/// Of any leaf.
pub trait OfLeaf: Sized {
    /// The leaf.
    type Leaf: Leaf + ?Sized;

    /// Its form and axes.
    #[inline(always)]
    fn __form(self) -> (FormOf<Self::Leaf>, AxesOf<Self::Leaf>) {
        (PhantomData, PhantomData)
    }
}

impl<L: Leaf + ?Sized> OfLeaf for &PhantomData<L> {
    type Leaf = L;
}

/// Of what is no leaf, of which more than that need not be said.
pub trait OfNothing: Sized {
    /// Some form and axes.
    #[inline(always)]
    fn __form(self) -> (PhantomData<Plain>, Known<NoAxes>) {
        (PhantomData, PhantomData)
    }
}

impl<L: ?Sized> OfNothing for PhantomData<L> {}
