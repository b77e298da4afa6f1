//! Lowers nests and finishes of a plan to loops. Every decision on how they run is made here.

mod across_rows;
mod blocks;
mod captures;
mod chains;
mod columns;
mod cut;
mod draws;
mod elements;
mod epilogue;
mod folds;
mod nest;
mod numbers;
mod rows;
mod short_rows;
mod sparse;
mod writer;

use crate::{
    dim::Dim,
    loops::{Cut, Execution, Loops},
    map::{Map, Rust},
    plan::{BufferId, Nest, Operand, Plan, Step, View},
    ty::DType,
};

pub use epilogue::{Epilogue, Finished, Product, Whole, epilogue, is_tiny, product};

use captures::Captures;
use nest::{Along, SERIES, WORTH_DISPATCHING, buffer, dtype, known, operands, targets};
use rows::{NestLowering, NestRows};
use writer::Writer;

/// The lowered form of a nest.
#[derive(Clone, Debug, PartialEq)]
pub enum LoweredNest {
    /// A copy of elements that are not contiguous. The run time has a blocked copy for it.
    Copied {
        /// The elements that are copied.
        from: View,
        /// The contiguous destination.
        to: BufferId,
    },
    /// Loops.
    Looped(Loops),
}

/// The lowered form of a step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum LoweredStep {
    /// The form of a nest.
    Nest(LoweredNest),
    /// The form of a product.
    Product(Product),
    /// The epilogue of a convolution.
    Convolution(Epilogue),
}

/// Lowers a step of a plan; `None` if the step has no loops.
pub fn of_step(plan: &Plan, step: &Step) -> Option<LoweredStep> {
    match step {
        Step::Nest(of) => Some(LoweredStep::Nest(nest(plan, of))),
        Step::MatMul(of) => Some(LoweredStep::Product(product(plan, of))),
        Step::Conv2d(of) => Some(LoweredStep::Convolution(epilogue(plan, &of.finish))),
        _ => None,
    }
}

impl LoweredStep {
    /// The loops, if any.
    pub fn loops(&self) -> Option<&Loops> {
        match self {
            Self::Nest(LoweredNest::Looped(loops)) | Self::Product(Product::Tiny(Whole { loops, .. })) => {
                Some(loops)
            }
            Self::Product(Product::Kernel(Epilogue::Finished(finished)))
            | Self::Convolution(Epilogue::Finished(finished)) => Some(&finished.loops),
            Self::Nest(LoweredNest::Copied { .. })
            | Self::Product(Product::Kernel(Epilogue::Stored(_)))
            | Self::Convolution(Epilogue::Stored(_)) => None,
        }
    }
}

/// Lowers a nest of a plan.
pub fn nest(plan: &Plan, nest: &Nest) -> LoweredNest {
    if let Some((from, to)) = transposition(nest) {
        return LoweredNest::Copied { from: from.clone(), to };
    }
    let cut = Cut::of(nest);
    let mut out = Writer::default();
    let captures = Captures::new(plan, nest, cut.as_ref(), &mut out);
    let (totals, out) = match columns::lower(plan, nest, &captures, out) {
        Ok(out) => (Vec::new(), out),
        Err(out) => {
            let mut lowering = NestLowering::new(plan, nest, &captures, NestRows::Nest, out);
            (lowering.rows(), lowering.out)
        }
    };
    let (variables, body) = out.finish();
    let run = match (cut, known(&nest.extents)) {
        (Some(cut), _) => Execution::Cut(cut),
        (None, Some(elements)) if work(nest, elements) <= WORTH_DISPATCHING => Execution::Inline,
        (None, Some(_) | None) => Execution::Dispatched,
    };
    LoweredNest::Looped(Loops {
        captures: captures.all,
        variables,
        body,
        totals,
        run,
        depends_on_fusing: has_functions(nest),
    })
}

/// The work of a nest of `elements`, in simple operations on an element.
fn work(nest: &Nest, elements: i64) -> i64 {
    let nodes = nest.passes.iter().flat_map(|pass| &pass.elements);
    let series = nodes.filter(|node| node.op.row().cost.is_series()).count();
    elements.saturating_mul(1 + SERIES * series as i64)
}

/// The element types and the lengths of the scratch memory that accumulates sums of a nest.
pub fn scratch(plan: &Plan, nest: &Nest) -> Vec<(DType, Dim)> {
    let sums = chains::in_scratch(nest, Cut::of(nest).map(|cut| cut.axis));
    let lens = sums.map(|sum| {
        let len = plan.buffers[buffer(sum.view).0].ty.shape.element_count();
        (sum.fold.dtype, len.expect("a verified type has a countable number of elements"))
    });
    lens.collect()
}

/// The source and the destination, if the nest only copies elements that are not contiguous.
fn transposition(nest: &Nest) -> Option<(&View, BufferId)> {
    let ([from], [pass]) = (&nest.loads[..], &nest.passes[..]) else { return None };
    let [store] = &pass.stores[..] else { return None };
    let alone = pass.folds.is_empty()
        && pass.numbers.is_empty()
        && pass.row_stores.is_empty()
        && pass.row_folds.is_empty();
    let copies = match (&store.operand, &pass.elements[..]) {
        (Operand::Load(0), []) => true,
        (Operand::Node(0), [node]) => node.op == Map::COPY && node.operands == [Operand::Load(0)],
        _ => false,
    };
    let strided = matches!(Along::of(from, nest.extents.len() - 1), Along::Strided);
    let in_order = store.target.is_contiguous();
    if alone && copies && strided && in_order { Some((from, store.target.buffer()?)) } else { None }
}

/// Whether a function that computes elements, or numbers once per row, depends on fused multiplication and addition.
fn has_functions(nest: &Nest) -> bool {
    let mut nodes = nest.passes.iter().flat_map(|pass| pass.elements.iter().chain(&pass.numbers));
    nodes.any(|node| matches!(node.op.row().rust, Rust::By(_)))
}
