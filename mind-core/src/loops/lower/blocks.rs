//! Computes the elements of a row in blocks.

use crate::{
    loops::{Control, ElementRef, Expr, Holds, Size, Statement, Subslice, Var},
    plan::{Node, Operand, Pass, View},
    reduce::Neutral,
    ty::DType,
};

use super::{
    Along,
    elements::Variables,
    folds::{Chains, LaneFold},
    rows::{NestLowering, NestRows},
};

/// The shortest block whose loop LLVM does not unroll before it vectorises loops. It unrolls a block of 8. Its SLP pass
/// then vectorises the copies of `exp`, but not those of `tanh` and `atan`, which then take twice as long.
pub(super) const LOOPED: usize = 16;

/// At most this many elements, known ahead, are computed one by one as fast as in a block.
pub(super) const ONE_BY_ONE: usize = 3;

/// The initial content of an array that is written before it is read.
pub(super) const BLANK: Neutral = Neutral::Zero;

impl NestLowering<'_> {
    /// Processes blocks as wide as the lanes of sums, and the rest.
    pub(super) fn blocks(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        width: usize,
    ) {
        let (len, known) = (self.inner_len(), self.inner_known());
        if known.is_some_and(|len| len <= width) {
            // Otherwise LLVM may combine rows, by gathers and scatters.
            self.out.push(Statement::OneByOne);
            match known != Some(width) && self.is_padded(pass, variables, width) {
                true => self.padded(pass, variables, sums, width, &len),
                false => self.each(pass, variables, sums, "lane", len, None),
            }
            return;
        }
        let (mut left, mut variables) = (len.clone(), variables.clone());
        if self.has_long_blocks(pass, &variables, width) {
            variables = self.whole_blocks(pass, &variables, sums, LOOPED, len.clone());
            let done = self.out.size("done", len.clone().over(LOOPED).times(Size::known(LOOPED)));
            left = len.minus(done.into());
        }
        let variables = self.whole_blocks(pass, &variables, sums, width, left);
        if known.is_none_or(|len| len % width > 0) {
            self.rest(pass, &variables, sums, width);
        }
    }

    /// Whether a pass is processed in registers: it is slow to compute elements one by one, and they may be computed twice.
    pub(super) fn is_in_registers(&self, pass: &Pass, variables: &Variables, width: usize) -> bool {
        let inner = self.rank() - 1;
        let reads = variables.reads.iter().filter(|is_read| **is_read).count();
        let mut stores = pass.stores.iter();
        matches!(self.frame, NestRows::Nest)
            && self.inner_known().is_none_or(|len| len > LOOPED && len % width > 0)
            && pass.folds.is_empty()
            && variables.values.is_empty()
            && self.read_apart(variables).count() == reads
            && stores.all(|store| matches!(Along::of(&store.target, inner), Along::Consecutive))
            && pass.elements.iter().any(|node| node.op.row().cost.is_series())
            && !self.draws_ahead(pass)
    }

    /// Processes the elements of a row in registers of `width` elements. The last one is at the end of the row and may
    /// overlap the one before, so that no rest is computed one by one or copied.
    pub(super) fn registers(&mut self, pass: &Pass, variables: &Variables, width: usize) {
        let len = self.inner_len();
        // A function with range checks takes its slower form for a block, not for the whole row.
        if pass.elements.iter().any(|node| node.op.row().range.is_some()) {
            self.whole_blocks(pass, variables, &[], width, len.clone());
            let done = len.clone().over(width).times(Size::known(width));
            self.out.open(Control::If { less: done, than: len.clone() });
            let count = Size::Least(Box::new([len.clone(), Size::known(width)]));
            let count = self.out.size("count", count);
            let first = self.out.size("first", len.minus(count.into()));
            self.part_of_row(pass, variables, first, count);
        } else {
            let first = self.out.variable(None, "first", Holds::Size);
            let count = self.out.variable(None, "count", Holds::Size);
            self.out.open(Control::Registers { first, count, len, width });
            self.part_of_row(pass, variables, first, count);
        }
        self.out.close();
    }

    /// Processes `count` elements of a row from `first` on.
    fn part_of_row(&mut self, pass: &Pass, variables: &Variables, first: Var, count: Var) {
        let mut pairs = Vec::new();
        for (of, written) in self.consecutive(variables) {
            let var = self.out.derived(of, "part", Holds::Borrowed(self.out.dtype(of)));
            let part = Subslice { of, at: Some(first.into()), len: Some(count.into()) };
            self.out.push(Statement::Borrow { var, part, written });
            pairs.push((of, var));
        }
        let variables = Variables { start: Some(first), ..variables.with(&pairs) };
        self.each(pass, &variables, &[], "j", count.into(), None);
    }

    /// Whether LLVM vectorises the elements only if they are copied to arrays: if many are not contiguous, if random bits
    /// are drawn ahead, if operands of functions with range checks are computed first, or if there are more pairs of
    /// slices that may overlap than it compares at run time.
    pub(super) fn needs_copies(&self, pass: &Pass, variables: &Variables) -> bool {
        /// Nests with 22 pairs are vectorised without copies.
        const MOST_COMPARED: usize = 24;

        let (writes, all) = (variables.targets.len(), self.consecutive(variables).len());
        let is_many = writes * all.saturating_sub(writes) + writes * writes / 2 > MOST_COMPARED;
        let strided = self.strided(variables).count() + self.stored_columns(pass).count();
        let is_strided = strided > 0 && pass.elements.len() > 4 * strided;
        let computes = self.draws_ahead(pass) || !self.computed_before(pass).is_empty();
        matches!(self.frame, NestRows::Nest) && (is_many || is_strided || computes)
    }

    /// The views that a pass stores with a stride.
    fn stored_columns<'p>(&self, pass: &'p Pass) -> impl Iterator<Item = &'p View> {
        let inner = self.rank() - 1;
        let targets = pass.stores.iter().map(|store| &store.target);
        targets.filter(move |view| matches!(Along::of(view, inner), Along::Strided))
    }

    /// The loads of elements that are read with a stride, and their rows.
    fn strided<'v>(&'v self, variables: &'v Variables) -> impl Iterator<Item = (&'v View, Var)> + 'v {
        let inner = self.rank() - 1;
        let loads = self.nest.loads.iter().zip(&variables.loads);
        let loads = loads.filter_map(|(view, row)| Some((view, (*row)?)));
        loads.filter(move |(view, row)| {
            self.out.holds(*row) != Holds::Size && matches!(Along::of(view, inner), Along::Strided)
        })
    }

    /// Whether a product's store begins with blocks of [`LOOPED`] elements, before blocks of `width`. This excludes
    /// functions with range checks: each block reads their constants again, and more elements would have to be in
    /// range.
    fn has_long_blocks(&self, pass: &Pass, variables: &Variables, width: usize) -> bool {
        matches!(self.frame, NestRows::Block(_))
            && width < LOOPED
            && self.is_padded(pass, variables, width)
            && pass.elements.iter().all(|node| node.op.row().range.is_none())
    }

    /// Processes the whole blocks of `len` elements. Returns the variables of the rest of each row.
    fn whole_blocks(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        width: usize,
        len: Size,
    ) -> Variables {
        let rows = self.consecutive(variables);
        let (mut chunks, mut rests) = (Vec::new(), Vec::new());
        for (of, written) in &rows {
            let dtype = self.out.dtype(*of);
            let var = self.out.derived(*of, "blocks", Holds::Chunks(dtype, width));
            let rest = self.out.derived(*of, "rest", Holds::Borrowed(dtype));
            self.out.push(Statement::Chunks { var, rest, of: *of, written: *written });
            chunks.push(var);
            rests.push((*of, rest));
        }
        let (inner, in_lanes) = (self.rank() - 1, sums.iter().flatten().cloned().collect::<Vec<LaneFold>>());
        let (from, to) = self.open_chains(inner, len.clone().over(width), &in_lanes);
        let block = self.out.variable(None, "block", Holds::Size);
        self.out.open(Control::For { index: block, from, to });
        let mut of_block = variables.clone();
        if self.reads_strided(variables) {
            let start = Size::from(block).times(Size::known(width));
            of_block.start = Some(self.out.size("start", start));
        }
        if matches!(self.frame, NestRows::Block(_)) {
            self.out.push(Statement::OneByOne);
        }
        let (mut back, mut pairs) = (Vec::new(), Vec::new());
        for ((row, written), of) in rows.iter().zip(&chunks) {
            let (dtype, index) = (self.out.dtype(*row), block);
            let var = self.out.derived(*row, "block", Holds::Array(dtype, width));
            pairs.push((*row, var));
            let statement = match written {
                false => Statement::Chunk { var, of: *of, index },
                // The block is written as a whole. LLVM does not know that it does not overlap the memory that is read,
                // since rustc inlines before it emits that fact.
                true => {
                    let home = self.out.derived(*row, "to", Holds::Array(dtype, width));
                    back.push(Statement::PutBack { home, from: var });
                    Statement::TakeOut { var, home, of: *of, index }
                }
            };
            self.out.push(statement);
        }
        for (view, row) in self.strided(variables).map(|(view, row)| (view.clone(), row)).collect::<Vec<_>>()
        {
            let column = self.out.derived(row, "column", Holds::Array(self.out.dtype(row), width));
            self.out.push(Statement::Array(column, BLANK));
            let index = self.out.variable(None, "lane", Holds::Size);
            self.out.open(Control::Elements { index, count: Size::known(width) });
            let (at, to) = (Size::from(index), ElementRef { of: column, index: index.into() });
            let from = self.place(row, &view, &of_block, Some(&at));
            self.out.push(Statement::Store(to, Expr::Element(from)));
            self.out.close();
            pairs.push((row, column));
        }
        let mut of_block = of_block.with(&pairs);
        self.draw(pass, &mut of_block, width, &len);
        self.compute_before(pass, &mut of_block, width);
        let columns: Vec<View> = self.stored_columns(pass).cloned().collect();
        let memory = of_block.clone();
        for view in columns {
            let array = Holds::Array(self.dtype(&view), width);
            let array = self.out.derived(self.captures.target(&view), "column", array);
            self.out.push(Statement::Array(array, BLANK));
            of_block.columns.push((view, array));
        }
        self.each(pass, &of_block, sums, "lane", Size::known(width), None);
        back.into_iter().for_each(|statement| self.out.push(statement));
        if !of_block.columns.is_empty() {
            let index = self.out.variable(None, "lane", Holds::Size);
            self.out.open(Control::Elements { index, count: Size::known(width) });
            for (view, array) in &of_block.columns {
                let to = self.target_element(view, &memory, &index.into());
                let from = ElementRef { of: *array, index: index.into() };
                self.out.push(Statement::Store(to, Expr::Element(from)));
            }
            self.out.close();
        }
        self.out.close();
        self.close_chains(inner, &in_lanes);
        variables.with(&rests)
    }

    /// Computes the nodes of [`Self::computed_before`] for a block, each into an array.
    fn compute_before(&mut self, pass: &Pass, variables: &mut Variables, width: usize) {
        let computed = self.computed_before(pass);
        let arrays: Vec<Var> = computed
            .iter()
            .map(|node| {
                let array = self.out.variable(
                    Some(pass.elements[*node].value),
                    "",
                    Holds::Array(pass.elements[*node].dtype, width),
                );
                self.out.push(Statement::Array(array, BLANK));
                array
            })
            .collect();
        if computed.is_empty() {
            return;
        }
        let needed = needed_for(pass, &computed);
        let index = self.out.variable(None, "lane", Holds::Size);
        self.out.open(Control::Elements { index, count: Size::known(width) });
        let at = Size::from(index);
        let mut nodes = Vec::with_capacity(pass.elements.len());
        for (position, (node, is_needed)) in pass.elements.iter().zip(needed).enumerate() {
            if !is_needed {
                // Nothing reads it.
                nodes.push(index);
                continue;
            }
            let value = self.element_of(position, node, &nodes, variables, &at);
            let var = self.out.variable(Some(node.value), "", Holds::Number(node.dtype));
            self.out.push(Statement::Number(var, value));
            nodes.push(var);
        }
        for (node, array) in computed.iter().zip(&arrays) {
            let to = ElementRef { of: *array, index: at.clone() };
            self.out.push(Statement::Store(to, Expr::Number(nodes[*node])));
        }
        self.out.close();
        variables.computed.extend(computed.into_iter().zip(arrays));
    }

    /// The nodes that are slow to compute and on which operands with range checks depend. A block computes them first, so
    /// that its range checks only read them. Otherwise each element would decide on the form of the functions, and LLVM would
    /// not vectorise their loop.
    fn computed_before(&self, pass: &Pass) -> Vec<usize> {
        let ranged = pass.elements.iter().filter(|node| node.op.row().range.is_some());
        let operands = ranged.flat_map(|node| &node.operands).filter_map(|operand| match operand {
            Operand::Node(node) => Some(*node),
            Operand::Load(_) | Operand::Scalar(_) | Operand::Number(_) | Operand::Product => None,
        });
        let needed = needed_for(pass, &operands.collect::<Vec<_>>());
        let is_slow = |node: &usize| {
            let of = &pass.elements[*node];
            needed[*node] && of.op.row().cost.is_worth_keeping() && self.drawn(of).is_none()
        };
        let slow: Vec<usize> = (0..pass.elements.len()).filter(is_slow).collect();
        // These would need range checks before.
        let is_ranged = slow.iter().any(|node| pass.elements[*node].op.row().range.is_some());
        if is_ranged { Vec::new() } else { slow }
    }

    /// Processes the rest of a row after its whole blocks of `width` elements. A rest of known length is a block of a
    /// narrower register.
    fn rest(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>], width: usize) {
        let (len, known) = (self.inner_len(), self.inner_known());
        let start = self.out.size("start", len.clone().over(width).times(Size::known(width)));
        let variables = &Variables { start: Some(start), ..variables.clone() };
        let (mut rests, mut back) = (Vec::new(), Vec::new());
        for sum in sums {
            let Some(sum) = sum else {
                rests.push(None);
                continue;
            };
            let (inner, holds) = (self.rank() - 1, Holds::Array(sum.of.dtype, sum.lanes));
            let rest = self.out.derived(sum.sums, "rest", holds);
            let is_chain = |chains: &Chains| chains.end.axis == inner && sum.last.is_none();
            match sum.chains.filter(is_chain) {
                // The rest is a separate chain.
                Some(chains) => {
                    self.array(rest, sum.of);
                    let [sums, lost, chain] = [sum.sums, chains.lost, rest].map(Subslice::whole);
                    back.push(Statement::CombineChains {
                        monoid: sum.of.monoid,
                        sums,
                        lost,
                        chain,
                        lanes: true,
                    });
                }
                None => {
                    let chain = sum.last.unwrap_or(sum.chain());
                    self.out.push(Statement::Copy { var: rest, of: chain });
                    back.push(Statement::Assign { to: chain, from: rest });
                }
            }
            rests.push(Some(LaneFold { sums: rest, chains: None, last: None, ..sum.clone() }));
        }
        let rest = known.map(|len| len % width);
        let is_padded = match rest {
            Some(rest) => rest > ONE_BY_ONE && self.can_be_padded(pass, variables),
            None => self.is_padded(pass, variables, width),
        };
        let narrow = rest.map_or(width, |rest| rest.next_power_of_two().min(width));
        let left = len.clone().minus(start.into());
        match is_padded {
            true => {
                self.out.open(Control::If { less: start.into(), than: len });
                self.padded(pass, variables, &rests, narrow, &left);
                self.out.close();
            }
            false => self.each(pass, variables, &rests, "lane", left, None),
        }
        back.into_iter().for_each(|statement| self.out.push(statement));
    }

    /// Whether the rest of a row after its whole blocks is computed as one more block, filled up with its last element.
    /// This takes one or two vectors. Otherwise `exp` and `ln`, of some twenty instructions each, would be computed
    /// once per number.
    pub(super) fn is_padded(&self, pass: &Pass, variables: &Variables, width: usize) -> bool {
        let is_little = self
            .inner_known()
            .is_some_and(|len| (len / width > 0 && len % width <= ONE_BY_ONE) || len <= ONE_BY_ONE);
        let is_slow = |node: &Node| node.op.row().cost.is_series();
        !is_little && pass.elements.iter().any(is_slow) && self.can_be_padded(pass, variables)
    }

    /// Whether elements beyond the end of a row may be computed.
    pub(super) fn can_be_padded(&self, pass: &Pass, variables: &Variables) -> bool {
        let inner = self.rank() - 1;
        let mut targets = variables.targets.iter();
        // An unneeded quotient of two integers may divide by 0.
        pass.elements.iter().all(|node| node.dtype.is_float() || node.dtype == DType::Bool)
            && !self.reads_strided(variables)
            && targets.all(|(view, _)| matches!(Along::of(view, inner), Along::Consecutive))
    }

    fn reads_strided(&self, variables: &Variables) -> bool {
        let inner = self.rank() - 1;
        let loads = self.nest.loads.iter().zip(&variables.reads).filter(|(_, read)| **read);
        let mut views = loads.map(|(view, _)| view).chain(variables.targets.iter().map(|(view, _)| view));
        views.any(|view| matches!(Along::of(view, inner), Along::Strided))
    }

    /// Processes `len` elements of rows, fewer than a block, as a block of which only the first `len` elements count.
    pub(super) fn padded(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        width: usize,
        len: &Size,
    ) {
        let (mut back, mut pairs) = (Vec::new(), Vec::new());
        for (of, written) in self.consecutive(variables) {
            let holds = Holds::Array(self.out.dtype(of), width);
            let var = self.out.derived(of, "block", holds);
            if self.short_block().is_some() && !written {
                let spare = self.out.derived(of, "spare", holds);
                self.out.push(Statement::Whole { var, spare, of, len: len.clone() });
            } else {
                self.out.push(Statement::Padded { var, of, written });
            }
            pairs.push((of, var));
            if written {
                let from = Subslice { of: var, at: None, len: Some(len.clone()) };
                back.push(Statement::CopyInto { to: Subslice::whole(of), from });
            }
        }
        self.each(pass, &variables.with(&pairs), sums, "lane", Size::known(width), Some(len));
        back.into_iter().for_each(|statement| self.out.push(statement));
    }

    /// The rows of contiguous elements, and whether they are written.
    fn consecutive(&self, variables: &Variables) -> Vec<(Var, bool)> {
        let inner = self.rank() - 1;
        let follows = |view: &View| matches!(Along::of(view, inner), Along::Consecutive);
        let targets = variables.targets.iter().filter(|(view, _)| follows(view));
        let mut rows: Vec<_> = targets.filter_map(|(_, row)| Some(((*row)?, true))).collect();
        rows.extend(variables.values.iter().map(|row| (*row, true)));
        if matches!(self.frame, NestRows::Block(_)) {
            rows.extend(variables.sums.map(|sums| (sums, false)));
        }
        let loads = self.nest.loads.iter().zip(&variables.loads).filter(|(view, _)| follows(view));
        rows.extend(loads.filter_map(|(_, row)| Some(((*row)?, false))));
        rows
    }
}

/// For each node, whether one of `nodes` depends on it. A node depends on itself.
fn needed_for(pass: &Pass, nodes: &[usize]) -> Vec<bool> {
    let mut needed = vec![false; pass.elements.len()];
    nodes.iter().for_each(|node| needed[*node] = true);
    for node in (0..needed.len()).rev().filter(|_| !nodes.is_empty()) {
        for operand in pass.elements[node].operands.iter().filter(|_| needed[node]).collect::<Vec<_>>() {
            if let Operand::Node(operand) = operand {
                needed[*operand] = true;
            }
        }
    }
    needed
}
