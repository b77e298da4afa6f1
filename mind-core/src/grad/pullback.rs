//! Applies the derivative rules to Core IR. A rule reads one primal instruction and the cotangent of its result, and
//! contributes to the cotangents of its operands.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    build::Builder,
    dim::Dim,
    grad::{
        AutodiffError, Further, accumulate,
        activity::Activity,
        core_v1,
        magnitude::Magnitudes,
        push,
        rules::{Factor, Reverse, keeping_zeros, pass},
        scan::{LoopRead, Loops, StackedFactor, StackedLocation},
        typed, zeros,
    },
    ir::{External, Inst, Nested, Nesting, Op, Own, Part, Reduction, Resolved, Slice, ValueId},
    map::{Calculus, Map, formula},
    ops::{MOST_OF_EXTERN, inverse, place_of_part, position, results_of_pullback},
    ty::{Shape, Type},
};

/// The state of the rule of one primal instruction. Operands, results and cotangents are values of the gradient module.
pub(super) struct Pullback<'a> {
    pub(super) activity: &'a Activity<'a>,
    /// The value of the instruction in the primal.
    pub(super) value: ValueId,
    pub(super) inst: &'a Inst,
    pub(super) cotangent: ValueId,
    pub(super) builder: &'a mut Builder,
    /// The magnitudes of the values of the builder.
    pub(super) magnitudes: &'a mut Magnitudes,
    /// The copy of each primal value.
    pub(super) copies: &'a [ValueId],
    /// The sum of the contributions to each primal value so far.
    pub(super) cotangents: &'a mut [Option<ValueId>],
    /// The same for results after the first.
    pub(super) further: &'a mut Further,
    /// The loops of the derivative of each loop.
    pub(super) loops: &'a BTreeMap<ValueId, Loops>,
}

type Emitted = Result<ValueId, AutodiffError>;
type PullbackResult = Result<(), AutodiffError>;

impl Reverse for Pullback<'_> {
    type Form = Resolved;

    fn operand(&self, position: usize) -> ValueId {
        self.copies[self.inst.operands[position].index()]
    }

    fn operand_count(&self) -> usize {
        self.inst.operands.len()
    }

    fn result(&self) -> ValueId {
        self.copies[self.value.index()]
    }

    fn cotangent(&self) -> ValueId {
        self.cotangent
    }

    fn wants(&self, position: usize) -> bool {
        self.activity.is_active(self.inst.operands[position])
    }

    fn contribute(&mut self, position: usize, value: ValueId) -> PullbackResult {
        if !self.wants(position) {
            return Ok(());
        }
        let (found, ty) = (self.ty(value), self.ty(self.operand(position)));
        if found != ty {
            let name = self.inst.op.info().name;
            return Err(AutodiffError::Verification(format!(
                "the rule of `{name}` contributes {found} to operand {position} of {}, which is {ty}",
                self.value
            )));
        }
        let operand = self.inst.operands[position].index();
        accumulate(self.builder, &mut self.cotangents[operand], value)
    }

    fn contribute_broadcast(&mut self, position: usize, value: ValueId) -> PullbackResult {
        if !self.wants(position) {
            return Ok(());
        }
        let shape = self.ty(self.operand(position)).shape;
        // `contribute` reports a value that does not broadcast.
        let summed = typed::sum_to(self.builder, value, &shape)?;
        self.contribute(position, summed.unwrap_or(value))
    }

    fn emit(&mut self, op: Op, operands: &[ValueId]) -> Emitted {
        push(self.builder, op, operands)
    }

    fn emit_like(&mut self, op: impl FnOnce(Shape) -> Op, operands: &[ValueId], like: ValueId) -> Emitted {
        self.emit(op(self.ty(like).shape), operands)
    }

    fn average(&mut self, value: ValueId, reduction: &Reduction, of: ValueId) -> Emitted {
        let shape = self.ty(of).shape;
        let op = self.inst.op.info();
        let invalid = |axis: i64| AutodiffError::InvalidAxis { op: op.name, axis, shape: shape.to_string() };
        if let Some(axis) = reduction.axes.iter().find(|axis| !(0..shape.rank() as i64).contains(*axis)) {
            return Err(invalid(*axis));
        }
        let positions = reduction.positions(shape.rank());
        let averaged: Shape = positions.iter().map(|axis| shape[*axis].clone()).collect();
        averaged.element_count().map_err(|overflow| {
            let problem = format!("`{}`: the element count of {averaged}: {overflow}", op.label);
            AutodiffError::UnsupportedShape(problem)
        })?;
        let axes: Vec<i64> = positions.into_iter().map(|axis| axis as i64).collect();
        match typed::count(self.builder, value, &shape, &axes)? {
            Some(count) => formula(self, "value / count", &[("value", value), ("count", count)]),
            None => Ok(value),
        }
    }

    fn put_back(&mut self, value: ValueId, reduction: &Reduction, of: ValueId) -> Emitted {
        if reduction.keeps() || reduction.axes.is_empty() {
            return Ok(value);
        }
        let positions = reduction.positions(self.ty(of).rank());
        typed::expanded(self.builder, value, positions.into_iter().map(|axis| axis as i64).collect())
    }

    fn in_place(&self, value: ValueId) -> Vec<ValueId> {
        vec![value]
    }

    /// Places the element among zeros, as a box of extent 1 along each axis.
    fn index_grad(&mut self, value: ValueId, indices: &Vec<Dim>, of: ValueId) -> Emitted {
        let axes: Vec<i64> = (0..indices.len() as i64).collect();
        if axes.is_empty() {
            return Ok(value);
        }
        let ends = indices.iter().map(|index| index.add_literal(1)).collect::<Result<_, _>>();
        let ends =
            ends.map_err(|overflow| AutodiffError::UnsupportedShape(format!("`index`: {overflow}")))?;
        let slice = Box::new(Slice { starts: indices.clone(), ends, steps: vec![1; axes.len()] });
        let element = typed::expanded(self.builder, value, axes)?;
        self.emit_like(|shape| Op::Part(Part::SliceGrad { shape, slice }), &[element], of)
    }

    fn joined_part(&mut self, value: ValueId, axis: i64, part: usize) -> Emitted {
        let types: Vec<Type> = (0..=part).map(|operand| self.ty(self.operand(operand))).collect();
        let slice = place_of_part(&types[..part], &types[part], position(axis));
        let slice = slice.expect("a part of a countable extent");
        self.emit(Op::Part(Part::Slice(slice.into())), &[value])
    }

    fn product_grad(&mut self, factor: Factor, dy: ValueId, factors: [ValueId; 2]) -> Emitted {
        typed::product_grad(self.builder, factor, dy, factors)
    }

    fn inverse(permutation: &Vec<i64>) -> Vec<i64> {
        inverse(permutation)
    }

    fn own(&mut self, own: &Own) -> PullbackResult {
        match own {
            Own::External(External::Call { function, .. }) => self.external(function, 1),
            Own::External(External::Grad { function, order }) => self.external(function, order + 1),
            Own::Nesting(Nesting::Pullback(module)) => self.written_pullback(module),
            Own::Nesting(Nesting::Scan(_)) => self.scan(),
            Own::Nesting(Nesting::Result { position: at }) => {
                let result = (self.inst.operands[0], position(*at));
                let mut sum = self.further.get(&result).copied();
                accumulate(self.builder, &mut sum, self.cotangent)?;
                self.further.extend(sum.map(|sum| (result, sum)));
                Ok(())
            }
            Own::Nesting(Nesting::Call(_)) => unreachable!("the canonical form has no calls"),
        }
    }
}

impl Pullback<'_> {
    fn ty(&self, value: ValueId) -> Type {
        self.builder.ty(value).clone()
    }

    /// Emits a call of the module of a pullback, which computes the contributions from the parameters, results and
    /// cotangents. Each of its results contributes to one floating-point parameter. The result operands get no
    /// contribution.
    ///
    /// The call reads the results as results of this instruction. A derivative of the derivative thus reaches the
    /// instruction again.
    fn written_pullback(&mut self, module: &Nested) -> PullbackResult {
        let count = self.operand_count();
        let results = results_of_pullback(module, count);
        if !(results..count).any(|parameter| self.wants(parameter)) {
            return Ok(());
        }
        let mut operands: Vec<_> = (results..count).map(|parameter| self.operand(parameter)).collect();
        operands.push(self.result());
        for at in 1..results {
            operands.push(self.further_result(self.result(), at)?);
        }
        operands.push(self.cotangent());
        for at in 1..results {
            operands.push(match self.further.get(&(self.value, at)) {
                Some(cotangent) => *cotangent,
                None => zeros(self.builder, self.operand(at))?,
            });
        }
        let module = module_keeping_zeros(module, operands.len() - results)?;
        let called = self.emit(Op::Own(Own::Nesting(Nesting::Call(module))), &operands)?;
        let is_float = |on: &Self, parameter: &usize| on.ty(on.operand(*parameter)).dtype.is_float();
        let floats: Vec<_> = (results..count).filter(|parameter| is_float(self, parameter)).collect();
        for (at, parameter) in floats.into_iter().enumerate() {
            pass(self, parameter, |on| if at == 0 { Ok(called) } else { on.further_result(called, at) })?;
        }
        Ok(())
    }

    /// Emits the backward loop and the products after it, and contributes their results.
    fn scan(&mut self) -> PullbackResult {
        let Some(loops) = self.loops.get(&self.value) else { return Ok(()) };
        let mut operands = Vec::new();
        let summed = || loops.captured.iter().filter(|captured| captured.is_summed);
        let backward = match &loops.backward {
            None => None,
            Some(backward) => {
                for carry in &loops.carries {
                    operands.push(self.result_cotangent(*carry)?);
                }
                for captured in summed() {
                    operands.push(zeros(self.builder, self.operand(captured.operand))?);
                }
                for read in &loops.reads {
                    operands.push(self.read(loops, *read)?);
                }
                Some(self.emit(backward.clone().into(), &operands)?)
            }
        };
        let summed = summed().map(|captured| captured.operand);
        let inputs = loops.carries.iter().copied().chain(summed).chain(loops.iterated.iter().copied());
        for (at, input) in inputs.enumerate() {
            pass(self, input, |on| on.result_of_backward(backward, at))?;
        }
        for captured in &loops.captured {
            for factors in &captured.products {
                pass(self, captured.operand, |on| {
                    let [left, right] = factors.map(|factor| on.rows(loops, factor, backward));
                    let left = typed::transposed(on.builder, left?)?;
                    typed::product(on.builder, left, right?)
                })?;
            }
        }
        Ok(())
    }

    /// An operand of the backward loop.
    fn read(&mut self, loops: &Loops, read: LoopRead) -> Emitted {
        match read {
            LoopRead::Stacked(position) => self.further_result(self.result(), loops.results + position),
            LoopRead::Operand(position) => Ok(self.operand(position)),
            LoopRead::Transposed(position) => {
                let operand = self.operand(position);
                typed::transposed(self.builder, operand)
            }
            LoopRead::Cotangent(result) => self.result_cotangent(result),
        }
    }

    fn result_of_backward(&mut self, backward: Option<ValueId>, at: usize) -> Emitted {
        let backward = backward.expect("a loop that has results is there");
        if at == 0 { Ok(backward) } else { self.further_result(backward, at) }
    }

    /// A stacked factor as one matrix. Its rows are the rows of all stacked matrices, or the stacked vectors.
    fn rows(&mut self, loops: &Loops, factor: StackedFactor, backward: Option<ValueId>) -> Emitted {
        let mut stacked = match factor.of {
            StackedLocation::Read(read) => self.read(loops, read)?,
            StackedLocation::Result(at) => self.result_of_backward(backward, at)?,
        };
        if factor.is_transposed {
            stacked = typed::transposed(self.builder, stacked)?;
        }
        typed::rows(self.builder, stacked)
    }

    /// The cotangent of one of the results; zeros if it has none.
    fn result_cotangent(&mut self, at: usize) -> Emitted {
        if at == 0 {
            return Ok(self.cotangent);
        }
        match self.further.get(&(self.value, at)) {
            Some(cotangent) => Ok(*cotangent),
            None => {
                let result = self.further_result(self.result(), at)?;
                zeros(self.builder, result)
            }
        }
    }

    fn further_result(&mut self, of: ValueId, at: usize) -> Emitted {
        self.emit(Op::further_result(at), &[of])
    }

    /// Emits the derivative of a Rust function, and contributes one part of its result to each operand, in the
    /// operand's shape.
    fn external(&mut self, function: &Arc<str>, order: i64) -> PullbackResult {
        let count = self.operand_count();
        if count == MOST_OF_EXTERN {
            let parameters = count + 1 - usize::try_from(order).expect("one for each cotangent");
            return Err(self.activity.unsupported_shape(self.value, format!(
                "`{function}` has {parameters} parameters, so its derivative of order {order} takes {}, more than the limit of {}",
                count + 1,
                MOST_OF_EXTERN
            )));
        }
        let operands: Vec<_> =
            (0..count).map(|position| self.operand(position)).chain([self.cotangent()]).collect();
        let all = Op::Own(Own::External(External::Grad { function: function.clone(), order }));
        let all = self.emit(all, &operands)?;
        let mut start = Dim::ZERO;
        for position in 0..count {
            let ty = self.ty(self.operand(position));
            if !ty.dtype.is_float() {
                continue;
            }
            // The sum of all element counts is the extent of `all`, so no partial sum overflows.
            let fits = "a part of a countable extent";
            let end = start.add(&ty.shape.element_count().expect(fits)).expect(fits);
            let slice = Slice { starts: vec![start], ends: vec![end.clone()], steps: vec![1] };
            pass(self, position, |on| {
                let part = on.emit(Op::Part(Part::Slice(slice.into())), &[all])?;
                core_v1::reshaped(on.builder, part, ty.shape)
            })?;
            start = end;
        }
        Ok(())
    }
}

/// Copies the module of a pullback. Products and quotients that depend on a cotangent become ones that keep its zeros.
/// The inputs from `first_cotangent` on are the cotangents.
fn module_keeping_zeros(module: &Nested, first_cotangent: usize) -> Result<Nested, AutodiffError> {
    let mut builder = Builder::new();
    let (mut values, mut linear) = (Vec::new(), Vec::<bool>::new());
    for (value, inst) in module.iter() {
        let is_linear = |at: usize| {
            let flows = if let Op::Map(map) = &inst.op { map.row().flows_to(at) } else { true };
            flows && linear[inst.operands[at].index()]
        };
        let (made, depends) = match inst.op.input_name() {
            Some(name) => {
                let input = builder.input(name.clone(), inst.ty.clone());
                let input = input.map_err(|error| AutodiffError::Verification(error.to_string()))?;
                (input, value.index() >= first_cotangent)
            }
            None => {
                let operands: Vec<ValueId> =
                    inst.operands.iter().map(|operand| values[operand.index()]).collect();
                let made = push(&mut builder, keeping_zeros(&inst.op, is_linear), &operands)?;
                (made, (0..inst.operands.len()).any(is_linear))
            }
        };
        values.push(made);
        linear.push(depends);
    }
    let outputs: Vec<_> = module.outputs().iter().map(|output| values[output.index()]).collect();
    Nested::new(builder.finish(outputs)).map_err(|fault| AutodiffError::UnsupportedShape(fault.to_string()))
}

/// Emits the derivative formulas of elementwise functions.
impl Calculus for Pullback<'_> {
    type Value = ValueId;
    type Error = AutodiffError;

    fn apply(&mut self, map: Map, operands: &[ValueId]) -> Emitted {
        self.emit(Op::Map(map), operands)
    }

    fn number(&mut self, number: f64, like: ValueId) -> Emitted {
        Calculus::number(self.builder, number, like)
    }

    fn is_finite_nonzero(&mut self, value: ValueId) -> bool {
        self.magnitudes.is_finite_nonzero_among(self.builder.insts(), value)
    }

    fn like(&mut self, value: ValueId, other: ValueId) -> Emitted {
        Calculus::like(self.builder, value, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        canon::canonicalise,
        ops::Profile,
        ty::{DType, Type},
        verify::verify,
    };

    /// Runs `rule` in the pullback of an `Exp` of this shape, and returns the code and the message of its error. The
    /// rule may use a second input of the `other` shape.
    fn ask(
        [shape, other]: [&[i64]; 2],
        rule: impl FnOnce(&mut Pullback<'_>, ValueId) -> PullbackResult,
    ) -> (&'static str, String) {
        let mut b = Builder::new();
        let inputs = [("x", shape), ("y", other)].map(|(name, shape)| {
            b.input(name, Type::new(DType::F32, Shape::literal(shape))).expect("a valid input")
        });
        let y = b.push(Op::Map(Map::Exp), &inputs[..1]).expect("a float");
        let module = canonicalise(verify(b.clone().finish([y]), Profile::CoreV1).expect("it is valid"));
        let activity = Activity::new(&module, inputs);
        let mut pullback = Pullback {
            activity: &activity,
            value: y,
            inst: module.inst(y),
            cotangent: y,
            builder: &mut b,
            magnitudes: &mut Magnitudes::default(),
            copies: &[inputs[0], inputs[1], y],
            cotangents: &mut [None; 3],
            further: &mut Further::new(),
            loops: &BTreeMap::new(),
        };
        let error = rule(&mut pullback, inputs[1]).expect_err("the rule is wrong");
        (error.code().info().name, error.to_string())
    }

    #[test]
    fn an_axis_out_of_range_is_e5003() {
        for axis in [-1, 2] {
            let reduction = Reduction { axes: vec![0, axis], keepdims: false };
            let found =
                ask([&[2, 3], &[]], |p, _| p.average(p.operand(0), &reduction, p.operand(0)).map(drop));
            assert_eq!(found, ("E5003", format!("`Exp`: axis {axis} is out of range for shape [2, 3]")));
        }
    }

    #[test]
    fn a_contribution_of_another_type_is_e5002() {
        for other in [&[4][..], &[2, 2], &[1, 3]] {
            let wanted = format!(
                "the rule of `Exp` contributes f32{} to operand 0 of %2, which is f32[2, 3]",
                Shape::literal(other)
            );
            let wanted = ("E5002", format!("the gradient does not verify: {wanted}"));
            assert_eq!(ask([&[2, 3], other], |p, other| p.contribute(0, other)), wanted);
            assert_eq!(ask([&[2, 3], other], |p, other| p.contribute_broadcast(0, other)), wanted);
        }
    }

    #[test]
    fn an_operation_that_breaks_a_rule_is_e5002() {
        let (code, message) =
            ask([&[2, 3], &[4]], |p, other| p.emit(Op::Map(Map::Add), &[p.operand(0), other]).map(drop));
        assert_eq!(code, "E5002");
        assert!(message.contains("[E3001]") && message.contains("f32[2, 3], f32[4]"), "{message}");
    }
}
