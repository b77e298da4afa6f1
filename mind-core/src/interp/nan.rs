//! Finds the first value of a run that is NaN.

use std::collections::BTreeMap;

use mind_shape::match_elements;

use super::{Elements, Observed, positions};
use crate::ir::{Module, ValueId};

/// A search of the values of a run for NaN.
///
/// For each value that holds NaN, the search knows the origin: a value that holds NaN although none of its operands
/// does. NaN that no result holds is not reported, since the program drops it on purpose, as by `where`.
pub struct NanSearch {
    outputs: Vec<ValueId>,
    /// The origin of each value that holds NaN.
    from: BTreeMap<ValueId, WentNan>,
}

/// A value that holds NaN although none of its operands does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WentNan {
    /// The value.
    pub value: ValueId,
    /// The position of the first NaN.
    pub first: Vec<usize>,
    /// The number of its elements that are NaN.
    pub count: usize,
    /// Whether it is an input of the program.
    pub is_input: bool,
}

impl NanSearch {
    /// A search of the values of this module.
    pub fn new(module: &Module) -> Self {
        Self { outputs: module.outputs().to_vec(), from: BTreeMap::new() }
    }

    /// Searches a value. Returns the origin of its NaN if the value is a result and holds NaN.
    pub fn value(&mut self, seen: &Observed<'_>) -> Option<WentNan> {
        // NaN in a nested module is reported for the instruction that holds the module.
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
