//! The derivative of a loop: one loop forwards, which also stacks what the derivative reads, and one in the other direction.
//!
//! The gradient of the body is cut in two: what depends on no cotangent is computed by the loop forwards, and of that the values
//! that the other half reads are stacked, but for those that cost little to compute again.

use std::{collections::HashMap, sync::Arc};

use crate::{
    build::Builder,
    canon,
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, activity::Activity, push, raw},
    ir::{Inst, Module, Nested, Op, Operands, Scan, ValueId},
    map::formula,
    ops::{Motion, Profile},
    ty::Type,
};

/// Both loops of a derivative.
pub(super) struct Loops {
    /// The loop as it was, with the stacked values as further results.
    pub(super) forward: Scan,
    /// How many results it has without them.
    pub(super) results: usize,
    /// The loop in the other direction. Its first operands are the cotangents of `carries`, then the sums of the cotangents of
    /// `captured`, then `reads`; its results are both of these and the stacked cotangents of `iterated`.
    pub(super) backward: Scan,
    /// The operands that have cotangents, by what they are to the loop.
    pub(super) carries: Vec<usize>,
    pub(super) captured: Vec<usize>,
    pub(super) iterated: Vec<usize>,
    pub(super) reads: Vec<Read>,
}

/// What a step of the loop backwards reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A value of the step forwards, by its position among those that are stacked.
    Stacked(usize),
    /// An operand of the loop.
    Operand(usize),
    /// The cotangent of a result that is stacked.
    Cotangent(usize),
}

/// The loops of the derivative by the operands that are `wanted`; nothing where none of them reaches a result.
pub(super) fn loops(
    scan: &Scan,
    operands: &[&Type],
    wanted: &[bool],
) -> Result<Option<Loops>, AutodiffError> {
    let body: &Module = &scan.body;
    let (count, carries) = (operands.len(), scan.carry_count());
    let is_iterated = scan.iterated(operands.iter().map(|ty| ty.rank()));
    let mut active: Vec<bool> =
        operands.iter().zip(wanted).map(|(ty, wanted)| *wanted && ty.dtype.is_float()).collect();
    // A carry that depends on a parameter after one step passes that on to the next.
    let activity = loop {
        let inputs = (0..count).filter(|input| active[*input]).map(ValueId::new);
        let activity = Activity::new(body, inputs);
        let more = (0..carries).find(|carry| !active[*carry] && activity.is_active(body.outputs()[*carry]));
        match more {
            Some(carry) => active[carry] = true,
            None => break activity,
        }
    };
    let results: Vec<usize> =
        (0..body.outputs().len()).filter(|result| activity.is_active(body.outputs()[*result])).collect();
    if results.is_empty() {
        return Ok(None);
    }
    let outputs = results.iter().map(|result| body.outputs()[*result]).collect();
    let primal = Module::from_parts(body.insts().to_vec(), outputs);
    let parameters: Vec<usize> = (0..count).filter(|input| active[*input]).collect();
    let options = GradientOptions {
        wrt: parameters.iter().map(|input| Wrt { input: ValueId::new(*input), zero_ok: true }).collect(),
        cotangent: Cotangent::Input,
        profile: Profile::Extended,
    };
    let gradient = canon::form(&raw(&primal, &options)?);
    let cut = Cut::of(&gradient, count, carries, &is_iterated);

    let carried: Vec<usize> = parameters.iter().copied().filter(|input| *input < carries).collect();
    let (iterated, captured): (Vec<usize>, Vec<usize>) =
        parameters.iter().copied().filter(|input| *input >= carries).partition(|input| is_iterated[*input]);
    let half = Half { gradient: &gradient, cut: &cut, body, results: &results, carries };
    let (backward, reads) = half.backward(&carried, &captured, &iterated, &parameters, &is_iterated)?;
    Ok(Some(Loops {
        forward: Scan { body: half.forward()?, ..scan.clone() },
        results: body.outputs().len(),
        backward: Scan {
            body: backward,
            carries: i64::try_from(carried.len() + captured.len()).expect("operands are few"),
            reverse: !scan.reverse,
        },
        carries: carried,
        captured,
        iterated,
        reads,
    }))
}

/// Which values of the gradient of a body are computed where.
struct Cut {
    /// Those that the loop backwards computes or has among its inputs.
    backward: Vec<bool>,
    /// Those that are stacked, ascending.
    stacked: Vec<ValueId>,
}

impl Cut {
    fn of(gradient: &Module, count: usize, carries: usize, is_iterated: &[bool]) -> Self {
        let insts = gradient.insts();
        let results = gradient.inputs().len() - count;
        let (mut by_cotangent, mut is_fixed) = (vec![false; insts.len()], vec![false; insts.len()]);
        for (value, inst) in gradient.iter() {
            let at = value.index();
            if inst.op.is_input() {
                by_cotangent[at] = at >= count;
                is_fixed[at] = (carries..count).contains(&at) && !is_iterated[at];
            } else {
                by_cotangent[at] = inst.operands.iter().any(|operand| by_cotangent[operand.index()]);
                is_fixed[at] = inst.operands.iter().all(|operand| is_fixed[operand.index()]);
            }
        }
        let (mut backward, mut stacked) = (vec![false; insts.len()], Vec::new());
        gradient.outputs()[results..].iter().for_each(|output| backward[output.index()] = true);
        for (value, inst) in gradient.iter().rev() {
            let at = value.index();
            if !backward[at] || (inst.op.is_input() && at >= carries) {
                continue;
            }
            if !inst.op.is_input() && (by_cotangent[at] || is_fixed[at] || is_cheap(inst)) {
                inst.operands.iter().for_each(|operand| backward[operand.index()] = true);
            } else {
                stacked.push(value);
            }
        }
        stacked.reverse();
        Self { backward, stacked }
    }
}

/// Whether a value costs no more to compute than to load.
fn is_cheap(inst: &Inst) -> bool {
    match &inst.op {
        Op::Map(map) => !map.row().cost.is_worth_keeping(),
        op => match op.motion() {
            Some(Motion::Order | Motion::Axes(_) | Motion::Repeat | Motion::At(_) | Motion::Taken(_)) => true,
            Some(Motion::Put(_)) | None => false,
        },
    }
}

/// What both halves are made of.
struct Half<'a> {
    gradient: &'a Module,
    cut: &'a Cut,
    body: &'a Module,
    /// The results of the body that have cotangents, in the order of the gradient's inputs.
    results: &'a [usize],
    carries: usize,
}

impl Half<'_> {
    /// The body of the loop forwards: that of the loop, and what is stacked.
    fn forward(&self) -> Result<Nested, AutodiffError> {
        let mut maker = Maker::default();
        let inputs: Vec<ValueId> =
            self.body.inputs().map(|(name, ty)| maker.input(name, ty)).collect::<Result<_, _>>()?;
        let mut values = inputs.clone();
        for inst in &self.body.insts()[inputs.len()..] {
            let made = maker.push(&inst.op, inst.operands.map(|operand| values[operand.index()]))?;
            values.push(made);
        }
        let mut outputs: Vec<_> = self.body.outputs().iter().map(|output| values[output.index()]).collect();
        let mut needed = vec![false; self.gradient.insts().len()];
        self.cut.stacked.iter().for_each(|value| needed[value.index()] = true);
        for (value, inst) in self.gradient.iter().rev().filter(|(_, inst)| !inst.op.is_input()) {
            if needed[value.index()] {
                inst.operands.iter().for_each(|operand| needed[operand.index()] = true);
            }
        }
        let mut copies: Vec<Option<ValueId>> = inputs.into_iter().map(Some).collect();
        copies.resize(self.gradient.insts().len(), None);
        for (value, inst) in self.gradient.iter() {
            if needed[value.index()] && !inst.op.is_input() {
                copies[value.index()] =
                    Some(maker.push(&inst.op, inst.operands.map(|operand| copied(&copies, operand)))?);
            }
        }
        outputs.extend(self.cut.stacked.iter().map(|value| copied(&copies, *value)));
        held(maker.builder.finish(outputs))
    }

    /// The body of the loop backwards, and what its inputs behind the carries are.
    fn backward(
        &self,
        carried: &[usize],
        captured: &[usize],
        iterated: &[usize],
        parameters: &[usize],
        is_iterated: &[bool],
    ) -> Result<(Nested, Vec<Read>), AutodiffError> {
        let (gradient, count) = (self.gradient, self.body.inputs().len());
        let mut maker = Maker::default();
        let mut values: Vec<Option<ValueId>> = vec![None; gradient.insts().len()];
        let ty = |input: usize| gradient.ty(ValueId::new(input));
        let mut cotangents = Vec::new();
        for carry in carried {
            cotangents.push(maker.named("dy", *carry, ty(*carry))?);
        }
        let mut sums = Vec::new();
        for input in captured {
            sums.push(maker.named("sum", *input, ty(*input))?);
        }
        let mut reads = Vec::new();
        for (position, value) in self.cut.stacked.iter().enumerate() {
            values[value.index()] = Some(maker.named("kept", position, gradient.ty(*value))?);
            reads.push(Read::Stacked(position));
        }
        for (position, result) in self.results.iter().enumerate() {
            let input = count + position;
            if *result < self.carries {
                let carry = carried.iter().position(|carry| carry == result);
                values[input] = Some(cotangents[carry.expect("a carry that has a cotangent is a parameter")]);
            } else {
                values[input] = Some(maker.named("dz", *result, ty(input))?);
                reads.push(Read::Cotangent(*result));
            }
        }
        // Something tells the number of steps.
        let mut is_told = !reads.is_empty();
        for input in self.carries..count {
            let is_read = self.cut.backward[input];
            if is_read || (is_iterated[input] && !is_told) {
                values[input] = Some(maker.named("x", input, ty(input))?);
                reads.push(Read::Operand(input));
                is_told |= is_iterated[input];
            }
        }
        for (value, inst) in gradient.iter() {
            if self.cut.backward[value.index()] && !inst.op.is_input() && values[value.index()].is_none() {
                let operands = inst.operands.map(|operand| copied(&values, operand));
                values[value.index()] = Some(maker.push(&inst.op, operands)?);
            }
        }
        let flowing = |input: &usize| {
            let position = parameters.iter().position(|parameter| parameter == input);
            let position = position.expect("what has a cotangent is a parameter");
            copied(&values, gradient.outputs()[self.results.len() + position])
        };
        let mut outputs: Vec<ValueId> = carried.iter().map(flowing).collect();
        for (sum, input) in sums.into_iter().zip(captured) {
            let names = [("sum", sum), ("more", flowing(input))];
            outputs.push(formula(&mut maker.builder, "sum + more", &names)?);
        }
        outputs.extend(iterated.iter().map(flowing));
        Ok((held(maker.builder.finish(outputs))?, reads))
    }
}

fn copied(values: &[Option<ValueId>], value: ValueId) -> ValueId {
    values[value.index()].expect("operands of what is needed are needed")
}

fn held(module: Module) -> Result<Nested, AutodiffError> {
    Nested::new(canon::form(&module)).map_err(|fault| AutodiffError::UnsupportedShape(fault.to_string()))
}

/// A module in which no operation stands twice on the same operands.
#[derive(Default)]
struct Maker {
    builder: Builder,
    known: HashMap<(Op, Operands), ValueId>,
}

impl Maker {
    fn input(&mut self, name: &Arc<str>, ty: &Type) -> Result<ValueId, AutodiffError> {
        let input = self.builder.input(name.clone(), ty.clone());
        input.map_err(|error| AutodiffError::Verification(error.to_string()))
    }

    fn named(&mut self, name: &str, number: usize, ty: &Type) -> Result<ValueId, AutodiffError> {
        self.input(&format!("{name}{number}").into(), ty)
    }

    fn push(&mut self, op: &Op, operands: Operands) -> Result<ValueId, AutodiffError> {
        if let Some(known) = self.known.get(&(op.clone(), operands.clone())) {
            return Ok(*known);
        }
        let made = push(&mut self.builder, op.clone(), &operands)?;
        self.known.insert((op.clone(), operands), made);
        Ok(made)
    }
}
