//! Emits loops that the run time's kernel executes. An iteration is a function of its elements.
//!
//! If the iterations of a loop only compute Floats from elements of rows ([`Pointwise`]), the rows are looked up as for
//! any loop (`hoist`). The loop becomes a call of `k::turns` with a function for one iteration. `exp` and similar
//! functions are then computed for a vector of elements at once, and sums are accumulated in lanes.

use super::{
    body::Writer,
    hoist::{Around, Element},
    kinds::Kind,
    repr::{AccumulatorPart, Borrowed, Leaf, PartStep, Repr},
};
use crate::{
    ir::{BlockId, Instruction, Operation, ValueId},
    opt::{Pointwise, pointwise},
};

/// The iteration counts up to which a loop runs without dispatch: without and with exponentials or similar functions.
const FEW: [usize; 2] = [32, 8];

/// The destination of the iterations' results.
pub(super) enum IterationResults<'a> {
    /// Slices as long as the loop. The flag says whether results are added to their elements.
    Rows(&'a [String], bool),
    /// Variables for sums.
    Sums(&'a [String]),
}

/// A number that all iterations add to.
struct SharedSum {
    /// The sum of the added terms.
    sum: String,
    to: SharedSumPlace,
}

enum SharedSumPlace {
    /// A variable of an enclosing loop.
    Variable(String),
    /// A part of an accumulator.
    AccumulatorPart(AccumulatorPart),
}

/// The parameters of an iteration, and their arguments.
#[derive(Default)]
struct Parameters {
    /// The rows that are read.
    rows: Vec<String>,
    /// The values shared by all iterations: the name, the Rust type, and the expression outside of the loop.
    shared: Vec<[String; 3]>,
    has_functions: bool,
}

impl Writer<'_> {
    /// Classifies a loop that the kernel can run. A loop within another one may be short, so it is left to rustc if
    /// rustc can vectorise it.
    pub(super) fn pointwise(&self, instruction: &Instruction) -> Option<Pointwise> {
        pointwise(&self.kinds.program.types, self.body, &self.made, instruction)
            .filter(|parts| parts.is_expensive || self.loops.is_empty())
    }

    /// The statements for the instructions shared by all iterations of a loop of `count` iterations.
    pub(super) fn shared(&mut self, block: BlockId, parts: &Pointwise, count: &str) -> String {
        let body = self.body;
        let (statements, ()) = self.nested(|this| {
            for position in &parts.shared {
                let instruction = &body.block(block).instructions[*position];
                this.at = (block, *position);
                this.place = instruction.place;
                let repr = match &instruction.operation {
                    Operation::Index => {
                        let index = this.members(instruction.operands[0]).join(", ");
                        let tensor = this.get(instruction.operands[1]).clone();
                        this.still(&tensor, &index, count)
                    }
                    _ => this.instruction(instruction),
                };
                this.set(instruction.result, repr);
            }
        });
        statements
    }

    /// An element that every iteration reads.
    fn still(&mut self, tensor: &Repr, index: &str, count: &str) -> Repr {
        match tensor {
            Repr::Tuple(members) => {
                Repr::Tuple(members.iter().map(|member| self.still(member, index, count)).collect())
            }
            Repr::Leaf(Leaf::Borrowed(Borrowed { text, kind: Kind::Tensor(_, element), .. })) => {
                let at = self.at();
                let found = format!("{text}.still([{index}], {count}, {at})?");
                if **element == Kind::Unit {
                    self.line(format!("{found};"));
                    return Repr::unit();
                }
                self.local(&found)
            }
            Repr::Leaf(leaf) => unreachable!("{leaf:?} is no tensor"),
        }
    }

    /// The statements that run a loop's iterations. Returns `None` unless the rows that they need have been looked up.
    pub(super) fn kernel(
        &mut self,
        block: BlockId,
        parts: &Pointwise,
        around: &Around,
        count: &str,
        target: &IterationResults<'_>,
    ) -> Option<String> {
        let instructions = &self.body.block(block).instructions;
        let at = |position: &usize| &instructions[*position];
        // Only the texts of the indices are needed.
        self.nested(|this| {
            for instruction in parts.indices.iter().map(at) {
                let repr = this.instruction(instruction);
                this.set(instruction.result, repr);
            }
        });
        let mut parameters = Parameters { has_functions: parts.has_functions, ..Parameters::default() };
        for instruction in parts.reads.iter().map(at) {
            let index = self.members(instruction.operands[0]);
            let tensor = self.get(instruction.operands[1]).clone();
            let repr = self.element_of_rows(&tensor, &index, &mut parameters.rows)?;
            self.set(instruction.result, repr);
        }
        let (mut shared_sums, own) = (Vec::new(), self.elements.len());
        let places = parts.numbers.iter().map(at);
        let sums = places.map(|instruction| self.note_sums(instruction, around.elements, &mut shared_sums));
        if sums.collect::<Option<()>>().is_none() {
            self.elements.truncate(own);
            return None;
        }
        let captured: Vec<_> = parts
            .captured
            .iter()
            .filter_map(|value| {
                let parameter = self.parameter_of(*value, &mut parameters.shared)?;
                Some((*value, self.replace(*value, parameter)?))
            })
            .collect();
        self.in_kernel = true;
        let (statements, results) = self.nested(|this| {
            for position in &parts.numbers {
                this.at = (block, *position);
                let instruction = at(position);
                this.place = instruction.place;
                let repr = this.instruction(instruction);
                this.set(instruction.result, repr);
            }
            let result = this.get(this.body.block(block).result);
            result.leaves().into_iter().map(|leaf| leaf.text().to_owned()).collect::<Vec<_>>()
        });
        self.in_kernel = false;
        for (value, repr) in captured {
            self.replace(value, repr);
        }
        let elements = around.elements..self.elements.len();
        let turn = self.turn(&parameters, elements.clone(), &statements, &results, target);
        let call = self.call_of_turns(&turn, &parameters, elements, count, target);
        Some(call + &self.add_sums(&shared_sums, count))
    }

    /// The element of each leaf of a tensor at an index that contains the counter, as a parameter of an iteration.
    fn element_of_rows(&self, tensor: &Repr, index: &[String], rows: &mut Vec<String>) -> Option<Repr> {
        match tensor {
            Repr::Tuple(members) => {
                let members = members.iter().map(|member| self.element_of_rows(member, index, rows));
                Some(Repr::Tuple(members.collect::<Option<_>>()?))
            }
            Repr::Leaf(Leaf::Borrowed(Borrowed { text, kind: Kind::Tensor(_, element), .. })) => {
                if **element != Kind::Float {
                    return None;
                }
                let slice = &self.row_of(text, index)?.slice;
                let position = rows.iter().position(|row| row == slice).unwrap_or_else(|| {
                    rows.push(slice.clone());
                    rows.len() - 1
                });
                Some(Repr::scalar(format!("x{position}")))
            }
            Repr::Leaf(_) => None,
        }
    }

    /// Records the numbers that all iterations add to. These are sums. Returns `None` if an iteration adds to anything
    /// that is neither such a number nor in a row.
    fn note_sums(
        &mut self,
        instruction: &Instruction,
        first_element: usize,
        shared_sums: &mut Vec<SharedSum>,
    ) -> Option<()> {
        let body = self.body;
        for block in instruction.operation.blocks() {
            for inner in &body.block(block).instructions {
                self.note_sums(inner, first_element, shared_sums)?;
            }
        }
        let Operation::AddTo(steps) = &instruction.operation else { return Some(()) };
        let indices = &instruction.operands[1..instruction.operands.len() - 1];
        let part = self.part(instruction.operands[0], steps, indices);
        for leaf in part.leaves() {
            let Leaf::AccumulatorPart(place) = leaf else { return None };
            if place.kind != Kind::Float {
                return None;
            }
            let known = self.element_of(place).map(|(at, element)| (at, element.variable.clone()));
            let to = match known {
                Some((position, _)) if position >= first_element => continue,
                Some((_, variable)) => SharedSumPlace::Variable(variable),
                None => SharedSumPlace::AccumulatorPart(place.clone()),
            };
            let index = match place.steps.as_slice() {
                [] => Vec::new(),
                [PartStep::Element(index)] if !self.has_counter(index) => index.clone(),
                _ => return None,
            };
            let sum = self.fresh("s");
            let (base, row) = (place.base.clone(), None);
            self.elements.push(Element { base, index, variable: sum.clone(), row });
            shared_sums.push(SharedSum { sum, to });
        }
        Some(())
    }

    /// Whether an index contains the counter of the innermost loop.
    fn has_counter(&self, index: &[String]) -> bool {
        let Some(counter) = self.loops.last().and_then(|turns| turns.counters.last()) else { return false };
        index.iter().any(|member| {
            member == counter || self.sums.get(member).is_some_and(|sum| sum.ends_with(&**counter))
        })
    }

    /// A shared value as parameters. Returns `None` for a literal, which needs no parameter.
    fn parameter_of(&mut self, value: ValueId, shared: &mut Vec<[String; 3]>) -> Option<Repr> {
        let literal = |made: &Instruction| {
            matches!(made.operation, Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_))
        };
        if self.made[value.index()].is_some_and(literal) {
            return None;
        }
        let tree = self.tree_of(value);
        let leaves: Vec<Leaf> = self.get(value).leaves().into_iter().cloned().collect();
        let mut leaves = leaves.into_iter();
        Some(Repr::of(&tree, &mut |kind| match leaves.next().expect("one for each leaf") {
            Leaf::Scalar(scalar) => {
                let known = shared.iter().find(|[_, _, text]| *text == scalar.text);
                let name = known.map(|[name, ..]| name.clone()).unwrap_or_else(|| {
                    let name = self.fresh("p");
                    shared.push([name.clone(), self.kinds.owned(kind), scalar.text]);
                    name
                });
                Leaf::scalar(name)
            }
            leaf => leaf,
        }))
    }

    /// Emits the type of an iteration with its implementation, and returns its name.
    fn turn(
        &mut self,
        parameters: &Parameters,
        elements: std::ops::Range<usize>,
        statements: &str,
        results: &[String],
        target: &IterationResults<'_>,
    ) -> [String; 2] {
        let name = self.fresh("Turn");
        let float = self.kinds.float();
        let (mut begin, mut there, mut rows, mut sums) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        for Element { variable, row, .. } in &self.elements[elements] {
            let first = match row {
                Some((_, fresh)) => {
                    let first = if *fresh { format!("0.0_{float}") } else { format!("y{}", there.len()) };
                    there.push(if *fresh { "_".to_owned() } else { first.clone() });
                    rows.push(variable.clone());
                    first
                }
                None => {
                    sums.push(variable.clone());
                    // Adding to -0 keeps every number, including the sign of zero.
                    format!("-0.0_{float}")
                }
            };
            begin += &format!("let mut {variable} = {first};\n");
        }
        match target {
            // If the tensor is unused, the iterations run only because they can fail.
            IterationResults::Rows(outputs, false) => {
                there.extend(outputs.iter().map(|_| "_".to_owned()));
                rows.extend_from_slice(&results[..outputs.len()]);
            }
            IterationResults::Rows(_, true) => {
                for result in results {
                    let first = format!("y{}", there.len());
                    rows.push(format!("{first} + {result}"));
                    there.push(first);
                }
            }
            IterationResults::Sums(_) => sums.extend_from_slice(results),
        }
        let [x, y, s] = [parameters.rows.len(), rows.len(), sums.len()];
        let read: Vec<_> = (0..x).map(|position| format!("x{position}")).collect();
        let fields: String =
            parameters.shared.iter().map(|[name, ty, _]| format!("{name}: {ty}, ")).collect();
        let names: String = parameters.shared.iter().map(|[name, ..]| format!("{name}, ")).collect();
        let text = format!(
            "struct {name} {{ {fields}}}\n\
             impl k::Turn<{float}, {x}, {y}, {s}> for {name} {{\n\
             const FEW: usize = {};\n\
             #[inline(always)]\n\
             fn turn<A: k::MultiplyAdd>(&self, [{}]: [{float}; {x}], [{}]: [{float}; {y}]) -> ([{float}; {y}], [{float}; {s}]) {{\n\
             let Self {{ {names}}} = *self;\n\
             {begin}{statements}([{}], [{}])\n}}\n}}\n",
            FEW[usize::from(parameters.has_functions)],
            read.join(", "),
            there.join(", "),
            rows.join(", "),
            sums.join(", "),
        );
        [name, text]
    }

    fn call_of_turns(
        &self,
        [name, turn]: &[String; 2],
        parameters: &Parameters,
        elements: std::ops::Range<usize>,
        count: &str,
        target: &IterationResults<'_>,
    ) -> String {
        let (mut rows, mut sums) = (Vec::new(), Vec::new());
        for Element { variable, row, .. } in &self.elements[elements] {
            match row {
                Some((row, _)) => rows.push(format!("&mut *{row}")),
                None => sums.push(variable.clone()),
            }
        }
        let mut added = String::new();
        match target {
            IterationResults::Rows(outputs, _) => {
                rows.extend(outputs.iter().map(|row| format!("&mut *{row}")))
            }
            IterationResults::Sums(totals) => {
                for total in *totals {
                    let sum = format!("of_{total}");
                    added += &format!("{total} += {sum};\n");
                    sums.push(sum);
                }
            }
        }
        let shared: String =
            parameters.shared.iter().map(|[name, _, value]| format!("{name}: {value}, ")).collect();
        let (read, rows, sums) = (parameters.rows.join(", "), rows.join(", "), sums.join(", "));
        format!("{turn}let [{sums}] = k::turns({count}, [{read}], [{rows}], {name} {{ {shared}}});\n{added}")
    }

    /// The statements that add the iterations' sums to accumulators. Without iterations, nothing is looked up.
    fn add_sums(&mut self, shared_sums: &[SharedSum], count: &str) -> String {
        let mut text = String::new();
        for SharedSum { sum, to } in shared_sums {
            let place = match to {
                SharedSumPlace::Variable(variable) => {
                    text += &format!("{variable} += {sum};\n");
                    continue;
                }
                SharedSumPlace::AccumulatorPart(place) => place,
            };
            let (statements, ()) = self.nested(|this| {
                let target = this.place_text(place);
                this.line(format!("{target} += {sum};"));
            });
            text += &match place.steps.is_empty() {
                true => statements,
                false => format!("if {count} > 0 {{\n{statements}}}\n"),
            };
        }
        text
    }
}
