//! Instructions for literals whose dtype is known, and comparison of values with declared types.

use super::lowering::{BodyLowering, LoweredOperand};
use super::report::Spot;
use crate::diag::{Code, Diag, Site};
use crate::ir::{self, Const, ValueId};
use crate::surface::ast::{ExprId, TypeExpr};
use crate::surface::lower::declarations::structure::{StructType, Structure};
use crate::surface::lower::values::arithmetic::ReadLiterals;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::{LiteralId, LiteralKind};
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Record, Value};
use crate::ty::{DType, Shape, Type};
use crate::written::{Op, resolve, spread};

impl Tensors for BodyLowering<'_> {
    type ElementType = DType;

    fn emit_operator(
        &mut self,
        (op, label): (Op, &'static str),
        operator: Option<Site>,
        operands: &[LoweredOperand],
        expr: ExprId,
    ) -> Lowered<ValueId> {
        let types: Vec<&Type> = operands.iter().map(|(value, _)| self.builder.ty(*value)).collect();
        let ops = resolve(&op, &types).expect("an operator has no attributes that could be wrong");
        let spot = Spot::of(expr).label(label);
        let spot = operator.map_or(spot.clone(), |site| spot.operator(site));
        self.emit_each(&spot, ops, operands.to_vec())
    }

    fn constant_part(&mut self, id: LiteralId, dtype: DType) -> Lowered<ValueId> {
        let constant = if let LiteralKind::Dim(dim) = self.literals.kind(id)
            && dim.as_literal().is_none()
        {
            Const::Count { shape: Shape::new(vec![dim.clone()]), dtype }
        } else {
            let data = self.literal_data(id, dtype)?;
            let extents = self.literals.shape(id).expect("the extents of a constant are known");
            Const::new(data, Shape::literal(&extents))
        };
        let spot = self.spot_of_literal(self.literals.expr(id));
        self.emit(&spot, ir::Op::Const(constant), &[])
    }

    fn filled_part(&mut self, number: LoweredOperand, shape: Shape, expr: ExprId) -> Lowered<ValueId> {
        let ops = resolve(&spread(shape.to_vec()), &[self.builder.ty(number.0)]);
        self.emit_each(&self.spot_of_literal(expr), ops.expect("every extent is written"), vec![number])
    }

    fn made_before(&self, id: LiteralId, dtype: DType) -> Option<ValueId> {
        self.literals.made.get(&(id, dtype)).copied()
    }

    fn keep_made(&mut self, id: LiteralId, dtype: DType, made: ValueId) {
        self.literals.made.insert((id, dtype), made);
    }

    fn declared_type(&self, ty: &TypeExpr) -> Lowered<Structure> {
        Ok(self.dims().structure(ty)?)
    }

    fn check_type(
        &mut self,
        (value, literal): (ValueId, Option<LiteralId>),
        ty: &Type,
        expr: ExprId,
        what: &str,
    ) -> Lowered<()> {
        let found = self.builder.ty(value);
        if found == ty {
            return Ok(());
        }
        let diag = Diag::new(Code::E2001, self.site(expr), format!("{what}: expected {ty}, found {found}"));
        let Some(literal) = literal else {
            let mut diag = Diag { help: self.fitted(value, ty, expr), ..diag };
            let differs = |axis: &usize| found.rank() == ty.rank() && found.shape[*axis] != ty.shape[*axis];
            (0..ty.rank()).filter(differs).for_each(|axis| self.add_origin(&mut diag, (value, expr), axis));
            return Err(diag.into());
        };
        let code = if self.literals.elements(literal).is_some() { Code::E3010 } else { Code::E2001 };
        let help =
            (found.rank() == 0).then(|| format!("write `full({}, {})`", ty.shape, self.short_text(expr)));
        Err(Diag { code, help, ..diag }.into())
    }

    fn as_struct(&mut self, record: &Record, ty: &StructType, expr: ExprId, what: &str) -> Lowered<Value> {
        if *ty == *record.ty {
            return record.sound();
        }
        let (found, expected) = (Value::Struct(record.clone()), Structure::Struct(ty.clone()));
        Err(self.mismatch(&found, &expected, expr, what).into())
    }
}
