//! Converts literals to nodes, and checks values against declared types.

use mind_shape::{DType as RuleDType, rules};

use super::lowering::ExpressionLowering;
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::open::typing::diag;
use crate::open::{Check, CheckKind, Constant, Misfit, NodeId, NumberKind, Op, Own, Spot};
use crate::surface::ast::{ExprId, TypeExpr};
use crate::surface::lower::Structure;
use crate::surface::lower::builtins::operations::TypedOperand;
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::{LiteralClass, LiteralId, LiteralKind};
use crate::surface::lower::values::templates::Frame;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop};
use crate::ty::{DType, Shape, Type};
use crate::written::spread;

/// The source of the element type of a literal.
#[derive(Clone, Copy)]
pub(super) enum DTypeSource {
    Fixed(DType),
    Beside(TypedOperand<NodeId>),
}

impl From<DType> for DTypeSource {
    fn from(dtype: DType) -> Self {
        Self::Fixed(dtype)
    }
}

impl Tensors for ExpressionLowering<'_> {
    type ElementType = DTypeSource;

    fn emit_operator(
        &mut self,
        (op, label): (Op, &'static str),
        operator: Option<Site>,
        operands: &[(NodeId, ExprId)],
        expr: ExprId,
    ) -> Lowered<NodeId> {
        let (nodes, exprs): (Vec<_>, Vec<_>) = operands.iter().copied().unzip();
        let spot = self.spot(label, expr, &exprs);
        let spot = operator.map_or(spot.clone(), |site| spot.at_operator(site));
        Ok(self.emit(op, &nodes, spot))
    }

    fn constant_part(&mut self, id: LiteralId, source: DTypeSource) -> Lowered<NodeId> {
        let expr = self.literals.expr(id);
        if !self.literals.is_constant(id) {
            let LiteralKind::Dim(extent) = self.literals.kind(id).clone() else {
                return self.expected("numbers known at compile time", expr);
            };
            return Ok(self.number(extent, source, expr));
        }
        let constant = self.worked_out(id, source)?;
        let (operands, spot) = match source {
            DTypeSource::Fixed(_) => (vec![], self.spot_of_literal(expr)),
            DTypeSource::Beside(typed) => {
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

    fn filled_part(&mut self, (number, _): (NodeId, ExprId), shape: Shape, expr: ExprId) -> Lowered<NodeId> {
        let spot = self.spot_of_literal(expr);
        Ok(self.emit(spread(shape.to_vec()), &[number], spot))
    }

    fn current_field(&self, argument: ExprId) -> Option<NodeId> {
        let of_frame = |frame: &Frame<_, _>| {
            let position = frame.arguments.iter().position(|given| *given == argument)?;
            frame.fields.as_ref()?.tensor(position)
        };
        self.frames.iter().rev().find_map(of_frame)
    }

    fn declared_type(&self, ty: &TypeExpr) -> Lowered<Structure> {
        self.imported.structure(ty).map_err(without_symbols)
    }

    fn check_type(
        &mut self,
        (node, _): (NodeId, Option<LiteralId>),
        ty: &Type,
        expr: ExprId,
        what: &str,
    ) -> Lowered<()> {
        let (kind, text, site) = (CheckKind::Is(ty.clone()), what.to_owned(), self.site(expr));
        self.checks.push(Check { kind, node, text, site });
        Ok(())
    }
}

impl ExpressionLowering<'_> {
    /// A number computed from extents.
    pub(super) fn number(&mut self, extent: Dim, source: DTypeSource, expr: ExprId) -> NodeId {
        let like = match source {
            DTypeSource::Beside(typed) => typed.other,
            DTypeSource::Fixed(dtype) => {
                let zero = Constant { dtype, ..Constant::number(0.0) };
                self.graph.derive(Op::Const(Box::new(zero)), &[])
            }
        };
        let spot = self.spot("dimension", expr, &[]);
        self.emit(Op::Own(Own::Extent { number: extent }), &[like], spot)
    }

    /// Evaluates a literal in each element type.
    fn worked_out(&self, id: LiteralId, source: DTypeSource) -> Lowered<Constant> {
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
                Stop::Mistake(diag) | Stop::Argument(_, diag) => {
                    let misfit = Misfit::Value { code: diag.code, message: diag.message.clone() };
                    (misfit, Some(diag))
                }
            })
        });
        let dtype = match source {
            DTypeSource::Fixed(dtype) => dtype,
            DTypeSource::Beside(_) => self.literals.default_dtype(id),
        };
        // A mistake is an error if the element type is known, or if every possible element type has one.
        if (matches!(source, DTypeSource::Fixed(_)) || values.iter().all(Result::is_err))
            && let Err((_, Some(diag))) = &values[dtype as usize]
        {
            return Err(Stop::Mistake(diag.clone()));
        }
        let kind = match self.literals.class(id) {
            LiteralClass::Integer => NumberKind::Integer,
            LiteralClass::Float => NumberKind::Float,
            LiteralClass::Any | LiteralClass::Extent => NumberKind::Any,
            LiteralClass::Truth => NumberKind::Truth,
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

/// Help on the extents of a type, and on the use of a Rust constant that the macro does not see.
const EXTENTS: &str = "in an expression, the extents of a type are integers; use a Rust constant outside, as in `let \
    y: Tensor![f32; {N}, 3] = mind!(…).into();`";

/// Adds help to a mistake in a type, where no symbol can be declared.
pub(super) fn without_symbols(mistake: Option<Diag>) -> Stop {
    let mistake = mistake.map(|diag| {
        let undefined = diag.code == Code::E2002;
        if undefined { diag.help(EXTENTS) } else { diag }
    });
    mistake.into()
}
