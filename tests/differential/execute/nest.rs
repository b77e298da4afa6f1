//! Executes nests and finishes element by element in memory that steps share, so that an element that is overwritten
//! too early shows.

use std::collections::BTreeMap;

use mind_core::{
    interp::Elements,
    ir::ValueId,
    plan::{BufferId, Finish, Fold, Nest, Node, Operand, Pass, Store, Target, View},
    ty::DType,
};

use super::{
    Run,
    number::{Number, One, each_type, unwritten},
};

impl Run<'_> {
    pub(super) fn view_dtype(&self, view: &View) -> DType {
        self.buffer(view.buffer().expect("in memory")).ty.dtype
    }

    pub(super) fn nest(&mut self, nest: &Nest) {
        check(nest);
        let extents: Vec<usize> = nest.extents.iter().map(|extent| self.size(extent)).collect();
        let (rows, row) = extents.split_at(nest.row_axes);
        let mut sums = Sums::default();
        // Memory that sums are written to must not be read in the same nest.
        for fold in nest.folds() {
            if let Target::Memory(view) = &fold.target {
                let nothing = One::of(&unwritten(fold.dtype, 1), 0);
                for at in self.positions(view, &extents) {
                    self.write(view, at, nothing);
                }
            }
        }
        for outer in indices(rows) {
            let mut numbers: BTreeMap<ValueId, One> = BTreeMap::new();
            for pass in &nest.passes {
                self.pass(nest, pass, (&outer, row), &mut numbers, &mut sums);
            }
        }
        for fold in nest.folds() {
            let sums = sums.take(fold).unwrap_or_else(|| panic!("{fold:?} sums nothing"));
            let count = fold.count.as_ref().map(|count| self.size(count));
            for (at, elements) in sums {
                let sum = One::total(fold.monoid, &elements);
                let sum = count.map_or(sum, |count| sum.divided_by(count));
                match &fold.target {
                    Target::Memory(view) => self.write(view, at, sum),
                    Target::Total(value) => _ = self.locals.insert(*value, sum.wrap()),
                    Target::Number(_) => unreachable!("numbers end with their row"),
                }
            }
        }
    }

    /// Runs one pass over one row.
    fn pass(
        &mut self,
        nest: &Nest,
        pass: &Pass,
        (outer, row): (&[usize], &[usize]),
        numbers: &mut BTreeMap<ValueId, One>,
        sums: &mut Sums,
    ) {
        let mut row_sums: Vec<Vec<One>> = vec![Vec::new(); pass.folds.len()];
        for inner in indices(row) {
            let index = [outer, &inner].concat();
            let nodes = self.nodes(&pass.elements, &nest.loads, &index, numbers, None);
            let value = |run: &Self, operand: &Operand| {
                run.operand(operand, &nodes, &nest.loads, &index, numbers, None)
            };
            for (fold, row_sums) in pass.folds.iter().zip(&mut row_sums) {
                let value = value(self, &fold.operand);
                match &fold.target {
                    Target::Number(_) => row_sums.push(value),
                    Target::Memory(view) => sums.add(fold, self.position(view, &index), value),
                    Target::Total(_) => sums.add(fold, 0, value),
                }
            }
            let stores: Vec<One> = pass.stores.iter().map(|store| value(self, &store.operand)).collect();
            self.store_all(&pass.stores, &index, &stores);
        }
        for (fold, elements) in pass.folds.iter().zip(row_sums) {
            if let Target::Number(number) = fold.target {
                let count = fold.count.as_ref().map(|count| self.size(count));
                let sum = One::total(fold.monoid, &elements);
                numbers.insert(number, count.map_or(sum, |count| sum.divided_by(count)));
            }
        }
        let index = [outer, &vec![0; row.len()]].concat();
        let mut nodes: Vec<One> = Vec::new();
        for node in &pass.numbers {
            let value = self.node(node, &nodes, &nest.loads, &index, numbers, None);
            nodes.push(value);
            numbers.insert(node.value, value);
        }
        let value = |run: &Self, operand: &Operand| {
            let known = match operand {
                Operand::Number(_) | Operand::Scalar(_) => true,
                Operand::Load(load) => {
                    let strides = &nest.loads[*load].strides[nest.row_axes..];
                    strides.iter().all(|stride| run.size(stride) == 0)
                }
                Operand::Node(_) | Operand::Product => false,
            };
            assert!(known, "{operand:?} after a pass");
            run.operand(operand, &[], &nest.loads, &index, numbers, None)
        };
        let stores: Vec<One> = pass.row_stores.iter().map(|store| value(self, &store.operand)).collect();
        self.store_all(&pass.row_stores, &index, &stores);
        for fold in &pass.row_folds {
            let value = value(self, &fold.operand);
            match &fold.target {
                Target::Memory(view) => sums.add(fold, self.position(view, &index), value),
                Target::Total(_) => sums.add(fold, 0, value),
                Target::Number(_) => panic!("a sum over rows is no number of a row"),
            }
        }
    }

    /// Runs the finish of a product or convolution on its elements in row-major order.
    pub(super) fn finish<T: Number>(&mut self, finish: &Finish, elements: &[T]) {
        let elements: Vec<One> =
            elements.iter().map(|element| One::of(&T::wrap(vec![*element]), 0)).collect();
        let extents = [0, 1].map(|axis| self.size(&finish.extents[axis]));
        assert_eq!(elements.len(), extents[0] * extents[1]);
        assert!(!finish.stores.is_empty());
        finish.stores.iter().for_each(|store| same_element(&store.target, &finish.loads));
        for (index, element) in indices(&extents).into_iter().zip(&elements) {
            let numbers = BTreeMap::new();
            let nodes = self.nodes(&finish.nodes, &finish.loads, &index, &numbers, Some(*element));
            let stores: Vec<One> = finish
                .stores
                .iter()
                .map(|store| {
                    self.operand(&store.operand, &nodes, &finish.loads, &index, &numbers, Some(*element))
                })
                .collect();
            self.store_all(&finish.stores, &index, &stores);
        }
    }

    fn store_all(&mut self, stores: &[Store], index: &[usize], values: &[One]) {
        for (store, value) in stores.iter().zip(values) {
            self.write(&store.target, self.position(&store.target, index), *value);
        }
    }

    fn nodes(
        &self,
        nodes: &[Node],
        loads: &[View],
        index: &[usize],
        numbers: &BTreeMap<ValueId, One>,
        sum: Option<One>,
    ) -> Vec<One> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            let value = self.node(node, &values, loads, index, numbers, sum);
            values.push(value);
        }
        values
    }

    fn node(
        &self,
        node: &Node,
        values: &[One],
        loads: &[View],
        index: &[usize],
        numbers: &BTreeMap<ValueId, One>,
        sum: Option<One>,
    ) -> One {
        let operands = node.operands.iter();
        let operands: Vec<One> =
            operands.map(|operand| self.operand(operand, values, loads, index, numbers, sum)).collect();
        One::apply(node.op, node.dtype, &operands)
    }

    fn operand(
        &self,
        operand: &Operand,
        values: &[One],
        loads: &[View],
        index: &[usize],
        numbers: &BTreeMap<ValueId, One>,
        sum: Option<One>,
    ) -> One {
        match operand {
            Operand::Load(load) => {
                let view = &loads[*load];
                let Some(buffer) = view.buffer() else {
                    return One::of(&Elements::I64(vec![self.position(view, index) as i64]), 0);
                };
                One::of(self.region(buffer), self.range(buffer).start + self.position(view, index))
            }
            Operand::Node(node) => values[*node],
            Operand::Number(value) => {
                *numbers.get(value).unwrap_or_else(|| panic!("{value} is no number of the row yet"))
            }
            Operand::Scalar(scalar) => One::of(&self.scalar(scalar), 0),
            Operand::Product => sum.expect("only finishes have an element of a product"),
        }
    }

    fn position(&self, view: &View, index: &[usize]) -> usize {
        assert_eq!(view.strides.len(), index.len(), "a view has the rank of the index space");
        let steps = view.strides.iter().zip(index).map(|(stride, index)| self.size(stride) * index);
        self.size(&view.offset) + steps.sum::<usize>()
    }

    fn write(&mut self, view: &View, at: usize, value: One) {
        let buffer: BufferId = view.buffer().expect("targets are memory");
        assert!(at < self.len(buffer), "a store outside of its buffer");
        each_type!(&value.wrap(), value => self.elements_mut(buffer)[at] = value[0]);
    }
}

/// The summands of each fold, for each element of its target.
#[derive(Default)]
struct Sums(Vec<(*const Fold, BTreeMap<usize, Vec<One>>)>);

impl Sums {
    fn add(&mut self, fold: &Fold, at: usize, value: One) {
        let known = self.0.iter().position(|(known, _)| std::ptr::eq(*known, fold));
        let own = known.unwrap_or_else(|| {
            self.0.push((fold, BTreeMap::new()));
            self.0.len() - 1
        });
        self.0[own].1.entry(at).or_default().push(value);
    }

    /// The summands of a fold. It has none if its target is a number of a row.
    fn take(&mut self, fold: &Fold) -> Option<BTreeMap<usize, Vec<One>>> {
        if let Target::Number(_) = fold.target {
            return Some(BTreeMap::new());
        }
        self.0.iter_mut().find(|(known, _)| std::ptr::eq(*known, fold)).map(|(_, sums)| std::mem::take(sums))
    }
}

/// Checks the conditions that the documentation of the types states for a nest.
fn check(nest: &Nest) {
    assert!(nest.row_axes < nest.extents.len() && !nest.passes.is_empty());
    let still =
        |view: &View| view.strides[nest.row_axes..].iter().all(|stride| stride.as_literal() == Some(0));
    for pass in &nest.passes {
        // A later pass may load elements that an earlier one stored, so only loads of this pass count.
        let mut read = Vec::new();
        let nodes = pass.elements.iter().flat_map(|node| &node.operands);
        let stored = pass.stores.iter().map(|store| &store.operand);
        for operand in nodes.chain(stored).chain(pass.folds.iter().map(|fold| &fold.operand)) {
            if let Operand::Load(load) = operand {
                read.push(nest.loads[*load].clone());
            }
        }
        pass.stores.iter().for_each(|store| same_element(&store.target, &read));
        for number in &pass.numbers {
            for operand in &number.operands {
                if let Operand::Load(load) = operand {
                    assert!(still(&nest.loads[*load]), "a number reads an element");
                }
            }
        }
        assert!(pass.row_stores.iter().all(|store| still(&store.target)));
        for fold in &pass.row_folds {
            if let Target::Memory(view) = &fold.target {
                assert!(still(view), "a sum over rows moves along the elements");
            }
        }
        for fold in &pass.folds {
            if let Target::Memory(view) = &fold.target {
                for (stride, extent) in view.strides.iter().zip(&nest.extents).skip(nest.row_axes) {
                    assert!(
                        stride.as_literal() != Some(0) || extent.is_one(),
                        "a sum to memory stands still along the elements"
                    );
                }
            }
        }
    }
}

/// Checks that loads of the buffer that is stored read the element that is stored.
fn same_element(target: &View, loads: &[View]) {
    for load in loads.iter().filter(|load| load.source == target.source) {
        assert_eq!(
            (&load.offset, &load.strides),
            (&target.offset, &target.strides),
            "a load of another element"
        );
    }
}

/// All indices of a space in row-major order. Without axes, there is one empty index.
fn indices(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut indices = vec![Vec::new()];
    for extent in extents {
        indices =
            indices.iter().flat_map(|index| (0..*extent).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    indices
}
