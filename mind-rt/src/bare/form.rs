//! What a result is in Rust: a tensor, or an ndarray where the leaves are.

use std::marker::PhantomData;

use super::{
    axes::{AxisCount, Known},
    leaf::Leaf,
    number::Datum,
};
use crate::{
    element::Element,
    shape::Shape,
    tensor::storage::{Tensor, TensorView},
};

/// Whose arrays an expression reads, and so whose its results are.
pub trait Form: 'static {
    /// That of an expression which reads those of another form too.
    type With<Other: Form>: Form;
    /// That of an expression which reads ndarray's arrays too.
    #[cfg(feature = "ndarray")]
    type WithArrays: Form;
    /// A result.
    type Result<T: Element, S: Shape, A: AxisCount>;
    /// The element type of a leaf of this form, if rustc knows it where the expression stands: that of `[1.0, 2.0]` is open.
    type KnownElement<T>;
    /// Whether results give their memory away as a `Vec`.
    const IS_VEC: bool;

    /// A result of the tensor that holds it.
    fn give<T: Element, S: Shape, A: AxisCount>(tensor: Tensor<T, S>) -> Self::Result<T, S, A>;
}

/// Of what has no say in it: numbers, arrays of Rust, slices and vectors. By themselves they give tensors.
pub struct Plain;

/// Of tensors and views of them.
pub struct Tensors;

/// No element type.
pub struct UnknownElement;

/// Of ndarray's arrays.
#[cfg(feature = "ndarray")]
pub struct Arrays;

impl Form for Plain {
    type With<Other: Form> = Other;
    #[cfg(feature = "ndarray")]
    type WithArrays = Arrays;
    type Result<T: Element, S: Shape, A: AxisCount> = Tensor<T, S>;
    type KnownElement<T> = UnknownElement;
    const IS_VEC: bool = false;

    #[inline(always)]
    fn give<T: Element, S: Shape, A: AxisCount>(tensor: Tensor<T, S>) -> Tensor<T, S> {
        tensor
    }
}

impl Form for Tensors {
    type With<Other: Form> = Self;
    #[cfg(feature = "ndarray")]
    type WithArrays = Self;
    type Result<T: Element, S: Shape, A: AxisCount> = Tensor<T, S>;
    type KnownElement<T> = T;
    const IS_VEC: bool = false;

    #[inline(always)]
    fn give<T: Element, S: Shape, A: AxisCount>(tensor: Tensor<T, S>) -> Tensor<T, S> {
        tensor
    }
}

#[cfg(feature = "ndarray")]
impl Form for Arrays {
    type With<Other: Form> = Other::WithArrays;
    type WithArrays = Self;
    type Result<T: Element, S: Shape, A: AxisCount> = ndarray::Array<T, A::Dimension>;
    type KnownElement<T> = T;
    const IS_VEC: bool = true;

    fn give<T: Element, S: Shape, A: AxisCount>(tensor: Tensor<T, S>) -> ndarray::Array<T, A::Dimension> {
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
pub fn give<F: Form, T: Element, S: Shape, A: AxisCount>(
    _: PhantomData<F>,
    _: Known<A>,
    tensor: Tensor<T, S>,
) -> F::Result<T, S, A> {
    F::give::<T, S, A>(tensor)
}

// Of a number whose type is still open, as in `let rate = 0.1;`, rustc knows associated types too late for a method of the
// result. So `(&&&owner).__form()` asks for them: rustc takes the first of the traits below that may apply.

/// The form, the shape and the element type of a leaf, and the leaf.
type Facts<F, S, T, L> = (PhantomData<F>, PhantomData<S>, PhantomData<T>, PhantomData<L>);

macro_rules! facts {
    () => {
        (PhantomData, PhantomData, PhantomData, PhantomData)
    };
}

/// Of a number.
pub trait OfNumber: Sized {
    /// The number.
    type Number;

    /// What is known of it.
    #[inline(always)]
    fn __form<S>(self, _: &TensorView<'_, Self::Number, S>) -> Facts<Plain, (), Self::Number, Self::Number> {
        facts!()
    }
}

impl<T: Datum> OfNumber for &&&PhantomData<T> {
    type Number = T;
}

/// Of a reference to a number.
pub trait OfReference: Sized {
    /// The number.
    type Number;

    /// What is known of it.
    #[inline(always)]
    fn __form<S>(self, _: &TensorView<'_, Self::Number, S>) -> Facts<Plain, (), Self::Number, Self::Number> {
        facts!()
    }
}

impl<T: Datum> OfReference for &&PhantomData<&T> {
    type Number = T;
}

/// What is known of a leaf.
pub type FactsOf<L> = Facts<
    <L as Leaf>::Form,
    <L as Leaf>::Shape,
    <<L as Leaf>::Form as Form>::KnownElement<<L as Leaf>::Element>,
    L,
>;

/// Of any leaf.
pub trait OfLeaf: Sized {
    /// The leaf.
    type Leaf: Leaf + ?Sized;

    /// What is known of it.
    #[inline(always)]
    fn __form<T, S>(self, _: &TensorView<'_, T, S>) -> FactsOf<Self::Leaf> {
        facts!()
    }
}

impl<L: Leaf + ?Sized> OfLeaf for &PhantomData<L> {
    type Leaf = L;
}

/// Of what is no leaf, of which more than that need not be said: as of a number.
pub trait OfNothing: Sized {
    /// What is known of a number.
    #[inline(always)]
    fn __form<T, S>(self, _: &TensorView<'_, T, S>) -> Facts<Plain, (), UnknownElement, f32> {
        facts!()
    }
}

impl<L: ?Sized> OfNothing for PhantomData<L> {}

// A number whose type is still open takes that of the other elements. Where types differ, `__alike` leaves it to the rule.

/// Of element types that are, or may still be, equal.
pub trait Alike: Sized {
    /// Makes them equal.
    #[inline(always)]
    fn __alike(self) {}
}

impl<T> Alike for &PhantomData<(T, T)> {}

/// Of others.
pub trait Unlike: Sized {
    /// Does nothing.
    #[inline(always)]
    fn __alike(self) {}
}

impl<T, U> Unlike for PhantomData<(T, U)> {}
