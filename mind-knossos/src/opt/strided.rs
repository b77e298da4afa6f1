//! Loops over strided elements: copies of permuted tensors and of their parts, and sums of products.

use std::collections::HashSet;

use crate::{
    ir::{BlockId, Body, Instruction, Loop, Operation, Position, ValueId},
    scalars::Scalar,
    types::{TypeId, Types},
};

/// A nest of loops as a single operation.
#[derive(Debug)]
pub(crate) struct Strided<'a> {
    /// Instructions with the same result in all iterations. They run before the first one.
    pub shared: Vec<&'a Instruction>,
    pub form: Form<'a>,
}

#[derive(Debug)]
pub(crate) enum Form<'a> {
    /// A copy of the elements that an access reads.
    Copy(Access),
    /// A sum over the innermost level of products of two elements.
    Product(Product<'a>),
}

/// A matrix product. The levels before `rows` are a batch.
#[derive(Debug)]
pub(crate) struct Product<'a> {
    /// The summing loop.
    pub sum: &'a Instruction,
    /// The operand with the rows, or the matrix of a matrix-vector product.
    pub lhs: Access,
    /// The operand with the columns.
    pub rhs: Access,
    /// The level of the rows.
    pub rows: usize,
    /// The level of the columns, unless the right operand is a vector.
    pub columns: Option<usize>,
}

/// An access to a tensor in a nest.
#[derive(Debug)]
pub(crate) struct Access {
    pub tensor: ValueId,
    /// The members of the index.
    pub axes: Vec<Axis>,
    pub place: Position,
}

/// A member of an index: the counter of a loop, an invariant value, or the sum of both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Axis {
    /// The level of the loop, counted from 0 for the outermost.
    pub level: Option<usize>,
    pub start: Option<ValueId>,
}

impl Access {
    /// Whether successive iterations of a loop access different elements.
    fn moves_along(&self, level: usize) -> bool {
        self.axes.iter().any(|axis| axis.level == Some(level))
    }
}

/// The single operation that a loop performs, if it has this form.
pub(crate) fn strided<'a>(
    types: &Types,
    body: &'a Body,
    made: &[Option<&'a Instruction>],
    instruction: &Instruction,
) -> Option<Strided<'a>> {
    let Operation::Loop(Loop::Build, block) = instruction.operation else { return None };
    let mut nest =
        Nest { types, body, made, counters: Vec::new(), varying: HashSet::new(), shared: Vec::new() };
    nest.enter(block)?;
    let levels = nest.levels();
    let [element] = nest.rest(block)[..] else { return None };
    if element.result != body.block(block).result {
        return None;
    }
    let form = match element.operation {
        Operation::Index => {
            let access = nest.access(element)?;
            let (_, ty) = types.element(body.ty(access.tensor))?;
            // A row is copied faster as a whole.
            let is_row = access.axes.last()?.level == Some(levels - 1);
            let is_number = [TypeId::FLOAT, TypeId::INTEGER].contains(&ty);
            (!is_row && is_number).then_some(Form::Copy(access))?
        }
        Operation::Loop(Loop::Sum, inner) => Form::Product(nest.product(element, inner)?),
        _ => return None,
    };
    Some(Strided { shared: nest.shared, form })
}

/// The loops of a nest that have been entered.
struct Nest<'n, 'a> {
    types: &'n Types,
    body: &'a Body,
    made: &'n [Option<&'a Instruction>],
    /// The counter of each loop, the level of its first member, and its number of members.
    counters: Vec<(ValueId, usize, usize)>,
    /// The values that depend on a counter.
    varying: HashSet<ValueId>,
    shared: Vec<&'a Instruction>,
}

impl<'a> Nest<'_, 'a> {
    fn enter(&mut self, block: BlockId) -> Option<()> {
        let counter = self.body.block(block).parameters[0];
        let members = self.types.rank_of_index(self.body.ty(counter))? as usize;
        self.counters.push((counter, self.levels(), members));
        self.varying.insert(counter);
        Some(())
    }

    fn levels(&self) -> usize {
        self.counters.last().map_or(0, |(_, first, members)| first + members)
    }

    /// The instructions of a block except index arithmetic.
    fn rest(&mut self, block: BlockId) -> Vec<&'a Instruction> {
        let mut rest = Vec::new();
        for instruction in &self.body.block(block).instructions {
            let varies = instruction.operands.iter().any(|operand| self.varying.contains(operand));
            match &instruction.operation {
                Operation::Integer(_) | Operation::Size if !varies => self.shared.push(instruction),
                Operation::Tuple
                | Operation::Get(_)
                | Operation::Scalar(Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::NegI) => {
                    if varies {
                        self.varying.insert(instruction.result);
                    } else {
                        self.shared.push(instruction);
                    }
                }
                _ => {
                    self.varying.insert(instruction.result);
                    rest.push(instruction);
                }
            }
        }
        rest
    }

    fn access(&self, read: &Instruction) -> Option<Access> {
        let (index, tensor) = (read.operands[0], read.operands[1]);
        if self.varying.contains(&tensor) {
            return None;
        }
        let whole = self.counters.iter().find(|(counter, _, members)| *counter == index && *members > 1);
        let axes = match (whole, self.made[index.index()]) {
            (Some((_, first, members)), _) => {
                let axis = |level| Axis { level: Some(level), start: None };
                (*first..first + members).map(axis).collect()
            }
            (None, Some(Instruction { operation: Operation::Tuple, operands, .. })) => {
                operands.iter().map(|member| self.axis(*member)).collect::<Option<_>>()?
            }
            _ if self.body.ty(index) == TypeId::INTEGER => vec![self.axis(index)?],
            _ => return None,
        };
        Some(Access { tensor, axes, place: read.place })
    }

    fn axis(&self, member: ValueId) -> Option<Axis> {
        if !self.varying.contains(&member) {
            return Some(Axis { level: None, start: Some(member) });
        }
        if let Some(level) = self.level(member) {
            return Some(Axis { level: Some(level), start: None });
        }
        let made = self.made[member.index()]?;
        let (Operation::Scalar(Scalar::AddI), [x, y]) = (&made.operation, &made.operands[..]) else {
            return None;
        };
        let sum = |counter: ValueId, start: ValueId| {
            let level = self.level(counter)?;
            (!self.varying.contains(&start)).then_some(Axis { level: Some(level), start: Some(start) })
        };
        sum(*x, *y).or_else(|| sum(*y, *x))
    }

    /// The level of the loop whose counter a value is.
    fn level(&self, value: ValueId) -> Option<usize> {
        let counter = |wanted: ValueId| self.counters.iter().find(|(counter, ..)| *counter == wanted);
        if let Some((_, first, 1)) = counter(value) {
            return Some(*first);
        }
        match self.made[value.index()] {
            Some(Instruction { operation: Operation::Get(member), operands, .. }) => {
                counter(operands[0]).map(|(_, first, _)| first + member)
            }
            _ => None,
        }
    }

    /// Recognises a sum of products as a matrix product.
    fn product(&mut self, sum: &'a Instruction, block: BlockId) -> Option<Product<'a>> {
        if self.varying.contains(&sum.operands[0]) {
            return None;
        }
        let summed = self.levels();
        self.enter(block)?;
        if self.levels() != summed + 1 {
            return None;
        }
        let rest = self.rest(block);
        let (product, reads) = rest.split_last()?;
        let factor = |value: ValueId| {
            let read =
                reads.iter().find(|read| read.result == value && read.operation == Operation::Index)?;
            self.access(read)
        };
        if product.operation != Operation::Scalar(Scalar::MulF)
            || product.result != self.body.block(block).result
            || reads.iter().any(|read| !product.operands.contains(&read.result))
        {
            return None;
        }
        let (one, other) = (factor(product.operands[0])?, factor(product.operands[1])?);
        let once = |level| one.moves_along(level) != other.moves_along(level);
        if !one.moves_along(summed) || !other.moves_along(summed) {
            return None;
        }
        let last = summed - 1;
        if !once(last) {
            return None;
        }
        // The operand that moves along the last level has the columns, unless the other one has no rows.
        let (still, moving) = if one.moves_along(last) { (other, one) } else { (one, other) };
        match last.checked_sub(1).filter(|rows| still.moves_along(*rows) && !moving.moves_along(*rows)) {
            Some(rows) => Some(Product { sum, lhs: still, rhs: moving, rows, columns: Some(last) }),
            None => Some(Product { sum, lhs: moving, rhs: still, rows: last, columns: None }),
        }
    }
}
