//! Joins tensors without copies: a step writes its result directly to the part of a joined tensor that it becomes.
//!
//! This is possible where the parts of the joined tensor are contiguous, so along the first axis that has several
//! elements. Operands that are not computed for the joined tensor alone, such as inputs, are copied by a nest.
//!
//! Along another axis, nests can store columns of the joined tensor. They store to the joined tensor if they compute all
//! of its columns.

use crate::{
    dim::Dim,
    ir::{Join, Op},
    plan::{
        Buffer, BufferId, KernelCall, KernelOperand, Location, Nest, Operand, Pass, Step, Store, View, arena,
        order,
    },
    ty::{Shape, Type},
};

/// Replaces steps that join tensors. `kept` are buffers that are read after all steps.
pub(super) fn write_parts(buffers: &mut Vec<Buffer>, steps: Vec<Step>, kept: &[BufferId]) -> Vec<Step> {
    let mut uses = Uses::of(buffers, &steps, kept);
    let mut all = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Call(call) => match parts(buffers, &mut uses, &call) {
                Some(copies) => all.extend(copies),
                None if stores_columns(buffers, &mut uses, &mut all, &call) => {}
                None => all.push(Step::Call(call)),
            },
            Step::Scalar(_)
            | Step::Load { .. }
            | Step::Nest(_)
            | Step::MatMul(_)
            | Step::Dot { .. }
            | Step::Check { .. }
            | Step::Loop(_)
            | Step::Conv2d(_)
            | Step::Watch { .. }
            | Step::Strips(_)
            | Step::Update { .. }
            | Step::UpdateScalar { .. } => all.push(step),
        }
    }
    all
}

/// The uses of each buffer.
struct Uses {
    /// The number of operands that read it.
    reads: Vec<usize>,
    /// Whether one step writes it, a nest or a product, which writes each element once.
    is_written_once: Vec<bool>,
    /// Whether a step that precedes a check writes it, which must not write results.
    is_before_check: Vec<bool>,
    /// Whether it has parts that are buffers.
    has_parts: Vec<bool>,
}

impl Uses {
    fn of(buffers: &[Buffer], steps: &[Step], kept: &[BufferId]) -> Self {
        let count = buffers.len();
        let (mut reads, mut writes) = (vec![0; count], vec![0; count]);
        let (mut is_written_once, mut is_before_check) = (vec![false; count], vec![false; count]);
        let early = order::before_checks(steps, buffers);
        for (position, step) in steps.iter().enumerate() {
            step.for_each_write(|buffer| is_before_check[buffer.0] |= early.contains(&position));
            step.for_each_read(|buffer| reads[buffer.0] += 1);
            let once = matches!(step, Step::Nest(_) | Step::MatMul(_) | Step::Conv2d(_));
            step.for_each_write(|buffer| {
                writes[buffer.0] += 1;
                is_written_once[buffer.0] = once && writes[buffer.0] == 1;
            });
        }
        kept.iter().for_each(|buffer| reads[buffer.0] += 1);
        Self { reads, is_written_once, is_before_check, has_parts: vec![false; count] }
    }

    /// Whether a buffer is a temporary that one step writes once, that is read `reads` times, and that may be written as
    /// a part of `whole`.
    fn is_part(&self, buffers: &[Buffer], buffer: BufferId, reads: usize, whole: BufferId) -> bool {
        let is_seen = matches!(buffers[whole.0].place, Location::Result(_));
        buffers[buffer.0].place == arena::UNASSIGNED
            && !(is_seen && self.is_before_check[buffer.0])
            && self.reads[buffer.0] == reads
            && self.is_written_once[buffer.0]
            && !self.has_parts[buffer.0]
    }

    /// Adds the buffers that copies write, up to `count` buffers in all. No step reads them.
    fn grow(&mut self, count: usize) {
        self.reads.resize(count, 0);
        self.is_written_once.resize(count, false);
        self.is_before_check.resize(count, false);
        self.has_parts.resize(count, false);
    }
}

/// A step that joins tensors.
struct Joined {
    axis: usize,
    whole: BufferId,
    operands: Vec<(BufferId, Type)>,
}

impl Joined {
    /// `None` if the step does something else, or if its result is not memory of its own.
    fn of(buffers: &[Buffer], call: &KernelCall) -> Option<Self> {
        let Op::Join(Join::Concat { axis }) = &call.op else { return None };
        let axis = usize::try_from(*axis).expect("a verified axis");
        let operands = call.operands.iter().map(|operand| match operand {
            KernelOperand::Tensor(buffer, ty) => Some((*buffer, ty.clone())),
            KernelOperand::Scalar(..) => None,
        });
        let operands = operands.collect::<Option<_>>()?;
        let is_own = matches!(buffers[call.result.0].place, Location::Arena { .. } | Location::Result(_));
        is_own.then_some(Self { axis, whole: call.result, operands })
    }
}

/// Lets nests store the columns of a joined tensor. Returns whether they do.
fn stores_columns(buffers: &[Buffer], uses: &mut Uses, steps: &mut [Step], call: &KernelCall) -> bool {
    let Some(stored) =
        Joined::of(buffers, call).and_then(|joined| columns(buffers, uses, steps, &joined, &call.ty))
    else {
        return false;
    };
    uses.has_parts[call.result.0] = true;
    for (at, column, targets) in stored {
        let Step::Nest(nest) = &mut steps[at] else { unreachable!("nests store the columns") };
        for pass in &mut nest.passes {
            let stores = std::mem::take(&mut pass.stores).into_iter();
            pass.stores = stores
                .flat_map(|store| {
                    let is_column = store.target.buffer() == Some(column);
                    let copies = targets
                        .iter()
                        .filter(|_| is_column)
                        .map(|target| Store { target: target.clone(), operand: store.operand.clone() });
                    let copies: Vec<Store> = copies.collect();
                    if is_column { copies } else { vec![store] }
                })
                .collect();
        }
    }
    true
}

/// For each buffer that is joined, the position of the nest that stores it, and its views of the joined tensor. `None` if
/// some buffer is not stored as columns by one nest.
fn columns(
    buffers: &[Buffer],
    uses: &Uses,
    steps: &[Step],
    joined: &Joined,
    ty: &Type,
) -> Option<Vec<(usize, BufferId, Vec<View>)>> {
    let mut stored: Vec<(usize, BufferId, Vec<View>)> = Vec::new();
    let below = |shape: &Shape| {
        shape[joined.axis..].iter().try_fold(Dim::ONE, |count, extent| count.mul(extent).ok())
    };
    let width = below(&ty.shape)?;
    let mut from = Dim::ZERO;
    for (buffer, part) in &joined.operands {
        let part = below(&part.shape)?;
        let occurrences = joined.operands.iter().filter(|(other, _)| other == buffer).count();
        if !uses.is_part(buffers, *buffer, occurrences, joined.whole) {
            return None;
        }
        let (at, store) = steps.iter().enumerate().find_map(|(at, step)| {
            let Step::Nest(nest) = step else { return None };
            let mut stores = nest.passes.iter().flat_map(|pass| &pass.stores);
            Some((at, &stores.find(|store| store.target.buffer() == Some(*buffer))?.target))
        })?;
        let view = column(store, joined.whole, &part, &width, &from)?;
        match stored.iter_mut().find(|(_, known, _)| known == buffer) {
            Some((_, _, views)) => views.push(view),
            None => stored.push((at, *buffer, vec![view])),
        }
        from = from.add(&part).ok()?;
    }
    Some(stored)
}

/// The view of rows of `width` elements that corresponds to a view of rows of `part` elements, which are those from the
/// element `from` on. `None` if the last axis does not move from row to row.
fn column(view: &View, whole: BufferId, part: &Dim, width: &Dim, from: &Dim) -> Option<View> {
    let mut strides = Vec::with_capacity(view.strides.len());
    for (stride, extent) in view.strides.iter().zip(view.shape.iter()) {
        let stays = *stride == Dim::ZERO || stride.mul(extent).is_ok_and(|reach| reach.at_most(part));
        strides.push(match stays {
            true => stride.clone(),
            false => stride.exact_div(part).ok()??.mul(width).ok()?,
        });
    }
    let moves = |stride: &Dim| *stride != Dim::ZERO && !stride.is_one();
    let is_column = view.offset == Dim::ZERO && strides.last().is_some_and(moves);
    is_column.then(|| View { offset: from.clone(), strides, ..view.of(whole) })
}

/// Makes the operands of a step that joins tensors parts of its result. Returns the steps that copy the other operands;
/// `None` if the step has to stay.
fn parts(buffers: &mut Vec<Buffer>, uses: &mut Uses, call: &KernelCall) -> Option<Vec<Step>> {
    let Joined { axis, whole, operands } = Joined::of(buffers, call)?;
    if call.ty.shape.iter().take(axis).any(|extent| !extent.is_one()) {
        return None;
    }
    let becomes_part = |buffer: BufferId| uses.is_part(buffers, buffer, 1, whole);
    if !operands.iter().any(|(buffer, _)| becomes_part(*buffer)) {
        return None;
    }
    let counts =
        operands.iter().map(|(_, ty)| ty.shape.element_count().ok()).collect::<Option<Vec<Dim>>>()?;
    let ends = counts.iter().scan(Dim::ZERO, |end, count| {
        *end = end.add(count).ok()?;
        Some(end.clone())
    });
    let ends: Vec<Dim> = ends.collect();
    if ends.len() != counts.len() {
        return None;
    }
    let are_parts: Vec<bool> = operands.iter().map(|(buffer, _)| becomes_part(*buffer)).collect();
    uses.has_parts[whole.0] = true;
    let mut copies = Vec::new();
    for (position, (buffer, ty)) in operands.into_iter().enumerate() {
        let from = position.checked_sub(1).map_or(Dim::ZERO, |before| ends[before].clone());
        let place = Location::Part { of: whole, from };
        if are_parts[position] {
            buffers[buffer.0].place = place;
        } else {
            buffers.push(Buffer { place, ty, ..buffers[buffer.0].clone() });
            copies.push(Step::Nest(copy(buffer, BufferId(buffers.len() - 1), counts[position].clone())));
        }
    }
    uses.grow(buffers.len());
    Some(copies)
}

/// A nest that copies `count` elements.
fn copy(from: BufferId, to: BufferId, count: Dim) -> Nest {
    let shape = Shape::new(vec![count.clone()]);
    let [load, target] = [from, to].map(|buffer| View::contiguous(buffer, &shape));
    let pass = Pass { stores: vec![Store { operand: Operand::Load(0), target }], ..Pass::default() };
    Nest { extents: vec![count], row_axes: 0, loads: vec![load], passes: vec![pass] }
}
