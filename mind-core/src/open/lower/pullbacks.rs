//! Templates that tell their derivatives, in expressions: what [`crate::open`] has of them.

use std::mem;

use super::lowering::{Lowering, OpenPullback};
use super::roles::key;
use crate::diag::{Code, Diag};
use crate::open::pullbacks::CustomPullback;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId};
use crate::surface::ast::{ExprId, Pattern};
use crate::surface::lower::body::pullbacks::miscounted;
use crate::surface::lower::builtins::operations::TypedOperand;
use crate::surface::lower::values::expressions::{Bound, Expressions};
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::templates::Frame;
use crate::surface::lower::values::{Binding, Lowered, Names, Record, Stop, Value};
use crate::ty::DType;

impl Lowering<'_> {
    /// Begins the pullback of the template that is being lowered, whose body has the value `of`.
    pub(super) fn enter_pullback(&mut self, names: [&Pattern; 2], of: Option<ExprId>, expr: ExprId) {
        let frame = self.frames.last().expect("in an expression only templates have pullbacks");
        let parameters = frame.parameters();
        let parameters: Vec<_> = parameters
            .map(|(parameter, value)| {
                (parameter.name.clone(), value.clone(), parameter.takes.may_be_floats(&frame.template))
            })
            .collect();
        let (mut inside, mut wanted, mut sound) = (Names::default(), Vec::new(), true);
        for (name, value, may_be_floats) in parameters {
            match &value {
                Value::Poison => sound = false,
                // As it would be by itself: `2` is none of floats. What the element type of a tensor is, is not known.
                Value::Literal(id)
                    if may_be_floats
                        && self.literals.is_number(*id)
                        && !self.literals.fits(*id, DType::I64) =>
                {
                    wanted.push((name.to_string(), None));
                }
                Value::Tensor(_) | Value::Struct(_) if may_be_floats => {
                    wanted.push((name.to_string(), Some(value.clone())));
                }
                Value::Tensor(_)
                | Value::Literal(_)
                | Value::Tuple(_)
                | Value::Struct(_)
                | Value::Word(_) => {}
            }
            inside.bind(key(&name), Binding::Local(value));
        }
        let value = of.map_or_else(Value::unit, |of| self.value(of).clone());
        let structure = match sound {
            true => self.structure(&value, of.unwrap_or(expr)).map_err(|stop| self.report(stop)).ok(),
            false => None,
        };
        let passed = structure.map(|structure| {
            let (results, stand_ins) = self.graph.passed_on(&structure.nodes());
            (rebuilt(&value, &mut results.iter().copied()), value.clone(), results, stand_ins)
        });
        for (which, pattern) in names.into_iter().enumerate() {
            let value = passed.as_ref().map_or(Value::Poison, |(value, before, _, stand_ins)| match which {
                0 => value.clone(),
                _ => rebuilt(before, &mut stand_ins.iter().copied()),
            });
            let Bound { names, mistakes } = self.bound_by(pattern, value, of.unwrap_or(expr));
            mistakes.into_iter().for_each(|mistake| self.report(mistake.into()));
            for (name, value) in names {
                inside.bind(key(name), Binding::Local(value));
            }
        }
        let outside = mem::replace(&mut self.names, inside);
        let passed = passed.map(|(value, _, results, stand_ins)| (value, results, stand_ins));
        let start = self.graph.nodes.len();
        self.pullbacks.push(OpenPullback { outside, passed, wanted, start });
    }

    /// Ends the pullback, of which `tail` is the value: gives the result with this derivative.
    pub(super) fn leave_pullback(&mut self, tail: Option<ExprId>, expr: ExprId) -> Lowered<Value<NodeId>> {
        let OpenPullback { outside, passed, wanted, start } =
            self.pullbacks.pop().expect("a pullback is left once it was entered");
        self.names = outside;
        let (value, results, stand_ins) = passed.ok_or(Stop::Poisoned)?;
        let flows = self.flows(tail, expr, &wanted)?;
        let body = start..self.graph.nodes.len();
        let nodes = body.clone().map(NodeId::new);
        let effects: Vec<_> = nodes.filter(|node| self.graph.node(*node).op.is_effect()).collect();
        self.graph.silent.extend(effects);
        self.graph.pullbacks.add(CustomPullback { results, stand_ins, flows, body });
        Ok(value)
    }

    /// What flows back to each parameter.
    fn flows(
        &mut self,
        tail: Option<ExprId>,
        expr: ExprId,
        wanted: &[(String, Option<Value<NodeId>>)],
    ) -> Lowered<Vec<(NodeId, NodeId)>> {
        let at = tail.unwrap_or(expr);
        let value = tail.map_or_else(Value::unit, |tail| self.value(tail).clone());
        let name = self.frames.last().map(Frame::name).unwrap_or_default();
        let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
        let parts: Vec<Value<NodeId>> = match (&value, wanted.len()) {
            (Value::Poison, _) => return Err(Stop::Poisoned),
            (_, 0) => return Ok(Vec::new()),
            (Value::Tuple(tuple), count) if count > 1 && tuple.elements.len() == count => {
                tuple.elements.to_vec()
            }
            (Value::Tuple(tuple), _) => {
                return Err(miscounted(&name, tuple.elements.len(), &names, self.site(at)).into());
            }
            (_, 1) => vec![value],
            (_, _) => return Err(miscounted(&name, 1, &names, self.site(at)).into()),
        };
        let mut flows = Vec::new();
        for (part, (parameter, of)) in parts.into_iter().zip(wanted) {
            let Some(whole) = of else { continue };
            let site = self.site(at);
            let label = format!("what flows back to `{parameter}` of `{name}`");
            let nodes = match (part, whole) {
                (Value::Poison, _) => return Err(Stop::Poisoned),
                (Value::Struct(part), Value::Struct(whole)) if self.is_same_struct(&part.ty, &whole.ty) => {
                    part.sound()?.leaves()
                }
                (Value::Tensor(node), Value::Tensor(_)) => vec![node],
                (Value::Literal(id), Value::Tensor(of)) => {
                    let typed = TypedOperand {
                        other: *of,
                        other_expr: at,
                        label: "pullback",
                        site,
                        is_operator: false,
                    };
                    vec![self.constant_beside(id, typed)?]
                }
                (
                    part @ (Value::Tensor(_)
                    | Value::Literal(_)
                    | Value::Struct(_)
                    | Value::Tuple(_)
                    | Value::Word(_)),
                    whole,
                ) => {
                    let (needed, found) = (self.type_text(whole), self.type_text(&part));
                    let message = format!("{label}: expected {needed}, found {found}");
                    return Err(Diag::new(Code::E2001, site, message).into());
                }
            };
            for (of, node) in whole.leaves().into_iter().zip(nodes) {
                let (label, others) = (label.clone(), vec![(of, parameter.clone())]);
                let contract = Contract { label, pattern: String::new(), demand: Demand::Type, others };
                let (kind, text) = (CheckKind::Argument(Box::new(contract)), self.text(at));
                self.checks.push(Check { kind, node, text, site });
                flows.push((of, node));
            }
        }
        Ok(flows)
    }
}

/// The same with other nodes, taken in order.
fn rebuilt(value: &Value<NodeId>, nodes: &mut dyn Iterator<Item = NodeId>) -> Value<NodeId> {
    match value {
        Value::Tuple(tuple) => {
            let elements = tuple.elements.iter().map(|element| rebuilt(element, nodes)).collect();
            Value::tuple(elements).expect("it was a tuple before")
        }
        Value::Struct(record) => {
            let fields = record.fields.iter().map(|field| rebuilt(field, nodes)).collect();
            Record::value((*record.ty).clone(), fields)
        }
        Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Word(_) => {
            Value::Tensor(nodes.next().expect("there is a node for each of the value"))
        }
    }
}
