//! The rule of loops: a loop whose carries, elements and results are batched where they depend on batched values.
//!
//! Where the guard depends on a slice, the loop runs a step if some slice runs it. The other slices keep their carries,
//! and their stacked results are zeros.

use std::collections::BTreeMap;

use super::{Batch, Value};
use crate::{
    build::{Builder, free_names},
    diag::Code,
    dim::Bindings,
    ir::{Access, Arrange, Inst, Module, Nested, Op, Reduction, Scan, ValueId},
    map::Map,
    ops::OpError,
    reduce::Reduce,
    ty::{DType, Type},
};

/// Which values of a loop are batched.
struct BatchedParts {
    /// By operand.
    operands: Vec<bool>,
    /// By result of the body.
    results: Vec<bool>,
    /// The operand of the guard, if it is batched.
    mask: Option<usize>,
}

impl Batch<'_> {
    /// Runs a loop for all slices. Returns its results.
    pub(super) fn batch_loop(&mut self, scan: &Scan, inst: &Inst) -> Result<Vec<Value>, Box<OpError>> {
        let carries = scan.carry_count();
        let plan =
            BatchedParts::new(scan, inst.operands.iter().map(|operand| self.is_batched(*operand)).collect());
        let ranks = inst.operands.iter().map(|operand| self.old.ty(*operand).rank());
        let accesses = scan.accesses(ranks);
        let mut operands = Vec::new();
        for (at, operand) in inst.operands.iter().enumerate() {
            operands.push(match (plan.operands[at], accesses[at]) {
                (false, _) => self.values[operand.index()].id,
                (true, Access::Carry | Access::Whole) => self.batched(*operand)?,
                // A step reads its element of every slice.
                (true, Access::Element) => {
                    let elements = self.batched(*operand)?;
                    self.moved(elements, 0, 1)?
                }
            });
        }
        if let Some(mask) = plan.mask {
            let axis = usize::from(accesses[mask] == Access::Element);
            let runs = any(&mut self.builder, operands[mask], axis)?;
            operands.insert(mask, runs);
        }
        let body = self.body(scan, &plan)?;
        // An additional first carry is true if some slice runs the next step.
        let further = usize::from(plan.mask.is_some_and(|mask| mask < carries));
        let all = i64::try_from(carries + further).expect("operands are few");
        let first = self.builder.push(Scan { body, carries: all, ..scan.clone() }.into(), &operands)?;
        let mut results = Vec::new();
        for (at, is_batched) in plan.results.iter().enumerate() {
            let position = at + further;
            let id = match position {
                0 => first,
                _ => self.builder.push(Op::further_result(position), &[first])?,
            };
            let id = if *is_batched && at >= carries { self.moved(id, 1, 0)? } else { id };
            results.push(Value { id, is_batched: *is_batched });
        }
        Ok(results)
    }

    /// The body of the loop over all slices.
    fn body(&self, scan: &Scan, plan: &BatchedParts) -> Result<Nested, Box<OpError>> {
        let mut batch = Batch::new(&scan.body, self.extent, &plan.operands)?;
        batch.run()?;
        let outputs = batch.outputs(|at| plan.results[at])?;
        let step = batch.builder.finish(outputs);
        let body = match plan.mask {
            Some(mask) => masked(&step, scan.carry_count(), mask)?,
            None => step,
        };
        nested(body, &Op::from(scan.clone()))
    }
}

/// A step that runs for the slices for which the input at `mask` is true. A further input, before the mask, is true if
/// the step runs for any slice.
fn masked(step: &Module, carries: usize, mask: usize) -> Result<Module, Box<OpError>> {
    let mut builder = Builder::new();
    let mut inputs = Vec::new();
    let is_taken = |name: &str| step.inputs().any(|(taken, _)| **taken == *name);
    let runs = free_names("runs", is_taken).next().expect("names do not run out");
    for (at, (name, ty)) in step.inputs().enumerate() {
        if at == mask {
            builder.input(runs.clone(), Type::scalar(DType::Bool))?;
        }
        inputs.push(builder.input(name.clone(), ty.clone())?);
    }
    let outputs = builder.inline(step, &inputs, &Bindings::new())?;
    let mut kept = Vec::new();
    for (at, output) in outputs.into_iter().enumerate() {
        let ty = builder.ty(output).clone();
        let otherwise = if at < carries {
            inputs[at]
        } else {
            let zero = builder.constant(ty.dtype, 0.0);
            builder.push(Op::Arrange(Arrange::broadcast(ty.shape.clone())), &[zero])?
        };
        let axes: Vec<i64> = (1..ty.rank() as i64).collect();
        let runs = match axes.is_empty() {
            true => inputs[mask],
            false => builder.push(Op::Arrange(Arrange::expand(axes)), &[inputs[mask]])?,
        };
        kept.push(builder.push(Op::Map(Map::SELECTION), &[runs, output, otherwise])?);
    }
    if mask < carries {
        let goes_on = any(&mut builder, kept[mask], 0)?;
        kept.insert(mask, goes_on);
    }
    Ok(builder.finish(kept))
}

impl BatchedParts {
    /// A carry is batched if its first value is, or if the value of some later step is.
    fn new(scan: &Scan, mut operands: Vec<bool>) -> Self {
        let carries = scan.carry_count();
        loop {
            let mask = scan.guard().filter(|guard| operands[*guard]);
            let depends = dependents(&scan.body, &operands);
            let mut results: Vec<_> =
                scan.body.outputs().iter().map(|output| mask.is_some() || depends[output.index()]).collect();
            let before = operands.clone();
            for (operand, result) in operands.iter_mut().zip(&mut results).take(carries) {
                *operand |= *result;
                *result = *operand;
            }
            if operands == before {
                return Self { operands, results, mask };
            }
        }
    }
}

/// For each value of a module, whether it depends on a marked input. Each result of a loop has its own answer.
fn dependents(module: &Module, inputs: &[bool]) -> Vec<bool> {
    let mut depends = inputs.to_vec();
    let mut results: BTreeMap<ValueId, Vec<bool>> = BTreeMap::new();
    for (value, inst) in module.iter().skip(inputs.len()) {
        let operands: Vec<bool> = inst.operands.iter().map(|operand| depends[operand.index()]).collect();
        if let Some(scan) = inst.op.as_loop() {
            results.insert(value, BatchedParts::new(scan, operands).results);
            depends.push(results[&value][0]);
            continue;
        }
        let of_loop = inst.op.as_further_result().zip(inst.operands.first());
        let of_loop = of_loop.and_then(|(position, of)| Some(results.get(of)?[position]));
        depends.push(of_loop.unwrap_or_else(|| operands.contains(&true)));
    }
    depends
}

/// Whether an element along an axis is true.
fn any(builder: &mut Builder, truths: ValueId, axis: usize) -> Result<ValueId, Box<OpError>> {
    let numbers = builder.push(Op::Map(Map::to(DType::I32)), &[truths])?;
    let reduction = Reduction { axes: vec![axis as i64], keepdims: false };
    let greatest = builder.push(Op::Reduce(Reduce::Max, reduction), &[numbers])?;
    builder.push(Op::Map(Map::to(DType::Bool)), &[greatest])
}

/// A module inside an instruction, or E1008 if it is too large.
pub(super) fn nested(module: Module, op: &Op) -> Result<Nested, Box<OpError>> {
    Nested::new(module).map_err(|fault| OpError::new(op, Code::E1008).problem(fault.to_string()).into())
}
