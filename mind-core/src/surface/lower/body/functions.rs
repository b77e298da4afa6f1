//! The functions of the language, lowered to Core IR.

use super::lowering::{BodyLowering, LoweredOperand};
use super::replacing::Put;
use super::report::Spot;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Dim, Overflow};
use crate::ir::{self, Const, ValueId};
use crate::surface::ast::{BinaryOp, ExprId, NodeKind};
use crate::surface::lower::builtins::calls::CallArguments;
use crate::surface::lower::builtins::einsum::NamedAxis;
use crate::surface::lower::builtins::find;
use crate::surface::lower::builtins::operations::{Operations, TypedOperand};
use crate::surface::lower::declarations::lowered::EinsumOrder;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::{Shape, Type};
use crate::written::einsum::Term;
use crate::written::{Op, Own, Unresolved, each, resolve};

impl Operations for BodyLowering<'_> {
    fn extents_of_term(
        &mut self,
        equation: ExprId,
        term: &Term,
        (value, x): LoweredOperand,
        _: ValueId,
    ) -> Lowered<Vec<Dim>> {
        let ty = self.builder.ty(value);
        if term.axes_of_ellipsis(ty.rank()).is_some() {
            return Ok(ty.shape.to_vec());
        }
        let (named, least) = (term.letters(), if term.is_open() { "at least " } else { "" });
        let message = format!(
            "`einsum`: operand of rank {}, needed {least}{named}: {} is {ty}",
            ty.rank(),
            self.text(x)
        );
        let diag = Diag::new(Code::E3002, self.part_of_text(equation, term.at.clone()), message);
        Err(diag.help("write a letter for each axis, or `...` for leading ones").into())
    }

    fn same_extent(&mut self, _: ExprId, [first, other]: [&NamedAxis<ValueId>; 2]) -> Lowered<()> {
        let NamedAxis { index, extent, site, .. } = other;
        let of = |axis: &NamedAxis<ValueId>| {
            format!("{} is {}", self.text(axis.expr), self.builder.ty(axis.tensor))
        };
        let operands =
            if first.operand == other.operand { of(other) } else { format!("{}, {}", of(first), of(other)) };
        let message =
            format!("`einsum`: {} has extents {} and {extent}: {operands}", index.text(), first.extent);
        let mut diag = Diag::new(Code::E3003, *site, message);
        for axis in [first, other] {
            self.add_origin(&mut diag, (axis.tensor, axis.expr), axis.axis);
        }
        Err(diag.into())
    }

    fn extents_of_list(
        &mut self,
        given: &CallArguments,
        (value, x): LoweredOperand,
        list: ExprId,
        count: usize,
    ) -> Lowered<Vec<Dim>> {
        let ty = self.builder.ty(value);
        if ty.rank() == count {
            return Ok(ty.shape.to_vec());
        }
        if list == x {
            let (name, text) = (given.name, self.text(x));
            let message =
                format!("`{name}`: operand of rank {}, needed rank {count}: {text} is {ty}", ty.rank());
            return Err(Diag::new(Code::E3002, self.site(x), message).into());
        }
        let message = format!(
            "`{}`: {} has length {count}, needed {}, a number for each axis: {} is {ty}",
            given.name,
            self.text(list),
            ty.rank(),
            self.text(x)
        );
        let code = if given.name == "pad" { Code::E4010 } else { Code::E3002 };
        Err(Diag::new(code, self.site(list), message).into())
    }

    fn extents_from(
        &mut self,
        given: &CallArguments,
        x: LoweredOperand,
        axis: i64,
    ) -> Lowered<(Vec<Dim>, Vec<Dim>)> {
        let axis = self.axis_of(given, x, axis)?;
        let shape = &self.builder.ty(x.0).shape;
        Ok((shape[..axis].to_vec(), shape[axis..].to_vec()))
    }

    fn divides(
        &mut self,
        given: &CallArguments,
        (value, x): LoweredOperand,
        _: i64,
        (extent, whole): (&Dim, &Dim),
        (count, at): (i64, ExprId),
    ) -> Lowered<()> {
        if extent == whole {
            return Ok(());
        }
        let (ty, is_known) = (self.builder.ty(value), extent.as_literal().is_some());
        let not = if is_known { "is not" } else { "is not known to be" };
        let message = format!(
            "`{}`: extent {extent} {not} a multiple of {count}: {} is {ty}",
            given.name,
            self.text(x)
        );
        let help = "list the positions between the parts, as in `split(x, [2, 5], axis = 0)`";
        Err(Diag::new(Code::E3003, self.site(at), message).help(help).into())
    }

    fn part_of_axis(
        &mut self,
        given: &CallArguments,
        x: LoweredOperand,
        axis: i64,
        (start, end): (Option<&Dim>, Option<&Dim>),
        at: ExprId,
    ) -> Lowered<ValueId> {
        let axis = self.axis_of(given, x, axis)?;
        let spot = self.spot_of_call(given);
        self.between(&spot, x, axis, (start, end), at)
    }

    fn note_einsum(&mut self, order: EinsumOrder) {
        self.einsums.push(order);
    }

    fn literal_beside(
        &mut self,
        (literal, expr): (LiteralId, ExprId),
        typed: TypedOperand<ValueId>,
    ) -> Lowered<ValueId> {
        let TypedOperand { other, other_expr, label, site, .. } = typed;
        let dtype = self.builder.ty(other).dtype;
        if self.literals.fits(literal, dtype) {
            return self.materialise(literal, dtype);
        }
        let message = format!(
            "`{label}`: element types differ: {} is {}, {} is {}",
            self.text(expr),
            self.literals.describe(literal),
            self.text(other_expr),
            self.builder.ty(other)
        );
        // Writing the divisor as an integer would change the quotient.
        let help = match dtype.is_integer() && label == "/" && self.literals.is_float(literal) {
            true => Some(format!("convert it: write `f32({})`", self.text(other_expr))),
            false => self.literals.rewrite(literal, dtype),
        };
        Err(Diag { help, ..Diag::new(Code::E2004, site, message) }.into())
    }

    fn emit_call(
        &mut self,
        given: &CallArguments,
        op: Op,
        operands: &[LoweredOperand],
        _: &[ExprId],
    ) -> Lowered<ValueId> {
        let spot = self.spot_of_call(given);
        if let Op::Own(Own::FilledLike { one }) = op {
            let ty = self.builder.ty(operands[0].0).clone();
            let literal = self.literals.zero_or_one(one, ty.shape, given.expr);
            return self.materialise(literal, ty.dtype);
        }
        if let Op::Const(constant) = op {
            let witness = operands.first().map(|(witness, _)| self.builder.ty(*witness).dtype);
            let data = constant.values_in(witness.unwrap_or(constant.dtype)).clone();
            let data = data.expect("a number of a composite is of its element type");
            return self.emit(&spot, ir::Op::Const(Const::new(data, Shape::scalar())), &[]);
        }
        let types: Vec<&Type> = operands.iter().map(|(value, _)| self.builder.ty(*value)).collect();
        let resolved = each(&op, &types).and_then(|each| Ok((each, resolve(&op, &types)?)));
        let (each, resolved) = resolved.map_err(|fault| self.unresolved(given, &fault, operands))?;
        let read = operands.iter().enumerate().filter(|(position, _)| op.reads(*position));
        let mut operands: Vec<_> = read.map(|(_, operand)| *operand).collect();
        if let Some(each) = each {
            for (value, expr) in &mut operands {
                *value = self.emit(&spot, each.clone(), &[(*value, *expr)])?;
            }
        }
        self.emit_each(&spot, resolved, operands)
    }

    fn replaced(&mut self, part: ExprId, value: ExprId, expr: ExprId) -> Lowered<Value> {
        self.with_part(part, (Put::Replace, self.values[value.index()].clone()), (value, expr))
    }

    fn extent_of(&mut self, given: &CallArguments, x: LoweredOperand, axis: i64) -> Lowered<Dim> {
        let axis = self.axis_of(given, x, axis)?;
        Ok(self.builder.ty(x.0).shape[axis].clone())
    }

    fn is_number(&mut self, _: BinaryOp, _: Site, value: &Value, _: ExprId) -> bool {
        match value {
            Value::Tensor(value) => self.builder.ty(*value).rank() == 0,
            Value::Literal(id) => self.literals.elements(*id).is_none(),
            Value::Poison | Value::Struct(_) | Value::Tuple(_) | Value::Word(_) => false,
        }
    }

    fn is_float(&self, expr: ExprId) -> bool {
        self.value(expr).tensor().is_some_and(|tensor| self.builder.ty(tensor).dtype.is_float())
    }
}

impl BodyLowering<'_> {
    fn spot_of_call(&self, given: &CallArguments) -> Spot {
        let spot = Spot::of(given.expr).label(given.name);
        given.attributes().fold(spot, |spot, (name, argument)| spot.attribute(name, self.site(argument)))
    }

    /// An axis as a position; a negative axis counts from the end.
    fn axis_of(&self, given: &CallArguments, x: LoweredOperand, axis: i64) -> Lowered<usize> {
        let rank = self.builder.ty(x.0).rank();
        let position = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
        let position = usize::try_from(position).ok().filter(|position| *position < rank);
        position.ok_or_else(|| self.unresolved(given, &Unresolved::Axis(axis, rank), &[x]))
    }

    /// The error for invalid attributes. Its site is the attribute.
    fn unresolved(&self, given: &CallArguments, fault: &Unresolved, operands: &[LoweredOperand]) -> Stop {
        let attribute = |names: &[&str]| {
            let mut named = given.named().filter(|(name, _)| names.contains(name));
            // A default may be out of range; it has no site.
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
                    (_, 0) if given.is_of_list() => "`stack` combines single numbers".to_owned(),
                    (_, 0) => match operands.first() {
                        Some((_, expr)) => {
                            format!("{} is already a single number: remove the call", self.text(*expr))
                        }
                        None => "write at least one extent".to_owned(),
                    },
                    (..0, _) => "the first axis is `0`".to_owned(),
                    (_, _) => "axes count from 0: the last is `-1`".to_owned(),
                };
                let problem = format!("axis {axis} is out of range for rank {rank}");
                Diag::new(Code::E3004, self.site(axes()), message(problem)).help(help)
            }
            Unresolved::Twice(axis, rest) => {
                let problem = format!("axis {axis} occurs twice in {}", self.text(axes()));
                let help = format!("write `{rest:?}`");
                Diag::new(Code::E3005, self.site(axes()), message(problem)).help(help)
            }
            Unresolved::NoAxes => {
                let text = self.text(axes());
                let message = format!("`{}`: {text} reduces no axis, needed at least one axis", given.name);
                let diag = Diag::new(Code::E3002, self.site(axes()), message);
                diag.help("remove `axes` to reduce every axis")
            }
            Unresolved::Open(count) => {
                let text = self.text(shape());
                let problem = format!("-1 occurs {count} times in {text}, needed at most once");
                Diag::new(Code::E3007, self.site(shape()), message(problem))
            }
            Unresolved::Indivisible(others, all) => {
                let from = &self.builder.ty(operands[0].0).shape;
                let problem = format!("{from} has {all} elements, which is not divisible by {others}");
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
            Unresolved::Rows(needed) => {
                let ((value, expr), (matrices, of)) = (operands[0], operands[1]);
                let [b, a] = [value, matrices].map(|value| self.builder.ty(value));
                let problem = match b.rank() {
                    0 => "operand of rank 0, needed rank 1 or more".to_owned(),
                    rank => {
                        let mut shape = b.shape.to_vec();
                        shape[rank - rank.min(2)] = needed.clone();
                        format!("operand of shape {}, needed {}", b.shape, Shape::new(shape))
                    }
                };
                let code = if b.rank() == 0 { Code::E3002 } else { Code::E3003 };
                let matrices = format!("{} is {a}", self.text(of));
                let mut diag = Diag::new(code, self.site(expr), format!("{}, {matrices}", message(problem)));
                // A vector for each matrix, or several vectors.
                if b.rank() > 1 && b.shape.last() == Some(needed) {
                    let text = self.operand_text(expr);
                    diag = diag.help(format!("write `{text}[.., _]` if the last axis has vectors"));
                }
                diag
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

    /// The spot at which errors of a literal are reported. The literal may be a call such as `zeros([3])`.
    pub(crate) fn spot_of_literal(&self, expr: ExprId) -> Spot {
        let spot = Spot::of(expr);
        let NodeKind::Call { callee, arguments, .. } = &self.body[expr].kind else { return spot };
        let spot = find(&callee.to_string()).map_or(spot.clone(), |builtin| spot.label(builtin.name));
        match arguments.first() {
            Some(shape) => spot.attribute("shape", shape.site),
            None => spot,
        }
    }
}
