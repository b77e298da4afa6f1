//! What is looked up once for all turns of a loop: rows of tensors, and the elements of accumulators that a turn adds to.
//!
//! A row that a loop goes through from its first element to its last is a slice as long as the loop, so nothing is
//! checked in a turn. It may be looked up early only where a turn would surely ask for it. An element of an accumulator
//! that only one turn adds to is a variable in that turn. Where the loops so write every element of a new accumulator,
//! nothing has to be cleared before.

use super::{
    body::Writer,
    kinds::Kind,
    repr::{Leaf, Place, PlaceStep, Repr},
};
use crate::knossos::ir::{BlockId, Instruction, Operation, Step, ValueId};

/// A row of a tensor, under way.
pub(super) struct Row {
    /// The view.
    tensor: String,
    /// The index, of which the last member is the counter.
    index: Vec<String>,
    /// The slice.
    slice: String,
    /// The counter.
    counter: String,
}

/// An element of an accumulator that a turn adds to.
pub(super) struct Element {
    base: String,
    index: Vec<String>,
    variable: String,
}

/// A loop under way.
pub(super) struct Turns {
    /// How many blocks are around a statement of its body.
    depth: usize,
    block: BlockId,
    /// Its counters, as Integers.
    counters: Vec<String>,
    /// Its extents, by their first names.
    extents: Vec<String>,
}

/// What stands around the body of a loop.
#[derive(Default)]
pub(super) struct Around {
    /// Before the innermost loop.
    pub before: String,
    /// At the beginning of a turn.
    pub begin: String,
    /// At its end.
    pub end: String,
    rows: usize,
    elements: usize,
}

/// A use of an accumulator in a loop.
struct Use {
    base: String,
    /// What is added to, where that is an element of the row at hand.
    place: Option<(Place, Vec<String>)>,
    /// Whether every turn adds.
    always: bool,
}

impl Writer<'_> {
    /// Looks up what the body of a loop will ask for; [`Writer::leave`] forgets it.
    pub(super) fn enter(&mut self, block: BlockId, counters: &[String], extents: &[String]) -> Around {
        let mut around = Around { rows: self.rows.len(), elements: self.elements.len(), ..Around::default() };
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
            // What is printed before a failure is printed still.
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
                if self.row_of(&tensor, &index).is_none() {
                    let slice = self.fresh("h");
                    let place = self.kinds.at(&self.kinds.program.function(self.id).name, instruction.place);
                    let lead = index[..index.len() - 1].join(", ");
                    let comma = if index.len() > 1 { ", " } else { "" };
                    around.before += &format!(
                        "let {slice} = {tensor}.row([{lead}{comma}0], {count}, {place})?; let {slice} = &{slice}[..{count}];\n"
                    );
                    let (index, counter) = (index.clone(), last.clone());
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
        self.loops.pop();
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
            let alike = of_base.iter().all(|other| other.place.as_ref().is_some_and(|(_, own)| own == index));
            let like = self.likes.get(base).cloned();
            let sure = of_base.iter().any(|other| other.always)
                || like.as_ref().is_some_and(|like| self.row_of(like, index).is_some());
            if !alike || !sure {
                continue;
            }
            let (row, variable) = (self.fresh("h"), self.fresh("t"));
            let lead = index[..index.len() - 1].join(", ");
            let comma = if index.len() > 1 { ", " } else { "" };
            around.before += &format!(
                "let {row} = {base}.row_mut([{lead}{comma}0], {count}, {})?; let {row} = &mut {row}[..{count}];\n",
                self.at()
            );
            let fresh = self.covers(place, index, like.as_deref(), of_base.len());
            if fresh {
                self.written.insert(base.clone());
                around.begin += &format!("let mut {variable} = 0.0_{};\n", self.kinds.float());
            } else {
                around.begin += &format!("let mut {variable} = {row}[{last}];\n");
            }
            around.end += &format!("{row}[{last}] = {variable};\n");
            self.touched.insert(base.clone());
            let (base, index) = (base.clone(), index.clone());
            self.elements.push(Element { base, index, variable });
        }
    }

    /// Whether the loops under way write every element of an accumulator that nothing was added to before.
    fn covers(&self, place: &Place, index: &[String], like: Option<&str>, uses: usize) -> bool {
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

    /// Every use of an accumulator from outside a block within it.
    fn uses(&self, block: BlockId, row: Option<(ValueId, &[String])>, always: bool, found: &mut Vec<Use>) {
        let body = self.body;
        for instruction in &body.block(block).instructions {
            for (position, operand) in instruction.operands.iter().enumerate() {
                let Some(repr) = self.known(*operand) else { continue };
                let places: Vec<&Place> = places(repr);
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

    /// The floats that are added to at an index of the row at hand.
    fn added(
        &self,
        repr: &Repr,
        steps: &[Step],
        index: ValueId,
        counter: ValueId,
        texts: &[String],
    ) -> Option<(Vec<Place>, Vec<String>)> {
        let mut repr = repr;
        let mut elements = 0;
        for step in steps {
            match step {
                Step::Member(member) => repr = repr.member(*member),
                Step::Element => elements += 1,
                Step::Taped(..) => return None,
            }
        }
        let places: Vec<Place> = places(repr).into_iter().cloned().collect();
        let floats = places.iter().all(|place| {
            place.steps.is_empty()
                && matches!(&place.kind, Kind::Tensor(_, element) if **element == Kind::Float)
        });
        if elements != 1 || !floats {
            return None;
        }
        Some((places, self.row_index(index, counter, texts)?))
    }

    /// An index into the row at hand: its last member is the last counter, and the others are known.
    fn row_index(&self, index: ValueId, counter: ValueId, counters: &[String]) -> Option<Vec<String>> {
        let members = if index == counter {
            counters.to_vec()
        } else {
            match self.made[index.index()] {
                Some(made) if made.operation == Operation::Tuple => {
                    let members =
                        made.operands.iter().map(|member| self.member_text(*member, counter, counters));
                    members.collect::<Option<Vec<_>>>()?
                }
                _ => vec![self.member_text(index, counter, counters)?],
            }
        };
        let (last, lead) = members.split_last()?;
        let own = counters.last()?;
        (last == own && !lead.contains(own)).then_some(members)
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
            _ => None,
        }
    }

    /// The element at an index of a row that was looked up.
    pub(super) fn in_row(&self, tensor: &str, index: &[String]) -> Option<String> {
        self.row_of(tensor, index).map(|row| format!("{}[{}]", row.slice, row.counter))
    }

    fn row_of(&self, tensor: &str, index: &[String]) -> Option<&Row> {
        self.rows.iter().find(|row| row.tensor == tensor && row.index == index)
    }

    /// The variable that stands for a part of an accumulator in this turn.
    pub(super) fn element_variable(&self, place: &Place) -> Option<String> {
        let [PlaceStep::Element(index)] = place.steps.as_slice() else { return None };
        let found =
            self.elements.iter().find(|element| element.base == place.base && element.index == *index);
        found.map(|element| element.variable.clone())
    }

    /// The name that an extent had first.
    pub(super) fn first_name(&self, extent: &str) -> String {
        let mut name = extent;
        while let Some(earlier) = self.extents.get(name) {
            name = earlier;
        }
        name.to_owned()
    }

    /// From here on two extents are known to be equal.
    pub(super) fn same_extent(&mut self, extent: &str, earlier: &str) {
        let (extent, earlier) = (self.first_name(extent), self.first_name(earlier));
        if extent != earlier {
            self.extents.insert(extent, earlier);
        }
    }
}

fn places(repr: &Repr) -> Vec<&Place> {
    let places = repr.leaves().into_iter().filter_map(|leaf| match leaf {
        Leaf::Place(place) => Some(place),
        Leaf::Scalar(_) | Leaf::Borrowed(_) => None,
    });
    places.collect()
}
