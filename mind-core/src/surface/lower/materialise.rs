//! Instructions made of literals, once their dtype is known.

use super::arithmetic::ReadLiterals;
use super::literals::{Literal, LiteralId, LiteralKind};
use super::lowering::BodyLowering;
use super::values::Lowered;
use crate::ir::{Const, Op, ValueId};
use crate::map::Map;
use crate::ty::{DType, Shape};
use crate::written::{resolve, spread};

impl BodyLowering<'_> {
    /// Makes instructions of a literal that fits the dtype.
    pub(crate) fn materialise(&mut self, id: LiteralId, dtype: DType) -> Lowered<ValueId> {
        for part in self.literals.parts(id, Literal::is_constant) {
            if self.literals.made.contains_key(&(part, dtype)) {
                continue;
            }
            let literal = self.literals.get(part).clone();
            let spot = self.spot_of_literal(literal.expr);
            let operand = |lowering: &Self, id: LiteralId| {
                (lowering.literals.made[&(id, dtype)], lowering.literals.expr(id))
            };
            let value = match (literal.kind, literal.extents) {
                (kind, Some(extents)) => {
                    let op = match kind {
                        LiteralKind::Array(_) => {
                            let shape = Shape::literal(&extents);
                            Op::Const(Const::Tensor { data: self.literal_data(part, dtype)?, shape })
                        }
                        LiteralKind::Number(_)
                        | LiteralKind::Dim(_)
                        | LiteralKind::Truth(_)
                        | LiteralKind::Neg(_)
                        | LiteralKind::Binary { .. }
                        | LiteralKind::Filled { .. } => {
                            let scalar = self.scalar(part, dtype);
                            scalar.map_err(|stop| self.with_extent_as_number(stop, id))?.constant()
                        }
                    };
                    self.emit(&spot, op, &[])?
                }
                (LiteralKind::Neg(id), None) => {
                    let operand = operand(self, id);
                    self.emit(&spot.label("-"), Op::Map(Map::SIGN), &[operand])?
                }
                (LiteralKind::Binary { op, lhs, rhs }, None) => {
                    let operands = (operand(self, lhs), operand(self, rhs));
                    self.emit_binary(op, operands.0, operands.1, literal.expr)?
                }
                (LiteralKind::Filled { value, shape }, None) => match shape.as_literals() {
                    Some(_) => {
                        let data = self.literal_data(part, dtype)?;
                        self.emit(&spot, Op::Const(Const::Tensor { data, shape }), &[])?
                    }
                    None => {
                        let operand = operand(self, value);
                        let ops = resolve(&spread(shape.to_vec()), &[self.builder.ty(operand.0)]);
                        self.emit_each(&spot, ops.expect("every extent is written"), vec![operand])?
                    }
                },
                (
                    LiteralKind::Number(_)
                    | LiteralKind::Dim(_)
                    | LiteralKind::Truth(_)
                    | LiteralKind::Array(_),
                    None,
                ) => unreachable!("numbers and arrays have extents"),
            };
            self.literals.made.insert((part, dtype), value);
        }
        Ok(self.literals.made[&(id, dtype)])
    }
}
