//! The data of strips, and the limits above which steps run by strips.

use crate::{
    dim::{Bindings, Dim, DimResult, Symbol},
    plan::{BufferId, Step},
};

/// The limits above which products run by strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Matrices of at least this many elements run by strips. Smaller matrices fit into a cache.
    pub large: i64,
    /// The matrices must also be this many times larger than their operands. Computing their elements again then takes
    /// less time than writing and reading them.
    pub larger: i64,
    /// The approximate number of bytes of each large tensor in a strip, unless a row has more; half of it if strips
    /// leave columns out. With this size, the data of a group of steps nearly fits into the cache of a core, operands
    /// that are packed for each strip are seldom packed, and strips follow the band of a mask closely.
    pub bytes: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { large: 1 << 16, larger: 4, bytes: 1 << 19 }
    }
}

/// Steps that run on one strip of rows, then on the next.
///
/// Several axes count rows. The outer axes are traversed one position at a time, the last one several positions at a
/// time.
#[derive(Clone, Debug, PartialEq)]
pub struct Strips {
    /// The axes that are traversed one position at a time, outermost first.
    pub outer: Vec<Walk>,
    /// The axis that is cut.
    pub cut: Walk,
    /// The most positions of the cut axis in a strip.
    pub most: i64,
    /// The number of positions in the current strip: [`most`](Self::most), or a symbol, since the last strip may be
    /// shorter.
    pub len: Dim,
    /// The columns of large tensors that the current strip has, if it may have fewer than all.
    pub seen: Option<Seen>,
    /// The buffers that the steps add to, strip by strip. They are zeros at first.
    pub sums: Vec<BufferId>,
    /// The parts of other buffers that belong to the current strip.
    pub parts: Vec<BufferPart>,
    /// The buffers that hold the current strip only.
    pub local: Vec<BufferId>,
    /// The steps of each strip: nests and products.
    pub steps: Vec<Step>,
}

/// An axis that is traversed.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// The symbol of the current position, counted from 0. The steps of the strip use it in dims.
    pub at: Symbol,
    /// The number of positions.
    pub extent: Dim,
}

/// The columns of large tensors that a strip has, from the first on. Later columns change nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The symbol of their number. The steps of the strip use it in dims.
    pub len: Symbol,
    /// A row has the columns up to its own position plus this number. The strip has those of its last row, and at least
    /// one.
    pub ahead: i64,
    /// The number of all columns.
    pub columns: i64,
    /// If some element of these buffers is not finite before the first strip, every strip has all columns.
    pub finite: Vec<BufferId>,
}

impl Seen {
    /// The number of columns of a strip that ends before row `end`, if all of [`finite`](Self::finite) is finite.
    pub fn before(&self, end: i64) -> i64 {
        end.saturating_add(self.ahead).clamp(1, self.columns)
    }
}

/// A buffer that is a part of another, [`Location::Part`](crate::plan::Location::Part).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPart {
    /// The part.
    pub buffer: BufferId,
    /// The whole.
    pub of: BufferId,
}

impl Strips {
    /// The symbols of the current strip.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        let places = self.outer.iter().chain([&self.cut]).map(|walk| &walk.at);
        places.chain(self.len.as_symbol()).chain(self.seen.iter().map(|seen| &seen.len))
    }

    /// The whole buffer of a part. Other buffers are returned unchanged.
    pub fn whole(&self, buffer: BufferId) -> BufferId {
        self.parts.iter().find(|part| part.buffer == buffer).map_or(buffer, |part| part.of)
    }

    /// The symbols of the longest strip, with all columns.
    pub fn longest(&self) -> Bindings {
        let walks = self.outer.iter().chain([&self.cut]).map(|walk| (walk.at.clone(), Dim::ZERO));
        let len = self.len.as_symbol().map(|len| (len.clone(), Dim::literal(self.most)));
        let seen = self.seen.iter().map(|seen| (seen.len.clone(), Dim::literal(seen.columns)));
        walks.chain(len).chain(seen).collect()
    }

    /// The symbols of a strip of all rows that the outer axes do not count, or of the fixed length of strips, and the
    /// number of such strips.
    ///
    /// # Errors
    /// If a number overflows 64 bits.
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
