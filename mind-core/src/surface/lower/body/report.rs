//! Instructions emitted for expressions, and broken rules told in the user's words.

use super::advice::Tried;
use super::lowering::{BodyLowering, Operand};
use crate::diag::{Code, Diag, Site};
use crate::ir::{Op, ValueId};
use crate::ops::{Focus, OpError};
use crate::provenance::{Origin, origin};
use crate::surface::ast::ExprId;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::{Lowered, Stop, Value};

/// What an instruction is emitted for.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// The expression whose value it makes.
    expr: ExprId,
    /// The operation as it is written; the table's name for it where it is not written.
    label: Option<&'static str>,
    /// The operator sign, where all mistakes of an operator are underlined.
    operator: Option<Site>,
    /// The arguments that are attributes, by the names the rules have for them.
    attributes: Vec<(&'static str, Site)>,
}

impl Spot {
    pub(crate) fn of(expr: ExprId) -> Self {
        Self { expr, label: None, operator: None, attributes: Vec::new() }
    }

    pub(crate) fn label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    pub(crate) fn operator(mut self, site: Site) -> Self {
        self.operator = Some(site);
        self
    }

    pub(crate) fn attribute(mut self, name: &'static str, site: Site) -> Self {
        self.attributes.push((name, site));
        self
    }
}

impl BodyLowering<'_> {
    /// Emits an instruction, or tells which rule it breaks.
    pub(crate) fn emit(&mut self, spot: &Spot, op: Op, operands: &[Operand]) -> Lowered<ValueId> {
        let ids: Vec<_> = operands.iter().map(|(value, _)| *value).collect();
        let tried = Tried::of(&op);
        match self.builder.push(op, &ids) {
            Ok(value) => {
                self.made.push(Some(spot.expr));
                Ok(value)
            }
            Err(error) => Err(self.broken_rule(spot, *error, (&tried, operands)).into()),
        }
    }

    /// Emits operations, each of the result of the one before; of none the result is the first operand.
    pub(crate) fn emit_each(
        &mut self,
        spot: &Spot,
        ops: Vec<Op>,
        operands: Vec<Operand>,
    ) -> Lowered<ValueId> {
        let mut operands = operands;
        for op in ops {
            let expr = operands.first().map_or(spot.expr, |(_, expr)| *expr);
            operands = vec![(self.emit(spot, op, &operands)?, expr)];
        }
        Ok(operands[0].0)
    }

    /// Says that an operation breaks a rule.
    fn broken_rule(&self, spot: &Spot, mut error: OpError, (tried, operands): (&Tried, &[Operand])) -> Diag {
        error.label = spot.label.unwrap_or(error.label);
        let whole = self.body[spot.expr].site;
        let site = spot.operator.unwrap_or_else(|| match &error.focus {
            Focus::Operation => whole,
            Focus::Operand(position) => {
                operands.get(*position).map_or(whole, |(_, expr)| self.body[*expr].site)
            }
            Focus::Attribute(name) => spot
                .attributes
                .iter()
                .find(|(attribute, _)| attribute == name)
                .map_or(whole, |(_, site)| *site),
        });
        let message = error.message(|position| {
            let (value, expr) = operands[position];
            format!("{} is {}", self.text(expr), self.builder.ty(value))
        });
        let mut diag = Diag::new(error.code, site, message);
        diag.help = self
            .advice(tried, &error, operands)
            .or_else(|| error.help_with(|position| self.body.operand_text(operands[position].1)));
        for (position, axis) in &error.dims {
            self.add_origin(&mut diag, operands[*position], *axis);
        }
        diag
    }

    /// Adds where an extent comes from, once.
    pub(crate) fn add_origin(&self, diag: &mut Diag, (value, expr): Operand, axis: usize) {
        let extent = &self.builder.ty(value).shape[axis];
        let (what, site) = match origin(self.builder.insts(), value, axis) {
            // The inputs in the pullback of a template are no parameters of this function.
            Origin::Input { .. } if !self.frames.is_empty() && !self.pullbacks.is_empty() => return,
            Origin::Input { input, axis } => {
                let Some(input) = self.signature.inputs.get(input.index()) else { return };
                (format!("`{}: {}`", input.name, input.written), input.axes[axis])
            }
            Origin::Made { value } => {
                let made = self.made[value.index()].unwrap_or(expr);
                let text = self.body.short_text(made);
                (format!("`{text}`"), self.body[made].site)
            }
        };
        let text = format!("{extent} comes from {what}");
        if diag.notes.iter().all(|note| note.text != text) {
            diag.notes.push(crate::diag::Note { text, site });
        }
    }

    /// Checks that a value has a declared type, giving literals in it their dtypes; `what` says whose type it is.
    pub(crate) fn coerce(
        &mut self,
        value: &Value,
        expected: &Structure,
        expr: ExprId,
        what: &str,
    ) -> Lowered<Value> {
        let mismatch = |lowering: &Self, help: Option<String>| {
            let message = format!("{what}: expected {expected}, found {}", lowering.type_text(value));
            Diag { help, ..Diag::new(Code::E2001, lowering.body[expr].site, message) }
        };
        match (expected, value) {
            (_, Value::Poison) => Err(Stop::Poisoned),
            (Structure::Value(ty), Value::Literal(id)) => {
                if !self.literals.fits(*id, ty.dtype) {
                    let help = self.literals.rewrite(*id, ty.dtype);
                    return Err(mismatch(self, help).into());
                }
                let is_array = self.literals.elements(*id).is_some();
                let made = self.materialise(*id, ty.dtype)?;
                let found = self.builder.ty(made).clone();
                if found == *ty {
                    return Ok(Value::Tensor(made));
                }
                let code = if is_array { Code::E3010 } else { Code::E2001 };
                let message = format!("{what}: expected {ty}, found {found}");
                let diag = Diag::new(code, self.body[expr].site, message);
                let number = found.rank() == 0;
                let help =
                    number.then(|| format!("write `full({}, {})`", ty.shape, self.body.short_text(expr)));
                Err(Diag { help, ..diag }.into())
            }
            (Structure::Value(ty), Value::Tensor(found)) => {
                if self.builder.ty(*found) == ty {
                    return Ok(value.clone());
                }
                let mut diag = mismatch(self, self.fitted(*found, ty, expr));
                let found_ty = self.builder.ty(*found);
                if found_ty.rank() == ty.rank() {
                    for axis in 0..ty.rank() {
                        if found_ty.shape[axis] != ty.shape[axis] {
                            self.add_origin(&mut diag, (*found, expr), axis);
                        }
                    }
                }
                Err(diag.into())
            }
            (Structure::Tuple(elements), Value::Tuple(tuple)) if elements.len() == tuple.elements.len() => {
                let parts = self.body.tuple_parts(expr, elements.len());
                let mut coerced = Vec::new();
                for (i, (element, value)) in elements.iter().zip(tuple.elements.iter()).enumerate() {
                    let part = parts.as_ref().map_or(expr, |parts| parts[i]);
                    coerced.push(self.coerce(value, element, part, what)?);
                }
                Ok(Value::tuple(coerced).expect("a written type is within the limits of tuples"))
            }
            (Structure::Struct(ty), Value::Struct(record)) if *ty == *record.ty => record.sound(),
            (
                Structure::Tuple(_),
                Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Struct(_),
            )
            | (Structure::Value(_), Value::Tuple(_) | Value::Struct(_))
            | (
                Structure::Struct(_),
                Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Struct(_),
            )
            | (_, Value::Word(_)) => Err(mismatch(self, None).into()),
        }
    }

    /// The tensor that a value is; a literal gets `dtype`, or its own default without one.
    pub(crate) fn tensor(&mut self, expr: ExprId, dtype: Option<crate::ty::DType>) -> Lowered<ValueId> {
        let value = self.values[expr.index()].clone();
        self.tensor_of(&value, expr, dtype)
    }

    /// The tensor that this value of an expression is, as [`Self::tensor`].
    pub(crate) fn tensor_of(
        &mut self,
        value: &Value,
        expr: ExprId,
        dtype: Option<crate::ty::DType>,
    ) -> Lowered<ValueId> {
        match value {
            Value::Poison => Err(Stop::Poisoned),
            Value::Tensor(value) => Ok(*value),
            Value::Literal(id) => {
                let dtype = dtype.unwrap_or_else(|| self.literals.default_dtype(*id));
                self.materialise(*id, dtype)
            }
            Value::Tuple(_) | Value::Struct(_) | Value::Word(_) => {
                let message = format!("expected a tensor, found {}", self.describe(expr));
                Err(Diag::new(Code::E2001, self.body[expr].site, message).into())
            }
        }
    }
}
