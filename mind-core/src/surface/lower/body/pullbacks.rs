//! Functions that define their own derivative: `fn f(x: f32[N]) -> f32[N] { … } pullback(y, dy) { … }`.
//!
//! The pullback is lowered to a module of its own. Its inputs are the tensors of the parameters, the result and the
//! cotangent. The result of the function then passes through an instruction that holds this module. This requires the
//! types of the parameters: a function is lowered this way once, a template at each call.

use std::collections::BTreeSet;
use std::mem;

use super::lowering::{BodyLowering, Frame, OpenPullback, Outside};
use crate::build::Builder;
use crate::diag::{Code, Diag, Site};
use crate::ir::{Nested, Nesting, Op, Own, ValueId};
use crate::surface::ast::{ExprId, Pattern, Template};
use crate::surface::lower::callees::callable::{MAX_INSTRUCTIONS, too_many};
use crate::surface::lower::declarations::signature::not_pure;
use crate::surface::lower::declarations::structure::Structure;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::pullbacks::Pullbacks;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value, VariableScopes};

impl Pullbacks for BodyLowering<'_> {
    type PullbackData = Outside;

    fn pullbacks_mut(&mut self) -> &mut Vec<OpenPullback> {
        &mut self.pullbacks
    }

    fn begin_pullback(&mut self, names: [&Pattern; 2], of: Option<ExprId>, expr: ExprId) -> OpenPullback {
        let name = self.frames.last().map_or_else(|| self.signature.name.clone(), Frame::name);
        let pulled = self.pulled(&name, of, expr);
        let Pulled { parameters, result, wanted } = pulled.unwrap_or_else(|stop| {
            self.report(stop);
            // Only the names of the parameters are known.
            let names = self.pulled_parameters().into_iter();
            let parameters = names.map(|(name, _)| (name, Value::Poison)).collect();
            Pulled { parameters, result: Value::Poison, wanted: BTreeSet::new() }
        });
        let mut operands = result.leaves();
        operands.extend(parameters.iter().flat_map(|(_, value)| value.leaves()));
        let structures: Vec<_> = parameters.iter().map(|(_, value)| self.structure_of(value)).collect();
        let (of_result, is_sound) = (self.structure_of(&result), !matches!(result, Value::Poison));
        let outside = Outside {
            builder: mem::replace(&mut self.builder, Builder::new()),
            made: mem::take(&mut self.made),
            literals_made: mem::take(&mut self.literals.made),
            value_names: mem::take(&mut self.value_names),
            derived: mem::take(&mut self.derived),
            result,
            operands,
        };
        let (mut names_inside, mut flows_to) = (VariableScopes::default(), Vec::new());
        for ((name, value), structure) in parameters.into_iter().zip(structures) {
            let is_known = matches!(value, Value::Poison | Value::Literal(_) | Value::Word(_));
            let value = if is_known { value } else { self.inputs_of(&name, &structure) };
            if wanted.contains(&name) {
                flows_to.push((name.clone(), (!is_known).then(|| value.clone())));
            }
            names_inside.bind(name, Binding::Local(value));
        }
        let result = is_sound.then(|| {
            [(names[0], "y"), (names[1], "dy")].map(|(pattern, base)| {
                let name = match pattern {
                    Pattern::Name(name) => name.to_string(),
                    // No parameter can have this name.
                    Pattern::Wildcard(_) | Pattern::Tuple { .. } | Pattern::Struct { .. } => {
                        format!("_.{base}")
                    }
                };
                self.inputs_of(&name, &of_result)
            })
        });
        OpenPullback { name, names: names_inside, result, wanted: flows_to, form_data: outside }
    }

    fn flow(
        &mut self,
        (value, at): (&Value, ExprId),
        (_, parameter): (&str, &Value),
        what: &str,
    ) -> Lowered<Vec<ValueId>> {
        let structure = self.structure_of(parameter);
        Ok(self.coerce(value, &structure, at, what)?.leaves())
    }

    fn end_pullback(
        &mut self,
        pullback: OpenPullback,
        flows: Lowered<Vec<ValueId>>,
        expr: ExprId,
    ) -> Lowered<Value> {
        let Outside { builder, made, literals_made, value_names, derived, result, operands } =
            pullback.form_data;
        let inner = mem::replace(&mut self.builder, builder);
        (self.made, self.literals.made, self.value_names, self.derived) =
            (made, literals_made, value_names, derived);
        let outputs = flows?;
        if outputs.is_empty() {
            return Ok(result);
        }
        let site = self.body[expr].site;
        let nested = Nested::new(inner.finish(outputs))
            .map_err(|fault| Diag::new(Code::E1008, site, format!("`pullback`: {fault}")))?;
        let count = self.builder.insts().len() + nested.size();
        if count > MAX_INSTRUCTIONS {
            return Err(too_many(&pullback.name, count, site).into());
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
}

impl BodyLowering<'_> {
    fn hold(&mut self, op: Op, operands: &[ValueId], expr: ExprId) -> Lowered<ValueId> {
        let held = self.builder.push(op, operands).map_err(|error| {
            Stop::from(Diag::new(error.code, self.body[expr].site, format!("`pullback`: {error}")))
        })?;
        self.made.push(Some(expr));
        Ok(held)
    }

    /// The parameters with their values.
    fn pulled_parameters(&self) -> Vec<(String, Value)> {
        let of_frame = |frame: &Frame<'_>| {
            let given = frame.parameters();
            given.map(|(parameter, value)| (parameter.name.to_string(), value.clone())).collect()
        };
        let names = self.signature.parameters.iter().map(|parameter| parameter.name.clone());
        let of_function = || names.zip(self.versions.iter().cloned()).collect();
        self.frames.last().map_or_else(of_function, of_frame)
    }

    /// The parameters and the result to which a pullback belongs.
    fn pulled(&mut self, name: &str, of: Option<ExprId>, expr: ExprId) -> Lowered<Pulled> {
        let site = self.body[expr].site;
        let update = self.signature.parameters.iter().find(|parameter| parameter.update);
        if let Some(update) = update.filter(|_| self.frames.is_empty()) {
            return Err(not_pure(name, update, site, "have gradients").into());
        }
        let is_template = !self.frames.is_empty();
        let result = match is_template {
            true => {
                let value = of.map_or_else(Value::unit, |of| self.values[of.index()].clone());
                self.infer(value, of.unwrap_or(expr))?
            }
            false => self.declared(of, expr.index())?.1,
        };
        let (mut parameters, mut wanted) = (Vec::new(), BTreeSet::new());
        for (parameter, value) in self.pulled_parameters() {
            let value = match value {
                Value::Poison => return Err(Stop::Poisoned),
                Value::Literal(_) | Value::Word(_) => value,
                Value::Tensor(_) | Value::Tuple(_) | Value::Struct(_) => self.infer(value, expr)?,
            };
            let structure = self.structure_of(&value);
            let floats = structure.leaves().iter().filter(|leaf| leaf.dtype.is_float()).count();
            if floats > 0 && floats < structure.leaves().len() {
                let message = format!(
                    "`{parameter}` of `{name}` contains floats and other values, and only floats have a cotangent"
                );
                return Err(Diag::new(Code::E5005, site, message)
                    .help("pass the floats and the other values as separate parameters")
                    .into());
            }
            if floats > 0 || self.is_number_of_floats(&value) {
                wanted.insert(parameter.clone());
            }
            parameters.push((parameter, value));
        }
        if wanted.is_empty() && !is_template {
            return Err(no_floats(name, site).into());
        }
        let of_result = self.structure_of(&result);
        let leaves = of_result.leaves();
        match leaves.iter().find(|leaf| !leaf.dtype.is_float()) {
            Some(other) => {
                let message =
                    format!("`{name}` returns {other}, needed f32 or f64: only floats have a cotangent");
                Err(Diag::new(Code::E2005, site, message).into())
            }
            None if leaves.is_empty() => {
                let message = format!("`{name}` returns no value that has a cotangent");
                Err(Diag::new(Code::E2005, site, message).into())
            }
            None => Ok(Pulled { parameters, result, wanted }),
        }
    }

    /// Adds inputs to the module for a value of this structure.
    fn inputs_of(&mut self, name: &str, structure: &Structure) -> Value {
        let single = matches!(structure, Structure::Value(_));
        let mut inputs = Vec::new();
        for (at, ty) in structure.leaves().into_iter().enumerate() {
            let name = if single { name.to_owned() } else { format!("{name}.{at}") };
            let input = self.builder.input(name, ty.clone());
            inputs.push(input.expect("names differ, and the types are of values"));
            self.made.push(None);
        }
        Value::rebuilt(structure, &mut inputs.into_iter())
    }
}

/// The error for the pullback of a template that cannot have a floating-point parameter.
pub(crate) fn useless_pullback(template: &Template) -> Option<Diag> {
    let site = template.body.as_ref()?.pullback()?;
    let floats = template.parameters.iter().any(|parameter| parameter.takes.may_be_floats(template));
    (!floats).then(|| no_floats(&template.name.to_string(), site))
}

fn no_floats(name: &str, site: Site) -> Diag {
    let message = format!("`{name}` has no float parameter, so a `pullback` has no cotangent to return");
    Diag::new(Code::E5005, site, message).help("remove the `pullback`")
}

/// The parameters and the result to which a pullback belongs.
struct Pulled {
    parameters: Vec<(String, Value)>,
    /// The result, with its declared type.
    result: Value,
    /// The parameters that have a cotangent.
    wanted: BTreeSet<String>,
}
