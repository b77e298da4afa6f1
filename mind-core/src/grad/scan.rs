//! The derivative of a loop: a loop forwards, which also stacks the values that the derivative reads, and a loop backwards.
//!
//! The gradient of the body is cut into the bodies of both. The values that depend on no cotangent belong to the loop forwards. It
//! stacks those of them that the other loop reads, unless they cost little to compute again.

use crate::{
    build::Builder,
    canon,
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, activity::Activity, push, raw},
    ir::{Access, Inst, Module, Nested, Op, Scan, ValueId},
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
    /// The loop backwards. Its first operands are the cotangents of `carries`, then the sums of the cotangents of
    /// `captured`, then `reads`; its results are both of these and the stacked cotangents of `iterated`.
    pub(super) backward: Scan,
    /// The operands that have cotangents: carries, captured ones, iterated ones.
    pub(super) carries: Vec<usize>,
    pub(super) captured: Vec<usize>,
    pub(super) iterated: Vec<usize>,
    /// The operands of the loop backwards behind its carries.
    pub(super) reads: Vec<Read>,
}

/// An operand of the loop backwards.
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
    let Some(gradient) = BodyGradient::new(scan, operands, wanted)? else { return Ok(None) };
    let carries = gradient.carries;
    let parameters = || gradient.parameters.iter().copied();
    let carried: Vec<usize> = parameters().filter(|input| *input < carries).collect();
    let (iterated, captured): (Vec<usize>, Vec<usize>) = parameters()
        .filter(|input| *input >= carries)
        .partition(|input| gradient.accesses[*input] == Access::Element);
    let needs = gradient.needs_backwards();
    let forward = Scan { body: gradient.forward(&needs.stacked)?, ..scan.clone() };
    let (body, reads) = gradient.backward(&needs, [&carried, &captured, &iterated])?;
    let sums = i64::try_from(carried.len() + captured.len()).expect("operands are few");
    Ok(Some(Loops {
        forward,
        results: scan.body.outputs().len(),
        backward: Scan { body, carries: sums, reverse: !scan.reverse },
        carries: carried,
        captured,
        iterated,
        reads,
    }))
}

/// The gradient of the body of a loop.
struct BodyGradient {
    /// The inputs are those of the body, then the cotangent of each of `results`. The outputs are `results`, the cotangents of
    /// `parameters`, then all results of the body.
    module: Module,
    /// How many inputs the body has.
    inputs: usize,
    carries: usize,
    accesses: Vec<Access>,
    /// The results of the body that have cotangents.
    results: Vec<usize>,
    /// The inputs of the body that have cotangents.
    parameters: Vec<usize>,
}

/// The values of the gradient that the loop backwards needs.
struct Needs {
    /// For each value whether it is needed.
    is_needed: Vec<bool>,
    /// Those that the loop forwards stacks, ascending.
    stacked: Vec<ValueId>,
}

impl BodyGradient {
    /// By the operands that are `wanted`, and the carries that depend on them; nothing where none reaches a result.
    fn new(scan: &Scan, operands: &[&Type], wanted: &[bool]) -> Result<Option<Self>, AutodiffError> {
        let (body, inputs, carries) = (&*scan.body, operands.len(), scan.carry_count());
        let outputs = body.outputs();
        let mut active: Vec<bool> =
            operands.iter().zip(wanted).map(|(ty, wanted)| *wanted && ty.dtype.is_float()).collect();
        // A carry that depends on a parameter after one step passes that on to the next.
        let activity = loop {
            let of_active = (0..inputs).filter(|input| active[*input]).map(ValueId::new);
            let activity = Activity::new(body, of_active);
            let more = (0..carries).find(|carry| !active[*carry] && activity.is_active(outputs[*carry]));
            match more {
                Some(carry) => active[carry] = true,
                None => break activity,
            }
        };
        let results: Vec<usize> =
            (0..outputs.len()).filter(|result| activity.is_active(outputs[*result])).collect();
        if results.is_empty() {
            return Ok(None);
        }
        let of_results = results.iter().map(|result| outputs[*result]).collect();
        let primal = Module::from_parts(body.insts().to_vec(), of_results);
        let parameters: Vec<usize> = (0..inputs).filter(|input| active[*input]).collect();
        let wrt = parameters.iter().map(|input| Wrt { input: ValueId::new(*input), zero_ok: true });
        let options =
            GradientOptions { wrt: wrt.collect(), cotangent: Cotangent::Input, profile: Profile::Extended };
        let module = canon::form(&raw(&primal, &options, outputs)?);
        let accesses = scan.accesses(operands.iter().map(|ty| ty.rank()));
        Ok(Some(Self { module, inputs, carries, accesses, results, parameters }))
    }

    /// The cotangents of the parameters.
    fn cotangents(&self) -> &[ValueId] {
        &self.module.outputs()[self.results.len()..][..self.parameters.len()]
    }

    /// The results of the body.
    fn body_outputs(&self) -> &[ValueId] {
        &self.module.outputs()[self.results.len() + self.parameters.len()..]
    }

    fn needs_backwards(&self) -> Needs {
        let count = self.module.insts().len();
        let (mut by_cotangent, mut is_fixed) = (vec![false; count], vec![false; count]);
        for (value, inst) in self.module.iter() {
            let at = value.index();
            if inst.op.is_input() {
                by_cotangent[at] = at >= self.inputs;
                is_fixed[at] = self.accesses.get(at) == Some(&Access::Whole);
            } else {
                by_cotangent[at] = inst.operands.iter().any(|operand| by_cotangent[operand.index()]);
                is_fixed[at] = inst.operands.iter().all(|operand| is_fixed[operand.index()]);
            }
        }
        let mut needs = Needs { is_needed: vec![false; count], stacked: Vec::new() };
        self.cotangents().iter().for_each(|output| needs.is_needed[output.index()] = true);
        for (value, inst) in self.module.iter().rev() {
            let at = value.index();
            if !needs.is_needed[at] || (inst.op.is_input() && at >= self.carries) {
                continue;
            }
            if !inst.op.is_input() && (by_cotangent[at] || is_fixed[at] || is_cheap(inst)) {
                inst.operands.iter().for_each(|operand| needs.is_needed[operand.index()] = true);
            } else {
                needs.stacked.push(value);
            }
        }
        needs.stacked.reverse();
        needs
    }

    /// The body of the loop forwards: that of the loop, with the stacked values as further results.
    fn forward(&self, stacked: &[ValueId]) -> Result<Nested, AutodiffError> {
        let mut outputs = self.body_outputs().to_vec();
        outputs.extend(stacked);
        let mut is_needed: Vec<bool> = self.module.insts().iter().map(|inst| inst.op.has_effect()).collect();
        outputs.iter().for_each(|output| is_needed[output.index()] = true);
        for (value, inst) in self.module.iter().rev() {
            if is_needed[value.index()] {
                inst.operands.iter().for_each(|operand| is_needed[operand.index()] = true);
            }
        }
        let mut half = Half::new(&self.module);
        for (input, (name, ty)) in self.module.inputs().take(self.inputs).enumerate() {
            half.input(Some(ValueId::new(input)), name, ty)?;
        }
        half.copy(&is_needed)?;
        half.finish(&outputs)
    }

    /// The body of the loop backwards, and the operands behind its carries.
    fn backward(
        &self,
        needs: &Needs,
        [carried, captured, iterated]: [&[usize]; 3],
    ) -> Result<(Nested, Vec<Read>), AutodiffError> {
        let mut half = Half::new(&self.module);
        let ty = |input: usize| self.module.ty(ValueId::new(input));
        // A carry is a cotangent of the gradient only if its result has one.
        let of_result = |result: &usize| {
            let position = self.results.iter().position(|other| other == result);
            position.map(|position| ValueId::new(self.inputs + position))
        };
        for carry in carried {
            half.input(of_result(carry), &format!("dy{carry}"), ty(*carry))?;
        }
        let mut sums = Vec::new();
        for input in captured {
            sums.push(half.input(None, &format!("sum{input}"), ty(*input))?);
        }
        let mut reads = Vec::new();
        for (position, value) in needs.stacked.iter().enumerate() {
            half.input(Some(*value), &format!("kept{position}"), self.module.ty(*value))?;
            reads.push(Read::Stacked(position));
        }
        for result in self.results.iter().filter(|result| **result >= self.carries) {
            let cotangent = of_result(result);
            let of_step = cotangent.map(ValueId::index).map(ty);
            half.input(cotangent, &format!("dz{result}"), of_step.expect("it is one of the results"))?;
            reads.push(Read::Cotangent(*result));
        }
        // An iterated operand decides the number of steps.
        let mut is_counted = !reads.is_empty();
        for input in self.carries..self.inputs {
            let is_iterated = self.accesses[input] == Access::Element;
            if needs.is_needed[input] || (is_iterated && !is_counted) {
                half.input(Some(ValueId::new(input)), &format!("x{input}"), ty(input))?;
                reads.push(Read::Operand(input));
                is_counted |= is_iterated;
            }
        }
        half.copy(&needs.is_needed)?;
        let cotangent = |input: &usize| {
            let position = self.parameters.iter().position(|parameter| parameter == input);
            half.values[self.cotangents()[position.expect("only parameters have cotangents")].index()]
                .expect("the cotangents of parameters are needed")
        };
        let [mut outputs, of_captured, of_iterated] = [carried, captured, iterated]
            .map(|inputs| inputs.iter().map(cotangent).collect::<Vec<ValueId>>());
        for (sum, more) in sums.into_iter().zip(of_captured) {
            outputs.push(formula(&mut half.builder, "sum + more", &[("sum", sum), ("more", more)])?);
        }
        outputs.extend(of_iterated);
        Ok((held(half.builder.finish(outputs))?, reads))
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

/// A part of a module on its way to a module of its own.
struct Half<'m> {
    module: &'m Module,
    builder: Builder,
    /// The copy of each value of the module, if it is here.
    values: Vec<Option<ValueId>>,
}

impl<'m> Half<'m> {
    fn new(module: &'m Module) -> Self {
        Self { module, builder: Builder::new(), values: vec![None; module.insts().len()] }
    }

    /// An input, which stands for a value of the module if one is given.
    fn input(&mut self, value: Option<ValueId>, name: &str, ty: &Type) -> Result<ValueId, AutodiffError> {
        let input = self.builder.input(name, ty.clone());
        let input = input.map_err(|error| AutodiffError::Verification(error.to_string()))?;
        if let Some(value) = value {
            self.values[value.index()] = Some(input);
        }
        Ok(input)
    }

    /// Copies the instructions that are needed and not here yet.
    fn copy(&mut self, is_needed: &[bool]) -> Result<(), AutodiffError> {
        for (value, inst) in self.module.iter().filter(|(_, inst)| !inst.op.is_input()) {
            if is_needed[value.index()] && self.values[value.index()].is_none() {
                let operands = inst.operands.map(|operand| self.copied(operand));
                self.values[value.index()] = Some(push(&mut self.builder, inst.op.clone(), &operands)?);
            }
        }
        Ok(())
    }

    fn copied(&self, value: ValueId) -> ValueId {
        self.values[value.index()].expect("operands of what is needed are needed")
    }

    fn finish(self, outputs: &[ValueId]) -> Result<Nested, AutodiffError> {
        let outputs: Vec<ValueId> = outputs.iter().map(|output| self.copied(*output)).collect();
        held(self.builder.finish(outputs))
    }
}

fn held(module: Module) -> Result<Nested, AutodiffError> {
    Nested::new(canon::form(&module)).map_err(|fault| AutodiffError::UnsupportedShape(fault.to_string()))
}
