//! Struct values: fields, struct expressions, and the parts of parameters that are assigned to.

use std::ops::Range;

use proc_macro2::Ident;

use super::lowering::BodyLowering;
use crate::diag::{Code, Diag, Site};
use crate::dim::{Bindings, Dim, Symbol};
use crate::surface::ast::{ExprId, FieldValue, Path};
use crate::surface::habits;
use crate::surface::lower::builtins::foreign::ForeignNames;
use crate::surface::lower::declarations::names::undefined;
use crate::surface::lower::declarations::structure::{Definition, Field, Structure};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::records::Records;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Record, Stop, Value};

/// A part of a parameter that may be assigned to.
#[derive(Clone, Debug)]
pub(crate) struct ParameterPart {
    /// The parameter's position.
    pub(crate) parameter: usize,
    /// The positions of the fields that lead to the part.
    fields: Vec<usize>,
    /// The inputs that it consists of.
    pub(crate) inputs: Range<usize>,
    pub(crate) structure: Structure,
}

impl Records for BodyLowering<'_> {
    /// A dimension is missing if the value of its field has another structure. It is then represented by its symbol,
    /// which the error for that field shows.
    fn inferred(
        &mut self,
        definition: &Definition,
        given: &[Option<&FieldValue>],
        rest: Option<&Record>,
    ) -> Lowered<(Vec<Dim>, bool)> {
        if let Some(rest) = rest {
            return Ok((rest.ty.dims.clone(), true));
        }
        let mut bindings = Bindings::new();
        for (field, given) in definition.fields.iter().zip(given) {
            let Some(given) = given else { continue };
            self.literal_as(&field.structure, given.value)?;
            self.bind_symbols(&field.structure, given.value, &definition.symbols, &mut |symbol, dim| {
                bindings.entry(symbol.clone()).or_insert_with(|| dim.clone());
            });
        }
        let symbols = definition.symbols.iter();
        let dim =
            |symbol: &Symbol| bindings.get(symbol).cloned().unwrap_or_else(|| Dim::symbol(symbol.clone()));
        let dims: Vec<_> = symbols.map(dim).collect();
        Ok((dims, bindings.len() == definition.symbols.len()))
    }

    fn convert_field(&mut self, found: &Value, ty: &Structure, expr: ExprId, what: &str) -> Lowered<Value> {
        let help = match (found, ty) {
            (Value::Tensor(tensor), Structure::Value(ty))
                if self.builder.ty(*tensor).shape.get(1..).is_some_and(|rest| *rest == ty.shape[..]) =>
            {
                let example = "for (w, b) in (ws, bs) { Block { w, b } }";
                Some(format!("a loop makes structs with a leading axis, as `{example}`"))
            }
            (Value::Struct(record), Structure::Struct(ty))
                if record.ty.element().is_some_and(|(_, element)| element == *ty) =>
            {
                let text = self.operand_text(expr);
                Some(format!("select one, as in `{text}[0]`, or declare the field as `{}`", record.ty))
            }
            _ => None,
        };
        self.coerce(found, ty, expr, what).map_err(|stop| match help {
            Some(help) => stop.map(|diag| diag.help(help)),
            None => stop,
        })
    }

    fn at_declaration(diag: Diag, field: &Field) -> Diag {
        diag.note_at(field.site, format!("`{}: {}` is declared", field.name, field.structure))
    }
}

impl BodyLowering<'_> {
    /// `p.w`
    pub(crate) fn member(&mut self, base: ExprId, name: &Ident, expr: ExprId) -> Lowered<Value> {
        let site = Site::token(name.span());
        match &self.values[base.index()] {
            Value::Poison if self.is_library(base) && !self.is_reported_by_its_call(expr) => {
                Err(self.library_read(name, expr).into())
            }
            Value::Poison => Err(Stop::Poisoned),
            Value::Struct(record) => match record.ty.position(name) {
                Ok(position) => {
                    let record = record.clone();
                    self.sees(&record.ty, name).unwrap_or_else(|stop| self.report(stop));
                    match &record.fields[position] {
                        Value::Poison => Err(Stop::Poisoned),
                        field => Ok(field.clone()),
                    }
                }
                Err(diag) => {
                    let key = format!("{}.{name}", record.ty.name);
                    Err(self.once(key, || diag))
                }
            },
            Value::Tensor(_) | Value::Literal(_) | Value::Tuple(_) | Value::Word(_) => {
                let message = format!(
                    "found `.{name}` after {}, expected `T`, `mT`, a method call or the number of a tuple element",
                    self.describe(base)
                );
                let extent = match (name == "shape", self.values[base.index()].clone()) {
                    (true, Value::Tensor(value)) => self.extent_read(value, expr),
                    _ => None,
                };
                let help = match habits::field(&name.to_string()) {
                    Some(_) if extent.is_some() => extent.unwrap_or_default(),
                    Some(help) => help.to_owned(),
                    None => {
                        format!("call a method with parentheses, as in `.{name}()`; only structs have fields")
                    }
                };
                Err(Diag::new(Code::E1007, site, message).help(help).into())
            }
        }
    }

    /// The part of a parameter that a path names, if it may be assigned to.
    pub(crate) fn writable(&mut self, path: &Path) -> Lowered<ParameterPart> {
        let (text, site) = (path.name.to_string(), Site::token(path.name.span()));
        let diag = match self.names.get(&text) {
            Some(Binding::Parameter(position)) => {
                let parameter = &self.signature.parameters[*position];
                if parameter.update {
                    return Ok(self.place(*position, path)?);
                }
                Diag::new(Code::E2010, site, format!("`{text}` is not `&mut` and cannot be assigned to"))
                    .note_at(parameter.site, format!("`{text}` is declared `{}`", parameter.written))
                    .help(format!(
                        "declare `{text}: &mut {}`, or name the new value with `let`",
                        parameter.written
                    ))
            }
            Some(Binding::Local(_)) => Diag::new(
                Code::E2010,
                site,
                format!("`{text}` is bound by `let` and cannot be assigned to"),
            )
            .help(match self.loops.is_empty() {
                true => format!("bind the new value with another `let {text} = …`"),
                false => format!(
                    "make it the carry of the loop: `let {text} = fold {text} = {text} for … {{ … }};`"
                ),
            }),
            None => {
                let names = self.signature.parameters.iter().filter(|parameter| parameter.update);
                let mut diag = undefined("name", &text, site, names.map(|parameter| parameter.name.as_str()));
                diag.help.get_or_insert_with(|| format!("to name a value, write `let {text} = …`"));
                return Err(self.once(text, || diag));
            }
        };
        Err(diag.into())
    }

    /// The part of a parameter that a path names.
    pub(crate) fn place(&self, parameter: usize, path: &Path) -> Result<ParameterPart, Diag> {
        let signature = self.signature;
        let structure = &signature.parameters[parameter].structure;
        let (part, inputs) = structure.part(&path.name, &path.fields)?;
        let (mut fields, mut at) = (Vec::new(), structure);
        for field in &path.fields {
            if let Structure::Struct(ty) = at {
                let position = ty.position(field)?;
                fields.push(position);
                at = &ty.fields[position];
            }
        }
        let before = signature.parameters[..parameter].iter().map(|before| before.structure.leaves().len());
        let start: usize = before.sum();
        let inputs = start + inputs.start..start + inputs.end;
        Ok(ParameterPart { parameter, fields, inputs, structure: part.clone() })
    }

    /// The current version of a part of a parameter.
    pub(crate) fn version(&self, place: &ParameterPart) -> Value {
        let mut value = &self.versions[place.parameter];
        for field in &place.fields {
            let Value::Struct(record) = value else { return Value::Poison };
            value = &record.fields[*field];
        }
        value.clone()
    }

    /// Writes a new version of a part of a parameter.
    pub(crate) fn write(&mut self, place: &ParameterPart, value: Value) {
        fn replaced(old: &Value, fields: &[usize], value: Value) -> Value {
            let (Some((first, rest)), Value::Struct(record)) = (fields.split_first(), old) else {
                return value;
            };
            let mut fields = record.fields.to_vec();
            fields[*first] = replaced(&fields[*first], rest, value);
            Value::Struct(Record { ty: record.ty.clone(), fields: fields.into() })
        }
        let new = replaced(&self.versions[place.parameter], &place.fields, value);
        self.versions[place.parameter] = new;
    }
}
