//! The derivative of a loop: a forward loop, which also stacks the values that the derivative reads, and a backward
//! loop.
//!
//! The gradient of the body is cut into the bodies of both. The values that depend on no cotangent belong to the
//! forward loop. It stacks those of them that the backward loop reads, unless they cost little to compute again from
//! values that take no more memory.
//!
//! The cotangent of a captured operand is a sum over the steps. A matrix product in this sum is not computed in each
//! step: its factors are stacked over all steps, and one product after the loop computes the sum.

mod needs;

use std::collections::BTreeMap;

use crate::{
    build::Builder,
    canon,
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, activity::Activity, push, raw},
    ir::{Access, Guard, Module, Nested, Scan, ValueId},
    map::formula,
    ops::Profile,
    ty::Type,
};

use self::needs::{Availability, CapturedTerms, Needs, ProductFactor};

/// Both loops of a derivative.
pub(super) struct Loops {
    /// The original loop, with the stacked values as further results.
    pub(super) forward: Scan,
    /// The number of results of the original loop.
    pub(super) results: usize,
    /// The backward loop; `None` if only products after the loop remain. Its operands are the cotangents of `carries`,
    /// the sums of `captured`, then `reads`. Its results are the cotangents of `carries`, the sums of `captured`, the
    /// stacked cotangents of `iterated`, then stacked factors.
    pub(super) backward: Option<Scan>,
    /// The carries that have cotangents.
    pub(super) carries: Vec<usize>,
    /// The captured operands that have cotangents.
    pub(super) captured: Vec<Captured>,
    /// The iterated operands that have cotangents.
    pub(super) iterated: Vec<usize>,
    /// The operands of the backward loop after its carries.
    pub(super) reads: Vec<LoopRead>,
}

/// The cotangent of a captured operand: the sum that the backward loop adds up, plus products after the loop.
pub(super) struct Captured {
    pub(super) operand: usize,
    /// Whether the backward loop adds up a part of it.
    pub(super) is_summed: bool,
    /// The factors of each product.
    pub(super) products: Vec<[StackedFactor; 2]>,
}

/// A factor of a product `aᵀ @ b` after the loop. It is stacked over the steps: matrices, or vectors that are rows.
#[derive(Clone, Copy)]
pub(super) struct StackedFactor {
    pub(super) of: StackedLocation,
    /// Whether each matrix is transposed first.
    pub(super) is_transposed: bool,
}

/// The place of a stacked value after the backward loop.
#[derive(Clone, Copy)]
pub(super) enum StackedLocation {
    /// A value that exists without the backward loop.
    Read(LoopRead),
    /// A result of the backward loop, by its position.
    Result(usize),
}

/// An operand of the backward loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopRead {
    /// A value that the forward loop stacks, by its position among the stacked values.
    Stacked(usize),
    /// An operand of the loop.
    Operand(usize),
    /// The transpose of a captured operand of the loop.
    Transposed(usize),
    /// The cotangent of a stacked result, by the position of the result.
    Cotangent(usize),
}

/// The loops of the derivative with respect to the `wanted` operands, of the results that have cotangents; `None` if
/// none of them depends on these operands.
pub(super) fn loops(
    scan: &Scan,
    operands: &[&Type],
    wanted: &[bool],
    has_cotangent: &[bool],
) -> Result<Option<Loops>, AutodiffError> {
    if !has_cotangent.contains(&true) {
        return Ok(None);
    }
    let Some(gradient) = BodyGradient::new(scan, operands, wanted, has_cotangent)? else { return Ok(None) };
    if Scan::counted(&gradient.accesses).is_none() {
        return Err(AutodiffError::UnlimitedLoop);
    }
    let needs = gradient.needs_backwards();
    let residuals = scan.residuals + i64::try_from(needs.stacked.len()).expect("values are few");
    let forward = Scan { body: gradient.forward(&needs.stacked)?, residuals, ..scan.clone() };
    let (backward, reads) = gradient.backward(&needs)?;
    let sums = needs.carried.len() + needs.captured.iter().filter(|sum| !sum.added.is_empty()).count();
    let carries = i64::try_from(sums).expect("operands are few");
    let stacked = sums + needs.iterated.len();
    Ok(Some(Loops {
        forward,
        results: scan.body.outputs().len(),
        backward: backward.map(|body| {
            // The backward loop runs the same steps. An operand decides which steps these are.
            let guard = if scan.guard == Guard::Always { Guard::Always } else { Guard::Operand };
            let reverse = !scan.reverse;
            Scan { reverse, checkpoint: scan.checkpoint, ..Scan::new(body, carries, guard) }
        }),
        captured: needs.captured.iter().map(|sum| gradient.captured(sum, &needs, stacked)).collect(),
        carries: needs.carried,
        iterated: needs.iterated,
        reads,
    }))
}

/// The gradient of the body of a loop.
struct BodyGradient {
    /// The inputs are the inputs of the body, then the cotangent of each of `results`. The outputs are `results`, the
    /// cotangents of `parameters`, then all results of the body.
    module: Module,
    /// The number of inputs of the body.
    inputs: usize,
    carries: usize,
    accesses: Vec<Access>,
    /// The input of the body that decides whether a step runs, if there is one.
    guard: Option<usize>,
    /// Whether the residuals of all steps are kept.
    keeps_residuals: bool,
    /// The results of the body that have cotangents.
    results: Vec<usize>,
    /// The inputs of the body that have cotangents.
    parameters: Vec<usize>,
}

impl BodyGradient {
    /// The gradient with respect to the `wanted` operands and the carries that depend on them; `None` if no result
    /// does.
    fn new(
        scan: &Scan,
        operands: &[&Type],
        wanted: &[bool],
        has_cotangent: &[bool],
    ) -> Result<Option<Self>, AutodiffError> {
        let (body, inputs, carries) = (&*scan.body, operands.len(), scan.carry_count());
        let outputs = body.outputs();
        let mut active: Vec<bool> =
            operands.iter().zip(wanted).map(|(ty, wanted)| *wanted && ty.dtype.is_float()).collect();
        // If a carry depends on a parameter after one step, all values that read the carry do in the next step.
        let activity = loop {
            let of_active = (0..inputs).filter(|input| active[*input]).map(ValueId::new);
            let activity = Activity::new(body, of_active);
            let more = (0..carries).find(|carry| !active[*carry] && activity.is_active(outputs[*carry]));
            match more {
                Some(carry) => active[carry] = true,
                None => break activity,
            }
        };
        // A step that does not run returns its carries, whatever the body computes from them.
        let may_return = |result: usize| scan.guard != Guard::Always && result < carries && active[result];
        let depends = |result: &usize| activity.is_active(outputs[*result]) || may_return(*result);
        // Each later step reads the carries. A cotangent of zeros for another result may become NaN.
        let is_seen = |result: &usize| *result < carries || has_cotangent[*result];
        let results: Vec<usize> = (0..outputs.len()).filter(is_seen).filter(depends).collect();
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
        let (guard, keeps_residuals) = (scan.guard(), scan.checkpoint == 0);
        Ok(Some(Self { module, inputs, carries, accesses, guard, keeps_residuals, results, parameters }))
    }

    /// The cotangents of the parameters.
    fn cotangents(&self) -> &[ValueId] {
        &self.module.outputs()[self.results.len()..][..self.parameters.len()]
    }

    /// The results of the body.
    fn body_outputs(&self) -> &[ValueId] {
        &self.module.outputs()[self.results.len() + self.parameters.len()..]
    }

    /// The cotangent of a parameter.
    fn cotangent(&self, parameter: usize) -> ValueId {
        let position = self.parameters.iter().position(|other| *other == parameter);
        self.cotangents()[position.expect("only parameters have cotangents")]
    }

    /// A captured operand with its products. `first` is the first result of the backward loop that is a factor.
    fn captured(&self, sum: &CapturedTerms, needs: &Needs, first: usize) -> Captured {
        let factor = |part: ProductFactor| {
            let of = self.outside(part.value).map(StackedLocation::Read);
            let of = of.unwrap_or_else(|| match needs.factors.binary_search(&part.value) {
                Ok(position) => StackedLocation::Result(first + position),
                Err(_) => {
                    let stacked = needs.stacked.binary_search(&part.value);
                    StackedLocation::Read(LoopRead::Stacked(
                        stacked.expect("a factor is stacked by one of the loops"),
                    ))
                }
            });
            StackedFactor { of, is_transposed: part.is_transposed }
        };
        let products = sum.products.iter().map(|parts| parts.map(factor)).collect();
        Captured { operand: sum.operand, is_summed: !sum.added.is_empty(), products }
    }

    /// The body of the forward loop: the body of the loop, with the stacked values as further results.
    fn forward(&self, stacked: &[ValueId]) -> Result<Nested, AutodiffError> {
        let mut outputs = self.body_outputs().to_vec();
        outputs.extend(stacked);
        let known = self.known();
        let effects = self.module.effects().filter(|value| known[value.index()] != Availability::Backwards);
        let is_needed = self.module.needed_by(outputs.iter().copied().chain(effects));
        let mut half = Half::new(&self.module);
        for (input, (name, ty)) in self.module.inputs().take(self.inputs).enumerate() {
            half.input(Some(ValueId::new(input)), name, ty)?;
        }
        half.copy(&is_needed)?;
        half.finish(&outputs)
    }

    /// The body of the backward loop, unless it has no results, and the operands after its carries.
    fn backward(&self, needs: &Needs) -> Result<(Option<Nested>, Vec<LoopRead>), AutodiffError> {
        let mut half = Half::new(&self.module);
        let ty = |input: usize| self.module.ty(ValueId::new(input));
        // A carry is a cotangent of the gradient only if its result has one.
        let of_result = |result: &usize| {
            let position = self.results.iter().position(|other| other == result);
            position.map(|position| ValueId::new(self.inputs + position))
        };
        for carry in &needs.carried {
            half.input(of_result(carry), &format!("dy{carry}"), ty(*carry))?;
        }
        let summed = || needs.captured.iter().filter(|sum| !sum.added.is_empty());
        let mut sums = Vec::new();
        for CapturedTerms { operand, .. } in summed() {
            sums.push(half.input(None, &format!("sum{operand}"), ty(*operand))?);
        }
        let mut reads = Vec::new();
        // The guard comes first.
        if let Some(guard) = self.guard {
            half.input(Some(ValueId::new(guard)), "runs", ty(guard))?;
            reads.push(match self.accesses[guard] {
                Access::Element | Access::Whole => LoopRead::Operand(guard),
                Access::Carry => {
                    let stacked = needs.stacked.binary_search(&ValueId::new(guard));
                    LoopRead::Stacked(stacked.expect("a guard that is a carry is stacked"))
                }
            });
        }
        let is_guard = |value: ValueId| self.guard == Some(value.index());
        for (position, value) in needs.stacked.iter().enumerate() {
            if needs.is_needed[value.index()] && !is_guard(*value) {
                half.input(Some(*value), &format!("kept{position}"), self.module.ty(*value))?;
                reads.push(LoopRead::Stacked(position));
            }
        }
        for result in self.results.iter().filter(|result| **result >= self.carries) {
            let cotangent = of_result(result).expect("it is one of the results");
            if needs.is_needed[cotangent.index()] {
                half.input(Some(cotangent), &format!("dz{result}"), self.module.ty(cotangent))?;
                reads.push(LoopRead::Cotangent(*result));
            }
        }
        // An iterated operand decides the number of steps.
        let is_whole = |read: &LoopRead| match read {
            LoopRead::Operand(input) => self.accesses[*input] == Access::Whole,
            LoopRead::Stacked(_) | LoopRead::Transposed(_) | LoopRead::Cotangent(_) => false,
        };
        let mut is_counted = !reads.iter().all(is_whole);
        for input in (self.carries..self.inputs).filter(|input| Some(*input) != self.guard) {
            let is_iterated = self.accesses[input] == Access::Element;
            if needs.is_needed[input] || (is_iterated && !is_counted) {
                half.input(Some(ValueId::new(input)), &format!("x{input}"), ty(input))?;
                reads.push(LoopRead::Operand(input));
                is_counted |= is_iterated;
            }
        }
        let mut transposes = BTreeMap::new();
        for (value, inst) in self.module.iter().filter(|(value, _)| needs.is_needed[value.index()]) {
            let Some(operand) = self.transposed_operand(value) else { continue };
            let input = match transposes.get(&operand) {
                Some(input) => *input,
                None => {
                    reads.push(LoopRead::Transposed(operand));
                    half.input(None, &format!("x{operand}_transposed"), &inst.ty)?
                }
            };
            transposes.insert(operand, input);
            half.values[value.index()] = Some(input);
        }
        half.copy(&needs.is_needed)?;
        let cotangent = |input: &usize| self.cotangent(*input);
        let mut outputs: Vec<ValueId> =
            needs.carried.iter().map(|carry| half.copied(cotangent(carry))).collect();
        for (mut sum, CapturedTerms { added, .. }) in sums.into_iter().zip(summed()) {
            for term in added {
                let term = half.copied(*term);
                sum = formula(&mut half.builder, "sum + term", &[("sum", sum), ("term", term)])?;
            }
            outputs.push(sum);
        }
        let stacked = needs.iterated.iter().map(cotangent).chain(needs.factors.iter().copied());
        outputs.extend(stacked.map(|value| half.copied(value)));
        let is_empty = outputs.is_empty();
        let body = (!is_empty).then(|| nested(half.builder.finish(outputs))).transpose()?;
        Ok((body, reads))
    }
}

/// A part of a module that is copied to a new module.
struct Half<'m> {
    module: &'m Module,
    builder: Builder,
    /// The copy of each value of the module, if it has one.
    values: Vec<Option<ValueId>>,
}

impl<'m> Half<'m> {
    fn new(module: &'m Module) -> Self {
        Self { module, builder: Builder::new(), values: vec![None; module.insts().len()] }
    }

    /// Adds an input. If a value of the module is given, the input is its copy.
    fn input(&mut self, value: Option<ValueId>, name: &str, ty: &Type) -> Result<ValueId, AutodiffError> {
        let input = self.builder.input(name, ty.clone());
        let input = input.map_err(|error| AutodiffError::Verification(error.to_string()))?;
        if let Some(value) = value {
            self.values[value.index()] = Some(input);
        }
        Ok(input)
    }

    /// Copies the needed instructions that have no copy yet.
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
        nested(self.builder.finish(outputs))
    }
}

fn nested(module: Module) -> Result<Nested, AutodiffError> {
    Nested::new(canon::form(&module)).map_err(|fault| AutodiffError::UnsupportedShape(fault.to_string()))
}
