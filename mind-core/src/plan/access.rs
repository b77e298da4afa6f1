//! What steps read and write, for whatever orders them or gives them memory.

use crate::{
    ir::ValueId,
    plan::{
        Buffer, BufferId, Conv2d, Fold, FoldTarget, Indices, MatMul, Operand, Scalar, ScalarStep, Sink, Step,
        View,
    },
    ty::DType,
};

impl Step {
    /// Calls `visit` with every buffer that the step reads or writes.
    pub fn for_each_buffer(&self, mut visit: impl FnMut(BufferId)) {
        self.for_each_read(&mut visit);
        self.result().into_iter().for_each(visit);
    }

    /// Calls `visit` with every buffer that the step reads.
    pub fn for_each_read(&self, mut visit: impl FnMut(BufferId)) {
        let mut view = |view: &View| view.buffer().into_iter().for_each(&mut visit);
        match self {
            Self::Scalar(_) | Self::UpdateScalar { .. } => {}
            Self::Load { from, .. } => view(from),
            Self::Loop(nest) => nest.loads.iter().for_each(view),
            Self::MatMul(product) => [&product.lhs, &product.rhs].into_iter().for_each(view),
            Self::Dot { operands, .. } => operands.iter().for_each(view),
            Self::CheckIndices { indices, .. } => indices.buffer().into_iter().for_each(visit),
            Self::Gather { table, indices, .. } => {
                visit(*table);
                indices.buffer().into_iter().for_each(visit);
            }
            Self::ScatterAdd { indices, updates, .. } => {
                visit(*updates);
                indices.buffer().into_iter().for_each(visit);
            }
            Self::SliceGrad { updates, .. } => visit(*updates),
            Self::Conv2d(convolution) => convolution.operands.into_iter().for_each(visit),
            Self::Update { from, .. } => visit(*from),
        }
    }

    /// The buffer that the step writes.
    pub fn result(&self) -> Option<BufferId> {
        match self {
            Self::Loop(nest) => match &nest.sink {
                Sink::Store(target) => target.buffer(),
                Sink::Fold(Fold { target: FoldTarget::Buffer(target), .. }) => target.buffer(),
                Sink::Fold(Fold { target: FoldTarget::Scalar(_), .. }) => None,
            },
            Self::MatMul(MatMul { result, .. })
            | Self::Gather { result, .. }
            | Self::ScatterAdd { result, .. }
            | Self::SliceGrad { result, .. }
            | Self::Conv2d(Conv2d { result, .. })
            | Self::Update { to: result, .. } => Some(*result),
            Self::Scalar(_)
            | Self::UpdateScalar { .. }
            | Self::Load { .. }
            | Self::Dot { .. }
            | Self::CheckIndices { .. } => None,
        }
    }

    /// The single number that the step computes.
    pub fn local(&self) -> Option<ValueId> {
        match self {
            Self::Scalar(ScalarStep { result, .. })
            | Self::Load { result, .. }
            | Self::Dot { result, .. } => Some(*result),
            Self::Loop(nest) => match &nest.sink {
                Sink::Fold(Fold { target: FoldTarget::Scalar(result), .. }) => Some(*result),
                Sink::Fold(Fold { target: FoldTarget::Buffer(_), .. }) | Sink::Store(_) => None,
            },
            Self::MatMul(_)
            | Self::CheckIndices { .. }
            | Self::Gather { .. }
            | Self::ScatterAdd { .. }
            | Self::SliceGrad { .. }
            | Self::Conv2d(_)
            | Self::Update { .. }
            | Self::UpdateScalar { .. } => None,
        }
    }

    /// Calls `visit` with every single number that the step reads.
    pub fn for_each_scalar(&self, mut visit: impl FnMut(&Scalar)) {
        match self {
            Self::Scalar(step) => step.operands.iter().for_each(visit),
            Self::Loop(nest) => {
                for operand in nest.body.iter().flat_map(|node| &node.operands) {
                    match operand {
                        Operand::Scalar(scalar) => visit(scalar),
                        Operand::Load(_) | Operand::Node(_) => {}
                    }
                }
            }
            Self::CheckIndices { indices, .. }
            | Self::Gather { indices, .. }
            | Self::ScatterAdd { indices, .. } => match indices {
                Indices::Scalar(scalar, _) => visit(scalar),
                Indices::Buffer(_) => {}
            },
            Self::UpdateScalar { from, .. } => visit(from),
            Self::Load { .. }
            | Self::Dot { .. }
            | Self::MatMul(_)
            | Self::SliceGrad { .. }
            | Self::Conv2d(_)
            | Self::Update { .. } => {}
        }
    }
}

impl Indices {
    /// The buffer, if they are in memory.
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
