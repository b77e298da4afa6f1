//! The properties of nests that the lowering reads.

use crate::{
    dim::Dim,
    plan::{BufferId, Nest, Operand, Plan, Source, Target, View},
    ty::DType,
};

/// A nest of at most this much work, known ahead, runs inline: choosing a SIMD level would cost more.
pub(super) const WORTH_DISPATCHING: i64 = 64;

/// The work of a function such as `exp`, in simple operations on an element.
pub(super) const SERIES: i64 = 8;

/// How a view moves along an axis.
pub(super) enum Along {
    Fixed,
    Consecutive,
    Strided,
}

impl Along {
    pub(super) fn of(view: &View, axis: usize) -> Self {
        match &view.strides[axis] {
            stride if *stride == Dim::ZERO => Self::Fixed,
            stride if stride.is_one() && view.buffer().is_some() => Self::Consecutive,
            _ => Self::Strided,
        }
    }
}

/// The operands of all nodes, stores and folds of a nest, and their element types.
pub(super) fn operands<'n>(plan: &Plan, nest: &'n Nest) -> Vec<(&'n Operand, DType)> {
    let mut operands = Vec::new();
    for pass in &nest.passes {
        for node in pass.elements.iter().chain(&pass.numbers) {
            let given = node.operands.iter().enumerate();
            operands
                .extend(given.map(|(position, operand)| (operand, node.op.row().operand(position, node.of))));
        }
        for store in pass.stores.iter().chain(&pass.row_stores) {
            operands.push((&store.operand, dtype(plan, &store.target)));
        }
        operands.extend(pass.folds.iter().chain(&pass.row_folds).map(|fold| (&fold.operand, fold.dtype)));
    }
    operands
}

/// The written views: those of stores, and those of sums in memory.
pub(super) fn targets(nest: &Nest) -> impl Iterator<Item = &View> {
    nest.passes.iter().flat_map(|pass| {
        let stores = pass.stores.iter().chain(&pass.row_stores).map(|store| &store.target);
        let folds = pass.folds.iter().chain(&pass.row_folds).filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some(view),
            Target::Number(_) | Target::Total(_) => None,
        });
        stores.chain(folds)
    })
}

pub(super) fn buffer(view: &View) -> BufferId {
    view.buffer().expect("nests read and write memory")
}

pub(super) fn dtype(plan: &Plan, view: &View) -> DType {
    match view.source {
        Source::Positions(_) => DType::I64,
        Source::Buffer(_) | Source::Scalar(_) => plan.buffers[buffer(view).0].ty.dtype,
    }
}

/// The number of elements, if it is known.
pub(super) fn known(extents: &[Dim]) -> Option<i64> {
    extents.iter().try_fold(1i64, |product, extent| product.checked_mul(extent.as_literal()?))
}
