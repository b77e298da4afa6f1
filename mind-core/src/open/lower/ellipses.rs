//! The axes of `...` in `einsum`. Their number is not known here, so they are merged into one axis, and separated again
//! in the result.

use mind_shape::rules::{Elements, Takes};

use super::calls::{axes_text, first_of_last};
use super::lowering::ExpressionLowering;
use crate::dim::Dim;
use crate::map::Map;
use crate::open::{Check, CheckKind, Contract, Demand, NodeId, Op, Operand, Spot};
use crate::surface::ast::ExprId;
use crate::surface::lower::builtins::calls::CallArguments;
use crate::surface::lower::builtins::operations::MergedOperands;
use crate::surface::lower::values::attributes::Attributes;
use crate::surface::lower::values::expressions::Expressions;
use crate::written::einsum::Term;
use crate::written::{ExtentRef, Permutation, permuted_by, reshaped_to, spread};

/// An operand with `...`, whose axes come first.
struct Open {
    /// The position among all operands.
    at: usize,
    node: NodeId,
    expr: ExprId,
    /// The number of letters before `...`. Their axes come last.
    before: usize,
    letters: usize,
    spot: Spot,
}

impl ExpressionLowering<'_> {
    /// The operands with the axes of `...` merged into one, and the extents of these axes in the result.
    pub(super) fn with_merged_ellipses(
        &mut self,
        given: &CallArguments,
        equation: ExprId,
        terms: &[Term],
        operands: &[(NodeId, ExprId)],
    ) -> MergedOperands<NodeId> {
        let mut all = Vec::new();
        for (at, (term, (node, expr))) in terms.iter().zip(operands).enumerate() {
            let Some([before, behind]) = term.around_ellipsis() else { continue };
            self.check_rank_of_term(equation, term, (*node, *expr));
            let spot = self.spot_of_call(given, &[*expr]);
            let to_end = permuted_by(Permutation::Moved { from: 0, to: -1 });
            let node = (0..before).fold(*node, |node, _| self.emit(to_end.clone(), &[node], spot.clone()));
            all.push(Open { at, node, expr: *expr, before, letters: before + behind, spot });
        }
        let of_ellipsis = match &all[..] {
            [] => None,
            [open] => {
                Some(self.extent_symbol("einsum", open.node, ExtentRef::Leading(open.letters), open.expr))
            }
            [..] => {
                let like = self.broadcast_ellipses(given, &all);
                Some(self.extent_symbol("einsum", like, ExtentRef::Leading(0), given.expr))
            }
        };
        let (mut merged, is_broadcast) = (operands.to_vec(), all.len() > 1);
        for open in all {
            let Open { at, mut node, expr, before, spot, .. } = open;
            let letters = i64::try_from(open.letters).expect("a term is short");
            let axes =
                (-letters..0).map(|axis| self.extent_symbol("einsum", node, ExtentRef::Axis(axis), expr));
            let axes: Vec<_> = axes.collect();
            let behind = |first: Dim| [first].into_iter().chain(axes.iter().cloned()).collect();
            if let Some(of_ellipsis) = of_ellipsis.clone().filter(|_| is_broadcast) {
                node = self.emit(spread(behind(of_ellipsis)), &[node], spot.clone());
            }
            node = self.emit(reshaped_to(behind(Dim::literal(-1))), &[node], spot.clone());
            let to_start = permuted_by(Permutation::Moved { from: -1, to: 0 });
            let node = (0..before).fold(node, |node, _| self.emit(to_start.clone(), &[node], spot.clone()));
            merged[at].0 = node;
        }
        (merged, of_ellipsis)
    }

    /// A value whose axes are those of `...`, broadcast. Only its shape is used.
    fn broadcast_ellipses(&mut self, given: &CallArguments, all: &[Open]) -> NodeId {
        let mut like: Option<(NodeId, Operand)> = None;
        for open in all {
            let node = match open.letters {
                0 => open.node,
                letters => self.emit(first_of_last(letters), &[open.node], open.spot.clone()),
            };
            let mut operand = open.spot.operands[0].clone();
            operand.text = format!("`...` of {}", operand.text);
            like = Some(match like {
                None => (node, operand),
                Some((other, first)) => {
                    let spot = self.spot_of_call(given, &[]);
                    let spot = Spot { operands: vec![first, operand.clone()], ..spot };
                    (self.emit(Op::Map(Map::PLUS), &[other, node], spot), operand)
                }
            });
        }
        like.expect("there are several operands").0
    }

    /// Checks that an operand has an axis for each letter of its term.
    pub(super) fn check_rank_of_term(&mut self, equation: ExprId, term: &Term, (node, x): (NodeId, ExprId)) {
        let (rank, open) = (term.letters(), term.is_open());
        let pattern = format!("{}{}", axes_text(rank), if open { " or more" } else { "" });
        let contract = Contract {
            label: "operand of `einsum`".to_owned(),
            pattern,
            demand: Demand::Fits { elements: Elements::Of(Takes::All), rank, open },
            others: Vec::new(),
        };
        let (text, site) = (self.text(x), self.part_of_text(equation, term.at.clone()));
        self.checks.push(Check { kind: CheckKind::Argument(contract.into()), node, text, site });
    }
}
