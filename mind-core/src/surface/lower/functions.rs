//! The functions of the language, lowered to Core IR.

use super::attributes::Rank;
use super::body::BodyLowering;
use super::builtins::{Builtin, Call, Given, ReadCalls, Written, find};
use super::expressions::Expressions;
use super::report::{Operand, Spot};
use super::values::{Lowered, Stop, Value};
use crate::diag::{Code, Diag};
use crate::dim::{Dim, Overflow};
use crate::ir::{Op, Reduction, Slice, ValueId};
use crate::map::Map;
use crate::reduce::Reduce;
use crate::surface::ast::{Argument, ExprId, NodeKind};
use crate::ty::Shape;

impl BodyLowering<'_> {
    pub(super) fn call_builtin(
        &mut self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let (call, given) = self.read_call(builtin, arguments, expr)?;
        let given = &given;
        let value = match call {
            Call::MatMul(a, b) => self.product(given, Op::MatMul, [a, b])?,
            Call::Dot(a, b) => self.product(given, Op::Dot, [a, b])?,
            Call::Reduce { reduce, x, axes, keepdims } => self.reduce(given, reduce, x, axes, keepdims)?,
            Call::Reshape { x, shape } => self.reshape(given, x, shape)?,
            Call::Transpose { x, permutation: None } => return self.transpose(x, None, expr),
            Call::Transpose { x, permutation: Some(written) } => self.permute(given, x, &written)?,
            Call::ExpandDims { x, axes } => self.expand_dims(given, x, &axes)?,
            Call::Squeeze { x, axes } => self.squeeze(given, x, axes)?,
            Call::Slice { x, starts, ends, steps } => {
                let slice = Slice { starts, ends, steps };
                let spot = self.spot(given, &[("starts", 1), ("ends", 2), ("steps", 3)]);
                self.unary(spot, Op::Slice(slice.into()), x)?
            }
            Call::Gather { t, i } => {
                let operands = [(self.tensor(t, None)?, t), (self.tensor(i, None)?, i)];
                self.emit(&self.spot(given, &[]), Op::Gather, &operands)?
            }
            Call::Conv2d { x, f, convolution } => {
                let operands = self.pair(given, x, f)?;
                let spot = self.spot(given, &[("strides", 2), ("padding", 3)]);
                self.emit(&spot, Op::Conv2d(convolution), &operands)?
            }
            Call::Map { map, operands } => match operands[..] {
                [a, b] => self.product(given, Op::Map(map), [a, b])?,
                _ => self.unary(self.spot(given, &[]), Op::Map(map), operands[0])?,
            },
            Call::Neg(x) => match self.values[x.index()] {
                Value::Literal(id) => return Ok(Value::Literal(self.literals.neg(id, expr))),
                Value::Struct(_) => return self.neg(x, self.site(expr), expr),
                Value::Poison | Value::Tensor(_) | Value::Tuple(_) | Value::Bool(_) | Value::Word(_) => {
                    self.unary(self.spot(given, &[]), Op::Map(Map::SIGN), x)?
                }
            },
            Call::Filled { one, shape } => {
                return Ok(Value::Literal(self.literals.zero_or_one(one, Shape::new(shape), expr)));
            }
            Call::Full { shape, value } => return self.full(given, Shape::new(shape), value),
            Call::FilledLike { one, x } => {
                let like = self.tensor(x, None)?;
                let ty = self.builder.ty(like).clone();
                let literal = self.literals.zero_or_one(one, ty.shape, expr);
                self.materialise(literal, ty.dtype)?
            }
            Call::BroadcastTo { x, shape } => {
                let shape = Shape::new(shape);
                self.unary(self.spot(given, &[("shape", 1)]), Op::BroadcastTo { shape }, x)?
            }
        };
        Ok(Value::Tensor(value))
    }

    /// Where a call's mistakes are told; `attributes` are the rules' names for its arguments.
    fn spot(&self, given: &Given, attributes: &[(&'static str, usize)]) -> Spot {
        let mut spot = Spot::of(given.expr).label(given.name);
        for (name, position) in attributes {
            if let Some(argument) = given.arguments[*position] {
                spot = spot.attribute(name, self.site(argument));
            }
        }
        spot
    }

    /// Where mistakes of a literal are told, which may be a call as `zeros([3])`.
    pub(super) fn spot_of_literal(&self, expr: ExprId) -> Spot {
        let spot = Spot::of(expr);
        let NodeKind::Call { callee, arguments, .. } = &self.body[expr].kind else { return spot };
        let spot = find(&callee.to_string()).map_or(spot.clone(), |builtin| spot.label(builtin.name));
        match arguments.first() {
            Some(shape) => spot.attribute("shape", shape.site),
            None => spot,
        }
    }

    fn unary(&mut self, spot: Spot, op: Op, x: ExprId) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        self.emit(&spot, op, &[operand])
    }

    /// Two tensors of one dtype; a literal takes the other's.
    fn pair(&mut self, given: &Given, a: ExprId, b: ExprId) -> Lowered<[Operand; 2]> {
        let values = (self.values[a.index()].clone(), self.values[b.index()].clone());
        let (lhs, rhs) = match values {
            (Value::Literal(literal), Value::Tensor(other)) => {
                (self.beside(given.name, self.site(a), (literal, a), (other, b))?, other)
            }
            (Value::Tensor(other), Value::Literal(literal)) => {
                (other, self.beside(given.name, self.site(b), (literal, b), (other, a))?)
            }
            (_, _) => (self.tensor(a, None)?, self.tensor(b, None)?),
        };
        Ok([(lhs, a), (rhs, b)])
    }

    fn product(&mut self, given: &Given, op: Op, [a, b]: [ExprId; 2]) -> Lowered<ValueId> {
        let operands = self.pair(given, a, b)?;
        self.emit(&self.spot(given, &[]), op, &operands)
    }

    fn reduce(
        &mut self,
        given: &Given,
        reduce: Reduce,
        x: ExprId,
        written: Option<Written>,
        keepdims: bool,
    ) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        let rank = self.builder.ty(operand.0).rank();
        let axes = match &written {
            Some(Written { axes, expr }) => {
                self.resolved_axes(given.name, (axes, *expr), Rank::Is(rank), operand)?
            }
            None => (0..rank).map(position).collect(),
        };
        if let (Some(Written { expr, .. }), true, true) = (&written, axes.is_empty(), rank > 0) {
            let message =
                format!("`{}`: {} reduces no axis, needed at least one", given.name, self.text(*expr));
            let diag = Diag::new(Code::E3002, self.site(*expr), message);
            return Err(diag.help("leave out `axes` to reduce every axis").into());
        }
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, Op::Reduce(reduce, Reduction { axes, keepdims }), &[operand])
    }

    fn reshape(&mut self, given: &Given, x: ExprId, dims: Vec<Dim>) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        let written = given.arguments[1].expect("the shape is required");
        let shape = self.resolve_shape(dims, operand, written)?;
        let spot = self.spot(given, &[("shape", 1)]);
        self.emit(&spot, Op::Reshape { shape }, &[operand])
    }

    /// Works out the extent that is written `-1`.
    fn resolve_shape(&self, dims: Vec<Dim>, operand: Operand, written: ExprId) -> Lowered<Shape> {
        let open: Vec<_> = (0..dims.len()).filter(|axis| dims[*axis].as_literal() == Some(-1)).collect();
        let Some(axis) = open.first().copied() else { return Ok(Shape::new(dims)) };
        let (value, expr) = operand;
        let ty = self.builder.ty(value);
        let fault = |problem: String| {
            let message = format!("`reshape`: {problem}: {} is {ty}", self.text(expr));
            Stop::from(Diag::new(Code::E3007, self.site(written), message))
        };
        if open.len() > 1 {
            return Err(fault(format!(
                "-1 stands {} times in {}, needed at most once",
                open.len(),
                self.text(written)
            )));
        }
        let others = dims.iter().enumerate().filter(|(other, _)| *other != axis);
        let others = others.map(|(_, dim)| dim.clone()).collect::<Shape>().element_count();
        let count = ty.shape.element_count().and_then(|all| Ok((others?, all)));
        let extent = count.and_then(|(others, all)| Ok((all.exact_div(&others)?, others, all)));
        let (extent, others, all) = extent.map_err(|overflow| {
            if overflow == Overflow::Range {
                return fault("the element count exceeds 64 bits".to_owned());
            }
            let message = format!("`reshape`: {overflow}: {} is {ty}", self.text(expr));
            Stop::from(Diag::new(Code::E1008, self.site(written), message))
        })?;
        let Some(extent) = extent else {
            let problem = format!("{} has {all} elements, which {others} does not divide", ty.shape);
            return Err(fault(problem));
        };
        let replaced = dims.into_iter().enumerate();
        Ok(replaced.map(|(other, dim)| if other == axis { extent.clone() } else { dim }).collect())
    }

    fn permute(&mut self, given: &Given, x: ExprId, written: &Written) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        let rank = position(self.builder.ty(operand.0).rank());
        let from_end = |axis: &i64| if (-rank..0).contains(axis) { axis + rank } else { *axis };
        let permutation = written.axes.iter().map(from_end).collect();
        let spot = self.spot(given, &[("permutation", 1)]);
        self.emit(&spot, Op::Transpose { permutation }, &[operand])
    }

    fn expand_dims(&mut self, given: &Given, x: ExprId, written: &Written) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        let rank = Rank::GrowsFrom(self.builder.ty(operand.0).rank());
        let axes = self.resolved_axes(given.name, (&written.axes, written.expr), rank, operand)?;
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, Op::ExpandDims { axes }, &[operand])
    }

    fn squeeze(&mut self, given: &Given, x: ExprId, written: Option<Written>) -> Lowered<ValueId> {
        let operand = (self.tensor(x, None)?, x);
        let shape = &self.builder.ty(operand.0).shape;
        let axes = match written {
            Some(Written { axes, expr }) => {
                self.resolved_axes(given.name, (&axes, expr), Rank::Is(shape.rank()), operand)?
            }
            None => (0..shape.rank()).filter(|axis| shape[*axis].is_one()).map(position).collect(),
        };
        if axes.is_empty() {
            return Ok(operand.0);
        }
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, Op::Squeeze { axes }, &[operand])
    }

    fn full(&mut self, given: &Given, shape: Shape, value: ExprId) -> Lowered<Value> {
        if let Value::Literal(id) = self.values[value.index()]
            && self.literals.is_number(id)
        {
            return Ok(Value::Literal(self.literals.filled(id, shape, given.expr)));
        }
        let spot = self.spot(given, &[("shape", 0)]);
        self.unary(spot, Op::BroadcastTo { shape }, value).map(Value::Tensor)
    }
}

/// An axis, or a rank, as attributes hold it.
fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank is at most 8")
}
