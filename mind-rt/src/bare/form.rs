//! The Rust type of a result: a tensor, or an ndarray array where the leaves are ndarray arrays.

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

/// The library whose arrays an expression reads, which determines the type of its results.
pub trait Form: 'static {
    /// The form of an expression that reads values of another form too.
    type With<Other: Form>: Form;
    /// The form of an expression that reads ndarray arrays too.
    #[cfg(feature = "ndarray")]
    type WithArrays: Form;
    /// The type of a result.
    type Result<T: Element, S: Shape, A: AxisCount>;
    /// The element type of a leaf of this form, if rustc knows it at the expression. It does not for `[1.0, 2.0]`.
    type KnownElement<T>;
    /// Whether results hand out their memory as a `Vec`.
    const IS_VEC: bool;

    /// Converts a tensor to a result.
    fn give<T: Element, S: Shape, A: AxisCount>(tensor: Tensor<T, S>) -> Self::Result<T, S, A>;
}

/// Numbers, Rust arrays, slices and vectors, which do not affect the form. An expression of these alone gives tensors.
pub struct Plain;

/// Tensors and views of them.
pub struct Tensors;

/// Stands for an element type that rustc does not know yet.
pub struct UnknownElement;

/// ndarray arrays.
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

/// The form of an expression without leaves.
pub const fn plain() -> PhantomData<Plain> {
    PhantomData
}

/// Converts a tensor to a result.
#[inline(always)]
pub fn give<F: Form, T: Element, S: Shape, A: AxisCount>(
    _: PhantomData<F>,
    _: Known<A>,
    tensor: Tensor<T, S>,
) -> F::Result<T, S, A> {
    F::give::<T, S, A>(tensor)
}

// For a number whose type is still open, as in `let rate = 0.1;`, rustc resolves associated types too late for a method
// call on the result. `(&&&owner).__form()` therefore asks for them: rustc takes the first of the traits below that
// applies.

/// The form, the shape, the element type and the type of a leaf.
type Facts<F, S, T, L> = (PhantomData<F>, PhantomData<S>, PhantomData<T>, PhantomData<L>);

macro_rules! facts {
    () => {
        (PhantomData, PhantomData, PhantomData, PhantomData)
    };
}

/// The leaf is a number.
pub trait OfNumber: Sized {
    /// The type of the number.
    type Number;

    /// The facts about the number.
    #[inline(always)]
    fn __form<S>(self, _: &TensorView<'_, Self::Number, S>) -> Facts<Plain, (), Self::Number, Self::Number> {
        facts!()
    }
}

impl<T: Datum> OfNumber for &&&PhantomData<T> {
    type Number = T;
}

/// The leaf is a reference to a number.
pub trait OfReference: Sized {
    /// The type of the number.
    type Number;

    /// The facts about the number.
    #[inline(always)]
    fn __form<S>(self, _: &TensorView<'_, Self::Number, S>) -> Facts<Plain, (), Self::Number, Self::Number> {
        facts!()
    }
}

impl<T: Datum> OfReference for &&PhantomData<&T> {
    type Number = T;
}

/// The facts about a leaf.
pub type FactsOf<L> = Facts<
    <L as Leaf>::Form,
    <L as Leaf>::Shape,
    <<L as Leaf>::Form as Form>::KnownElement<<L as Leaf>::Element>,
    L,
>;

/// The value is any leaf.
pub trait OfLeaf: Sized {
    /// The type of the leaf.
    type Leaf: Leaf + ?Sized;

    /// The facts about the leaf.
    #[inline(always)]
    fn __form<T, S>(self, _: &TensorView<'_, T, S>) -> FactsOf<Self::Leaf> {
        facts!()
    }
}

impl<L: Leaf + ?Sized> OfLeaf for &PhantomData<L> {
    type Leaf = L;
}

/// The value is not a leaf. Another error says so, and the facts of a number avoid further errors.
pub trait OfNothing: Sized {
    /// The facts about a number of unknown type.
    #[inline(always)]
    fn __form<T, S>(self, _: &TensorView<'_, T, S>) -> Facts<Plain, (), UnknownElement, f32> {
        facts!()
    }
}

impl<L: ?Sized> OfNothing for PhantomData<L> {}

// A number whose type is still open takes the element type of the others. Where types differ, `__alike` does nothing,
// and the rule reports the error.

/// Element types that are equal, or may still become equal.
pub trait Alike: Sized {
    /// Makes the types equal by inference.
    #[inline(always)]
    fn __alike(self) {}
}

impl<T> Alike for &PhantomData<(T, T)> {}

/// Element types that differ.
pub trait Unlike: Sized {
    /// Does nothing.
    #[inline(always)]
    fn __alike(self) {}
}

impl<T, U> Unlike for PhantomData<(T, U)> {}
