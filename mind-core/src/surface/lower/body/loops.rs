//! Loops. The body is lowered to instructions after those around it, which are then moved to a module of their own.
//! Values that are defined before the body and that it reads become operands of the loop.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::hoist::hoisted;
use super::lowering::{BodyLowering, OpenLoop, Versions};
use super::report::Spot;
use crate::batch::moved;
use crate::build::extracted;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::{Guard, Inst, Made, Nested, Op, Scan, ValueId};
use crate::map::formula;
use crate::surface::ast::{ExprId, Loop, LoopKind, NodeKind, Pattern};
use crate::surface::lower::callees::callable::{MAX_INSTRUCTIONS, too_many};
use crate::surface::lower::declarations::structure::{StructType, Structure};
use crate::surface::lower::declarations::types::not_stacked;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::{BoundNames, Expressions};
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value};
use crate::ty::{DType, Shape};

impl BodyLowering<'_> {
    /// Begins the body of a loop: binds the carry and the element of a step.
    pub(crate) fn enter_loop(&mut self, of: &Loop, expr: ExprId) {
        let head = self.head(of, expr);
        let (head, carry, element) = match head {
            Ok(head) => {
                let start = self.builder.insts().len();
                let mut inputs = Vec::new();
                let carry = self.placeholders(&head.carry, head.first, &mut inputs);
                let element = self.placeholders(&head.element, head.iterated, &mut inputs);
                (Some((inputs, start, head.carry, head.checkpoint)), carry, element)
            }
            Err(stop) => {
                self.report(stop);
                (None, Value::Poison, Value::Poison)
            }
        };
        self.names.enter();
        if let Some((pattern, first)) = &of.carry {
            self.bind_pattern(pattern, carry, *first);
        }
        self.bind_pattern(&of.element, element, of.over);
        let (inputs, start, carry, checkpoint) = match head {
            Some((inputs, start, carry, checkpoint)) => (Some(inputs), start, carry, checkpoint),
            None => (None, self.builder.insts().len(), Structure::UNIT, 0),
        };
        let versions = (self.versions.clone(), self.updated.clone());
        let carried_from = of.carry.clone();
        self.loops.push(OpenLoop { inputs, start, carry, carried_from, checkpoint, versions });
    }

    /// Ends a loop. `tail` is the value of its body.
    pub(crate) fn leave_loop(&mut self, head: ExprId, tail: ExprId, expr: ExprId) -> Lowered<Value> {
        let NodeKind::Loop(of) = &self.body[head].kind else {
            unreachable!("the parser gives the head of each loop")
        };
        self.names.leave();
        let open = self.loops.pop().expect("a loop is left once it was entered");
        let given = match &open.inputs {
            Some(_) => self.of_step(of, &open.carry, tail),
            None => Err(Stop::Poisoned),
        };
        let given =
            given.and_then(|given| self.unassigned_in(&open.versions, head, "a loop").map(|()| given));
        (self.versions, self.updated) = open.versions;
        let body = self.cut_out(open.start);
        let (given, inputs) = (given?, open.inputs.ok_or(Stop::Poisoned)?);
        let LoweredStep { carry, stacked } = given;
        let outputs: Vec<ValueId> = carry.into_iter().chain(stacked.leaves()).collect();
        let carries =
            i64::try_from(open.carry.leaves().len()).expect("a value has a bounded number of tensors");
        let (body, operands) = self.module_of(open.start, &body, &inputs, &outputs, expr)?;
        let scan = Scan {
            reverse: of.options.reverse.unwrap_or_default(),
            checkpoint: open.checkpoint,
            ..Scan::new(body, carries, Guard::Always)
        };
        let (scan, operands) = hoisted(&mut self.builder, scan, operands)
            .map_err(|error| Diag::new(error.code, self.body[head].site, error.to_string()))?;
        self.made.resize(self.builder.insts().len(), Some(head));
        let count = self.builder.insts().len() + scan.body.size();
        if count > MAX_INSTRUCTIONS {
            return Err(too_many(&self.signature.name, count, self.body[expr].site).into());
        }
        let mut results = self.results_of(scan, &operands, head)?.into_iter();
        let last = Value::rebuilt(&open.carry, &mut results);
        let all = self.stack_of(&stacked, &mut results);
        let all = self.with_axis_moved(&all, Move::FromLeading(of.options.out.unwrap_or_default()), head)?;
        match of.kind {
            LoopKind::Fold => Ok(last),
            LoopKind::Scan => self.tuple(vec![last, all], expr),
            LoopKind::For => Ok(all),
        }
    }

    /// Lowers the head of a loop.
    fn head(&mut self, of: &Loop, expr: ExprId) -> Lowered<LoopOperands> {
        let over = match of.end {
            Some(end) => Value::Tensor(self.integers(of.over, end, expr)?),
            None => self.values[of.over.index()].clone(),
        };
        let over =
            self.with_axis_moved(&over, Move::ToLeading(of.options.axis.unwrap_or_default()), of.over)?;
        let (element, _) = self.element_of(&over, of.over)?;
        let (carry, first) = match &of.carry {
            None => (Structure::UNIT, Vec::new()),
            Some((_, first)) => {
                let value = self.first_carry(*first, &element)?;
                (self.structure_of(&value), value.leaves())
            }
        };
        let checkpoint = self.checkpoint(of.options.checkpoint)?;
        Ok(LoopOperands { carry, first, element, iterated: over.leaves(), checkpoint })
    }

    /// The steps between two carries that derivatives keep; 0 if the head of the loop does not set it.
    pub(crate) fn checkpoint(&self, expr: Option<ExprId>) -> Lowered<i64> {
        let Some(expr) = expr else { return Ok(0) };
        let steps = self.integer_attribute(expr)?;
        if steps < 1 {
            let message = format!("`checkpoint` is {steps}, needed one step or more");
            return Err(Diag::new(Code::E3006, self.body[expr].site, message).into());
        }
        Ok(steps)
    }

    /// The first carry. Its literals get the floating-point type of the loop, if there is one and they fit it.
    pub(super) fn first_carry(&mut self, first: ExprId, element: &Structure) -> Lowered<Value> {
        let value = self.values[first.index()].clone();
        let dtype = self.float_of_loop(&value, element);
        self.with_literals(value, dtype, first)
    }

    /// The single floating-point type of the iterated tensors. If none of these are of floats, it is that of the other
    /// carries, and then that of the parameters.
    fn float_of_loop(&self, carry: &Value, element: &Structure) -> Option<DType> {
        let mut carried = Vec::new();
        let mut rest = vec![carry];
        while let Some(value) = rest.pop() {
            match value {
                Value::Tensor(tensor) => carried.push(self.builder.ty(*tensor).dtype),
                Value::Tuple(tuple) => rest.extend(tuple.elements.iter()),
                Value::Struct(record) => carried.extend(record.ty.fields.iter().flat_map(dtypes)),
                Value::Literal(_) | Value::Word(_) | Value::Poison => {}
            }
        }
        let parameters = self.signature.inputs.iter().map(|input| input.ty.dtype);
        let candidates = [dtypes(element).collect(), carried, parameters.collect()];
        let floats = candidates.map(|dtypes: Vec<DType>| -> BTreeSet<DType> {
            dtypes.into_iter().filter(|dtype| dtype.is_float()).collect()
        });
        let floats = floats.into_iter().find(|floats| !floats.is_empty())?;
        if floats.len() == 1 { floats.first().copied() } else { None }
    }

    /// A value whose literals have this type, if they fit it, and their default type otherwise.
    fn with_literals(&mut self, value: Value, dtype: Option<DType>, expr: ExprId) -> Lowered<Value> {
        match (&value, dtype) {
            (Value::Literal(id), Some(dtype))
                if self.literals.default_dtype(*id).is_float() && self.literals.fits(*id, dtype) =>
            {
                self.materialise(*id, dtype).map(Value::Tensor)
            }
            (Value::Tuple(tuple), Some(_)) => {
                let elements = tuple.elements.iter().cloned();
                let elements = elements.map(|element| self.with_literals(element, dtype, expr));
                let elements = elements.collect::<Lowered<Vec<_>>>()?;
                self.tuple(elements, expr)
            }
            _ => self.infer(value, expr),
        }
    }

    /// The integers from `start` up to and excluding `end`.
    fn integers(&mut self, start: ExprId, end: ExprId, expr: ExprId) -> Lowered<ValueId> {
        let (from, to) = (self.dim_attribute(start)?, self.dim_attribute(end)?);
        let site = self.body[start].site.to(self.body[end].site);
        let count = to.sub(&from).map_err(|overflow| Diag::new(Code::E1008, site, overflow.to_string()))?;
        if count.as_literal().is_some_and(|count| count < 1) {
            let message = format!("`{from}..{to}` is empty, needed at least one element");
            return Err(Diag::new(Code::E3006, site, message).into());
        }
        let spot = Spot::of(expr);
        let iota = Op::Made(Made::Iota { shape: vec![count], axis: 0 });
        let positions = self.emit(&spot, iota, &[])?;
        if from == Dim::ZERO {
            return Ok(positions);
        }
        let from = self.materialise_dim(start)?;
        let sum = formula(&mut self.builder, "positions + from", &[("positions", positions), ("from", from)]);
        let sum = sum.map_err(|error| Diag::new(error.code(), site, error.to_string()))?;
        self.made.resize(self.builder.insts().len(), Some(expr));
        Ok(sum)
    }

    fn materialise_dim(&mut self, expr: ExprId) -> Lowered<ValueId> {
        let id = self.literal("an integer or a dimension", expr)?;
        self.materialise(id, DType::I64)
    }

    /// A value whose tensors have the leading axis moved to or from another axis.
    fn with_axis_moved(&mut self, value: &Value, to: Move, expr: ExprId) -> Lowered<Value> {
        let (Move::ToLeading(axis) | Move::FromLeading(axis)) = to;
        if axis == 0 {
            return Ok(value.clone());
        }
        match value {
            Value::Tensor(tensor) => {
                let ty = self.builder.ty(*tensor).clone();
                let (rank, site) = (ty.rank() as i64, self.body[expr].site);
                let position = if axis < 0 { axis + rank } else { axis };
                if !(0..rank).contains(&position) {
                    let message = match to {
                        Move::ToLeading(_) => {
                            format!("a loop iterates over axis {axis}, but the tensor is {ty}")
                        }
                        Move::FromLeading(_) => {
                            format!(
                                "the steps of a loop are stacked along axis {axis}, but the result is {ty}"
                            )
                        }
                    };
                    let help = format!("write an axis from {} to {}", -rank, rank - 1);
                    let diag = Diag::new(Code::E3004, site, message);
                    return Err(if rank > 0 { diag.help(help) } else { diag }.into());
                }
                let position = position as usize;
                let (from, to) = match to {
                    Move::ToLeading(_) => (position, 0),
                    Move::FromLeading(_) => (0, position),
                };
                let moved = moved(&mut self.builder, *tensor, from, to)
                    .map_err(|error| Diag::new(error.code, site, error.to_string()))?;
                self.made.resize(self.builder.insts().len(), Some(expr));
                Ok(Value::Tensor(moved))
            }
            Value::Tuple(tuple) => {
                let elements = tuple.elements.iter();
                let elements = elements.map(|element| self.with_axis_moved(element, to, expr));
                let elements = elements.collect::<Lowered<Vec<_>>>()?;
                self.tuple(elements, expr)
            }
            Value::Struct(record) => {
                let message = format!("`{}` has elements along axis 0 only, found axis {axis}", record.ty);
                Err(Diag::new(Code::E2001, self.body[expr].site, message).into())
            }
            Value::Poison | Value::Literal(_) | Value::Word(_) => Ok(value.clone()),
        }
    }

    /// The type of an element along the leading axis, and the number of elements.
    fn element_of(&self, over: &Value, expr: ExprId) -> Lowered<(Structure, Dim)> {
        let site = self.body[expr].site;
        let found = |what: &str, help: Option<String>| {
            let message =
                format!("a loop iterates over the leading axis of tensors or structs, found {what}");
            Stop::from(Diag { help, ..Diag::new(Code::E2001, site, message) })
        };
        match over {
            Value::Poison => Err(Stop::Poisoned),
            Value::Literal(id) => {
                let is_integer = self.literals.default_dtype(*id).is_integer();
                let text = self.body.short_text(expr);
                let help = is_integer.then(|| format!("write `0..{text}` for {text} steps"));
                Err(found("a number", help))
            }
            Value::Tensor(tensor) => {
                let ty = self.builder.ty(*tensor);
                match ty.shape.split_first() {
                    Some((steps, rest)) => {
                        Ok((Structure::Value(ty.with_shape(Shape::from_slice(rest))), steps.clone()))
                    }
                    None => Err(found(&format!("{ty}, which has no axis"), None)),
                }
            }
            Value::Tuple(tuple) => {
                let parts = match &self.body[expr].kind {
                    NodeKind::Tuple(parts) if parts.len() == tuple.elements.len() => parts.clone(),
                    _ => vec![expr; tuple.elements.len()],
                };
                let mut elements = Vec::new();
                let mut first: Option<(ExprId, Dim)> = None;
                for (part, own_expr) in tuple.elements.iter().zip(parts) {
                    let (element, steps) = self.element_of(part, own_expr)?;
                    elements.push(element);
                    let Some((other_expr, other)) = &first else {
                        first = Some((own_expr, steps));
                        continue;
                    };
                    if *other != steps {
                        let [other_text, text] =
                            [*other_expr, own_expr].map(|expr| self.body.short_text(expr));
                        let message = match other_text == text {
                            true => format!("one has {other} elements and another {steps}"),
                            false => format!("{other_text} has {other} elements and {text} has {steps}"),
                        };
                        let message = format!("a loop iterates over all its tensors at once, but {message}");
                        return Err(Diag::new(Code::E3003, site, message).into());
                    }
                }
                let (_, steps) = first.ok_or_else(|| found("`()`", None))?;
                Ok((Structure::Tuple(elements), steps))
            }
            Value::Struct(record) => match record.ty.element() {
                Some((steps, element)) => {
                    record.sound()?;
                    Ok((Structure::Struct(element), steps.clone()))
                }
                None => {
                    let (ty, text) = (&record.ty, self.body.short_text(expr));
                    let fields = ty.field_names().zip(&ty.fields);
                    let is_stack = |field: &Structure| match field {
                        Structure::Struct(field) => !field.counts().is_empty(),
                        Structure::Value(_) | Structure::Tuple(_) => false,
                    };
                    let stack = fields.into_iter().find(|(_, field)| is_stack(field));
                    let help = match (stack, ty.over()) {
                        (Some((name, _)), _) => format!("iterate over its field: `{text}.{name}`"),
                        (None, Some(_)) => "iterate over one of its fields".to_owned(),
                        (None, None) => format!("declare `{text}` with a leading axis, as in `{ty}[12]`"),
                    };
                    Err(found(&format!("`{ty}`, which has none"), Some(help)))
                }
            },
            Value::Word(_) => Err(found(&self.type_text(over), None)),
        }
    }

    /// Placeholders in the body for operands of the loop. They are added to `inputs`, each with its operand.
    pub(crate) fn placeholders(
        &mut self,
        structure: &Structure,
        operands: Vec<ValueId>,
        inputs: &mut Vec<(ValueId, ValueId)>,
    ) -> Value {
        let mut made = Vec::new();
        for (ty, operand) in structure.leaves().into_iter().zip(operands) {
            let input = self.builder.placeholder(ty.clone());
            self.made.push(None);
            inputs.push((input, operand));
            made.push(input);
        }
        Value::rebuilt(structure, &mut made.into_iter())
    }

    pub(crate) fn bind_pattern(&mut self, pattern: &Pattern, value: Value, expr: ExprId) {
        self.sees_in(pattern, &value);
        let BoundNames { names, mistakes } = self.bound_by(pattern, value, expr);
        mistakes.into_iter().for_each(|mistake| self.report(mistake.into()));
        for (name, value) in names {
            self.keep_local(name, &value);
            self.names.bind(name.to_string(), Binding::Local(value));
        }
    }

    /// Lowers the results of a step.
    fn of_step(&mut self, of: &Loop, carry: &Structure, tail: ExprId) -> Lowered<LoweredStep> {
        let tail = self.value_of_block(tail);
        let value = self.values[tail.index()].clone();
        if matches!(value, Value::Poison) {
            return Err(Stop::Poisoned);
        }
        let (next, given) = match of.kind {
            LoopKind::Fold => (Some(value), None),
            LoopKind::For => (None, Some(value)),
            LoopKind::Scan => match &value {
                Value::Tuple(tuple) if tuple.elements.len() == 2 => {
                    (Some(tuple.elements[0].clone()), Some(tuple.elements[1].clone()))
                }
                _ => {
                    let found = self.type_text(&value);
                    let message = format!(
                        "the body of `scan` must return the next carry and the value to stack, as in `(h, y)`, found \
                            {found}"
                    );
                    let help = "`fold` returns only the last carry";
                    return Err(Diag::new(Code::E2001, self.body[tail].site, message).help(help).into());
                }
            },
        };
        let what = of.carry.as_ref().map_or_else(String::new, |(pattern, _)| next_carry(pattern));
        let next = next.map(|next| self.coerce(&next, carry, tail, &what)).transpose()?;
        let stacked = given.map_or_else(|| Ok(Value::unit()), |given| self.infer(given, tail))?;
        if let Some(ty) = never_stacked(&stacked) {
            return Err(not_stacked(&ty, self.body[tail].site).into());
        }
        let carry = next.map_or_else(Vec::new, |next| next.leaves());
        if carry.is_empty() && stacked.leaves().is_empty() {
            let message = format!("the body of `{}` does not return a tensor", of.kind.name());
            let help = match of.kind {
                LoopKind::For => {
                    "a `for` stacks the values of its steps; a loop that updates a value is `fold s = 0.0 for x in xs { s \
                        + x }`"
                }
                LoopKind::Fold | LoopKind::Scan => "end the body with the next carry",
            };
            return Err(Diag::new(Code::E2001, self.body[tail].site, message).help(help).into());
        }
        Ok(LoweredStep { carry, stacked })
    }

    /// The stacked value of a loop whose steps return `value`. Its tensors are taken in order.
    fn stack_of(&self, value: &Value, tensors: &mut impl Iterator<Item = ValueId>) -> Value {
        match value {
            Value::Tuple(tuple) => {
                let elements = tuple.elements.iter().map(|element| self.stack_of(element, tensors)).collect();
                Value::tuple(elements).expect("it is as large as it was")
            }
            Value::Struct(record) => {
                let leaves: Vec<ValueId> = tensors.take(value.leaves().len()).collect();
                let count = self.builder.ty(leaves[0]).shape[0].clone();
                let stack = record.ty.stacked(count).expect("a struct that has no stack is refused before");
                let stack = stack.expect("the number of steps is an extent already");
                Value::rebuilt(&Structure::Struct(stack), &mut leaves.into_iter())
            }
            Value::Tensor(_) => Value::Tensor(tensors.next().expect("one tensor per leaf")),
            Value::Poison | Value::Literal(_) | Value::Word(_) => value.clone(),
        }
    }

    /// Returns E2010 if the body of a loop or a branch assigns to a parameter.
    pub(crate) fn unassigned_in(&self, before: &Versions, head: ExprId, part: &str) -> Lowered<()> {
        let pairs = self.versions.iter().zip(&before.0);
        let changed = pairs.map(|(now, before)| now.leaves() != before.leaves()).position(|changed| changed);
        let Some(position) = changed else { return Ok(()) };
        let name = &self.signature.parameters[position].name;
        let message = format!("`{name}` is assigned to in {part}");
        let value = match part {
            "a loop" => {
                format!("make it a carry: `let {name}_new = fold {name}_now = {name} for … {{ … }};`")
            }
            _ => format!("make it the value of the `if`: `let {name}_new = if … {{ … }} else {{ {name} }};`"),
        };
        let help = format!("{value}, then assign `{name} = {name}_new;`");
        Err(Diag::new(Code::E2010, self.body[head].site, message).help(help).into())
    }

    /// Removes the instructions of the body from those around it.
    pub(crate) fn cut_out(&mut self, start: usize) -> Vec<Inst> {
        self.made.truncate(start);
        let is_before = |value: &ValueId| value.index() < start;
        self.literals.made.retain(|_, value| is_before(value));
        self.value_names.retain(|value, _| is_before(value));
        self.derived.retain(|value, _| is_before(value));
        self.builder.cut(start)
    }

    /// The module of a body that was cut out, and the operands of the loop.
    pub(crate) fn module_of(
        &self,
        start: usize,
        body: &[Inst],
        inputs: &[(ValueId, ValueId)],
        outputs: &[ValueId],
        expr: ExprId,
    ) -> Lowered<(Nested, Vec<ValueId>)> {
        let (mut operands, placeholders): (Vec<ValueId>, Vec<ValueId>) =
            inputs.iter().map(|(placeholder, operand)| (*operand, *placeholder)).unzip();
        let read = body.iter().flat_map(|inst| inst.operands.iter()).chain(outputs);
        let captured: BTreeSet<ValueId> = read.filter(|value| value.index() < start).copied().collect();
        operands.extend(&captured);
        let of_step = placeholders.iter().enumerate().map(|(at, value)| {
            let ty = body[value.index() - start].ty.clone();
            (*value, format!("x{at}"), ty)
        });
        let captured = captured.into_iter().enumerate();
        let captured = captured.map(|(at, value)| (value, format!("w{at}"), self.builder.ty(value).clone()));
        let insts = body.iter().enumerate().map(|(at, inst)| (ValueId::new(start + at), inst));
        let insts = insts.filter(|(value, _)| !placeholders.contains(value));
        let module = extracted(of_step.chain(captured), insts, outputs);
        let nested = Nested::new(module).map_err(|fault| {
            Stop::from(Diag::new(Code::E1008, self.body[expr].site, format!("a loop: {fault}")))
        })?;
        Ok((nested, operands))
    }

    /// Emits a loop. Returns all its results.
    pub(crate) fn results_of(
        &mut self,
        scan: Scan,
        operands: &[ValueId],
        head: ExprId,
    ) -> Lowered<Vec<ValueId>> {
        let count = scan.body.outputs().len();
        let first = self.of_loop(scan.into(), operands, head)?;
        let mut results = vec![first];
        for at in 1..count {
            results.push(self.of_loop(Op::further_result(at), &[first], head)?);
        }
        Ok(results)
    }

    /// The last value of a block.
    pub(crate) fn value_of_block(&self, block: ExprId) -> ExprId {
        match self.body[block].kind {
            NodeKind::Close { tail: Some(last) } => last,
            _ => block,
        }
    }

    fn of_loop(&mut self, op: Op, operands: &[ValueId], head: ExprId) -> Lowered<ValueId> {
        let site: Site = self.body[head].site;
        let made = self
            .builder
            .push(op, operands)
            .map_err(|error| Diag::new(error.code, site, error.to_string()))?;
        self.made.push(Some(head));
        Ok(made)
    }
}

fn dtypes(structure: &Structure) -> impl Iterator<Item = DType> {
    structure.leaves().into_iter().map(|leaf| leaf.dtype)
}

/// The name of the next carry in messages.
pub(crate) fn next_carry(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name(name) => format!("the next value of `{name}`"),
        _ => "the next carry".to_owned(),
    }
}

/// A move of an axis.
#[derive(Clone, Copy)]
enum Move {
    /// This axis becomes the leading one.
    ToLeading(i64),
    /// The leading axis becomes this one.
    FromLeading(i64),
}

/// The operands of a loop that its head specifies.
struct LoopOperands {
    carry: Structure,
    first: Vec<ValueId>,
    element: Structure,
    iterated: Vec<ValueId>,
    checkpoint: i64,
}

/// The results of a step.
struct LoweredStep {
    carry: Vec<ValueId>,
    stacked: Value,
}

/// A struct among the values to stack that cannot be stacked, if any.
fn never_stacked(value: &Value) -> Option<Rc<StructType>> {
    match value {
        Value::Struct(record) => record.ty.definition.stacked().is_none().then(|| record.ty.clone()),
        Value::Tuple(tuple) => tuple.elements.iter().find_map(never_stacked),
        Value::Poison | Value::Literal(_) | Value::Tensor(_) | Value::Word(_) => None,
    }
}
