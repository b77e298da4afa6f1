//! The functions of the language: one row each.

use super::attributes::Rank;
use super::body::BodyLowering;
use super::calls::match_arguments;
use super::report::{Operand, Spot};
use super::values::{Lowered, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::{Convolution, Op, Padding, Reduction, Slice};
use crate::surface::ast::{Argument, ExprId, NodeKind};
use crate::ty::Shape;

/// A function of the language.
pub(super) struct Builtin {
    name: &'static str,
    /// The names of the arguments, those required first.
    formals: &'static [&'static str],
    required: usize,
    lower: fn(&mut BodyLowering<'_>, &Given) -> Lowered<Value>,
}

/// The arguments of a call, one place a formal.
pub(super) struct Given {
    name: &'static str,
    arguments: Vec<Option<ExprId>>,
    expr: ExprId,
}

const BUILTINS: &[Builtin] = &[
    Builtin { name: "matmul", formals: &["a", "b"], required: 2, lower: |l, g| l.product(g, Op::MatMul) },
    Builtin { name: "dot", formals: &["a", "b"], required: 2, lower: |l, g| l.product(g, Op::Dot) },
    Builtin { name: "sum", formals: REDUCTION, required: 1, lower: |l, g| l.reduction(g, Op::Sum) },
    Builtin { name: "mean", formals: REDUCTION, required: 1, lower: |l, g| l.reduction(g, Op::Mean) },
    Builtin { name: "reshape", formals: &["x", "shape"], required: 2, lower: |l, g| l.reshape(g) },
    Builtin {
        name: "transpose",
        formals: &["x", "permutation"],
        required: 1,
        lower: |l, g| l.transpose_call(g),
    },
    Builtin { name: "expand_dims", formals: &["x", "axes"], required: 2, lower: |l, g| l.expand_dims(g) },
    Builtin { name: "squeeze", formals: &["x", "axes"], required: 1, lower: |l, g| l.squeeze(g) },
    Builtin {
        name: "slice",
        formals: &["x", "starts", "ends", "steps"],
        required: 3,
        lower: |l, g| l.slice_call(g),
    },
    Builtin { name: "gather", formals: &["t", "i"], required: 2, lower: |l, g| l.gather(g) },
    Builtin {
        name: "conv2d",
        formals: &["x", "f", "strides", "padding"],
        required: 2,
        lower: |l, g| l.conv2d(g),
    },
    Builtin { name: "relu", formals: &["x"], required: 1, lower: |l, g| l.unary(g, Op::Relu) },
    Builtin { name: "exp", formals: &["x"], required: 1, lower: |l, g| l.unary(g, Op::Exp) },
    Builtin { name: "log", formals: &["x"], required: 1, lower: |l, g| l.unary(g, Op::Log) },
    Builtin { name: "neg", formals: &["x"], required: 1, lower: |l, g| l.neg_call(g) },
    Builtin { name: "zeros", formals: &["shape"], required: 1, lower: |l, g| l.constant(g, false) },
    Builtin { name: "ones", formals: &["shape"], required: 1, lower: |l, g| l.constant(g, true) },
    Builtin { name: "full", formals: &["shape", "c"], required: 2, lower: |l, g| l.full(g) },
    Builtin { name: "zeros_like", formals: &["x"], required: 1, lower: |l, g| l.constant_like(g, false) },
    Builtin { name: "ones_like", formals: &["x"], required: 1, lower: |l, g| l.constant_like(g, true) },
    Builtin { name: "broadcast_to", formals: &["x", "shape"], required: 2, lower: |l, g| l.broadcast_to(g) },
    Builtin {
        name: "stop_gradient",
        formals: &["x"],
        required: 1,
        lower: |l, g| l.unary(g, Op::StopGradient),
    },
];

const REDUCTION: &[&str] = &["x", "axes", "keepdims"];

pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

pub(super) fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

impl Given {
    /// The argument of a required formal.
    fn required(&self, position: usize) -> ExprId {
        self.arguments[position].expect("arguments were matched with what is required")
    }
}

impl BodyLowering<'_> {
    pub(super) fn call_builtin(
        &mut self,
        builtin: &'static Builtin,
        arguments: &[Argument],
        expr: ExprId,
    ) -> Lowered<Value> {
        let Builtin { name, formals, required, lower } = builtin;
        let matched = match_arguments(name, formals, *required, arguments, self.body[expr].site)?;
        let arguments = matched.given.iter().map(|given| given.map(|argument| argument.value)).collect();
        lower(self, &Given { name, arguments, expr })
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

    fn site(&self, expr: ExprId) -> Site {
        self.body[expr].site
    }

    /// The first argument, a tensor.
    fn subject(&mut self, given: &Given) -> Lowered<Operand> {
        let expr = given.required(0);
        Ok((self.tensor(expr, None)?, expr))
    }

    fn unary(&mut self, given: &Given, op: Op) -> Lowered<Value> {
        let operand = self.subject(given)?;
        self.emit(&self.spot(given, &[]), op, &[operand]).map(Value::Tensor)
    }

    fn neg_call(&mut self, given: &Given) -> Lowered<Value> {
        if let Value::Literal(id) = self.values[given.required(0).index()] {
            return Ok(Value::Literal(self.literals.neg(id, given.expr)));
        }
        self.unary(given, Op::Neg)
    }

    /// Two tensors of one dtype; a literal takes the other's.
    fn pair(&mut self, given: &Given) -> Lowered<[Operand; 2]> {
        let (a, b) = (given.required(0), given.required(1));
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

    fn product(&mut self, given: &Given, op: Op) -> Lowered<Value> {
        let operands = self.pair(given)?;
        self.emit(&self.spot(given, &[]), op, &operands).map(Value::Tensor)
    }

    fn conv2d(&mut self, given: &Given) -> Lowered<Value> {
        let operands = self.pair(given)?;
        let strides = match given.arguments[2] {
            Some(strides) => self.integers_attribute(strides)?,
            None => vec![1, 1],
        };
        let padding = match given.arguments[3] {
            Some(padding) => self.padding_attribute(padding)?,
            None => Padding::Valid,
        };
        let spot = self.spot(given, &[("strides", 2), ("padding", 3)]);
        self.emit(&spot, Op::Conv2d(Convolution { strides, padding }), &operands).map(Value::Tensor)
    }

    fn gather(&mut self, given: &Given) -> Lowered<Value> {
        let table = self.subject(given)?;
        let indices = given.required(1);
        let operands = [table, (self.tensor(indices, None)?, indices)];
        self.emit(&self.spot(given, &[]), Op::Gather, &operands).map(Value::Tensor)
    }

    fn reduction(&mut self, given: &Given, op: fn(Reduction) -> Op) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let rank = self.builder.ty(operand.0).rank();
        let axes = match given.arguments[1] {
            Some(axes) => self.axes_attribute(given.name, axes, Rank::Is(rank), operand)?,
            None => (0..rank).map(position).collect(),
        };
        let keepdims = match given.arguments[2] {
            Some(keepdims) => self.flag_attribute(keepdims)?,
            None => false,
        };
        if let (Some(written), true, true) = (given.arguments[1], axes.is_empty(), rank > 0) {
            let message =
                format!("`{}`: {} reduces no axis, needed at least one", given.name, self.text(written));
            let diag = Diag::new(Code::E3002, self.site(written), message);
            return Err(diag.help("leave out `axes` to reduce every axis").into());
        }
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, op(Reduction { axes, keepdims }), &[operand]).map(Value::Tensor)
    }

    fn reshape(&mut self, given: &Given) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let written = given.required(1);
        let dims = self.dims_attribute(written)?;
        let shape = self.resolve_shape(dims, operand, written)?;
        let spot = self.spot(given, &[("shape", 1)]);
        self.emit(&spot, Op::Reshape { shape }, &[operand]).map(Value::Tensor)
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
        let (Ok(all), Ok(others)) = (ty.shape.element_count(), others) else {
            return Err(fault("the element count exceeds 64 bits".to_owned()));
        };
        let Some(extent) = all.exact_div(&others) else {
            let problem = format!("{} has {all} elements, which {others} does not divide", ty.shape);
            return Err(fault(problem));
        };
        let replaced = dims.into_iter().enumerate();
        Ok(replaced.map(|(other, dim)| if other == axis { extent.clone() } else { dim }).collect())
    }

    fn transpose_call(&mut self, given: &Given) -> Lowered<Value> {
        let Some(written) = given.arguments[1] else {
            return self.transpose(given.required(0), None, given.expr);
        };
        let operand = self.subject(given)?;
        let rank = position(self.builder.ty(operand.0).rank());
        let written = self.integers_attribute(written)?;
        let from_end = |axis: &i64| if (-rank..0).contains(axis) { axis + rank } else { *axis };
        let permutation = written.iter().map(from_end).collect();
        let spot = self.spot(given, &[("permutation", 1)]);
        self.emit(&spot, Op::Transpose { permutation }, &[operand]).map(Value::Tensor)
    }

    fn expand_dims(&mut self, given: &Given) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let rank = self.builder.ty(operand.0).rank();
        let axes = self.axes_attribute(given.name, given.required(1), Rank::GrowsFrom(rank), operand)?;
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, Op::ExpandDims { axes }, &[operand]).map(Value::Tensor)
    }

    fn squeeze(&mut self, given: &Given) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let shape = &self.builder.ty(operand.0).shape;
        let axes = match given.arguments[1] {
            Some(axes) => self.axes_attribute(given.name, axes, Rank::Is(shape.rank()), operand)?,
            None => (0..shape.rank()).filter(|axis| shape[*axis].is_one()).map(position).collect(),
        };
        if axes.is_empty() {
            return Ok(Value::Tensor(operand.0));
        }
        let spot = self.spot(given, &[("axes", 1)]);
        self.emit(&spot, Op::Squeeze { axes }, &[operand]).map(Value::Tensor)
    }

    fn slice_call(&mut self, given: &Given) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let starts = self.dims_attribute(given.required(1))?;
        let ends = self.dims_attribute(given.required(2))?;
        let steps = match given.arguments[3] {
            Some(steps) => self.integers_attribute(steps)?,
            None => vec![1; starts.len()],
        };
        let spot = self.spot(given, &[("starts", 1), ("ends", 2), ("steps", 3)]);
        let slice = Slice { starts, ends, steps };
        self.emit(&spot, Op::Slice(slice.into()), &[operand]).map(Value::Tensor)
    }

    fn constant(&mut self, given: &Given, one: bool) -> Lowered<Value> {
        let shape = Shape::new(self.dims_attribute(given.required(0))?);
        Ok(Value::Literal(self.literals.zero_or_one(one, shape, given.expr)))
    }

    fn full(&mut self, given: &Given) -> Lowered<Value> {
        let shape = Shape::new(self.dims_attribute(given.required(0))?);
        let value = given.required(1);
        if let Value::Literal(id) = self.values[value.index()]
            && self.literals.is_number(id)
        {
            return Ok(Value::Literal(self.literals.filled(id, shape, given.expr)));
        }
        let operand = (self.tensor(value, None)?, value);
        self.emit(&self.spot(given, &[("shape", 0)]), Op::BroadcastTo { shape }, &[operand])
            .map(Value::Tensor)
    }

    fn constant_like(&mut self, given: &Given, one: bool) -> Lowered<Value> {
        let (like, _) = self.subject(given)?;
        let ty = self.builder.ty(like).clone();
        let literal = self.literals.zero_or_one(one, ty.shape, given.expr);
        self.materialise(literal, ty.dtype).map(Value::Tensor)
    }

    fn broadcast_to(&mut self, given: &Given) -> Lowered<Value> {
        let operand = self.subject(given)?;
        let shape = Shape::new(self.dims_attribute(given.required(1))?);
        self.emit(&self.spot(given, &[("shape", 1)]), Op::BroadcastTo { shape }, &[operand])
            .map(Value::Tensor)
    }
}

/// An axis, or a rank, as attributes hold it.
fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank is at most 8")
}
