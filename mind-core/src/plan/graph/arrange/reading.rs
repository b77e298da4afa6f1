//! Analyses how the whole program reads values, before it is arranged.

use crate::{
    dim::Dim,
    ir::{Inst, Module, Op, Slice, ValueId},
    ops::{Motion, WorkClass, position},
    ty::Shape,
};

/// For each value, whether it is a product that is only read with the rows and columns of its matrices swapped. An
/// example is the gradient of an operand that a product had taken swapped. Products read either layout equally well, so
/// their operands keep their layout.
pub(super) fn read_transposed(module: &Module) -> Vec<bool> {
    let is_product = |inst: &Inst| matches!(inst.op, Op::Product(_));
    let count = module.insts().len();
    let [mut multiplied, mut transposed, mut others] = [(); 3].map(|()| vec![false; count]);
    module.outputs().iter().for_each(|output| others[output.index()] = true);
    for inst in module.insts().iter().filter(|inst| is_product(inst)) {
        inst.operands.iter().for_each(|operand| multiplied[operand.index()] = true);
    }
    for (value, inst) in module.iter() {
        for operand in inst.operands.iter() {
            let swapped = matrices_transposed(module.ty(*operand).rank());
            let is_swap = matches!(inst.op.motion(), Some(Motion::Axes(axes)) if axes[..] == swapped);
            let of = if is_swap && !multiplied[value.index()] { &mut transposed } else { &mut others };
            of[operand.index()] = true;
        }
    }
    let is_read_so = |(value, inst): (ValueId, &Inst)| {
        let is_matrix = is_product(inst) && module.ty(value).rank() >= 2;
        is_matrix && transposed[value.index()] && !others[value.index()]
    };
    module.iter().map(is_read_so).collect()
}

/// The axes of matrices with rows and columns swapped.
pub(super) fn matrices_transposed(rank: usize) -> Vec<i64> {
    let mut axes: Vec<i64> = (0..).take(rank).collect();
    if let [.., rows, columns] = &mut axes[..] {
        std::mem::swap(rows, columns);
    }
    axes
}

/// For each value, the value that a mask may read instead. `relu(z)` is above 0 where `z` is, so it replaces `z` if it
/// is in memory anyway and `z` need not be.
pub(super) fn masks(module: &Module) -> Vec<ValueId> {
    let count = module.insts().len();
    let mut masks: Vec<ValueId> = (0..count).map(ValueId::new).collect();
    let mut is_needed = vec![false; count];
    let mut is_stored = vec![false; count];
    let mut activation: Vec<Option<ValueId>> = vec![None; count];
    for output in module.outputs() {
        is_needed[output.index()] = true;
        is_stored[output.index()] = true;
    }
    for (value, inst) in module.iter() {
        let row = if let Op::Map(map) = inst.op { Some(map.row()) } else { None };
        let keeps_positive = row.is_some_and(|row| row.keeps_positive);
        if keeps_positive {
            activation[inst.operands[0].index()].get_or_insert(value);
        }
        for (position, operand) in inst.operands.iter().enumerate() {
            let is_mask = row.is_some_and(|row| row.mask == Some(position));
            is_needed[operand.index()] |= !(is_mask || keeps_positive);
            is_stored[operand.index()] |= match inst.op.info().class {
                WorkClass::Kernel | WorkClass::View | WorkClass::Module => true,
                WorkClass::Input | WorkClass::Constant | WorkClass::Elementwise | WorkClass::Reduction => {
                    false
                }
            };
        }
    }
    for (value, inst) in module.iter() {
        let Op::Map(map) = inst.op else { continue };
        let Some(mask) = map.row().mask else { continue };
        let z = inst.operands[mask];
        let is_computed = match module.inst(z).op.info().class {
            WorkClass::Elementwise | WorkClass::Reduction | WorkClass::Kernel => true,
            WorkClass::Input | WorkClass::Constant | WorkClass::View | WorkClass::Module => false,
        };
        if let Some(h) = activation[z.index()].filter(|h| *h < value)
            && is_computed
            && !is_needed[z.index()]
            && is_stored[h.index()]
        {
            masks[z.index()] = h;
        }
    }
    masks
}

/// For each value that is the first elements of a sort which nothing else reads, the sort. Its kernel then finds these
/// elements only.
pub(super) fn heads(module: &Module) -> Vec<Option<ValueId>> {
    let mut reads = vec![0; module.insts().len()];
    let operands = module.insts().iter().flat_map(|inst| inst.operands.iter());
    operands.chain(module.outputs()).for_each(|read| reads[read.index()] += 1);
    let sort_of = |inst: &Inst| {
        let Some(Motion::Taken(slice)) = inst.op.motion() else { return None };
        let sort = inst.operands[0];
        let Op::Reorder(reorder) = &module.inst(sort).op else { return None };
        let is_head = is_first_along(slice, position(reorder.compared_axis()?), &module.ty(sort).shape);
        (reads[sort.index()] == 1 && is_head).then_some(sort)
    };
    module.insts().iter().map(sort_of).collect()
}

/// Whether a slice is the first elements of a tensor along an axis.
fn is_first_along(slice: &Slice, axis: usize, shape: &Shape) -> bool {
    let is_whole = |at: usize| slice.ends[at] == shape[at] || at == axis;
    slice.starts.iter().all(|start| *start == Dim::ZERO)
        && slice.steps.iter().all(|step| *step == 1)
        && (0..shape.rank()).all(is_whole)
}
