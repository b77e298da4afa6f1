//! Templates in expressions that define their derivatives: the part that is specific to [`crate::open`].

use super::lowering::{ExpressionLowering, OpenPullback};
use super::roles::key;
use crate::diag::{Code, Diag};
use crate::open::pullbacks::CustomPullback;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId};
use crate::surface::ast::{ExprId, Pattern};
use crate::surface::lower::builtins::operations::{Operations, TypedOperand};
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::pullbacks::Pullbacks;
use crate::surface::lower::values::{Binding, Lowered, Record, Stop, Value, VariableScopes};

impl Pullbacks for ExpressionLowering<'_> {
    type PullbackData = CustomPullback;

    fn pullbacks_mut(&mut self) -> &mut Vec<OpenPullback> {
        &mut self.pullbacks
    }

    fn begin_pullback(&mut self, _: [&Pattern; 2], of: Option<ExprId>, expr: ExprId) -> OpenPullback {
        let frame = self.frames.last().expect("in an expression only templates have pullbacks");
        let name = frame.name();
        let (mut names, mut wanted, mut is_sound) = (VariableScopes::default(), Vec::new(), true);
        for (parameter, value) in frame.parameters() {
            is_sound &= !matches!(value, Value::Poison);
            // The element type of a tensor is not known here.
            let of = matches!(value, Value::Tensor(_) | Value::Struct(_)).then(|| value.clone());
            let is_wanted = parameter.takes.may_be_floats(&frame.template)
                && (of.is_some() || self.is_number_of_floats(value));
            wanted.extend(is_wanted.then(|| (parameter.name.to_string(), of)));
            names.bind(key(&parameter.name), Binding::Local(value.clone()));
        }
        let value = of.map_or_else(Value::unit, |of| self.value(of).clone());
        let structure = match is_sound {
            true => self.structure(&value, of.unwrap_or(expr)).map_err(|stop| self.report(stop)).ok(),
            false => None,
        };
        let nodes = structure.map_or_else(Vec::new, |structure| structure.nodes());
        let (results, stand_ins) = self.graph.passed_on(&nodes);
        let of_nodes = |nodes: &[NodeId]| rebuilt(&value, &mut nodes.iter().copied());
        let result = (!nodes.is_empty()).then(|| [&results, &stand_ins].map(|nodes| of_nodes(nodes)));
        let start = self.graph.nodes.len();
        let form_data = CustomPullback { results, stand_ins, flows: Vec::new(), body: start..start };
        OpenPullback { name, names, result, wanted, form_data }
    }

    fn flow(
        &mut self,
        (part, at): (&Value<NodeId>, ExprId),
        (parameter, whole): (&str, &Value<NodeId>),
        what: &str,
    ) -> Lowered<Vec<NodeId>> {
        let site = self.site(at);
        let nodes = match (part, whole) {
            (Value::Struct(part), Value::Struct(whole)) if self.is_same_struct(&part.ty, &whole.ty) => {
                part.sound()?.leaves()
            }
            (Value::Tensor(node), Value::Tensor(_)) => vec![*node],
            (Value::Literal(id), Value::Tensor(other)) => {
                let (other, other_expr, label) = (*other, at, "pullback");
                vec![self.literal_beside(
                    (*id, at),
                    TypedOperand { other, other_expr, label, site, is_operator: false },
                )?]
            }
            (Value::Poison, _) => return Err(Stop::Poisoned),
            (
                Value::Tensor(_) | Value::Literal(_) | Value::Struct(_) | Value::Tuple(_) | Value::Word(_),
                _,
            ) => {
                let (needed, found) = (self.type_text(whole), self.type_text(part));
                let message = format!("{what}: expected {needed}, found {found}");
                return Err(Diag::new(Code::E2001, site, message).into());
            }
        };
        for (of, node) in whole.leaves().into_iter().zip(&nodes) {
            let (label, others) = (what.to_owned(), vec![(of, parameter.to_owned())]);
            let contract = Contract { label, pattern: String::new(), demand: Demand::Type, others };
            let (kind, text) = (CheckKind::Argument(Box::new(contract)), self.text(at));
            self.checks.push(Check { kind, node: *node, text, site });
        }
        Ok(nodes)
    }

    fn end_pullback(
        &mut self,
        pullback: OpenPullback,
        flows: Lowered<Vec<NodeId>>,
        _: ExprId,
    ) -> Lowered<Value<NodeId>> {
        let parameters = pullback.wanted.iter().filter_map(|(_, of)| of.as_ref()).flat_map(Value::leaves);
        let flows = parameters.zip(flows?).collect();
        let body = pullback.form_data.body.start..self.graph.nodes.len();
        let nodes = body.clone().map(NodeId::new);
        let effects: Vec<_> = nodes.filter(|node| self.graph.node(*node).op.is_effect()).collect();
        self.graph.silent.extend(effects);
        self.graph.pullbacks.add(CustomPullback { flows, body, ..pullback.form_data });
        let [value, _] = pullback.result.ok_or(Stop::Poisoned)?;
        Ok(value)
    }
}

/// Rebuilds a value with other nodes, taken in order.
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
