//! Literals as nodes.

use mind_shape::{DType as RuleDType, rules};

use super::lowering::Lowering;
use crate::dim::Dim;
use crate::open::typing::diag;
use crate::open::{Constant, Misfit, NodeId, NumberKind, Op, Own, Spot};
use crate::surface::ast::ExprId;
use crate::surface::lower::builtins::operations::{TypedOperand, operation_of};
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::{Class, LiteralId, LiteralKind};
use crate::surface::lower::values::{Lowered, Stop};
use crate::ty::DType;
use crate::written::spread;

/// Where a literal has its element type from.
#[derive(Clone, Copy)]
enum Source {
    Fixed(DType),
    Beside(TypedOperand<NodeId>),
}

impl Lowering<'_> {
    /// A literal of this element type, which it fits.
    pub(super) fn constant_of(&mut self, id: LiteralId, dtype: DType) -> Lowered<NodeId> {
        self.nodes_of(id, Source::Fixed(dtype))
    }

    /// A literal of the element type of a tensor that it meets.
    pub(super) fn constant_beside(&mut self, id: LiteralId, typed: TypedOperand<NodeId>) -> Lowered<NodeId> {
        self.nodes_of(id, Source::Beside(typed))
    }

    /// Nodes of a literal: one where it is one number or array of numbers, else one for each part and operation.
    fn nodes_of(&mut self, id: LiteralId, source: Source) -> Lowered<NodeId> {
        let mut made: Vec<(LiteralId, NodeId)> = Vec::new();
        let node = |made: &[(LiteralId, NodeId)], id: LiteralId| {
            let position = made.binary_search_by_key(&id, |(part, _)| *part);
            made[position.expect("parts come before what uses them")].1
        };
        // Ascending, which is the order in which they were written.
        for part in self.literals.constant_parts(id) {
            let expr = self.literals.expr(part);
            let value = if self.literals.is_constant(part) {
                self.constant_part(part, source)?
            } else {
                match self.literals.kind(part).clone() {
                    LiteralKind::Apply { map, operands } => {
                        let exprs: Vec<_> = operands.iter().map(|id| self.literals.expr(*id)).collect();
                        let spot = self.spot(map.row().label, expr, &exprs);
                        let operands: Vec<_> = operands.iter().map(|id| node(&made, *id)).collect();
                        self.emit(Op::Map(map), &operands, spot)
                    }
                    LiteralKind::Binary { op, lhs, rhs } => {
                        let exprs = [lhs, rhs].map(|operand| self.literals.expr(operand));
                        let spot = self.spot(op.symbol(), expr, &exprs);
                        let operands = [lhs, rhs].map(|operand| node(&made, operand));
                        self.emit(operation_of(op), &operands, spot)
                    }
                    LiteralKind::Dim(dim) => self.number(&dim, source, expr),
                    LiteralKind::Filled { value, shape } => {
                        let spot = self.spot_of_literal(expr);
                        self.emit(spread(shape.to_vec()), &[node(&made, value)], spot)
                    }
                    LiteralKind::Array(_) if self.literals.is_shape(part) => {
                        return Err(self.is_a_shape(part));
                    }
                    LiteralKind::Number(_) | LiteralKind::Truth(_) | LiteralKind::Array(_) => {
                        return self.expected("numbers that are known here", expr);
                    }
                }
            };
            made.push((part, value));
        }
        Ok(node(&made, id))
    }

    /// A number made of extents.
    fn number(&mut self, dim: &Dim, source: Source, expr: ExprId) -> NodeId {
        let like = match source {
            Source::Beside(typed) => typed.other,
            Source::Fixed(dtype) => {
                let zero = Constant { dtype, ..Constant::number(0.0) };
                self.graph.derive(Op::Const(Box::new(zero)), &[])
            }
        };
        let spot = self.spot("dimension", expr, &[]);
        self.emit(Op::Own(Own::Extent { number: dim.clone() }), &[like], spot)
    }

    fn constant_part(&mut self, id: LiteralId, source: Source) -> Lowered<NodeId> {
        let expr = self.literals.expr(id);
        let constant = self.worked_out(id, source)?;
        let (operands, spot) = match source {
            Source::Fixed(_) => (vec![], self.spot_of_literal(expr)),
            Source::Beside(typed) => {
                let spot = Spot {
                    site: typed.site,
                    is_operator: typed.is_operator,
                    ..self.spot(typed.label, expr, &[typed.other_expr])
                };
                (vec![typed.other], spot.attribute("constant", self.site(expr)))
            }
        };
        let spot = match self.shape_site(expr) {
            Some(site) => spot.attribute("shape", site),
            None => spot,
        };
        Ok(self.emit(Op::Const(Box::new(constant)), &operands, spot))
    }

    /// The literal in each element type.
    fn worked_out(&self, id: LiteralId, source: Source) -> Lowered<Constant> {
        let shape = self.literals.shape(id).expect("no symbol stands in an expression");
        if let Err(failure) = rules::filled(RuleDType::F32, &shape) {
            let expr = self.literals.expr(id);
            let (spot, site) = (self.spot_of_literal(expr), self.shape_site(expr));
            let site = site.unwrap_or_else(|| self.site(expr));
            return Err(Stop::from(diag(&failure, spot.label, &[], site)));
        }
        let values = DType::ALL.map(|dtype| {
            if !self.literals.fits(id, dtype) {
                return Err((Misfit::Kind { help: self.literals.rewrite(id, dtype) }, None));
            }
            self.literal_data(id, dtype).map_err(|stop| match stop {
                Stop::Poisoned => (Misfit::Kind { help: None }, None),
                Stop::Mistake(diag) => {
                    let misfit = Misfit::Value { code: diag.code, message: diag.message.clone() };
                    (misfit, Some(diag))
                }
            })
        });
        let dtype = match source {
            Source::Fixed(dtype) => dtype,
            Source::Beside(_) => self.literals.default_dtype(id),
        };
        // What is wrong for the element type it has, or for every one that it could have, is wrong.
        if (matches!(source, Source::Fixed(_)) || values.iter().all(Result::is_err))
            && let Err((_, Some(diag))) = &values[dtype as usize]
        {
            return Err(Stop::Mistake(diag.clone()));
        }
        let kind = match self.literals.class(id) {
            Class::Integer => NumberKind::Integer,
            Class::Float => NumberKind::Float,
            Class::Any | Class::Extent => NumberKind::Any,
            Class::Truth => NumberKind::Truth,
        };
        Ok(Constant {
            text: self.text(self.literals.expr(id)),
            kind,
            suffix: self.literals.suffix(id),
            dtype,
            shape,
            values: values.map(|value| value.map_err(|(misfit, _)| misfit)),
        })
    }
}
