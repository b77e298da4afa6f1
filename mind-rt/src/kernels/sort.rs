//! Sorts of lines by keys: unsigned integers in the order of the numbers. A key has one value for both zeros and one for
//! all NaN, so that equal numbers have equal keys.
//!
//! - Short lines are sorted side by side, one in each lane, by a network of comparisons.
//! - Long lines are sorted by the digits of their keys, beginning with the lowest.
//!
//! For positions each key carries the position of its element in its low bits. Keys with positions differ, so that their
//! order is stable by any sort.

use std::cell::RefCell;

use mind_shape::element_types;

use super::check;
use super::number::Number;
use crate::error::{Error, fail};
use crate::simd::{Kernel, dispatch};

/// A number with a key.
pub(super) trait Ranked: Number {
    /// The key.
    type Key: Word;
    /// A key with a position.
    type Placed: Word;

    /// The key of the number.
    fn key(self) -> Self::Key;

    /// A number with this key.
    fn of_key(key: Self::Key) -> Self;

    /// The key with a position, which is less than 2^32.
    fn placed(key: Self::Key, position: usize) -> Self::Placed;

    /// The position.
    fn position(placed: Self::Placed) -> i64;

    /// Whether other numbers have the same key: zeros and NaN.
    fn shares_its_key(self) -> bool;
}

macro_rules! integers {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Ranked for $ty {
            type Key = <$ty as Bits>::Key;
            type Placed = <$ty as Bits>::Placed;

            #[inline(always)]
            fn key(self) -> Self::Key {
                // The least number becomes 0.
                (self as Self::Key).wrapping_sub(<$ty>::MIN as Self::Key)
            }

            #[inline(always)]
            fn of_key(key: Self::Key) -> Self {
                key.wrapping_add(<$ty>::MIN as Self::Key) as Self
            }

            #[inline(always)]
            fn placed(key: Self::Key, position: usize) -> Self::Placed {
                Self::Placed::from(key) << 32 | position as Self::Placed
            }

            #[inline(always)]
            fn position(placed: Self::Placed) -> i64 {
                i64::from(placed as u32)
            }

            #[inline(always)]
            fn shares_its_key(self) -> bool {
                false
            }
        })*
    };
}

macro_rules! floats {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Ranked for $ty {
            type Key = <$ty as Bits>::Key;
            type Placed = <$ty as Bits>::Placed;

            #[inline(always)]
            fn key(self) -> Self::Key {
                // The sum is +0 for both zeros. The bits of numbers with a sign descend, those of the others ascend.
                let bits = (self + 0.0).to_bits();
                let sign = bits >> (Self::Key::BITS - 1);
                let flipped = bits ^ (sign.wrapping_neg() | 1 << (Self::Key::BITS - 1));
                if self.is_nan() { Self::Key::MAX } else { flipped }
            }

            #[inline(always)]
            fn of_key(key: Self::Key) -> Self {
                let sign = key >> (Self::Key::BITS - 1);
                Self::from_bits(key ^ (sign.wrapping_sub(1) | 1 << (Self::Key::BITS - 1)))
            }

            #[inline(always)]
            fn placed(key: Self::Key, position: usize) -> Self::Placed {
                Self::Placed::from(key) << 32 | position as Self::Placed
            }

            #[inline(always)]
            fn position(placed: Self::Placed) -> i64 {
                i64::from(placed as u32)
            }

            #[inline(always)]
            fn shares_its_key(self) -> bool {
                self == 0.0 && self.is_sign_negative() || self.is_nan()
            }
        })*
    };
}

element_types!(integers => integers!);
element_types!(floats => floats!);

/// The widths of the keys of an element type.
pub(super) trait Bits {
    type Key;
    type Placed;
}

macro_rules! bits {
    ($($ty:ident: $key:ident, $placed:ident;)*) => {
        $(impl Bits for $ty {
            type Key = $key;
            type Placed = $placed;
        })*
    };
}

bits! {
    u8: u32, u64;
    i32: u32, u64;
    f32: u32, u64;
    i64: u64, u128;
    f64: u64, u128;
}

/// An unsigned integer that is sorted.
pub(super) trait Word: Copy + Ord {
    /// The number of lines that are sorted side by side.
    const LANES: usize;
    /// The longest line that is sorted so.
    const SHORT: usize;
    /// The position of the lowest digit of the key, and the number of digits.
    const DIGITS: (u32, usize);

    /// The digit that begins at a bit.
    fn digit(self, shift: u32) -> usize;

    /// The keys in the opposite order.
    fn reversed(self) -> Self;

    /// Calls `then` with scratch memory of the thread.
    fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R;
}

/// The number of bits of a digit: the counters of three digits of 11 bits are in the first cache.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;

macro_rules! words {
    ($($ty:ident: $lanes:literal lanes up to $short:literal, $digits:literal digits from bit $low:literal;)*) => {
        $(impl Word for $ty {
            const LANES: usize = $lanes;
            const SHORT: usize = $short;
            const DIGITS: (u32, usize) = ($low, $digits);

            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (BUCKETS - 1)
            }

            #[inline(always)]
            fn reversed(self) -> Self {
                !self
            }

            fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R {
                thread_local! {
                    static SCRATCH: RefCell<Vec<$ty>> = const { RefCell::new(Vec::new()) };
                }
                SCRATCH.with_borrow_mut(|scratch| {
                    let more = len.saturating_sub(scratch.len());
                    if scratch.try_reserve_exact(more).is_err() {
                        fail(Error::Allocation { shape: format!("keys of {len} elements to sort") });
                    }
                    scratch.resize(scratch.len() + more, 0);
                    then(&mut scratch[..len])
                })
            }
        })*
    };
}

words! {
    u32: 16 lanes up to 1024, 3 digits from bit 0;
    u64: 8 lanes up to 256, 3 digits from bit 32;
    u128: 4 lanes up to 16, 6 digits from bit 32;
}

/// The lines along an axis.
pub(super) struct Lines {
    outer: usize,
    extent: usize,
    inner: usize,
}

impl Lines {
    /// `extents` are the product of the extents before the axis, the extent of the axis, and the product of the extents
    /// after it.
    pub(super) fn new(extents: [usize; 3], from: usize, to: usize, wrong: &'static str) -> Self {
        let [outer, extent, inner] = extents;
        let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
        check(places == Some(from) && places == Some(to), wrong);
        Self { outer, extent, inner }
    }

    /// The number of lines with elements.
    fn count(&self) -> usize {
        if self.extent == 0 { 0 } else { self.outer * self.inner }
    }

    /// The position of the first element of a line.
    #[inline(always)]
    fn first(&self, line: usize) -> usize {
        line / self.inner * (self.extent * self.inner) + line % self.inner
    }

    /// The elements of a line.
    #[inline(always)]
    fn elements<'x, T>(&self, line: usize, x: &'x [T]) -> impl Iterator<Item = &'x T> {
        x[self.first(line)..].iter().step_by(self.inner).take(self.extent)
    }

    /// Writes the words of the elements of a line from a position on. If they are contiguous, the loop becomes vector
    /// code.
    #[inline(always)]
    fn read<'w, T: Copy, W: 'w>(
        &self,
        (line, from): (usize, usize),
        x: &[T],
        words: impl Iterator<Item = &'w mut W>,
        word: impl Fn(T, usize) -> W,
    ) {
        let x = &x[self.first(line) + from * self.inner..];
        if self.inner == 1 {
            words.zip(x).enumerate().for_each(|(at, (to, element))| *to = word(*element, from + at));
        } else {
            let elements = x.iter().step_by(self.inner);
            words.zip(elements).enumerate().for_each(|(at, (to, element))| *to = word(*element, from + at));
        }
    }

    /// Replaces as many elements of a line as there are values, from a position on.
    #[inline(always)]
    fn replace<T>(
        &self,
        (line, from): (usize, usize),
        x: &mut [T],
        values: impl ExactSizeIterator<Item = T>,
    ) {
        let x = &mut x[self.first(line) + from * self.inner..];
        if self.inner == 1 {
            x[..values.len()].iter_mut().zip(values).for_each(|(to, value)| *to = value);
        } else {
            x.iter_mut().step_by(self.inner).zip(values).for_each(|(to, value)| *to = value);
        }
    }

    /// The elements of a line.
    #[inline(always)]
    fn elements_mut<'x, T>(&self, line: usize, x: &'x mut [T]) -> impl Iterator<Item = &'x mut T> {
        let first = self.first(line);
        x[first..].iter_mut().step_by(self.inner).take(self.extent)
    }
}

/// What a sort reads from a line and writes to it.
trait Task<T> {
    type Word: Word;
    type Out;

    /// The word of an element at a position.
    fn word(element: T, position: usize, descending: bool) -> Self::Word;

    /// The result of a word.
    fn result(word: Self::Word, descending: bool) -> Self::Out;
}

/// The numbers in order.
struct Values;

/// Their positions.
struct Positions;

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

/// Sorts each line.
pub(super) fn sorted<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [T]) {
    run::<T, Values>(lines, descending, x, out);
    // Numbers that share a key are written as one of them. This restores their bits, in their order.
    for line in 0..lines.count() {
        let share = |shares, element: &T| shares | element.shares_its_key();
        let shares = match lines.inner {
            1 => x[lines.first(line)..][..lines.extent].iter().fold(false, share),
            _ => lines.elements(line, x).fold(false, share),
        };
        if !shares {
            continue;
        }
        let is_zero = |element: T| element == T::ZERO;
        let is_nan = |element: T| element.partial_cmp(&element).is_none();
        for is_alike in [&is_zero as &dyn Fn(T) -> bool, &is_nan] {
            let from = lines.elements(line, x).filter(|element| is_alike(**element));
            let to = lines.elements_mut(line, out).filter(|element| is_alike(**element));
            to.zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The positions of the elements of each line in sorted order.
pub(super) fn order<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [i64]) {
    if u32::try_from(lines.extent).is_err() {
        return order_of_long(lines, descending, x, out);
    }
    run::<T, Positions>(lines, descending, x, out);
}

/// [`order`] of lines whose positions do not fit into 32 bits.
fn order_of_long<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [i64]) {
    for line in 0..lines.count() {
        let first = lines.first(line);
        u64::with_scratch(lines.extent, |places| {
            places.iter_mut().zip(0..).for_each(|(place, at)| *place = at);
            let key = |at: u64| Values::word(x[first + at as usize * lines.inner], 0, descending);
            places.sort_unstable_by_key(|at| (key(*at), *at));
            lines.elements_mut(line, out).zip(&*places).for_each(|(out, at)| *out = *at as i64);
        });
    }
}

fn run<T: Ranked, K: Task<T>>(lines: &Lines, descending: bool, x: &[T], out: &mut [K::Out]) {
    let (count, extent) = (lines.count(), lines.extent);
    let is_short = extent <= K::Word::SHORT && (extent <= SMALL || 2 * count >= K::Word::LANES);
    if is_short {
        return K::Word::with_scratch(extent * K::Word::LANES, |words| {
            dispatch(SideBySide::<T, K> { lines, descending, x, out, words });
        });
    }
    for line in 0..count {
        K::Word::with_scratch(2 * extent, |words| {
            let (words, other) = words.split_at_mut(extent);
            dispatch(Line::<T, K> { lines, line, descending, x, out: &mut *out, words, other });
        });
    }
}

/// Lines up to this length are sorted side by side even if there are few of them.
const SMALL: usize = 32;

/// The positions of all lanes that are moved together: their words are in the first cache.
const BLOCK: usize = 64;

/// Lines up to this length are sorted by comparisons if there are few of them: counters of digits would take longer.
const FEW: usize = 512;

/// Sorts lines, one in each lane.
struct SideBySide<'a, T, K: Task<T>> {
    lines: &'a Lines,
    descending: bool,
    x: &'a [T],
    out: &'a mut [K::Out],
    /// The words at each position along the lines, those of all lanes side by side.
    words: &'a mut [K::Word],
}

impl<T: Ranked, K: Task<T>> Kernel for SideBySide<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines, descending, x, out, words } = self;
        let (count, lanes) = (lines.count(), K::Word::LANES);
        for start in (0..count).step_by(lanes) {
            // The lanes after the last line sort what they hold.
            let here = start..count.min(start + lanes);
            for (block, words) in words.chunks_mut(BLOCK * lanes).enumerate() {
                for (lane, line) in here.clone().enumerate() {
                    let to = words[lane..].iter_mut().step_by(lanes);
                    let word = |element, at| K::word(element, at, descending);
                    lines.read((line, block * BLOCK), x, to, word);
                }
            }
            match lanes {
                4 => network::<K::Word, 4>(words.as_chunks_mut().0),
                8 => network::<K::Word, 8>(words.as_chunks_mut().0),
                _ => network::<K::Word, 16>(words.as_chunks_mut().0),
            }
            for (block, words) in words.chunks(BLOCK * lanes).enumerate() {
                for (lane, line) in here.clone().enumerate() {
                    let words = words.chunks_exact(lanes).map(|words| K::result(words[lane], descending));
                    lines.replace((line, block * BLOCK), out, words);
                }
            }
        }
    }
}

/// Sorts rows of words, each lane for itself, by merges of odd and even positions. (Batcher, *Sorting Networks and Their
/// Applications*, 1968; Knuth, *The Art of Computer Programming*, volume 3, algorithm 5.2.2M.)
#[inline(always)]
fn network<W: Word, const LANES: usize>(rows: &mut [[W; LANES]]) {
    let first = rows.len().next_power_of_two() / 2;
    let mut merged = first;
    while merged > 0 {
        let (mut apart, mut offset, mut next) = (merged, 0, first);
        loop {
            // Pairs of rows `apart`. The lower ones are blocks of `merged` rows with as many rows between them.
            let mut start = offset;
            while start + apart < rows.len() {
                let (low, high) = rows.split_at_mut(start + apart);
                for (low, high) in low[start..].iter_mut().take(merged).zip(high) {
                    exchange(low, high);
                }
                start += 2 * merged;
            }
            if next == merged {
                break;
            }
            (apart, offset, next) = (next - merged, merged, next / 2);
        }
        merged /= 2;
    }
}

/// Puts the lesser word of each lane into the first row.
#[inline(always)]
fn exchange<W: Word, const LANES: usize>(low: &mut [W; LANES], high: &mut [W; LANES]) {
    let (a, b) = (*low, *high);
    for lane in 0..LANES {
        low[lane] = a[lane].min(b[lane]);
        high[lane] = a[lane].max(b[lane]);
    }
}

/// Sorts one line.
struct Line<'a, T, K: Task<T>> {
    lines: &'a Lines,
    line: usize,
    descending: bool,
    x: &'a [T],
    out: &'a mut [K::Out],
    words: &'a mut [K::Word],
    other: &'a mut [K::Word],
}

impl<T: Ranked, K: Task<T>> Kernel for Line<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines, line, descending, x, out, words, other } = self;
        lines.read((line, 0), x, words.iter_mut(), |element, at| K::word(element, at, descending));
        let sorted = if lines.extent <= FEW || u32::try_from(lines.extent).is_err() {
            words.sort_unstable();
            words
        } else if K::Word::DIGITS.1 == 3 {
            by_digits::<K::Word, 3>(words, other)
        } else {
            by_digits::<K::Word, 6>(words, other)
        };
        lines.replace((line, 0), out, sorted.iter().map(|word| K::result(*word, descending)));
    }
}

/// Sorts words by the digits of their keys. Returns the slice that holds the result.
#[inline(always)]
fn by_digits<'w, W: Word, const DIGITS: usize>(
    mut words: &'w mut [W],
    mut other: &'w mut [W],
) -> &'w mut [W] {
    let shift = |digit: usize| W::DIGITS.0 + DIGIT * digit as u32;
    let mut counts = [[0_u32; BUCKETS]; DIGITS];
    for word in &*words {
        for (digit, counts) in counts.iter_mut().enumerate() {
            counts[word.digit(shift(digit))] += 1;
        }
    }
    for (digit, counts) in counts.iter_mut().enumerate() {
        // A digit that all words share changes no order.
        if counts.iter().any(|count| *count as usize == words.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for word in &*words {
            let place = &mut counts[word.digit(shift(digit))];
            other[*place as usize] = *word;
            *place += 1;
        }
        (words, other) = (other, words);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, run_at_most};

    #[test]
    fn keys_ascend_as_the_numbers_and_return_them() {
        let floats = [f32::NEG_INFINITY, -1.5, -f32::MIN_POSITIVE, -1e-45, 0.0, 1e-45, 2.0, f32::INFINITY];
        assert!(floats.is_sorted_by(|a, b| a.key() < b.key()));
        assert!(floats.iter().all(|x| f32::of_key(x.key()).to_bits() == x.to_bits()));
        assert_eq!((-0.0_f32).key(), 0.0_f32.key());
        assert!(f32::of_key(f32::NAN.key()).is_nan() && (-f32::NAN).key() == f32::NAN.key());
        assert!((-f32::NAN).key() > f32::INFINITY.key());
        let floats = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 2.0, f64::INFINITY, f64::NAN];
        assert!(floats.is_sorted_by(|a, b| a.key() < b.key()));
        let integers = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(integers.is_sorted_by(|a, b| a.key() < b.key()));
        assert!(integers.iter().all(|x| i64::of_key(x.key()) == *x));
        assert!([i32::MIN, -1, 0, i32::MAX].iter().all(|x| i32::of_key(x.key()) == *x));
        assert!([0_u8, 7, 255].is_sorted_by(|a, b| a.key() < b.key()));
        assert_eq!(u8::of_key(200_u8.key()), 200);
    }

    /// Numbers of 32 bits without an apparent order.
    fn scrambled(count: usize) -> Vec<u32> {
        (0..count as u32)
            .map(|at| at.wrapping_mul(0x9e37_79b9).rotate_left(7) ^ at.wrapping_mul(0x85eb_ca6b))
            .collect()
    }

    #[test]
    fn networks_sort_every_number_of_rows() {
        for rows in (0..70).chain([127, 128, 129, 500, 1000, 1024]) {
            const LANES: usize = 4;
            let lanes = LANES;
            let mut words = scrambled(rows * lanes);
            // Few different words in one lane.
            words.iter_mut().step_by(lanes).for_each(|word| *word %= 3);
            let mut expected: Vec<Vec<u32>> = (0..lanes)
                .map(|lane| words[lane.min(words.len())..].iter().step_by(lanes).copied().collect())
                .collect();
            expected.iter_mut().for_each(|lane| lane.sort_unstable());
            network::<u32, LANES>(words.as_chunks_mut().0);
            for (lane, expected) in expected.iter().enumerate() {
                let found: Vec<u32> = words[lane.min(words.len())..].iter().step_by(lanes).copied().collect();
                assert_eq!(found, *expected, "{rows} rows");
            }
        }
    }

    #[test]
    fn digits_sort_words_whose_digits_are_equal_or_extreme() {
        let of = |words: &[u32]| {
            let (mut words, mut other) = (words.to_vec(), vec![0; words.len()]);
            by_digits::<u32, 3>(&mut words, &mut other).to_vec()
        };
        for words in [vec![], vec![7], vec![u32::MAX, 0, u32::MAX, 1 << 31], vec![5; 9], scrambled(5000)] {
            let mut expected = words.clone();
            expected.sort_unstable();
            assert_eq!(of(&words), expected);
        }
        let words: Vec<u128> =
            scrambled(3000).iter().map(|word| u128::from(*word) << 64 | u128::from(*word)).collect();
        let mut expected = words.clone();
        expected.sort_by_key(|word| *word >> 32);
        let (mut words, mut other) = (words, vec![0; 3000]);
        assert_eq!(by_digits::<u128, 6>(&mut words, &mut other), expected);
    }

    #[test]
    fn positions_beyond_32_bits_are_sorted_too() {
        let x: Vec<f32> = scrambled(60).iter().map(|word| (word % 7) as f32).collect();
        for descending in [false, true] {
            let lines = Lines::new([2, 10, 3], 60, 60, "");
            let (mut short, mut long) = (vec![-1; 60], vec![-1; 60]);
            order(&lines, descending, &x, &mut short);
            order_of_long(&lines, descending, &x, &mut long);
            assert_eq!(short, long);
        }
    }

    #[test]
    fn every_level_gives_the_same_order() {
        let x: Vec<f64> = scrambled(40 * 33).iter().map(|word| f64::from(word % 50) - 25.0).collect();
        let lines = Lines::new([40, 33, 1], x.len(), x.len(), "");
        let at = |level| {
            let mut out = vec![0.0; x.len()];
            u64::with_scratch(33 * 8, |words| {
                run_at_most(
                    level,
                    SideBySide::<f64, Values> {
                        lines: &lines,
                        descending: true,
                        x: &x,
                        out: &mut out,
                        words,
                    },
                );
            });
            let mut one = vec![0.0; 33];
            let mut words = vec![0; 66];
            let (words, other) = words.split_at_mut(33);
            let lines = Lines::new([1, 33, 1], 33, 33, "");
            run_at_most(
                level,
                Line::<f64, Values> {
                    lines: &lines,
                    line: 0,
                    descending: true,
                    x: &x[..33],
                    out: &mut one,
                    words,
                    other,
                },
            );
            assert_eq!(one, out[..33]);
            out
        };
        let portable = at(SimdLevel::Portable);
        assert!(portable.chunks_exact(33).all(|line| line.is_sorted_by(|a, b| a >= b)));
        assert!(SimdLevel::ALL.into_iter().all(|level| at(level) == portable));
    }
}
