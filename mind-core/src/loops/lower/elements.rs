//! Lowers one pass over the elements of a row.

use std::slice;

use crate::{
    dim::Dim,
    loops::{Control, ElementRef, Expr, Holds, Size, Statement, Subslice, Var},
    plan::{Node, Operand, Pass, Target, View},
    ty::DType,
};

use super::{
    Along,
    blocks::{LOOPED, ONE_BY_ONE},
    chains,
    folds::LaneFold,
    rows::{Gathered, NestLowering, NestRows},
};

/// The elements of a row that are processed at once if its length is not known: a register of the highest SIMD level.
const fn register(dtype: DType) -> usize {
    64 / dtype.bytes()
}

/// The longest rows of a known length that LLVM would combine, by gathers and scatters.
const LONGEST_COMBINED: usize = 32;

/// The variables of one pass.
#[derive(Clone)]
pub(super) struct Variables {
    /// For each load, whether the pass reads it.
    pub(super) reads: Vec<bool>,
    /// For each load, its row or its number. A load that shares the memory of a target has the row of the target.
    pub(super) loads: Vec<Option<Var>>,
    /// The buffers that the pass writes along the row, and the row of each.
    pub(super) targets: Vec<(View, Option<Var>)>,
    /// For each sum of short rows, the row in the array of its operands.
    pub(super) values: Vec<Var>,
    /// The row of a product's sums.
    pub(super) sums: Option<Var>,
    /// The start of a block.
    pub(super) start: Option<Var>,
    /// The nodes that are computed or drawn before the loop over a block, and the array of each.
    pub(super) computed: Vec<(usize, Var)>,
    /// The columns that are stored after the loop over a block, and the array of each.
    pub(super) columns: Vec<(View, Var)>,
}

impl Variables {
    /// Replaces variables. Each pair holds the old and the new variable.
    pub(super) fn with(&self, pairs: &[(Var, Var)]) -> Self {
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
    pub(super) fn read_apart<'v>(&'v self, variables: &'v Variables) -> impl Iterator<Item = usize> + 'v {
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

    pub(super) fn load_number(&mut self, variables: &mut Variables, load: usize, index: Size) {
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
        let factor = if outer.is_empty() { None } else { self.run_factor(slice::from_ref(pass)) };
        for axis in outer.clone() {
            match &factor {
                Some(factor) if axis + 1 == outer.end => self.open_nonzero(factor),
                _ => self.open(axis, &in_lanes),
            }
        }
        // A pass that only stores is not computed as a block, which would be stored beyond its row.
        let block = self.short_block().filter(|_| !in_lanes.is_empty());
        self.slices(&mut variables, block.is_some());
        let width = match self.frame {
            NestRows::Nest | NestRows::Row => in_lanes.iter().map(|sum| sum.lanes).max(),
            NestRows::Block(_) => pass.stores.iter().map(|store| register(self.dtype(&store.target))).max(),
            NestRows::Rows(_) => None,
        };
        match (block, width) {
            (Some(_), Some(width)) => {
                self.out.push(Statement::OneByOne);
                self.padded(pass, &variables, sums, width, &self.inner_len());
            }
            (None, Some(width)) => self.blocks(pass, &variables, sums, width),
            (_, None) => self.stores(pass, &variables, sums),
        }
        if factor.is_some() {
            self.out.close();
        }
        for axis in outer.rev() {
            self.out.close();
            self.close_chains(axis, &in_lanes);
        }
    }

    /// Processes the elements of a pass without sums in lanes.
    fn stores(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<LaneFold>]) {
        let (len, known) = (self.inner_len(), self.inner_known());
        let floats = pass.elements.iter().map(|node| node.dtype).filter(|dtype| dtype.is_float());
        let width = floats.map(register).max().unwrap_or(LOOPED);
        // A block is two registers, so that one `exp` hides the latency of another. Functions with a faster form for
        // operands in range are still long. If one register is computed at a time, their constants are read once and
        // need no registers.
        let ranged = pass.elements.iter().filter(|node| node.op.row().range.is_some());
        let block = ranged.map(|node| register(node.dtype)).max().unwrap_or(2 * width);
        if known.is_none_or(|len| len > LOOPED) && self.needs_copies(pass, variables) {
            self.blocks(pass, variables, sums, block);
        } else if self.is_in_registers(pass, variables, width) {
            self.registers(pass, variables, width);
        } else if known.is_none_or(|len| len > block && len % width > 0)
            && self.is_padded(pass, variables, block)
        {
            self.blocks(pass, variables, sums, block);
        } else {
            if known.is_some_and(|len| ONE_BY_ONE < len && len <= LONGEST_COMBINED) && reads_numbers(pass) {
                self.out.push(Statement::OneByOne);
            }
            self.each(pass, variables, sums, "j", len, None);
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

    /// Writes a loop over `count` elements. If `counted` is given, only that many elements count.
    pub(super) fn each(
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
            let value = self.element_of(position, node, &nodes, variables, &at);
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

    /// The value of a node for one element. It may have been computed before.
    pub(super) fn element_of(
        &self,
        position: usize,
        node: &Node,
        nodes: &[Var],
        variables: &Variables,
        at: &Size,
    ) -> Expr {
        match variables.computed.iter().find(|(computed, _)| *computed == position) {
            Some((_, of)) => Expr::Element(ElementRef { of: *of, index: at.clone() }),
            None => self.node(node, nodes, variables, Some(at)),
        }
    }

    pub(super) fn target_element(&self, view: &View, variables: &Variables, at: &Size) -> ElementRef {
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
    pub(super) fn place(&self, of: Var, view: &View, variables: &Variables, at: Option<&Size>) -> ElementRef {
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

/// Whether elements are computed from numbers of their row.
fn reads_numbers(pass: &Pass) -> bool {
    let mut operands = pass.elements.iter().flat_map(|node| &node.operands);
    operands.any(|operand| matches!(operand, Operand::Number(_)))
}
