//! Templates called in functions, where arguments have types. The demands of parameters are checked at once, and errors
//! inside a template are reported at its call.

use std::mem;

use super::lowering::{BodyLowering, Frame};
use crate::diag::Site;
use crate::dim::Dim;
use crate::ir::ValueId;
use crate::surface::ast::{ElementPattern, ExprId, Home, Template, TensorPattern};
use crate::surface::lower::callees::table::Scope;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::demand::Demand;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::params::ParameterRef;
use crate::surface::lower::values::templates::{self, Templates};
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Stop, Value, Word};
use crate::ty::{Shape, Type};

/// Further data of a call.
pub(crate) struct CallData<'a> {
    /// The functions that are not in scope. Inside the template, these are the functions around the call; outside,
    /// those that the template sees.
    scope: Scope<'a>,
    /// The number of instructions before the body.
    pub(super) start: usize,
}

type DeducedFrom = templates::DeducedFrom<ValueId>;

impl<'a> Templates for BodyLowering<'a> {
    type FormData = CallData<'a>;

    fn frames(&self) -> &Vec<Frame<'a>> {
        &self.frames
    }

    fn frames_mut(&mut self) -> &mut Vec<Frame<'a>> {
        &mut self.frames
    }

    fn node(&mut self, expr: ExprId) -> Lowered<Value> {
        self.lower_node(expr)
    }

    fn form_data(&mut self, template: &Template, _: &[ExprId]) -> CallData<'a> {
        CallData { scope: self.scope_and_dims(template.home).0, start: 0 }
    }

    fn change_scope(&mut self, other: &mut CallData<'a>) {
        mem::swap(&mut self.table, &mut other.scope);
    }

    fn called(&mut self, frame: &Frame<'a>, value: Value, leave: ExprId) -> Value {
        self.kept_call_of_template(frame, value, leave)
    }

    fn home(&self, template: &Template) -> DimNames {
        DimNames { symbols: Vec::new(), ..self.scope_and_dims(template.home).1 }
    }

    fn given_literal(
        &mut self,
        (_, argument): (LiteralId, ExprId),
        pattern: &TensorPattern,
        first: Option<DeducedFrom>,
    ) -> Lowered<ValueId> {
        let dtype = match &pattern.elements {
            ElementPattern::Fixed(dtype) => Some(*dtype),
            ElementPattern::Variable(_) => first.map(|first| self.builder.ty(first.tensor).dtype),
            ElementPattern::Class(_) => None,
        };
        self.tensor(argument, dtype)
    }

    fn demand(
        &mut self,
        param: ParameterRef<'_>,
        from: DeducedFrom,
        demand: Demand,
        others: &[DeducedFrom],
    ) -> Lowered<()> {
        let DeducedFrom { tensor, argument, .. } = from;
        let ty = self.builder.ty(tensor);
        let first = others.first().map(|first| (self.builder.ty(first.tensor), first.argument));
        let (holds, reason) = match (&demand, first) {
            (Demand::Fits { elements, rank, open }, _) => {
                let has_rank = ty.rank() == *rank || *open && ty.rank() > *rank;
                (has_rank && elements.admits(ty.dtype), None)
            }
            (Demand::Elements { name }, Some((first, _))) => {
                (ty.dtype == first.dtype, Some((name, first.dtype.to_string())))
            }
            (Demand::Leading { name, last: [last, of_first] }, Some((first, _))) => {
                let needed = leading(first, *of_first);
                (leading(ty, *last) == needed, Some((name, Shape::new(needed.to_vec()).to_string())))
            }
            (Demand::Extent { axis, name, extent }, _) => {
                let reason = Some((name, extent.to_string()))
                    .filter(|(name, extent)| first.is_some() || *name != extent);
                (ty.shape[ty.rank() - axis] == *extent, reason)
            }
            (Demand::Elements { .. } | Demand::Leading { .. } | Demand::Type, _) => {
                unreachable!("a demand of a pattern refers to another argument")
            }
        };
        if holds {
            return Ok(());
        }
        let pattern = param.parameter.takes.pattern().expect("only patterns demand something");
        let mut diag = self.unlike(param, pattern, (&Value::Tensor(tensor), argument));
        diag = match (reason, first) {
            (Some((name, is)), Some((_, first))) => {
                let (text, found) = (self.text(first), self.type_text(self.value(first)));
                diag.note_at(self.body[first].site, format!("`{name}` is {is} because {text} is {found}"))
            }
            (Some((name, is)), None) => diag.note(format!("`{name}` is {is} in this call")),
            (None, _) => diag,
        };
        if let Some(field) = self.field_text(tensor, argument) {
            let text = self.text(argument);
            diag = diag.note(format!("the template is applied to each field of {text}, here to `{field}`"));
        }
        Err(diag.into())
    }

    fn element_type(&self, from: DeducedFrom) -> Word {
        Word::DType(self.builder.ty(from.tensor).dtype)
    }

    fn extent(&mut self, _: &str, from: DeducedFrom, axis: usize) -> Dim {
        let shape = &self.builder.ty(from.tensor).shape;
        shape[shape.rank() - axis].clone()
    }

    fn leading(&mut self, _: &str, from: DeducedFrom) -> Vec<Dim> {
        leading(self.builder.ty(from.tensor), from.last).to_vec()
    }

    fn result_of_field(
        &mut self,
        result: &Value,
        ty: Type,
        label: String,
        expr: ExprId,
        _: (ValueId, &str),
    ) -> Lowered<ValueId> {
        let result = self.coerce(result, &Structure::Value(ty), expr, &label)?;
        result.tensor().ok_or(Stop::Poisoned)
    }
}

/// The extents before the last `last` ones.
fn leading(ty: &Type, last: usize) -> &[Dim] {
    &ty.shape[..ty.rank() - last]
}

impl<'a> BodyLowering<'a> {
    /// The functions and the dimension names that a template sees.
    fn scope_and_dims(&self, home: Home) -> (Scope<'a>, DimNames) {
        // The scope around all templates. Inside templates, the frame of the outermost one holds it.
        let table = self.frames.first().map_or(self.table, |frame| frame.form_data.scope);
        match home {
            Home::ThisBlock => (table, self.signature.dims.clone()),
            Home::Library(_) => (table.of_library(), DimNames::default()),
            Home::Elsewhere(home) => {
                let (table, dims) = table.of_home(home);
                (table, dims.clone())
            }
        }
    }

    /// The site of the call of the outermost template that is being lowered.
    pub(crate) fn call_site(&self) -> Option<Site> {
        self.frames.first().and_then(|frame| frame.site)
    }
}
