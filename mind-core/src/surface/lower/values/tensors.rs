//! Values as tensors: literals get element types, and values are compared with declared types.
//!
//! If the types of tensors are not known, the comparison becomes a check that runs once they are known.

use std::collections::BTreeMap;

use super::arithmetic::ReadLiterals;
use super::expressions::operation_of;
use super::literals::{Literal, LiteralId, LiteralKind};
use super::lower::Lower;
use super::{Lowered, Record, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{ExprId, Pattern, TypeExpr};
use crate::surface::lower::declarations::structure::{StructType, Structure};
use crate::ty::{DType, Shape, Type};
use crate::written::Op;

/// Conversion of the values of a body to tensors.
pub(crate) trait Tensors: ReadLiterals + Lower {
    /// The source of the element type of a literal.
    type ElementType: Copy + From<DType>;

    /// Emits an operation. Its errors are reported at the operator, if there is one.
    fn emit_operator(
        &mut self,
        operation: (Op, &'static str),
        operator: Option<Site>,
        operands: &[(Self::Tensor, ExprId)],
        expr: ExprId,
    ) -> Lowered<Self::Tensor>;

    /// Makes a tensor of one constant, or of a dimension that is known only at run time. Returns an error for an array
    /// of such dimensions.
    fn constant_part(&mut self, id: LiteralId, dtype: Self::ElementType) -> Lowered<Self::Tensor>;

    /// A tensor that is filled with a number.
    fn filled_part(
        &mut self,
        number: (Self::Tensor, ExprId),
        shape: Shape,
        expr: ExprId,
    ) -> Lowered<Self::Tensor>;

    /// The tensor that was made earlier from a literal with this element type.
    fn made_before(&self, _id: LiteralId, _dtype: Self::ElementType) -> Option<Self::Tensor> {
        None
    }

    /// Remembers the tensor of a literal for its next use.
    fn keep_made(&mut self, _id: LiteralId, _dtype: Self::ElementType, _made: Self::Tensor) {}

    /// The field that a struct argument of a template stands for, while the template is lowered once per field.
    fn current_field(&self, _argument: ExprId) -> Option<Self::Tensor> {
        None
    }

    /// The declared type of a `let`.
    fn declared_type(&self, ty: &TypeExpr) -> Lowered<Structure>;

    /// Compares a tensor, which may have been a literal, with a declared type. Returns an error if they differ; emits a
    /// check if the type of the tensor is not known.
    fn check_type(
        &mut self,
        found: (Self::Tensor, Option<LiteralId>),
        ty: &Type,
        expr: ExprId,
        what: &str,
    ) -> Lowered<()>;

    /// Converts a literal to a tensor; it fits the element type. A constant becomes one instruction. Otherwise each
    /// part and each operation becomes one instruction.
    fn materialise(&mut self, id: LiteralId, dtype: impl Into<Self::ElementType>) -> Lowered<Self::Tensor> {
        let (dtype, mut made) = (dtype.into(), BTreeMap::new());
        // Ascending ids are the order in which the parts were written.
        for part in self.literals().constant_parts(id) {
            let tensor = match self.made_before(part, dtype) {
                Some(before) => before,
                None => {
                    let tensor = self.materialise_part(part, dtype, &made)?;
                    self.keep_made(part, dtype, tensor);
                    tensor
                }
            };
            made.insert(part, tensor);
        }
        Ok(made[&id])
    }

    /// Converts a literal whose parts have been converted.
    fn materialise_part(
        &mut self,
        id: LiteralId,
        dtype: Self::ElementType,
        made: &BTreeMap<LiteralId, Self::Tensor>,
    ) -> Lowered<Self::Tensor> {
        if self.literals().is_constant(id) {
            return self.constant_part(id, dtype);
        }
        let Literal { kind, expr, .. } = self.literals().get(id).clone();
        let operand = |lowering: &Self, id: LiteralId| (made[&id], lowering.literals().expr(id));
        match kind {
            LiteralKind::Array(_) if self.literals().is_shape(id) => Err(self.is_a_shape(id)),
            LiteralKind::Array(_) | LiteralKind::Number(_) | LiteralKind::Dim(_) | LiteralKind::Truth(_) => {
                self.constant_part(id, dtype)
            }
            LiteralKind::Filled { value, shape } => self.filled_part(operand(self, value), shape, expr),
            LiteralKind::Apply { map, operands } => {
                let operands: Vec<_> = operands.into_iter().map(|id| operand(self, id)).collect();
                self.emit_operator((Op::Map(map), map.row().label), None, &operands, expr)
            }
            LiteralKind::Binary { op, lhs, rhs } => {
                let operands = [lhs, rhs].map(|id| operand(self, id));
                self.emit_operator((operation_of(op), op.symbol()), None, &operands, expr)
            }
        }
    }

    /// The value as a tensor. A literal gets `dtype`, or its default dtype if `dtype` is `None`.
    fn tensor(&mut self, expr: ExprId, dtype: Option<DType>) -> Lowered<Self::Tensor> {
        match *self.value(expr) {
            Value::Poison => Err(Stop::Poisoned),
            Value::Tensor(tensor) => Ok(tensor),
            Value::Literal(id) => {
                let dtype = dtype.unwrap_or_else(|| self.literals().default_dtype(id));
                self.materialise(id, dtype)
            }
            Value::Struct(_) => self.current_field(expr).map_or_else(|| self.expected("a tensor", expr), Ok),
            Value::Tuple(_) | Value::Word(_) => self.expected("a tensor", expr),
        }
    }

    /// Gives the literals in a value their default element types.
    fn infer(&mut self, value: Value<Self::Tensor>, expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        match value {
            Value::Poison => Err(Stop::Poisoned),
            Value::Tensor(_) => Ok(value),
            Value::Struct(record) => record.sound(),
            Value::Literal(id) => {
                let dtype = self.literals().default_dtype(id);
                self.materialise(id, dtype).map(Value::Tensor)
            }
            Value::Tuple(tuple) => {
                let elements = tuple.elements.iter();
                let elements =
                    elements.map(|element| self.infer(element.clone(), expr)).collect::<Result<_, _>>()?;
                self.tuple(elements, expr)
            }
            Value::Word(_) => Err(self.for_arguments_only(expr).into()),
        }
    }

    /// Binds the names of a `let` to a value of the declared type.
    fn bind_declared(&mut self, pattern: &Pattern, ty: Option<&TypeExpr>, expr: ExprId) {
        let mut value = self.value(expr).clone();
        if let Some(ty) = ty {
            let what = match pattern {
                Pattern::Name(name) => format!("`{name}`"),
                Pattern::Wildcard(_) | Pattern::Tuple { .. } | Pattern::Struct { .. } => "`let`".to_owned(),
            };
            let coerced =
                self.declared_type(ty).and_then(|expected| self.coerce(&value, &expected, expr, &what));
            let found = value.tensor().and_then(|tensor| self.tensor_type(tensor));
            value = self.value_or_poison(coerced.map_err(|stop| match (stop, found) {
                (Stop::Mistake(diag), Some(found)) if diag.help.is_none() => {
                    diag.help(format!("remove the type, or write `{found}`")).into()
                }
                (stop, _) => stop,
            }));
        }
        self.bind(pattern, value, expr);
    }

    /// Checks that a value has a declared type, and gives literals in it their element types. Messages call the value
    /// `what`.
    fn coerce(
        &mut self,
        value: &Value<Self::Tensor>,
        expected: &Structure,
        expr: ExprId,
        what: &str,
    ) -> Lowered<Value<Self::Tensor>> {
        match (expected, value) {
            (_, Value::Poison) => Err(Stop::Poisoned),
            (Structure::Value(ty), Value::Literal(id)) if self.literals().fits(*id, ty.dtype) => {
                let tensor = self.materialise(*id, ty.dtype)?;
                self.check_type((tensor, Some(*id)), ty, expr, what)?;
                Ok(Value::Tensor(tensor))
            }
            (Structure::Value(ty), Value::Literal(id)) => {
                let help = self.literals().rewrite(*id, ty.dtype);
                Err(Diag { help, ..self.mismatch(value, expected, expr, what) }.into())
            }
            (Structure::Value(ty), Value::Tensor(tensor)) => {
                self.check_type((*tensor, None), ty, expr, what)?;
                Ok(value.clone())
            }
            (Structure::Tuple(elements), Value::Tuple(tuple)) if elements.len() == tuple.elements.len() => {
                let parts = self.body().tuple_parts(expr, elements.len());
                let mut coerced = Vec::new();
                for (i, (element, value)) in elements.iter().zip(tuple.elements.iter()).enumerate() {
                    let part = parts.as_ref().map_or(expr, |parts| parts[i]);
                    coerced.push(self.coerce(value, element, part, what)?);
                }
                self.tuple(coerced, expr)
            }
            (Structure::Struct(ty), Value::Struct(record)) => self.as_struct(record, ty, expr, what),
            (Structure::Value(_) | Structure::Tuple(_) | Structure::Struct(_), _) => {
                Err(self.mismatch(value, expected, expr, what).into())
            }
        }
    }

    /// Checks that a struct has a type. The definition must be the same. Dimensions must be equal; if some are not
    /// known, their equality becomes a check.
    fn as_struct(
        &mut self,
        record: &Record<Self::Tensor>,
        ty: &StructType,
        expr: ExprId,
        what: &str,
    ) -> Lowered<Value<Self::Tensor>> {
        if !self.is_same_struct(&record.ty, ty) {
            let message = format!("{what}: expected a `{ty}`, found a `{}`", record.ty);
            return Err(Diag::new(Code::E2001, self.site(expr), message).into());
        }
        let value = record.sound()?;
        if !record.ty.is_open() && !ty.is_open() {
            return Ok(value);
        }
        for (tensor, leaf) in value.leaves().into_iter().zip(Structure::Struct(ty.clone()).leaves()) {
            self.check_type((tensor, None), leaf, expr, what)?;
        }
        let ty = if ty.is_open() { record.ty.clone() } else { ty.clone().into() };
        Ok(Value::Struct(Record { ty, fields: record.fields.clone() }))
    }

    /// The error for a value of another type than the declared type.
    fn mismatch(&self, value: &Value<Self::Tensor>, expected: &Structure, expr: ExprId, what: &str) -> Diag {
        let message = format!("{what}: expected {expected}, found {}", self.type_text(value));
        Diag::new(Code::E2001, self.site(expr), message)
    }
}
