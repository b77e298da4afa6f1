//! Emission of instructions for expressions. Broken rules are reported in the user's terms.

use super::advice::Tried;
use super::lowering::{BodyLowering, LoweredOperand};
use crate::diag::{Diag, Site};
use crate::ir::{Op, ValueId};
use crate::ops::{Focus, OpError};
use crate::provenance::{Origin, origin};
use crate::surface::ast::ExprId;
use crate::surface::lower::values::Lowered;
use crate::surface::lower::values::expressions::Expressions;

/// The place in the program for which an instruction is emitted.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// The expression whose value it computes.
    expr: ExprId,
    /// The operation as written; `None` if it is not written. Messages then use the table's name.
    label: Option<&'static str>,
    /// The operator sign, at which all errors of an operator are reported.
    operator: Option<Site>,
    /// The sites of arguments that are attributes, by their names in the rules.
    attributes: Vec<(&'static str, Site)>,
}

impl Spot {
    pub(crate) fn of(expr: ExprId) -> Self {
        Self { expr, label: None, operator: None, attributes: Vec::new() }
    }

    pub(crate) fn expr(&self) -> ExprId {
        self.expr
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
    /// Emits an instruction. Returns an error for the rule that it breaks, if any.
    pub(crate) fn emit(&mut self, spot: &Spot, op: Op, operands: &[LoweredOperand]) -> Lowered<ValueId> {
        self.emit_for(spot, op, operands, operands)
    }

    /// Emits an instruction whose operands stand for others of the same shapes, which messages show.
    pub(crate) fn emit_for(
        &mut self,
        spot: &Spot,
        op: Op,
        operands: &[LoweredOperand],
        shown: &[LoweredOperand],
    ) -> Lowered<ValueId> {
        let ids: Vec<_> = operands.iter().map(|(value, _)| *value).collect();
        let tried = Tried::of(&op);
        match self.builder.push(op, &ids) {
            Ok(value) => {
                self.made.push(Some(spot.expr));
                Ok(value)
            }
            Err(error) => Err(self.broken_rule(spot, *error, (&tried, shown)).into()),
        }
    }

    /// Emits a chain of operations: each takes the result of the previous one. The result of an empty chain is the
    /// first operand.
    pub(crate) fn emit_each(
        &mut self,
        spot: &Spot,
        ops: Vec<Op>,
        operands: Vec<LoweredOperand>,
    ) -> Lowered<ValueId> {
        let mut operands = operands;
        for op in ops {
            let expr = operands.first().map_or(spot.expr, |(_, expr)| *expr);
            operands = vec![(self.emit(spot, op, &operands)?, expr)];
        }
        Ok(operands[0].0)
    }

    /// The error for an operation that breaks a rule.
    fn broken_rule(
        &self,
        spot: &Spot,
        mut error: OpError,
        (tried, operands): (&Tried, &[LoweredOperand]),
    ) -> Diag {
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

    /// Adds a note with the origin of an extent, unless the error already has it.
    pub(crate) fn add_origin(&self, diag: &mut Diag, (value, expr): LoweredOperand, axis: usize) {
        let extent = &self.builder.ty(value).shape[axis];
        let (what, site) = match origin(self.builder.insts(), value, axis) {
            // The inputs in the pullback of a template are not parameters of this function.
            Origin::Input { .. } if !self.frames.is_empty() && !self.pullbacks.is_empty() => return,
            Origin::Input { input, axis } => {
                let Some(input) = self.signature.inputs.get(input.index()) else { return };
                (format!("`{}: {}`", input.name, input.written), input.axes[axis])
            }
            Origin::Made { value } => {
                let made = self.made[value.index()].unwrap_or(expr);
                let made = self.body.as_reported(made, self.values.len());
                let text = self.body.short_text(made);
                (format!("`{text}`"), self.body[made].site)
            }
        };
        let text = format!("{extent} comes from {what}");
        if diag.notes.iter().all(|note| note.text != text) {
            diag.notes.push(crate::diag::Note { text, site });
        }
    }
}
