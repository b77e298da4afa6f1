//! Functions that tell their derivatives: `fn f(x: f32[N]) -> f32[N] { … } pullback(y, dy) { … }`.
//!
//! What is behind `pullback` is lowered to a module of its own, on the tensors of the parameters, the result and the cotangent.
//! The result then passes through an instruction that holds this module. It is done where the names of parameters are known
//! with their types: in a function, and in a template where it is called.

use std::mem;

use super::lowering::{BodyLowering, Frame, OpenPullback, Outside};
use crate::build::Builder;
use crate::diag::{Code, Diag, Site};
use crate::ir::{Nested, Nesting, Op, Own, ValueId};
use crate::surface::ast::{ExprId, Pattern, Template};
use crate::surface::lower::callees::callable::{MAX_INSTRUCTIONS, too_many};
use crate::surface::lower::declarations::signature::not_pure;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::expressions::{Bound, Expressions};
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value};
use crate::ty::DType;

impl BodyLowering<'_> {
    /// Begins the pullback of what is being lowered, whose body has the value `of`.
    pub(crate) fn enter_pullback(&mut self, names: [&Pattern; 2], of: Option<ExprId>, expr: ExprId) {
        let pulled = self.pulled(of, expr);
        let Pulled { parameters, result, wanted } = pulled.unwrap_or_else(|stop| {
            self.report(stop);
            self.unknown()
        });
        let mut operands = result.leaves();
        operands.extend(parameters.iter().flat_map(|(_, value)| value.leaves()));
        let types = |lowering: &Self, value: &Value| {
            let leaves = value.leaves().into_iter();
            leaves.map(|leaf| lowering.builder.ty(leaf).clone()).collect::<Vec<_>>()
        };
        let known: Vec<_> = parameters.iter().map(|(_, value)| types(self, value)).collect();
        let of_result = types(self, &result);
        let structures: Vec<_> = parameters.iter().map(|(_, value)| self.structure_of(value)).collect();
        let of_result = (self.structure_of(&result), of_result);
        let outside = Outside {
            builder: mem::replace(&mut self.builder, Builder::new()),
            made: mem::take(&mut self.made),
            literals_made: mem::take(&mut self.literals.made),
            value_names: mem::take(&mut self.value_names),
            derived: mem::take(&mut self.derived),
            names: mem::take(&mut self.names),
        };
        let sound = !matches!(result, Value::Poison);
        for ((name, value), (structure, types)) in
            parameters.into_iter().zip(structures.into_iter().zip(known))
        {
            let value = match value {
                Value::Poison | Value::Literal(_) | Value::Word(_) => value,
                Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) => {
                    self.inputs_of(&name, &structure, types)
                }
            };
            self.names.bind(name, Binding::Local(value));
        }
        for (pattern, base) in names.into_iter().zip(["y", "dy"]) {
            let name = match pattern {
                Pattern::Name(name) => name.to_string(),
                // No parameter has such a name.
                Pattern::Wildcard(_) | Pattern::Tuple { .. } | Pattern::Struct { .. } => format!("_.{base}"),
            };
            let value = match sound {
                true => self.inputs_of(&name, &of_result.0, of_result.1.clone()),
                false => Value::Poison,
            };
            // What is wrong with a pattern is told at the result.
            self.sees_in(pattern, &value);
            let Bound { names, mistakes } = self.bound_by(pattern, value, of.unwrap_or(expr));
            mistakes.into_iter().for_each(|mistake| self.report(mistake.into()));
            for (name, value) in names {
                self.keep_local(name, &value);
                self.names.bind(name.to_string(), Binding::Local(value));
            }
        }
        self.pullbacks.push(OpenPullback { outside, result, operands, wanted });
    }

    /// Ends the pullback, of which `tail` is the value: gives the result with this derivative.
    pub(crate) fn leave_pullback(&mut self, tail: Option<ExprId>, expr: ExprId) -> Lowered<Value> {
        let OpenPullback { outside, result, operands, wanted } =
            self.pullbacks.pop().expect("a pullback is left once it was entered");
        let told = match result {
            Value::Poison => Err(Stop::Poisoned),
            _ => self.told(tail, expr, &wanted),
        };
        let Outside { builder, made, literals_made, value_names, derived, names } = outside;
        let inner = mem::replace(&mut self.builder, builder);
        (self.made, self.literals.made, self.value_names, self.derived, self.names) =
            (made, literals_made, value_names, derived, names);
        let outputs = told?;
        if outputs.is_empty() {
            return Ok(result);
        }
        let site = self.body[expr].site;
        let nested = Nested::new(inner.finish(outputs))
            .map_err(|fault| Diag::new(Code::E1008, site, format!("`pullback`: {fault}")))?;
        let count = self.builder.insts().len() + nested.size();
        if count > MAX_INSTRUCTIONS {
            return Err(too_many(&self.pulled_name(), count, site).into());
        }
        let leaves = result.leaves().len();
        let first = self.hold(Op::Own(Own::Nesting(Nesting::Pullback(nested))), &operands, expr)?;
        let mut results = vec![first];
        for at in 1..leaves {
            results.push(self.hold(Op::further_result(at), &[first], expr)?);
        }
        let structure = self.structure_of(&result);
        Ok(Value::rebuilt(&structure, &mut results.into_iter()))
    }

    fn hold(&mut self, op: Op, operands: &[ValueId], expr: ExprId) -> Lowered<ValueId> {
        let held = self.builder.push(op, operands).map_err(|error| {
            Stop::from(Diag::new(error.code, self.body[expr].site, format!("`pullback`: {error}")))
        })?;
        self.made.push(Some(expr));
        Ok(held)
    }

    /// As messages name the function.
    fn pulled_name(&self) -> String {
        self.frames.last().map_or_else(|| self.signature.name.clone(), Frame::name)
    }

    /// Parameters of which nothing is known but the names.
    fn unknown(&self) -> Pulled {
        let names: Vec<String> = match self.frames.last() {
            Some(frame) => frame.parameters().map(|(parameter, _)| parameter.name.to_string()).collect(),
            None => self.signature.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        };
        let parameters = names.into_iter().map(|name| (name, Value::Poison)).collect();
        Pulled { parameters, result: Value::Poison, wanted: Vec::new() }
    }

    /// What a pullback is of.
    fn pulled(&mut self, of: Option<ExprId>, expr: ExprId) -> Lowered<Pulled> {
        let (site, name) = (self.body[expr].site, self.pulled_name());
        let given: Vec<(String, Value)> = match self.frames.last() {
            Some(frame) => {
                let given = frame.parameters();
                given.map(|(parameter, value)| (parameter.name.to_string(), value.clone())).collect()
            }
            None => {
                if let Some(update) = self.signature.parameters.iter().find(|parameter| parameter.update) {
                    return Err(not_pure(&name, update, site).into());
                }
                let names = self.signature.parameters.iter().map(|parameter| parameter.name.clone());
                names.zip(self.versions.iter().cloned()).collect()
            }
        };
        let is_template = !self.frames.is_empty();
        let result = match is_template {
            true => {
                let value = of.map_or_else(Value::unit, |of| self.values[of.index()].clone());
                self.infer(value, of.unwrap_or(expr))?
            }
            false => self.declared(of, expr.index())?.1,
        };
        let (mut parameters, mut wanted) = (Vec::new(), Vec::new());
        for (parameter, value) in given {
            let value = match value {
                Value::Poison => return Err(Stop::Poisoned),
                Value::Literal(id) => {
                    // As it would be by itself: `2` is none of floats.
                    if self.literals.is_number(id) && !self.literals.fits(id, DType::I64) {
                        wanted.push((parameter.clone(), None));
                    }
                    value
                }
                Value::Word(_) => value,
                Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) => self.infer(value, expr)?,
            };
            let structure = self.structure_of(&value);
            let floats = structure.leaves().iter().filter(|leaf| leaf.dtype.is_float()).count();
            match (floats, structure.leaves().len()) {
                (0, _) => {}
                (floats, all) if floats == all => wanted.push((parameter.clone(), Some(structure))),
                _ => {
                    let message = format!(
                        "`{parameter}` of `{name}` holds floats beside others, of which no derivative tells what flows back"
                    );
                    return Err(Diag::new(Code::E5005, site, message)
                        .help("give the function the floats and the others as parameters of their own")
                        .into());
                }
            }
            parameters.push((parameter, value));
        }
        if wanted.is_empty() && !is_template {
            return Err(no_floats(&name, site).into());
        }
        let of_result = self.structure_of(&result);
        let leaves = of_result.leaves();
        match leaves.iter().find(|leaf| !leaf.dtype.is_float()) {
            Some(other) => {
                let message =
                    format!("`{name}` gives {other}, needed f32 or f64: only floats have a cotangent");
                Err(Diag::new(Code::E2005, site, message).into())
            }
            None if leaves.is_empty() => {
                let message = format!("`{name}` gives nothing that has a cotangent");
                Err(Diag::new(Code::E2005, site, message).into())
            }
            None => Ok(Pulled { parameters, result, wanted }),
        }
    }

    /// Inputs of the module for a value.
    fn inputs_of(&mut self, name: &str, structure: &Structure, types: Vec<crate::ty::Type>) -> Value {
        let single = matches!(structure, Structure::Value(_));
        let mut inputs = Vec::new();
        for (at, ty) in types.into_iter().enumerate() {
            let name = if single { name.to_owned() } else { format!("{name}.{at}") };
            inputs.push(self.builder.input(name, ty).expect("names differ, and the types are of values"));
            self.made.push(None);
        }
        Value::rebuilt(structure, &mut inputs.into_iter())
    }

    /// The outputs of the module: the value of the pullback, a part for each parameter of floats.
    fn told(
        &mut self,
        tail: Option<ExprId>,
        expr: ExprId,
        wanted: &[(String, Option<Structure>)],
    ) -> Lowered<Vec<ValueId>> {
        let value = tail.map_or_else(Value::unit, |tail| self.values[tail.index()].clone());
        if matches!(value, Value::Poison) {
            return Err(Stop::Poisoned);
        }
        let (name, at) = (self.pulled_name(), tail.unwrap_or(expr));
        let parts = match (&value, wanted) {
            (_, []) => return Ok(Vec::new()),
            (Value::Tuple(tuple), [(_, None | Some(Structure::Value(_) | Structure::Struct(_)))]) => {
                Err(tuple.elements.len())
            }
            (_, [_]) => Ok(vec![(value.clone(), at)]),
            (Value::Tuple(tuple), _) if tuple.elements.len() == wanted.len() => {
                let written = self.body.tuple_parts(at, wanted.len());
                let place = |part: usize| written.as_ref().map_or(at, |parts| parts[part]);
                Ok(tuple
                    .elements
                    .iter()
                    .enumerate()
                    .map(|(part, value)| (value.clone(), place(part)))
                    .collect())
            }
            (Value::Tuple(tuple), _) => Err(tuple.elements.len()),
            (_, _) => Err(1),
        };
        let parts = parts.map_err(|found| {
            let names: Vec<_> = wanted.iter().map(|(parameter, _)| parameter.as_str()).collect();
            Stop::from(miscounted(&name, found, &names, self.body[at].site))
        })?;
        let mut outputs = Vec::new();
        for ((value, at), (parameter, structure)) in parts.into_iter().zip(wanted) {
            let Some(structure) = structure else { continue };
            let what = format!("what flows back to `{parameter}` of `{name}`");
            let value = self.coerce(&value, structure, at, &what)?;
            outputs.extend(value.leaves());
        }
        Ok(outputs)
    }
}

/// What is wrong with the pullback of a template whose parameters are none of floats whatever is passed.
pub(crate) fn useless_pullback(template: &Template) -> Option<Diag> {
    let site = template.body.as_ref()?.pullback()?;
    let floats = template.parameters.iter().any(|parameter| parameter.takes.may_be_floats(template));
    (!floats).then(|| no_floats(&template.name.to_string(), site))
}

fn no_floats(name: &str, site: Site) -> Diag {
    let message =
        format!("`{name}` has no parameter of floats, to which a `pullback` could tell what flows back");
    Diag::new(Code::E5005, site, message).help("leave the `pullback` out")
}

/// Where a pullback does not give as many values as there are parameters of floats.
pub(crate) fn miscounted(name: &str, found: usize, parameters: &[&str], site: Site) -> Diag {
    let names: Vec<_> = parameters.iter().map(|parameter| format!("`{parameter}`")).collect();
    let (values, needed, names) =
        (if found == 1 { "value" } else { "values" }, names.len(), names.join(", "));
    let message = format!(
        "the pullback of `{name}` gives {found} {values}, needed {needed}: one for each parameter of floats, {names}"
    );
    Diag::new(Code::E2001, site, message)
}

/// What a pullback is of.
struct Pulled {
    parameters: Vec<(String, Value)>,
    /// As it is declared.
    result: Value,
    /// As [`OpenPullback::wanted`].
    wanted: Vec<(String, Option<Structure>)>,
}
