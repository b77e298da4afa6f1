//! Modules from definitions with arbitrary ids, as in text forms.

use std::collections::BTreeMap;

use crate::{
    diag::Code,
    ir::{Inst, Module, Op, Operands, ValueId},
    ty::Type,
    verify::VerifyError,
};

/// An instruction whose value and operands have numbers that the writer of a text chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The number of its value.
    pub id: u64,
    /// The operation with its attributes.
    pub op: Op,
    /// The numbers of earlier values.
    pub operands: Vec<u64>,
    /// The declared type of the result.
    pub ty: Type,
}

impl Module {
    /// Makes a module from definitions with ascending numbers. Its values are numbered densely from 0.
    ///
    /// The value of the definition at position `i` is `%i`, in the module and in errors. `outputs` are numbers of
    /// definitions.
    ///
    /// # Errors
    /// Every independent mistake: E4002 (a repeated number, or one below an earlier number), E4001 (an operand that is
    /// not an earlier definition), E4003 (an output that is not a definition), E2007 (more operands than any operation
    /// takes). Messages contain the writer's numbers, with `prefix` before each.
    pub fn from_definitions(
        definitions: Vec<Definition>,
        outputs: &[u64],
        prefix: &'static str,
    ) -> Result<Self, Vec<VerifyError>> {
        let mut errors = Vec::new();
        let mut numbers = Numbering::new(prefix);
        let mut disorder: BTreeMap<usize, String> = BTreeMap::new();
        for (position, definition) in definitions.iter().enumerate() {
            if let Err(message) = numbers.define(definition.id) {
                disorder.insert(position, message);
            }
        }
        let mut insts = Vec::with_capacity(definitions.len());
        for (position, Definition { op, operands, ty, .. }) in definitions.into_iter().enumerate() {
            let value = ValueId::new(position);
            let mut error = |code, message: String| errors.push(VerifyError::of_value(code, value, message));
            let mut found = Vec::with_capacity(operands.len());
            for operand in &operands {
                match numbers.get(*operand) {
                    Some(operand) if operand < value => found.push(operand),
                    Some(_) | None => error(Code::E4001, numbers.missing(*operand, op.info().name)),
                }
            }
            if let Some(message) = disorder.remove(&position) {
                error(Code::E4002, message);
            }
            match Operands::new(&found) {
                Some(operands) => insts.push(Inst { op, operands, ty }),
                None => {
                    let row = op.info();
                    error(Code::E2007, format!("`{}`: {}", row.name, row.miscounted(operands.len())));
                }
            }
        }
        let mut results = Vec::with_capacity(outputs.len());
        for (position, output) in outputs.iter().enumerate() {
            match numbers.get(*output) {
                Some(value) => results.push(value),
                None => {
                    let message = numbers.missing_output(position, *output);
                    errors.push(VerifyError::of_outputs(Code::E4003, Some(position), message));
                }
            }
        }
        if errors.is_empty() { Ok(Self::from_parts(insts, results)) } else { Err(errors) }
    }
}

/// Maps the numbers that a writer chose to values. The numbers ascend and may have gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    prefix: &'static str,
    first: u64,
    count: usize,
    /// The number of each value, or the greatest number before it where the own number does not ascend. Empty while
    /// there is no gap.
    numbers: Vec<u64>,
    /// The numbers that do not ascend. `None` while there are none.
    disordered: Option<BTreeMap<u64, ValueId>>,
}

impl Numbering {
    pub(crate) const fn new(prefix: &'static str) -> Self {
        Self { prefix, first: 0, count: 0, numbers: Vec::new(), disordered: None }
    }

    /// The number of values so far.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Gives the next value its number. The value has this number even if it is wrong, so that one mistake causes one
    /// error.
    ///
    /// # Errors
    /// The message of E4002.
    #[inline]
    pub(crate) fn define(&mut self, number: u64) -> Result<(), String> {
        let position = self.count;
        if position == 0 {
            self.first = number;
        }
        let next = number.wrapping_sub(self.first) == position as u64 && number >= self.first;
        if next && self.numbers.is_empty() {
            self.count += 1;
            return Ok(());
        }
        self.define_with_gaps(number)
    }

    #[cold]
    fn define_with_gaps(&mut self, number: u64) -> Result<(), String> {
        let position = self.count;
        if self.numbers.is_empty() {
            self.numbers.extend((0..position as u64).map(|place| self.first + place));
        }
        let last = self.numbers.last().copied().unwrap_or(0);
        let twice = self.get(number).is_some();
        self.count += 1;
        if number > last {
            self.numbers.push(number);
            return Ok(());
        }
        let prefix = self.prefix;
        self.disordered.get_or_insert_default().entry(number).or_insert(ValueId::new(position));
        self.numbers.push(last);
        Err(if twice {
            format!("{prefix}{number} is defined twice")
        } else {
            format!("{prefix}{number} follows {prefix}{last}, needed ascending numbers")
        })
    }

    /// The value with this number, among the values so far.
    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<ValueId> {
        if !self.numbers.is_empty() {
            return self.get_among_gaps(number);
        }
        let position = usize::try_from(number.wrapping_sub(self.first)).ok()?;
        (position < self.count).then(|| ValueId::new(position))
    }

    #[inline(never)]
    fn get_among_gaps(&self, number: u64) -> Option<ValueId> {
        match self.numbers.partition_point(|other| *other < number) {
            position if self.numbers.get(position) == Some(&number) => Some(ValueId::new(position)),
            _ => self.disordered.as_ref()?.get(&number).copied(),
        }
    }

    /// The number of a value. Where it does not ascend, the greatest number before it.
    pub(crate) fn number(&self, value: ValueId) -> Option<u64> {
        if self.numbers.is_empty() {
            return (value.index() < self.count).then(|| self.first + value.index() as u64);
        }
        self.numbers.get(value.index()).copied()
    }

    /// The text before each number.
    pub(crate) const fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The message of E4001 for an operand that is not an earlier value.
    pub(crate) fn missing(&self, number: u64, reader: &str) -> String {
        let why = if self.get(number).is_some() { "not defined before it" } else { "never defined" };
        format!("`{reader}` reads {}{number}, which is {why}", self.prefix)
    }

    /// The message of E4003 for an output that is not a value.
    pub(crate) fn missing_output(&self, position: usize, number: u64) -> String {
        let why = if self.get(number).is_some() { "not defined before it" } else { "never defined" };
        format!("output {position} is {}{number}, which is {why}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{map::Map, ty::DType};

    fn neg(id: u64, operand: u64) -> Definition {
        Definition { id, op: Op::Map(Map::Neg), operands: vec![operand], ty: Type::scalar(DType::F32) }
    }

    fn input(id: u64) -> Definition {
        let op = Op::Input { name: "x".into() };
        Definition { id, op, operands: Vec::new(), ty: Type::scalar(DType::F32) }
    }

    fn codes(definitions: Vec<Definition>, outputs: &[u64]) -> Vec<Code> {
        let errors = Module::from_definitions(definitions, outputs, "N").unwrap_err();
        errors.into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn ascending_numbers_become_dense() {
        let module = Module::from_definitions(vec![input(3), neg(7, 3), neg(20, 7)], &[20, 3], "N").unwrap();
        assert_eq!(module.outputs(), [ValueId::new(2), ValueId::new(0)]);
        assert_eq!(*module.insts()[2].operands, [ValueId::new(1)]);
    }

    #[test]
    fn every_mistake_is_found() {
        assert_eq!(codes(vec![input(1), neg(2, 9)], &[2]), [Code::E4001]);
        assert_eq!(codes(vec![input(1), neg(2, 3), neg(3, 1)], &[3]), [Code::E4001]);
        assert_eq!(codes(vec![input(1), neg(1, 1)], &[1]), [Code::E4002]);
        assert_eq!(codes(vec![input(2), neg(1, 2)], &[1]), [Code::E4002]);
        assert_eq!(codes(vec![input(1), neg(2, 1)], &[5]), [Code::E4003]);
        let many = Definition { operands: vec![1; Operands::MAX + 1], ..neg(2, 1) };
        assert_eq!(codes(vec![input(1), many, neg(3, 8)], &[9]), [Code::E2007, Code::E4001, Code::E4003]);
    }
}
