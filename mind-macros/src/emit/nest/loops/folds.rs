//! What folds are gathered in: lanes, arrays or scratch memory, sums chain by chain, which are settled.

use std::{fmt::Write, ops::Range};

use mind_core::{
    dim::Dim,
    plan::{Operand, Target, View},
    ty::DType,
};
use mind_shape::loops::{self, CHAIN, chain_in};

use super::super::{
    chains::{Chain, MemoryFold, Place, in_memory, is_sum_of_rows, turns},
    grouped,
};
use super::{Element, Loops};

/// A fold in an array of lanes; that of numbers of rows has one.
#[derive(Clone)]
pub(super) struct LaneFold {
    pub(super) name: String,
    pub(super) lanes: usize,
    pub(super) of: Element,
    /// If there is more than one chain, where they end, and what each is gathered in.
    pub(super) chains: Option<(Chain, Gathered)>,
    /// If the loop of which it has chains is the only one that adds to it, the chain before the one under way: it is settled
    /// when there is a next, and the last one takes what is left after whole blocks.
    pub(super) last: Option<String>,
}

/// The variables that chains of a sum are gathered in.
#[derive(Clone)]
pub(super) struct Gathered {
    /// The chain under way.
    pub(super) chain: String,
    /// What the sum lost to rounding.
    pub(super) lost: String,
}

impl<'a> Loops<'a, '_> {
    pub(super) fn is_sum_of_rows(&self) -> bool {
        self.memory
            .iter()
            .any(|(sum, _)| sum.place == Place::Scratch && is_sum_of_rows(self.nest, sum.fold, sum.view))
    }

    /// The rows of a matrix, summed by the run time, several at a time.
    pub(super) fn sum_columns(&mut self) {
        let (sum, Gathered { chain, lost }) = &self.memory[0];
        let Operand::Load(load) = sum.fold.operand else { unreachable!("a sum of rows is one of a load") };
        let view = &self.nest.loads[load];
        let [sums, lost, chain] =
            [self.captures.target(sum.view), lost, chain].map(|name| self.part(name, sum.view, 0));
        let name = &self.captures.loads[load];
        let (offset, stride) = (grouped(&self.position(view, 0..0)), self.stride(view, 0));
        let rows = self.extent(0);
        let _ = writeln!(
            self.text,
            "rt::sum_columns(&mut {sums}, &mut {lost}, &mut {chain}, &{name}[{offset}..], {stride}, {rows});"
        );
        self.end_folds(0);
    }

    pub(super) fn begin_totals(&mut self) {
        for pass in &self.nest.passes {
            let elements = pass.folds.iter().map(|fold| (fold, true));
            for (fold, of_elements) in elements.chain(pass.row_folds.iter().map(|fold| (fold, false))) {
                if !matches!(fold.target, Target::Total(_)) {
                    continue;
                }
                let of = Element::of(fold);
                let sum = match of_elements {
                    true => self.fold_in_lanes("total", of, self.lanes(fold.dtype), 0),
                    false => self.fold("total", of, 1, CHAIN, 0..self.nest.row_axes),
                };
                self.totals.push(sum);
            }
        }
    }

    /// Declares a sum along the axes from one on, of blocks of lanes along the last.
    pub(super) fn fold_in_lanes(&mut self, name: &str, of: Element, lanes: usize, first: usize) -> LaneFold {
        self.fold(name, of, lanes, chain_in(lanes), first..self.rank())
    }

    /// Declares a sum that is added to in each turn of the loops over some axes.
    pub(super) fn fold(
        &mut self,
        name: &str,
        of: Element,
        lanes: usize,
        most: usize,
        axes: Range<usize>,
    ) -> LaneFold {
        let inner = self.rank() - 1;
        let loops = axes.clone().map(|axis| {
            let turns = turns(self.nest, self.captures.cut, axis);
            (axis, if axis == inner { turns.map(|len| len.div_ceil(lanes)) } else { turns })
        });
        let is_one_run = axes.clone().eq(inner..inner + 1);
        let mut last = None;
        let chain = Chain::of(most, loops);
        let name = self.names.fresh(name);
        let zero = of.neutral();
        let _ = writeln!(self.text, "let mut {name} = [{zero}; {lanes}];");
        let chains = chain.map(|chain| {
            let gathered = self.gathered(&name);
            let _ = writeln!(self.text, "let mut {} = [{zero}; {lanes}];", gathered.lost);
            if is_one_run {
                let name = self.names.fresh(&format!("{name}_last"));
                let _ = writeln!(self.text, "let mut {name} = [{zero}; {lanes}];");
                last = Some(name);
            }
            (chain, gathered)
        });
        LaneFold { name, lanes, of, chains, last }
    }

    pub(super) fn gathered(&mut self, name: &str) -> Gathered {
        let [chain, lost] = ["chain", "lost"].map(|what| self.names.fresh(&format!("{name}_{what}")));
        Gathered { chain, lost }
    }

    /// The lanes of a sum along the row. Lanes without elements change nothing: fewer of them give the same bits.
    pub(super) fn lanes(&self, dtype: DType) -> usize {
        let of_type = lanes_of(dtype);
        self.inner_known().map_or(of_type, |len| len.max(1).next_power_of_two().min(of_type))
    }

    /// The sum of the lanes that a row was summed in.
    pub(super) fn sum_of_row(&self, sum: &LaneFold) -> String {
        match self.inner_known() {
            // Nothing is to be kept apart from a loop over blocks: there is one block.
            Some(len) if len <= sum.lanes && self.is_one_run() => {
                format!("rt::combine_lanes::<rt::{}, _, _>({})", sum.of.monoid.rust, sum.name)
            }
            Some(_) | None => sum.value(),
        }
    }

    /// Whether a row is one run along the innermost axis.
    pub(super) fn is_one_run(&self) -> bool {
        self.nest.row_axes + 1 == self.rank()
    }

    pub(super) fn name_sums_in_memory(&mut self) {
        for sum in in_memory(self.nest, self.captures.cut) {
            let name = self.captures.target(sum.view).trim_start_matches("r#").to_string();
            let gathered = match sum.place {
                Place::Target => {
                    Gathered { chain: self.captures.target(sum.view).into(), lost: String::new() }
                }
                Place::Arrays(_) => self.gathered(&name),
                Place::Scratch => {
                    let [chain, lost] = self.captures.scratch(sum.view).clone();
                    Gathered { chain, lost }
                }
            };
            self.memory.push((sum, gathered));
        }
    }

    /// Clears the sums in memory that the loops from `depth` on add up.
    pub(super) fn begin_folds(&mut self, depth: usize) {
        let mut text = String::new();
        for (MemoryFold { fold, view, chain, place, .. }, Gathered { chain: array, lost }) in
            self.sums_from(depth)
        {
            let (zero, sums) = (Element::of(fold).neutral(), self.sums(view, depth));
            let _ = match (place, chain) {
                (Place::Arrays(len), None) => writeln!(text, "let mut {array} = [{zero}; {len}];"),
                (Place::Arrays(len), Some(_)) => {
                    writeln!(text, "{sums}.fill({zero}); let mut {lost} = [{zero}; {len}];")
                }
                (Place::Target, _) => writeln!(text, "{sums}.fill({zero});"),
                (Place::Scratch, _) => {
                    let lost = self.part(lost, view, depth);
                    writeln!(text, "{sums}.fill({zero}); {lost}.fill({zero});")
                }
            };
        }
        self.text.push_str(&text);
    }

    pub(super) fn end_folds(&mut self, depth: usize) {
        let mut text = String::new();
        for (MemoryFold { fold, view, chain, place, .. }, Gathered { chain: array, .. }) in
            self.sums_from(depth)
        {
            let sums = self.sums(view, depth);
            if matches!((place, chain), (Place::Arrays(_), None)) {
                let _ = writeln!(text, "{sums}.copy_from_slice(&{array});");
            }
            if fold.count.is_some() {
                let mean = self.mean(fold, "*sum");
                let _ = writeln!(text, "for sum in &mut {sums} {{ *sum = {mean}; }}");
            }
        }
        self.text.push_str(&text);
    }

    /// The sums in memory that the loops from `depth` on add up.
    pub(super) fn sums_from(&self, depth: usize) -> impl Iterator<Item = &(MemoryFold<'a>, Gathered)> {
        self.memory.iter().filter(move |(sum, _)| sum.depth == depth)
    }

    /// Goes through the turns of a loop in chains, where sums have chains of it. What is returned are the first turn and the
    /// end of the chain, or of all.
    pub(super) fn open_chains(&mut self, axis: usize, turns: &str, sums: &[LaneFold]) -> (String, String) {
        let Some(most) = self.chains(axis, sums) else { return ("0".to_string(), turns.to_string()) };
        let _ = writeln!(
            self.text,
            "for chain{axis} in (0..{turns}).step_by({most}) {{ let end{axis} = (chain{axis} + {most}).min({turns});"
        );
        let mut text = String::new();
        for (MemoryFold { fold, view, place, .. }, Gathered { chain, .. }) in self.chained(axis) {
            let zero = Element::of(fold).neutral();
            let _ = match place {
                Place::Arrays(len) => writeln!(text, "let mut {chain} = [{zero}; {len}];"),
                Place::Scratch | Place::Target => {
                    writeln!(text, "{}.fill({zero});", self.part(chain, view, axis))
                }
            };
        }
        for LaneFold { name, lanes, of, chains, last } in sums {
            let gathered = chains.as_ref().filter(|(chain, _)| chain.axis == axis);
            if let Some((_, Gathered { chain, lost })) = gathered {
                let zero = of.neutral();
                if let Some(last) = last {
                    let _ = writeln!(
                        text,
                        "if chain{axis} > 0 {{ rt::settle::<rt::{}, _>(&mut {name}, &mut {lost}, &{last}); }}",
                        of.monoid.rust
                    );
                }
                let _ = writeln!(text, "let mut {chain} = [{zero}; {lanes}];");
            }
        }
        self.text.push_str(&text);
        (format!("chain{axis}"), format!("end{axis}"))
    }

    /// Settles the chains of a loop.
    pub(super) fn close_chains(&mut self, axis: usize, sums: &[LaneFold]) {
        if self.chains(axis, sums).is_none() {
            return;
        }
        let mut text = String::new();
        for (MemoryFold { fold, view, place, .. }, Gathered { chain, lost }) in self.chained(axis) {
            let monoid = fold.monoid.rust;
            let sums = self.part(self.captures.target(view), view, axis);
            let _ = match place {
                Place::Arrays(_) => writeln!(
                    text,
                    "rt::settle_lanes::<rt::{monoid}, _, _>(&mut {sums}, &mut {lost}, {chain});"
                ),
                Place::Scratch | Place::Target => {
                    let [chain, lost] = [chain, lost].map(|name| self.part(name, view, axis));
                    writeln!(text, "rt::settle::<rt::{monoid}, _>(&mut {sums}, &mut {lost}, &{chain});")
                }
            };
        }
        for LaneFold { name, of, chains, last, .. } in sums {
            if let Some((_, gathered)) = chains.as_ref().filter(|(chain, _)| chain.axis == axis) {
                let Gathered { chain, lost } = gathered;
                let _ = match last {
                    Some(last) => writeln!(text, "{last} = {chain};"),
                    None => writeln!(
                        text,
                        "rt::settle_lanes::<rt::{}, _, _>(&mut {name}, &mut {lost}, {chain});",
                        of.monoid.rust
                    ),
                };
            }
        }
        text.push_str("}\n");
        self.text.push_str(&text);
    }

    /// The most turns of a loop in a chain, if sums have chains of it.
    pub(super) fn chains(&self, axis: usize, sums: &[LaneFold]) -> Option<usize> {
        let in_memory = self.memory.iter().filter_map(|(sum, _)| sum.chain);
        let in_lanes = sums.iter().filter_map(|sum| sum.chains.as_ref().map(|(chain, _)| *chain));
        in_memory.chain(in_lanes).filter(|chain| chain.axis == axis).map(|chain| chain.turns).min()
    }

    pub(super) fn chained(&self, axis: usize) -> impl Iterator<Item = &(MemoryFold<'a>, Gathered)> {
        self.memory.iter().filter(move |(sum, _)| sum.chain.is_some_and(|chain| chain.axis == axis))
    }

    /// The part of a sum in memory, or of what lies as it does, that the loops from `axis` on add to.
    pub(super) fn part(&self, name: &str, view: &View, axis: usize) -> String {
        let at = grouped(&self.position(view, 0..axis));
        let kept = (axis..self.rank()).filter(|axis| view.strides[*axis] != Dim::ZERO);
        let extents: Vec<_> = kept.map(|axis| grouped(&self.extent(axis))).collect();
        let len = if extents.is_empty() { "1".to_string() } else { extents.join(" * ") };
        format!("{name}[{at}..][..{len}]")
    }

    /// What the elements of a sum in memory are added to.
    pub(super) fn gathered_in(&self, view: &View) -> Option<&(MemoryFold<'a>, Gathered)> {
        self.memory.iter().find(|(sum, _)| sum.view.buffer() == view.buffer())
    }

    /// The part of a target in memory that the loops from `depth` on sum into.
    pub(super) fn sums(&self, view: &View, depth: usize) -> String {
        let name = self.captures.target(view);
        match depth.checked_sub(1) {
            None => format!("{name}[..]"),
            Some(outer) => {
                let (at, len) = (self.position(view, 0..depth), self.stride(view, outer));
                format!("{name}[{}..][..{len}]", grouped(&at))
            }
        }
    }
}

impl LaneFold {
    pub(super) fn value(&self) -> String {
        format!("rt::reduce_lanes::<rt::{}, _, _>({})", self.of.monoid.rust, self.in_lanes())
    }

    /// What the loops yield of a fold over everything, whose parts are put together as its elements are.
    pub(super) fn part(&self) -> String {
        format!("rt::Folded::new({})", self.value())
    }

    /// The lanes when all is added.
    pub(super) fn in_lanes(&self) -> String {
        match (&self.chains, &self.last) {
            (Some((_, Gathered { lost, .. })), Some(last)) => {
                format!("rt::settled::<rt::{}, _, _>({}, {lost}, {last})", self.of.monoid.rust, self.name)
            }
            (Some(_) | None, _) => self.name.clone(),
        }
    }

    /// What the chain under way is gathered in.
    pub(super) fn chain(&self) -> &str {
        self.chains.as_ref().map_or(&self.name, |(_, gathered)| &gathered.chain)
    }
}

/// The lanes of a sum.
pub(super) fn lanes_of(dtype: DType) -> usize {
    loops::lanes_of(dtype.bytes())
}
