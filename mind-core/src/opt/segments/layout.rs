//! Emits positions of steps, and splits the leading axis of values into segments.

use super::{
    CheckpointedLoop,
    writer::{Writer, computed},
};
use crate::{
    dim::Dim,
    ir::{Arrange, Const, Made, Op, Part, Slice, ValueId},
    ty::{DType, Shape},
};

impl Writer<'_> {
    /// The position of each step of each segment among all steps.
    pub(super) fn positions(&mut self, of: &CheckpointedLoop<'_>) -> Option<ValueId> {
        let positions = self.iota(vec![of.padded()?], 0)?;
        self.reshaped(positions, [of.segments.clone(), Dim::literal(of.scan.checkpoint)])
    }

    pub(super) fn iota(&mut self, shape: Vec<Dim>, axis: i64) -> Option<ValueId> {
        self.rewritten.push(Op::Made(Made::Iota { shape, axis }), &[])
    }

    pub(super) fn count(&mut self, count: &Dim) -> Option<ValueId> {
        match count.as_literal() {
            Some(known) => Some(self.rewritten.builder.constant(DType::I64, known as f64)),
            None => {
                let shape = [count.clone()].into_iter().collect();
                self.rewritten.push(Op::Const(Const::Count { shape, dtype: DType::I64 }), &[])
            }
        }
    }

    /// The steps of each segment of an iterated operand.
    pub(super) fn split(&mut self, of: &CheckpointedLoop<'_>, value: ValueId) -> Option<ValueId> {
        let value = if of.is_padded { self.padded(of, value)? } else { value };
        self.reshaped(value, [of.segments.clone(), Dim::literal(of.scan.checkpoint)])
    }

    /// An iterated operand with zeros behind its steps.
    fn padded(&mut self, of: &CheckpointedLoop<'_>, value: ValueId) -> Option<ValueId> {
        let ty = self.rewritten.builder.ty(value).clone();
        if ty.dtype == DType::Bool {
            // Only numbers are placed among zeros.
            let [zero, one] = [0.0, 1.0].map(|number| self.rewritten.builder.constant(DType::U8, number));
            let names = [("value", value), ("one", one), ("zero", zero)];
            let number = computed(&mut self.rewritten.builder, "where(value, one, zero)", &names);
            let padded = self.padded(of, number)?;
            let names = [("padded", padded), ("zero", zero)];
            return Some(computed(&mut self.rewritten.builder, "ne(padded, zero)", &names));
        }
        let slice = first(&ty.shape, &of.steps);
        let rest = ty.shape[1..].iter().cloned();
        let shape = [of.padded()?].into_iter().chain(rest).collect();
        self.rewritten.push(Op::Part(Part::slice_grad(shape, slice)), &[value])
    }

    /// Joins the stacked results of all segments to the stacked result of the loop.
    pub(super) fn joined(&mut self, of: &CheckpointedLoop<'_>, value: ValueId) -> Option<ValueId> {
        let ty = self.rewritten.builder.ty(value).clone();
        let shape = [of.padded()?].into_iter().chain(ty.shape[2..].iter().cloned()).collect::<Shape>();
        let joined = self.rewritten.push(Op::Arrange(Arrange::reshape(shape.clone())), &[value])?;
        match of.is_padded {
            true => self.rewritten.push(first(&shape, &of.steps).into(), &[joined]),
            false => Some(joined),
        }
    }

    /// A value with its leading axis split in two.
    fn reshaped(&mut self, value: ValueId, leading: [Dim; 2]) -> Option<ValueId> {
        let rest = self.rewritten.builder.ty(value).shape[1..].iter().cloned();
        let shape = leading.into_iter().chain(rest).collect();
        self.rewritten.push(Op::Arrange(Arrange::reshape(shape)), &[value])
    }
}

/// The first `count` elements along the leading axis.
fn first(shape: &Shape, count: &Dim) -> Slice {
    let ends = [count.clone()].into_iter().chain(shape[1..].iter().cloned()).collect();
    Slice { starts: vec![Dim::ZERO; shape.rank()], ends, steps: vec![1; shape.rank()] }
}
