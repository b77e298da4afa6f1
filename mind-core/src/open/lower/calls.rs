//! Operators, calls of functions of the language, and index expressions.

use super::constants::{Meeting, binary};
use super::lowering::Lowering;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::ir::Part;
use crate::map::Map;
use crate::open::{Check, CheckKind, NodeId, Op, Spot, Subscript};
use crate::surface::ast::{
    self, Argument, BinaryOp, Callee, ExprId, NodeKind, SubscriptKind, Transposed, new_axes,
};
use crate::surface::habits;
use crate::surface::lower::builtins;
use crate::surface::lower::builtins::calls::{Call, Given, ReadCalls};
use crate::surface::lower::builtins::foreign::Foreign;
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::{Expressions, transposed};
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::Shape;
use crate::written::{CompositeOp, ExtentRef, expanded, spread};

impl Lowering<'_> {
    /// A sign before an operand.
    pub(super) fn prefix(
        &mut self,
        map: Map,
        operand: ExprId,
        operator: Site,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let fields = self.by_field(map.row().label, &[operand], &mut |lowering| {
            lowering.prefix(map, operand, operator, expr)
        })?;
        if let Some(fields) = fields {
            return Ok(self.assembled_by_field(fields));
        }
        if let Value::Literal(id) = *self.value(operand)
            && let Some(literal) = self.literals.prefixed(map, id, expr)
        {
            return Ok(Value::Literal(literal));
        }
        let spot = self.spot(map.row().label, expr, &[operand]).at_operator(operator);
        self.unary(Op::Map(map), operand, spot)
    }

    fn unary(&mut self, op: Op, x: ExprId, spot: Spot) -> Lowered<Value<NodeId>> {
        let operand = self.tensor(x)?;
        Ok(Value::Tensor(self.emit(op, &[operand], spot)))
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        operator: Site,
        lhs: ExprId,
        rhs: ExprId,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        if let Some(fields) = self.fieldwise(op, operator, (lhs, rhs), expr)? {
            return Ok(fields);
        }
        if let Value::Literal(by) = *self.value(rhs) {
            self.check_written(op, lhs, (by, rhs))?;
        }
        if let (Value::Literal(a), Value::Literal(b), true) =
            (self.value(lhs), self.value(rhs), op.keeps_literals())
        {
            return self.binary_literal(op, (*a, *b), operator, expr);
        }
        let operands = self.pair(op.symbol(), (operator, operator), true, lhs, rhs)?;
        let spot = self.spot(op.symbol(), expr, &[lhs, rhs]).at_operator(operator);
        Ok(Value::Tensor(self.emit(binary(op), &operands, spot)))
    }

    /// Two tensors of one element type: a literal takes the other's. A literal that cannot is told of at `sites`.
    fn pair(
        &mut self,
        label: &'static str,
        sites: (Site, Site),
        is_operator: bool,
        a: ExprId,
        b: ExprId,
    ) -> Lowered<[NodeId; 2]> {
        let meeting = |other, other_expr, site| Meeting { other, other_expr, label, site, is_operator };
        match (self.value(a), self.value(b)) {
            (Value::Literal(literal), Value::Tensor(other)) => {
                let (literal, other) = (*literal, *other);
                Ok([self.beside(literal, meeting(other, b, sites.0))?, other])
            }
            (Value::Tensor(other), Value::Literal(literal)) => {
                let (literal, other) = (*literal, *other);
                Ok([other, self.beside(literal, meeting(other, a, sites.1))?])
            }
            (_, _) => Ok([self.tensor(a)?, self.tensor(b)?]),
        }
    }

    /// Tensors of one element type: a literal takes that of the first that is none.
    fn alike(&mut self, label: &'static str, operands: &[ExprId]) -> Lowered<Vec<NodeId>> {
        let known = operands.iter().find_map(|operand| match self.value(*operand) {
            Value::Tensor(node) => Some((*node, *operand)),
            _ => None,
        });
        let operand = |operand: &ExprId| match (self.value(*operand), known) {
            (Value::Literal(literal), Some((other, other_expr))) => {
                let (literal, site) = (*literal, self.site(*operand));
                self.beside(literal, Meeting { other, other_expr, label, site, is_operator: false })
            }
            (_, _) => self.tensor(*operand),
        };
        operands.iter().map(operand).collect()
    }

    pub(super) fn call(
        &mut self,
        callee: &Callee,
        arguments: &[Argument],
        method: bool,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let name = callee.to_string();
        if method && self.is_call_of_library(callee, arguments) {
            return Err(self.library_called(callee, arguments, expr).into());
        }
        if let Some(diag) = self.not_for_expressions(callee, expr) {
            return Err(diag.into());
        }
        let Some(builtin) = builtins::find(&name) else {
            return Err(self.undefined_function(callee, (arguments, method), expr));
        };
        let (call, given) = self.read_call(builtin, arguments, expr)?;
        match self.over_fields(&call, &given)? {
            Some(value) => Ok(value),
            None => self.call_of(call, &given),
        }
    }

    pub(super) fn call_of(&mut self, call: Call, given: &Given) -> Lowered<Value<NodeId>> {
        let expr = given.expr;
        match call {
            Call::Operation(op, operands) => self.operation(given, op, &operands),
            Call::Map(map, operands) => match self.applied(map, &operands, expr) {
                Some(literal) => Ok(Value::Literal(literal)),
                None => self.operation(given, Op::Map(map), &operands),
            },
            Call::Extent { x, axis } => {
                let node = self.tensor(x)?;
                let named = given.named().find(|(name, _)| *name == "axis");
                let site = named.map_or(self.site(expr), |(_, argument)| self.site(argument));
                let text = self.text(x);
                self.checks.push(Check { kind: CheckKind::Axis(axis), node, text, site });
                let extent = self.extent_symbol("extent", node, ExtentRef::Axis(axis), x);
                Ok(Value::Literal(self.literals.dim(extent, expr)))
            }
            Call::Composite(steps, operands) => {
                let spot = self.spot_of_call(given, &operands[..1]);
                let mut values =
                    operands.iter().map(|operand| self.tensor(*operand)).collect::<Lowered<Vec<_>>>()?;
                for CompositeOp { op, operands } in steps {
                    let operands: Vec<NodeId> = operands.iter().map(|at| values[*at]).collect();
                    values.push(self.emit(op, &operands, spot.clone()));
                }
                Ok(Value::Tensor(values[values.len() - 1]))
            }
            Call::Filled { one, shape } => {
                Ok(Value::Literal(self.literals.zero_or_one(one, Shape::new(shape), expr)))
            }
            Call::Full { shape, value } => {
                if let Value::Literal(id) = *self.value(value)
                    && self.literals.is_number(id)
                {
                    return Ok(Value::Literal(self.literals.filled(id, Shape::new(shape), expr)));
                }
                self.operation(given, spread(shape), &[value])
            }
        }
    }

    /// What is said of a function of a block, which has types of its own: expressions call templates only.
    fn not_for_expressions(&self, callee: &Callee, expr: ExprId) -> Option<Diag> {
        let text = callee.to_string();
        if let Some(frame) = self.frames.last() {
            let is_function = !callee.of_library && builtins::find(&text).is_none();
            let message =
                format!("it calls the function `{text}`, which an expression among Rust variables cannot");
            let help =
                format!("call `{}` in a function of a block, or make `{text}` a template", frame.name());
            return is_function.then(|| Diag::new(Code::E2002, self.site(expr), message).help(help));
        }
        self.table.scope(0).position(&text)?;
        let message = format!("`{text}` is a function of a block, expected a template");
        let help = format!("put a call of it as a Rust function in braces, as `{{{text}(&x)}}`");
        Some(Diag::new(Code::E2002, callee.site(), message).help(help))
    }

    /// An operation on tensors, of which those that have one element type are brought together.
    fn operation(&mut self, given: &Given, op: Op, operands: &[ExprId]) -> Lowered<Value<NodeId>> {
        let (before, alike) = operands.split_at(op.first_alike(operands.len()));
        let mut values = before.iter().map(|operand| self.tensor(*operand)).collect::<Lowered<Vec<_>>>()?;
        values.extend(match alike {
            [a, b] => self.pair(given.name, (self.site(*a), self.site(*b)), false, *a, *b)?.to_vec(),
            _ => self.alike(given.name, alike)?,
        });
        let spot = self.spot_of_call(given, operands);
        Ok(Value::Tensor(self.emit(op, &values, spot)))
    }

    pub(super) fn spot_of_call(&self, given: &Given, operands: &[ExprId]) -> Spot {
        let spot = self.spot(given.name, given.expr, operands);
        given.attributes().fold(spot, |spot, (name, argument)| spot.attribute(name, self.given_at(argument)))
    }

    /// Where an attribute is written; in a template where the outermost call has it, if it does.
    fn given_at(&self, argument: ExprId) -> Site {
        let written = match (self.frames.first(), self.value(argument)) {
            (Some(frame), Value::Literal(literal)) => {
                Some(self.literals.expr(*literal)).filter(|expr| expr.0 < frame.enter.0)
            }
            _ => None,
        };
        written.map_or_else(|| self.site(argument), |expr| self.body[expr].site)
    }

    /// The spot of a literal, which may be a call as `zeros([3])`.
    pub(super) fn spot_of_literal(&self, expr: ExprId) -> Spot {
        let NodeKind::Call { callee, .. } = &self.body[expr].kind else {
            return self.spot("literal", expr, &[]);
        };
        let callee = builtins::find(&callee.to_string());
        self.spot(callee.map_or("literal", |builtin| builtin.name), expr, &[])
    }

    /// Where the shape of a literal stands that is a call as `zeros([3])`.
    pub(super) fn shape_site(&self, expr: ExprId) -> Option<Site> {
        let NodeKind::Call { arguments, .. } = &self.body[expr].kind else { return None };
        arguments.first().map(|argument| argument.site)
    }

    fn undefined_function(
        &mut self,
        callee: &Callee,
        (arguments, method): (&[Argument], bool),
        expr: ExprId,
    ) -> Stop {
        let of_mistake = method && matches!(self.value(arguments[0].value), Value::Poison);
        if of_mistake || self.is_told_with_its_call(callee, expr) {
            return Stop::Poisoned;
        }
        let name = callee.to_string();
        let text = self.short_text(expr);
        let diag = self.no_function(callee, (arguments, method), expr, builtins::names());
        let operand = arguments.first().map(|first| self.text(first.value));
        let diag = match self.updates_part(arguments, method) {
            true => diag.help(habits::field("at").unwrap_or_default()),
            false => diag,
        };
        let extent = operand.and_then(|operand| habits::extent_function(&name, operand.trim_matches('`')));
        self.once(format!("{name}()"), || {
            let what = if method { "method" } else { "function" };
            match (extent, &diag.help) {
                (Some(extent), _) => diag.help(extent),
                (None, Some(_)) => diag,
                (None, None) => diag.help(format!("put a call of a Rust {what} in braces, as `{{{text}}}`")),
            }
        })
    }

    /// Whether a method is JAX's `x.at[0].set(…)`.
    fn updates_part(&self, arguments: &[Argument], method: bool) -> bool {
        let part = arguments.first().filter(|_| method).map(|receiver| &self.body[receiver.value].kind);
        let Some(NodeKind::Subscript { base, .. }) = part else { return false };
        matches!(&self.body[*base].kind, NodeKind::Member { name, .. } if name == "at")
    }

    pub(super) fn transpose(
        &mut self,
        base: ExprId,
        axes: Transposed,
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let label = if axes == Transposed::All { "transpose" } else { axes.symbol() };
        let spot = self.spot(label, expr, &[base]);
        self.unary(transposed(axes), base, spot)
    }

    pub(super) fn subscript(
        &mut self,
        base: ExprId,
        subscripts: &[ast::Subscript],
        expr: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let operand = self.tensor(base)?;
        let spot = self.spot("index", expr, &[base]);
        let (mut read, mut sites) = (Vec::new(), Vec::new());
        for ast::Subscript { kind, site } in subscripts {
            let bound = |bound: Option<ExprId>| bound.map(|bound| self.bound_attribute(bound)).transpose();
            read.push(match *kind {
                SubscriptKind::Rest => Subscript::Rest,
                SubscriptKind::New => continue,
                SubscriptKind::At(place) => Subscript::At(self.index(base, place)?),
                SubscriptKind::Range { start, end, step } => Subscript::Range {
                    start: bound(start)?,
                    end: bound(end)?,
                    step: step.map(|step| self.integer_attribute(step)).transpose()?,
                },
            });
            sites.push((!matches!(kind, SubscriptKind::Rest)).then_some(*site));
        }
        let new = new_axes(subscripts);
        // What is taken whole beside them is no copy.
        let is_whole = !new.is_empty() && read.iter().all(|part| *part == Subscript::Rest);
        let index = Op::Part(Part::Index { indices: read });
        // Mistakes inside a template are reported at its call.
        let spot = if self.frames.is_empty() { spot.subscripts(&sites) } else { spot };
        let taken = if is_whole { operand } else { self.emit(index, &[operand], spot) };
        if new.is_empty() {
            return Ok(Value::Tensor(taken));
        }
        let spot = self.spot("index", expr, &[base]).attribute("axes", self.site(expr));
        Ok(Value::Tensor(self.emit(expanded(new), &[taken], spot)))
    }

    fn index(&self, base: ExprId, place: ExprId) -> Lowered<Dim> {
        if let Value::Tensor(_) = self.value(place) {
            let message = format!("an index is an integer known here, found {}", self.describe(place));
            return Err(Diag::new(Code::E2001, self.site(place), message)
                .help(self.picked(base, place))
                .into());
        }
        self.dim_attribute(place).map_err(|stop| self.not_a_list(base, place, stop))
    }
}
