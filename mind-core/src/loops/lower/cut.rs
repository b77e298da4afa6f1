//! How a nest is cut along an axis, for threads and for the tree of its totals.

use mind_shape::loops::{FEWEST_COLUMNS, LEAF, WORTH_SPLITTING};

use crate::{
    dim::Dim,
    loops::Cut,
    plan::{Nest, Target, View},
};

use super::{known, targets};

impl Cut {
    /// The cut of a nest; `None` if the nest cannot be cut, or is known to be too small.
    pub(super) fn of(nest: &Nest) -> Option<Self> {
        let cost = cost(nest);
        // The run time would not cut it either.
        let is_little = |elements: i64| {
            elements.saturating_mul(cost as i64) < WORTH_SPLITTING as i64
                && !(has_totals(nest) && elements > LEAF as i64)
        };
        if known(&nest.extents).is_some_and(is_little) {
            return None;
        }
        let axis = (0..nest.extents.len()).find(|axis| can_be_cut(nest, *axis))?;
        let is_narrow = |columns: i64| axis > 0 && columns < 2 * FEWEST_COLUMNS as i64;
        if nest.extents[axis].as_literal().is_some_and(is_narrow) {
            return None;
        }
        let (outer, inner) = (&nest.extents[..axis], &nest.extents[axis + 1..]);
        let mut others = outer.iter().chain(inner);
        let elements = others.try_fold(Dim::ONE, |product, extent| product.mul(extent)).ok()?;
        Some(Self { axis, steps: nest.extents[axis].clone(), elements, cost })
    }
}

/// Whether parts of an axis write to different memory, and do not depend on each other.
fn can_be_cut(nest: &Nest, axis: usize) -> bool {
    // All views of one buffer have the same stride along the axis.
    let has_one_stride = |view: &View| {
        let same = nest.loads.iter().chain(targets(nest)).filter(|other| other.buffer() == view.buffer());
        same.into_iter().all(|other| other.strides[axis] == view.strides[axis])
    };
    let are_sums_over_outer_axes =
        || targets(nest).all(|view| view.strides[..axis].iter().all(|stride| *stride == Dim::ZERO));
    let sums_rows =
        nest.passes.iter().flat_map(|pass| &pass.folds).any(|fold| matches!(fold.target, Target::Number(_)));
    targets(nest).all(|view| separable(view, nest, axis) && has_one_stride(view))
        // Totals are added up by steps of the outermost axis.
        && (axis == 0 || (!has_totals(nest) && are_sums_over_outer_axes()))
        && (axis < nest.row_axes || !sums_rows)
}

fn has_totals(nest: &Nest) -> bool {
    nest.folds().any(|fold| matches!(fold.target, Target::Total(_)))
}

/// Whether the elements of a target that belong to one step of an axis precede those of the next step. Those of the first
/// step are within the first `stride` elements of the memory.
pub(super) fn separable(view: &View, nest: &Nest, axis: usize) -> bool {
    let stride = &view.strides[axis];
    let mut inner = view.strides.iter().zip(&nest.extents).skip(axis + 1);
    let is_column =
        axis + 1 == nest.extents.len() && view.offset.add_literal(1).is_ok_and(|end| end.at_most(stride));
    *stride != Dim::ZERO
        && (view.offset == Dim::ZERO || is_column)
        && inner.all(|(inner, extent)| inner.mul(extent).is_ok_and(|reach| reach.at_most(stride)))
}

/// The cost of an element in additions. Numbers that are computed once per row are left out.
fn cost(nest: &Nest) -> usize {
    let nodes = nest.passes.iter().flat_map(|pass| &pass.elements);
    let computed = nodes.map(|node| node.op.row().cost.additions());
    computed.sum::<usize>().max(1)
}
