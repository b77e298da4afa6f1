//! Lookups that are hoisted out of loops: rows of tensors, and the accumulator elements that an iteration adds to.
//!
//! If a loop traverses a row from an element that is fixed during the loop, the row is looked up once as a slice of the
//! loop's length. Iterations then need no bounds checks. A lookup may move before the loop only if an iteration would
//! certainly perform it. An accumulator element that only one iteration adds to is kept in a variable during that
//! iteration. If the loops write every element of a new accumulator in this way, the accumulator need not be cleared
//! first.
//!
//! Indices are compared as text. An index that is the sum of a counter and a loop-invariant term has its own variable
//! in each iteration, so the text of its sum is compared ([`Writer::sums`]).

use super::{
    body::Writer,
    instructions::integer,
    kinds::Kind,
    repr::{AccumulatorPart, Leaf, PartStep, Repr},
};
use crate::{
    ir::{BlockId, Instruction, Operation, Projection, ValueId},
    scalars::Scalar,
};

/// A row of a tensor that a loop traverses.
pub(super) struct Row {
    /// The tensor's view.
    pub tensor: String,
    /// The index. Its last member is the counter, possibly plus an invariant term.
    index: Vec<String>,
    /// The name of the slice.
    pub slice: String,
    /// The counter.
    counter: String,
}

/// A named slice of a row that is in scope at the current statement.
pub(super) struct Slice {
    tensor: String,
    /// The index of its first element.
    first: String,
    /// The number of its elements, by the extent's first name.
    extent: String,
    name: String,
}

/// An accumulator element that an iteration adds to.
pub(super) struct Element {
    pub base: String,
    pub index: Vec<String>,
    pub variable: String,
    /// The row that contains it, and whether the row is uninitialised there. `None` for a scalar accumulator.
    pub row: Option<(String, bool)>,
}

/// An open loop.
pub(super) struct Turns {
    /// The number of blocks around a statement of its body.
    depth: usize,
    block: BlockId,
    /// Its counters, as Integer expressions.
    pub counters: Vec<String>,
    /// Its extents, by their first names.
    extents: Vec<String>,
}

/// The statements around the body of a loop.
#[derive(Default)]
pub(super) struct Around {
    /// Before the innermost loop.
    pub before: String,
    /// At the start of an iteration.
    pub begin: String,
    /// At the end of an iteration.
    pub end: String,
    rows: usize,
    pub elements: usize,
    slices: usize,
}

/// An index into a row that a loop traverses.
#[derive(Clone)]
struct RowIndex {
    /// Its members. The last one is the counter, possibly plus an invariant term.
    members: Vec<String>,
    /// The last member in the first iteration.
    start: String,
}

impl RowIndex {
    /// The index in the first iteration.
    fn first(&self) -> String {
        let (_, lead) = self.members.split_last().expect("an index has a member");
        let members: Vec<&str> = lead.iter().map(String::as_str).chain([&*self.start]).collect();
        format!("[{}]", members.join(", "))
    }
}

/// A use of an accumulator in a loop.
struct Use {
    base: String,
    /// The part that is added to, if it is an element of the row that the loop traverses.
    place: Option<(AccumulatorPart, RowIndex)>,
    /// Whether every iteration adds to it.
    always: bool,
}

impl Writer<'_> {
    /// Hoists the lookups of a loop's body. [`Writer::leave`] ends their scope.
    pub(super) fn enter(&mut self, block: BlockId, counters: &[String], extents: &[String]) -> Around {
        // Slices that are defined inside an outer loop are not in scope after it.
        let slices = if extents.len() > 1 { self.slices.len() } else { usize::MAX };
        let (rows, elements) = (self.rows.len(), self.elements.len());
        let mut around = Around { rows, elements, slices, ..Around::default() };
        let counter = self.body.block(block).parameters[0];
        let texts: Vec<_> = counters.iter().map(|counter| format!("({counter} as i64)")).collect();
        self.loops.push(Turns {
            depth: self.depth + 1,
            block,
            counters: texts.clone(),
            extents: extents.iter().map(|extent| self.first_name(extent)).collect(),
        });
        let (Some(last), Some(count)) = (counters.last(), extents.last()) else { return around };
        let body = self.body;
        for instruction in &body.block(block).instructions {
            // Text before a failure must still be printed, so lookups after a print are not hoisted.
            if self.prints(instruction) {
                break;
            }
            if instruction.operation != Operation::Index {
                continue;
            }
            let (index, tensor) = (instruction.operands[0], instruction.operands[1]);
            let Some(index) = self.row_index(index, counter, &texts) else { continue };
            let Some(repr) = self.known(tensor) else { continue };
            for leaf in repr.clone().leaves() {
                let tensor = leaf.text().to_owned();
                if self.row_of(&tensor, &index.members).is_none() {
                    let place = self.kinds.at(&self.kinds.program.function(self.id).name, instruction.place);
                    let slice = self.slice(&tensor, &index.first(), count, &place, &mut around.before);
                    let (index, counter) = (index.members.clone(), last.clone());
                    self.rows.push(Row { tensor, index, slice, counter });
                }
            }
        }
        if !self.block_prints(block) {
            self.enter_accumulators(block, counter, &texts, last, count, &mut around);
        }
        around
    }

    /// Whether an instruction may print.
    fn prints(&self, instruction: &Instruction) -> bool {
        match &instruction.operation {
            Operation::Print => true,
            Operation::Call(callee) => self.reached.prints(*callee),
            operation => operation.blocks().any(|block| self.block_prints(block)),
        }
    }

    fn block_prints(&self, block: BlockId) -> bool {
        self.body.block(block).instructions.iter().any(|inner| self.prints(inner))
    }

    pub(super) fn leave(&mut self, around: &Around) {
        self.rows.truncate(around.rows);
        self.elements.truncate(around.elements);
        self.slices.truncate(around.slices);
        self.loops.pop();
    }

    /// The name of the slice of a row from an index on. Reuses an existing slice, or defines one in `before`.
    fn slice(&mut self, tensor: &str, first: &str, count: &str, place: &str, before: &mut String) -> String {
        let extent = self.first_name(count);
        let same = |slice: &&Slice| slice.tensor == tensor && slice.first == first;
        let mut known = self.slices.iter().filter(same);
        let longer = match known.clone().find(|slice| slice.extent == extent) {
            Some(found) => return found.name.clone(),
            None => known.next().map(|slice| slice.name.clone()),
        };
        let name = self.fresh("h");
        let row = match longer {
            Some(longer) => format!("row_of({longer}, {first}, {count}, {place})"),
            None => format!("row({first}, {count}, {place})"),
        };
        *before += &format!("let {name} = &{tensor}.{row}?[..{count}];\n");
        self.slices.push(Slice {
            tensor: tensor.to_owned(),
            first: first.to_owned(),
            extent,
            name: name.clone(),
        });
        name
    }

    fn enter_accumulators(
        &mut self,
        block: BlockId,
        counter: ValueId,
        texts: &[String],
        last: &str,
        count: &str,
        around: &mut Around,
    ) {
        let mut uses = Vec::new();
        self.uses(block, Some((counter, texts)), true, &mut uses);
        let mut done: Vec<String> = Vec::new();
        for position in 0..uses.len() {
            let Use { base, place: Some((place, index)), .. } = &uses[position] else { continue };
            if done.contains(base) {
                continue;
            }
            done.push(base.clone());
            let of_base: Vec<&Use> = uses.iter().filter(|other| other.base == *base).collect();
            let same = |own: &RowIndex| own.members == index.members;
            let have_one_index =
                of_base.iter().all(|other| other.place.as_ref().is_some_and(|(_, own)| same(own)));
            let like = self.likes.get(base).cloned();
            let sure = of_base.iter().any(|other| other.always)
                || like.as_ref().is_some_and(|like| self.row_of(like, &index.members).is_some());
            if !have_one_index || !sure {
                continue;
            }
            let (row, variable) = (self.fresh("h"), self.fresh("t"));
            let (first, at) = (index.first(), self.at());
            around.before +=
                &format!("let {row} = &mut {base}.row_mut({first}, {count}, {at})?[..{count}];\n");
            let fresh = self.covers(place, &index.members, like.as_deref(), of_base.len());
            if fresh {
                self.written.insert(base.clone());
                around.begin += &format!("let mut {variable} = 0.0_{};\n", self.kinds.float());
            } else {
                around.begin += &format!("let mut {variable} = {row}[{last}];\n");
            }
            around.end += &format!("{row}[{last}] = {variable};\n");
            self.touched.insert(base.clone());
            let (base, index) = (base.clone(), index.members.clone());
            self.elements.push(Element { base, index, variable, row: Some((row, fresh)) });
        }
    }

    /// Whether the open loops write every element of an accumulator that nothing was added to before.
    fn covers(&self, place: &AccumulatorPart, index: &[String], like: Option<&str>, uses: usize) -> bool {
        let (Some(owner), Some(like)) = (place.owner, like) else { return false };
        let (_, depth) = self.owner_of(owner);
        let loops: Vec<&Turns> = self.loops.iter().filter(|turns| turns.depth > depth).collect();
        let nested = loops.iter().enumerate().all(|(level, turns)| turns.depth == depth + 1 + level);
        let counters: Vec<&String> = loops.iter().flat_map(|turns| &turns.counters).collect();
        let extents: Vec<&String> = loops.iter().flat_map(|turns| &turns.extents).collect();
        let whole = extents
            .iter()
            .enumerate()
            .all(|(axis, extent)| **extent == self.first_name(&format!("{like}.size[{axis}]")));
        let mut all = Vec::new();
        if let Some(outermost) = loops.first() {
            self.uses(outermost.block, None, true, &mut all);
        }
        let only = all.iter().filter(|other| other.base == place.base).count() == uses;
        nested
            && whole
            && only
            && counters.len() == index.len()
            && counters.iter().zip(index).all(|(counter, index)| *counter == index)
            && !self.touched.contains(&place.base)
    }

    /// Collects every use in a block of accumulators that are defined outside of it.
    fn uses(&self, block: BlockId, row: Option<(ValueId, &[String])>, always: bool, found: &mut Vec<Use>) {
        let body = self.body;
        for instruction in &body.block(block).instructions {
            for (position, operand) in instruction.operands.iter().enumerate() {
                let Some(repr) = self.known(*operand) else { continue };
                let places: Vec<&AccumulatorPart> = places(repr);
                if places.is_empty() {
                    continue;
                }
                let added = match (&instruction.operation, row) {
                    (Operation::AddTo(steps), Some((counter, texts))) if position == 0 => {
                        self.added(repr, steps, instruction.operands[1], counter, texts)
                    }
                    _ => None,
                };
                match added {
                    Some((leaves, index)) => {
                        for place in leaves {
                            let base = place.base.clone();
                            found.push(Use { base, place: Some((place, index.clone())), always });
                        }
                    }
                    None => found.extend(places.into_iter().map(|place| Use {
                        base: place.base.clone(),
                        place: None,
                        always,
                    })),
                }
            }
            for inner in instruction.operation.blocks() {
                self.uses(inner, row, false, found);
            }
        }
    }

    /// The Float elements that are added to at an index of the row that the loop traverses.
    fn added(
        &self,
        repr: &Repr,
        steps: &[Projection],
        index: ValueId,
        counter: ValueId,
        texts: &[String],
    ) -> Option<(Vec<AccumulatorPart>, RowIndex)> {
        let mut repr = repr;
        let mut elements = 0;
        for step in steps {
            match step {
                Projection::Member(member) => repr = repr.member(*member),
                Projection::Element => elements += 1,
                Projection::Taped(..) => return None,
            }
        }
        let places: Vec<AccumulatorPart> = places(repr).into_iter().cloned().collect();
        let floats = places.iter().all(|place| {
            place.steps.is_empty()
                && matches!(&place.kind, Kind::Tensor(_, element) if **element == Kind::Float)
        });
        if elements != 1 || !floats {
            return None;
        }
        Some((places, self.row_index(index, counter, texts)?))
    }

    /// Recognises an index into the row that a loop traverses: its last member is the last counter, possibly plus an
    /// invariant term, and its other members are known.
    fn row_index(&self, index: ValueId, counter: ValueId, counters: &[String]) -> Option<RowIndex> {
        let text = |member: ValueId| self.member_text(member, counter, counters);
        let (lead, last) = match self.made[index.index()] {
            _ if index == counter && counters.len() > 1 => {
                let (last, lead) = counters.split_last()?;
                return Some(RowIndex {
                    members: lead.iter().chain([last]).cloned().collect(),
                    start: "0".into(),
                });
            }
            Some(made) if made.operation == Operation::Tuple => {
                let (last, lead) = made.operands.split_last()?;
                (lead.iter().map(|member| text(*member)).collect::<Option<Vec<_>>>()?, *last)
            }
            _ => (Vec::new(), index),
        };
        let own = counters.last()?;
        let (member, start) = match self.made[last.index()].map(|made| (&made.operation, &*made.operands)) {
            Some((Operation::Scalar(scalar @ (Scalar::AddI | Scalar::SubI)), [left, right])) => {
                let (left, right) = (text(*left)?, text(*right)?);
                (sum_text(*scalar, &left, &right, own)?, start_text(*scalar, &left, &right, own)?)
            }
            _ => (text(last).filter(|text| text == own)?, "0".into()),
        };
        let depends = |text: &String| text == own;
        let members: Vec<_> = lead.into_iter().chain([member]).collect();
        (!members[..members.len() - 1].iter().any(depends)).then_some(RowIndex { members, start })
    }

    fn member_text(&self, member: ValueId, counter: ValueId, counters: &[String]) -> Option<String> {
        if member == counter && counters.len() == 1 {
            return Some(counters[0].clone());
        }
        if let Some(Repr::Leaf(Leaf::Scalar(scalar))) = self.known(member) {
            return Some(scalar.text.clone());
        }
        let made = self.made[member.index()]?;
        match made.operation {
            Operation::Get(axis) if made.operands[0] == counter => counters.get(axis).cloned(),
            Operation::Integer(value) => Some(integer(value)),
            _ => None,
        }
    }

    /// Records that a variable is the sum of a counter and another term.
    pub(super) fn note_sum(&mut self, variable: &str, scalar: Scalar, operands: &[String]) {
        let [left, right] = operands else { return };
        let counters = self.loops.iter().filter_map(|turns| turns.counters.last());
        let sum = counters.rev().find_map(|counter| sum_text(scalar, left, right, counter));
        if let Some(sum) = sum {
            self.sums.insert(variable.to_owned(), sum);
        }
    }

    /// Whether an index in emitted code equals another one.
    fn is_index(&self, index: &[String], of: &[String]) -> bool {
        let same = |(written, of): (&String, &String)| written == of || self.sums.get(written) == Some(of);
        index.len() == of.len() && index.iter().zip(of).all(same)
    }

    /// The element at an index of a row that was looked up.
    pub(super) fn in_row(&self, tensor: &str, index: &[String]) -> Option<String> {
        self.row_of(tensor, index).map(|row| format!("{}[{}]", row.slice, row.counter))
    }

    pub(super) fn row_of(&self, tensor: &str, index: &[String]) -> Option<&Row> {
        self.rows.iter().find(|row| row.tensor == tensor && self.is_index(index, &row.index))
    }

    /// A single call for the sum of a loop, if its body only reads one element of a row that was looked up, or
    /// multiplies two such elements.
    pub(super) fn sum_of_rows(&self, block: BlockId) -> Option<String> {
        let turns = self.loops.last()?;
        let block = self.body.block(block);
        let row = |value: ValueId| {
            let made = self.made[value.index()].filter(|made| made.operation == Operation::Index)?;
            let index = self.row_index(made.operands[0], block.parameters[0], &turns.counters)?;
            let Repr::Leaf(Leaf::Borrowed(tensor)) = self.known(made.operands[1])? else { return None };
            let float = matches!(&tensor.kind, Kind::Tensor(_, element) if **element == Kind::Float);
            self.row_of(&tensor.text, &index.members).filter(|_| float)
        };
        let plain = block.instructions.iter().all(|instruction| {
            matches!(
                instruction.operation,
                Operation::Integer(_)
                    | Operation::Index
                    | Operation::Get(_)
                    | Operation::Tuple
                    | Operation::Scalar(Scalar::AddI | Scalar::SubI | Scalar::MulF)
            )
        });
        let indices = block.instructions.iter().filter(|made| made.operation == Operation::Index).count();
        let products = block
            .instructions
            .iter()
            .filter(|made| made.operation == Operation::Scalar(Scalar::MulF))
            .count();
        if !plain {
            return None;
        }
        match self.made[block.result.index()]? {
            Instruction { operation: Operation::Scalar(Scalar::MulF), operands, .. } if products == 1 => {
                let (lhs, rhs) = (row(operands[0])?, row(operands[1])?);
                let asked = if operands[0] == operands[1] { 1 } else { 2 };
                (indices == asked).then(|| format!("k::inner_product({}, {})", lhs.slice, rhs.slice))
            }
            _ if products == 0 && indices == 1 => Some(format!("k::row_sum({})", row(block.result)?.slice)),
            _ => None,
        }
    }

    /// The variable that holds a part of an accumulator in this iteration.
    pub(super) fn element_variable(&self, place: &AccumulatorPart) -> Option<String> {
        self.element_of(place).map(|(_, element)| element.variable.clone())
    }

    /// The innermost element that is this part of an accumulator, with its position.
    pub(super) fn element_of(&self, place: &AccumulatorPart) -> Option<(usize, &Element)> {
        let index: &[String] = match place.steps.as_slice() {
            [] => &[],
            [PartStep::Element(index)] => index,
            _ => return None,
        };
        let here = |(_, element): &(usize, &Element)| {
            element.base == place.base && self.is_index(index, &element.index)
        };
        self.elements.iter().enumerate().rev().find(here)
    }

    /// The first name of an extent.
    pub(super) fn first_name(&self, extent: &str) -> String {
        let mut name = extent;
        while let Some(earlier) = self.extents.get(name) {
            name = earlier;
        }
        name.to_owned()
    }

    /// Records that two extents are equal.
    pub(super) fn same_extent(&mut self, extent: &str, earlier: &str) {
        let (extent, earlier) = (self.first_name(extent), self.first_name(earlier));
        if extent != earlier {
            self.extents.insert(extent, earlier);
        }
    }
}

fn places(repr: &Repr) -> Vec<&AccumulatorPart> {
    let places = repr.leaves().into_iter().filter_map(|leaf| match leaf {
        Leaf::AccumulatorPart(place) => Some(place),
        Leaf::Scalar(_) | Leaf::Borrowed(_) => None,
    });
    places.collect()
}

/// The sum of a counter and another term, with the counter last. Returns `None` unless exactly one operand is the
/// counter.
fn sum_text(scalar: Scalar, left: &str, right: &str, counter: &str) -> Option<String> {
    match (scalar, left == counter, right == counter) {
        (Scalar::AddI, false, true) => Some(format!("{left} + {counter}")),
        (Scalar::AddI, true, false) => Some(format!("{right} + {counter}")),
        (Scalar::SubI, true, false) => Some(format!("-{right} + {counter}")),
        _ => None,
    }
}

/// The value of the same sum when the counter is 0.
fn start_text(scalar: Scalar, left: &str, right: &str, counter: &str) -> Option<String> {
    match (scalar, left == counter, right == counter) {
        (Scalar::AddI, false, true) => Some(left.to_owned()),
        (Scalar::AddI, true, false) => Some(right.to_owned()),
        (Scalar::SubI, true, false) => Some(format!("i64::wrapping_neg({right})")),
        _ => None,
    }
}
