//! The writer of modules with operations by section.

use super::{MOST_COMPUTED, Sections, is_along};
use crate::{
    build::Builder,
    dim::Dim,
    ir::{Arrange, Inst, Join, Module, Op, Reduction, Slice, ValueId},
    map::{Map, ShapeRule},
    ops::Motion,
    opt::segments::within_limits,
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
    module: &'m Module,
    /// The sections of each value of the module, if it has any.
    sections: &'m [Option<Sections>],
    builder: Builder,
    origins: Vec<ValueId>,
    /// For each value of the module, its value in the new module. Those with sections have one once something reads
    /// them whole.
    wholes: Vec<Option<ValueId>>,
    /// For each value of the module with sections, its sections in the new module.
    written: Vec<Vec<Section>>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module, sections: &'m [Option<Sections>]) -> Self {
        let count = module.insts().len();
        Self {
            module,
            sections,
            builder: Builder::new(),
            origins: Vec::new(),
            wholes: vec![None; count],
            written: vec![Vec::new(); count],
        }
    }

    /// The new module, and the origins of its values.
    pub(super) fn finish(mut self) -> Option<(Module, Vec<ValueId>)> {
        let mut outputs = Vec::new();
        for output in self.module.outputs() {
            outputs.push(self.whole(*output)?);
            self.origins.resize(self.builder.insts().len(), *output);
        }
        Some((self.builder.finish(outputs), self.origins))
    }

    /// Writes an instruction.
    pub(super) fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        if let Some(sections) = &self.sections[value.index()] {
            self.written[value.index()] = self.by_section(inst, sections)?;
        } else {
            let made = match (&inst.op, inst.op.input_name()) {
                (_, Some(name)) => within_limits(self.builder.input(name.clone(), inst.ty.clone()))?,
                (Op::Reduce(reduce, reduction), None) => match self.reduced(inst, reduction)? {
                    Some(parts) if reduce.row().monoid.combine == Map::PLUS && !reduce.row().divides => {
                        let sum = |sum, part| self.push(Op::Map(Map::PLUS), &[sum, part]);
                        let (first, others) = parts.split_first()?;
                        others.iter().copied().try_fold(*first, sum)?
                    }
                    _ => self.copy(inst)?,
                },
                (_, None) => self.copy(inst)?,
            };
            self.wholes[value.index()] = Some(made);
        }
        self.origins.resize(self.builder.insts().len(), value);
        Some(())
    }

    fn push(&mut self, op: Op, operands: &[ValueId]) -> Option<ValueId> {
        within_limits(self.builder.push(op, operands))
    }

    fn copy(&mut self, inst: &Inst) -> Option<ValueId> {
        let operands = inst.operands.iter().map(|operand| self.whole(*operand));
        let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
        self.push(inst.op.clone(), &operands)
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
                    let is_whole = slice.is_whole(&self.builder.ty(value).shape);
                    Some(Section::Value(if is_whole { value } else { self.push(slice.into(), &[value])? }))
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
                            _ if !is_along(self.module, *operand, inst) => {
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
                [(1, value)] => return self.broadcast(value, &shape).map(Section::Value),
                _ => {}
            }
        }
        let is_equal = matches!(map.row().shapes, ShapeRule::Equal);
        let mut values = Vec::new();
        for (section, operand) in operands.into_iter().zip(inst.operands.iter()) {
            let value = match section {
                Section::Value(value) => value,
                Section::Zeros => self.builder.constant(self.module.ty(*operand).dtype, 0.0),
            };
            values.push(if is_equal { self.broadcast(value, &shape)? } else { value });
        }
        let result = self.push(Op::Map(map), &values)?;
        self.broadcast(result, &shape).map(Section::Value)
    }

    /// The sums of the sections of an operand, without those of zeros. `None` if it has no sections, too many, or none
    /// with other elements.
    fn reduced(&mut self, inst: &Inst, reduction: &Reduction) -> Option<Option<Vec<ValueId>>> {
        let operand = *inst.operands.first()?;
        let Some(sections) = &self.sections[operand.index()] else { return Some(None) };
        let is_over_first = reduction.positions(self.module.ty(operand).rank()).contains(&0);
        if !is_over_first || !(1..=MOST_COMPUTED).contains(&sections.computed()) {
            return Some(None);
        }
        let mut parts = Vec::new();
        for section in self.written[operand.index()].clone() {
            if let Section::Value(value) = section {
                parts.push(self.push(inst.op.clone(), &[value])?);
            }
        }
        Some(Some(parts))
    }

    fn broadcast(&mut self, value: ValueId, shape: &Shape) -> Option<ValueId> {
        match self.builder.ty(value).shape == *shape {
            true => Some(value),
            false => self.push(Op::Arrange(Arrange::broadcast(shape.clone())), &[value]),
        }
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
        let inst = self.builder.inst(of).clone();
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
                    let operand_shape = &self.builder.ty(*operand).shape;
                    let is_along = operand_shape.rank() == shape.rank() && operand_shape[0] == shape[0];
                    operands.push(match is_along {
                        true => self.taken_through(*operand, from, extent, depth - 1)?,
                        false => *operand,
                    });
                }
                self.push(inst.op.clone(), &operands)
            }
            _ => self.push(slice.into(), &[of]),
        }
    }

    /// The value in the new module.
    fn whole(&mut self, value: ValueId) -> Option<ValueId> {
        if let Some(whole) = self.wholes[value.index()] {
            return Some(whole);
        }
        let (module, sections) = (self.module, self.sections[value.index()].as_ref()?);
        let inst = module.inst(value);
        let whole = match &inst.op {
            Op::Map(_) => {
                let mut parts = Vec::new();
                for (section, pair) in
                    self.written[value.index()].clone().into_iter().zip(sections.bounds.windows(2))
                {
                    parts.push(match section {
                        Section::Value(value) => value,
                        Section::Zeros => {
                            let extent = pair[1].sub(&pair[0]).ok()?;
                            let shape = [extent].into_iter().chain(inst.ty.shape[1..].iter().cloned());
                            let zero = self.builder.constant(inst.ty.dtype, 0.0);
                            self.broadcast(zero, &shape.collect())?
                        }
                    });
                }
                match &parts[..] {
                    [part] => *part,
                    _ => self.push(Op::Join(Join::Concat { axis: 0 }), &parts)?,
                }
            }
            // Others move elements.
            _ => self.copy(inst)?,
        };
        self.wholes[value.index()] = Some(whole);
        Some(whole)
    }
}
