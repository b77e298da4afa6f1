//! Removes stacked results of loops that nothing reads, and results that are equal to another one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ir::{Inst, Module, Nested, Op, Scan, ValueId},
    ty::Type,
};

/// The module whose loops stack only what is read, and for each of its values the value of `module` that it comes from.
/// `None` if no loop changes. Every value of `module` must be read.
pub(super) fn read_results(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    let reads = Reads::of(module);
    let loops: BTreeMap<ValueId, Kept> = module
        .iter()
        .filter_map(|(value, inst)| Some((value, Kept::of(inst.op.as_loop()?, &reads.positions(value))?)))
        .collect();
    if loops.is_empty() {
        return None;
    }
    let (mut insts, mut origins) = (Vec::new(), Vec::new());
    let mut replaced: Vec<ValueId> = Vec::with_capacity(module.insts().len());
    for (value, inst) in module.iter() {
        let operands = inst.operands.map(|operand| replaced[operand.index()]);
        let mut push = |op: Op, ty: &Type| {
            insts.push(Inst { op, operands: operands.clone(), ty: ty.clone() });
            origins.push(value);
            ValueId::new(insts.len() - 1)
        };
        let further = inst.op.as_further_result().zip(inst.operands.first());
        replaced.push(match (loops.get(&value), inst.op.as_loop(), further) {
            (Some(kept), Some(scan), _) => {
                push(kept.stacked_by(scan).into(), reads.ty(value, kept.positions[0], &inst.ty))
            }
            (_, _, Some((position, of))) if loops.contains_key(of) => match loops[of].position(position) {
                0 => operands[0],
                position => push(Op::further_result(position), &inst.ty),
            },
            _ => push(inst.op.clone(), &inst.ty),
        });
    }
    let outputs = module.outputs().iter().map(|output| replaced[output.index()]).collect();
    Some((Module::from_parts(insts, outputs), origins))
}

/// The results that are read, and the types of those after the first.
struct Reads<'m> {
    first: BTreeSet<ValueId>,
    further: BTreeMap<(ValueId, usize), &'m Type>,
}

impl<'m> Reads<'m> {
    fn of(module: &'m Module) -> Self {
        let mut reads = Self { first: module.outputs().iter().copied().collect(), further: BTreeMap::new() };
        for (_, inst) in module.iter() {
            match (inst.op.as_further_result(), inst.operands.first()) {
                (Some(position), Some(of)) => _ = reads.further.insert((*of, position), &inst.ty),
                _ => reads.first.extend(inst.operands.iter().copied()),
            }
        }
        reads
    }

    /// The positions that are read of an instruction's results.
    fn positions(&self, value: ValueId) -> BTreeSet<usize> {
        let further =
            self.further.range((value, 0)..=(value, usize::MAX)).map(|((_, position), _)| *position);
        further.chain(self.first.contains(&value).then_some(0)).collect()
    }

    /// The type of the result at a position that is read.
    fn ty<'t>(&self, value: ValueId, position: usize, first: &'t Type) -> &'t Type
    where
        'm: 't,
    {
        self.further.get(&(value, position)).copied().unwrap_or(first)
    }
}

/// The results that a loop keeps.
struct Kept {
    /// Their positions among all results, ascending.
    positions: Vec<usize>,
    /// For each of all results, the position of an equal result among those that are kept, if it is read.
    equal: Vec<Option<usize>>,
}

impl Kept {
    /// `None` if the loop keeps all results.
    fn of(scan: &Scan, read: &BTreeSet<usize>) -> Option<Self> {
        let (outputs, carries) = (scan.body.outputs(), scan.carry_count());
        let mut kept = Self { positions: Vec::new(), equal: Vec::new() };
        // The values that are stacked so far.
        let mut stacked: BTreeMap<ValueId, usize> = BTreeMap::new();
        for (position, output) in outputs.iter().enumerate() {
            let next = kept.positions.len();
            let at = match position < carries {
                true => Some(next),
                false => read.contains(&position).then(|| *stacked.entry(*output).or_insert(next)),
            };
            if at == Some(next) {
                kept.positions.push(position);
            }
            kept.equal.push(at);
        }
        // A loop without a carry may run for its effects alone.
        let is_fewer = kept.positions.len() < outputs.len() && !kept.positions.is_empty();
        is_fewer.then_some(kept)
    }

    /// The loop with these results.
    fn stacked_by(&self, scan: &Scan) -> Scan {
        let outputs = self.positions.iter().map(|position| scan.body.outputs()[*position]).collect();
        let body = Module::from_parts(scan.body.insts().to_vec(), outputs);
        let residuals = self.positions.iter().filter(|position| scan.is_residual(**position)).count();
        Scan {
            body: Nested::new(body).expect("it is no larger and no deeper than the body"),
            residuals: i64::try_from(residuals).expect("results are few"),
            ..scan.clone()
        }
    }

    /// The position now of the result that was at this position.
    fn position(&self, position: usize) -> usize {
        self.equal[position].expect("only results that are read are asked for")
    }
}
