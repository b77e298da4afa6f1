//! Runs products that are much larger than their operands on a strip of rows at a time.
//!
//! The scores of attention, every query by every key, are such a product. The steps that process scores row by row, up
//! to the products that add up their rows, run on one strip of rows before the next. Only one strip of the scores is
//! thus in memory at a time. Gradients compute scores again, strip by strip: that takes less time than writing all of
//! them to memory and reading them (Dao et al., *FlashAttention*, 2022).
//!
//! - `rows` describes how a step processes rows.
//! - `group` decides which steps run together.
//! - `seen` decides which columns count, by the facts of `fact`.
//! - `cut` builds the strips.

mod cut;
mod fact;
mod group;
mod ir;
mod rows;
mod seen;

use std::collections::BTreeMap;

pub use ir::{BufferPart, Limits, Seen, Strips, Walk};

use crate::{
    dim::Symbol,
    plan::{Buffer, BufferId, Location, Step},
};

use super::order;
use cut::Cut;

/// Replaces groups of steps by strips where that pays. One step writes each buffer. The `delivered` buffers are read
/// after all steps.
pub(super) fn cut(
    buffers: &mut Vec<Buffer>,
    mut steps: Vec<Step>,
    delivered: &[BufferId],
    names: &StripSymbols,
    limits: &Limits,
) -> Vec<Step> {
    let groups = group::find(buffers, &mut steps, delivered, limits);
    if groups.is_empty() {
        return steps;
    }
    // The strips of a group take the place of its last step, which is not a copy.
    let mut cut: BTreeMap<usize, Vec<Step>> = BTreeMap::new();
    let mut is_in_group = vec![false; steps.len()];
    for group in &groups {
        let Some(Cut { inner, after }) = cut::strips(buffers, &steps, group, names, limits) else {
            continue;
        };
        let steps = group.steps.iter().map(|(step, _)| step).chain(&group.unread);
        steps.for_each(|step| is_in_group[*step] = true);
        let last = group.steps.last().expect("a group has steps").0;
        cut.insert(last, [Step::Strips(inner)].into_iter().chain(after).collect());
    }
    let steps = steps.into_iter().enumerate().flat_map(|(place, step)| match cut.remove(&place) {
        Some(strips) => strips,
        None if is_in_group[place] => Vec::new(),
        None => vec![step],
    });
    let steps = steps.collect();
    order::sorted(steps, buffers)
}

/// The names of the symbols of the current strip, which differ from all symbols of a program.
pub(super) struct StripSymbols {
    prefix: String,
}

impl StripSymbols {
    pub(super) fn new(symbols: &[Symbol]) -> Self {
        let mut prefix = "Strip".to_owned();
        while symbols.iter().any(|symbol| symbol.starts_with(&prefix)) {
            prefix.push('_');
        }
        Self { prefix }
    }

    fn place(&self, axis: usize) -> Symbol {
        format!("{}{axis}", self.prefix).as_str().into()
    }

    fn len(&self) -> Symbol {
        format!("{}Rows", self.prefix).as_str().into()
    }

    fn columns(&self) -> Symbol {
        format!("{}Columns", self.prefix).as_str().into()
    }
}

/// Sets the locations of the parts of strips, once all whole buffers have theirs.
pub(super) fn place_parts(buffers: &mut [Buffer], steps: &[Step]) {
    for BufferPart { buffer, .. } in steps.iter().filter_map(Step::strips).flat_map(|strips| &strips.parts) {
        let Location::Part { of, from } = &buffers[buffer.0].place else { continue };
        if let Location::Arena { offset } = &buffers[of.0].place {
            let offset = offset.add(from).expect("a part of a buffer is inside the arena");
            buffers[buffer.0].place = Location::Arena { offset };
        }
    }
}
