//! Converts loops to items.

use super::{Arranger, FIRST, LoopWork, View, Work};
use crate::{
    build,
    dim::Dim,
    ir::{Inst, Module, Scan, ValueId},
    ops, opt,
    plan::{BufferId, Update, graph::ItemId},
    ty::{Shape, Type},
};

impl Arranger<'_> {
    /// The first result of a loop; the others are read later.
    pub(super) fn scan(&mut self, value: ValueId, inst: &Inst, scan: &Scan) -> View {
        let types: Vec<Type> = inst.operands.iter().map(|operand| self.module.ty(*operand).clone()).collect();
        let carries = scan.carry_count();
        let accesses = scan.accesses(types.iter().map(Type::rank));
        let steps = Scan::counted(&accesses).map(|counted| types[counted].shape[0].clone());
        // An operand that only counts the steps is not passed, so it need not be in memory.
        let is_passed = passed(scan);
        let body = opt::of_body(&with_inputs(&scan.body, &is_passed), &self.symbols);
        let updates: Vec<Update> = (0..carries)
            .filter(|carry| is_updated(&body, *carry))
            .map(|carry| Update { output: carry, input: carry })
            .collect();
        let body = (self.plan_of)(&body, &updates);
        // A single number is stored as one element.
        let stored = |ty: Type| if ty.rank() == 0 { ty.with_shape(Shape::literal(&[1])) } else { ty };
        let results = ops::results_of_loop(&inst.op, scan, &types.iter().collect::<Vec<_>>());
        let results: Vec<Type> = results.into_iter().map(stored).collect();
        let operands = types.into_iter().zip(accesses).zip(&is_passed);
        let operands = operands.filter(|(_, is_passed)| **is_passed).map(|(operand, _)| operand).collect();
        let reads = inst.operands.iter().zip(&is_passed).filter(|(_, is_passed)| **is_passed);
        let reads = reads.map(|(operand, _)| self.argument(*operand)).collect();
        // The items after that of the loop are numbered before they exist.
        let first = self.items.len();
        let result = |at: usize| first + at;
        let mut further = first + results.len()..;
        let carry_items: Vec<(ItemId, Option<ItemId>)> = (0..carries)
            .map(|carry| (result(carry), if body.inputs[carry].updated { None } else { further.next() }))
            .collect();
        let work = LoopWork {
            body,
            steps,
            reverse: scan.reverse,
            guard: scan.guard,
            operands,
            carries: carry_items.clone(),
            stacked: (carries..results.len()).map(result).collect(),
        };
        self.push(value, Work::Loop(Box::new(work)), reads, results[0].clone(), Vec::new());
        if inst.op.has_effect() {
            // Values are shown in the order of the program.
            self.items[first].needs.extend(self.watched.replace(first));
        }
        let second = carry_items.iter().zip(&results).filter(|((_, second), _)| second.is_some());
        for ty in results[1..].iter().chain(second.map(|(_, ty)| ty)) {
            let item = self.push(value, Work::LoopBuffer, Vec::new(), ty.clone(), Vec::new());
            self.items[item].needs.push(first);
        }
        let mut views = results.iter().enumerate().zip(scan.body.outputs()).map(|((at, ty), output)| {
            let view = View::contiguous(BufferId(result(at)), &ty.shape);
            let is_number = at < carries && scan.body.ty(*output).rank() == 0;
            if is_number { view.index(&[Dim::ZERO]).expect(FIRST) } else { view }
        });
        let view = views.next().expect("a verified module has an output");
        self.further.insert(value, views.collect());
        view
    }
}

/// Whether the next value of a carry is the carry with parts replaced, so that a step can update it in place.
fn is_updated(body: &Module, carry: usize) -> bool {
    let next = body.outputs()[carry];
    let mut value = next;
    while body.inst(value).op.changes_part() {
        value = body.inst(value).operands[0];
    }
    // A value that is stored in place of an input cannot also be another result.
    let is_single = body.outputs().iter().filter(|output| **output == next).count() == 1;
    is_single && value != next && value == ValueId::new(carry)
}

/// For each operand of a loop whether a step needs it: the carries, the guard, and the inputs that the body reads.
pub(super) fn passed(scan: &Scan) -> Vec<bool> {
    let count = scan.body.inputs().len();
    let mut passed: Vec<bool> =
        (0..count).map(|at| at < scan.carry_count() || scan.guard() == Some(at)).collect();
    let operands = scan.body.insts().iter().flat_map(|inst| inst.operands.iter());
    for value in operands.chain(scan.body.outputs()).filter(|value| value.index() < count) {
        passed[value.index()] = true;
    }
    passed
}

/// A body with some of its inputs. The others are not read.
fn with_inputs(body: &Module, is_kept: &[bool]) -> Module {
    let inputs = body.inputs().enumerate().filter(|(at, _)| is_kept[*at]);
    let inputs = inputs.map(|(at, (name, ty))| (ValueId::new(at), name.to_string(), ty.clone()));
    let insts = body.iter().filter(|(_, inst)| !inst.op.is_input());
    build::extracted(inputs, insts, body.outputs())
}
