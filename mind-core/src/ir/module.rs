//! Modules: the instructions of a program and its results.

use std::sync::Arc;

use super::{Inst, ValueId};
use crate::ty::Type;

/// A program: a list of instructions and its results. Inputs come first, and each operation comes after its operands.
///
/// A module made by [`Builder`](crate::build::Builder) has inferred types. A module made by [`Module::from_parts`] is
/// unchecked. Only [`crate::verify::verify`] turns a module into [`crate::verify::Verified`], which later phases take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module {
    insts: Vec<Inst>,
    outputs: Vec<ValueId>,
}

impl Module {
    /// A module of these parts, which are not checked.
    pub fn from_parts(insts: Vec<Inst>, outputs: Vec<ValueId>) -> Self {
        Self { insts, outputs }
    }

    /// The instructions, inputs first.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// The results, in order.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// The leading instructions that are inputs, with name and type.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Type)> + Clone + '_ {
        let count = self.insts.iter().position(|inst| !inst.op.is_input()).unwrap_or(self.insts.len());
        self.insts[..count]
            .iter()
            .map(|inst| (inst.op.input_name().expect("only inputs were counted"), &inst.ty))
    }

    /// The instruction that makes a value.
    pub fn inst(&self, value: ValueId) -> &Inst {
        &self.insts[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.insts[value.index()].ty
    }

    /// Every value with its instruction, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ValueId, &Inst)> + ExactSizeIterator {
        self.insts.iter().enumerate().map(|(position, inst)| (ValueId::new(position), inst))
    }

    /// For each value whether a root depends on it. A root depends on itself.
    pub(crate) fn needed_by(&self, roots: impl IntoIterator<Item = ValueId>) -> Vec<bool> {
        let mut needed = vec![false; self.insts.len()];
        roots.into_iter().for_each(|root| needed[root.index()] = true);
        for (value, inst) in self.iter().rev() {
            if needed[value.index()] {
                inst.operands.iter().for_each(|operand| needed[operand.index()] = true);
            }
        }
        needed
    }

    /// The values whose computation has an effect.
    pub(crate) fn effects(&self) -> impl Iterator<Item = ValueId> {
        self.iter().filter(|(_, inst)| inst.op.has_effect()).map(|(value, _)| value)
    }

    /// For each value, whether a result or an effect depends on it.
    pub(crate) fn live(&self) -> Vec<bool> {
        self.needed_by(self.outputs.iter().copied().chain(self.effects()))
    }

    /// The module without its first results.
    pub(crate) fn without_first(mut self, results: usize) -> Self {
        self.outputs.drain(..results);
        self
    }

    /// The instructions and the results.
    pub fn into_parts(self) -> (Vec<Inst>, Vec<ValueId>) {
        (self.insts, self.outputs)
    }
}
