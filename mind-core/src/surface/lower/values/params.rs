//! Structs of parameters as arguments of templates, and the library structs that are generic over them: `net: P`,
//! `state: optim::Adam<P>`.

use proc_macro2::Ident;

use super::expressions::Expressions;
use super::{Lowered, Record, Stop, Value};
use crate::diag::{Code, Diag};
use crate::surface::ast::{Callee, ExprId, Field, Home, Template, TemplateParameter};
use crate::surface::lower::declarations::structure::StructType;
use crate::surface::lower::declarations::types::DimNames;

/// A parameter of a template.
#[derive(Clone, Copy)]
pub(crate) struct ParameterRef<'a> {
    pub(crate) template: &'a Template,
    pub(crate) parameter: &'a TemplateParameter,
}

impl ParameterRef<'_> {
    /// The name of its argument in messages.
    pub(crate) fn label(self) -> String {
        format!("argument `{}` of `{}`", self.parameter.name, self.template.full_name())
    }

    /// Adds the declaration of the parameter to an error in its argument.
    pub(crate) fn declared(self, diag: Diag) -> Diag {
        let Self { template, parameter } = self;
        match template.home {
            Home::ThisBlock | Home::Elsewhere(_) => {
                diag.note_at(parameter.site, format!("`{parameter}` is declared"))
            }
            Home::Library(_) => diag.note(format!("`{}` declares `{parameter}`", template.full_name())),
        }
    }
}

/// A parameter of a template that takes a struct.
#[derive(Clone, Copy)]
pub(crate) struct TakesParams<'a> {
    pub(crate) param: ParameterRef<'a>,
    /// `P`, which is the same struct at each use.
    pub(crate) class: &'a Ident,
    /// The library struct over these parameters; `None` if the template takes the parameters directly.
    pub(crate) state: Option<&'a Callee>,
}

/// A struct of parameters in an argument.
pub(crate) struct Params<T> {
    /// The field of the argument that holds them; `None` if the argument itself is the struct.
    pub(crate) field: Option<Ident>,
    pub(crate) record: Record<T>,
}

/// Reading of arguments that hold structs of parameters.
pub(crate) trait ReadParams: Expressions {
    /// The structs of parameters in an argument: the argument itself, or each parameter field of a library struct.
    ///
    /// All of them must have one struct type. `known` is that type if an earlier argument has determined it. `names`
    /// are the names that the template sees.
    fn params(
        &self,
        takes: TakesParams<'_>,
        (value, argument): (&Value<Self::Tensor>, ExprId),
        known: Option<(&StructType, ExprId)>,
        names: &DimNames,
    ) -> Lowered<Vec<Params<Self::Tensor>>> {
        let TakesParams { param, class, state } = takes;
        let state = match state {
            Some(name) => Some((name, names.state(name).ok_or(Stop::Poisoned)?)),
            None => None,
        };
        let found = match (value, &state) {
            (Value::Poison, _) => return Err(Stop::Poisoned),
            (Value::Struct(record), None) => {
                record.sound()?;
                vec![Params { field: None, record: record.clone() }]
            }
            (Value::Struct(record), Some((_, state))) if state.is(&record.ty) => {
                record.sound()?;
                let parts = state.item.fields.iter().zip(record.fields.iter());
                let part = |(field, value): (&Field, &Value<Self::Tensor>)| match value {
                    Value::Struct(parameters) if state.is_parameters(field) => {
                        Some(Params { field: Some(field.name.clone()), record: parameters.clone() })
                    }
                    Value::Struct(_)
                    | Value::Poison
                    | Value::Tensor(_)
                    | Value::Literal(_)
                    | Value::Tuple(_)
                    | Value::Word(_) => None,
                };
                parts.filter_map(part).collect()
            }
            (Value::Struct(_), Some(_))
            | (Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_), _) => Vec::new(),
        };
        let fits = |Params { record, .. }: &Params<Self::Tensor>| {
            known.is_none_or(|(known, _)| self.is_same_struct(known, &record.ty))
        };
        if !found.is_empty() && found.iter().all(fits) {
            return Ok(found);
        }
        let expected = match (&state, known) {
            (None, None) => "a struct of tensors".to_owned(),
            (None, Some((known, _))) => format!("`{known}`"),
            (Some((name, _)), None) => format!("`{name}<{class}>`"),
            (Some((name, _)), Some((known, _))) => format!("`{name}<{known}>`"),
        };
        let message = format!("{}: expected {expected}, found {}", param.label(), self.type_text(value));
        let diag = param.declared(Diag::new(Code::E2001, self.site(argument), message));
        Err(match known {
            Some((known, from)) => {
                diag.note(format!("`{class}` is `{known}` because {} is", self.text(from))).into()
            }
            None => diag.into(),
        })
    }
}

impl<E: Expressions> ReadParams for E {}
