//! Lowers one pass over the elements of a row.

use crate::{
    dim::Dim,
    loops::{Control, ElementRef, Expr, Holds, Size, Statement, Subslice, Var},
    plan::{Node, Operand, Pass, Target, View},
    reduce::Neutral,
    ty::DType,
};

use super::{
    Along, chains,
    folds::{Chains, LaneFold},
    rows::{Gathered, NestLowering, NestRows},
};

/// The elements of a row that are processed at once if its length is not known: a register of the highest SIMD level.
const fn register(dtype: DType) -> usize {
    64 / dtype.bytes()
}

/// The elements of a block if no sum decides it: two registers, so that one `exp` hides the latency of another.
const PLAIN: usize = 32;

/// The shortest block whose loop LLVM does not unroll before it vectorises loops. It unrolls a block of 8. Its SLP pass
/// then vectorises the copies of `exp`, but not those of `tanh` and `atan`, which then take twice as long.
const LOOPED: usize = 16;

/// At most this many elements, known ahead, are computed one by one as fast as in a block.
const ONE_BY_ONE: usize = 3;

/// The variables of one pass.
#[derive(Clone)]
pub(super) struct Variables {
    /// For each load, whether the pass reads it.
    reads: Vec<bool>,
    /// For each load, its row or its number. A load that shares the memory of a target has the row of the target.
    loads: Vec<Option<Var>>,
    /// The buffers that the pass writes along the row, and the row of each.
    targets: Vec<(View, Option<Var>)>,
    /// For each sum of short rows, the row in the array of its operands.
    pub(super) values: Vec<Var>,
    /// The row of a product's sums.
    sums: Option<Var>,
    /// The start of a block.
    pub(super) start: Option<Var>,
    /// The nodes that are computed before the loop over a block, and the array of each.
    computed: Vec<(usize, Var)>,
    /// The columns that are stored after the loop over a block, and the array of each.
    columns: Vec<(View, Var)>,
}

impl Variables {
    /// Replaces variables. Each pair holds the old and the new variable.
    fn with(&self, pairs: &[(Var, Var)]) -> Self {
        let new = |var: Var| pairs.iter().find(|(old, _)| *old == var).map_or(var, |(_, new)| *new);
        let mut all = self.clone();
        let rows = all.loads.iter_mut().chain(all.targets.iter_mut().map(|(_, row)| row));
        rows.chain([&mut all.sums]).flatten().chain(&mut all.values).for_each(|var| *var = new(*var));
        all
    }
}

impl NestLowering<'_> {
    /// The variables of the memory that a pass reads and writes.
    pub(super) fn variables(&self, pass: &Pass) -> Variables {
        let mut reads = vec![false; self.nest.loads.len()];
        pass.for_each_operand(|operand| {
            if let Operand::Load(load) = operand {
                reads[*load] = true;
            }
        });
        let memory = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some(view),
            Target::Number(_) | Target::Total(_) => None,
        });
        let mut targets: Vec<(View, Option<Var>)> = Vec::new();
        for view in pass.stores.iter().map(|store| &store.target).chain(memory) {
            if !targets.iter().any(|(known, _)| known.buffer() == view.buffer()) {
                let mut view = view.clone();
                // Several columns of one buffer share a row, which begins with its first element.
                if matches!(Along::of(&view, self.rank() - 1), Along::Strided) {
                    view.offset = Dim::ZERO;
                }
                targets.push((view, None));
            }
        }
        let loads = vec![None; reads.len()];
        Variables {
            reads,
            loads,
            targets,
            values: Vec::new(),
            sums: self.sums,
            start: None,
            computed: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// The loads that a pass reads and that do not share memory with its targets.
    fn read_apart<'v>(&'v self, variables: &'v Variables) -> impl Iterator<Item = usize> + 'v {
        let is_target = |load: &usize| {
            let mut targets = variables.targets.iter();
            targets.any(|(view, _)| self.captures.target(view) == self.captures.loads[*load])
        };
        (0..self.nest.loads.len()).filter(move |load| variables.reads[*load] && !is_target(load))
    }

    /// Reads the loads that are constant along the elements, once per row.
    pub(super) fn still_loads(&mut self, variables: &mut Variables) {
        for load in self.read_apart(variables).collect::<Vec<_>>() {
            let view = &self.nest.loads[load];
            if self.is_still(view) {
                let index = self.position(view, 0..self.rank());
                self.load_number(variables, load, index);
            }
        }
    }

    fn is_still(&self, view: &View) -> bool {
        view.strides[self.nest.row_axes..].iter().all(|stride| *stride == Dim::ZERO)
    }

    fn load_number(&mut self, variables: &mut Variables, load: usize, index: Size) {
        let of = self.captures.loads[load];
        let dtype = self.dtype(&self.nest.loads[load]);
        let var = self.out.derived(of, "row", Holds::Number(dtype));
        let value = match self.out.holds(of) {
            Holds::Size => Expr::Position(Size::sum(vec![of.into(), index])),
            _ => Expr::Element(ElementRef { of, index }),
        };
        self.out.push(Statement::Number(var, value));
        variables.loads[load] = Some(var);
    }

    pub(super) fn elements(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>]) {
        if pass.stores.is_empty() && pass.folds.is_empty() {
            return;
        }
        let mut variables = variables.clone();
        let outer = self.nest.row_axes..self.rank() - 1;
        let in_lanes: Vec<LaneFold> = sums.iter().flatten().cloned().collect();
        outer.clone().for_each(|axis| self.open(axis, &in_lanes));
        // A pass that only stores is not computed as a block, which would be stored beyond its row.
        let block = self.short.filter(|_| !in_lanes.is_empty());
        self.slices(&mut variables, block.is_some());
        let width = match self.frame {
            NestRows::Nest | NestRows::Row => in_lanes.iter().map(|sum| sum.lanes).max(),
            NestRows::Block(_) => pass.stores.iter().map(|store| register(self.dtype(&store.target))).max(),
            NestRows::Rows(_) => None,
        };
        // Functions with a faster form for operands in range are still long. If one register is computed at a time,
        // their constants are read once and need no registers.
        let ranged = pass.elements.iter().filter(|node| node.op.row().range.is_some());
        let plain = ranged.map(|node| register(node.dtype)).max().unwrap_or(PLAIN);
        let is_short = self.inner_known().is_some_and(|len| len <= plain);
        let width = width.or_else(|| (!is_short && self.is_padded(pass, &variables, plain)).then_some(plain));
        let is_long = self.inner_known().is_none_or(|len| len > LOOPED);
        let width = width.or_else(|| (is_long && self.needs_copies(pass, &variables)).then_some(plain));
        match (block, width) {
            (Some(_), Some(width)) => {
                self.out.push(Statement::OneByOne);
                self.padded(pass, &variables, sums, width, &self.inner_len());
            }
            (_, None) => {
                if self.inner_known().is_some_and(|len| ONE_BY_ONE < len && len <= PLAIN)
                    && reads_numbers(pass)
                {
                    self.out.push(Statement::OneByOne);
                }
                self.each(pass, &variables, sums, "j", self.inner_len(), None);
            }
            (None, Some(width)) => self.blocks(pass, &variables, sums, width),
        }
        for axis in outer.rev() {
            self.out.close();
            self.close_chains(axis, &in_lanes);
        }
    }

    /// Borrows the part of each captured slice that one run along the innermost axis accesses.
    /// With `blocks`, a part that is read extends to the end of its slice, since a short row fills a part of a block.
    fn slices(&mut self, variables: &mut Variables, blocks: bool) {
        let (inner, len) = (self.rank() - 1, self.inner_len());
        let run = |along: Along| matches!(along, Along::Consecutive).then(|| len.clone());
        for target in 0..variables.targets.len() {
            let view = &variables.targets[target].0;
            let (of, is_array) = match self.gathered_in(view) {
                Some((sum, Gathered { chain, .. })) => {
                    (*chain, matches!(sum.place, chains::PartialSums::Arrays(_)))
                }
                None => (self.captures.target(view), false),
            };
            let part = match is_array {
                true => Subslice::whole(of),
                false => {
                    let at = self.row_position(view, true);
                    Subslice { of, at: Some(at), len: run(Along::of(view, inner)) }
                }
            };
            let var =
                self.out.derived(self.captures.target(view), "row", Holds::Borrowed(self.out.dtype(of)));
            self.out.push(Statement::Borrow { var, part, written: true });
            variables.targets[target].1 = Some(var);
        }
        for load in self.read_apart(variables).collect::<Vec<_>>() {
            let view = &self.nest.loads[load];
            if self.is_still(view) {
                continue;
            }
            let (of, at) = (self.captures.loads[load], self.row_position(view, false));
            match Along::of(view, inner) {
                Along::Fixed => self.load_number(variables, load, at),
                Along::Strided if self.out.holds(of) == Holds::Size => {
                    let parts = if at.literal() == Some(0) { vec![] } else { vec![at] };
                    let parts = [Size::from(of)].into_iter().chain(parts).collect();
                    let row = self.out.size("position_row", Size::sum(parts));
                    variables.loads[load] = Some(row);
                }
                along @ (Along::Consecutive | Along::Strided) => {
                    let var = self.out.derived(of, "row", Holds::Borrowed(self.out.dtype(of)));
                    let part = Subslice { of, at: Some(at), len: run(along).filter(|_| !blocks) };
                    self.out.push(Statement::Borrow { var, part, written: false });
                    variables.loads[load] = Some(var);
                }
            }
        }
    }

    /// Processes blocks as wide as the lanes of sums, and the rest.
    fn blocks(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>], width: usize) {
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

    /// Whether LLVM vectorises the elements only if they are copied to arrays: if many are not contiguous, if operands of
    /// functions with range checks are computed first, or if there are more pairs of slices that may overlap than it
    /// compares at run time.
    fn needs_copies(&self, pass: &Pass, variables: &Variables) -> bool {
        /// Nests with 22 pairs are vectorised without copies.
        const MOST_COMPARED: usize = 24;

        let (writes, all) = (variables.targets.len(), self.consecutive(variables).len());
        let is_many = writes * all.saturating_sub(writes) + writes * writes / 2 > MOST_COMPARED;
        let strided = self.strided(variables).count() + self.stored_columns(pass).count();
        let is_strided = strided > 0 && pass.elements.len() > 4 * strided;
        matches!(self.frame, NestRows::Nest) && (is_many || is_strided || !computed_before(pass).is_empty())
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
        let (from, to) = self.open_chains(inner, len.over(width), &in_lanes);
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

    /// Computes the nodes of [`computed_before`] for a block, each into an array.
    fn compute_before(&mut self, pass: &Pass, variables: &mut Variables, width: usize) {
        let computed = computed_before(pass);
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
        for (node, is_needed) in pass.elements.iter().zip(needed) {
            if !is_needed {
                // Nothing reads it.
                nodes.push(index);
                continue;
            }
            let value = self.node(node, &nodes, variables, Some(&at));
            let var = self.out.variable(Some(node.value), "", Holds::Number(node.dtype));
            self.out.push(Statement::Number(var, value));
            nodes.push(var);
        }
        for (node, array) in computed.iter().zip(&arrays) {
            let to = ElementRef { of: *array, index: at.clone() };
            self.out.push(Statement::Store(to, Expr::Number(nodes[*node])));
        }
        self.out.close();
        variables.computed = computed.into_iter().zip(arrays).collect();
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
    fn is_padded(&self, pass: &Pass, variables: &Variables, width: usize) -> bool {
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
        pass.elements.iter().all(|node| node.dtype.is_float())
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
    fn padded(
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
            if self.short.is_some() && !written {
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

    /// Writes a loop over `count` elements. If `counted` is given, only that many elements count.
    fn each(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        index: &str,
        count: Size,
        counted: Option<&Size>,
    ) {
        let index = self.out.variable(None, index, Holds::Size);
        self.out.open(Control::Elements { index, count });
        let mask = counted.map(|below| {
            let var = self.out.variable(None, "counts", Holds::Mask);
            self.out.push(Statement::Mask { var, index, below: below.clone() });
            var
        });
        self.element(pass, variables, sums, index, mask);
        self.out.close();
    }

    fn element(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        sums: &[Option<LaneFold>],
        index: Var,
        mask: Option<Var>,
    ) {
        let at = Size::from(index);
        let mut nodes = Vec::with_capacity(pass.elements.len());
        for (position, node) in pass.elements.iter().enumerate() {
            let computed = variables.computed.iter().find(|(node, _)| *node == position);
            let value = match computed {
                Some((_, of)) => Expr::Element(ElementRef { of: *of, index: at.clone() }),
                None => self.node(node, &nodes, variables, Some(&at)),
            };
            let var = self.out.variable(Some(node.value), "", Holds::Number(node.dtype));
            self.out.push(Statement::Number(var, value));
            nodes.push(var);
        }
        // Operands are read first, since an operand may be the element that a store replaces.
        let operands = pass.stores.iter().map(|store| &store.operand);
        let operands = operands.chain(pass.folds.iter().map(|fold| &fold.operand));
        let mut values = Vec::new();
        for operand in operands {
            let value = self.operand(operand, &nodes, variables, Some(&at));
            let shared = pass.stores.len() + pass.folds.len() > 1;
            let Some(place) = value.place().filter(|_| shared) else {
                values.push(value);
                continue;
            };
            let of = self.out.dtype(place.of);
            let var = self.out.variable(None, "element", Holds::Number(of));
            self.out.push(Statement::Number(var, value));
            values.push(Expr::Number(var));
        }
        let mut values = values.into_iter();
        for (store, value) in pass.stores.iter().zip(values.by_ref()) {
            let place = self.target_element(&store.target, variables, &at);
            self.out.push(Statement::Store(place, value));
        }
        for (of, value) in variables.values.iter().zip(values.by_ref()) {
            self.out.push(Statement::Store(ElementRef { of: *of, index: at.clone() }, value));
        }
        for ((fold, sum), value) in pass.folds.iter().zip(sums).zip(values.by_ref()) {
            let place = match (&fold.target, sum) {
                (Target::Memory(view), _) => self.target_element(view, variables, &at),
                (_, Some(sum)) => ElementRef { of: sum.chain(), index: at.clone() },
                (_, None) => unreachable!("sums along a row have lanes"),
            };
            self.out.push(Statement::Combine { place, monoid: fold.monoid, value, mask });
        }
        assert!(values.next().is_none(), "each value is stored, kept in a row or added to a sum");
    }

    fn target_element(&self, view: &View, variables: &Variables, at: &Size) -> ElementRef {
        if let Some((_, of)) = variables.columns.iter().find(|(column, _)| column == view) {
            return ElementRef { of: *of, index: at.clone() };
        }
        let row = variables.targets.iter().find(|(known, _)| known.buffer() == view.buffer());
        let row = row.and_then(|(_, row)| *row).expect("a pass names what it writes");
        self.place(row, view, variables, Some(at))
    }

    /// The value of an operand at an index of the row, or once per row.
    pub(super) fn operand(
        &self,
        operand: &Operand,
        nodes: &[Var],
        variables: &Variables,
        at: Option<&Size>,
    ) -> Expr {
        match operand {
            Operand::Node(node) => Expr::Number(nodes[*node]),
            Operand::Number(value) => Expr::Number(self.number(*value)),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::Load(load) => {
                let row = self.row(*load, variables);
                match self.out.holds(row) {
                    Holds::Number(_) => Expr::Number(row),
                    Holds::Size => {
                        let ElementRef { index, .. } =
                            self.place(row, &self.nest.loads[*load], variables, at);
                        Expr::Position(Size::sum(vec![row.into(), index]))
                    }
                    _ => Expr::Element(self.place(row, &self.nest.loads[*load], variables, at)),
                }
            }
            Operand::Product => {
                let of = variables.sums.expect("a product has a row of sums");
                Expr::Element(ElementRef { of, index: at.expect("sums are of elements").clone() })
            }
        }
    }

    /// The row of a load. A load that shares the memory of a target has the row of the target.
    fn row(&self, load: usize, variables: &Variables) -> Var {
        let read = self.captures.loads[load];
        let written = variables.targets.iter().find(|(view, _)| self.captures.target(view) == read);
        let row = written.map_or(variables.loads[load], |(_, row)| *row);
        row.expect("a pass names what it reads before")
    }

    /// The element of a row. A constant row has one element.
    fn place(&self, of: Var, view: &View, variables: &Variables, at: Option<&Size>) -> ElementRef {
        let inner = self.rank() - 1;
        let at = || at.expect("a row that is not constant is read at an element").clone();
        let index = match Along::of(view, inner) {
            Along::Fixed => Size::known(0),
            Along::Consecutive => at(),
            // The elements were copied to an array.
            Along::Strided if matches!(self.out.holds(of), Holds::Array(..)) => at(),
            Along::Strided => {
                let start = variables.start.map(Size::from);
                let start = Size::sum(start.into_iter().chain([at()]).collect());
                let steps = start.times((&view.strides[inner]).into());
                // The row of a target begins with the first column of the buffer.
                match variables.targets.iter().any(|(_, row)| *row == Some(of)) {
                    true => Size::sum(vec![steps, (&view.offset).into()]),
                    false => steps,
                }
            }
        };
        ElementRef { of, index }
    }
}

/// The nodes that are slow to compute and on which operands with range checks depend. A block computes them first, so
/// that its range checks only read them. Otherwise each element would decide on the form of the functions, and LLVM would
/// not vectorise their loop.
fn computed_before(pass: &Pass) -> Vec<usize> {
    let ranged = pass.elements.iter().filter(|node| node.op.row().range.is_some());
    let operands = ranged.flat_map(|node| &node.operands).filter_map(|operand| match operand {
        Operand::Node(node) => Some(*node),
        Operand::Load(_) | Operand::Scalar(_) | Operand::Number(_) | Operand::Product => None,
    });
    let needed = needed_for(pass, &operands.collect::<Vec<_>>());
    let is_slow = |node: &usize| needed[*node] && pass.elements[*node].op.row().cost.is_worth_keeping();
    let slow: Vec<usize> = (0..pass.elements.len()).filter(is_slow).collect();
    // These would need range checks before.
    let is_ranged = slow.iter().any(|node| pass.elements[*node].op.row().range.is_some());
    if is_ranged { Vec::new() } else { slow }
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

/// Whether elements are computed from numbers of their row.
fn reads_numbers(pass: &Pass) -> bool {
    let mut operands = pass.elements.iter().flat_map(|node| &node.operands);
    operands.any(|operand| matches!(operand, Operand::Number(_)))
}

/// The initial content of an array that is written before it is read.
pub(super) const BLANK: Neutral = Neutral::Zero;
