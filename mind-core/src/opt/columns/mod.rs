//! Columns of batches of short vectors.
//!
//! A function of vectors of three numbers that is batched computes on tensors of shape `[N, 3]`. Slices, joins and small
//! products along the short axis would each be a step of their own, over rows that do not fill a register. Such tensors
//! are therefore split into columns, which are tensors over the batch: slices and joins along the short axis then only
//! choose columns, and all operations between them are elementwise and run in one nest. A batch may have several axes, as
//! the pixels of an image do.
//!
//! A float sum of a row, or a product, may be rounded differently from the sum that it replaces. Both have the error of
//! a sum in pairs or better.

mod grid;
mod writer;

use std::{cell::Cell, ops::Range};

use crate::{
    dim::Dim,
    ir::{Inst, Join, Module, Op, ValueId},
    ops::{Motion, position},
    ty::Type,
};

use super::rewritten::ModuleWriter;
use writer::Writer;

/// The most columns of a tensor.
const MOST_COLUMNS: usize = 32;
/// The most products of two elements in a product of small matrices: those of transformations in four coordinates.
const MOST_TERMS: usize = 64;
/// The most elements of a part that is too narrow to be a row. Longer parts fill registers.
const NARROW: usize = 4;
/// The least known extent of a batch, and the least that a batch of unknown extent is expected to have.
const LEAST_BATCH: i64 = 16;
/// The most columns that all values of a module have in total, which bounds the size of the new module.
const MOST_IN_ALL: usize = 4096;

/// The module with short vectors in columns, and for each of its values the value of `module` that it comes from. `None`
/// if nothing is gained.
pub(super) fn split(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    let groups = Groups::of(module);
    let is_split: Vec<bool> = (0..module.insts().len()).map(|at| groups.is_split(at)).collect();
    if !is_split.contains(&true) {
        return None;
    }
    Writer::new(module, &is_split).finish()
}

/// A type as a batch of small tensors: its axes in front are those of the batch, the others those of each tensor.
struct Batch<'t> {
    axes: &'t [Dim],
    /// The extents of each tensor.
    shape: Vec<usize>,
}

impl<'t> Batch<'t> {
    /// The type as a batch of tensors of at most [`MOST_COLUMNS`] elements, as large as possible.
    fn of(ty: &'t Type) -> Option<Self> {
        let (count, shape) = (1..=ty.rank()).find_map(|count| Some((count, small(&ty.shape[count..])?)))?;
        let axes = &ty.shape[..count];
        let len = axes.iter().try_fold(1_i64, |len, extent| len.checked_mul(extent.as_literal()?));
        len.is_none_or(|len| len >= LEAST_BATCH).then_some(Self { axes, shape })
    }

    fn columns(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The extents, if all are known and there are from 1 to [`MOST_COLUMNS`] elements.
fn small(shape: &[Dim]) -> Option<Vec<usize>> {
    let shape: Vec<usize> =
        shape.iter().map(|extent| usize::try_from(extent.as_literal()?).ok()).collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))?;
    (1..=MOST_COLUMNS).contains(&count).then_some(shape)
}

/// For each operand of an instruction that can work on columns, the number of its last axes that are those of small
/// tensors. The axes before them broadcast to those of the batch. `None` if the instruction cannot.
fn reads(module: &Module, inst: &Inst) -> Option<Vec<usize>> {
    let ty = |at: usize| module.ty(inst.operands[at]);
    if let Op::Reduce(reduce, reduction) = &inst.op {
        let batch = Batch::of(ty(0))?;
        let count = batch.axes.len();
        let positions = reduction.positions(ty(0).rank());
        let over_batch =
            positions.iter().copied().eq(0..count) && !reduction.keepdims && !reduce.row().divides;
        let in_batch = positions.iter().all(|axis| *axis >= count)
            && Batch::of(&inst.ty).is_some_and(|result| result.axes == batch.axes);
        return ((over_batch && !batch.shape.is_empty()) || in_batch).then(|| vec![batch.shape.len()]);
    }
    let batch = Batch::of(&inst.ty)?;
    let (count, rank) = (batch.axes.len(), batch.shape.len());
    // An operand with the same batch, of small tensors of any shape.
    let alike = |at: usize| Batch::of(ty(at)).filter(|operand| operand.axes == batch.axes);
    let alone = |operand: Batch<'_>| Some(vec![operand.shape.len()]);
    let broadcast = || {
        let of = |operand: &ValueId| {
            let shape = &module.ty(*operand).shape;
            let own = rank.min(shape.rank());
            small(&shape[shape.rank() - own..]).map(|_| own)
        };
        inst.operands.iter().map(of).collect()
    };
    match (inst.op.motion(), &inst.op) {
        (Some(Motion::Repeat), _) | (None, Op::Map(_)) => broadcast(),
        (Some(Motion::Axes(permutation)), _) => {
            let stay = permutation.iter().take(count).enumerate().all(|(to, from)| to as i64 == *from);
            alike(0).filter(|_| stay).and_then(alone)
        }
        // The axes of the batch may change too. The columns then have the new ones.
        (Some(Motion::Order), _) => {
            Batch::of(ty(0)).filter(|operand| operand.columns() == batch.columns()).and_then(alone)
        }
        (Some(Motion::Taken(slice) | Motion::Put(slice)), _) => {
            let mut bounds = slice.starts.iter().zip(&slice.ends).zip(&slice.steps).zip(batch.axes);
            let is_whole = bounds
                .all(|(((start, end), step), extent)| *start == Dim::ZERO && end == extent && *step == 1);
            alike(0).filter(|_| is_whole).and_then(alone)
        }
        (None, Op::Join(Join::Concat { axis })) => {
            let of = |at: usize| alike(at).map(|operand| operand.shape.len());
            (position(*axis) >= count).then(|| (0..inst.operands.len()).map(of).collect())?
        }
        // Of the axes of a product, all but the last two, or all but the last one, are those of the batch.
        (None, Op::Product(_)) if (1..=2).contains(&rank) && (0..2).all(|at| ty(at).rank() > 1) => {
            let own = |at: usize, own: usize| small(&ty(at).shape[ty(at).rank() - own..]);
            let rows = own(0, rank)?.iter().rev().skip(1).product::<usize>();
            let terms = rows * own(1, 2)?.iter().product::<usize>();
            (terms <= MOST_TERMS).then(|| vec![rank, 2])
        }
        _ => None,
    }
}

/// Whether an instruction on rows would be a step of its own, though its parts are too narrow to be rows. `is_computed`
/// says whether the module computes a value in columns.
fn is_narrow(module: &Module, inst: &Inst, is_computed: impl Fn(ValueId) -> bool) -> bool {
    let columns = |ty: &Type| Batch::of(ty).map_or(usize::MAX, |batch| batch.columns());
    let all_narrow = || inst.operands.iter().all(|operand| columns(module.ty(*operand)) <= NARROW);
    match (inst.op.motion(), &inst.op) {
        (Some(Motion::Taken(_)), _) => {
            let (whole, part) = (columns(module.ty(inst.operands[0])), columns(&inst.ty));
            is_computed(inst.operands[0]) && part < whole && part <= NARROW
        }
        (Some(Motion::Put(_)), _) | (None, Op::Join(_)) => all_narrow(),
        (None, Op::Product(_)) => Batch::of(&inst.ty).is_some_and(|batch| batch.shape.len() > 1),
        _ => false,
    }
}

/// The values of a module in groups: operations on columns with the values that they read and compute. A group is split
/// as a whole.
struct Groups {
    /// Another member of the group; the group's representative is its own.
    parents: Vec<Cell<usize>>,
    /// For each value, whether an operation on columns computes it.
    is_computed: Vec<bool>,
    /// For the representative of each group, whether some operation in it gains by columns.
    gains: Vec<bool>,
}

impl Groups {
    fn of(module: &Module) -> Self {
        let count = module.insts().len();
        let mut groups = Self {
            parents: (0..count).map(Cell::new).collect(),
            is_computed: vec![false; count],
            gains: vec![false; count],
        };
        let mut columns = 0;
        for (value, inst) in module.iter() {
            let Some(reads) = reads(module, inst) else { continue };
            columns += Batch::of(&inst.ty).map_or(1, |batch| batch.columns());
            groups.is_computed[value.index()] = true;
            for (operand, own) in inst.operands.iter().zip(reads) {
                // Another operand is read whole.
                if Batch::of(module.ty(*operand)).is_some_and(|batch| batch.shape.len() == own) {
                    groups.unite(operand.index(), value.index());
                }
            }
        }
        for (value, inst) in module.iter().filter(|_| columns <= MOST_IN_ALL) {
            let is_computed = |value: ValueId| groups.is_computed[value.index()];
            if is_computed(value) && is_narrow(module, inst, is_computed) {
                let group = groups.representative(value.index());
                groups.gains[group] = true;
            }
        }
        groups
    }

    /// Whether the value at this position is computed in columns.
    fn is_split(&self, at: usize) -> bool {
        self.is_computed[at] && self.gains[self.representative(at)]
    }

    fn unite(&self, a: usize, b: usize) {
        self.parents[self.representative(a)].set(self.representative(b));
    }

    fn representative(&self, of: usize) -> usize {
        let mut at = of;
        while self.parents[at].get() != at {
            // Paths are halved on the way.
            self.parents[at].set(self.parents[self.parents[at].get()].get());
            at = self.parents[at].get();
        }
        at
    }
}

/// The known positions that a slice takes along an axis.
fn taken(start: &Dim, end: &Dim, step: i64) -> Option<std::iter::StepBy<Range<usize>>> {
    let [start, end] = [start, end].map(|dim| dim.as_literal().map(position));
    Some((start?..end?).step_by(position(step)))
}
