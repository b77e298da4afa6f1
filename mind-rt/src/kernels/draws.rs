//! Random bits of consecutive counters, many at a time.

use super::{check, math::threefry};
use crate::simd::{Kernel, dispatch};

/// The most bits that are drawn at once. A processor then waits for results less than for arithmetic units.
const MOST: usize = 256;

/// The counters that are drawn together.
const LANES: usize = 32;

/// Random bits that are drawn ahead: [`threefry`](super::math::threefry()) of a key and consecutive counters.
#[derive(Debug)]
#[repr(align(64))]
pub struct Draws {
    bits: [i64; MOST],
    words: [[u32; MOST]; 2],
    key: i64,
    /// The counter of the first bits.
    first: i64,
    /// The number of bits.
    count: usize,
}

impl Draws {
    /// Nothing is drawn yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { bits: [0; MOST], words: [[0; MOST]; 2], key: 0, first: 0, count: 0 }
    }

    /// The bits of `W` counters from `first` on. If they are not drawn yet, those of up to `left` counters are.
    #[inline(always)]
    pub fn block<const W: usize>(&mut self, key: i64, first: i64, left: usize) -> &[i64; W] {
        const { assert!(W <= MOST, "a block is drawn at once") };
        let at = first.wrapping_sub(self.first) as u64;
        let is_drawn = self.key == key && at.saturating_add(W as u64) <= self.count as u64;
        let at = if is_drawn { at as usize } else { 0 };
        if !is_drawn {
            self.draw(key, first, left.max(W));
        }
        self.bits[at..].first_chunk().expect("the bits of the block are drawn")
    }

    #[inline(never)]
    fn draw(&mut self, key: i64, first: i64, wanted: usize) {
        let count = wanted.min(MOST).next_multiple_of(LANES);
        (self.key, self.first, self.count) = (key, first, count);
        check(count <= MOST, "more bits than are drawn at once");
        dispatch(Draw(self));
    }
}

impl Default for Draws {
    fn default() -> Self {
        Self::new()
    }
}

struct Draw<'a>(&'a mut Draws);

impl Kernel for Draw<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let &mut Draws { ref mut bits, words: [ref mut a, ref mut b], key, first, count } = self.0;
        let (a, b) = (&mut a.as_chunks_mut().0[..count / LANES], &mut b.as_chunks_mut().0[..count / LANES]);
        threefry::words_of_lanes::<LANES>(key as u64, first as u64, a, b);
        for (bits, (a, b)) in bits.as_chunks_mut::<LANES>().0.iter_mut().zip(a.iter().zip(&*b)) {
            for ((bits, a), b) in bits.iter_mut().zip(a).zip(b) {
                *bits = threefry::joined([*a, *b]) as i64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::math::threefry as bits;
    use crate::simd::{SimdLevel, run_at_most};

    /// Counters near which one of their words wraps.
    const COUNTERS: [i64; 6] = [0, 7, (1 << 32) - 100, -50, i64::MAX - 100, (5 << 32) - 1];

    #[test]
    fn the_bits_are_those_of_each_counter_at_every_level() {
        for key in [0, 42, -1, i64::MIN, 0x0123_4567_89ab_cdef] {
            for first in COUNTERS {
                for count in (LANES..=MOST).step_by(LANES) {
                    for level in SimdLevel::ALL {
                        let mut draws = Draws { key, first, count, ..Draws::new() };
                        run_at_most(level, Draw(&mut draws));
                        for (at, found) in draws.bits[..count].iter().enumerate() {
                            assert_eq!(
                                *found,
                                bits(key, first.wrapping_add(at as i64)),
                                "{key} {first} {at}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_has_its_own_bits_in_any_order_of_calls() {
        let mut draws = Draws::new();
        let calls = [
            (0, 0, 1000),
            (0, 16, 984),
            (0, 240, 760),
            (0, 256, 744),
            (1, 272, 728),
            (1, 256, 16),
            (1, 272, 0),
            (1, 280, 40),
            (1, 264, 20),
            (1, -8, 40),
            (1, i64::MAX - 3, 500),
            (1, i64::MIN, 500),
        ];
        for (key, first, left) in calls {
            let block: [i64; 16] = *draws.block(key, first, left);
            let expected = std::array::from_fn(|at| bits(key, first.wrapping_add(at as i64)));
            assert_eq!(block, expected, "{key} {first} {left}");
        }
        let block: [i64; MOST] = *draws.block(9, 1, 300);
        assert_eq!(block, std::array::from_fn(|at| bits(9, 1 + at as i64)));
    }
}
