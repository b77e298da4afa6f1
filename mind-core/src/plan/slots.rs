//! Temporaries by liveness: which share memory.

use crate::plan::{Buffer, BufferId, Place, Slot, Step, order::may_overwrite};

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
        let mut taken: Vec<BufferId> = Vec::new();
        step.for_each_write(|result| {
            if !is_temporary(&buffers[result.0]) {
                return;
            }
            let mut overwritten = None;
            step.for_each_read(|operand| {
                let known = &buffers[operand.0];
                let fits = is_temporary(known)
                    && known.ty.dtype == buffers[result.0].ty.dtype
                    && last_use[operand.0] == position
                    && !taken.contains(&operand)
                    && may_overwrite(step, result, operand);
                if fits {
                    overwritten.get_or_insert(operand);
                }
            });
            let slot = match overwritten.and_then(|operand| slot_of[operand.0]) {
                Some(slot) => slot,
                None => take(&mut slots, &mut free, &buffers[result.0]),
            };
            taken.extend(overwritten);
            slot_of[result.0] = Some(slot);
            buffers[result.0].place = Place::Slot(slot);
        });
        let mut ending = Vec::new();
        step.for_each_buffer(|buffer| {
            let dies = last_use[buffer.0] == position && !taken.contains(&buffer);
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
