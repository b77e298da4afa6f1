//! Joins tensors without copies: a step writes its result directly to the part of a joined tensor that it becomes.
//!
//! This is possible where the parts of the joined tensor are contiguous, so along the first axis that has several
//! elements. Operands that are not computed for the joined tensor alone, such as inputs, are copied by a nest.

use crate::{
    dim::Dim,
    ir::{Join, Op},
    plan::{
        Buffer, BufferId, KernelCall, KernelOperand, Location, Nest, Operand, Pass, Step, Store, View, arena,
    },
    ty::{Shape, Type},
};

/// Replaces steps that join tensors. `kept` are buffers that are read after all steps.
pub(super) fn write_parts(buffers: &mut Vec<Buffer>, steps: Vec<Step>, kept: &[BufferId]) -> Vec<Step> {
    let mut uses = Uses::of(buffers.len(), &steps, kept);
    let mut all = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Call(call) => match parts(buffers, &mut uses, &call) {
                Some(copies) => all.extend(copies),
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
    /// Whether it has parts that are buffers.
    has_parts: Vec<bool>,
}

impl Uses {
    fn of(count: usize, steps: &[Step], kept: &[BufferId]) -> Self {
        let (mut reads, mut writes) = (vec![0; count], vec![0; count]);
        let mut is_written_once = vec![false; count];
        for step in steps {
            step.for_each_read(|buffer| reads[buffer.0] += 1);
            let once = matches!(step, Step::Nest(_) | Step::MatMul(_) | Step::Conv2d(_));
            step.for_each_write(|buffer| {
                writes[buffer.0] += 1;
                is_written_once[buffer.0] = once && writes[buffer.0] == 1;
            });
        }
        kept.iter().for_each(|buffer| reads[buffer.0] += 1);
        Self { reads, is_written_once, has_parts: vec![false; count] }
    }

    /// Adds the buffers that copies write, up to `count` buffers in all. No step reads them.
    fn grow(&mut self, count: usize) {
        self.reads.resize(count, 0);
        self.is_written_once.resize(count, false);
        self.has_parts.resize(count, false);
    }
}

/// Makes the operands of a step that joins tensors parts of its result. Returns the steps that copy the other operands;
/// `None` if the step has to stay.
fn parts(buffers: &mut Vec<Buffer>, uses: &mut Uses, call: &KernelCall) -> Option<Vec<Step>> {
    let Op::Join(Join::Concat { axis }) = &call.op else { return None };
    let axis = usize::try_from(*axis).expect("a verified axis");
    let whole = call.result;
    let is_own = matches!(buffers[whole.0].place, Location::Arena { .. } | Location::Result(_));
    if !is_own || call.ty.shape.iter().take(axis).any(|extent| !extent.is_one()) {
        return None;
    }
    let operands: Vec<(BufferId, Type)> = call
        .operands
        .iter()
        .map(|operand| match operand {
            KernelOperand::Tensor(buffer, ty) => Some((*buffer, ty.clone())),
            KernelOperand::Scalar(..) => None,
        })
        .collect::<Option<_>>()?;
    let becomes_part = |buffer: BufferId| {
        buffers[buffer.0].place == arena::UNASSIGNED
            && uses.reads[buffer.0] == 1
            && uses.is_written_once[buffer.0]
            && !uses.has_parts[buffer.0]
    };
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
            let value = buffers[buffer.0].value;
            buffers.push(Buffer { place, ty, value });
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
