//! The operands of a sort, and its results: the numbers or their positions.

use super::{
    keys::{Ranked, Word},
    lines::Lines,
};
use crate::kernels::number::Number;

/// The operands.
pub(super) struct Sort<'a, T> {
    pub(super) lines: &'a Lines,
    /// The lines of the result: the first elements of each line in sorted order, or all.
    pub(super) heads: &'a Lines,
    pub(super) descending: bool,
    pub(super) x: &'a [T],
}

/// What a sort keeps of a line and writes to the result.
pub(super) trait Task<T: Ranked> {
    type Word: Word;
    type Out: Number;
    /// The position of the lowest bit of the key in a word. The bits below ascend in every line that is sorted.
    const LOWEST_BIT: u32;

    /// The word of a key at a position.
    fn word(key: T::Key, position: usize) -> Self::Word;

    /// The key of a word.
    fn key(word: Self::Word) -> T::Key;

    /// The result of a word.
    fn result(word: Self::Word, descending: bool) -> Self::Out;

    /// Whether the memory of results can hold words.
    const HOLDS_WORDS: bool = size_of::<Self::Out>() == size_of::<Self::Word>()
        && align_of::<Self::Out>() == align_of::<Self::Word>();

    /// The memory of results as words.
    #[inline(always)]
    fn as_words(out: &mut [Self::Out]) -> &mut [Self::Word] {
        assert!(Self::HOLDS_WORDS, "results and words have the same layout");
        // SAFETY: they have, and any bits are a number and a word, which is an unsigned integer.
        unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) }
    }

    /// Replaces words in the memory of results by their results.
    #[inline(always)]
    fn replace_words(out: &mut [Self::Out], descending: bool) {
        assert!(Self::HOLDS_WORDS, "results and words have the same layout");
        for out in out {
            // SAFETY: as above.
            *out = Self::result(unsafe { std::mem::transmute_copy(out) }, descending);
        }
    }
}

/// The one of two slices that gets the words in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// The one that holds the words at first.
    Same,
    /// The other one.
    Other,
}

/// The numbers in order.
pub(super) struct Values;

/// Their positions.
pub(super) struct Positions;

impl<T: Ranked> Task<T> for Values {
    type Word = T::Key;
    type Out = T;
    const LOWEST_BIT: u32 = 0;

    #[inline(always)]
    fn word(key: T::Key, _: usize) -> T::Key {
        key
    }

    #[inline(always)]
    fn key(word: T::Key) -> T::Key {
        word
    }

    #[inline(always)]
    fn result(key: T::Key, descending: bool) -> T {
        T::of_key(if descending { key.reversed() } else { key })
    }
}

impl<T: Ranked> Task<T> for Positions {
    type Word = T::Placed;
    type Out = i64;
    const LOWEST_BIT: u32 = 32;

    #[inline(always)]
    fn word(key: T::Key, position: usize) -> T::Placed {
        T::placed(key, position)
    }

    #[inline(always)]
    fn key(word: T::Placed) -> T::Key {
        T::without_position(word)
    }

    #[inline(always)]
    fn result(word: T::Placed, _: bool) -> i64 {
        T::position(word)
    }
}
