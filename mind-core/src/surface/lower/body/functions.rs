//! The functions of the language, lowered to Core IR.

use super::lowering::{BodyLowering, Operand};
use super::report::Spot;
use crate::diag::{Code, Diag};
use crate::dim::Overflow;
use crate::ir::{self, Const};
use crate::map::Map;
use crate::surface::ast::{Argument, ExprId, NodeKind};
use crate::surface::lower::builtins::calls::{Call, Given, ReadCalls};
use crate::surface::lower::builtins::{Builtin, find};
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::{Shape, Type};
use crate::written::{CompositeOp, Op, Own, Unresolved, each, resolve, spread};

impl BodyLowering<'_> {
    pub(crate) fn call_builtin(
        &mut self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let (call, given) = self.read_call(builtin, arguments, expr)?;
        if let Some(value) = self.over_fields(&call, &given)? {
            return Ok(value);
        }
        self.call_of(call, &given)
    }

    /// What a function gives that is called with structs: it is applied to each field. A sum, or the largest or smallest
    /// element, is that of all fields.
    fn over_fields(&mut self, call: &Call, given: &Given) -> Lowered<Option<Value>> {
        let Some((operands, combine)) = call.by_field() else { return Ok(None) };
        let record = |operand: &ExprId| match &self.values[operand.index()] {
            Value::Struct(record) => Some((*operand, record.clone())),
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => None,
        };
        let records: Vec<_> = operands.iter().filter_map(record).collect();
        let Some((first, of_first)) = records.first() else { return Ok(None) };
        if let Some((other, of_other)) = records.iter().find(|(_, record)| record.ty != of_first.ty) {
            let message = format!(
                "`{}`: structs differ: {} is {}, {} is {}",
                given.name,
                self.text(*first),
                of_first.ty,
                self.text(*other),
                of_other.ty
            );
            return Err(Diag::new(Code::E2001, self.site(*other), message).into());
        }
        records.iter().try_for_each(|(_, record)| record.sound().map(drop))?;
        let structure = Structure::Struct((*of_first.ty).clone());
        let leaves: Vec<_> = records
            .iter()
            .map(|(operand, record)| (*operand, Value::Struct(record.clone()).leaves()))
            .collect();
        let before: Vec<_> =
            records.iter().map(|(operand, _)| self.values[operand.index()].clone()).collect();
        let mut results = Vec::new();
        for field in 0..structure.leaves().len() {
            for (operand, tensors) in &leaves {
                self.values[operand.index()] = Value::Tensor(tensors[field]);
            }
            results.push(self.call_of(call.clone(), given));
        }
        for ((operand, _), value) in records.iter().zip(before) {
            self.values[operand.index()] = value;
        }
        let results = results.into_iter().collect::<Lowered<Vec<_>>>()?;
        let Some(combine) = combine else {
            let tensors = results.iter().flat_map(Value::leaves).collect::<Vec<_>>();
            return Ok(Some(Value::rebuilt(&structure, &mut tensors.into_iter())));
        };
        let mut all = results.iter().flat_map(Value::leaves).collect::<Vec<_>>().into_iter();
        let mut total = all.next().expect("a struct has a field");
        for next in all {
            total = self.emit(
                &Spot::of(given.expr).label(given.name),
                ir::Op::Map(combine),
                &[(total, *first), (next, *first)],
            )?;
        }
        Ok(Some(Value::Tensor(total)))
    }

    fn call_of(&mut self, call: Call, given: &Given) -> Lowered<Value> {
        let expr = given.expr;
        match call {
            Call::Operation(Op::Own(Own::FilledLike { one }), operands) => {
                let like = self.tensor(operands[0], None)?;
                let ty = self.builder.ty(like).clone();
                let literal = self.literals.zero_or_one(one, ty.shape, expr);
                self.materialise(literal, ty.dtype).map(Value::Tensor)
            }
            Call::Operation(op, operands) => self.operation(given, &op, &operands),
            Call::Map(map, operands) => match (self.applied(map, &operands, expr), &operands[..]) {
                (Some(literal), _) => Ok(Value::Literal(literal)),
                (None, [x]) if map == Map::SIGN && matches!(self.values[x.index()], Value::Struct(_)) => {
                    self.prefix(map, *x, self.site(expr), expr)
                }
                (None, operands) => self.operation(given, &Op::Map(map), operands),
            },
            Call::Extent { x, axis } => {
                let tensor = self.tensor(x, None)?;
                let shape = &self.builder.ty(tensor).shape;
                let position = if axis < 0 { axis.saturating_add_unsigned(shape.len() as u64) } else { axis };
                let extent = usize::try_from(position).ok().and_then(|position| shape.get(position)).cloned();
                match extent {
                    Some(extent) => Ok(Value::Literal(self.literals.dim(extent, expr))),
                    None => Err(self.unresolved(given, &Unresolved::Axis(axis, shape.len()), &[(tensor, x)])),
                }
            }
            Call::Composite(steps, operands) => self.composite(given, &steps, &operands),
            Call::Filled { one, shape } => {
                Ok(Value::Literal(self.literals.zero_or_one(one, Shape::new(shape), expr)))
            }
            Call::Full { shape, value } => {
                if let Value::Literal(id) = self.values[value.index()]
                    && self.literals.is_number(id)
                {
                    return Ok(Value::Literal(self.literals.filled(id, Shape::new(shape), expr)));
                }
                self.operation(given, &spread(shape), &[value])
            }
        }
    }

    /// An operation on tensors, of which those that have one element type are brought together.
    fn operation(&mut self, given: &Given, op: &Op, operands: &[ExprId]) -> Lowered<Value> {
        let (before, alike) = operands.split_at(op.first_alike(operands.len()));
        let mut operands = before
            .iter()
            .map(|operand| Ok((self.tensor(*operand, None)?, *operand)))
            .collect::<Lowered<Vec<Operand>>>()?;
        operands.extend(self.alike(given, alike)?);
        let types: Vec<&Type> = operands.iter().map(|(value, _)| self.builder.ty(*value)).collect();
        let resolved = each(op, &types).and_then(|each| Ok((each, resolve(op, &types)?)));
        let (each, resolved) = resolved.map_err(|fault| self.unresolved(given, &fault, &operands))?;
        let spot = self.spot_of_call(given);
        if let Some(each) = each {
            for (value, expr) in &mut operands {
                *value = self.emit(&spot, each.clone(), &[(*value, *expr)])?;
            }
        }
        self.emit_each(&spot, resolved, operands).map(Value::Tensor)
    }

    /// Operations of a value and of each other; the result of the last one.
    fn composite(&mut self, given: &Given, steps: &[CompositeOp], of: &[ExprId]) -> Lowered<Value> {
        let spot = self.spot_of_call(given);
        let operand = |operand: &ExprId| Ok((self.tensor(*operand, None)?, *operand));
        let mut values: Vec<Operand> = of.iter().map(operand).collect::<Lowered<_>>()?;
        for CompositeOp { op, operands } in steps {
            let operands: Vec<Operand> = operands.iter().map(|at| values[*at]).collect();
            let value = if let Op::Const(constant) = op {
                let data = constant.values_in(constant.dtype).clone();
                let data = data.expect("a number of a composite is of its element type");
                self.emit(&spot, ir::Op::Const(Const::new(data, Shape::scalar())), &[])?
            } else {
                let types: Vec<&Type> = operands.iter().map(|(value, _)| self.builder.ty(*value)).collect();
                let resolved =
                    resolve(op, &types).map_err(|fault| self.unresolved(given, &fault, &operands))?;
                self.emit_each(&spot, resolved, operands)?
            };
            values.push((value, of[0]));
        }
        Ok(Value::Tensor(values[values.len() - 1].0))
    }

    fn spot_of_call(&self, given: &Given) -> Spot {
        let spot = Spot::of(given.expr).label(given.name);
        given.attributes().fold(spot, |spot, (name, argument)| spot.attribute(name, self.site(argument)))
    }

    /// What is wrong with attributes, told at them.
    fn unresolved(&self, given: &Given, fault: &Unresolved, operands: &[Operand]) -> Stop {
        let attribute = |names: &[&str]| {
            let mut named = given.named().filter(|(name, _)| names.contains(name));
            // A default may not be in range.
            named.next().map_or(given.expr, |(_, argument)| argument)
        };
        let (axes, shape) = (|| attribute(&["axes", "axis"]), || attribute(&["shape"]));
        let message = |problem: String| match operands.first() {
            Some((value, expr)) => {
                format!("`{}`: {problem}: {} is {}", given.name, self.text(*expr), self.builder.ty(*value))
            }
            None => format!("`{}`: {problem}", given.name),
        };
        match fault {
            Unresolved::Axis(axis, rank) => {
                let help = match (*axis, *rank) {
                    (_, 0) if given.is_of_list() => "`stack` puts single numbers together".to_owned(),
                    (_, 0) => match operands.first() {
                        Some((_, expr)) => {
                            format!("{} is a single number: leave the call out", self.text(*expr))
                        }
                        None => "write one extent or more".to_owned(),
                    },
                    (..0, _) => "the first axis is `0`".to_owned(),
                    (_, _) => "axes count from 0: the last is `-1`".to_owned(),
                };
                let problem = format!("axis {axis} is out of range for rank {rank}");
                Diag::new(Code::E3004, self.site(axes()), message(problem)).help(help)
            }
            Unresolved::Twice(axis, rest) => {
                let problem = format!("axis {axis} stands twice in {}", self.text(axes()));
                let help = format!("write `{rest:?}`");
                Diag::new(Code::E3005, self.site(axes()), message(problem)).help(help)
            }
            Unresolved::NoAxes => {
                let text = self.text(axes());
                let message = format!("`{}`: {text} reduces no axis, needed at least one", given.name);
                let diag = Diag::new(Code::E3002, self.site(axes()), message);
                diag.help("leave out `axes` to reduce every axis")
            }
            Unresolved::Open(count) => {
                let text = self.text(shape());
                let problem = format!("-1 stands {count} times in {text}, needed at most once");
                Diag::new(Code::E3007, self.site(shape()), message(problem))
            }
            Unresolved::Indivisible(others, all) => {
                let from = &self.builder.ty(operands[0].0).shape;
                let problem = format!("{from} has {all} elements, which {others} does not divide");
                Diag::new(Code::E3007, self.site(shape()), message(problem))
            }
            Unresolved::Amounts(problem) => {
                Diag::new(Code::E4010, self.site(attribute(&["low"])), message(problem.clone()))
            }
            Unresolved::Extent(overflow) => {
                let message = format!("`{}`: {overflow}", given.name);
                Diag::new(Code::E1008, self.site(given.expr), message)
            }
            Unresolved::NoIndices => {
                let (value, expr) = operands[0];
                let dtype = self.builder.ty(value).dtype;
                let problem = format!("indices are {dtype}, needed {}", mind_shape::names::ANY_INTEGER);
                Diag::new(Code::E4011, self.site(expr), message(problem))
            }
            Unresolved::Unlike(other) => {
                let ((value, _), (other, other_expr)) = (operands[0], operands[*other]);
                let [a, b] = [value, other].map(|value| self.builder.ty(value));
                let (code, problem) = match a.dtype == b.dtype {
                    true => (Code::E3003, format!("shapes differ, {} and {}", a.shape, b.shape)),
                    false => (Code::E2004, format!("element types differ, {} and {}", a.dtype, b.dtype)),
                };
                let other = format!("{} is {b}", self.text(other_expr));
                Diag::new(code, self.site(other_expr), format!("{}, {other}", message(problem)))
            }
            Unresolved::Overflow(Overflow::Range) => {
                let problem = "the element count exceeds 64 bits".to_owned();
                Diag::new(Code::E3007, self.site(shape()), message(problem))
            }
            Unresolved::Overflow(overflow) => {
                Diag::new(Code::E1008, self.site(shape()), message(overflow.to_string()))
            }
        }
        .into()
    }

    /// Where mistakes of a literal are told, which may be a call as `zeros([3])`.
    pub(crate) fn spot_of_literal(&self, expr: ExprId) -> Spot {
        let spot = Spot::of(expr);
        let NodeKind::Call { callee, arguments, .. } = &self.body[expr].kind else { return spot };
        let spot = find(&callee.to_string()).map_or(spot.clone(), |builtin| spot.label(builtin.name));
        match arguments.first() {
            Some(shape) => spot.attribute("shape", shape.site),
            None => spot,
        }
    }

    /// Tensors of one dtype; a literal takes that of the first that is none.
    fn alike(&mut self, given: &Given, operands: &[ExprId]) -> Lowered<Vec<Operand>> {
        let known = operands.iter().find_map(|operand| match self.values[operand.index()] {
            Value::Tensor(value) => Some((value, *operand)),
            _ => None,
        });
        let operand = |operand: &ExprId| match (&self.values[operand.index()], known) {
            (Value::Literal(literal), Some(other)) => {
                let literal = (*literal, *operand);
                Ok((self.beside(given.name, self.site(*operand), literal, other)?, *operand))
            }
            (_, _) => Ok((self.tensor(*operand, None)?, *operand)),
        };
        operands.iter().map(operand).collect()
    }
}
