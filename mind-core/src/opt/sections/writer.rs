//! The writer of modules with operations by section.

use super::{MOST_COMPUTED, Sections, is_along};
use crate::{
    dim::Dim,
    ir::{Inst, Join, Module, Op, Slice, ValueId},
    map::{Map, ShapeRule},
    ops::Motion,
    opt::rewritten::{ModuleWriter, Rewritten},
    ty::Shape,
};

/// The longest chain of cheap operations that is computed again for a section.
const DEEPEST: usize = 3;

/// A section of a value.
#[derive(Clone, Copy)]
enum Section {
    Zeros,
    Value(ValueId),
}

/// Builds the module with operations by section.
pub(super) struct Writer<'m> {
    rewritten: Rewritten<'m>,
    /// The sections of each value of the module, if it has any.
    sections: &'m [Option<Sections>],
    /// For each value of the module with sections, its sections in the new module.
    written: Vec<Vec<Section>>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module, sections: &'m [Option<Sections>]) -> Self {
        let written = vec![Vec::new(); module.insts().len()];
        Self { rewritten: Rewritten::new(module), sections, written }
    }

    fn by_section(&mut self, inst: &Inst, sections: &Sections) -> Option<Vec<Section>> {
        let first = |writer: &mut Self| writer.whole(*inst.operands.first()?);
        let bounds = sections.bounds.windows(2);
        match (inst.op.motion(), &inst.op) {
            (None, Op::Join(_)) => {
                inst.operands.iter().map(|operand| self.whole(*operand).map(Section::Value)).collect()
            }
            (Some(Motion::Put(_)), _) => {
                let part = Section::Value(first(self)?);
                let of = |is_zero: &bool| if *is_zero { Section::Zeros } else { part };
                Some(sections.is_zero.iter().map(of).collect())
            }
            (Some(Motion::Taken(slice)), _) => {
                let operand = *inst.operands.first()?;
                let of = |(section, pair): (usize, &[Dim])| {
                    let section = sections.first_read + section;
                    let from = pair[0].add(&slice.starts[0]).ok()?;
                    let from = from.sub(&self.bounds(operand)[section]).ok()?;
                    let extent = pair[1].sub(&pair[0]).ok()?;
                    let Section::Value(value) = self.part(operand, section, &from, &extent)? else {
                        return Some(Section::Zeros);
                    };
                    let mut slice = slice.clone();
                    (slice.starts[0], slice.ends[0]) = (Dim::ZERO, extent);
                    let is_whole = slice.is_whole(&self.rewritten.builder.ty(value).shape);
                    Some(Section::Value(if is_whole {
                        value
                    } else {
                        self.rewritten.push(slice.into(), &[value])?
                    }))
                };
                bounds.enumerate().map(of).collect()
            }
            (None, Op::Map(map)) => {
                // The section of an operand around each section. An operand with other bounds is read whole.
                let around = |operand: &ValueId| {
                    let own = self.sections[operand.index()].as_ref()?;
                    let is_coarser = own.bounds.iter().all(|bound| sections.bounds.contains(bound));
                    is_coarser.then(|| own.around(&sections.bounds).collect())
                };
                let around: Vec<Option<Vec<usize>>> = inst.operands.iter().map(around).collect();
                let of = |(section, pair): (usize, &[Dim])| {
                    let extent = pair[1].sub(&pair[0]).ok()?;
                    let mut operands = Vec::new();
                    for (operand, around) in inst.operands.iter().zip(&around) {
                        operands.push(match around {
                            _ if !is_along(self.rewritten.module, *operand, inst) => {
                                Section::Value(self.whole(*operand)?)
                            }
                            Some(around) => {
                                let from = pair[0].sub(&self.bounds(*operand)[around[section]]).ok()?;
                                self.part(*operand, around[section], &from, &extent)?
                            }
                            None => {
                                let whole = self.whole(*operand)?;
                                Section::Value(self.taken(whole, &pair[0], &extent)?)
                            }
                        });
                    }
                    self.mapped(*map, inst, operands, extent)
                };
                bounds.enumerate().map(of).collect()
            }
            _ => None,
        }
    }

    /// A function of a section, of this extent, of each of its operands.
    fn mapped(&mut self, map: Map, inst: &Inst, operands: Vec<Section>, extent: Dim) -> Option<Section> {
        let shape: Shape = [extent].into_iter().chain(inst.ty.shape[1..].iter().cloned()).collect();
        let signs = map.row().signs;
        if !signs.is_empty() {
            let terms = signs.iter().zip(&operands).filter_map(|(sign, section)| match section {
                Section::Zeros => None,
                Section::Value(value) => Some((*sign, *value)),
            });
            match terms.collect::<Vec<_>>()[..] {
                [] => return Some(Section::Zeros),
                [(1, value)] => return self.rewritten.broadcast(value, &shape).map(Section::Value),
                _ => {}
            }
        }
        let is_equal = matches!(map.row().shapes, ShapeRule::Equal);
        let mut values = Vec::new();
        for (section, operand) in operands.into_iter().zip(inst.operands.iter()) {
            let value = match section {
                Section::Value(value) => value,
                Section::Zeros => {
                    self.rewritten.builder.constant(self.rewritten.module.ty(*operand).dtype, 0.0)
                }
            };
            values.push(if is_equal { self.rewritten.broadcast(value, &shape)? } else { value });
        }
        let result = self.rewritten.push(Op::Map(map), &values)?;
        self.rewritten.broadcast(result, &shape).map(Section::Value)
    }

    /// The sections of the operand of a sum over the first axis, without those of zeros. None if the sum is computed from
    /// the operand as a whole.
    fn summands(&self, inst: &Inst) -> Vec<ValueId> {
        let Op::Reduce(reduce, reduction) = &inst.op else { return Vec::new() };
        let (operand, row) = (inst.operands[0], reduce.row());
        let is_sum = row.monoid.combine == Map::PLUS && !row.divides;
        let is_over_first = reduction.positions(self.rewritten.module.ty(operand).rank()).contains(&0);
        let has_few = |sections: &Sections| sections.computed() <= MOST_COMPUTED;
        if !is_sum || !is_over_first || !self.sections[operand.index()].as_ref().is_some_and(has_few) {
            return Vec::new();
        }
        let value = |section: &Section| match section {
            Section::Zeros => None,
            Section::Value(value) => Some(*value),
        };
        self.written[operand.index()].iter().filter_map(value).collect()
    }

    /// The bounds of the sections of a value that has sections.
    fn bounds(&self, value: ValueId) -> &[Dim] {
        &self.sections[value.index()].as_ref().expect("the caller has found its sections").bounds
    }

    /// The elements from a position along the first axis of a section of a value.
    fn part(&mut self, value: ValueId, section: usize, from: &Dim, extent: &Dim) -> Option<Section> {
        match self.written[value.index()][section] {
            Section::Zeros => Some(Section::Zeros),
            Section::Value(of) => self.taken(of, from, extent).map(Section::Value),
        }
    }

    /// The elements from a position along the first axis of a value of the new module. Cheap functions are computed again
    /// from elements of their operands, so that their results need not be stored.
    fn taken(&mut self, of: ValueId, from: &Dim, extent: &Dim) -> Option<ValueId> {
        self.taken_through(of, from, extent, DEEPEST)
    }

    fn taken_through(&mut self, of: ValueId, from: &Dim, extent: &Dim, depth: usize) -> Option<ValueId> {
        let inst = self.rewritten.builder.inst(of).clone();
        let shape = &inst.ty.shape;
        let end = from.add(extent).ok()?;
        let starts = [from.clone()].into_iter().chain(shape[1..].iter().map(|_| Dim::ZERO)).collect();
        let ends = [end].into_iter().chain(shape[1..].iter().cloned()).collect();
        let slice = Slice { starts, ends, steps: vec![1; shape.rank()] };
        if slice.is_whole(shape) {
            return Some(of);
        }
        match &inst.op {
            Op::Map(map) if depth > 0 && !map.row().cost.is_worth_keeping() => {
                let mut operands = Vec::new();
                for operand in inst.operands.iter() {
                    let operand_shape = &self.rewritten.builder.ty(*operand).shape;
                    let is_along = operand_shape.rank() == shape.rank() && operand_shape[0] == shape[0];
                    operands.push(match is_along {
                        true => self.taken_through(*operand, from, extent, depth - 1)?,
                        false => *operand,
                    });
                }
                self.rewritten.push(inst.op.clone(), &operands)
            }
            _ => self.rewritten.push(slice.into(), &[of]),
        }
    }
}

impl<'m> ModuleWriter<'m> for Writer<'m> {
    fn rewritten(&mut self) -> &mut Rewritten<'m> {
        &mut self.rewritten
    }

    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        if let Some(sections) = &self.sections[value.index()] {
            self.written[value.index()] = self.by_section(inst, sections)?;
            return Some(());
        }
        let mut sums = Vec::new();
        for summand in self.summands(inst) {
            sums.push(self.rewritten.push(inst.op.clone(), &[summand])?);
        }
        let made = match sums.split_first() {
            Some((first, others)) => {
                let add = |sum, part: &ValueId| self.rewritten.push(Op::Map(Map::PLUS), &[sum, *part]);
                others.iter().try_fold(*first, add)?
            }
            None => self.copied(inst)?,
        };
        self.rewritten.wholes[value.index()] = Some(made);
        Some(())
    }

    fn assembled(&mut self, value: ValueId) -> Option<ValueId> {
        let (inst, sections) = (self.rewritten.module.inst(value), self.sections[value.index()].as_ref()?);
        if !matches!(inst.op, Op::Map(_)) {
            // The instruction only moves elements.
            return self.copied(inst);
        }
        let mut parts = Vec::new();
        for (section, pair) in self.written[value.index()].clone().into_iter().zip(sections.bounds.windows(2))
        {
            parts.push(match section {
                Section::Value(value) => value,
                Section::Zeros => {
                    let extent = pair[1].sub(&pair[0]).ok()?;
                    let shape = [extent].into_iter().chain(inst.ty.shape[1..].iter().cloned());
                    let zero = self.rewritten.builder.constant(inst.ty.dtype, 0.0);
                    self.rewritten.broadcast(zero, &shape.collect())?
                }
            });
        }
        match &parts[..] {
            [part] => Some(*part),
            _ => self.rewritten.push(Op::Join(Join::Concat { axis: 0 }), &parts),
        }
    }
}
