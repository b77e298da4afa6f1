//! What a derivative rule sees: one primal instruction, the cotangent of its result, and where contributions go.

use crate::{
    dim::Dim,
    grad::AutodiffError,
    ir::{Op, Slice, ValueId},
    ops::Profile,
    ty::{Shape, Type},
};

/// One primal instruction on the way back. All values are of the gradient module.
pub struct Pullback<'a> {
    _private: std::marker::PhantomData<&'a mut ()>,
}

type Emitted = Result<ValueId, AutodiffError>;

#[allow(unused_variables, clippy::todo)]
impl Pullback<'_> {
    /// The operation.
    pub fn op(&self) -> &Op {
        todo!()
    }
    /// An operand.
    pub fn operand(&self, position: usize) -> ValueId {
        todo!()
    }
    /// The result of the primal instruction.
    pub fn result(&self) -> ValueId {
        todo!()
    }
    /// The cotangent of the result; it has the result's type.
    pub fn cotangent(&self) -> ValueId {
        todo!()
    }
    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Type {
        todo!()
    }
    /// Which operations may be used.
    pub fn profile(&self) -> Profile {
        todo!()
    }
    /// Whether a contribution to this operand is of use: it leads to a parameter.
    pub fn wants(&self, position: usize) -> bool {
        todo!()
    }
    /// Emits an operation that both profiles have.
    pub fn push(&mut self, op: Op, operands: &[ValueId]) -> Emitted {
        todo!()
    }
    /// A single number of the element type of `like`.
    pub fn constant_like(&mut self, like: ValueId, value: f64) -> ValueId {
        todo!()
    }
    /// `value` broadcast to a shape it broadcasts to.
    pub fn broadcast_to(&mut self, value: ValueId, shape: &Shape) -> Emitted {
        todo!()
    }
    /// `value` summed over the axes that broadcasting `shape` to its shape adds or stretches.
    pub fn sum_to(&mut self, value: ValueId, shape: &Shape) -> Emitted {
        todo!()
    }
    /// `value / count`.
    pub fn divide_by_count(&mut self, value: ValueId, count: &Dim, of: ValueId, axes: &[i64]) -> Emitted {
        todo!()
    }
    /// `x > 0 ? dy : 0`.
    pub fn relu_grad(&mut self, dy: ValueId, x: ValueId) -> Emitted {
        todo!()
    }
    /// `dy / x` where `y = log(x)`.
    pub fn divide_by_exp(&mut self, dy: ValueId, x: ValueId, y: ValueId) -> Emitted {
        todo!()
    }
    /// Zeros of `shape` with `dy` where the slice takes from.
    pub fn slice_grad(&mut self, dy: ValueId, shape: &Shape, slice: &Slice) -> Emitted {
        todo!()
    }
    /// Zeros of `shape` with the rows of `updates` added at `indices`.
    pub fn scatter_add(&mut self, indices: ValueId, updates: ValueId, shape: &Shape) -> Emitted {
        todo!()
    }
    /// E5001 where the profile is Core v1; an extension may be pushed after it.
    pub fn needs_extended(&self) -> Result<(), AutodiffError> {
        todo!()
    }
    /// Adds `value` to the cotangent of an operand, summed back to its type where it was broadcast.
    pub fn contribute(&mut self, position: usize, value: ValueId) -> Result<(), AutodiffError> {
        todo!()
    }
}
