//! What the passes that write a module anew have in common.

use crate::{
    build::Builder,
    diag::Code,
    ir::{Arrange, Inst, Module, Op, ValueId},
    ops::OpError,
    ty::Shape,
};

/// A module that a pass writes from another.
pub(super) struct Rewritten<'m> {
    pub(super) module: &'m Module,
    pub(super) builder: Builder,
    origins: Vec<ValueId>,
    /// For each value of the module, its value in the new module, once something reads it as one tensor.
    pub(super) wholes: Vec<Option<ValueId>>,
}

impl<'m> Rewritten<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let wholes = vec![None; module.insts().len()];
        Self { module, builder: Builder::new(), origins: Vec::new(), wholes }
    }

    pub(super) fn push(&mut self, op: Op, operands: &[ValueId]) -> Option<ValueId> {
        within_limits(self.builder.push(op, operands))
    }

    /// The value with this shape.
    pub(super) fn broadcast(&mut self, value: ValueId, shape: &Shape) -> Option<ValueId> {
        match self.builder.ty(value).shape == *shape {
            true => Some(value),
            false => self.push(Op::Arrange(Arrange::broadcast(shape.clone())), &[value]),
        }
    }
}

/// Writes a module anew, one instruction after another.
pub(super) trait ModuleWriter<'m>: Sized {
    fn rewritten(&mut self) -> &mut Rewritten<'m>;

    /// Writes an instruction.
    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()>;

    /// A value that was written in parts, as one tensor.
    fn assembled(&mut self, _value: ValueId) -> Option<ValueId> {
        None
    }

    /// The new module, and for each of its values the value of the module that it comes from. `None` if a limit of
    /// modules is exceeded.
    fn finish(mut self) -> Option<(Module, Vec<ValueId>)> {
        let module = self.rewritten().module;
        for (value, inst) in module.iter() {
            self.write(value, inst)?;
            self.attribute(value);
        }
        let mut outputs = Vec::new();
        for output in module.outputs() {
            outputs.push(self.whole(*output)?);
            self.attribute(*output);
        }
        let rewritten = std::mem::replace(self.rewritten(), Rewritten::new(module));
        Some((rewritten.builder.finish(outputs), rewritten.origins))
    }

    /// Records that the newest values come from this one.
    fn attribute(&mut self, value: ValueId) {
        let rewritten = self.rewritten();
        rewritten.origins.resize(rewritten.builder.insts().len(), value);
    }

    /// The value as one tensor of the new module.
    fn whole(&mut self, value: ValueId) -> Option<ValueId> {
        if let Some(whole) = self.rewritten().wholes[value.index()] {
            return Some(whole);
        }
        let whole = self.assembled(value)?;
        self.rewritten().wholes[value.index()] = Some(whole);
        Some(whole)
    }

    /// The instruction itself, on operands as one tensor each.
    fn copied(&mut self, inst: &Inst) -> Option<ValueId> {
        if let Some(name) = inst.op.input_name() {
            return within_limits(self.rewritten().builder.input(name.clone(), inst.ty.clone()));
        }
        let operands = inst.operands.iter().map(|operand| self.whole(*operand));
        let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
        self.rewritten().push(inst.op.clone(), &operands)
    }
}

/// The value of a result; `None` if a limit of modules is exceeded.
pub(super) fn within_limits<T>(result: Result<T, Box<OpError>>) -> Option<T> {
    if let Err(error) = &result {
        debug_assert!(error.code == Code::E1008, "the optimiser keeps the rules of operations: {error}");
    }
    result.ok()
}
