//! Finds the values that a parameter reaches through differentiable operations, and describes their paths in errors.

use std::collections::VecDeque;

use crate::{
    grad::AutodiffError,
    ir::{Inst, Module, Op, ValueId},
    ops::Derivative,
};

/// The values of a module on a differentiable path from some of its inputs.
pub(super) struct Activity<'a> {
    module: &'a Module,
    /// For each instruction whether any of its results is on such a path. The first result of a loop, which is its
    /// value, need not be one of them, nor a float.
    active: Vec<bool>,
}

impl<'a> Activity<'a> {
    /// Finds the instructions that depend on `inputs` through operations that have a derivative, or whose derivative is
    /// unsupported.
    pub(super) fn new(module: &'a Module, inputs: impl IntoIterator<Item = ValueId>) -> Self {
        let mut active = vec![false; module.insts().len()];
        for input in inputs {
            active[input.index()] = module.ty(input).dtype.is_float();
        }
        for (value, inst) in module.iter() {
            if !active[value.index()] {
                active[value.index()] =
                    passes(inst) && inst.operands.iter().any(|operand| active[operand.index()]);
            }
        }
        Self { module, active }
    }

    /// Whether a cotangent of the value leads to a parameter. Only floats have cotangents.
    pub(super) fn is_active(&self, value: ValueId) -> bool {
        self.active[value.index()] && self.module.ty(value).dtype.is_float()
    }

    /// Whether an operation on a differentiable path has no derivative.
    pub(super) fn has_no_rule(&self, inst: &Inst) -> bool {
        inst.op.info().derivative == Derivative::Unsupported
            && inst.operands.iter().any(|operand| self.is_active(*operand))
    }

    /// Returns E5001 for the operation of `value`.
    pub(super) fn unsupported(&self, value: ValueId) -> AutodiffError {
        AutodiffError::UnsupportedOp {
            op: self.module.inst(value).op.info().name,
            value,
            path: self.path(value),
        }
    }

    /// Returns E5004 for the operation of `value`, with a description of the problem.
    pub(super) fn unsupported_shape(&self, value: ValueId, problem: String) -> AutodiffError {
        let (name, path) = (self.module.inst(value).op.info().name, self.path(value));
        AutodiffError::UnsupportedShape(format!("`{name}`: {problem}; it is on the path {path}"))
    }

    /// The shortest path from an output through `value` to a parameter, such as `%7 Mul <- %4 Conv2d <- %0 x`. It ends
    /// at `value` if `value` depends on no parameter.
    pub(super) fn path(&self, value: ValueId) -> String {
        let on_the_way = |through: ValueId| self.active[through.index()] || !self.active[value.index()];
        let parameter = |value: ValueId| self.active[value.index()] && self.module.inst(value).op.is_input();
        let mut path =
            self.shortest(self.module.outputs(), on_the_way, |found| found == value).unwrap_or(vec![value]);
        let at = path.len() - 1;
        if let Some(rest) = self.shortest(&[value], |through| self.active[through.index()], parameter) {
            path.extend(&rest[1..]);
        }
        self.describe(&path, at)
    }

    /// Whether an input reaches an output if the path may pass through piecewise constant functions. An input that
    /// reaches an output only in this way has the derivative 0.
    pub(super) fn is_flat(&self, input: ValueId) -> bool {
        let mut reached = vec![false; self.module.insts().len()];
        reached[input.index()] = self.module.ty(input).dtype.is_float();
        for (value, inst) in self.module.iter() {
            let flows = |position: usize| match &inst.op {
                Op::Map(map) => map.row().flat || map.row().flows_to(position),
                _ => passes(inst),
            };
            let mut operands = inst.operands.iter().enumerate();
            reached[value.index()] |=
                operands.any(|(position, operand)| reached[operand.index()] && flows(position));
        }
        self.module.outputs().iter().any(|output| reached[output.index()])
    }

    /// Returns E5005 for a float input that has no cotangent.
    pub(super) fn unreached(&self, input: ValueId, cotangents: &[Option<ValueId>]) -> AutodiffError {
        let (module, name) = (self.module, self.describe_value(input));
        let outputs = if module.outputs().len() == 1 { "the output" } else { "any output" };
        let none =
            AutodiffError::NotDifferentiable { input, problem: format!("`{name}` does not reach {outputs}") };
        let Some(leads) = self.leading_to_outputs(input) else { return none };

        // The cotangent stops at a consumer if its active operand has no cotangent, and the consumer has a cotangent or
        // is not active.
        let from_input = Activity::new(module, [input]);
        let stops = |consumer: ValueId, operand: ValueId| {
            let ends = !from_input.is_active(consumer) || cotangents[consumer.index()].is_some();
            from_input.is_active(operand) && cotangents[operand.index()].is_none() && ends
        };
        let mut labels = Vec::new();
        let mut first = None;
        for (consumer, inst) in module.iter().filter(|(value, _)| leads[value.index()]) {
            if inst.operands.iter().any(|operand| stops(consumer, *operand)) {
                let label = format!("`{}`", inst.op.info().label);
                first = first.or(Some(consumer));
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        let Some(first) = first else { return none };
        let down = self.shortest(module.outputs(), |through| leads[through.index()], |found| found == first);
        let rest = self.shortest(&[first], |through| leads[through.index()], |found| found == input);
        let mut path = down.unwrap_or(vec![first]);
        let at = path.len() - 1;
        path.extend(rest.iter().flat_map(|rest| &rest[1..]));
        let problem = format!(
            "`{name}` reaches {outputs} only through {}, which has no derivative with respect to it: {}",
            labels.join(" and "),
            self.describe(&path, at)
        );
        AutodiffError::NotDifferentiable { input, problem }
    }

    /// The name of an input, or the number of any other value.
    pub(super) fn describe_value(&self, value: ValueId) -> String {
        match input_name(self.module.inst(value)) {
            Some(name) => name.to_owned(),
            None => value.to_string(),
        }
    }

    /// The values that depend on `input` in any way and lead to an output; `None` if no output depends on it.
    fn leading_to_outputs(&self, input: ValueId) -> Option<Vec<bool>> {
        let insts = self.module.insts();
        let mut depends = vec![false; insts.len()];
        depends[input.index()] = true;
        for (position, inst) in insts.iter().enumerate() {
            depends[position] |= inst.operands.iter().any(|operand| depends[operand.index()]);
        }
        let mut leads = vec![false; insts.len()];
        for output in self.module.outputs() {
            leads[output.index()] = depends[output.index()];
        }
        for (position, inst) in insts.iter().enumerate().rev() {
            if leads[position] {
                for operand in inst.operands.iter() {
                    leads[operand.index()] |= depends[operand.index()];
                }
            }
        }
        leads[input.index()].then_some(leads)
    }

    /// The shortest path along operands from one of `starts` to a `wanted` value, over values that `through` allows.
    fn shortest(
        &self,
        starts: &[ValueId],
        through: impl Fn(ValueId) -> bool,
        wanted: impl Fn(ValueId) -> bool,
    ) -> Option<Vec<ValueId>> {
        let mut reached_from = vec![None; self.module.insts().len()];
        let mut queue = VecDeque::new();
        for start in starts.iter().copied().filter(|start| through(*start)) {
            reached_from[start.index()] = Some(start);
            queue.push_back(start);
        }
        while let Some(value) = queue.pop_front() {
            if wanted(value) {
                let from = |value: &ValueId| reached_from[value.index()].filter(|from| from != value);
                let mut path: Vec<_> = std::iter::successors(Some(value), from).collect();
                path.reverse();
                return Some(path);
            }
            for operand in
                self.module.inst(value).operands.iter().copied().filter(|operand| through(*operand))
            {
                if reached_from[operand.index()].is_none() {
                    reached_from[operand.index()] = Some(value);
                    queue.push_back(operand);
                }
            }
        }
        None
    }

    /// Formats a path. A long path is cut to its ends and the values around position `at`.
    fn describe(&self, path: &[ValueId], at: usize) -> String {
        let shown = |position: usize| {
            path.len() <= 10 || position < 3 || position + 2 >= path.len() || position.abs_diff(at) <= 1
        };
        let mut steps = Vec::new();
        let mut left_out = 0;
        for (position, value) in path.iter().enumerate() {
            if !shown(position) {
                left_out += 1;
                continue;
            }
            if left_out > 0 {
                steps.push(format!("… {left_out} more …"));
                left_out = 0;
            }
            let inst = self.module.inst(*value);
            steps.push(format!("{value} {}", input_name(inst).unwrap_or(inst.op.info().name)));
        }
        steps.join(" <- ")
    }
}

/// Whether the results of an instruction can depend on its operands in a differentiable way.
fn passes(inst: &Inst) -> bool {
    // `inst.ty` is the type of the first result. Further results of a loop may be floats.
    let is_loop = inst.op.as_loop().is_some();
    (inst.ty.dtype.is_float() || is_loop)
        && match inst.op.info().derivative {
            Derivative::Rule | Derivative::Linear | Derivative::Unsupported => true,
            Derivative::Zero => false,
        }
}

/// Whether the result of an instruction can depend on the operand at `position` in a differentiable way.
pub(super) fn flows(inst: &Inst, position: usize) -> bool {
    passes(inst) && if let Op::Map(map) = &inst.op { map.row().flows_to(position) } else { true }
}

fn input_name(inst: &Inst) -> Option<&str> {
    inst.op.input_name().map(|name| &**name)
}
