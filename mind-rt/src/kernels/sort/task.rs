//! The results of a sort: the numbers or their positions.

use super::keys::{Ranked, Word};

/// What a sort reads from a line and writes to it.
pub(super) trait Task<T> {
    type Word: Word;
    type Out;

    /// The word of an element at a position.
    fn word(element: T, position: usize, descending: bool) -> Self::Word;

    /// The result of a word.
    fn result(word: Self::Word, descending: bool) -> Self::Out;
}

/// The numbers in order.
pub(super) struct Values;

/// Their positions.
pub(super) struct Positions;

impl<T: Ranked> Task<T> for Values {
    type Word = T::Key;
    type Out = T;

    #[inline(always)]
    fn word(element: T, _: usize, descending: bool) -> T::Key {
        if descending { element.key().reversed() } else { element.key() }
    }

    #[inline(always)]
    fn result(key: T::Key, descending: bool) -> T {
        T::of_key(if descending { key.reversed() } else { key })
    }
}

impl<T: Ranked> Task<T> for Positions {
    type Word = T::Placed;
    type Out = i64;

    #[inline(always)]
    fn word(element: T, position: usize, descending: bool) -> T::Placed {
        T::placed(if descending { element.key().reversed() } else { element.key() }, position)
    }

    #[inline(always)]
    fn result(word: T::Placed, _: bool) -> i64 {
        T::position(word)
    }
}
