//! The tables of symbols and types.

use crate::definitions::Numbering;

/// Items by id. An item is `None` if its entry is malformed.
pub(super) struct Table<T> {
    numbers: Numbering,
    /// The first items; most texts have no more.
    few: [Option<T>; INLINE],
    many: Vec<Option<T>>,
}

const INLINE: usize = 8;

impl<T> Table<T> {
    pub(super) const fn new(prefix: &'static str) -> Self {
        Self { numbers: Numbering::new(prefix), few: [const { None }; INLINE], many: Vec::new() }
    }

    /// The number of ids.
    pub(super) const fn count(&self) -> usize {
        self.numbers.count()
    }

    /// Adds an id. Its item counts as malformed until it is set.
    ///
    /// # Errors
    /// The message of E4002.
    #[inline(always)]
    pub(super) fn define(&mut self, number: u64) -> Result<(), String> {
        if self.numbers.count() >= INLINE {
            self.many.push(None);
        }
        self.numbers.define(number)
    }

    /// Sets the item of the id added last.
    #[inline(always)]
    pub(super) fn set(&mut self, item: T) {
        let last = self.numbers.count() - 1;
        if last < INLINE {
            self.few[last] = Some(item);
        } else {
            self.many[last - INLINE] = Some(item);
        }
    }

    /// The item of an id: `None` for an unknown id, `Some(None)` for a malformed entry.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> Option<Option<&T>> {
        let position = self.numbers.get(number)?.index();
        let place = if position < INLINE { &self.few[position] } else { &self.many[position - INLINE] };
        Some(place.as_ref())
    }
}
