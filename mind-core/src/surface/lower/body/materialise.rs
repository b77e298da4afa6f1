//! Instructions made of literals, once their dtype is known.

use super::lowering::BodyLowering;
use crate::ir::{Const, Op, ValueId};
use crate::surface::lower::builtins::operations::{Operations, operation_of};
use crate::surface::lower::values::Lowered;
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::literals::{Literal, LiteralId, LiteralKind};
use crate::ty::{DType, Shape};
use crate::written::{self, resolve, spread};

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
            let value = match literal.kind {
                LiteralKind::Array(_) => {
                    let Some(extents) = literal.extents else { return Err(self.is_a_shape(part)) };
                    let shape = Shape::literal(&extents);
                    let data = self.literal_data(part, dtype)?;
                    self.emit(&spot, Op::Const(Const::Tensor { data, shape }), &[])?
                }
                LiteralKind::Filled { shape, .. } if literal.known && shape.as_literals().is_some() => {
                    let data = self.literal_data(part, dtype)?;
                    self.emit(&spot, Op::Const(Const::Tensor { data, shape }), &[])?
                }
                LiteralKind::Filled { value, shape } => {
                    let operand = operand(self, value);
                    let ops = resolve(&spread(shape.to_vec()), &[self.builder.ty(operand.0)]);
                    self.emit_each(&spot, ops.expect("every extent is written"), vec![operand])?
                }
                _ if literal.known && literal.extents.is_some() => {
                    self.emit(&spot, self.scalar(part, dtype)?.constant(), &[])?
                }
                LiteralKind::Dim(dim) => {
                    let shape = Shape::new(vec![dim]);
                    self.emit(&spot, Op::Const(Const::Count { shape, dtype }), &[])?
                }
                LiteralKind::Apply { map, operands } => {
                    let operands: Vec<_> = operands.into_iter().map(|id| operand(self, id)).collect();
                    let operation = (written::Op::Map(map), map.row().label);
                    self.emit_operator(operation, None, &operands, literal.expr)?
                }
                LiteralKind::Binary { op, lhs, rhs } => {
                    let operands = [lhs, rhs].map(|id| operand(self, id));
                    self.emit_operator((operation_of(op), op.symbol()), None, &operands, literal.expr)?
                }
                LiteralKind::Number(_) | LiteralKind::Truth(_) => unreachable!("what is written is known"),
            };
            self.literals.made.insert((part, dtype), value);
        }
        Ok(self.literals.made[&(id, dtype)])
    }
}
