//! Nests of one pass with one store or sum, as the loops of one chain.

use mind_core::{
    dim::Dim,
    ir::ValueId,
    plan::{Nest, Node, Operand, Plan, ScalarOp, Source, Target, View},
};

/// A loop nest over one index space that computes a chain of elementwise operations and stores or sums the last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loop {
    /// The extents, outermost first; neighbours that every view steps through alike are already one. For a sum the kept
    /// axes and the reduced ones as [`Fold`] says.
    pub(super) extents: Vec<Dim>,
    /// What is read; every view has the rank of `extents`.
    pub(super) loads: Vec<View>,
    /// What is computed for each index, in order; not empty.
    pub(super) body: Vec<Node>,
    /// What becomes of the last node.
    pub(super) sink: Sink,
}

impl Loop {
    /// The loop of a nest of one pass with one sink.
    pub(super) fn new(nest: &Nest, plan: &Plan) -> Self {
        let [pass] = &nest.passes[..] else { unimplemented!("nests of several passes") };
        let dtype_of = |operand: &Operand, otherwise| match operand {
            Operand::Load(load) => match nest.loads[*load].source {
                Source::Buffer(buffer) => plan.buffers[buffer.0].ty.dtype,
                Source::Scalar(_) => unreachable!("loads are of memory"),
            },
            Operand::Node(_) | Operand::Number(_) | Operand::Scalar(_) | Operand::Sum => otherwise,
        };
        let (operand, dtype, value, sink) = match (&pass.stores[..], &pass.folds[..]) {
            ([store], []) => {
                let buffer = store.target.buffer().expect("targets are memory");
                let buffer = &plan.buffers[buffer.0];
                (&store.operand, buffer.ty.dtype, buffer.value, Sink::Store(store.target.clone()))
            }
            ([], [fold]) => {
                let reduced = |target: &View, elements: bool| {
                    let axes = target.strides.iter().enumerate();
                    axes.map(|(axis, stride)| match axis < nest.row_axes {
                        true => *stride == Dim::ZERO,
                        false => elements,
                    })
                    .collect()
                };
                let (value, fold_) = match &fold.target {
                    Target::Total(value) => {
                        let reduced = vec![true; nest.extents.len()];
                        (
                            *value,
                            Fold { reduced, count: fold.count.clone(), target: FoldTarget::Scalar(*value) },
                        )
                    }
                    Target::Memory(view) => {
                        let value = plan.buffers[view.buffer().expect("targets are memory").0].value;
                        let target = FoldTarget::Buffer(view.clone());
                        (value, Fold { reduced: reduced(view, false), count: fold.count.clone(), target })
                    }
                    Target::Number(value) => match (&pass.row_stores[..], &pass.row_folds[..]) {
                        ([store], []) => {
                            let mut reduced = vec![false; nest.row_axes];
                            reduced.resize(nest.extents.len(), true);
                            let target = FoldTarget::Buffer(store.target.clone());
                            (*value, Fold { reduced, count: fold.count.clone(), target })
                        }
                        ([], [row]) => {
                            let Target::Memory(view) = &row.target else { unimplemented!("totals of rows") };
                            let target = FoldTarget::Buffer(view.clone());
                            (*value, Fold { reduced: reduced(view, true), count: row.count.clone(), target })
                        }
                        _ => unimplemented!("several sinks of a row"),
                    },
                };
                (&fold.operand, fold.dtype, value, Sink::Fold(fold_))
            }
            _ => unimplemented!("several sinks"),
        };
        let mut body = pass.elements.clone();
        let last = body.len().checked_sub(1).map(Operand::Node);
        if last.as_ref() != Some(operand) {
            let dtype = dtype_of(operand, dtype);
            body.push(Node { op: ScalarOp::Copy, operands: vec![operand.clone()], dtype, value });
        }
        Self { extents: nest.extents.clone(), loads: nest.loads.clone(), body, sink }
    }
}

/// What becomes of the last node of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sink {
    /// Stored at each index; a load of the same buffer is of the same element.
    Store(View),
    /// Summed.
    Fold(Fold),
}

/// A sum over some axes of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fold {
    /// Which axes of the loop are summed over.
    pub(super) reduced: Vec<bool>,
    /// For a mean, the number of elements summed.
    pub(super) count: Option<Dim>,
    /// Where the sums go: a view of the loop's rank with stride 0 on reduced axes, or a single number.
    pub(super) target: FoldTarget,
}

/// Where the sums of a loop go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FoldTarget {
    /// Into memory.
    Buffer(View),
    /// A single number: every axis is reduced.
    Scalar(ValueId),
}
