//! Skips rows that add only zeros to sums.
//!
//! Where one of many is selected, as the nearest of all centroids, its factor is nonzero in one of many rows. The loop
//! over rows first computes the factors of a block, and then only the rows whose factor is not 0. Sums of the other
//! rows stay as they are: a sum begins as +0, and adding a zero of either sign changes no bit of it.

use std::mem;

use crate::{
    loops::{Control, Holds, Size, Statement, Subslice, Var},
    plan::{Fold, Nest, Node, Operand, Pass, Target},
    reduce::SUMS,
    ty::{DType, Shape},
};

use super::{
    Along,
    blocks::BLANK,
    rows::{Columns, NestLowering, NestRows},
};

/// The most rows whose factors are computed at once: the bits of a word.
const BLOCK: usize = 64;

/// A factor of the elements of a row, which is the same for all of them.
pub(super) enum Factor {
    /// A load.
    Load(usize),
    /// The last of these nodes, which are constant along the row.
    Nodes(Vec<Node>),
}

impl NestLowering<'_> {
    /// The factor that is expected to be 0 in most runs along the innermost axis, and decides whether a run adds
    /// anything to the sums of these passes.
    pub(super) fn run_factor(&self, passes: &[Pass]) -> Option<Factor> {
        let axis = self.rank().checked_sub(2)?;
        // Sums that begin within a run are written in every run.
        let begin_before = self.memory.iter().all(|(sum, _)| sum.depth <= axis);
        let is_suited = matches!(self.frame, NestRows::Nest) && begin_before && self.short.is_none();
        if !is_suited || passes.iter().any(|pass| !only_sums_in_memory(pass)) {
            return None;
        }
        let loads = (0..self.nest.loads.len()).filter(|load| {
            let follows = matches!(Along::of(&self.nest.loads[*load], axis), Along::Consecutive);
            follows && self.is_sparse(*load) && self.is_fixed(*load)
        });
        let decides = |factor: Operand| passes.iter().all(|pass| adds_nothing_at_zero(pass, &factor));
        if let Some(load) = loads.into_iter().find(|load| decides(Operand::Load(*load))) {
            return Some(Factor::Load(load));
        }
        let [pass] = passes else { return None };
        let node = self.sparse_nodes(pass).find(|node| decides(Operand::Node(*node)))?;
        Some(Factor::Nodes(needed(pass, node)))
    }

    /// Whether most elements of a load are expected to be 0, and no sum is in its memory.
    fn is_sparse(&self, load: usize) -> bool {
        let is_apart = |of: Var| self.memory.iter().all(|(sum, _)| self.captures.target(sum.view) != of);
        let buffer = self.nest.loads[load].buffer();
        buffer.is_some_and(|buffer| self.plan.buffers[buffer.0].is_sparse)
            && is_apart(self.captures.loads[load])
    }

    /// Whether a load is constant along the innermost axis.
    fn is_fixed(&self, load: usize) -> bool {
        matches!(Along::of(&self.nest.loads[load], self.rank() - 1), Along::Fixed)
    }

    /// The nodes that are constant along the innermost axis and are expected to be 0 in most runs.
    fn sparse_nodes(&self, pass: &Pass) -> impl Iterator<Item = usize> {
        let (mut zeros, mut fixed): (Vec<bool>, Vec<bool>) = (Vec::new(), Vec::new());
        for node in &pass.elements {
            let is_zero = |operand: &Operand| match operand {
                Operand::Load(load) => self.is_sparse(*load),
                Operand::Node(node) => zeros[*node],
                Operand::Scalar(scalar) => scalar.is_zero(),
                Operand::Number(_) | Operand::Product => false,
            };
            let is_fixed = |operand: &Operand| match operand {
                Operand::Load(load) => self.is_fixed(*load),
                Operand::Node(node) => fixed[*node],
                Operand::Scalar(_) => true,
                Operand::Number(_) | Operand::Product => false,
            };
            let of: Vec<bool> = node.operands.iter().map(is_zero).collect();
            let are_fixed = node.operands.iter().all(is_fixed);
            zeros.push(node.op.is_mostly_zero(&of));
            fixed.push(are_fixed);
        }
        (0..zeros.len()).filter(move |node| zeros[*node] && fixed[*node])
    }

    /// Opens the loop over the runs whose factor is not 0: two heads.
    pub(super) fn open_nonzero(&mut self, factor: &Factor) {
        let axis = self.rank() - 2;
        let (from, to) = self.open_chains(axis, self.extent(axis), &[]);
        let most = self.out.size("most", Size::known(BLOCK));
        let [first, rows] = ["first", "rows"].map(|name| self.out.variable(None, name, Holds::Size));
        self.out.open(Control::Blocks { first, rows, from, to, most });
        self.indices[axis] = Some(first);
        let (part, dtype) = match factor {
            Factor::Load(load) => {
                let (view, of) = (&self.nest.loads[*load], self.captures.loads[*load]);
                let at = Some(self.position(view, 0..axis + 1));
                (Subslice { of, at, len: Some(rows.into()) }, self.dtype(view))
            }
            Factor::Nodes(nodes) => {
                self.factors(nodes, Columns { column: first, columns: rows, first: None })
            }
        };
        let of = self.out.variable(None, "factors", Holds::Borrowed(dtype));
        self.out.push(Statement::Borrow { var: of, part, written: false });
        let index = self.index(axis);
        self.out.open(Control::Nonzero { index, first, of });
    }

    /// Computes the last of some nodes for a block of runs, as one row.
    fn factors(&mut self, nodes: &[Node], rows: Columns) -> (Subslice, DType) {
        let axis = self.rank() - 2;
        let factor = nodes.last().expect("a factor is a node");
        let (value, dtype) = (factor.value, factor.dtype);
        let operand = Operand::Node(nodes.len() - 1);
        let fold = Fold { monoid: &SUMS, operand, count: None, dtype, target: Target::Number(value) };
        let pass = Pass { elements: nodes.to_vec(), folds: vec![fold], ..Pass::default() };
        let loads = self.nest.loads.iter().map(|view| {
            let mut view = view.clone();
            view.strides.truncate(axis + 1);
            view.shape = Shape::from_slice(&view.shape[..=axis]);
            view
        });
        let extents = self.nest.extents[..=axis].to_vec();
        let nest = Nest { extents, row_axes: axis, loads: loads.collect(), passes: vec![pass] };
        let array = self.out.variable(Some(value), "values", Holds::Array(dtype, BLOCK));
        self.out.push(Statement::Array(array, BLANK));
        let row = self.out.derived(array, "row", Holds::Borrowed(dtype));
        let part = Subslice { of: array, at: None, len: Some(rows.columns.into()) };
        self.out.push(Statement::Borrow { var: row, part: part.clone(), written: true });
        let out = mem::take(&mut self.out);
        let mut inner = NestLowering::new(self.plan, &nest, self.captures, NestRows::Rows(rows), out);
        inner.indices.clone_from_slice(&self.indices[..=axis]);
        let mut variables = inner.variables(&nest.passes[0]);
        variables.values.push(row);
        inner.still_loads(&mut variables);
        inner.elements(&nest.passes[0], &variables, &[None]);
        self.out = inner.out;
        (part, dtype)
    }
}

/// Whether a pass does nothing but add to sums in memory.
fn only_sums_in_memory(pass: &Pass) -> bool {
    let is_sum = |fold: &Fold| fold.monoid.is_compensated && matches!(fold.target, Target::Memory(_));
    pass.stores.is_empty()
        && pass.numbers.is_empty()
        && pass.row_stores.is_empty()
        && pass.row_folds.is_empty()
        && pass.folds.iter().all(is_sum)
}

/// Whether a pass adds zeros to its sums where the factor is 0.
fn adds_nothing_at_zero(pass: &Pass, factor: &Operand) -> bool {
    let mut zeros: Vec<bool> = Vec::with_capacity(pass.elements.len());
    let is_zero = |operand: &Operand, zeros: &[bool]| match operand {
        operand if operand == factor => true,
        Operand::Node(node) => zeros[*node],
        Operand::Scalar(scalar) => scalar.is_zero(),
        Operand::Load(_) | Operand::Number(_) | Operand::Product => false,
    };
    for node in &pass.elements {
        let of: Vec<bool> = node.operands.iter().map(|operand| is_zero(operand, &zeros)).collect();
        zeros.push(node.op.is_zero_at(&of));
    }
    pass.folds.iter().all(|fold| is_zero(&fold.operand, &zeros))
}

/// The nodes of a pass on which a node depends, ending with itself.
fn needed(pass: &Pass, last: usize) -> Vec<Node> {
    let mut is_needed = vec![false; last + 1];
    is_needed[last] = true;
    for node in (0..=last).rev() {
        for operand in pass.elements[node].operands.iter().filter(|_| is_needed[node]).collect::<Vec<_>>() {
            if let Operand::Node(operand) = operand {
                is_needed[*operand] = true;
            }
        }
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut place = vec![0; last + 1];
    for node in (0..=last).filter(|node| is_needed[*node]) {
        place[node] = nodes.len();
        let mut of = pass.elements[node].clone();
        for operand in &mut of.operands {
            if let Operand::Node(operand) = operand {
                *operand = place[*operand];
            }
        }
        nodes.push(of);
    }
    nodes
}
