//! Reductions of tensors that are equal along an axis.
//!
//! Derivatives broadcast before they compute and reduce: a mask of points and clusters, broadcast to every coordinate, is
//! scaled and summed over the points. This pass reduces one coordinate only, and broadcasts the result. Float sums
//! may be rounded differently, since their order depends on the extents.

use std::collections::BTreeMap;

use super::rewritten::{ModuleWriter, Rewritten};
use crate::{
    dim::Dim,
    ir::{Inst, Module, Op, ValueId},
    map::ShapeRule,
    ops::Motion,
    ty::Shape,
};

/// The module with narrower reductions, and for each of its values the value of `module` that it comes from. `None` if
/// no reduction can be narrowed.
pub(super) fn narrowed(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    let mut varies: Vec<Vec<bool>> = Vec::with_capacity(module.insts().len());
    for (_, inst) in module.iter() {
        varies.push(axes_that_vary(module, inst, &varies));
    }
    let is_narrower = |inst: &Inst| kept(module, inst, &varies).is_some();
    if !module.insts().iter().any(is_narrower) {
        return None;
    }
    Writer { rewritten: Rewritten::new(module), varies: &varies, narrow: BTreeMap::new() }.finish()
}

/// For each axis of the result of an instruction, whether its elements may differ along the axis.
fn axes_that_vary(module: &Module, inst: &Inst, known: &[Vec<bool>]) -> Vec<bool> {
    let is_elementwise = matches!(inst.op, Op::Map(_)) || matches!(inst.op.motion(), Some(Motion::Repeat));
    if !is_elementwise {
        return vec![true; inst.ty.rank()];
    }
    let mut varies = vec![false; inst.ty.rank()];
    for operand in inst.operands.iter() {
        let shape = &module.ty(*operand).shape;
        let axes = varies.iter_mut().rev().zip(shape.iter().rev()).zip(known[operand.index()].iter().rev());
        axes.for_each(|((varies, extent), differs)| *varies |= *differs && !extent.is_one());
    }
    varies
}

/// For each axis of the operand of a reduction, whether the operand keeps its extent there, if it can be narrower: if
/// its elements are equal along an axis that is not reduced.
fn kept(module: &Module, inst: &Inst, varies: &[Vec<bool>]) -> Option<Vec<bool>> {
    let Op::Reduce(_, reduction) = &inst.op else { return None };
    let operand = inst.operands[0];
    let shape = &module.ty(operand).shape;
    let reduced = reduction.positions(shape.rank());
    let is_kept =
        |axis: usize| reduced.contains(&axis) || varies[operand.index()][axis] || shape[axis].is_one();
    let kept: Vec<bool> = (0..shape.rank()).map(is_kept).collect();
    kept.contains(&false).then_some(kept)
}

/// Builds the module with narrower reductions.
struct Writer<'m> {
    rewritten: Rewritten<'m>,
    /// For each value of the module, the axes along which its elements differ.
    varies: &'m [Vec<bool>],
    /// The narrower forms of values, by the axes that they keep.
    narrow: BTreeMap<(ValueId, Vec<bool>), ValueId>,
}

impl<'m> ModuleWriter<'m> for Writer<'m> {
    fn rewritten(&mut self) -> &mut Rewritten<'m> {
        &mut self.rewritten
    }

    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        let made = match kept(self.rewritten.module, inst, self.varies) {
            Some(kept) => {
                let operand = self.narrow(inst.operands[0], &kept)?;
                let reduced = self.rewritten.push(inst.op.clone(), &[operand])?;
                self.rewritten.broadcast(reduced, &inst.ty.shape)?
            }
            None => self.copied(inst)?,
        };
        self.rewritten.wholes[value.index()] = Some(made);
        Some(())
    }
}

impl Writer<'_> {
    /// The value with extent 1 along the axes that are not kept, along which its elements are equal.
    fn narrow(&mut self, value: ValueId, kept: &[bool]) -> Option<ValueId> {
        let inst = self.rewritten.module.inst(value);
        let extents = inst.ty.shape.iter().zip(kept);
        let shape: Shape =
            extents.map(|(extent, kept)| if *kept { extent.clone() } else { Dim::ONE }).collect();
        if shape == inst.ty.shape {
            return self.whole(value);
        }
        if let Some(narrow) = self.narrow.get(&(value, kept.to_vec())) {
            return Some(*narrow);
        }
        let is_equal = matches!(&inst.op, Op::Map(map) if matches!(map.row().shapes, ShapeRule::Equal));
        let mut operands = Vec::new();
        for operand in inst.operands.iter() {
            let rank = self.rewritten.module.ty(*operand).rank();
            let operand = self.narrow(*operand, &kept[kept.len() - rank..])?;
            operands.push(if is_equal { self.rewritten.broadcast(operand, &shape)? } else { operand });
        }
        let narrow = match inst.op {
            Op::Map(_) => self.rewritten.push(inst.op.clone(), &operands)?,
            _ => operands[0],
        };
        let narrow = self.rewritten.broadcast(narrow, &shape)?;
        self.narrow.insert((value, kept.to_vec()), narrow);
        Some(narrow)
    }
}
