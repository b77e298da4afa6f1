//! The data of strips, and the limits from which steps run by them.

use crate::{
    dim::{Bindings, Dim, DimResult, Symbol},
    plan::{BufferId, Step},
};

/// When products run by strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Matrices of so many elements or more are run by strips: smaller ones fit into a cache.
    pub large: i64,
    /// If they are so many times larger than what they are made of: to compute their elements again takes less time than
    /// to write them and to read them.
    pub larger: i64,
    /// About so many bytes of each large tensor are in a strip, where a row has no more, and half as many where strips leave
    /// columns out. What a group of steps has at once nearly fits into the cache of a core, operands that are packed for each strip
    /// are seldom packed, and the band of a mask is followed closely.
    pub bytes: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { large: 1 << 16, larger: 4, bytes: 1 << 19 }
    }
}

/// Steps that run for a strip of rows, then for the next.
///
/// Rows are counted by axes: by all places of some, one after the other, then by some places at a time of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Strips {
    /// The axes whose places are gone over one by one, outermost first.
    pub outer: Vec<Walk>,
    /// The axis that is cut.
    pub cut: Walk,
    /// So many places at a time, a number that is known.
    pub most: i64,
    /// How many there are in the strip at hand: [`most`](Self::most), or a symbol, since the last strip may be shorter.
    pub len: Dim,
    /// Which columns of what is large the strip at hand has, if not always all.
    pub seen: Option<Seen>,
    /// What the steps add to, strip by strip: zeros at first.
    pub sums: Vec<BufferId>,
    /// Parts of other buffers that belong to the strip at hand.
    pub parts: Vec<Part>,
    /// What is in memory only for the strip at hand.
    pub local: Vec<BufferId>,
    /// What runs for each strip: nests and products.
    pub steps: Vec<Step>,
}

/// An axis that is gone over.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// The place at hand, from 0 on: in the steps of the strip it is a dim.
    pub at: Symbol,
    /// How many there are.
    pub extent: Dim,
}

/// The columns of what is large that a strip has, from the first on: those behind change nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// How many: in the steps of the strip it is a dim.
    pub len: Symbol,
    /// A row has the columns up to its own place and so many more: the strip has those of its last row, and at least one.
    pub ahead: i64,
    /// How many there are.
    pub columns: i64,
    /// Unless all elements of these buffers are finite before the first strip, every strip has all columns.
    pub finite: Vec<BufferId>,
}

impl Seen {
    /// How many columns a strip of rows has that ends before a row, if all that is asked for is finite.
    pub fn before(&self, end: i64) -> i64 {
        end.saturating_add(self.ahead).clamp(1, self.columns)
    }
}

/// A buffer that is a part of another, [`Location::Part`](crate::plan::Location::Part).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub buffer: BufferId,
    /// The whole.
    pub of: BufferId,
}

impl Strips {
    /// The symbols that stand for the strip at hand.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        let places = self.outer.iter().chain([&self.cut]).map(|walk| &walk.at);
        places.chain(self.len.as_symbol()).chain(self.seen.iter().map(|seen| &seen.len))
    }

    /// The buffer that is read or written where a step of the strip reads or writes one.
    pub fn whole(&self, buffer: BufferId) -> BufferId {
        self.parts.iter().find(|part| part.buffer == buffer).map_or(buffer, |part| part.of)
    }

    /// The symbols of the longest strip, of all columns.
    pub fn longest(&self) -> Bindings {
        let walks = self.outer.iter().chain([&self.cut]).map(|walk| (walk.at.clone(), Dim::ZERO));
        let len = self.len.as_symbol().map(|len| (len.clone(), Dim::literal(self.most)));
        let seen = self.seen.iter().map(|seen| (seen.len.clone(), Dim::literal(seen.columns)));
        walks.chain(len).chain(seen).collect()
    }

    /// The symbols of a strip of all rows that the outer axes do not count, and how often there are so many.
    ///
    /// # Errors
    /// If a number leaves 64 bits.
    pub(in crate::plan) fn all_rows(&self) -> (Bindings, DimResult) {
        let mut symbols = self.longest();
        symbols.extend(self.len.as_symbol().map(|len| (len.clone(), self.cut.extent.clone())));
        let outer: Vec<Dim> = self.outer.iter().map(|walk| walk.extent.clone()).collect();
        let times = Dim::product(&outer).and_then(|times| match self.len.as_symbol() {
            Some(_) => Ok(times),
            None => times.mul(&self.cut.extent.floor_div(self.most)?),
        });
        (symbols, times)
    }
}
