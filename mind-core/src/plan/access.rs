//! The reads and writes of steps, for code that orders steps or assigns memory.

use crate::{
    ir::ValueId,
    plan::{
        Buffer, BufferId, Conv2d, Finish, Fold, Integers, KernelCall, KernelOperand, MatMul, Nest, Operand,
        Pass, Scalar, ScalarStep, Step, Strips, Target, View, ir::loop_can_fail,
    },
    ty::{DType, Type},
};

const IN_MEMORY: &str = "elements are stored in memory";

impl Step {
    /// Whether the step can fail.
    pub fn can_fail(&self) -> bool {
        match self {
            Self::Check { .. } => true,
            Self::Call(call) => call.external().is_some() || call.op.refuses_matrices(),
            Self::Loop(of) => loop_can_fail(&of.body, of.guard, of.steps.as_ref()),
            _ => false,
        }
    }

    /// The strips, if the step runs by strips.
    pub fn strips(&self) -> Option<&Strips> {
        if let Self::Strips(strips) = self { Some(strips) } else { None }
    }

    /// Calls `visit` with every buffer that the step reads or writes.
    pub fn for_each_buffer(&self, mut visit: impl FnMut(BufferId)) {
        self.for_each_read(&mut visit);
        self.for_each_write(visit);
    }

    /// Calls `visit` with every buffer that the step reads.
    pub fn for_each_read(&self, mut visit: impl FnMut(BufferId)) {
        self.visit_reads(&mut visit);
    }

    fn visit_reads(&self, visit: &mut dyn FnMut(BufferId)) {
        let mut view = |view: &View| view.buffer().into_iter().for_each(&mut *visit);
        match self {
            Self::Scalar(_) | Self::UpdateScalar { .. } => {}
            Self::Load { from, .. } => view(from),
            Self::Nest(nest) => nest.loads.iter().for_each(view),
            Self::MatMul(product) => {
                [&product.lhs, &product.rhs].into_iter().chain(&product.finish.loads).for_each(view);
            }
            Self::Dot { operands, .. } => operands.iter().for_each(view),
            Self::Check { integers, .. } => integers.buffer().into_iter().for_each(visit),
            Self::Conv2d(convolution) => {
                convolution.finish.loads.iter().for_each(view);
                convolution.operands.into_iter().for_each(visit);
            }
            Self::Call(call) => call.operands.iter().filter_map(KernelOperand::buffer).for_each(visit),
            Self::Loop(of) => of.operands.iter().filter_map(|(operand, _)| operand.buffer()).for_each(visit),
            Self::Watch { argument, .. } => argument.buffer().into_iter().for_each(visit),
            Self::Update { from, .. } => visit(*from),
            Self::Strips(strips) => {
                strips
                    .steps
                    .iter()
                    .for_each(|step| step.visit_reads(&mut |buffer| visit(strips.whole(buffer))));
            }
        }
    }

    /// Calls `visit` with every buffer that the step writes.
    pub fn for_each_write(&self, mut visit: impl FnMut(BufferId)) {
        self.visit_writes(&mut visit);
    }

    fn visit_writes(&self, visit: &mut dyn FnMut(BufferId)) {
        match self {
            Self::Nest(nest) => {
                nest.for_each_target(|target| visit(target.buffer().expect(IN_MEMORY)));
            }
            Self::MatMul(MatMul { finish, .. }) | Self::Conv2d(Conv2d { finish, .. }) => {
                finish.stores.iter().for_each(|store| visit(store.target.buffer().expect(IN_MEMORY)));
            }
            Self::Call(call) => visit(call.result),
            Self::Loop(of) => {
                let carries = of.carries.iter().flat_map(|carry| [Some(carry.last), carry.second]);
                carries.flatten().chain(of.stacked.iter().copied()).for_each(visit);
            }
            Self::Strips(strips) => {
                strips
                    .steps
                    .iter()
                    .for_each(|step| step.visit_writes(&mut |buffer| visit(strips.whole(buffer))));
            }
            Self::Update { to, .. } => visit(*to),
            Self::Scalar(_)
            | Self::UpdateScalar { .. }
            | Self::Load { .. }
            | Self::Dot { .. }
            | Self::Watch { .. }
            | Self::Check { .. } => {}
        }
    }

    /// Calls `visit` with every scalar that the step computes for later steps.
    pub fn for_each_local(&self, mut visit: impl FnMut(ValueId)) {
        match self {
            Self::Scalar(ScalarStep { result, .. })
            | Self::Load { result, .. }
            | Self::Dot { result, .. } => visit(*result),
            Self::Nest(nest) => {
                for fold in nest.folds() {
                    match fold.target {
                        Target::Total(value) => visit(value),
                        Target::Number(_) | Target::Memory(_) => {}
                    }
                }
            }
            // The steps of strips compute rows and sums of rows, but no scalars.
            Self::Strips(_)
            | Self::MatMul(_)
            | Self::Check { .. }
            | Self::Call(_)
            | Self::Loop(_)
            | Self::Conv2d(_)
            | Self::Watch { .. }
            | Self::Update { .. }
            | Self::UpdateScalar { .. } => {}
        }
    }

    /// Calls `visit` with every scalar that the step reads.
    pub fn for_each_scalar(&self, mut visit: impl FnMut(&Scalar)) {
        self.visit_scalars(&mut visit);
    }

    fn visit_scalars(&self, visit: &mut dyn FnMut(&Scalar)) {
        match self {
            Self::Scalar(step) => step.operands.iter().for_each(visit),
            Self::Nest(nest) => {
                nest.for_each_operand(|operand| operand.scalar().into_iter().for_each(&mut *visit))
            }
            Self::MatMul(MatMul { finish, .. }) | Self::Conv2d(Conv2d { finish, .. }) => {
                finish.for_each_operand(|operand| operand.scalar().into_iter().for_each(&mut *visit));
            }
            Self::Check { integers: Integers::Scalar(scalar, _), .. } => visit(scalar),
            Self::Call(call) => call.operands.iter().filter_map(KernelOperand::scalar).for_each(visit),
            Self::Loop(of) => of.operands.iter().filter_map(|(operand, _)| operand.scalar()).for_each(visit),
            Self::Watch { argument, .. } => argument.scalar().into_iter().for_each(visit),
            Self::UpdateScalar { from, .. } => visit(from),
            Self::Strips(strips) => strips.steps.iter().for_each(|step| step.visit_scalars(visit)),
            Self::Check { integers: Integers::Buffer(_), .. }
            | Self::Load { .. }
            | Self::Dot { .. }
            | Self::Update { .. } => {}
        }
    }

    /// Calls `visit` with every view of a nest or product: reads before writes.
    pub(super) fn for_each_view_mut(&mut self, visit: &mut dyn FnMut(&mut View)) {
        match self {
            Self::Nest(nest) => nest.for_each_view_mut(visit),
            Self::MatMul(MatMul { lhs, rhs, finish, .. }) => {
                [lhs, rhs].into_iter().chain(&mut finish.loads).for_each(&mut *visit);
                finish.stores.iter_mut().for_each(|store| visit(&mut store.target));
            }
            _ => unreachable!("only nests and products run by strips"),
        }
    }
}

impl KernelCall {
    /// All buffers that it reads or writes.
    pub(super) fn buffers(&self) -> impl Iterator<Item = BufferId> {
        self.operands.iter().filter_map(KernelOperand::buffer).chain([self.result])
    }
}

impl KernelOperand {
    /// The buffer, if the argument is in memory.
    pub fn buffer(&self) -> Option<BufferId> {
        if let Self::Tensor(buffer, _) = self { Some(*buffer) } else { None }
    }

    /// The type of the tensor or number.
    pub fn ty(&self) -> Type {
        match self {
            Self::Tensor(_, ty) => ty.clone(),
            Self::Scalar(_, dtype) => Type::scalar(*dtype),
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        if let Self::Scalar(scalar, _) = self { Some(scalar) } else { None }
    }
}

impl Nest {
    /// Every fold, in order. In each pass, folds of elements come before folds of rows.
    pub fn folds(&self) -> impl Iterator<Item = &Fold> {
        self.passes.iter().flat_map(|pass| pass.folds.iter().chain(&pass.row_folds))
    }

    /// Calls `visit` with every view of memory that is written.
    pub fn for_each_target<'n>(&'n self, mut visit: impl FnMut(&'n View)) {
        for pass in &self.passes {
            pass.stores.iter().chain(&pass.row_stores).for_each(|store| visit(&store.target));
        }
        for fold in self.folds() {
            match &fold.target {
                Target::Memory(view) => visit(view),
                Target::Number(_) | Target::Total(_) => {}
            }
        }
    }

    /// Calls `visit` with every view: loads, then targets in the order of [`for_each_target`](Self::for_each_target).
    pub(super) fn for_each_view_mut(&mut self, visit: &mut dyn FnMut(&mut View)) {
        self.loads.iter_mut().for_each(&mut *visit);
        for pass in &mut self.passes {
            let stores = pass.stores.iter_mut().chain(&mut pass.row_stores);
            stores.for_each(|store| visit(&mut store.target));
        }
        for fold in self.passes.iter_mut().flat_map(|pass| pass.folds.iter_mut().chain(&mut pass.row_folds)) {
            match &mut fold.target {
                Target::Memory(view) => visit(view),
                Target::Number(_) | Target::Total(_) => {}
            }
        }
    }

    /// Calls `visit` with every operand of a node, store or sum.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        self.passes.iter().for_each(|pass| pass.for_each_operand(&mut visit));
    }
}

impl Pass {
    /// Calls `visit` with every operand of a node, store or sum.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        let nodes = self.elements.iter().chain(&self.numbers);
        nodes.flat_map(|node| &node.operands).for_each(&mut visit);
        self.stores.iter().chain(&self.row_stores).for_each(|store| visit(&store.operand));
        self.folds.iter().chain(&self.row_folds).for_each(|fold| visit(&fold.operand));
    }
}

impl Finish {
    /// Calls `visit` with every operand of a node or store.
    pub fn for_each_operand(&self, mut visit: impl FnMut(&Operand)) {
        self.nodes.iter().flat_map(|node| &node.operands).for_each(&mut visit);
        self.stores.iter().for_each(|store| visit(&store.operand));
    }
}

impl Operand {
    /// The scalar, if the operand is the same number at every index.
    pub fn scalar(&self) -> Option<&Scalar> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            Self::Load(_) | Self::Node(_) | Self::Number(_) | Self::Product => None,
        }
    }
}

impl Integers {
    /// The buffer, if the integers are in memory.
    pub fn buffer(&self) -> Option<BufferId> {
        match self {
            Self::Buffer(buffer) => Some(*buffer),
            Self::Scalar(..) => None,
        }
    }

    /// The element type in a plan's buffers.
    pub fn dtype(&self, buffers: &[Buffer]) -> DType {
        match self {
            Self::Buffer(buffer) => buffers[buffer.0].ty.dtype,
            Self::Scalar(_, dtype) => *dtype,
        }
    }
}
