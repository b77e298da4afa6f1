//! Struct expressions: `Mlp { w1: a, b1, ..p }`.

use super::tensors::Tensors;
use super::{Lowered, Record, Stop, Value};
use crate::diag::{Code, Diag, Site};
use crate::dim::Dim;
use crate::surface::ast::{Callee, ExprId, FieldValue};
use crate::surface::lower::declarations::structure::{Definition, Field, StructType, Structure};

/// Struct expressions of a body.
pub(crate) trait Records: Tensors {
    /// The dimensions of a struct, and whether the values of its fields determine all of them.
    fn inferred(
        &mut self,
        definition: &Definition,
        _given: &[Option<&FieldValue>],
        _rest: Option<&Record<Self::Tensor>>,
    ) -> Lowered<(Vec<Dim>, bool)> {
        // Only Rust knows the extents.
        Ok((definition.symbols.iter().cloned().map(Dim::symbol).collect(), true))
    }

    /// Converts the value of a field to its declared type.
    fn convert_field(
        &mut self,
        found: &Value<Self::Tensor>,
        ty: &Structure,
        expr: ExprId,
        what: &str,
    ) -> Lowered<Value<Self::Tensor>> {
        self.coerce(found, ty, expr, what)
    }

    /// Adds a note at the declaration of the field to an error about its value.
    fn at_declaration(diag: Diag, _field: &Field) -> Diag {
        diag
    }

    /// Emits a check that each dimension of a struct has the same extent in all fields, if types are not known.
    fn check_extents(
        &mut self,
        _record: &Record<Self::Tensor>,
        _name: &Callee,
        _expr: ExprId,
    ) -> Lowered<()> {
        Ok(())
    }

    fn struct_expression(
        &mut self,
        name: &Callee,
        written: &[FieldValue],
        base: Option<ExprId>,
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>> {
        let defined = match self.dims().state(name) {
            Some(state) => self.given_state(name, &state, written, base)?,
            None => self.dims().definition(name)?,
        };
        let definition = defined.definition.clone();
        let given = given_fields(&definition, name, (written, base.is_some()), self.site(expr))?;
        let rest = base.map(|base| self.struct_behind_dots(name, &definition, base)).transpose()?;
        let (dims, is_known) = self.inferred(&definition, &given, rest.as_ref())?;
        let site = self.site(expr);
        let overflow = |overflow| Diag::new(Code::E1008, site, format!("`{name}`: {overflow}"));
        let ty = StructType::new(name.name.clone(), dims, defined).map_err(overflow)?;
        let mut fields = Vec::new();
        for (position, (field, structure)) in definition.fields.iter().zip(&ty.fields).enumerate() {
            let Some(value) = given[position].map(|given| given.value) else {
                fields.extend(rest.as_ref().map(|rest| rest.fields[position].clone()));
                continue;
            };
            let what = format!("field `{}` of `{name}`", field.name);
            let found = self.value(value).clone();
            let given = self.convert_field(&found, structure, value, &what);
            let given = given.map_err(|stop| stop.map(|diag| Self::at_declaration(diag, field)));
            fields.push(self.value_or_poison(given));
        }
        for field in written {
            self.sees(&ty, &field.name).unwrap_or_else(|stop| self.report(stop));
        }
        if !is_known {
            return Err(Stop::Poisoned);
        }
        let record = Record { ty: ty.into(), fields: fields.into() };
        self.check_extents(&record, name, expr)?;
        Ok(Value::Struct(record))
    }
}

/// The value that a struct expression has for each field of the struct.
fn given_fields<'w>(
    definition: &Definition,
    name: &Callee,
    (written, has_base): (&'w [FieldValue], bool),
    site: Site,
) -> Result<Vec<Option<&'w FieldValue>>, Diag> {
    let mut given: Vec<Option<&FieldValue>> = vec![None; definition.fields.len()];
    for field in written {
        let position = definition.position(&field.name)?;
        if let Some(first) = given[position] {
            let message = format!("`{}` of `{name}` is given twice", field.name);
            return Err(Diag::new(Code::E2007, Site::token(field.name.span()), message)
                .note_at(Site::token(first.name.span()), "it is given first"));
        }
        given[position] = Some(field);
    }
    let missing = definition.fields.iter().zip(&given).filter(|(_, given)| given.is_none());
    let missing: Vec<_> = missing.map(|(field, _)| format!("`{}`", field.name)).collect();
    if has_base || missing.is_empty() {
        return Ok(given);
    }
    let (count, s) = (definition.fields.len(), if definition.fields.len() == 1 { "" } else { "s" });
    let message =
        format!("`{name}` has {count} field{s}, found {}: {} missing", written.len(), missing.join(", "));
    let diag = Diag::new(Code::E2007, site, message);
    Err(match definition.library {
        Some(_) => diag,
        None => diag.note_at(Site::token(definition.name.span()), format!("`{name}` is defined")),
    })
}
