//! Draws random bits of consecutive counters, many at a time.

use crate::{
    loops::{Holds, Size, Statement, Var},
    map::Map,
    plan::{Node, Operand, Pass, Source},
    ty::DType,
};

use super::{
    Along,
    elements::Variables,
    rows::{NestLowering, NestRows},
};

/// In rows of at most this many elements, known ahead, each element draws its own bits.
const FEW: usize = 64;

impl NestLowering<'_> {
    /// Declares the random bits that nodes draw ahead.
    pub(super) fn declare_draws(&mut self) {
        for node in self.nest.passes.iter().flat_map(|pass| &pass.elements) {
            if self.is_drawn_ahead(node) {
                let var = self.out.variable(Some(node.value), "draws", Holds::Draws);
                self.out.push(Statement::Draws(var));
                self.draws.push((node.value, var));
            }
        }
    }

    /// Whether a pass draws bits ahead.
    pub(super) fn draws_ahead(&self, pass: &Pass) -> bool {
        pass.elements.iter().any(|node| self.drawn(node).is_some())
    }

    /// The random bits that a node draws ahead.
    pub(super) fn drawn(&self, node: &Node) -> Option<Var> {
        self.draws.iter().find(|(value, _)| *value == node.value).map(|(_, var)| *var)
    }

    /// Whether a node computes random bits of one key and of consecutive counters, in rows that are long enough.
    fn is_drawn_ahead(&self, node: &Node) -> bool {
        let inner = self.rank() - 1;
        let [key, counter] = &node.operands[..] else { return false };
        let is_still = match key {
            Operand::Scalar(_) | Operand::Number(_) => true,
            Operand::Load(load) => matches!(Along::of(&self.nest.loads[*load], inner), Along::Fixed),
            Operand::Node(_) | Operand::Product => false,
        };
        let counts = |load: usize| {
            let view = &self.nest.loads[load];
            matches!(view.source, Source::Positions(_)) && view.strides[inner].is_one()
        };
        node.op == Map::Threefry
            && node.dtype == DType::I64
            && is_still
            && matches!(counter, Operand::Load(load) if counts(*load))
            && matches!(self.frame, NestRows::Nest)
            && self.inner_known().is_none_or(|len| len > FEW)
    }

    /// Borrows the random bits for a block of `width` elements, of a row of `len` elements.
    pub(super) fn draw(&mut self, pass: &Pass, variables: &mut Variables, width: usize, len: &Size) {
        for (position, node) in pass.elements.iter().enumerate() {
            let Some(of) = self.drawn(node) else { continue };
            let [key, Operand::Load(counter)] = &node.operands[..] else {
                unreachable!("bits that are drawn ahead have a counter of their row")
            };
            let key = self.operand(key, &[], variables, Some(&Size::known(0)));
            let start = variables.start.expect("a row that counts positions has a start");
            let row = variables.loads[*counter].expect("a pass names what it reads before");
            let first = Size::sum(vec![row.into(), start.into()]);
            let var = self.out.variable(Some(node.value), "", Holds::Array(node.dtype, width));
            let left = len.clone().minus(start.into());
            self.out.push(Statement::Draw { var, of, key, first, left });
            variables.computed.push((position, var));
        }
    }
}
