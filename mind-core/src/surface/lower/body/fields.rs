//! Templates of tensors that are called with structs: their bodies are lowered once for each field.

use super::lowering::BodyLowering;
use crate::surface::ast::ExprId;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::by_field::Fields;
use crate::surface::lower::values::{Lowered, Stop, Value};
use crate::ty::Type;

impl BodyLowering<'_> {
    /// The first node of the body of the template that is being lowered.
    pub(crate) fn entered(&self) -> usize {
        let fields = self.frames.last().and_then(|frame| frame.fields.as_ref());
        fields.expect("only what is done field by field is done again").enter.index() + 1
    }

    /// The structs that a call gives which was made field by field: one, or of a tuple one each.
    pub(crate) fn assembled(
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
        Ok(Value::rebuilt(&fields.structure, &mut tensors.into_iter()))
    }
}
