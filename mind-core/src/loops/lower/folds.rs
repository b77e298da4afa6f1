//! Accumulates folds in lanes, arrays or scratch memory. Sums are accumulated in chains, which are then added up.

use std::ops::Range;

use mind_shape::loops::{self, CHAIN, chain_in};

use crate::{
    dim::Dim,
    ir::ValueId,
    loops::{Combined, Control, Expr, Holds, Lanes, Size, Statement, Subslice, Var},
    plan::{Operand, Pass, Target, View},
    ty::DType,
};

use super::{
    chains::{Chain, MemoryFold, PartialSums, in_memory, is_sum_of_rows, turns},
    rows::{FoldElement, Gathered, NestLowering},
};

/// The most folds of a loop whose lanes are combined by inlined code.
const MOST_INLINE: usize = 4;

/// A fold in an array of lanes. A fold of numbers that are computed once per row has one lane.
#[derive(Clone)]
pub(super) struct LaneFold {
    pub(super) sums: Var,
    pub(super) lanes: usize,
    pub(super) of: FoldElement,
    /// The chains and their variables, if there is more than one chain.
    pub(super) chains: Option<Chains>,
    /// The chain before the current one, if the loop that is split into chains is the only one that adds to the fold.
    /// It is added to the sums when the next chain begins. The last chain also takes the elements after the whole
    /// blocks.
    pub(super) last: Option<Var>,
    /// Where the lanes are combined into one element.
    pub(super) combined: Combined,
}

#[derive(Clone, Copy)]
pub(super) struct Chains {
    pub(super) end: Chain,
    pub(super) chain: Var,
    pub(super) lost: Var,
}

impl<'a> NestLowering<'a> {
    pub(super) fn is_sum_of_rows(&self) -> bool {
        self.memory.iter().any(|(sum, _)| {
            sum.place == PartialSums::Scratch && is_sum_of_rows(self.nest, sum.fold, sum.view)
        })
    }

    /// Sums the rows of a matrix in the run time, several at a time.
    pub(super) fn sum_columns(&mut self) {
        let (sum, Gathered { chain, lost }) = self.memory[0];
        let lost = lost.expect("chains in scratch memory lose something");
        let Operand::Load(load) = sum.fold.operand else { unreachable!("a sum of rows is one of a load") };
        let view = &self.nest.loads[load];
        let [sums, lost, chain] =
            [self.captures.target(sum.view), lost, chain].map(|of| self.part(of, sum.view, 0));
        let of = Subslice { of: self.captures.loads[load], at: Some(self.position(view, 0..0)), len: None };
        let (stride, rows) = ((&view.strides[0]).into(), self.extent(0));
        self.out.push(Statement::SumColumns { sums, lost, chain, of, stride, rows });
        self.end_folds(0);
    }

    pub(super) fn begin_totals(&mut self) {
        for pass in &self.nest.passes {
            let elements = pass.folds.iter().map(|fold| (fold, true));
            for (fold, of_elements) in elements.chain(pass.row_folds.iter().map(|fold| (fold, false))) {
                let Target::Total(value) = fold.target else { continue };
                let of = FoldElement::of(fold);
                let sum = match of_elements {
                    true => self.fold_in_lanes(Some(value), of, self.lanes(pass), 0),
                    false => self.fold(Some(value), of, 1, CHAIN, 0..self.nest.row_axes),
                };
                self.totals.push(sum);
            }
        }
    }

    /// Declares a fold along the axes from `first` on, in blocks of lanes along the last axis.
    pub(super) fn fold_in_lanes(
        &mut self,
        value: Option<ValueId>,
        of: FoldElement,
        lanes: usize,
        first: usize,
    ) -> LaneFold {
        self.fold(value, of, lanes, chain_in(lanes), first..self.rank())
    }

    /// Declares a fold that each iteration of the loops over some axes adds to.
    pub(super) fn fold(
        &mut self,
        value: Option<ValueId>,
        of: FoldElement,
        lanes: usize,
        most: usize,
        axes: Range<usize>,
    ) -> LaneFold {
        let inner = self.rank() - 1;
        let loops = axes.clone().map(|axis| {
            let turns = turns(self.nest, self.captures.cut.map(|(axis, _)| axis), axis);
            (axis, if axis == inner { turns.map(|len| len.div_ceil(lanes)) } else { turns })
        });
        let is_one_run = axes.clone().eq(inner..inner + 1);
        let end = Chain::of(most, loops).filter(|_| self.short.is_none());
        let holds = Holds::Array(of.dtype, lanes);
        let sums = self.out.variable(value, "lanes", holds);
        self.array(sums, of);
        let chains = end.map(|end| {
            let [chain, lost] = ["chain", "lost"].map(|what| self.out.variable(value, what, holds));
            self.array(lost, of);
            Chains { end, chain, lost }
        });
        let last = (chains.is_some() && is_one_run).then(|| {
            let last = self.out.variable(value, "last", holds);
            self.array(last, of);
            last
        });
        let are_many = self.nest.folds().nth(MOST_INLINE).is_some();
        let combined = if are_many { Combined::Apart } else { Combined::AfterLoop };
        LaneFold { sums, lanes, of, chains, last, combined }
    }

    /// The fold, with a variable of its own for chains. Each loop over chains defines that variable.
    pub(super) fn with_own_chain(&mut self, fold: &LaneFold) -> LaneFold {
        let chains = fold.chains.map(|chains| {
            let chain = self.out.derived(chains.chain, "chain", Holds::Array(fold.of.dtype, fold.lanes));
            Chains { chain, ..chains }
        });
        LaneFold { chains, ..fold.clone() }
    }

    /// Declares an array filled with the neutral element.
    pub(super) fn array(&mut self, var: Var, of: FoldElement) {
        self.out.push(Statement::Array(var, of.monoid.neutral));
    }

    /// The number of lanes of the folds of a pass along the row. All folds have as many lanes as the narrowest type.
    /// Lanes without elements change nothing, so fewer lanes give the same bits.
    pub(super) fn lanes(&self, pass: &Pass) -> usize {
        if let Some(block) = self.short_block() {
            return block;
        }
        let of_type = pass.folds.iter().map(|fold| lanes_of(fold.dtype)).max().unwrap_or(1);
        self.inner_known().map_or(of_type, |len| len.max(1).next_power_of_two().min(of_type))
    }

    /// The lanes of a summed row, combined into one element.
    pub(super) fn value_of_row(&self, sum: &LaneFold) -> Expr {
        match (self.inner_known().or(self.short_block()), sum.value()) {
            // There is one block, so no loop over blocks keeps the lanes in registers.
            (Some(len), Expr::Lanes { monoid, .. }) if len <= sum.lanes && self.is_one_run() => {
                Expr::Lanes { monoid, lanes: Lanes::Array(sum.sums), at: Combined::Inline }
            }
            (_, value) => value,
        }
    }

    /// Whether a row is one run along the innermost axis.
    pub(super) fn is_one_run(&self) -> bool {
        self.nest.row_axes + 1 == self.rank()
    }

    pub(super) fn name_sums_in_memory(&mut self) {
        for sum in in_memory(self.nest, self.captures.cut.map(|(axis, _)| axis)) {
            let target = self.captures.target(sum.view);
            let gathered = match sum.place {
                PartialSums::Target => Gathered { chain: target, lost: None },
                PartialSums::Arrays(len) => {
                    let holds = Holds::Array(sum.fold.dtype, len);
                    let chain = self.out.derived(target, "chain", holds);
                    let lost = sum.chain.map(|_| self.out.derived(target, "lost", holds));
                    Gathered { chain, lost }
                }
                PartialSums::Scratch => {
                    let [chain, lost] = self.captures.scratch_of(sum.view);
                    Gathered { chain, lost: Some(lost) }
                }
            };
            self.memory.push((sum, gathered));
        }
    }

    /// Clears the sums in memory that the loops from `depth` on add up.
    pub(super) fn begin_folds(&mut self, depth: usize) {
        for (MemoryFold { fold, view, chain, place, .. }, Gathered { chain: array, lost }) in
            self.sums_from(depth)
        {
            let (of, sums) = (FoldElement::of(fold), self.sums(view, depth));
            let neutral = of.monoid.neutral;
            match (place, chain, lost) {
                (PartialSums::Arrays(_), None, _) => self.array(array, of),
                (PartialSums::Arrays(_), Some(_), Some(lost)) => {
                    self.out.push(Statement::Fill(sums, neutral));
                    self.array(lost, of);
                }
                (PartialSums::Scratch, _, Some(lost)) => {
                    let lost = self.part(lost, view, depth);
                    self.out.push(Statement::Fill(sums, neutral));
                    self.out.push(Statement::Fill(lost, neutral));
                }
                (PartialSums::Target, ..) => self.out.push(Statement::Fill(sums, neutral)),
                (PartialSums::Arrays(_) | PartialSums::Scratch, _, None) => {
                    unreachable!("chains lose something")
                }
            }
        }
    }

    pub(super) fn end_folds(&mut self, depth: usize) {
        for (MemoryFold { fold, view, chain, place, .. }, Gathered { chain: array, .. }) in
            self.sums_from(depth)
        {
            let sums = self.sums(view, depth);
            if matches!((place, chain), (PartialSums::Arrays(_), None)) {
                self.out.push(Statement::CopyInto { to: sums.clone(), from: Subslice::whole(array) });
            }
            self.divide(fold, sums);
        }
    }

    /// The sums in memory that the loops from `depth` on add up.
    fn sums_from(&self, depth: usize) -> Vec<(MemoryFold<'a>, Gathered)> {
        self.memory.iter().filter(|(sum, _)| sum.depth == depth).copied().collect()
    }

    /// Opens a loop over the chains of an axis, if sums have chains of it. Returns the first iteration and the end of
    /// the chain, or of the whole loop.
    pub(super) fn open_chains(&mut self, axis: usize, turns: Size, sums: &[LaneFold]) -> (Size, Size) {
        let Some(most) = self.chains(axis, sums) else { return (Size::known(0), turns) };
        let [first, end] =
            ["chain", "end"].map(|what| self.out.variable(None, &format!("{what}{axis}"), Holds::Size));
        self.out.open(Control::Chains { first, end, turns, most });
        for (MemoryFold { fold, view, place, .. }, Gathered { chain, .. }) in self.chained(axis) {
            match place {
                PartialSums::Arrays(_) => self.array(chain, FoldElement::of(fold)),
                PartialSums::Scratch | PartialSums::Target => {
                    let chain = self.part(chain, view, axis);
                    self.out.push(Statement::Fill(chain, fold.monoid.neutral));
                }
            }
        }
        for LaneFold { sums, of, chains, last, .. } in sums {
            let Some(Chains { chain, lost, .. }) = chains.filter(|chains| chains.end.axis == axis) else {
                continue;
            };
            if let Some(last) = last {
                self.out.open(Control::If { less: Size::known(0), than: first.into() });
                self.combine_chain(*sums, lost, *last, *of, false);
                self.out.close();
            }
            self.array(chain, *of);
        }
        (first.into(), end.into())
    }

    /// Adds the chains of an axis to their sums, and closes the loop over them.
    pub(super) fn close_chains(&mut self, axis: usize, sums: &[LaneFold]) {
        if self.chains(axis, sums).is_none() {
            return;
        }
        for (MemoryFold { fold, view, place, .. }, Gathered { chain, lost }) in self.chained(axis) {
            let lost = lost.expect("chains lose something");
            let sums = self.part(self.captures.target(view), view, axis);
            let monoid = fold.monoid;
            let statement = match place {
                PartialSums::Arrays(_) => {
                    let [lost, chain] = [lost, chain].map(Subslice::whole);
                    Statement::CombineChains { monoid, sums, lost, chain, lanes: true }
                }
                PartialSums::Scratch | PartialSums::Target => {
                    let [lost, chain] = [lost, chain].map(|of| self.part(of, view, axis));
                    Statement::CombineChains { monoid, sums, lost, chain, lanes: false }
                }
            };
            self.out.push(statement);
        }
        for LaneFold { sums, of, chains, last, .. } in sums {
            let Some(Chains { chain, lost, .. }) = chains.filter(|chains| chains.end.axis == axis) else {
                continue;
            };
            match last {
                Some(last) => self.out.push(Statement::Assign { to: *last, from: chain }),
                None => self.combine_chain(*sums, lost, chain, *of, true),
            }
        }
        self.out.close();
    }

    /// Adds chains to sums that are arrays.
    pub(super) fn combine_chain(&mut self, sums: Var, lost: Var, chain: Var, of: FoldElement, lanes: bool) {
        let [sums, lost, chain] = [sums, lost, chain].map(Subslice::whole);
        self.out.push(Statement::CombineChains { monoid: of.monoid, sums, lost, chain, lanes });
    }

    /// The most iterations of a loop in a chain, if sums have chains of the loop.
    fn chains(&self, axis: usize, sums: &[LaneFold]) -> Option<usize> {
        let in_memory = self.memory.iter().filter_map(|(sum, _)| sum.chain);
        let in_lanes = sums.iter().filter_map(|sum| sum.chains.map(|chains| chains.end));
        in_memory.chain(in_lanes).filter(|chain| chain.axis == axis).map(|chain| chain.turns).min()
    }

    fn chained(&self, axis: usize) -> Vec<(MemoryFold<'a>, Gathered)> {
        let of_axis = |sum: &MemoryFold<'_>| sum.chain.is_some_and(|chain| chain.axis == axis);
        self.memory.iter().filter(|(sum, _)| of_axis(sum)).copied().collect()
    }

    /// The part of a sum in memory, or of memory with its layout, that the loops from `axis` on add to.
    fn part(&self, of: Var, view: &View, axis: usize) -> Subslice {
        let kept = (axis..self.rank()).filter(|axis| view.strides[*axis] != Dim::ZERO);
        let len = kept.map(|axis| self.extent(axis)).reduce(Size::times);
        let len = len.unwrap_or_else(|| Size::known(1));
        Subslice { of, at: Some(self.position(view, 0..axis)), len: Some(len) }
    }

    /// The variables that the elements of a sum in memory are added to.
    pub(super) fn gathered_in(&self, view: &View) -> Option<&(MemoryFold<'a>, Gathered)> {
        self.memory.iter().find(|(sum, _)| sum.view.buffer() == view.buffer())
    }

    /// The part of a target in memory that the loops from `depth` on sum into.
    fn sums(&self, view: &View, depth: usize) -> Subslice {
        let of = self.captures.target(view);
        match depth.checked_sub(1) {
            None => Subslice::whole(of),
            Some(outer) => Subslice {
                of,
                at: Some(self.position(view, 0..depth)),
                len: Some((&view.strides[outer]).into()),
            },
        }
    }
}

impl LaneFold {
    /// All lanes combined into one element.
    pub(super) fn value(&self) -> Expr {
        Expr::Lanes { monoid: self.of.monoid, lanes: self.in_lanes(), at: self.combined }
    }

    /// The lanes after all elements have been added.
    pub(super) fn in_lanes(&self) -> Lanes {
        match (self.chains, self.last) {
            (Some(Chains { lost, .. }), Some(last)) => Lanes::Chained { sums: self.sums, lost, last },
            (Some(_) | None, _) => Lanes::Array(self.sums),
        }
    }

    /// The variable that accumulates the current chain.
    pub(super) fn chain(&self) -> Var {
        self.chains.map_or(self.sums, |chains| chains.chain)
    }
}

/// The number of lanes of a sum.
pub(super) fn lanes_of(dtype: DType) -> usize {
    loops::lanes_of(dtype.bytes())
}
