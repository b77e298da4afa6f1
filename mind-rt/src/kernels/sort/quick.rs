//! Sorts words at the level AVX-512: they are partitioned until the parts fit into a matrix of vectors. (Hoare,
//! *Quicksort*, 1962; Bramas, *A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512 on Intel Skylake*, 2017, for
//! partitions by compressed vectors.)

use std::{arch::x86_64::__m512i, mem::MaybeUninit};

use super::{
    avx512::{Lanes, ROWS, sort_rows},
    task::Destination,
};
use crate::{
    kernels::limit::limit,
    simd::{SimdLevel, simd_level},
};

/// This many words are sorted as a matrix, which is in the first cache.
const MATRIX: usize = limit(1024, 256);

/// Memory for a matrix of words of 64 bits.
type Matrix = [MaybeUninit<__m512i>; MATRIX / 8];

/// The number of words of which the pivot is the median.
const SAMPLES: usize = limit(15, 3);

/// Sorts words from one slice to the other of the same length, or returns `false`. The first slice holds any words then.
pub(super) fn sort<W: Lanes>(words: &mut [W], sorted: &mut [W]) -> bool {
    if simd_level() != SimdLevel::Avx512 {
        return false;
    }
    assert_eq!(words.len(), sorted.len(), "the result has as many words");
    // Random pivots halve the parts in about `log2` steps. After twice as many the words are sorted by another algorithm,
    // so that no order of them takes quadratic time.
    let depth = 2 * words.len().checked_ilog2().unwrap_or_default();
    let mut matrix: Matrix = [const { MaybeUninit::uninit() }; MATRIX / 8];
    // SAFETY: the processor has the level.
    unsafe { sort_part(words, sorted, Destination::Other, depth, &mut matrix) };
    true
}

/// Sorts words. The other slice has the same length.
///
/// # Safety
/// The processor must have the features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn sort_part<W: Lanes>(
    words: &mut [W],
    other: &mut [W],
    target: Destination,
    depth: u32,
    matrix: &mut Matrix,
) {
    if words.len() <= MATRIX {
        let sorted = if target == Destination::Same { None } else { Some(other) };
        // SAFETY: this function is compiled for AVX-512.
        return unsafe { sort_few(words, sorted, matrix) };
    }
    if depth == 0 {
        words.sort_unstable();
        if target == Destination::Other {
            other.copy_from_slice(words);
        }
        return;
    }
    let pivot = median_of_samples(words);
    // The lesser words go to the target.
    let moved = match target {
        Destination::Same => Moved::Others,
        Destination::Other => Moved::These,
    };
    // SAFETY: this function is compiled for AVX-512.
    let low = unsafe {
        let pivot = pivot.splat();
        partition::<W>(words, other, moved, |row| W::less(row, pivot))
    };
    let (source, target) = match target {
        Destination::Same => (other, words),
        Destination::Other => (words, other),
    };
    // If no word is less than the pivot, those that equal it are moved to their place.
    let (low, is_sorted) = match low {
        // SAFETY: this function is compiled for AVX-512.
        0 => unsafe {
            let pivot = pivot.splat();
            (partition::<W>(source, target, Moved::These, |row| !W::less(pivot, row)), true)
        },
        low => (low, false),
    };
    let (source_high, source_low) = source.split_at_mut(target.len() - low);
    let (target_low, target_high) = target.split_at_mut(low);
    // SAFETY: this function is compiled for AVX-512.
    unsafe {
        if !is_sorted {
            sort_part(target_low, source_low, Destination::Same, depth - 1, matrix);
        }
        sort_part(source_high, target_high, Destination::Other, depth - 1, matrix);
    }
}

/// Sorts words that fit into a matrix. `None`: they are sorted in place.
///
/// # Safety
/// As [`sort_part`], whose frames it leaves small.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn sort_few<W: Lanes>(words: &mut [W], sorted: Option<&mut [W]>, matrix: &mut Matrix) {
    let count = words.len();
    let rows = count.div_ceil(W::LANES).next_power_of_two().max(ROWS);
    let words = words.as_mut_ptr();
    let sorted = match sorted {
        Some(sorted) => {
            assert_eq!(sorted.len(), count, "the result has as many words");
            sorted.as_mut_ptr()
        }
        None => words,
    };
    // SAFETY: both are slices of `count` words. This function is compiled for AVX-512.
    unsafe { sort_rows(words, count, &mut matrix[..rows], sorted) };
}

fn median_of_samples<W: Lanes>(words: &[W]) -> W {
    let step = words.len() / SAMPLES;
    let mut samples: [W; SAMPLES] = std::array::from_fn(|at| words[step * at + step / 2]);
    samples.sort_unstable();
    samples[SAMPLES / 2]
}

/// The words that a partition moves to the other slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// Those of the chosen lanes.
    These,
    /// The others.
    Others,
}

/// Moves words to the start of another slice, and the rest to the start of theirs. Returns the number of words of chosen
/// lanes. Words after the moved ones and after the rest are any words of the slice.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn partition<W: Lanes>(
    words: &mut [W],
    other: &mut [W],
    moved: Moved,
    chosen: impl Fn(__m512i) -> u16,
) -> usize {
    let len = words.len();
    assert_eq!(len, other.len(), "each slice may get all words");
    let (words, other) = (words.as_mut_ptr(), other.as_mut_ptr());
    let (to, to_rest) = match moved {
        Moved::These => (other, words),
        Moved::Others => (words, other),
    };
    let (mut count, mut at) = (0, 0);
    // SAFETY: `at + LANES` words of `words` were read when `count` of them are at `to` and `at - count` at `to_rest`. So a
    // whole vector after these ends within the slice, and overwrites no word that was not read. The caller is compiled for
    // AVX-512.
    unsafe {
        while at + W::LANES <= len {
            let row = W::read(W::LANES, words.add(at), W::MAX);
            let lanes = chosen(row) & const { (u16::MAX as u32 >> (16 - W::LANES)) as u16 };
            W::write(W::LANES, to.add(count), W::packed(lanes, row));
            W::write(W::LANES, to_rest.add(at - count), W::packed(!lanes, row));
            count += lanes.count_ones() as usize;
            at += W::LANES;
        }
        let rest = len - at;
        let row = W::read(rest, words.add(at), W::MAX);
        let lanes = chosen(row) & ((1_u32 << rest) - 1) as u16;
        let last = lanes.count_ones() as usize;
        W::write(last, to.add(count), W::packed(lanes, row));
        W::write(rest - last, to_rest.add(at - count), W::packed(!lanes & ((1_u32 << rest) - 1) as u16, row));
        count + last
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scrambled;
    use super::*;

    fn check(words: &[u32]) {
        let mut expected = words.to_vec();
        expected.sort_unstable();
        let (mut from, mut to) = (words.to_vec(), vec![0; words.len()]);
        assert!(sort(&mut from, &mut to));
        assert!(to == expected, "{} words", words.len());
        for shift in [0, 20, 32] {
            let wide =
                |words: &[u32]| -> Vec<u64> { words.iter().map(|word| u64::from(*word) << shift).collect() };
            let (mut from, mut to) = (wide(words), vec![0; words.len()]);
            assert!(sort(&mut from, &mut to));
            assert!(to == wide(&expected), "{} words, shifted by {shift}", words.len());
        }
    }

    #[test]
    fn words_are_sorted_in_every_number_and_order() {
        if simd_level() < SimdLevel::Avx512 {
            return;
        }
        (0..600).for_each(|len| check(&scrambled(len)));
        for len in [1023, 1024, 1025, 2047, 4096, 8193, 30_000, 100_003] {
            let words = scrambled(len);
            check(&words);
            for different in [1, 2, 5, 300] {
                check(&words.iter().map(|word| word % different).collect::<Vec<_>>());
            }
            check(&words.iter().map(|word| u32::MAX - word % 3).collect::<Vec<_>>());
            let ascending: Vec<u32> = (0..len as u32).collect();
            check(&ascending);
            check(&ascending.iter().rev().copied().collect::<Vec<_>>());
            check(&ascending.iter().map(|word| word ^ ((word >> 3) % 2)).collect::<Vec<_>>());
        }
    }

    /// The pivot is the least of all words but few, again and again.
    #[test]
    fn words_with_poor_pivots_are_sorted_by_another_algorithm() {
        if simd_level() < SimdLevel::Avx512 {
            return;
        }
        let words = scrambled(5000);
        let mut expected = words.clone();
        expected.sort_unstable();
        for target in [Destination::Same, Destination::Other] {
            for depth in 0..4 {
                let (mut words, mut other) = (words.clone(), vec![0; 5000]);
                let mut matrix: Matrix = [const { MaybeUninit::uninit() }; MATRIX / 8];
                // SAFETY: the processor has the level.
                unsafe { sort_part(&mut words, &mut other, target, depth, &mut matrix) };
                assert!(if target == Destination::Same { words } else { other } == expected);
            }
        }
    }
}
