//! Loops with a condition, and branches. Both become loops of Core IR with a guard. A branch is a loop of one step.

use std::collections::{BTreeMap, BTreeSet};

use super::loops::next_carry;
use super::lowering::{BodyLowering, FirstBranch, OpenBranches, OpenWhile, Reports, Versions};
use super::report::Spot;
use crate::build::extracted;
use crate::diag::{Code, Diag};
use crate::dim::Dim;
use crate::ir::{Arrange, Guard, Made, Module, Nested, Op, Scan, ValueId};
use crate::map::formula;
use crate::number::KnownNumber;
use crate::surface::ast::{ExprId, NodeKind, Pattern};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::{DType, Type};

const PARTS_FIT: &str = "it is a part of a module that was built";

impl BodyLowering<'_> {
    /// Begins the condition of a `while`.
    pub(crate) fn enter_while(&mut self, carry: &Pattern, first: ExprId) {
        let mut open = match self.first_carry(first, &Structure::UNIT) {
            Ok(value) => OpenWhile::new(self.structure_of(&value), value.leaves()),
            Err(stop) => {
                self.report(stop);
                OpenWhile::failed()
            }
        };
        open.versions = (self.versions.clone(), self.updated.clone());
        open.start = self.builder.insts().len();
        let value = match open.is_failed {
            true => Value::Poison,
            false => self.placeholders(&open.carry, open.first.clone(), &mut open.inputs),
        };
        self.whiles.push(open);
        self.names.enter();
        self.bind_pattern(carry, value, first);
    }

    /// Ends the condition of a `while` and begins its body.
    pub(crate) fn enter_while_body(
        &mut self,
        head: ExprId,
        test: ExprId,
        [most, checkpoint]: [Option<ExprId>; 2],
        expr: ExprId,
    ) {
        let NodeKind::While { carry, first } = &self.body[head].kind else {
            unreachable!("the parser gives the head of each loop")
        };
        self.names.leave();
        let mut open = self.whiles.pop().expect("a condition follows the head of its loop");
        let value = match self.condition_of_while(&mut open, test, [most, checkpoint], expr) {
            Ok(value) => value,
            Err(stop) => {
                self.report(stop);
                open.is_failed = true;
                Value::Poison
            }
        };
        self.whiles.push(open);
        self.names.enter();
        self.bind_pattern(carry, value, *first);
    }

    /// Moves the condition to a module, applies it to the first carry, and adds the inputs of the body. Returns the
    /// carry in the body.
    fn condition_of_while(
        &mut self,
        open: &mut OpenWhile,
        test: ExprId,
        [most, checkpoint]: [Option<ExprId>; 2],
        expr: ExprId,
    ) -> Lowered<Value> {
        let flag = if open.is_failed { Err(Stop::Poisoned) } else { self.truth(test, "`while`") };
        let instructions = self.cut_out(open.start);
        let (condition, operands) =
            self.module_of(open.start, &instructions, &open.inputs, &[flag?], expr)?;
        open.inputs.clear();
        let captured = operands[open.first.len()..].to_vec();
        let first = self.applied(&condition, &operands, expr)?;
        let steps = most.map(|most| self.steps_of_while(most)).transpose()?;
        open.checkpoint = self.checkpoint(checkpoint)?;
        open.condition = Some((condition, captured));
        open.start = self.builder.insts().len();
        let flag = Structure::Value(Type::scalar(DType::Bool));
        self.placeholders(&flag, vec![first], &mut open.inputs);
        let carry = self.placeholders(&open.carry, open.first.clone(), &mut open.inputs);
        if let Some(steps) = steps {
            let step = Structure::Value(Type::scalar(DType::I64));
            self.placeholders(&step, vec![steps], &mut open.inputs);
        }
        Ok(carry)
    }

    /// Inserts the condition, with these operands. Returns its value.
    fn applied(&mut self, condition: &Module, operands: &[ValueId], expr: ExprId) -> Lowered<ValueId> {
        let values = self.builder.inline(condition, operands, &[].into());
        let values =
            values.map_err(|error| Diag::new(error.code, self.body[expr].site, error.to_string()))?;
        self.made.resize(self.builder.insts().len(), Some(expr));
        Ok(values[0])
    }

    /// The positions of the steps up to a limit.
    fn steps_of_while(&mut self, most: ExprId) -> Lowered<ValueId> {
        let count = self.dim_attribute(most)?;
        if count.as_literal().is_some_and(|count| count < 1) {
            let message = format!("`at most` is {count}, needed one step or more");
            return Err(Diag::new(Code::E3006, self.body[most].site, message).into());
        }
        self.emit(&Spot::of(most), Op::Made(Made::Iota { shape: vec![count], axis: 0 }), &[])
    }

    /// Ends a `while`.
    pub(crate) fn leave_while(&mut self, head: ExprId, tail: ExprId) -> Lowered<Value> {
        self.names.leave();
        let open = self.whiles.pop().expect("a loop is left once it was entered");
        let next = if open.is_failed { Err(Stop::Poisoned) } else { self.next_of_while(&open, tail, head) };
        let next = next.and_then(|next| self.unassigned_in(&open.versions, head, "a loop").map(|()| next));
        (self.versions, self.updated) = open.versions.clone();
        let instructions = self.cut_out(open.start);
        let outputs = next?;
        let (body, operands) = self.module_of(open.start, &instructions, &open.inputs, &outputs, head)?;
        let carries = i64::try_from(outputs.len()).expect("a value has a bounded number of tensors");
        let scan = Scan { checkpoint: open.checkpoint, ..Scan::new(body, carries, Guard::Carry) };
        let results = self.results_of(scan, &operands, head)?;
        Ok(Value::rebuilt(&open.carry, &mut results.into_iter().skip(1)))
    }

    /// Whether the loop goes on after a step, and the next carry.
    fn next_of_while(&mut self, open: &OpenWhile, tail: ExprId, head: ExprId) -> Lowered<Vec<ValueId>> {
        let tail = self.value_of_block(tail);
        let value = self.values[tail.index()].clone();
        let NodeKind::Tested { head: begin, .. } = self.body[head].kind else {
            unreachable!("the parser gives the head of each loop")
        };
        let NodeKind::While { carry, .. } = &self.body[begin].kind else {
            unreachable!("the parser gives the head of each loop")
        };
        let next = self.coerce(&value, &open.carry, tail, &next_carry(carry))?.leaves();
        if next.is_empty() {
            let message = "the body of `while` does not return a tensor";
            return Err(Diag::new(Code::E2001, self.body[tail].site, message).into());
        }
        let (condition, captured) = open.condition.clone().ok_or(Stop::Poisoned)?;
        let operands: Vec<ValueId> = next.iter().chain(&captured).copied().collect();
        let goes_on = self.applied(&condition, &operands, head)?;
        Ok([goes_on].into_iter().chain(next).collect())
    }

    /// Begins the first branch of an `if`.
    pub(crate) fn enter_if(&mut self, test: ExprId) {
        let condition = self.truth(test, "`if`").map_err(|stop| self.report(stop)).ok();
        let versions = (self.versions.clone(), self.updated.clone());
        let start = self.builder.insts().len();
        let known = condition.and_then(|condition| self.known_truth(condition));
        let before_left_out = (known == Some(false)).then(|| self.reports());
        self.branches.push(OpenBranches { condition, known, before_left_out, start, versions, then: None });
    }

    /// The value of a condition that depends on constants and known extents only.
    fn known_truth(&self, condition: ValueId) -> Option<bool> {
        /// The most instructions of a condition that is computed here.
        const MOST: usize = 64;
        let (mut needed, mut rest) = (BTreeSet::from([condition]), vec![condition]);
        while let Some(value) = rest.pop() {
            let operands = self.builder.inst(value).operands.iter();
            rest.extend(operands.copied().filter(|operand| needed.insert(*operand)));
            if needed.len() > MOST {
                return None;
            }
        }
        // Operands come before the instructions that read them.
        let mut numbers: BTreeMap<ValueId, KnownNumber> = BTreeMap::new();
        for value in needed {
            let inst = self.builder.inst(value);
            let computed = || KnownNumber::apply(&inst.op, |at| numbers.get(&inst.operands[at]).copied());
            let number = KnownNumber::of(inst).or_else(computed)?;
            numbers.insert(value, number);
        }
        match numbers[&condition] {
            KnownNumber::Bool(is_true) => Some(is_true),
            _ => None,
        }
    }

    fn reports(&self) -> Reports {
        (self.diags.len(), self.reported.clone())
    }

    /// Removes what a branch that is left out has emitted and reported.
    fn leave_out(&mut self, open: &mut OpenBranches) {
        self.cut_out(open.start);
        if let Some((mistakes, reported)) = open.before_left_out.take() {
            self.diags.truncate(mistakes);
            self.reported = reported;
        }
    }

    /// The value of the branch that is known to run.
    fn known_branch(&self, versions: &Versions, tail: ExprId, expr: ExprId) -> Lowered<Value> {
        let tail = self.value_of_block(tail);
        self.unassigned_in(versions, expr, "a branch")?;
        match &self.values[tail.index()] {
            Value::Poison => Err(Stop::Poisoned),
            Value::Tuple(tuple) if tuple.elements.is_empty() => Err(self.no_tensor_in_branches(tail)),
            value => Ok(value.clone()),
        }
    }

    fn no_tensor_in_branches(&self, tail: ExprId) -> Stop {
        let message = "the branches of `if` do not return a tensor";
        Diag::new(Code::E2001, self.body[tail].site, message).into()
    }

    /// Ends the first branch of an `if` and begins the other one.
    pub(crate) fn enter_else(&mut self, tail: ExprId, expr: ExprId) {
        let mut open = self.branches.pop().expect("a branch follows its condition");
        let then = match open.known {
            None => self.first_branch(&open, tail, expr).map(Some),
            Some(true) => {
                self.known_branch(&open.versions, tail, expr).map(|value| Some(FirstBranch::Value(value)))
            }
            Some(false) => Ok(None),
        };
        match then {
            Ok(then) => open.then = then,
            Err(stop) => self.report(stop),
        }
        match open.known {
            None => {}
            Some(true) => {
                open.start = self.builder.insts().len();
                open.before_left_out = Some(self.reports());
            }
            Some(false) => self.leave_out(&mut open),
        }
        (self.versions, self.updated) = open.versions.clone();
        self.branches.push(open);
    }

    /// Moves the first branch to a module. A literal waits for the type of the other branch.
    fn first_branch(&mut self, open: &OpenBranches, tail: ExprId, expr: ExprId) -> Lowered<FirstBranch> {
        let tail = self.value_of_block(tail);
        let value = self.values[tail.index()].clone();
        let value = if matches!(value, Value::Literal(_)) { Ok(value) } else { self.infer(value, tail) };
        let value =
            value.and_then(|value| self.unassigned_in(&open.versions, expr, "a branch").map(|()| value));
        let value = value.map(|value| match value {
            Value::Literal(_) => (Structure::UNIT, value),
            _ => (self.structure_of(&value), value),
        });
        let instructions = self.cut_out(open.start);
        let (structure, value) = value?;
        if let Value::Literal(_) = value {
            return Ok(FirstBranch::Literal { value, instructions, tail });
        }
        let (module, captured) = self.module_of(open.start, &instructions, &[], &value.leaves(), expr)?;
        Ok(FirstBranch::Module { structure, module, captured })
    }

    /// Ends an `if`.
    pub(crate) fn leave_if(&mut self, tail: ExprId, expr: ExprId) -> Lowered<Value> {
        let mut open = self.branches.pop().expect("a branch is left once it was entered");
        match open.known {
            None => {}
            Some(true) => {
                self.leave_out(&mut open);
                (self.versions, self.updated) = open.versions;
                return match open.then {
                    Some(FirstBranch::Value(value)) => Ok(value),
                    _ => Err(Stop::Poisoned),
                };
            }
            Some(false) => {
                let value = self.known_branch(&open.versions, tail, expr);
                (self.versions, self.updated) = open.versions;
                return value;
            }
        }
        let tail = self.value_of_block(tail);
        let value = self.values[tail.index()].clone();
        let value = match &open.then {
            None | Some(FirstBranch::Value(_)) => Err(Stop::Poisoned),
            Some(FirstBranch::Literal { .. }) => self.infer(value, tail),
            Some(FirstBranch::Module { structure, .. }) => {
                self.coerce(&value, structure, tail, "the value after `else`")
            }
        };
        let value =
            value.and_then(|value| self.unassigned_in(&open.versions, expr, "a branch").map(|()| value));
        (self.versions, self.updated) = open.versions;
        let value = value.map(|value| (self.structure_of(&value), value));
        let instructions = self.cut_out(open.start);
        let (structure, value) = value?;
        let (otherwise, captured_otherwise) =
            self.module_of(open.start, &instructions, &[], &value.leaves(), expr)?;
        let (then, captured) = match open.then.ok_or(Stop::Poisoned)? {
            FirstBranch::Module { module, captured, .. } => (module, captured),
            FirstBranch::Value(_) => unreachable!("the condition is not known"),
            FirstBranch::Literal { value, instructions, tail } => {
                self.builder.restore(instructions);
                self.made.resize(self.builder.insts().len(), Some(expr));
                let value = self.coerce(&value, &structure, tail, "the value before `else`");
                let instructions = self.cut_out(open.start);
                self.module_of(open.start, &instructions, &[], &value?.leaves(), expr)?
            }
        };
        let condition = open.condition.ok_or(Stop::Poisoned)?;
        if structure.leaves().is_empty() {
            return Err(self.no_tensor_in_branches(tail));
        }
        let spot = Spot::of(expr);
        let mut zeros = Vec::new();
        for ty in structure.leaves() {
            let zero = self.builder.constant(ty.dtype, 0.0);
            self.made.push(Some(expr));
            let shape = ty.shape.clone();
            zeros.push(self.emit(&spot, Op::Arrange(Arrange::broadcast(shape)), &[(zero, expr)])?);
        }
        let opposite = formula(&mut self.builder, "not(c)", &[("c", condition)]);
        let opposite = opposite.expect("a condition is a truth value");
        self.made.push(Some(expr));
        let once = self.emit(&spot, Op::Made(Made::Iota { shape: vec![Dim::ONE], axis: 0 }), &[])?;
        let values = self.branch(&then, [condition, once], &zeros, &captured, expr)?;
        let values = self.branch(&otherwise, [opposite, once], &values, &captured_otherwise, expr)?;
        Ok(Value::rebuilt(&structure, &mut values.into_iter()))
    }

    /// Emits a loop of one step. If it runs, it replaces `values` by the results of a module.
    fn branch(
        &mut self,
        module: &Module,
        [runs, once]: [ValueId; 2],
        values: &[ValueId],
        captured: &[ValueId],
        expr: ExprId,
    ) -> Lowered<Vec<ValueId>> {
        let operands: Vec<ValueId> = values.iter().chain([&runs, &once]).chain(captured).copied().collect();
        // The body reads the captured values alone.
        let unread = values.iter().map(|value| self.builder.ty(*value).clone());
        let unread = unread.chain([Type::scalar(DType::Bool), Type::scalar(DType::I64)]);
        let unread = unread
            .enumerate()
            .map(|(at, ty)| (ValueId::new(module.insts().len() + at), format!("x{at}"), ty));
        let read = module.inputs().enumerate();
        let read = read.map(|(at, (_, ty))| (ValueId::new(at), format!("w{at}"), ty.clone()));
        let insts = module.iter().filter(|(_, inst)| !inst.op.is_input());
        let body = extracted(unread.chain(read), insts, module.outputs());
        let carries = i64::try_from(values.len()).expect("a value has a bounded number of tensors");
        let body = Nested::new(body).expect(PARTS_FIT);
        self.results_of(Scan::new(body, carries, Guard::Operand), &operands, expr)
    }

    /// The value of a condition, which must be a single truth value.
    fn truth(&mut self, test: ExprId, of: &str) -> Lowered<ValueId> {
        let value = self.values[test.index()].clone();
        let inferred = self.infer(value.clone(), test)?;
        let site = self.body[test].site;
        let refused =
            |found: &str| Diag::new(Code::E2001, site, format!("{of} takes a single bool, found {found}"));
        let Value::Tensor(tensor) = inferred else {
            return Err(refused(&self.type_text(&value)).into());
        };
        let ty = self.builder.ty(tensor);
        match (ty.dtype, ty.rank()) {
            (DType::Bool, 0) => Ok(tensor),
            (_, 0) => Err(refused(&ty.to_string()).help("write a comparison, such as `x > 0.0`").into()),
            _ => {
                let help = "`where(x > 0.0, …, …)` chooses for each element; `all(x > 0.0)` and `any(x > 0.0)` are \
                    single bools";
                Err(refused(&ty.to_string()).help(help).into())
            }
        }
    }
}
