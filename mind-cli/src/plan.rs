//! The names of values in the listing of a plan.

use mind_core::{ir::ValueId, opt::Optimised};

use crate::input::Context;

/// The names of the values of a planned module, from the text of the program.
pub struct Names(Vec<String>);

impl Names {
    /// Inputs keep their names, and other values have their names in the text. `map` gives the value of the module for
    /// each value of the text.
    pub fn new(context: &Context, map: &[Option<ValueId>], optimised: &Optimised) -> Self {
        // The number of values that come from the text. Values of inlined calls do not.
        let values = map.iter().flatten().map(|became| became.index() + 1).max().unwrap_or_default();
        let mut first = vec![None; values];
        for (value, became) in map.iter().enumerate().rev() {
            if let Some(became) = became {
                first[became.index()] = Some(value);
            }
        }
        let name = |(value, origin): (usize, &ValueId)| {
            if let Some(name) = optimised.insts()[value].op.input_name() {
                return name.to_string();
            }
            let source = first.get(origin.index()).copied().flatten();
            let name = source.and_then(|value| context.names.get(value));
            name.cloned().unwrap_or_else(|| format!("value {value}"))
        };
        Self(optimised.origins().iter().enumerate().map(name).collect())
    }

    /// The name of a value of the planned module.
    pub fn of(&self, value: ValueId) -> Option<String> {
        self.0.get(value.index()).cloned()
    }
}
