//! What values are called in the listing of a plan.

use mind_core::{ir::ValueId, opt::Optimised};

use crate::input::Context;

/// What the values of a planned module are called in the text that it comes from.
pub struct Names(Vec<String>);

impl Names {
    /// Inputs by their names, others as the text calls them; `map` says what each value of the text became.
    pub fn new(context: &Context, map: &[Option<ValueId>], optimised: &Optimised) -> Self {
        // As many as there are: what a call inlines became of no value of the text.
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

    /// What a value of the planned module is called.
    pub fn of(&self, value: ValueId) -> Option<String> {
        self.0.get(value.index()).cloned()
    }
}
