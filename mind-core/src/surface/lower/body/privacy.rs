//! Fields of structs of other blocks, which may be private in Rust where they are named.

use std::rc::Rc;

use proc_macro2::Ident;

use super::lowering::BodyLowering;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Home, Pattern};
use crate::surface::lower::declarations::lowered::Seen;
use crate::surface::lower::declarations::structure::{Defined, StructType};
use crate::surface::lower::values::Value;
use crate::surface::lower::values::lower::Lower;

impl BodyLowering<'_> {
    /// Notes that the program names a field of a struct.
    ///
    /// What an imported template names is seen where it stands. Of a struct that the program does not import Rust cannot be
    /// asked, so its fields are to be public.
    pub(crate) fn sees(&mut self, ty: &StructType, field: &Ident) {
        let is_here = self.frames.last().is_none_or(|frame| frame.template.home == Home::Here);
        let is_public = ty.definition.fields.iter().any(|known| known.name == *field && known.is_public);
        if !is_here || is_public {
            return;
        }
        let mut known = self.signature.dims.structs.values().flatten();
        match known.find(|defined| ty.is_of(&defined.definition)) {
            Some(Defined { alias: Some(alias), definition }) => {
                let (alias, dims, field) = (alias.clone(), definition.symbols.len(), field.clone());
                if !self.seen.iter().any(|seen| seen.alias == alias && seen.field == field) {
                    self.seen.push(Seen { alias, dims, field });
                }
            }
            // The block's own.
            Some(Defined { alias: None, .. }) => {}
            None => {
                let name = &ty.definition.name;
                let stop = self.once(format!("{name}.{field}"), || {
                    let message =
                        format!("the field `{field}` of `{name}` is not `pub`, and `{name}` is not imported");
                    let help =
                        format!("import `{name}` by `use`: then the field is as private as it is in Rust");
                    Diag::new(Code::E2002, Site::token(field.span()), message).help(help)
                });
                self.report(stop);
            }
        }
    }

    /// The same for the fields in a pattern.
    pub(crate) fn sees_in(&mut self, pattern: &Pattern, value: &Value) {
        for (ty, field) in fields_in(pattern, value) {
            self.sees(&ty, field);
        }
    }
}

/// The fields that a pattern names of a value, with the struct of each.
pub(crate) fn fields_in<'p, T: Clone>(
    pattern: &'p Pattern,
    value: &Value<T>,
) -> Vec<(Rc<StructType>, &'p Ident)> {
    let (mut found, mut rest) = (Vec::new(), vec![(pattern, value.clone())]);
    while let Some((pattern, value)) = rest.pop() {
        match (pattern, value) {
            (Pattern::Struct { fields, .. }, Value::Struct(record)) => {
                for field in fields {
                    if let Ok(position) = record.ty.position(&field.name) {
                        found.push((record.ty.clone(), &field.name));
                        rest.push((&field.pattern, record.fields[position].clone()));
                    }
                }
            }
            (Pattern::Tuple { elements, .. }, Value::Tuple(tuple)) => {
                rest.extend(elements.iter().zip(tuple.elements.iter().cloned()));
            }
            (Pattern::Wildcard(_) | Pattern::Name(_) | Pattern::Struct { .. } | Pattern::Tuple { .. }, _) => {
            }
        }
    }
    found
}
