//! Inlines loops that have one step, and branches for a mask, which are such loops.

use std::collections::BTreeMap;

use super::rewritten::{ModuleWriter, Rewritten, within_limits};
use crate::{
    build::Builder,
    dim::{Bindings, Dim},
    ir::{Access, Arrange, Guard, Inst, Module, Op, Scan, ValueId},
    map::Map,
    number::KnownNumber,
    reduce::Reduce,
    ty::DType,
};

/// The module whose loops of one step are inlined, and for each of its values the value of `module` that it comes from.
/// `None` if no loop is.
pub(super) fn inlined(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    module.iter().find_map(|(_, inst)| single_step(module, inst))?;
    Writer { rewritten: Rewritten::new(module), results: BTreeMap::new() }.finish()
}

/// Builds the module without loops of one step.
struct Writer<'m> {
    rewritten: Rewritten<'m>,
    /// For each inlined loop, its results.
    results: BTreeMap<ValueId, Vec<ValueId>>,
}

impl<'m> ModuleWriter<'m> for Writer<'m> {
    fn rewritten(&mut self) -> &mut Rewritten<'m> {
        &mut self.rewritten
    }

    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        let module = self.rewritten.module;
        let further = module.place_of(value).and_then(|(of, at)| Some(self.results.get(&of)?[at]));
        let made = if let Some(result) = further {
            result
        } else if let Some(scan) = single_step(module, inst) {
            let operands = inst.operands.iter().map(|operand| self.whole(*operand));
            let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
            let results = step(&mut self.rewritten.builder, scan, &operands)?;
            let first = results[0];
            self.results.insert(value, results);
            first
        } else {
            self.copied(inst)?
        };
        self.rewritten.wholes[value.index()] = Some(made);
        Some(())
    }
}

/// The loop of an instruction, if it has one step and may be inlined. A loop with a `checkpoint` of several steps stays
/// a loop: see [`Scan::APART`].
fn single_step<'m>(module: &Module, inst: &'m Inst) -> Option<&'m Scan> {
    let scan = inst.op.as_loop()?;
    let accesses = scan.accesses(inst.operands.iter().map(|operand| module.ty(*operand).rank()));
    let counted = inst.operands.get(Scan::counted(&accesses)?)?;
    let has_one = module.ty(*counted).shape[0] == Dim::ONE;
    let always_runs = scan.guard == Guard::Always || is_masked(module, inst, scan);
    let is_inlined = has_one && always_runs && scan.checkpoint == 0 && !inst.op.has_effect();
    is_inlined.then_some(scan)
}

/// The most instructions of a branch that is computed for all elements, whatever their mask is.
const MOST_MASKED: usize = 256;

/// Whether a step has the same results if it runs although its guard is false. The guard is true if some element of a
/// mask is, and where an element is false, the step keeps the carry or stacks zero. Batching makes such steps of branches. The step has
/// only operations on elements, which cannot fail, so nothing is lost if it runs.
fn is_masked(module: &Module, inst: &Inst, scan: &Scan) -> bool {
    let body = &scan.body;
    let Some((guard, runs)) = scan.guard().and_then(|guard| Some((guard, *inst.operands.get(guard)?))) else {
        return false;
    };
    let mask_of = |position: usize, output: ValueId| {
        let Inst { op: Op::Map(Map::SELECTION), operands, .. } =
            &body.insts()[arranged(body, output).index()]
        else {
            return None;
        };
        let [mask, otherwise] = [operands[0], operands[2]].map(|operand| arranged(body, operand));
        let keeps = match &body.insts()[otherwise.index()].op {
            op if op.is_input() => otherwise.index() == position,
            Op::Const(constant) => {
                let number = constant.data().and_then(|data| KnownNumber::filling(&data));
                position >= scan.carry_count() && number.is_some_and(|number| number.is(0))
            }
            _ => false,
        };
        (keeps && mask.index() < body.inputs().len()).then_some(mask.index())
    };
    let masks = body.outputs().iter().enumerate().map(|(position, output)| mask_of(position, *output));
    let Some(masks) = masks.collect::<Option<Vec<usize>>>() else { return false };
    scan.guard == Guard::Operand
        && body.insts().len() <= MOST_MASKED
        && body.iter().all(|(_, inst)| works_on_elements(body, inst))
        && masks.iter().all(|mask| *mask != guard && *mask >= scan.carry_count())
        && masks.iter().all(|mask| is_any(module, runs, inst.operands[*mask]))
}

/// Whether an instruction only computes on elements or moves them, and cannot fail.
fn works_on_elements(body: &Module, inst: &Inst) -> bool {
    match &inst.op {
        Op::Map(map) => map.row().pole.is_none_or(|divisor| body.ty(inst.operands[divisor]).dtype.is_float()),
        Op::Reduce(..) => inst.operands.iter().all(|operand| body.ty(*operand).rank() > 1),
        Op::Const(_) | Op::Arrange(_) | Op::Part(_) | Op::Join(_) => true,
        Op::Product(_) => inst.ty.rank() == 3,
        op => op.is_input(),
    }
}

/// Whether `runs` is true exactly where some element of `mask` is.
fn is_any(module: &Module, runs: ValueId, mask: ValueId) -> bool {
    let (mut at, mask) = (arranged(module, runs), arranged(module, mask));
    while at != mask {
        let operand = |of: ValueId, op: &Op| {
            let inst = &module.insts()[of.index()];
            (inst.op == *op).then(|| inst.operands[0])
        };
        let Some(greatest) = operand(at, &Op::Map(Map::to(DType::Bool))) else { return false };
        let Inst { op: Op::Reduce(Reduce::Max, _), operands, .. } = &module.insts()[greatest.index()] else {
            return false;
        };
        let Some(truths) = operand(operands[0], &Op::Map(Map::to(DType::I32))) else { return false };
        at = arranged(module, truths);
    }
    true
}

/// The value whose elements an arrangement has.
fn arranged(module: &Module, mut value: ValueId) -> ValueId {
    while let Inst { op: Op::Arrange(_), operands, .. } = &module.insts()[value.index()] {
        value = operands[0];
    }
    value
}

/// Emits the step of a loop. Returns the results of the loop.
fn step(builder: &mut Builder, scan: &Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
    let accesses = scan.accesses(operands.iter().map(|operand| builder.ty(*operand).rank()));
    let mut inputs = Vec::with_capacity(operands.len());
    for (operand, access) in operands.iter().zip(accesses) {
        inputs.push(match access {
            Access::Carry | Access::Whole => *operand,
            Access::Element => {
                let shape = builder.ty(*operand).shape[1..].iter().cloned().collect();
                within_limits(builder.push(Op::Arrange(Arrange::reshape(shape)), &[*operand]))?
            }
        });
    }
    let mut results = within_limits(builder.inline(&scan.body, &inputs, &Bindings::new()))?;
    for result in results.iter_mut().skip(scan.carry_count()) {
        let shape = [Dim::ONE].into_iter().chain(builder.ty(*result).shape.iter().cloned()).collect();
        *result = within_limits(builder.push(Op::Arrange(Arrange::reshape(shape)), &[*result]))?;
    }
    Some(results)
}
