//! What messages about a node need.

use super::lowering::Lowering;
use crate::diag::Site;
use crate::open::{NodeId, Op, Operand, Spot};
use crate::surface::ast::ExprId;
use crate::surface::lower::expressions::Expressions;

impl Lowering<'_> {
    /// The spot of an operation written as `label` whose operands are these.
    pub(super) fn spot(&self, label: &'static str, expr: ExprId, operands: &[ExprId]) -> Spot {
        let operand = |operand: &ExprId| Operand {
            text: self.text(*operand),
            operand_text: self.operand_text(*operand),
            site: self.site(*operand),
        };
        Spot {
            label,
            within: self.within(),
            site: self.site(expr),
            is_operator: false,
            operands: operands.iter().map(operand).collect(),
            attributes: Vec::new(),
        }
    }

    /// A node that is written.
    ///
    /// Extents in a shape that are those of other nodes become extents of operands.
    pub(super) fn emit(&mut self, mut op: Op, operands: &[NodeId], spot: Spot) -> NodeId {
        let mut operands = operands.to_vec();
        for dim in op.written_shape().into_iter().flatten() {
            let (own, witnesses) = self.over_operands(dim, operands.len());
            *dim = own;
            operands.extend(witnesses.into_iter().map(|(node, _)| node));
        }
        self.graph.add(op, &operands, Some(spot))
    }
}

impl Spot {
    /// At an operator sign.
    pub(super) fn at_operator(self, site: Site) -> Self {
        Self { site, is_operator: true, ..self }
    }

    /// With the place of an attribute.
    pub(super) fn attribute(mut self, name: &'static str, site: Site) -> Self {
        self.attributes.push((name, site));
        self
    }
}
