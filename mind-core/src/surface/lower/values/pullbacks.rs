//! `pullback(y, dy) { … }`: binds the result and its cotangent, and checks that the body has one value per
//! floating-point parameter.

use std::mem;

use super::lower::Lower;
use super::{Lowered, Stop, Value, VariableScopes};
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{ExprId, Pattern};
use crate::ty::DType;

/// A pullback whose body is being lowered.
pub(crate) struct Pullback<T, FormData> {
    /// The function or template.
    pub(crate) name: String,
    /// The names inside the pullback. While the body is lowered: the names around it.
    pub(crate) names: VariableScopes<T>,
    /// The result and its cotangent; `None` if there is an error in the result or in a parameter.
    pub(crate) result: Option<[Value<T>; 2]>,
    /// The floating-point parameters, in order, with their values. A constant argument has none, and its cotangent is
    /// dropped.
    pub(crate) wanted: Vec<(String, Option<Value<T>>)>,
    /// Further data of a pullback in this form of the language.
    pub(crate) form_data: FormData,
}

/// Pullbacks of a body.
pub(crate) trait Pullbacks: Lower {
    /// Further data of a pullback in this form of the language.
    type PullbackData;

    /// The pullbacks whose bodies are being lowered, innermost last.
    fn pullbacks_mut(&mut self) -> &mut Vec<Pullback<Self::Tensor, Self::PullbackData>>;

    /// Begins the pullback of the function or template that is being lowered. `of` is the result of that function.
    fn begin_pullback(
        &mut self,
        names: [&Pattern; 2],
        of: Option<ExprId>,
        expr: ExprId,
    ) -> Pullback<Self::Tensor, Self::PullbackData>;

    /// Checks the value `flow` that the body gives for a parameter. Returns it as the tensors of the parameter's
    /// cotangent. Messages call it `what`.
    fn flow(
        &mut self,
        flow: (&Value<Self::Tensor>, ExprId),
        parameter: (&str, &Value<Self::Tensor>),
        what: &str,
    ) -> Lowered<Vec<Self::Tensor>>;

    /// The result, with the derivative that has these cotangents.
    fn end_pullback(
        &mut self,
        pullback: Pullback<Self::Tensor, Self::PullbackData>,
        flows: Lowered<Vec<Self::Tensor>>,
        expr: ExprId,
    ) -> Lowered<Value<Self::Tensor>>;

    /// Begins a pullback, and binds its names.
    fn enter_pullback(&mut self, names: [&Pattern; 2], of: Option<ExprId>, expr: ExprId) {
        let mut pullback = self.begin_pullback(names, of, expr);
        mem::swap(self.names_mut(), &mut pullback.names);
        let values = pullback.result.clone().unwrap_or([Value::Poison, Value::Poison]);
        for (pattern, value) in names.into_iter().zip(values) {
            self.bind(pattern, value, of.unwrap_or(expr));
        }
        self.pullbacks_mut().push(pullback);
    }

    /// Ends the pullback, whose body has the value `tail`. Returns the result with this derivative.
    fn leave_pullback(&mut self, tail: Option<ExprId>, expr: ExprId) -> Lowered<Value<Self::Tensor>> {
        let mut pullback = self.pullbacks_mut().pop().expect("a pullback is left once it was entered");
        let flows = match pullback.result {
            None => Err(Stop::Poisoned),
            Some(_) => self.flows(&pullback, tail, tail.unwrap_or(expr)),
        };
        *self.names_mut() = mem::take(&mut pullback.names);
        self.end_pullback(pullback, flows, expr)
    }

    /// The cotangents of the floating-point parameters, one per part of the value `tail`.
    fn flows(
        &mut self,
        pullback: &Pullback<Self::Tensor, Self::PullbackData>,
        tail: Option<ExprId>,
        at: ExprId,
    ) -> Lowered<Vec<Self::Tensor>> {
        let value = tail.map_or_else(Value::unit, |tail| self.value(tail).clone());
        let (name, wanted) = (&pullback.name, &pullback.wanted);
        let parts = match (&value, &wanted[..]) {
            (Value::Poison, _) => return Err(Stop::Poisoned),
            (_, []) => return Ok(Vec::new()),
            (Value::Tuple(tuple), [_, _, ..]) if tuple.elements.len() == wanted.len() => {
                let written = self.body().tuple_parts(at, wanted.len()).unwrap_or(vec![at; wanted.len()]);
                Ok(tuple.elements.iter().cloned().zip(written).collect())
            }
            (_, [(_, Some(Value::Tuple(_)))]) => Ok(vec![(value, at)]),
            (Value::Tuple(tuple), _) => Err(tuple.elements.len()),
            (_, [_]) => Ok(vec![(value, at)]),
            (_, _) => Err(1),
        };
        let parts: Vec<_> = parts.map_err(|found| miscounted(name, found, wanted, self.site(at)))?;
        let mut flows = Vec::new();
        for ((value, at), (parameter, of)) in parts.iter().zip(wanted) {
            let Some(of) = of else { continue };
            let what = format!("the cotangent of `{parameter}` of `{name}`");
            flows.extend(self.flow((value, *at), (parameter, of), &what)?);
        }
        Ok(flows)
    }

    /// Whether a value is a literal that is a float by default: `2.0`, not `2`.
    fn is_number_of_floats(&self, value: &Value<Self::Tensor>) -> bool {
        matches!(value, Value::Literal(id) if self.literals().is_number(*id) && !self.literals().fits(*id, DType::I64))
    }
}

/// The error for a pullback whose number of values is not the number of floating-point parameters.
fn miscounted<T>(name: &str, found: usize, wanted: &[(String, T)], site: Site) -> Diag {
    let names: Vec<_> = wanted.iter().map(|(parameter, _)| format!("`{parameter}`")).collect();
    let (values, needed, names) =
        (if found == 1 { "value" } else { "values" }, names.len(), names.join(", "));
    let message = format!(
        "the pullback of `{name}` returns {found} {values}, needed {needed}: one for each float parameter, {names}"
    );
    Diag::new(Code::E2001, site, message)
}
