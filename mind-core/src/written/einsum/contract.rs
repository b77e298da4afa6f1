//! The operations of an einsum: diagonals, sums, and one product for each pair in the order.
//!
//! A pair whose common indices are summed is a product of matrices if an operand has further indices. Its axes are
//! grouped: those of both operands that stay are the batch, and the others become rows, columns, and the inner
//! dimension. Neighbouring axes are merged before axes are reordered, so that no element moves in memory. Every other
//! pair is an elementwise product, followed by a sum.

use std::collections::BTreeMap;

use super::{
    equation::{Index, Indices},
    order::{self, Extents as _, Pairs},
};
use crate::{
    dim::{Bindings, Dim, Overflow},
    ir::{Made, Slice},
    map::Map,
    ty::MAX_RANK,
    written::{
        CompositeOp, Op, Own, Permutation, expanded, permuted_by, reshaped_to, resolve::position, sliced_by,
        squeezed, summed,
    },
};

/// The extent that a symbol counts as when the order is chosen.
const SYMBOL: i64 = 128;

/// The fewest rows or columns for which a matrix is read where it is, once per element of an axis between them.
const FEW: f64 = 16.0;

/// An operand of an einsum.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// The index of each axis.
    pub(crate) indices: Vec<Index>,
    /// The axes of extent 1 that are broadcast.
    pub(crate) broadcast: Vec<usize>,
}

/// An einsum as operations.
#[derive(Debug)]
pub(crate) struct Contraction {
    /// The operations, of which the last one is the result. If there are none, it is the only operand.
    pub(crate) steps: Vec<CompositeOp>,
    /// The products in order. Numbers count the operands first, then the results of products.
    pub(crate) order: Pairs,
    /// The number of multiplications of these products.
    pub(crate) multiplications: Result<Dim, Overflow>,
}

/// The reason why an einsum has no operations.
#[derive(Debug)]
pub(crate) enum Impossible {
    /// A result on the way has too many axes.
    Rank,
    /// An extent exceeds a limit.
    Extent(Overflow),
}

impl From<Overflow> for Impossible {
    fn from(overflow: Overflow) -> Self {
        Self::Extent(overflow)
    }
}

/// The operations that compute an output from operands whose indices have these extents.
///
/// # Errors
/// A limit that they exceed.
pub(crate) fn contraction(
    operands: &[Operand],
    output: &[Index],
    extents: &BTreeMap<Index, Dim>,
) -> Result<Contraction, Impossible> {
    let sizes = extents.iter().map(|(index, extent)| (*index, estimate(extent))).collect();
    let mut making = Making { extents, sizes, inputs: operands.len(), steps: Vec::new() };
    let kept: Indices = output.iter().copied().collect();
    let mut values = Vec::new();
    for (at, operand) in operands.iter().enumerate() {
        values.push(making.distinct(at, operand)?);
    }
    for at in 0..values.len() {
        let others =
            values.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, value)| value.set());
        let needed = others.fold(kept, Indices::with);
        values[at] = making.summed(values[at].clone(), needed);
    }
    let sets: Vec<Indices> = values.iter().map(Value::set).collect();
    let order = order::order(&sets, kept, &making).ok_or(Impossible::Rank)?;
    let (mut live, mut multiplications) = (vec![true; values.len()], Ok(Dim::ZERO));
    for (number, (a, b)) in order.iter().copied().enumerate() {
        [a, b].into_iter().for_each(|used| live[used] = false);
        let others = values.iter().zip(&live).filter(|(_, live)| **live).map(|(value, _)| value.set());
        let needed = others.fold(kept, Indices::with);
        let all: Vec<Dim> =
            values[a].set().with(values[b].set()).iter().map(|index| extents[&index].clone()).collect();
        multiplications = multiplications.and_then(|sum: Dim| sum.add(&Dim::product(&all)?));
        let last = (number + 1 == order.len()).then_some(output);
        let product = making.pair(values[a].clone(), values[b].clone(), needed, last)?;
        values.push(product);
        live.push(true);
    }
    let result = values.pop().expect("there is an operand");
    making.ordered(result, output);
    Ok(Contraction { steps: making.steps, order, multiplications })
}

/// A value on the way: its number, and the index of each axis.
#[derive(Clone, Debug)]
struct Value {
    at: usize,
    indices: Vec<Index>,
}

impl Value {
    fn set(&self) -> Indices {
        self.indices.iter().copied().collect()
    }

    /// The runs of neighbouring axes whose indices are in a set.
    fn runs(&self, of: Indices) -> Vec<Vec<Index>> {
        let runs = self.indices.chunk_by(|a, b| of.contains(*a) == of.contains(*b));
        runs.filter(|run| of.contains(run[0])).map(<[Index]>::to_vec).collect()
    }

    /// Whether axes are neighbours in this order.
    fn has_run(&self, run: &[Index]) -> bool {
        run.is_empty() || self.indices.windows(run.len()).any(|window| window == run)
    }

    /// The indices of a set, in the order of the axes.
    fn those(&self, of: Indices) -> Vec<Index> {
        self.indices.iter().copied().filter(|index| of.contains(*index)).collect()
    }
}

struct Making<'a> {
    extents: &'a BTreeMap<Index, Dim>,
    /// The extents for costs.
    sizes: BTreeMap<Index, f64>,
    inputs: usize,
    steps: Vec<CompositeOp>,
}

impl order::Extents for Making<'_> {
    fn of(&self, index: Index) -> f64 {
        self.sizes[&index]
    }
}

impl Making<'_> {
    fn push(&mut self, op: Op, operands: &[usize]) -> usize {
        self.steps.push(CompositeOp { op, operands: operands.to_vec() });
        self.inputs + self.steps.len() - 1
    }

    fn shape(&self, groups: &[Vec<Index>]) -> Result<Vec<Dim>, Overflow> {
        let extent = |group: &Vec<Index>| {
            Dim::product(&group.iter().map(|index| self.extents[index].clone()).collect::<Vec<_>>())
        };
        groups.iter().map(extent).collect()
    }

    fn size(&self, indices: &[Index]) -> f64 {
        self.count(indices.iter().copied().collect())
    }

    /// An operand with one axis for each index: broadcast axes are removed, and repeated ones become their diagonal.
    fn distinct(&mut self, at: usize, operand: &Operand) -> Result<Value, Impossible> {
        let mut value = Value { at, indices: Vec::new() };
        for (axis, index) in operand.indices.iter().enumerate() {
            if !operand.broadcast.contains(&axis) {
                value.indices.push(*index);
            }
        }
        if !operand.broadcast.is_empty() {
            let axes = operand.broadcast.iter().copied().map(position).collect();
            value.at = self.push(squeezed(axes), &[at]);
        }
        while let Some((first, second)) = repeated(&value.indices) {
            value = self.diagonal(value, first, second)?;
        }
        Ok(value)
    }

    /// The diagonal of two axes with the same index, in the place of the first.
    fn diagonal(&mut self, value: Value, first: usize, second: usize) -> Result<Value, Impossible> {
        let index = value.indices[first];
        let extent = self.extents[&index].clone();
        let mut indices = value.indices.clone();
        indices.remove(second);
        let Some(count) = extent.as_literal().filter(|count| count.checked_mul(*count).is_some()) else {
            return Ok(Value { at: self.masked(&value, first, second, &extent), indices });
        };
        // Rows and columns become neighbours, then one axis, along which the diagonal has a fixed step.
        let mut neighbours: Vec<usize> = (0..value.indices.len()).filter(|axis| *axis != second).collect();
        neighbours.insert(first + 1, second);
        let at = self.transposed(value.at, &neighbours);
        let square = |extent: Dim| -> Vec<Dim> {
            let mut shape: Vec<Dim> = indices.iter().map(|index| self.extents[index].clone()).collect();
            shape[first] = extent;
            shape
        };
        let shape = square(Dim::literal(count * count));
        let at = self.push(reshaped_to(shape.clone()), &[at]);
        let mut steps = vec![1; shape.len()];
        steps[first] = count.checked_add(1).ok_or(Overflow::Range)?;
        let slice = Slice { starts: vec![Dim::ZERO; shape.len()], ends: shape, steps };
        Ok(Value { at: self.push(sliced_by(slice), &[at]), indices })
    }

    /// The diagonal of two axes of unknown extent: the sum of one of them, where the rest is 0.
    fn masked(&mut self, value: &Value, first: usize, second: usize, extent: &Dim) -> usize {
        let rank = value.indices.len();
        let positions = |making: &mut Self, axis: usize| {
            let iota = Op::Made(Made::Iota { shape: vec![extent.clone()], axis: 0 });
            let at = making.push(iota, &[]);
            let behind: Vec<i64> = (1..rank - axis).map(position).collect();
            if behind.is_empty() { at } else { making.push(expanded(behind), &[at]) }
        };
        let pair = [positions(self, first), positions(self, second)];
        let mask = self.push(Op::Map(Map::Eq), &pair);
        let zeros = self.push(Op::Own(Own::FilledLike { one: false }), &[value.at]);
        let chosen = self.push(Op::Map(Map::SELECTION), &[mask, value.at, zeros]);
        self.push(summed(vec![position(second)]), &[chosen])
    }

    /// A value summed over the indices that nothing needs.
    fn summed(&mut self, value: Value, needed: Indices) -> Value {
        let is_summed = |index: &Index| !needed.contains(*index);
        let axes: Vec<i64> = value
            .indices
            .iter()
            .enumerate()
            .filter(|(_, index)| is_summed(index))
            .map(|(axis, _)| position(axis))
            .collect();
        if axes.is_empty() {
            return value;
        }
        let indices = value.indices.iter().copied().filter(|index| !is_summed(index)).collect();
        Value { at: self.push(summed(axes), &[value.at]), indices }
    }

    fn transposed(&mut self, at: usize, axes: &[usize]) -> usize {
        if axes.is_sorted() {
            return at;
        }
        let permutation = Permutation::Written(axes.iter().copied().map(position).collect());
        self.push(permuted_by(permutation), &[at])
    }

    /// A value with its axes in this order.
    fn ordered(&mut self, value: Value, order: &[Index]) -> Value {
        let axis = |index: &Index| {
            value.indices.iter().position(|own| own == index).expect("the value has the index")
        };
        let axes: Vec<usize> = order.iter().map(axis).collect();
        Value { at: self.transposed(value.at, &axes), indices: order.to_vec() }
    }

    /// The product of two values, summed over the common indices that nothing else needs.
    fn pair(
        &mut self,
        a: Value,
        b: Value,
        needed: Indices,
        output: Option<&[Index]>,
    ) -> Result<Value, Impossible> {
        let (in_a, in_b) = (a.set(), b.set());
        let inner = in_a.common(in_b).without(needed);
        let alone = [in_a.without(in_b), in_b.without(in_a)];
        let is_sum_of_all = in_a == inner && in_b == inner;
        if is_sum_of_all && a.indices != b.indices {
            // Copying one operand in the order of the other is faster than reading it across memory.
            let groups = [a.indices.clone()];
            let parts = [self.grouped(a, &groups)?, self.grouped(b, &groups)?];
            return Ok(Value { at: self.push(Op::Own(Own::At), &parts), indices: Vec::new() });
        }
        if inner.is_empty() || alone.iter().all(|alone| alone.is_empty()) {
            let order = match output.filter(|_| inner.is_empty()) {
                Some(output) => output.to_vec(),
                None => {
                    let (large, small) =
                        if self.size(&b.indices) > self.size(&a.indices) { (&b, &a) } else { (&a, &b) };
                    let rest = small.those(small.set().without(large.set()));
                    large.indices.iter().copied().chain(rest).collect()
                }
            };
            let parts = [a, b].map(|value| self.aligned(value, &order));
            let product = Value { at: self.push(Op::Map(Map::TIMES), &parts), indices: order };
            return Ok(self.summed(product, needed));
        }
        // The last axis of the output is a column if it can be.
        let last = output.and_then(|output| output.last());
        if last.is_some_and(|last| alone[0].contains(*last)) {
            return self.product([b, a], [alone[1], alone[0]], inner, output);
        }
        self.product([a, b], alone, inner, output)
    }

    /// A value that broadcasts to axes in this order.
    fn aligned(&mut self, value: Value, order: &[Index]) -> usize {
        let own = value.set();
        let kept: Vec<Index> = order.iter().copied().filter(|index| own.contains(*index)).collect();
        let value = self.ordered(value, &kept);
        // Axes before the first one need not be written.
        let first = order.iter().position(|index| own.contains(*index)).unwrap_or(order.len());
        let missing = order[first..].iter().enumerate().filter(|(_, index)| !own.contains(**index));
        let axes: Vec<i64> = missing.map(|(axis, _)| position(axis)).collect();
        match axes.is_empty() {
            true => value.at,
            false => self.push(expanded(axes), &[value.at]),
        }
    }

    /// A product of matrices. `alone` has the indices of each operand that the other one lacks.
    fn product(
        &mut self,
        operands: [Value; 2],
        alone: [Indices; 2],
        inner: Indices,
        output: Option<&[Index]>,
    ) -> Result<Value, Impossible> {
        let [a, b] = &operands;
        let both = a.set().common(b.set()).without(inner);
        let in_output_order = |mut indices: Vec<Index>| {
            if let Some(output) = output {
                indices.sort_by_key(|index| output.iter().position(|other| other == index));
            }
            indices
        };
        let batch = in_output_order(a.those(both));
        // The order of the inner indices in which the least has to be copied.
        let copied = |inner: &[Index]| {
            let copies = operands.iter().filter(|value| !value.has_run(inner));
            copies.map(|value| self.size(&value.indices)).sum::<f64>()
        };
        let [first, second] = [a, b].map(|value| value.those(inner));
        let inner = if copied(&second) < copied(&first) { second } else { first };
        // The rows and columns: neighbouring axes are merged. If there are several runs of them, the one that is
        // contiguous in memory, or else the longest, is merged. The others are batch axes that the other operand lacks,
        // unless matrices would be too small.
        let mut sides = [0, 1].map(|side| {
            let value = &operands[side];
            let runs = value.runs(alone[side]);
            let rank = |run: &Vec<Index>| {
                let size = self.size(run);
                (size >= FEW && run.last() == value.indices.last(), size)
            };
            let by_rank = |a: &&Vec<Index>, b: &&Vec<Index>| {
                let (a, b) = (rank(a), rank(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            };
            let longest = runs.iter().max_by(by_rank).cloned().unwrap_or_default();
            let is_read_in_place = runs.len() > 1 && value.has_run(&inner) && self.size(&longest) >= FEW;
            let merged = if is_read_in_place { longest } else { in_output_order(value.those(alone[side])) };
            let extra = value.those(alone[side]);
            let extra = in_output_order(extra.into_iter().filter(|index| !merged.contains(index)).collect());
            Side { merged, extra }
        });
        let axes = |sides: &[Side; 2]| batch.len() + sides[0].extra.len() + sides[1].extra.len() + 2;
        if axes(&sides) > MAX_RANK {
            for side in &mut sides {
                side.merged = in_output_order(side.extra.drain(..).chain(side.merged.drain(..)).collect());
            }
        }
        let batch = if axes(&sides) > MAX_RANK {
            vec![batch]
        } else {
            batch.into_iter().map(|index| vec![index]).collect()
        };
        let [a, b] = operands;
        let [rows, columns] = sides;
        let is_vector = [&rows, &columns].map(Side::is_empty);
        if batch.is_empty() && rows.extra.is_empty() && columns.extra.is_empty() && is_vector.contains(&true)
        {
            let groups = |own: Vec<Index>, inner: &Vec<Index>, is_left: bool| match (own.is_empty(), is_left)
            {
                (true, _) => vec![inner.clone()],
                (false, true) => vec![own, inner.clone()],
                (false, false) => vec![inner.clone(), own],
            };
            let lhs = self.grouped(a, &groups(rows.merged.clone(), &inner, true))?;
            let rhs = self.grouped(b, &groups(columns.merged.clone(), &inner, false))?;
            let at = self.push(Op::Own(Own::At), &[lhs, rhs]);
            let merged = if rows.merged.is_empty() { columns.merged } else { rows.merged };
            return Ok(self.parted(at, vec![merged])?);
        }
        let single = |indices: &[Index]| indices.iter().map(|index| vec![*index]).collect::<Vec<_>>();
        let ones = |indices: &[Index]| vec![Vec::new(); indices.len()];
        let (of_rows, of_columns) = (single(&rows.extra), single(&columns.extra));
        let lhs =
            [batch.clone(), of_rows.clone(), ones(&columns.extra), vec![rows.merged.clone(), inner.clone()]];
        let rhs = [batch.clone(), ones(&rows.extra), of_columns.clone(), vec![inner, columns.merged.clone()]];
        let lhs = self.grouped(a, &lhs.concat())?;
        let rhs = self.grouped(b, &rhs.concat())?;
        let at = self.push(Op::Own(Own::At), &[lhs, rhs]);
        Ok(self.parted(at, [batch, of_rows, of_columns, vec![rows.merged, columns.merged]].concat())?)
    }

    /// A value whose axes are merged in groups. An empty group is an axis of extent 1.
    fn grouped(&mut self, value: Value, groups: &[Vec<Index>]) -> Result<usize, Overflow> {
        let order: Vec<Index> = groups.concat();
        let merged: Vec<&Vec<Index>> = groups.iter().filter(|group| !group.is_empty()).collect();
        let is_in_place = merged.iter().all(|group| value.has_run(group));
        let at = if merged.iter().all(|group| group.len() == 1) {
            self.ordered(value, &order).at
        } else if is_in_place {
            // Merging before axes are reordered moves no element.
            let place = |group: &Vec<Index>| value.indices.iter().position(|index| *index == group[0]);
            let mut placed: Vec<usize> = (0..merged.len()).collect();
            placed.sort_by_key(|at| place(merged[*at]));
            let in_place: Vec<Vec<Index>> = placed.iter().map(|at| merged[*at].clone()).collect();
            let shape = self.shape(&in_place)?;
            let at = self.push(reshaped_to(shape), &[value.at]);
            let axis = |group| placed.iter().position(|at| *at == group).expect("each group has a place");
            let axes: Vec<usize> = (0..merged.len()).map(axis).collect();
            self.transposed(at, &axes)
        } else {
            // The last axis stays last, so that neighbours in memory are copied together.
            let last = value.indices.last();
            let mut placed: Vec<usize> = (0..merged.len()).collect();
            placed.sort_by_key(|at| last.is_some_and(|last| merged[*at].contains(last)));
            let copied: Vec<Vec<Index>> = placed.iter().map(|at| merged[*at].clone()).collect();
            let at = self.ordered(value, &copied.concat()).at;
            let shape = self.shape(&copied)?;
            let at = self.push(reshaped_to(shape), &[at]);
            let axis = |group| placed.iter().position(|at| *at == group).expect("each group has a place");
            let axes: Vec<usize> = (0..merged.len()).map(axis).collect();
            self.transposed(at, &axes)
        };
        let ones: Vec<i64> = groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.is_empty())
            .map(|(axis, _)| position(axis))
            .collect();
        if ones.is_empty() {
            return Ok(at);
        }
        Ok(self.push(expanded(ones), &[at]))
    }

    /// A value whose axes are groups, with one axis for each index.
    fn parted(&mut self, at: usize, groups: Vec<Vec<Index>>) -> Result<Value, Overflow> {
        let indices = groups.concat();
        if groups.iter().all(|group| group.len() == 1) {
            return Ok(Value { at, indices });
        }
        let single: Vec<Vec<Index>> = indices.iter().map(|index| vec![*index]).collect();
        let shape = self.shape(&single)?;
        Ok(Value { at: self.push(reshaped_to(shape), &[at]), indices })
    }
}

/// The rows or the columns of a product.
struct Side {
    /// The axes that become one.
    merged: Vec<Index>,
    /// The axes that become axes of the batch.
    extra: Vec<Index>,
}

impl Side {
    fn is_empty(&self) -> bool {
        self.merged.is_empty() && self.extra.is_empty()
    }
}

/// An extent for costs.
fn estimate(extent: &Dim) -> f64 {
    let mut symbols = Bindings::new();
    extent.for_each_symbol(&mut |symbol| _ = symbols.insert(symbol.clone(), Dim::literal(SYMBOL)));
    let extent = extent.substitute(&symbols).ok().and_then(|extent| extent.as_literal());
    extent.unwrap_or(SYMBOL).max(1) as f64
}

/// The first two axes with the same index.
fn repeated(indices: &[Index]) -> Option<(usize, usize)> {
    let second = (0..indices.len()).find(|axis| indices[..*axis].contains(&indices[*axis]))?;
    let first = indices.iter().position(|index| *index == indices[second])?;
    Some((first, second))
}
