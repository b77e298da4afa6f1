//! Which value of a run is the first that is NaN.

use std::collections::BTreeMap;

use mind_shape::match_elements;

use super::{Elements, Observed, positions};
use crate::ir::{Module, ValueId};

/// A search of the values of a run for NaN.
///
/// Of each value that holds NaN it is known from which one that came: one that holds NaN though nothing that it was made of
/// does. NaN that no result holds was meant to be dropped, as by `where`, and is not told.
pub struct NanSearch {
    outputs: Vec<ValueId>,
    /// For each value that holds NaN the one that it came from.
    from: BTreeMap<ValueId, WentNan>,
}

/// A value that went NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WentNan {
    /// The value.
    pub value: ValueId,
    /// The position of the first NaN.
    pub first: Vec<usize>,
    /// How many of its elements are NaN.
    pub count: usize,
    /// Whether it was given to the program.
    pub is_input: bool,
}

impl NanSearch {
    /// A search of the values of this module.
    pub fn new(module: &Module) -> Self {
        Self { outputs: module.outputs().to_vec(), from: BTreeMap::new() }
    }

    /// Searches a value. Gives what is to be told: the value that went NaN, if this is a result and holds NaN.
    pub fn value(&mut self, seen: &Observed<'_>) -> Option<WentNan> {
        // What a module within makes is told of the instruction that holds it.
        if seen.depth > 0 {
            return None;
        }
        let is_nan: Vec<bool> = match_elements!(&seen.result.elements, Elements(elements) {
            floats => elements.iter().map(|element| element.is_nan()).collect(),
            others => return None,
        });
        let first = is_nan.iter().position(|is_nan| *is_nan)?;
        let before = seen.inst.operands.iter().find_map(|operand| self.from.get(operand).cloned());
        let went = before.unwrap_or_else(|| WentNan {
            value: seen.value,
            first: positions(&seen.result.shape).nth(first).expect("a position for each element"),
            count: is_nan.iter().filter(|is_nan| **is_nan).count(),
            is_input: seen.inst.op.is_input(),
        });
        self.from.insert(seen.value, went.clone());
        self.outputs.contains(&seen.value).then_some(went)
    }
}
