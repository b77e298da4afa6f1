//! Operators.

use super::body::BodyLowering;
use super::expressions::Expressions;
use super::literals::{LiteralId, ReadLiterals};
use super::report::{Operand, Spot};
use super::values::{Lowered, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::ir::{Op, ValueId};
use crate::surface::ast::{BinaryOp, ExprId};

impl BodyLowering<'_> {
    pub(super) fn neg(&mut self, operand: ExprId, operator: Site, expr: ExprId) -> Lowered<Value> {
        if let Value::Literal(id) = self.values[operand.index()] {
            return Ok(Value::Literal(self.literals.neg(id, expr)));
        }
        let value = self.tensor(operand, None)?;
        let spot = Spot::of(expr).operator(operator);
        self.emit(&spot, Op::Neg, &[(value, operand)]).map(Value::Tensor)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        operator: Site,
        lhs: ExprId,
        rhs: ExprId,
        expr: ExprId,
    ) -> Lowered<Value> {
        let values = (self.values[lhs.index()].clone(), self.values[rhs.index()].clone());
        if let ((Value::Literal(a), Value::Literal(b)), true) = (&values, op != BinaryOp::MatMul) {
            return self.binary_literal(op, (*a, *b), operator, expr);
        }
        if matches!(values, (Value::Poison, _) | (_, Value::Poison)) {
            return Err(Stop::Poisoned);
        }
        let (a, b) = match values {
            (Value::Literal(literal), Value::Tensor(other)) => {
                (self.beside(op.symbol(), operator, (literal, lhs), (other, rhs))?, other)
            }
            (Value::Tensor(other), Value::Literal(literal)) => {
                (other, self.beside(op.symbol(), operator, (literal, rhs), (other, lhs))?)
            }
            (_, _) => (self.tensor(lhs, None)?, self.tensor(rhs, None)?),
        };
        self.emit_operator(op, Some(operator), (a, lhs), (b, rhs), expr).map(Value::Tensor)
    }

    /// A literal beside a tensor takes its dtype.
    pub(super) fn beside(
        &mut self,
        label: &str,
        site: Site,
        (literal, expr): (LiteralId, ExprId),
        (other, other_expr): Operand,
    ) -> Lowered<ValueId> {
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
        let help = self.literals.rewrite(literal, dtype);
        Err(Diag { help, ..Diag::new(Code::E2004, site, message) }.into())
    }

    /// `w op= value`, before its type is compared with that of `w`.
    pub(super) fn updated_by(
        &mut self,
        op: BinaryOp,
        operator: Site,
        old: ValueId,
        value: ExprId,
        expr: ExprId,
    ) -> Lowered<Value> {
        let new = match self.values[value.index()] {
            Value::Literal(literal) => self.beside(op.symbol(), operator, (literal, value), (old, expr))?,
            Value::Poison | Value::Tensor(_) | Value::Tuple(_) | Value::Bool(_) | Value::Word(_) => {
                self.tensor(value, None)?
            }
        };
        self.emit_operator(op, Some(operator), (old, expr), (new, value), expr).map(Value::Tensor)
    }

    /// Emits an operator of literals, at the expression itself.
    pub(super) fn emit_binary(
        &mut self,
        op: BinaryOp,
        lhs: Operand,
        rhs: Operand,
        expr: ExprId,
    ) -> Lowered<ValueId> {
        self.emit_operator(op, None, lhs, rhs, expr)
    }

    fn emit_operator(
        &mut self,
        op: BinaryOp,
        operator: Option<Site>,
        lhs: Operand,
        rhs: Operand,
        expr: ExprId,
    ) -> Lowered<ValueId> {
        let has_vector = [lhs, rhs].iter().any(|(value, _)| self.builder.ty(*value).rank() == 1);
        let operation = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::Div => Op::Div,
            BinaryOp::MatMul if has_vector => Op::Dot,
            BinaryOp::MatMul => Op::MatMul,
        };
        let mut spot = Spot::of(expr).label(op.symbol());
        if let Some(site) = operator {
            spot = spot.operator(site);
        }
        self.emit(&spot, operation, &[lhs, rhs])
    }
}
