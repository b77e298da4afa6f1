//! Templates in expressions. The arguments of a call are checked against the parameters once types are known.

use std::collections::BTreeMap;

use super::lowering::ExpressionLowering;
use crate::dim::Dim;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId};
use crate::surface::ast::{ElementPattern, ExprId, Home, Template, TensorPattern};
use crate::surface::lower::Structure;
use crate::surface::lower::builtins::operations::{Operations, TypedOperand};
use crate::surface::lower::declarations::types::DimNames;
use crate::surface::lower::values::expressions::Expressions;
use crate::surface::lower::values::literals::LiteralId;
use crate::surface::lower::values::params::ParameterRef;
use crate::surface::lower::values::records::Records;
use crate::surface::lower::values::templates::{self, Templates};
use crate::surface::lower::values::tensors::Tensors;
use crate::surface::lower::values::{Binding, Lowered, Stop, Value, Word};
use crate::ty::Type;
use crate::written::ExtentRef;

type Frame = templates::Frame<NodeId, BTreeMap<usize, usize>>;
type DeducedFrom = templates::DeducedFrom<NodeId>;

impl Templates for ExpressionLowering<'_> {
    /// The arguments that are passed as places: the position of each in `passed`, by its position among the parameters.
    type FormData = BTreeMap<usize, usize>;

    fn frames(&self) -> &Vec<Frame> {
        &self.frames
    }

    fn frames_mut(&mut self) -> &mut Vec<Frame> {
        &mut self.frames
    }

    fn node(&mut self, expr: ExprId) -> Lowered<Value<NodeId>> {
        self.lower_node(expr)
    }

    fn form_data(&mut self, _: &Template, arguments: &[ExprId]) -> BTreeMap<usize, usize> {
        let mut places = BTreeMap::new();
        for (position, argument) in arguments.iter().enumerate() {
            if let Some(place) = self.places.remove(argument) {
                self.passed.push(place);
                places.insert(position, self.passed.len() - 1);
            }
        }
        places
    }

    fn bound_otherwise(places: &BTreeMap<usize, usize>, parameter: usize) -> Option<Binding<NodeId>> {
        places.get(&parameter).map(|place| Binding::Parameter(*place))
    }

    fn home(&self, template: &Template) -> DimNames {
        match template.home {
            Home::Elsewhere(home) => self.table.scope(0).of_home(home).1.clone(),
            Home::ThisBlock | Home::Library(_) => DimNames::default(),
        }
    }

    fn given_literal(
        &mut self,
        (literal, argument): (LiteralId, ExprId),
        pattern: &TensorPattern,
        first: Option<DeducedFrom>,
    ) -> Lowered<NodeId> {
        match (&pattern.elements, first) {
            (ElementPattern::Fixed(dtype), _) if self.literals.fits(literal, *dtype) => {
                self.materialise(literal, *dtype)
            }
            (_, Some(DeducedFrom { tensor: other, argument: other_expr, .. })) => {
                let (label, site) = ("argument", self.site(argument));
                let typed = TypedOperand { other, other_expr, label, site, is_operator: false };
                self.literal_beside((literal, argument), typed)
            }
            (_, None) => self.tensor(argument, None),
        }
    }

    fn demand(
        &mut self,
        param: ParameterRef<'_>,
        from: DeducedFrom,
        demand: Demand,
        others: &[DeducedFrom],
    ) -> Lowered<()> {
        let mut others: Vec<_> = others.iter().map(|other| (other.tensor, other.argument)).collect();
        let demand = match demand {
            Demand::Extent { axis, name, extent } => {
                others.clear();
                let extent = self.over_operands(&extent, 1, &mut others);
                Demand::Extent { axis, name, extent }
            }
            demand => demand,
        };
        let pattern = param.parameter.takes.pattern().map(ToString::to_string).unwrap_or_default();
        let others = others.into_iter().map(|(node, argument)| (node, self.giver_text(node, argument)));
        let label = match self.field_text(from.tensor, from.argument) {
            Some(field) => format!("{} for field `{field}`", param.label()),
            None => param.label(),
        };
        let contract = Contract { label, pattern, demand, others: others.collect() };
        let (text, site) = (self.giver_text(from.tensor, from.argument), self.site(from.argument));
        let kind = CheckKind::Argument(Box::new(contract));
        self.checks.push(Check { kind, node: from.tensor, text, site });
        Ok(())
    }

    fn element_type(&self, from: DeducedFrom) -> Word {
        Word::ElementsOf(from.argument)
    }

    fn extent(&mut self, name: &str, from: DeducedFrom, axis: usize) -> Dim {
        let axis = -i64::try_from(axis).expect("a rank is small");
        self.extent_symbol(name, from.tensor, ExtentRef::Axis(axis), from.argument)
    }

    fn leading(&mut self, name: &str, from: DeducedFrom) -> Vec<Dim> {
        vec![self.extent_symbol(name, from.tensor, ExtentRef::Leading(from.last), from.argument)]
    }

    fn result_of_field(
        &mut self,
        result: &Value<NodeId>,
        ty: Type,
        label: String,
        expr: ExprId,
        (like, field): (NodeId, &str),
    ) -> Lowered<NodeId> {
        let value = self.convert_field(result, &Structure::Value(ty), expr, &label)?;
        let Value::Tensor(node) = value else { return Err(Stop::Poisoned) };
        let others = vec![(like, format!("field `{field}`"))];
        let contract = Contract { label, pattern: String::new(), demand: Demand::Type, others };
        let (kind, text) = (CheckKind::Argument(contract.into()), self.text(expr));
        self.checks.push(Check { kind, node, text, site: self.site(expr) });
        Ok(node)
    }
}

impl ExpressionLowering<'_> {
    /// The text of an argument in messages, or of the field of it that is given.
    fn giver_text(&self, node: NodeId, argument: ExprId) -> String {
        match self.field_text(node, argument) {
            Some(field) => format!("{}.{field}", self.short_text(argument)),
            None => self.text(argument),
        }
    }
}
