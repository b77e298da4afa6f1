//! Operators.

use super::lowering::{BodyLowering, Operand};
use super::report::Spot;
use crate::diag::{Code, Diag, Site};
use crate::ir::{Op, Product, ValueId};
use crate::map::Map;
use crate::surface::ast::{BinaryOp, ExprId, Transposed};
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::expressions::{Expressions, transposed};
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::written::resolve;

impl BodyLowering<'_> {
    /// A sign before an operand.
    pub(crate) fn prefix(
        &mut self,
        map: Map,
        operand: ExprId,
        operator: Site,
        expr: ExprId,
    ) -> Lowered<Value> {
        if let Value::Literal(id) = self.values[operand.index()]
            && let Some(literal) = self.literals.prefixed(map, id, expr)
        {
            return Ok(Value::Literal(literal));
        }
        let spot = Spot::of(expr).operator(operator);
        if let Value::Struct(record) = &self.values[operand.index()] {
            let record = record.clone();
            return self.each_field(&record, &mut |lowering, field| match field {
                Value::Tensor(value) => {
                    lowering.emit(&spot, Op::Map(map), &[(value, operand)]).map(Value::Tensor)
                }
                Value::Poison | Value::Literal(_) | Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => {
                    Err(Stop::Poisoned)
                }
            });
        }
        let value = self.tensor(operand, None)?;
        self.emit(&spot, Op::Map(map), &[(value, operand)]).map(Value::Tensor)
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        operator: Site,
        lhs: ExprId,
        rhs: ExprId,
        expr: ExprId,
    ) -> Lowered<Value> {
        let (a, b) = (self.values[lhs.index()].clone(), self.values[rhs.index()].clone());
        self.fieldwise(op, operator, (a, lhs), (b, rhs), expr)
    }

    /// An operator on values that are no structs.
    pub(crate) fn binary_values(
        &mut self,
        op: BinaryOp,
        operator: Site,
        lhs: (Value, ExprId),
        rhs: (Value, ExprId),
        expr: ExprId,
    ) -> Lowered<Value> {
        let of = [lhs.1, rhs.1];
        let is_float =
            |value: &Value| matches!(value, Value::Tensor(x) if self.builder.ty(*x).dtype.is_float());
        let is_power = op == BinaryOp::Map(Map::BitXor) && (is_float(&lhs.0) || is_float(&rhs.0));
        self.paired(op, operator, lhs, rhs, expr).map_err(|stop| match stop {
            Stop::Mistake(diag) if is_power => {
                let [base, exponent] = of.map(|operand| self.operand_text(operand));
                diag.help(power(&base, &exponent)).into()
            }
            other => other,
        })
    }

    fn paired(
        &mut self,
        op: BinaryOp,
        operator: Site,
        (a, lhs): (Value, ExprId),
        (b, rhs): (Value, ExprId),
        expr: ExprId,
    ) -> Lowered<Value> {
        let values = (a, b);
        if let Value::Literal(by) = values.1 {
            self.check_written(op, lhs, (by, rhs))?;
        }
        if let ((Value::Literal(a), Value::Literal(b)), true) = (&values, op.keeps_literals()) {
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
            (a, b) => (self.tensor_of(&a, lhs, None)?, self.tensor_of(&b, rhs, None)?),
        };
        self.emit_operator(op, Some(operator), (a, lhs), (b, rhs), expr).map(Value::Tensor)
    }

    /// A literal beside a tensor takes its dtype.
    pub(crate) fn beside(
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
        // Writing the divisor as an integer would change the quotient.
        let help = match dtype.is_integer() && label == "/" && self.literals.is_float(literal) {
            true => Some(format!("convert it: write `f32({})`", self.text(other_expr))),
            false => self.literals.rewrite(literal, dtype),
        };
        Err(Diag { help, ..Diag::new(Code::E2004, site, message) }.into())
    }

    /// `x.T`, `x.mT`: the axes, or the last two, in reverse.
    pub(crate) fn transpose(&mut self, base: ExprId, axes: Transposed, expr: ExprId) -> Lowered<Value> {
        let operand = self.tensor(base, None)?;
        let ty = self.builder.ty(operand);
        let rank = ty.rank();
        if axes == Transposed::Matrices && rank < 2 {
            let (label, text) = (axes.symbol(), self.text(base));
            let message = format!("`{label}`: operand of rank {rank}, needed rank 2 or more: {text} is {ty}");
            return Err(Diag::new(Code::E3002, self.site(expr), message).into());
        }
        let ops = resolve(&transposed(axes), &[ty]).expect("the rank has been looked at");
        self.emit_each(&Spot::of(expr), ops, vec![(operand, base)]).map(Value::Tensor)
    }

    /// Emits an operator of literals, at the expression itself.
    pub(crate) fn emit_binary(
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
        let operation = match op {
            BinaryOp::Map(map) => Op::Map(map),
            BinaryOp::At => Op::Product(Product::of(self.builder.ty(lhs.0), self.builder.ty(rhs.0))),
        };
        let mut spot = Spot::of(expr).label(op.symbol());
        if let Some(site) = operator {
            spot = spot.operator(site);
        }
        self.emit(&spot, operation, &[lhs, rhs])
    }
}

/// What is said of `x ^ 2`, which is no power.
fn power(base: &str, exponent: &str) -> String {
    match exponent {
        "2" | "2.0" => format!("write `{base} * {base}`"),
        "3" | "3.0" => format!("write `{base} * {base} * {base}`"),
        _ => format!("`^` is of bits: write `pow({base}, {exponent})`"),
    }
}
