//! Patterns of template parameters: the arguments that they accept and the names that they declare. Also the fields
//! that patterns of `let` name.

use std::rc::Rc;

use proc_macro2::Ident;

use super::Value;
use crate::surface::ast::{
    DeclaredKind, DimExpr, DimStepKind, ElementClass, ElementPattern, Formal, Pack, Pattern, Template,
    TensorPattern,
};
use crate::surface::lower::declarations::structure::StructType;

impl Formal {
    /// Whether the parameter accepts tensors of floats.
    pub(crate) fn may_be_floats(&self, template: &Template) -> bool {
        match self {
            Self::Any | Self::Params(_) | Self::State { .. } => true,
            Self::Constant { .. } => false,
            Self::Tensor(pattern) => match (&pattern.elements, pattern.class(template)) {
                (ElementPattern::Fixed(dtype), _) => dtype.is_float(),
                (_, class) => class.is_none_or(|class| class != ElementClass::Int),
            },
        }
    }

    pub(crate) fn pattern(&self) -> Option<&TensorPattern> {
        match self {
            Self::Tensor(pattern) => Some(pattern),
            Self::Any | Self::Params(_) | Self::State { .. } | Self::Constant { .. } => None,
        }
    }
}

impl TensorPattern {
    pub(super) fn class(&self, template: &Template) -> Option<ElementClass> {
        match &self.elements {
            ElementPattern::Class(class) => Some(*class),
            ElementPattern::Fixed(_) => None,
            ElementPattern::Variable(name) => {
                let declared = template.declared.iter().find(|declared| declared.name == *name)?;
                match declared.kind {
                    DeclaredKind::Elements(class) => Some(class),
                    DeclaredKind::Dim | DeclaredKind::Pack | DeclaredKind::Params => None,
                }
            }
        }
    }
}

/// The dimension of the template that `written` consists of, if it is a single such name.
pub(super) fn symbol(template: &Template, written: &DimExpr) -> Option<String> {
    let [step] = &written.steps[..] else { return None };
    let DimStepKind::Name(name) = &step.kind else { return None };
    let name = name.to_string();
    declared_dims(template).find(|declared| *declared == name)
}

pub(crate) fn declared_dims(template: &Template) -> impl Iterator<Item = String> {
    let dims = template.declared.iter().filter(|declared| declared.kind == DeclaredKind::Dim);
    dims.map(|declared| declared.name.to_string())
}

/// The names that a template declares for dimensions and element types.
pub(super) fn declared_names(template: &Template) -> impl Iterator<Item = String> {
    let declared = template.declared.iter();
    let declared = declared.filter(|declared| match declared.kind {
        DeclaredKind::Dim | DeclaredKind::Elements(_) => true,
        DeclaredKind::Pack | DeclaredKind::Params => false,
    });
    declared.map(|declared| declared.name.to_string())
}

/// The named packs in the parameter patterns of a template.
pub(super) fn packs(template: &Template) -> impl Iterator<Item = String> {
    let patterns = template.parameters.iter().filter_map(|parameter| parameter.takes.pattern());
    patterns.filter_map(|pattern| match &pattern.pack {
        Some(Pack::Named(name)) => Some(name.to_string()),
        Some(Pack::Any) | None => None,
    })
}

/// The struct fields that a pattern names, each with the type of its struct.
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
