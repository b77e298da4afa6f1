//! Products that are much larger than what they are made of, a strip of rows at a time.
//!
//! The scores of attention are one: every query by every key. What is computed from them row by row, up to the products that
//! add their rows up, is run for a strip of rows before the next strip, so that only a strip of them is ever in memory. What
//! gradients need of scores again is computed again, strip by strip: that takes less time than to write all of it to memory
//! and to read it (Dao et al., *FlashAttention*, 2022).
//!
//! `rows` says how a step lies along rows, `group` which steps run together, `seen` which columns count, by the facts of
//! `fact`, `cut` makes a strip of them.

mod cut;
mod fact;
mod group;
mod ir;
mod rows;
mod seen;

use std::collections::BTreeMap;

pub use ir::{Limits, Part, Seen, Strips, Walk};

use crate::{
    dim::Symbol,
    plan::{Buffer, BufferId, Location, Step},
};

use super::order;
use cut::Cut;

/// The same steps, where it pays a strip of rows at a time. Each buffer is written by one step; what is `delivered` is read
/// after all of them.
pub(super) fn cut(
    buffers: &mut Vec<Buffer>,
    mut steps: Vec<Step>,
    delivered: &[BufferId],
    names: &Names,
    limits: &Limits,
) -> Vec<Step> {
    let groups = group::find(buffers, &mut steps, delivered, limits);
    if groups.is_empty() {
        return steps;
    }
    // Those of a group have the place of its last one that is no copy.
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

/// Names of what stands for the strip at hand, which none of a program's symbols has.
pub(super) struct Names {
    prefix: String,
}

impl Names {
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

/// Where parts are, once all else has its place.
pub(super) fn place_parts(buffers: &mut [Buffer]) {
    for position in 0..buffers.len() {
        let Location::Part { of, from } = &buffers[position].place else { continue };
        if let Location::Arena { offset } = &buffers[of.0].place {
            let offset = offset.add(from).expect("what is inside an arena has its place there");
            buffers[position].place = Location::Arena { offset };
        }
    }
}
