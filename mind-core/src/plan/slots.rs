//! Temporaries by liveness: which share memory.

use crate::plan::{Buffer, BufferId, Nest, Place, Slot, Step};

/// Gives every temporary a slot. Temporaries whose lifetimes do not meet share one, and the result of a loop takes the
/// place of an operand that the loop is the last to read, element by element.
pub(super) fn assign(buffers: &mut [Buffer], steps: &[Step]) -> Vec<Slot> {
    let mut last_use = vec![0; buffers.len()];
    for (position, step) in steps.iter().enumerate() {
        step.for_each_buffer(|buffer| last_use[buffer.0] = position);
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut slot_of: Vec<Option<usize>> = vec![None; buffers.len()];
    for (position, step) in steps.iter().enumerate() {
        let mut taken = None;
        step.for_each_write(|result| {
            if !is_temporary(&buffers[result.0]) {
                return;
            }
            let overwritten = reusable_operand(step, |operand| {
                is_temporary(&buffers[operand.0]) && last_use[operand.0] == position
            });
            let slot = match overwritten.and_then(|operand| slot_of[operand.0]) {
                Some(slot) => slot,
                None => take(&mut slots, &mut free, &buffers[result.0]),
            };
            taken = overwritten;
            slot_of[result.0] = Some(slot);
            buffers[result.0].place = Place::Slot(slot);
        });
        let mut ending = Vec::new();
        step.for_each_buffer(|buffer| {
            let dies = last_use[buffer.0] == position && Some(buffer) != taken;
            if dies
                && let Some(slot) = slot_of[buffer.0]
                && !ending.contains(&slot)
            {
                ending.push(slot);
            }
        });
        free.extend(ending);
    }
    slots
}

/// The place of a temporary before it has a slot.
pub(super) const UNASSIGNED: Place = Place::Slot(usize::MAX);

fn is_temporary(buffer: &Buffer) -> bool {
    matches!(buffer.place, Place::Slot(_))
}

/// An operand that the one result of a nest may overwrite as it goes: read at the very element that is stored.
fn reusable_operand(step: &Step, dies: impl Fn(BufferId) -> bool) -> Option<BufferId> {
    let Step::Nest(Nest { loads, passes, .. }) = step else { return None };
    let [pass] = &passes[..] else { return None };
    let ([store], []) = (&pass.stores[..], &pass.folds[..]) else { return None };
    let target = &store.target;
    let candidates = loads.iter().filter_map(|load| load.buffer()).filter(|operand| dies(*operand));
    let mut fitting = candidates.filter(|operand| {
        let mut reads = loads.iter().filter(|load| load.buffer() == Some(*operand));
        reads.all(|read| read.offset == target.offset && read.strides == target.strides)
    });
    fitting.next()
}

fn take(slots: &mut Vec<Slot>, free: &mut Vec<usize>, buffer: &Buffer) -> usize {
    let len = buffer.ty.shape.element_count().expect("a verified type has a countable number of elements");
    let dtype = buffer.ty.dtype;
    let of_type = |slot: &usize| slots[*slot].dtype == dtype;
    let fits = |slot: &usize| of_type(slot) && len.at_most(&slots[*slot].len);
    // The tightest slot that fits, else one that can grow to fit.
    let tightest = free.iter().copied().filter(fits).reduce(|best, slot| {
        if slots[slot].len != slots[best].len && slots[slot].len.at_most(&slots[best].len) {
            slot
        } else {
            best
        }
    });
    let growable = || free.iter().copied().find(|slot| of_type(slot) && slots[*slot].len.at_most(&len));
    match tightest.or_else(growable) {
        Some(slot) => {
            free.retain(|other| *other != slot);
            if !len.at_most(&slots[slot].len) {
                slots[slot].len = len;
            }
            slot
        }
        None => {
            slots.push(Slot { dtype, len });
            slots.len() - 1
        }
    }
}
