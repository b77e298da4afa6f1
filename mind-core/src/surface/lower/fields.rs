//! Templates of tensors that are called with structs: their bodies are lowered once for each field.

use std::collections::BTreeMap;

use super::expressions::Expressions;
use super::lowering::{BodyLowering, Fields};
use super::structure::{Leaf, Structure};
use super::values::{Lowered, Stop, Value};
use crate::diag::{Code, Diag};
use crate::surface::ast::{ExprId, Formal, Template};
use crate::ty::Type;

impl BodyLowering<'_> {
    /// The first node of the body of the template that is being lowered.
    pub(super) fn entered(&self) -> usize {
        let fields = self.frames.last().and_then(|frame| frame.fields.as_ref());
        fields.expect("only what is done field by field is done again").enter.index() + 1
    }

    /// What a template is called with field by field, if a struct is given for a tensor.
    pub(super) fn fields(
        &mut self,
        template: &Template,
        arguments: &[Option<ExprId>],
        enter: ExprId,
    ) -> Lowered<Option<Fields>> {
        let mut found: Option<(Fields, ExprId)> = None;
        for (position, (parameter, argument)) in template.parameters.iter().zip(arguments).enumerate() {
            let argument = argument.expect("what has no argument has a default");
            let value = self.values[argument.index()].clone();
            let (Formal::Tensor(_), Value::Struct(record)) = (&parameter.takes, &value) else { continue };
            record.sound()?;
            let leaves = self.leaves(&value);
            match &mut found {
                None => {
                    let structure = Structure::Struct((*record.ty).clone());
                    let names = structure.named_leaves().iter().map(Leaf::text).collect();
                    let tensors = BTreeMap::from([(position, leaves)]);
                    let fields = Fields { enter, structure, names, tensors, results: Vec::new() };
                    found = Some((fields, argument));
                }
                Some((fields, first)) => {
                    if fields.structure != Structure::Struct((*record.ty).clone()) {
                        let message = format!(
                            "argument `{}` of `{}`: expected a `{}` as {} is, found {}",
                            parameter.name,
                            template.full_name(),
                            fields.structure,
                            self.text(*first),
                            self.type_text(&value)
                        );
                        let help = "a struct that is given for a tensor is taken field by field";
                        return Err(Diag::new(Code::E2001, self.site(argument), message).help(help).into());
                    }
                    fields.tensors.insert(position, leaves);
                }
            }
        }
        Ok(found.map(|(fields, _)| fields))
    }

    /// The structs that a call gives which was made field by field: one, or of a tuple one each.
    pub(super) fn assembled(
        &mut self,
        name: &str,
        fields: &Fields,
        results: &[Value],
        expr: ExprId,
    ) -> Lowered<Value> {
        let tuples: Option<Vec<_>> = results
            .iter()
            .map(|result| match result {
                Value::Tuple(tuple) => Some(tuple.elements.clone()),
                _ => None,
            })
            .collect();
        if let Some(tuples) = tuples {
            let count = tuples.iter().map(|tuple| tuple.len()).min().unwrap_or_default();
            let element = |position: usize| -> Vec<Value> {
                tuples.iter().map(|tuple| tuple[position].clone()).collect()
            };
            let elements = (0..count).map(|position| self.assembled(name, fields, &element(position), expr));
            let elements = elements.collect::<Lowered<Vec<_>>>()?;
            return self.tuple(elements, expr);
        }
        let types: Vec<Type> = fields.structure.leaves().into_iter().cloned().collect();
        let mut tensors = Vec::new();
        for ((result, ty), field) in results.iter().zip(types).zip(&fields.names) {
            let what = format!("result of `{name}` for field `{field}`");
            match self.coerce(result, &Structure::Value(ty), expr, &what)? {
                Value::Tensor(tensor) => tensors.push(tensor),
                _ => return Err(Stop::Poisoned),
            }
        }
        Ok(self.rebuild(&fields.structure, &mut tensors.into_iter()))
    }
}
