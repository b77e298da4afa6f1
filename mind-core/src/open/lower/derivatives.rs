//! `grad`, `value_and_grad` and `vjp` of expressions.

use super::lowering::ExpressionLowering;
use crate::diag::{Code, Diag};
use crate::open::grad::{Fault, blocks, differentiate, is_flat};
use crate::open::{Check, CheckKind, Constant, NodeId, Op, Own};
use crate::surface::ast::{Derivative, ExprId, GradientKind, WrtPlace};
use crate::surface::lower::Structure;
use crate::surface::lower::builtins::operations::{Operations, TypedOperand};
use crate::surface::lower::declarations::names::nearest;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::lower::Lower;
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Lowered, Value};

impl ExpressionLowering<'_> {
    pub(super) fn derivative(&mut self, derivative: &Derivative, expr: ExprId) -> Lowered<Value<NodeId>> {
        let Derivative { kind, value, wrt, tuple, wrt_site, cotangent, site } = derivative;
        let label = kind.name();
        let outputs = self.outputs(derivative)?;
        let places = wrt.iter().map(|target| self.target(target)).collect::<Result<Vec<_>, _>>()?;
        for (position, place) in places.iter().enumerate() {
            let is_same = |first: &Vec<NodeId>| first.iter().any(|node| place.contains(node));
            if let Some(first) = places[..position].iter().position(is_same) {
                let place = wrt[position].place;
                let message = format!("{} is listed twice", self.text(place));
                let diag = Diag::new(Code::E2008, self.site(place), message);
                return Err(diag.note_at(self.site(wrt[first].place), "it is listed first").into());
            }
        }
        let targets = places.concat();
        let seeds = match cotangent {
            Some(cotangent) => self.seeds(&outputs, *value, *cotangent)?,
            None => {
                let output = outputs[0];
                let (text, site) = (self.text(*value), *site);
                self.checks.push(Check { kind: CheckKind::Scalar(*kind), node: output, text, site });
                self.graph.assume_scalar(output);
                vec![self.graph.derive(Op::Const(Box::new(Constant::number(1.0))), &[output])]
            }
        };
        let seeded: Vec<_> = outputs.iter().copied().zip(seeds).collect();
        let found = differentiate(&mut self.graph, &seeded, &targets);
        let found = found.map_err(|fault| match fault {
            Fault::TooLarge => self.check_size(expr).expect_err("the graph is beyond the limit"),
        })?;
        let (mut gradients, mut found) = (Vec::new(), found.into_iter());
        for (target, nodes) in wrt.iter().zip(&places) {
            let flows: Vec<_> = found.by_ref().take(nodes.len()).collect();
            // A struct counts as reached if one of its fields is.
            let reached = flows.iter().any(Option::is_some);
            let mut parts = Vec::new();
            for (node, gradient) in nodes.iter().zip(flows) {
                let leaf = self.graph.node(*node).op.input_name().expect("a target is a leaf");
                let (text, place) = (self.leaves[leaf.index()].text.clone(), self.site(target.place));
                let check = Check { kind: CheckKind::Differentiable, node: *node, text, site: place };
                self.checks.push(check);
                parts.push(match gradient {
                    Some(gradient) => gradient,
                    None if reached || target.zero_ok || is_flat(&self.graph, *node, &outputs) => {
                        self.graph.derive(Op::Own(Own::FilledLike { one: false }), &[*node])
                    }
                    None => {
                        let message = format!("`{label}`: {}", self.unreached(*node, target, &outputs));
                        let diag = Diag::new(Code::E5005, *wrt_site, message);
                        return Err(self.help_unreached(diag, *node, target).into());
                    }
                });
            }
            gradients.push(if let Value::Struct(record) = self.value(target.place) {
                let structure = Structure::Struct((*record.ty).clone());
                Value::rebuilt(&structure, &mut parts.into_iter())
            } else {
                Value::Tensor(parts[0])
            });
        }
        self.check_size(expr)?;
        let gradient = match *tuple || gradients.len() > 1 {
            true => self.tuple(gradients, expr)?,
            false => gradients.swap_remove(0),
        };
        match kind {
            GradientKind::ValueAndGrad => {
                let value = self.value(*value).clone();
                self.tuple(vec![value, gradient], expr)
            }
            GradientKind::Grad | GradientKind::Vjp => Ok(gradient),
        }
    }

    /// The tensors that are differentiated: one, or the elements of a tuple for `vjp`.
    fn outputs(&mut self, derivative: &Derivative) -> Lowered<Vec<NodeId>> {
        let value = self.value(derivative.value).clone();
        let several = matches!((&value, derivative.kind), (Value::Tuple(_), GradientKind::Vjp));
        match &value {
            // A loss, and further values that are passed through.
            Value::Tuple(tuple)
                if derivative.kind == GradientKind::ValueAndGrad
                    && matches!(tuple.elements.first(), Some(Value::Tensor(_))) =>
            {
                Ok(tuple.elements.iter().take(1).flat_map(|loss| loss.tensor()).collect())
            }
            Value::Tuple(tuple) if !several => {
                let message = format!(
                    "`{}`: {} is a tuple of {}, needed a single f32 or f64",
                    derivative.kind.name(),
                    self.text(derivative.value),
                    tuple.elements.len()
                );
                let diag = Diag::new(Code::E5004, derivative.site, message);
                Err(diag.help("differentiate one element, or give cotangents with `vjp`").into())
            }
            Value::Tuple(_) => Ok(self.structure(&value, derivative.value)?.nodes()),
            Value::Poison | Value::Tensor(_) | Value::Literal(_) | Value::Struct(_) | Value::Word(_) => {
                Ok(vec![self.tensor(derivative.value, None)?])
            }
        }
    }

    /// The leaf of a place, or the leaves of a struct.
    fn target(&mut self, target: &WrtPlace) -> Lowered<Vec<NodeId>> {
        let nodes = if let Value::Struct(record) = self.value(target.place) {
            record.sound()?.leaves()
        } else {
            vec![self.tensor(target.place, None)?]
        };
        if nodes.iter().all(|node| self.graph.node(*node).op.is_input()) {
            return Ok(nodes);
        }
        let text = self.text(target.place);
        let message = format!(
            "{text} is bound by `let`: a gradient is only with respect to Rust variables of the expression"
        );
        Err(Diag::new(Code::E5005, self.site(target.place), message).into())
    }

    /// The cotangents of the outputs.
    fn seeds(&mut self, outputs: &[NodeId], value: ExprId, cotangent: ExprId) -> Lowered<Vec<NodeId>> {
        let (whole, given) = (self.value(value).clone(), self.value(cotangent).clone());
        let Some(pairs) = pairs(&whole, &given) else {
            let message = format!(
                "argument `cotangent` of `vjp`: expected {}, found {}",
                self.type_text(&whole),
                self.type_text(&given)
            );
            return Err(Diag::new(Code::E2001, self.site(cotangent), message).into());
        };
        let mut seeds = Vec::new();
        for (seed, output) in pairs.into_iter().zip(outputs) {
            let (text, site) = (self.text(cotangent), self.site(cotangent));
            let node = match seed {
                Value::Literal(id) => {
                    let typed = TypedOperand {
                        other: *output,
                        other_expr: value,
                        label: "vjp",
                        site,
                        is_operator: false,
                    };
                    self.literal_beside((*id, cotangent), typed)?
                }
                seed => self.structure(seed, cotangent)?.nodes()[0],
            };
            self.checks.push(Check { kind: CheckKind::CotangentOf(*output), node, text, site });
            seeds.push(node);
        }
        Ok(seeds)
    }

    /// Why a leaf has no gradient.
    fn unreached(&self, leaf: NodeId, target: &WrtPlace, outputs: &[NodeId]) -> String {
        let text = self.text(target.place);
        let several = if outputs.len() == 1 { "the output" } else { "any output" };
        let blocks = blocks(&self.graph, leaf, outputs);
        let labels: Vec<_> = blocks.iter().map(|label| format!("`{label}`")).collect();
        if labels.is_empty() {
            return format!("{text} does not reach {several}");
        }
        let through = labels.join(" and ");
        format!("{text} reaches {several} only through {through}, which has no derivative with respect to it")
    }

    /// Adds a help message. If nothing reads the leaf, the help suggests the place that was probably meant.
    fn help_unreached(&self, diag: Diag, leaf: NodeId, target: &WrtPlace) -> Diag {
        let read = self.graph.nodes.iter().any(|node| node.operands.contains(&leaf));
        if read {
            return diag
                .help(format!("write `zero_ok {}` for a gradient of zeros", self.short_text(target.place)));
        }
        let Some(own) = self.graph.node(leaf).op.input_name() else { return diag };
        let others = self
            .leaves
            .iter()
            .enumerate()
            .filter(|(position, other)| *position != own.index() && other.is_place);
        let text = self.short_text(target.place);
        match nearest(&text, others.map(|(_, other)| other.text.as_str())) {
            Some(near) => diag.help(format!("write `{near}`")),
            None => diag,
        }
    }
}

/// The parts of a cotangent, one for each tensor of `value`; `None` if their tuples differ.
fn pairs<'a>(value: &Value<NodeId>, cotangent: &'a Value<NodeId>) -> Option<Vec<&'a Value<NodeId>>> {
    match (value, cotangent) {
        (Value::Tuple(a), Value::Tuple(b)) if a.elements.len() == b.elements.len() => {
            let parts = a.elements.iter().zip(b.elements.iter()).map(|(a, b)| pairs(a, b));
            parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
        }
        (Value::Tuple(_), _) | (_, Value::Tuple(_)) => None,
        (_, cotangent) => Some(vec![cotangent]),
    }
}
