//! Columns of batches of short vectors.
//!
//! A function of vectors of three numbers that is batched computes on tensors of shape `[N, 3]`. Slices, joins and small
//! products along the short axis would each be a step of their own, over rows that do not fill a register. Such tensors
//! are therefore split into columns, which are vectors along the batch: slices and joins along the short axis then only
//! choose columns, and all operations between them are elementwise and run in one nest.
//!
//! A float sum of a row, or a product, may be rounded differently from the sum that it replaces. Both have the error of
//! a sum in pairs or better.

mod grid;
mod writer;

use std::{cell::Cell, ops::Range};

use crate::{
    dim::Dim,
    ir::{Arrange, Inst, Join, Module, Op, Part, Product, ValueId},
    ops::position,
    ty::Type,
};

use writer::Writer;

/// The most columns of a tensor.
const MOST_COLUMNS: usize = 32;
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
    let mut writer = Writer::new(module, &is_split);
    for (value, inst) in module.iter() {
        writer.write(value, inst)?;
    }
    writer.finish()
}

/// A batch of small tensors: the extent of the batch, and those of each tensor.
struct Batch<'t> {
    len: &'t Dim,
    shape: Vec<usize>,
}

impl<'t> Batch<'t> {
    /// The type as a batch of at most [`MOST_COLUMNS`] columns.
    fn of(ty: &'t Type) -> Option<Self> {
        let [len, shape @ ..] = &ty.shape[..] else { return None };
        let is_long = len.as_literal().is_none_or(|len| len >= LEAST_BATCH);
        let shape = small(shape)?;
        is_long.then_some(Self { len, shape })
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

/// How an operand of an operation on a batch is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    /// One small tensor of each batch element.
    Batched,
    /// The same small tensor for every batch element.
    Shared,
}

/// How an elementwise operand of this type is read if the result has `rank` axes and a batch of extent `len`.
fn read(operand: &Type, rank: usize, len: &Dim) -> Option<Read> {
    let (first, rest) = match operand.shape.split_first() {
        Some((first, rest)) if operand.rank() == rank => (Some(first), rest),
        Some(_) | None => (None, &operand.shape[..]),
    };
    small(rest)?;
    match first {
        Some(first) if first == len => Some(Read::Batched),
        Some(first) if !first.is_one() => None,
        Some(_) | None => Some(Read::Shared),
    }
}

/// How each operand is read by an instruction that can work on columns; `None` if it cannot.
fn reads(module: &Module, inst: &Inst) -> Option<Vec<Read>> {
    let ty = |at: usize| module.ty(inst.operands[at]);
    if let Op::Reduce(reduce, reduction) = &inst.op {
        let batch = Batch::of(ty(0))?;
        let over_batch = reduction.axes == [0] && !reduction.keepdims && !reduce.row().divides;
        let in_batch = !reduction.axes.is_empty() && !reduction.axes.contains(&0);
        return ((over_batch && !batch.shape.is_empty()) || in_batch).then(|| vec![Read::Batched]);
    }
    let batch = Batch::of(&inst.ty)?;
    let is_batched = |at: usize| Batch::of(ty(at)).is_some_and(|operand| operand.len == batch.len);
    match &inst.op {
        Op::Map(_) => {
            let all = inst.operands.iter();
            all.map(|operand| read(module.ty(*operand), inst.ty.rank(), batch.len)).collect()
        }
        Op::Arrange(Arrange::BroadcastTo { .. }) => Some(vec![read(ty(0), inst.ty.rank(), batch.len)?]),
        Op::Arrange(Arrange::Transpose { permutation }) => {
            (permutation[0] == 0 && is_batched(0)).then(|| vec![Read::Batched])
        }
        // The batch stays the first axis, since the other extents are known.
        Op::Arrange(Arrange::Reshape { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. }) => {
            let is_alike = Batch::of(ty(0)).is_some_and(|operand| operand.columns() == batch.columns());
            (is_alike && is_batched(0)).then(|| vec![Read::Batched])
        }
        Op::Part(Part::Slice(slice) | Part::SliceGrad { slice, .. }) => {
            let is_whole = slice.starts[0] == Dim::ZERO && slice.ends[0] == *batch.len && slice.steps[0] == 1;
            (is_whole && is_batched(0)).then(|| vec![Read::Batched])
        }
        Op::Join(Join::Concat { axis }) => {
            let all = (0..inst.operands.len()).all(is_batched);
            (*axis > 0 && all).then(|| vec![Read::Batched; inst.operands.len()])
        }
        Op::Product(Product::MatMul) => product_reads(ty(0), ty(1), batch.len),
        _ => None,
    }
}

/// How a product reads its operands: matrices of each batch element, or one row of each and a common matrix.
fn product_reads(lhs: &Type, rhs: &Type, len: &Dim) -> Option<Vec<Read>> {
    let all = Batch::of(lhs)?;
    let terms = match (lhs.rank(), rhs.rank()) {
        (2, 2) => small(&rhs.shape)?.iter().product::<usize>(),
        (3, 3) => all.shape[0] * Batch::of(rhs).filter(|rhs| rhs.len == len)?.columns(),
        _ => return None,
    };
    let rhs = if rhs.rank() == 2 { Read::Shared } else { Read::Batched };
    (all.len == len && terms <= MOST_COLUMNS).then(|| vec![Read::Batched, rhs])
}

/// Whether an instruction on rows would be a step of its own, though its parts are too narrow to be rows. `is_computed`
/// says whether the module computes a value in columns.
fn is_narrow(module: &Module, inst: &Inst, is_computed: impl Fn(ValueId) -> bool) -> bool {
    let columns = |ty: &Type| Batch::of(ty).map_or(usize::MAX, |batch| batch.columns());
    let all_narrow = || inst.operands.iter().all(|operand| columns(module.ty(*operand)) <= NARROW);
    match &inst.op {
        Op::Part(Part::Slice(_)) => {
            let (whole, part) = (columns(module.ty(inst.operands[0])), columns(&inst.ty));
            is_computed(inst.operands[0]) && part < whole && part <= NARROW
        }
        Op::Part(Part::SliceGrad { .. }) | Op::Join(_) => all_narrow(),
        Op::Product(_) => inst.ty.rank() == 3 && all_narrow(),
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
            let batched = inst.operands.iter().zip(reads).filter(|(_, read)| *read == Read::Batched);
            batched.for_each(|(operand, _)| groups.unite(operand.index(), value.index()));
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
