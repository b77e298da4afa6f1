//! Folds of short rows in lanes across rows: lane `i` holds the fold of row `i` of a tile of rows.
//!
//! Combining the lanes of one short row takes longer than reading it. Where the elements of a row come from a matrix
//! that the outer axes do not change, as the centroids in the distances of all points to all centroids, a tile of that
//! matrix is transposed once and serves all outer indices. No step then combines lanes.

use std::{mem, ops::Range};

use mind_shape::loops::CHAIN;

use crate::{
    dim::Dim,
    loops::{Combined, Control, ElementRef, Expr, Holds, Size, Statement, Subslice, Var},
    plan::{Fold, Nest, Operand, Pass, Target, View},
};

use super::{
    Along, WORTH_DISPATCHING,
    blocks::BLANK,
    elements::Variables,
    folds::{LaneFold, lanes_of},
    known,
    rows::{FoldElement, NestLowering, NestRows},
};

/// The longest row: two chains. A tile of such rows fits into the first-level cache.
const LONGEST: usize = 2 * CHAIN;

/// The longest row for each row of a matrix. Longer rows are folded faster one by one than in a tile with few rows.
const LONGEST_BY_ROWS: usize = 8;

/// The most outer indices whose numbers of a tile are folded at once.
const AT_ONCE: usize = 64;

/// The numbers of the rows of a tile, for a block of the last outer axis.
struct TileNumbers {
    /// An array for each fold over rows.
    arrays: Vec<Var>,
    first: Var,
    rows: Var,
    /// The current index within the block.
    row: Var,
}

/// The kind of memory that a load reads for a tile of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// One number.
    Number,
    /// A row that all rows of the tile share.
    SharedRow,
    /// A number for each row.
    Column,
    /// Rows of a matrix that is the same for all indices of the outer axes.
    Matrix,
}

impl<'a> NestLowering<'a> {
    /// Lowers the nest with lanes across rows, if it can be, and a second time row by row for sizes that do not suit
    /// and are known only at run time. Returns whether it did.
    pub(super) fn rows_across_lanes(&mut self) -> bool {
        let Some(reads) = self.reads_across_rows() else { return false };
        let (rows, len) = (self.extent(self.nest.row_axes - 1), self.inner_len());
        let suits = |rows: usize, len: usize| len <= LONGEST.min(LONGEST_BY_ROWS * rows);
        self.name_sums_in_memory();
        if let (Some(rows), Some(len)) = (rows.literal(), len.literal()) {
            if suits(rows, len) {
                self.tiles(&reads);
            }
            if !suits(rows, len) {
                self.memory.clear();
            }
            return suits(rows, len);
        }
        let by_rows = rows.times(Size::known(LONGEST_BY_ROWS));
        let longest = self.out.size("longest", Size::Least(Box::new([by_rows, Size::known(LONGEST)])));
        self.out.open(Control::If { less: longest.into(), than: len.clone() });
        self.begin_values();
        self.all_rows();
        self.out.close();
        let longer = Size::sum(vec![longest.into(), Size::known(1)]);
        self.out.open(Control::If { less: len, than: longer });
        self.numbers.clear();
        self.tiles(&reads);
        self.out.close();
        true
    }

    /// The kind of memory that each load reads. `None` if the nest cannot be lowered with lanes across rows.
    fn reads_across_rows(&self) -> Option<Vec<Reads>> {
        let nest = self.nest;
        let ([pass], 2..) = (&nest.passes[..], nest.row_axes) else { return None };
        let axis = nest.row_axes - 1;
        let only_folds_rows = pass.stores.is_empty()
            && pass.row_folds.iter().all(|fold| self.is_fold_of_tile(fold))
            && !pass.folds.is_empty()
            && pass.folds.iter().all(|fold| matches!(fold.target, Target::Number(_)));
        // Lanes without a row are computed too. An unneeded quotient of integers may divide by 0.
        let are_floats = pass.elements.iter().chain(&pass.numbers).all(|node| node.dtype.is_float());
        let is_little = known(&nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
        let is_whole = self.is_one_run() && self.captures.steps(axis).is_none();
        let is_suited = matches!(self.frame, NestRows::Nest) && is_whole && only_folds_rows && are_floats;
        if is_little || !is_suited {
            return None;
        }
        let is_still =
            |view: &View, axes: Range<usize>| axes.into_iter().all(|axis| view.strides[axis] == Dim::ZERO);
        let is_column = |view: &View| matches!(Along::of(view, axis), Along::Consecutive);
        let reads = nest.loads.iter().map(|view| {
            match (is_still(view, axis..axis + 1), is_still(view, axis + 1..axis + 2)) {
                (true, true) => Some(Reads::Number),
                _ if view.buffer().is_none() => None,
                (true, false) => Some(Reads::SharedRow),
                (false, true) => is_column(view).then_some(Reads::Column),
                (false, false) => is_still(view, 0..axis).then_some(Reads::Matrix),
            }
        });
        let reads: Vec<Reads> = reads.collect::<Option<_>>()?;
        let is_apart = |view: &View| !self.captures.loads.contains(&self.captures.target(view));
        let mut targets = pass.row_stores.iter().map(|store| &store.target);
        (reads.contains(&Reads::Matrix) && targets.all(|view| is_column(view) && is_apart(view)))
            .then_some(reads)
    }

    /// Whether a fold over rows combines the numbers of a tile, and needs no chains.
    fn is_fold_of_tile(&self, fold: &Fold) -> bool {
        let axis = self.nest.row_axes - 1;
        let is_number = matches!(fold.operand, Operand::Number(_)) && fold.dtype.is_float();
        let Target::Memory(view) = &fold.target else { return false };
        let is_apart = !self.captures.loads.contains(&self.captures.target(view));
        is_number && is_apart && view.strides[axis] == Dim::ZERO && !fold.monoid.is_compensated
    }

    /// The loops over the tiles, over the outer axes, and over the elements of the rows of a tile.
    fn tiles(&mut self, reads: &[Reads]) {
        let (nest, axis) = (self.nest, self.nest.row_axes - 1);
        let (pass, count) = (&nest.passes[0], self.extent(axis));
        let most = pass.folds.iter().map(|fold| lanes_of(fold.dtype)).max().unwrap_or(1);
        let lanes = count.literal().map_or(most, |rows| rows.next_power_of_two().min(most));
        for fold in &pass.row_folds {
            let Target::Memory(view) = &fold.target else { unreachable!("numbers are folded in memory") };
            let all = Subslice::whole(self.captures.target(view));
            self.out.push(Statement::Fill(all, fold.monoid.neutral));
        }
        let most = self.out.size("most", Size::known(lanes));
        let [first, rows] = ["first", "rows"].map(|name| self.out.variable(None, name, Holds::Size));
        self.out.open(Control::Blocks { first, rows, from: Size::known(0), to: count, most });
        self.indices[axis] = Some(first);
        let mut matrices = Vec::new();
        for load in (0..reads.len()).filter(|load| reads[*load] == Reads::Matrix) {
            matrices.push((load, self.transposed_tile(load, rows, lanes)));
        }
        let values = self.open_outer(pass, lanes);
        let mut variables = self.variables(pass);
        let mut shared = Vec::new();
        for (load, reads) in reads.iter().enumerate() {
            match reads {
                Reads::Number => {
                    let index = self.position(&nest.loads[load], 0..axis);
                    self.load_number(&mut variables, load, index);
                }
                Reads::Column => {
                    let of = self.borrowed_row(load, Some(rows.into()));
                    let var = self.out.derived(of, "block", Holds::Array(self.out.dtype(of), lanes));
                    self.out.push(Statement::Padded { var, of, written: false });
                    variables.loads[load] = Some(var);
                }
                Reads::SharedRow => {
                    let is_run = matches!(Along::of(&nest.loads[load], axis + 1), Along::Consecutive);
                    let len = is_run.then(|| self.inner_len());
                    shared.push((load, self.borrowed_row(load, len)));
                }
                Reads::Matrix => {}
            }
        }
        let across = across(nest);
        let out = mem::take(&mut self.out);
        let mut tile = NestLowering::new(self.plan, &across, self.captures, NestRows::Nest, out);
        let sums = tile.folds_of_tile(pass, lanes);
        let is_one_chain = tile.extent(axis).literal().is_some_and(|len| len <= CHAIN);
        let (folds, from, to) = match is_one_chain {
            true => (sums.clone(), Size::known(0), tile.extent(axis)),
            false => {
                let [first, end] = ["chain", "end"].map(|what| tile.out.variable(None, what, Holds::Size));
                tile.out.open(Control::Chains { first, end, turns: tile.extent(axis), most: CHAIN });
                (tile.folds_of_tile(pass, lanes), first.into(), end.into())
            }
        };
        let index = tile.index(axis);
        tile.out.open(Control::For { index, from, to });
        for (load, of) in shared {
            let view = &nest.loads[load];
            let var = tile.out.derived(self.captures.loads[load], "element", Holds::Number(tile.dtype(view)));
            let index = Size::from(index).times((&view.strides[axis + 1]).into());
            tile.out.push(Statement::Number(var, Expr::Element(ElementRef { of, index })));
            variables.loads[load] = Some(var);
        }
        for (load, of) in matrices {
            let holds = Holds::Array(tile.dtype(&nest.loads[load]), lanes);
            let var = tile.out.derived(self.captures.loads[load], "block", holds);
            tile.out.push(Statement::Chunk { var, of, index });
            variables.loads[load] = Some(var);
        }
        let elements = Pass { elements: pass.elements.clone(), folds: pass.folds.clone(), ..Pass::default() };
        let of_lanes: Vec<_> = folds.iter().cloned().map(Some).collect();
        tile.each(&elements, &variables, &of_lanes, "lane", Size::known(lanes), None);
        tile.out.close();
        if !is_one_chain {
            tile.add_chains(&sums, &folds, lanes);
            tile.out.close();
        }
        let (stored, folded) = tile.numbers_of_tile(pass, &variables, &sums, (lanes, rows));
        self.out = tile.out;
        if let Some(values) = &values {
            let at = Size::from(values.row).times(Size::known(lanes));
            for (of, from) in values.arrays.iter().zip(folded) {
                let to = Subslice { of: *of, at: Some(at.clone()), len: Some(Size::known(lanes)) };
                self.out.push(Statement::CopyInto { to, from: Subslice::whole(from) });
            }
        }
        for (store, from) in pass.row_stores.iter().zip(stored) {
            let (of, at) = (self.captures.target(&store.target), self.position(&store.target, 0..axis + 1));
            let whole = (Size::known(lanes - 1), Size::from(rows), Size::known(lanes));
            let part = (Size::from(rows), Size::known(lanes), Size::from(rows));
            for (less, than, len) in [whole, part] {
                self.out.open(Control::If { less, than });
                let to = Subslice { of, at: Some(at.clone()), len: Some(len.clone()) };
                self.out
                    .push(Statement::CopyInto { to, from: Subslice { of: from, at: None, len: Some(len) } });
                self.out.close();
            }
        }
        if let Some(values) = values {
            self.fold_values(pass, &values, lanes);
        }
        (0..axis).for_each(|_| self.out.close());
        self.out.close();
    }

    /// Opens the loops over the outer axes. If numbers are folded over the rows of a tile, the last of these loops has
    /// blocks, and the numbers of a block are kept to be folded at once.
    fn open_outer(&mut self, pass: &Pass, lanes: usize) -> Option<TileNumbers> {
        let last = self.nest.row_axes - 2;
        if pass.row_folds.is_empty() {
            (0..=last).for_each(|outer| self.open(outer, &[]));
            return None;
        }
        let arrays = pass.row_folds.iter().map(|fold| {
            let values = self.out.variable(None, "values", Holds::Array(fold.dtype, lanes * AT_ONCE));
            self.array(values, FoldElement::of(fold));
            values
        });
        let arrays = arrays.collect();
        (0..last).for_each(|outer| self.open(outer, &[]));
        let most = self.out.size("most", Size::known(AT_ONCE));
        let [first, rows] = ["first", "rows"].map(|name| self.out.variable(None, name, Holds::Size));
        self.out.open(Control::Blocks { first, rows, from: Size::known(0), to: self.extent(last), most });
        let row = self.out.variable(None, "r", Holds::Size);
        self.out.open(Control::For { index: row, from: Size::known(0), to: rows.into() });
        let index = self.index(last);
        self.out.push(Statement::Size(index, Size::sum(vec![first.into(), row.into()])));
        Some(TileNumbers { arrays, first, rows, row })
    }

    /// Closes the loop over a block, and folds its numbers.
    fn fold_values(&mut self, pass: &Pass, values: &TileNumbers, lanes: usize) {
        let last = self.nest.row_axes - 2;
        self.out.close();
        for (fold, of) in pass.row_folds.iter().zip(&values.arrays) {
            let Target::Memory(view) = &fold.target else { unreachable!("numbers are folded in memory") };
            let (monoid, lanes) = (fold.monoid, Size::known(lanes));
            let folded = self.out.variable(None, "folded", Holds::Array(fold.dtype, AT_ONCE));
            self.out.push(Statement::Array(folded, BLANK));
            let folds = Subslice { of: folded, at: None, len: Some(values.rows.into()) };
            let (of, stride) = (Subslice::whole(*of), lanes.clone());
            self.out.push(Statement::FoldRows { monoid, folds, of, len: lanes, stride });
            let row = self.out.variable(None, "r", Holds::Size);
            self.out.open(Control::For { index: row, from: Size::known(0), to: values.rows.into() });
            let index = self.index(last);
            self.out.push(Statement::Size(index, Size::sum(vec![values.first.into(), row.into()])));
            let place =
                ElementRef { of: self.captures.target(view), index: self.position(view, 0..last + 1) };
            let value = Expr::Element(ElementRef { of: folded, index: row.into() });
            self.out.push(Statement::Combine { place, monoid, value, mask: None });
            self.out.close();
        }
    }

    /// Copies the rows of a tile of a matrix to columns of an array. Returns the array as one block for each element of a
    /// row.
    fn transposed_tile(&mut self, load: usize, rows: Var, lanes: usize) -> Var {
        let (view, of, axis) = (&self.nest.loads[load], self.captures.loads[load], self.nest.row_axes - 1);
        let (dtype, len) = (self.dtype(view), self.inner_len());
        let longest = len.literal().unwrap_or(LONGEST);
        let tile = self.out.derived(of, "tile", Holds::Array(dtype, lanes * longest));
        self.out.push(Statement::Array(tile, BLANK));
        let [row, column] = ["row", "column"].map(|name| self.out.variable(None, name, Holds::Size));
        self.out.open(Control::For { index: row, from: Size::known(0), to: rows.into() });
        self.out.open(Control::For { index: column, from: Size::known(0), to: len });
        let along = |index: Var, axis: usize| Size::from(index).times((&view.strides[axis]).into());
        let first = self.position(view, axis..axis + 1);
        let from =
            ElementRef { of, index: Size::sum(vec![first, along(row, axis), along(column, axis + 1)]) };
        let to = Size::sum(vec![Size::from(column).times(Size::known(lanes)), row.into()]);
        self.out.push(Statement::Store(ElementRef { of: tile, index: to }, Expr::Element(from)));
        self.out.close();
        self.out.close();
        let columns = self.out.derived(of, "columns", Holds::Borrowed(dtype));
        self.out.push(Statement::Borrow { var: columns, part: Subslice::whole(tile), written: false });
        let blocks = self.out.derived(of, "blocks", Holds::Chunks(dtype, lanes));
        let rest = self.out.derived(of, "rest", Holds::Borrowed(dtype));
        self.out.push(Statement::Chunks { var: blocks, rest, of: columns, written: false });
        blocks
    }

    /// Borrows what a load reads from the current position on.
    fn borrowed_row(&mut self, load: usize, len: Option<Size>) -> Var {
        let (view, of) = (&self.nest.loads[load], self.captures.loads[load]);
        let var = self.out.derived(of, "row", Holds::Borrowed(self.dtype(view)));
        let part = Subslice { of, at: Some(self.position(view, 0..self.nest.row_axes)), len };
        self.out.push(Statement::Borrow { var, part, written: false });
        var
    }

    /// Declares the folds of the rows of a tile, in a lane for each row.
    fn folds_of_tile(&mut self, pass: &Pass, lanes: usize) -> Vec<LaneFold> {
        let folds = pass.folds.iter().map(|fold| {
            let Target::Number(value) = fold.target else { unreachable!("each fold is one of a row") };
            let sums = self.out.variable(Some(value), "lanes", Holds::Array(fold.dtype, lanes));
            let of = FoldElement::of(fold);
            self.array(sums, of);
            LaneFold { sums, lanes, of, chains: None, last: None, combined: Combined::Inline }
        });
        folds.collect()
    }

    /// Adds the chains of a tile to its sums. There are at most two, so that nothing is gained by keeping rounding errors.
    fn add_chains(&mut self, sums: &[LaneFold], chains: &[LaneFold], lanes: usize) {
        let index = self.out.variable(None, "lane", Holds::Size);
        self.out.open(Control::Elements { index, count: Size::known(lanes) });
        for (sum, chain) in sums.iter().zip(chains) {
            let [place, value] = [sum, chain].map(|fold| ElementRef { of: fold.sums, index: index.into() });
            let (monoid, value) = (sum.of.monoid, Expr::Element(value));
            self.out.push(Statement::Combine { place, monoid, value, mask: None });
        }
        self.out.close();
    }

    /// Computes the numbers of the rows of a tile. Returns an array for each store and for each fold of numbers.
    fn numbers_of_tile(
        &mut self,
        pass: &Pass,
        variables: &Variables,
        folds: &[LaneFold],
        (lanes, rows): (usize, Var),
    ) -> (Vec<Var>, Vec<Var>) {
        let arrays = pass.row_stores.iter().map(|store| {
            let of = self.captures.target(&store.target);
            let array = self.out.derived(of, "stored", Holds::Array(self.dtype(&store.target), lanes));
            self.out.push(Statement::Array(array, BLANK));
            array
        });
        let arrays: Vec<Var> = arrays.collect();
        let folded = pass.row_folds.iter().map(|fold| {
            let Operand::Number(value) = fold.operand else { unreachable!("a tile folds numbers") };
            let array = self.out.variable(Some(value), "folded", Holds::Array(fold.dtype, lanes));
            self.array(array, FoldElement::of(fold));
            array
        });
        let folded: Vec<Var> = folded.collect();
        let lane = self.out.variable(None, "lane", Holds::Size);
        self.out.open(Control::Elements { index: lane, count: Size::known(lanes) });
        self.name_numbers(pass);
        let at = Size::from(lane);
        for (number, (fold, of)) in pass.folds.iter().zip(folds).enumerate() {
            let value = self.mean(fold, Expr::Element(ElementRef { of: of.sums, index: at.clone() }));
            self.define_number(number, value);
        }
        let first = pass.folds.len();
        for (number, node) in (first..).zip(&pass.numbers) {
            let value = self.node(node, &self.nodes(first..number), variables, Some(&at));
            self.define_number(number, value);
        }
        let nodes = self.nodes(first..first + pass.numbers.len());
        for (store, array) in pass.row_stores.iter().zip(&arrays) {
            let value = self.operand(&store.operand, &nodes, variables, Some(&at));
            self.out.push(Statement::Store(ElementRef { of: *array, index: at.clone() }, value));
        }
        if !folded.is_empty() {
            let mask = self.out.variable(None, "counts", Holds::Mask);
            self.out.push(Statement::Mask { var: mask, index: lane, below: rows.into() });
            for (fold, array) in pass.row_folds.iter().zip(&folded) {
                let value = self.operand(&fold.operand, &nodes, variables, Some(&at));
                let place = ElementRef { of: *array, index: at.clone() };
                self.out.push(Statement::Combine { place, monoid: fold.monoid, value, mask: Some(mask) });
            }
        }
        self.out.close();
        (arrays, folded)
    }
}

/// The nest with the last row axis as its innermost one.
fn across(nest: &Nest) -> Nest {
    let (row, along) = (nest.row_axes - 1, nest.row_axes);
    let mut across = Nest { passes: Vec::new(), ..nest.clone() };
    across.extents.swap(row, along);
    for view in &mut across.loads {
        view.strides.swap(row, along);
        let mut shape = view.shape.to_vec();
        shape.swap(row, along);
        view.shape = shape.into_iter().collect();
    }
    across
}
