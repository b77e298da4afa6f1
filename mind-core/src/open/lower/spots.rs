//! The data for messages about a node.

use mind_shape::Written;

use super::lowering::ExpressionLowering;
use crate::diag::Site;
use crate::open::{NodeId, Op, Operand, Spot};
use crate::surface::ast::ExprId;
use crate::surface::lower::values::expressions::Expressions;

impl ExpressionLowering<'_> {
    /// The spot of an operation written as `label` with these operands.
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

    /// Adds a written node.
    ///
    /// Extents of other nodes in its attributes become extents of additional operands, which come last.
    pub(super) fn emit(&mut self, mut op: Op, operands: &[NodeId], spot: Spot) -> NodeId {
        let mut extent_witnesses = Vec::new();
        for dim in op.dims_mut() {
            *dim = self.over_operands(dim, operands.len(), &mut extent_witnesses);
        }
        let extent_witnesses = extent_witnesses.into_iter().map(|(node, _)| node);
        let operands: Vec<NodeId> = operands.iter().copied().chain(extent_witnesses).collect();
        self.graph.add(op, &operands, Some(spot))
    }
}

impl Spot {
    /// Sets the site to an operator sign.
    pub(super) fn at_operator(self, site: Site) -> Self {
        Self { site, is_operator: true, ..self }
    }

    /// Adds the site of an attribute.
    pub(super) fn attribute(mut self, name: &'static str, site: Site) -> Self {
        self.attributes.push((Written::Attribute(name), site));
        self
    }

    /// Adds the sites of subscripts. `None` is a `..` that may stand for any number of axes.
    pub(super) fn subscripts(mut self, sites: &[Option<Site>]) -> Self {
        let rest = sites.iter().position(Option::is_none).unwrap_or(sites.len());
        for (place, site) in sites.iter().enumerate() {
            let behind_rest = if place < rest { 0 } else { sites.len() };
            let Some(site) = site else { continue };
            self.attributes.push((Written::Subscript(place as i64 - behind_rest as i64), *site));
        }
        self
    }
}
