//! Sections of tensors along their first axis.
//!
//! A concatenation, and the cotangent of a slice (the cotangent of its result, placed among zeros), would be stored
//! before an elementwise operation reads them. This pass computes the operation section by section instead: it reads the
//! concatenated tensors themselves, and no zeros. If something reads the result as a whole, its sections are
//! concatenated. The planner lets the steps that compute the sections write to that concatenation.
//!
//! The pass changes two things: -0.0 in a part stays -0.0, where adding 0.0 would give 0.0, and a sum over the first axis
//! adds the sums of the sections. All other bits are unchanged.

mod writer;

use crate::{
    dim::{Dim, Order},
    ir::{Inst, Join, Module, Op, Slice, ValueId},
    map::Map,
    ops::{Motion, position},
};

use super::rewritten::ModuleWriter;
use writer::Writer;

/// The most sections in which an operation computes elements, since each may be a step.
const MOST_COMPUTED: usize = 4;
/// The most sections of a tensor.
const MOST: usize = 64;
/// The least known number of elements of a tensor with sections. Smaller ones take less time than a step.
pub(super) const LEAST_ELEMENTS: i64 = 256;

/// The module with operations by section, and for each of its values the value of `module` that it comes from. `None` if
/// no operation on `least_elements` has sections.
pub(super) fn split(module: &Module, least_elements: i64) -> Option<(Module, Vec<ValueId>)> {
    let sections = all(module, least_elements)?;
    Writer::new(module, &sections).finish()
}

/// The sections of a tensor.
#[derive(Clone, Debug)]
struct Sections {
    /// Their bounds along the first axis, ascending, from 0 to its extent.
    bounds: Vec<Dim>,
    /// For each section, whether it holds zeros.
    is_zero: Vec<bool>,
    /// For a slice, the section of its operand in which its first section lies.
    first_read: usize,
}

impl Sections {
    fn count(&self) -> usize {
        self.is_zero.len()
    }

    fn computed(&self) -> usize {
        self.is_zero.iter().filter(|is_zero| !**is_zero).count()
    }

    /// For each section between `bounds`, which include those of this tensor, the section of this tensor in which it
    /// lies.
    fn around(&self, bounds: &[Dim]) -> impl Iterator<Item = usize> {
        let mut section = 0;
        bounds[..bounds.len() - 1].iter().map(move |start| {
            section += usize::from(section + 1 < self.count() && self.bounds[section + 1] == *start);
            section
        })
    }

    /// The same tensor in the sections between `bounds`, which include its own.
    fn refined(&self, bounds: &[Dim]) -> Self {
        let is_zero = self.around(bounds).map(|section| self.is_zero[section]).collect();
        Self { bounds: bounds.to_vec(), is_zero, first_read: 0 }
    }

    /// A tensor in one section.
    fn whole(extent: &Dim) -> Self {
        Self { bounds: vec![Dim::ZERO, extent.clone()], is_zero: vec![false], first_read: 0 }
    }
}

/// The sections of each value; `None` if no operation gains by them.
fn all(module: &Module, least_elements: i64) -> Option<Vec<Option<Sections>>> {
    let is_source = |inst: &Inst| {
        matches!(
            (inst.op.motion(), &inst.op),
            (Some(Motion::Put(_)), _) | (None, Op::Join(Join::Concat { .. }))
        )
    };
    if !module.insts().iter().any(is_source) {
        return None;
    }
    let order = Order::among(module.insts().iter().flat_map(|inst| inst.ty.shape.iter()));
    let mut all: Vec<Option<Sections>> = Vec::with_capacity(module.insts().len());
    for (_, inst) in module.iter() {
        let count = inst.ty.shape.element_count().ok().and_then(|count| count.as_literal());
        let is_small = inst.ty.rank() == 0 || count.is_some_and(|count| count < least_elements);
        all.push(if is_small { None } else { of(module, inst, &all, &order) });
    }
    let is_mapped = |(inst, sections): (&Inst, &Option<Sections>)| {
        matches!(inst.op, Op::Map(_)) && sections.as_ref().is_some_and(|sections| sections.count() > 1)
    };
    if !module.insts().iter().zip(&all).any(is_mapped) {
        return None;
    }
    refine(module, &mut all);
    Some(all)
}

/// The sections of the result of an instruction. `known` are those of the values before it.
fn of(module: &Module, inst: &Inst, known: &[Option<Sections>], order: &Order<'_>) -> Option<Sections> {
    let extent = inst.ty.shape.first()?;
    let of_operand = |operand: ValueId| known[operand.index()].as_ref();
    match (inst.op.motion(), &inst.op) {
        (None, Op::Join(Join::Concat { axis })) if position(*axis) == 0 => {
            let mut bounds = vec![Dim::ZERO];
            for operand in inst.operands.iter() {
                bounds.push(bounds.last()?.add(&module.ty(*operand).shape[0]).ok()?);
            }
            let count = bounds.len() - 1;
            (count <= MOST).then(|| Sections { bounds, is_zero: vec![false; count], first_read: 0 })
        }
        (Some(Motion::Put(slice)), _) if is_whole_but_first(slice, &inst.ty.shape) => {
            let (start, end) = (&slice.starts[0], &slice.ends[0]);
            let mut sections = Sections { bounds: vec![Dim::ZERO], is_zero: Vec::new(), first_read: 0 };
            if *start != Dim::ZERO {
                order.is_less(&Dim::ZERO, start).then_some(())?;
                sections.bounds.push(start.clone());
                sections.is_zero.push(true);
            }
            sections.bounds.push(end.clone());
            sections.is_zero.push(false);
            if end != extent {
                order.is_less(end, extent).then_some(())?;
                sections.bounds.push(extent.clone());
                sections.is_zero.push(true);
            }
            Some(sections)
        }
        (Some(Motion::Taken(slice)), _) if slice.steps[0] == 1 => {
            let sections = of_operand(inst.operands[0])?;
            let (start, end) = (&slice.starts[0], &slice.ends[0]);
            let (mut bounds, mut is_zero, mut first_read) = (vec![Dim::ZERO], Vec::new(), 0);
            for (section, pair) in sections.bounds.windows(2).enumerate() {
                let is_before = pair[1] == *start || order.is_less(&pair[1], start);
                let is_behind = pair[0] == *end || order.is_less(end, &pair[0]);
                if is_before || is_behind {
                    first_read += usize::from(is_before);
                    continue;
                }
                let overlaps = order.is_less(start, &pair[1]) && order.is_less(&pair[0], end);
                let is_last = pair[1] == *end || order.is_less(end, &pair[1]);
                if !overlaps || !(is_last || order.is_less(&pair[1], end)) {
                    return None;
                }
                bounds.push(if is_last { extent.clone() } else { pair[1].sub(start).ok()? });
                is_zero.push(sections.is_zero[section]);
            }
            (bounds.last() == Some(extent)).then_some(Sections { bounds, is_zero, first_read })
        }
        (None, Op::Map(map)) => mapped(module, *map, inst, known, order),
        _ => None,
    }
}

/// Merges two ascending lists of bounds. `None` if their order is not known, or if there are too many.
fn merged(order: &Order<'_>, a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (mut merged, mut a, mut b) = (Vec::new(), a.iter().peekable(), b.iter().peekable());
    while let Some((first, second)) = a.peek().zip(b.peek()) {
        let is_equal = first == second;
        if is_equal || order.is_less(first, second) {
            merged.extend(a.next().cloned());
            if is_equal {
                b.next();
            }
        } else if order.is_less(second, first) {
            merged.extend(b.next().cloned());
        } else {
            return None;
        }
    }
    merged.extend(a.chain(b).cloned());
    (merged.len() <= MOST + 1).then_some(merged)
}

/// The sections of an elementwise operation. `None` if no operand has several.
fn mapped(
    module: &Module,
    map: Map,
    inst: &Inst,
    known: &[Option<Sections>],
    order: &Order<'_>,
) -> Option<Sections> {
    let whole = || Sections::whole(&inst.ty.shape[0]);
    let along = inst.operands.iter().filter(|operand| is_along(module, **operand, inst));
    let along: Vec<Sections> =
        along.map(|operand| known[operand.index()].clone().unwrap_or_else(whole)).collect();
    if along.iter().all(|sections| sections.count() == 1) || reads_product(module, inst) {
        return None;
    }
    let mut bounds = whole().bounds;
    for sections in &along {
        bounds = merged(order, &bounds, &sections.bounds)?;
    }
    let operands: Vec<Sections> = along.iter().map(|sections| sections.refined(&bounds)).collect();
    let sections = 0..bounds.len() - 1;
    let signs = map.row().signs;
    let is_sum = !signs.is_empty() && along.len() == inst.operands.len();
    let holds_zeros = |section: usize| is_sum && operands.iter().all(|of| of.is_zero[section]);
    // A sum in which all but one operand are zeros is that operand.
    let is_computed = |section: &usize| {
        let mut others = signs.iter().zip(&operands).filter(|(_, of)| !of.is_zero[*section]);
        !is_sum || !matches!((others.next(), others.next()), (None, _) | (Some((1, _)), None))
    };
    let is_zero = sections.clone().map(holds_zeros);
    (sections.clone().filter(is_computed).count() <= MOST_COMPUTED).then(|| Sections {
        is_zero: is_zero.collect(),
        bounds,
        first_read: 0,
    })
}

/// Whether the first axis of an operand is that of the result.
fn is_along(module: &Module, operand: ValueId, inst: &Inst) -> bool {
    let shape = &module.ty(operand).shape;
    shape.rank() == inst.ty.rank() && shape.first() == inst.ty.shape.first()
}

/// Whether an instruction reads a product, which then stores its result.
fn reads_product(module: &Module, inst: &Inst) -> bool {
    inst.operands.iter().any(|operand| matches!(module.inst(*operand).op, Op::Product(_) | Op::Window(_)))
}

/// Gives an elementwise operation the sections of its reader, if that is an elementwise operation and the only reader.
fn refine(module: &Module, all: &mut [Option<Sections>]) {
    let mut readers: Vec<Vec<ValueId>> = vec![Vec::new(); module.insts().len()];
    for (value, inst) in module.iter() {
        inst.operands.iter().for_each(|operand| readers[operand.index()].push(value));
    }
    let is_output = |value: ValueId| module.outputs().contains(&value);
    for (value, inst) in module.iter().rev().filter(|(_, inst)| matches!(inst.op, Op::Map(_))) {
        let [reader] = readers[value.index()][..] else { continue };
        let reads = module.inst(reader);
        let Some(sections) = all[reader.index()].as_ref().filter(|_| matches!(reads.op, Op::Map(_))) else {
            continue;
        };
        let is_read_by_section = is_along(module, value, reads) && inst.ty.rank() > 0;
        if !is_read_by_section || is_output(value) || reads_product(module, inst) {
            continue;
        }
        let whole = Sections::whole(&inst.ty.shape[0]);
        let refined = all[value.index()].as_ref().unwrap_or(&whole).refined(&sections.bounds);
        if refined.computed() <= MOST_COMPUTED {
            all[value.index()] = Some(refined);
        }
    }
}

/// Whether a slice takes all positions of each axis but the first, and neighbours along the first.
fn is_whole_but_first(slice: &Slice, shape: &[Dim]) -> bool {
    let mut axes = slice.starts.iter().zip(&slice.ends).zip(shape).skip(1);
    slice.steps.iter().all(|step| *step == 1)
        && axes.all(|((start, end), extent)| *start == Dim::ZERO && end == extent)
}
