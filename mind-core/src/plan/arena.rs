//! Memory for temporaries: one arena per element type, and an offset in it for each buffer, by liveness.
//!
//! Buffers of known size are placed greedily, the largest first, each into the tightest gap between the buffers that
//! live at the same time (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Sizes
//! that depend on symbols cannot all be compared. Buffers of such sizes follow in slots. Buffers share a slot if their
//! lifetimes do not overlap and their sizes provably fit. If all these sizes are multiples of one product of symbols,
//! they are placed as known sizes are, where that takes less memory than slots.

use std::collections::BTreeMap;

use crate::{
    dim::{Bindings, Dim, DimResult, Term},
    plan::{
        ALIGNMENT, Arena, Buffer, BufferId, Location, Plan, Step, Strips,
        order::{may_overwrite, whole},
    },
    ty::DType,
};

/// If an arena has more allocations than this, known sizes are treated as unknown, which takes less time.
const MOST: usize = 1500;

/// The place of a temporary before it has an offset.
pub(super) const UNASSIGNED: Location = Location::Arena { offset: Dim::ZERO };

/// Assigns an offset to every temporary.
///
/// Temporaries that live at the same time do not overlap, with one exception. A result of a step may take the memory of
/// an operand that the step is the last to read, if the step reads each element before it stores that element.
pub(super) fn assign(buffers: &mut [Buffer], steps: &[Step]) -> Vec<Arena> {
    let allocations = allocations(&with_longest_strips(buffers, steps), steps);
    let mut arenas = Vec::new();
    for dtype in DType::ALL {
        let of_type: Vec<&Allocation> =
            allocations.iter().filter(|allocation| allocation.dtype == dtype).collect();
        if of_type.is_empty() {
            continue;
        }
        let (known, unknown): (Vec<&Allocation>, Vec<&Allocation>) = of_type
            .iter()
            .partition(|allocation| of_type.len() <= MOST && allocation.size.len.as_literal().is_some());
        let sizes = known
            .iter()
            .map(|allocation: &&Allocation| allocation.size.len.as_literal().expect("its size is known"));
        let (offsets, end) = in_gaps(&known, &sizes.collect::<Vec<_>>());
        let mut places: Vec<Dim> = offsets.into_iter().map(Dim::literal).collect();
        let (more, len) = of_unknown_size(&unknown, dtype, Dim::literal(end));
        places.extend(more);
        for (allocation, offset) in known.iter().chain(&unknown).zip(places) {
            for buffer in &allocation.buffers {
                buffers[buffer.0].place = Location::Arena { offset: offset.clone() };
            }
        }
        arenas.push(Arena { dtype, len });
    }
    arenas
}

/// The most bytes of temporaries that live at the same time, those of loops included. No plan with these steps can need
/// fewer. Also returns the buffers outside of loops that live then, with their bytes, the largest first. `None` if the
/// extents of `bindings` do not determine a size.
pub(super) fn live_at_peak<'p>(plan: &'p Plan, bindings: &Bindings) -> Option<(u64, Vec<(u64, &'p Buffer)>)> {
    let allocations = allocations(&with_longest_strips(&plan.buffers, &plan.steps), &plan.steps);
    let mut sizes = Vec::with_capacity(allocations.len());
    for allocation in &allocations {
        let len = allocation.size.len.substitute(bindings).ok()?.as_literal()?;
        sizes.push(u64::try_from(len).ok()?.checked_mul(allocation.dtype.bytes() as u64)?);
    }
    let mut in_loops = BTreeMap::new();
    for turn in ScheduledStep::of(&plan.steps) {
        if let Step::Loop(of) = turn.step {
            in_loops.insert(turn.position, live_at_peak(&of.body, bindings)?.0);
        }
    }
    let living = |at: usize| {
        let lives = move |(life, _): &(&Allocation, &u64)| (life.life.0..=life.life.1).contains(&at);
        allocations.iter().zip(&sizes).filter(lives)
    };
    let bytes = |at: usize| {
        let in_loop = in_loops.get(&at).copied().unwrap_or(0);
        living(at).map(|(_, bytes)| *bytes).fold(in_loop, u64::saturating_add)
    };
    // The peak is where an allocation begins, or in a loop.
    let starts = allocations.iter().map(|allocation| allocation.life.0).chain(in_loops.keys().copied());
    let at = starts.rev().max_by_key(|at| bytes(*at)).unwrap_or(0);
    let mut largest: Vec<(u64, &Buffer)> = living(at)
        .filter_map(|(allocation, bytes)| Some((*bytes, &plan.buffers[allocation.buffers.last()?.0])))
        .collect();
    largest.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    Some((bytes(at), largest))
}

/// The buffers, of which one that holds a strip of rows is as large as the longest strip.
fn with_longest_strips(buffers: &[Buffer], steps: &[Step]) -> Vec<Buffer> {
    let mut longest = buffers.to_vec();
    for step in steps {
        if let Some(strips) = step.strips() {
            let symbols = strips.longest();
            for local in &strips.local {
                let shape = &mut longest[local.0].ty.shape;
                let extents =
                    shape.iter().map(|dim| dim.substitute(&symbols).unwrap_or_else(|_| dim.clone()));
                *shape = extents.collect();
            }
        }
    }
    longest
}

/// The size of an allocation in elements.
#[derive(Clone, PartialEq)]
struct Size {
    /// The elements in use.
    count: Dim,
    /// The elements in use, rounded up to the alignment.
    len: Dim,
}

impl Size {
    fn of(buffer: &Buffer) -> Self {
        let unit = (ALIGNMENT / buffer.ty.dtype.bytes()) as i64;
        let count = buffer.ty.shape.element_count();
        let len = count.clone().and_then(|count| count.ceil_div(unit)?.mul(&Dim::literal(unit)));
        Self { count: or_too_many(count), len: or_too_many(len) }
    }

    /// Whether it is provably no larger than another. Counts are compared too, since rounded sizes are not polynomials.
    fn at_most(&self, other: &Self) -> bool {
        self.count.at_most(&other.count) || self.len.at_most(&other.len)
    }
}

/// Buffers that share memory, one after the other.
struct Allocation {
    dtype: DType,
    size: Size,
    buffers: Vec<BufferId>,
    /// The first and the last step that use it.
    life: (usize, usize),
}

impl Allocation {
    fn overlaps(&self, other: &Self) -> bool {
        self.life.0 <= other.life.1 && other.life.0 <= self.life.1
    }
}

/// A step, or a step of strips, with the positions at which its buffers must live. A buffer that is not local to the
/// strips lives from the first to the last of their steps (`all`).
struct ScheduledStep<'s> {
    step: &'s Step,
    strips: Option<&'s Strips>,
    position: usize,
    all: (usize, usize),
}

impl<'s> ScheduledStep<'s> {
    fn of(steps: &'s [Step]) -> Vec<Self> {
        let mut turns: Vec<Self> = Vec::with_capacity(steps.len());
        for step in steps {
            let first = turns.len();
            match step.strips() {
                Some(strips) => {
                    let all = (first, first + strips.steps.len() - 1);
                    let inner = strips.steps.iter().enumerate();
                    turns.extend(inner.map(|(place, step)| Self {
                        step,
                        strips: Some(strips),
                        position: first + place,
                        all,
                    }));
                }
                None => turns.push(Self { step, strips: None, position: first, all: (first, first) }),
            }
        }
        turns
    }

    fn whole(&self, buffers: &[Buffer], buffer: BufferId) -> BufferId {
        whole(buffers, self.strips.map_or(buffer, |strips| strips.whole(buffer)))
    }

    /// The first and the last position at which a buffer of the step must live.
    fn live_range(&self, buffer: BufferId) -> (usize, usize) {
        let is_own = self.strips.is_none_or(|strips| strips.local.contains(&buffer));
        if is_own { (self.position, self.position) } else { self.all }
    }
}

fn allocations(buffers: &[Buffer], steps: &[Step]) -> Vec<Allocation> {
    let is_temporary = |buffer: BufferId| matches!(buffers[buffer.0].place, Location::Arena { .. });
    let turns = ScheduledStep::of(steps);
    let mut last_use = vec![0; buffers.len()];
    for turn in &turns {
        turn.step.for_each_buffer(|buffer| {
            let buffer = turn.whole(buffers, buffer);
            last_use[buffer.0] = last_use[buffer.0].max(turn.live_range(buffer).1);
        });
    }
    let mut allocations: Vec<Allocation> = Vec::new();
    let mut tenant_of: Vec<Option<usize>> = vec![None; buffers.len()];
    for turn in &turns {
        let (step, position) = (turn.step, turn.position);
        // A result must not take the memory of another result of the same step.
        let mut taken: Vec<BufferId> = Vec::new();
        step.for_each_write(|result| taken.push(turn.whole(buffers, result)));
        step.for_each_write(|result| {
            let result = turn.whole(buffers, result);
            if !is_temporary(result) || tenant_of[result.0].is_some() {
                return;
            }
            let mut overwritten = None;
            step.for_each_read(|operand| {
                let fits = is_temporary(operand)
                    && buffers[operand.0].ty.dtype == buffers[result.0].ty.dtype
                    && Size::of(&buffers[operand.0]).len == Size::of(&buffers[result.0]).len
                    && last_use[operand.0] == position
                    && [operand, result]
                        .iter()
                        .all(|buffer| turn.live_range(*buffer) == (position, position))
                    && !taken.contains(&operand)
                    && may_overwrite(step, result, operand);
                if fits {
                    overwritten = overwritten.or(Some(operand));
                }
            });
            taken.extend(overwritten);
            let allocation = overwritten.and_then(|operand| tenant_of[operand.0]).unwrap_or_else(|| {
                let (dtype, size) = (buffers[result.0].ty.dtype, Size::of(&buffers[result.0]));
                let (start, _) = turn.live_range(result);
                allocations.push(Allocation { dtype, size, buffers: Vec::new(), life: (start, start) });
                allocations.len() - 1
            });
            allocations[allocation].buffers.push(result);
            allocations[allocation].life.1 = last_use[result.0];
            tenant_of[result.0] = Some(allocation);
        });
    }
    allocations.sort_by_key(|allocation| allocation.life.0);
    allocations
}

/// The number of elements, or a number too large for any memory if it overflows 64 bits.
fn or_too_many(elements: DimResult) -> Dim {
    const TOO_MANY: i64 = i64::MAX / 64 * 64;
    elements.unwrap_or(Dim::literal(TOO_MANY))
}

/// Offsets for sizes in some unit, and the end of the last allocation.
fn in_gaps(allocations: &[&Allocation], sizes: &[i64]) -> (Vec<i64>, i64) {
    let mut largest_first: Vec<usize> = (0..allocations.len()).collect();
    largest_first.sort_by_key(|allocation| std::cmp::Reverse(sizes[*allocation]));
    let mut offsets: Vec<i64> = vec![0; allocations.len()];
    // The placed allocations, by offset.
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for allocation in largest_first {
        let needed = sizes[allocation];
        let mut tightest: Option<(i64, i64)> = None;
        let mut free_from = 0;
        for other in placed.iter().filter(|other| allocations[**other].overlaps(allocations[allocation])) {
            let gap = offsets[*other] - free_from;
            if gap >= needed && tightest.is_none_or(|(best, _)| gap < best) {
                tightest = Some((gap, free_from));
            }
            free_from = free_from.max(offsets[*other].saturating_add(sizes[*other]));
        }
        let offset = tightest.map_or(free_from, |(_, offset)| offset);
        offsets[allocation] = offset;
        end = end.max(offset.saturating_add(needed));
        let at = placed.partition_point(|other| offsets[*other] <= offset);
        placed.insert(at, allocation);
    }
    (offsets, end)
}

/// Offsets from `start` on for sizes that may be unknown, and the end of the last allocation.
fn of_unknown_size(allocations: &[&Allocation], dtype: DType, start: Dim) -> (Vec<Dim>, Dim) {
    /// The extent at which ends are compared.
    const EXTENT: i64 = 1000;

    let slots = in_slots(allocations, &start);
    let mut extents = Bindings::new();
    slots.1.for_each_symbol(&mut |symbol| _ = extents.insert(symbol.clone(), Dim::literal(EXTENT)));
    match in_multiples(allocations, dtype, &start) {
        Some(multiples) if multiples.1.evaluate(&extents) < slots.1.evaluate(&extents) => multiples,
        Some(_) | None => slots,
    }
}

/// As [`of_unknown_size`], if all sizes are multiples of one product of symbols. Multiples are placed as known sizes
/// are. Let `m` be the product of symbols and `o` the offset in multiples of it. The offset in elements is
/// `unit * (ceil(o m / unit) + below)`, where `below` counts the allocations that lie below one another under this one.
/// Each of them may end within a unit, which the additional unit makes room for.
fn in_multiples(allocations: &[&Allocation], dtype: DType, start: &Dim) -> Option<(Vec<Dim>, Dim)> {
    let terms: Vec<Term> = allocations
        .iter()
        .map(|allocation| match &*allocation.size.count.terms() {
            [term] if term.coefficient > 0 && !term.factors.is_empty() => Some(term.clone()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let first = terms.first()?;
    if terms.iter().any(|term| term.factors != first.factors) {
        return None;
    }
    let multiple = allocations[0].size.count.exact_div(&Dim::literal(first.coefficient)).ok()??;
    let sizes: Vec<i64> = terms.iter().map(|term| term.coefficient).collect();
    let (offsets, end) = in_gaps(allocations, &sizes);
    let unit = (ALIGNMENT / dtype.bytes()) as i64;
    let is_whole = sizes.iter().all(|size| size % unit == 0);
    let mut below = vec![0_i64; allocations.len()];
    let mut upwards: Vec<usize> = (0..allocations.len()).collect();
    upwards.sort_by_key(|allocation| offsets[*allocation]);
    for (position, this) in upwards.iter().enumerate().filter(|_| !is_whole) {
        let others =
            upwards[..position].iter().filter(|other| allocations[**other].overlaps(allocations[*this]));
        below[*this] = others.map(|other| below[*other] + 1).max().unwrap_or(0);
    }
    let place = |offset: i64, below: i64| {
        let whole = multiple.mul(&Dim::literal(offset))?.ceil_div(unit)?.mul(&Dim::literal(unit))?;
        start.add(&whole)?.add_literal(unit * below)
    };
    let places = offsets.iter().zip(&below).map(|(offset, below)| place(*offset, *below));
    let most_below = if is_whole { 0 } else { below.iter().max()? + 1 };
    Some((places.collect::<Result<_, _>>().ok()?, place(end, most_below).ok()?))
}

/// As [`of_unknown_size`], in slots.
fn in_slots(allocations: &[&Allocation], start: &Dim) -> (Vec<Dim>, Dim) {
    struct Slot {
        size: Size,
        /// The last step that uses the allocation that was placed in the slot last.
        until: usize,
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut slot_of = Vec::with_capacity(allocations.len());
    // Allocations come in the order in which their lifetimes begin.
    for allocation in allocations {
        let free = || (0..slots.len()).filter(|slot| slots[*slot].until < allocation.life.0);
        // The tightest slot that fits, else one that can grow to fit.
        let fitting = free().filter(|slot| allocation.size.at_most(&slots[*slot].size));
        let tightest = fitting.reduce(|best, slot| {
            let [slot_size, best_size] = [slot, best].map(|slot| &slots[slot].size);
            if slot_size != best_size && slot_size.at_most(best_size) { slot } else { best }
        });
        // Among the slots that can grow, the largest grows least.
        let growing = free().filter(|slot| slots[*slot].size.at_most(&allocation.size));
        let growing = growing.reduce(
            |best, slot| {
                if slots[slot].size.at_most(&slots[best].size) { best } else { slot }
            },
        );
        let slot = tightest.or(growing).unwrap_or_else(|| {
            slots.push(Slot { size: allocation.size.clone(), until: 0 });
            slots.len() - 1
        });
        if !allocation.size.at_most(&slots[slot].size) {
            slots[slot].size = allocation.size.clone();
        }
        slots[slot].until = allocation.life.1;
        slot_of.push(slot);
    }
    let mut end = start.clone();
    let mut offsets = Vec::with_capacity(slots.len());
    for slot in &slots {
        offsets.push(end.clone());
        end = or_too_many(end.add(&slot.size.len));
    }
    (slot_of.into_iter().map(|slot| offsets[slot].clone()).collect(), end)
}
