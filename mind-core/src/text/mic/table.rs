//! Symbols and types by their ids.

use crate::definitions::Numbering;

/// Items by their ids; nothing where an entry is malformed.
pub(super) struct Table<T> {
    numbers: Numbering,
    /// The first items, which in most texts are all.
    few: [Option<T>; INLINE],
    many: Vec<Option<T>>,
}

const INLINE: usize = 8;

impl<T> Table<T> {
    pub(super) const fn new(prefix: &'static str) -> Self {
        Self { numbers: Numbering::new(prefix), few: [const { None }; INLINE], many: Vec::new() }
    }

    /// How many ids there are.
    pub(super) const fn count(&self) -> usize {
        self.numbers.count()
    }

    /// Numbers the next item, which is malformed until it is set.
    ///
    /// # Errors
    /// What E4002 says.
    #[inline(always)]
    pub(super) fn define(&mut self, number: u64) -> Result<(), String> {
        if self.numbers.count() >= INLINE {
            self.many.push(None);
        }
        self.numbers.define(number)
    }

    /// Sets the item that was numbered last.
    #[inline(always)]
    pub(super) fn set(&mut self, item: T) {
        let last = self.numbers.count() - 1;
        if last < INLINE {
            self.few[last] = Some(item);
        } else {
            self.many[last - INLINE] = Some(item);
        }
    }

    /// The item of an id; twice nothing where none has the id, once where its entry is malformed.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> Option<Option<&T>> {
        let position = self.numbers.get(number)?.index();
        let place = if position < INLINE { &self.few[position] } else { &self.many[position - INLINE] };
        Some(place.as_ref())
    }
}
