//! Sorts words as a matrix of vectors of 512 bits. Each column is sorted first. Then groups of columns are merged: the
//! order goes down a column, then to the next one. All comparisons are between whole vectors. (Batcher, *Sorting Networks
//! and Their Applications*, 1968; Blacher, Giesen, Wassenberg and others, *Vectorized and Performance-portable
//! Quicksort*, 2022, for the merges of columns.)

use std::arch::x86_64::{
    __m512i, _mm512_mask_blend_epi32, _mm512_mask_blend_epi64, _mm512_max_epu32, _mm512_max_epu64,
    _mm512_min_epu32, _mm512_min_epu64, _mm512_permutexvar_epi32, _mm512_permutexvar_epi64,
};

use super::keys::Word;
use crate::simd::{SimdLevel, simd_level};

/// The rows that are in registers at the same time.
const ROWS: usize = 16;

/// Words in the lanes of a vector. `L ^ X` is the position of another lane.
pub(super) trait Lanes: Word {
    /// The lesser words.
    ///
    /// # Safety
    /// Functions with AVX-512 must call it. So must they all functions of this file.
    unsafe fn least(a: __m512i, b: __m512i) -> __m512i;

    /// The greater words.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn most(a: __m512i, b: __m512i) -> __m512i;

    /// The words of the lanes `L ^ X`.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn swapped<const X: usize>(a: __m512i) -> __m512i;

    /// The words of the second vector in the lanes whose position has the bit, those of the first in the others.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn choose<const BIT: usize>(a: __m512i, b: __m512i) -> __m512i;
}

macro_rules! lanes {
    ($($word:ident, $mask:ident: $least:ident, $most:ident, $permute:ident, $blend:ident;)*) => {
        $(impl Lanes for $word {
            #[inline(always)]
            unsafe fn least(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller is compiled for AVX-512.
                unsafe { $least(a, b) }
            }

            #[inline(always)]
            unsafe fn most(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $most(a, b) }
            }

            #[inline(always)]
            unsafe fn swapped<const X: usize>(a: __m512i) -> __m512i {
                const COUNT: usize = $mask::BITS as usize;
                let lanes = const {
                    let (mut lanes, mut lane) = ([0; COUNT], 0);
                    while lane < COUNT {
                        lanes[lane] = (lane ^ X) as $word;
                        lane += 1;
                    }
                    lanes
                };
                // SAFETY: as above; any bits are a vector of integers.
                unsafe { $permute(std::mem::transmute::<[$word; COUNT], __m512i>(lanes), a) }
            }

            #[inline(always)]
            unsafe fn choose<const BIT: usize>(a: __m512i, b: __m512i) -> __m512i {
                let mask = const {
                    let (mut mask, mut lane) = (0, 0);
                    while lane < $mask::BITS {
                        mask |= ((lane as usize & BIT != 0) as $mask) << lane;
                        lane += 1;
                    }
                    mask
                };
                // SAFETY: as above.
                unsafe { $blend(mask, a, b) }
            }
        })*
    };
}

lanes! {
    u32, u16: _mm512_min_epu32, _mm512_max_epu32, _mm512_permutexvar_epi32, _mm512_mask_blend_epi32;
    u64, u8: _mm512_min_epu64, _mm512_max_epu64, _mm512_permutexvar_epi64, _mm512_mask_blend_epi64;
}

/// Sorts words from one slice to the other, or returns `false`. The slices must begin at an address of a vector, and
/// their length must be that of [`ROWS`] rows, or a power of two times as many.
pub(super) fn sort<W: Lanes>(words: &mut [W], sorted: &mut [W]) -> bool {
    let rows = words.len() / W::LANES;
    let is_aligned =
        [words.as_ptr(), sorted.as_ptr()].iter().all(|words| words.cast::<__m512i>().is_aligned());
    let fits = rows * W::LANES == words.len() && words.len() == sorted.len() && is_aligned;
    if !(fits && rows >= ROWS && rows.is_power_of_two() && simd_level() == SimdLevel::Avx512) {
        return false;
    }
    // SAFETY: the vectors are aligned and hold the words of the slices. The processor has the level.
    unsafe {
        let words = std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<__m512i>(), rows);
        let sorted = std::slice::from_raw_parts_mut(sorted.as_mut_ptr().cast::<__m512i>(), rows);
        sort_rows::<W>(words, sorted);
    }
    true
}

/// # Safety
/// The processor must have the features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn sort_rows<W: Lanes>(rows: &mut [__m512i], sorted: &mut [__m512i]) {
    // SAFETY: this function is compiled for AVX-512.
    unsafe {
        sort_columns::<W>(rows);
        merge_columns::<W, 1, 1>(rows);
        merge_columns::<W, 2, 3>(rows);
        merge_columns::<W, 4, 7>(rows);
        if W::LANES == 16 {
            merge_columns::<W, 8, 15>(rows);
        }
        transpose::<W>(rows, sorted);
    }
}

/// Sorts each column.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn sort_columns<W: Lanes>(rows: &mut [__m512i]) {
    for block in rows.as_chunks_mut().0 {
        // SAFETY: the caller's promise.
        *block = unsafe { sorted_columns::<W>(*block) };
    }
    let mut len = 2 * ROWS;
    while len <= rows.len() {
        for part in rows.chunks_exact_mut(len) {
            let (low, high) = part.split_at_mut(len / 2);
            for (low, high) in low.iter_mut().zip(high.iter_mut().rev()) {
                // SAFETY: the caller's promise.
                (*low, *high) = unsafe { (W::least(*low, *high), W::most(*low, *high)) };
            }
            // SAFETY: the caller's promise.
            unsafe {
                sort_bitonic_columns::<W>(low);
                sort_bitonic_columns::<W>(high);
            }
        }
        len *= 2;
    }
}

/// Merges pairs of groups of `N` sorted columns: `X` is `2 * N - 1`.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn merge_columns<W: Lanes, const N: usize, const X: usize>(rows: &mut [__m512i]) {
    let (low, high) = rows.split_at_mut(rows.len() / 2);
    for (low, high) in low.iter_mut().zip(high.iter_mut().rev()) {
        // SAFETY: the caller's promise.
        (*low, *high) = unsafe {
            let pair = (compared::<W, X, N>(*low, *high), compared::<W, X, N>(*high, *low));
            (within_columns::<W, N>(pair.0), within_columns::<W, N>(pair.1))
        };
    }
    // SAFETY: the caller's promise.
    unsafe { sort_bitonic_columns::<W>(rows) };
}

/// Compares lanes that are `N / 2`, …, 2 and 1 apart.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn within_columns<W: Lanes, const N: usize>(mut row: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        if N >= 8 {
            row = compared::<W, 4, 4>(row, row);
        }
        if N >= 4 {
            row = compared::<W, 2, 2>(row, row);
        }
        if N >= 2 {
            row = compared::<W, 1, 1>(row, row);
        }
        row
    }
}

/// The greater of `a[L]` and `b[L ^ X]` in the lanes `L` with the bit, the lesser in the others.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn compared<W: Lanes, const X: usize, const BIT: usize>(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let other = W::swapped::<X>(b);
        W::choose::<BIT>(W::least(a, other), W::most(a, other))
    }
}

/// Sorts columns that ascend and then descend, or a rotation of such columns.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn sort_bitonic_columns<W: Lanes>(rows: &mut [__m512i]) {
    let mut len = rows.len();
    while len > ROWS {
        for part in rows.chunks_exact_mut(len) {
            let (low, high) = part.split_at_mut(len / 2);
            for (low, high) in low.iter_mut().zip(high) {
                // SAFETY: the caller's promise.
                (*low, *high) = unsafe { (W::least(*low, *high), W::most(*low, *high)) };
            }
        }
        len /= 2;
    }
    for block in rows.as_chunks_mut::<ROWS>().0 {
        // SAFETY: the caller's promise.
        *block = unsafe {
            let halves = apart::<W, 4>(apart::<W, 8>(*block));
            apart::<W, 1>(apart::<W, 2>(halves))
        };
    }
}

/// Compares rows that are `N` apart.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn apart<W: Lanes, const N: usize>(mut rows: [__m512i; ROWS]) -> [__m512i; ROWS] {
    for at in 0..ROWS {
        if at & N == 0 {
            // SAFETY: the caller's promise.
            unsafe { exchange::<W>(&mut rows, at, at + N) };
        }
    }
    rows
}

/// Writes the words in their order, which goes down the columns.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn transpose<W: Lanes>(rows: &[__m512i], sorted: &mut [__m512i]) {
    let vectors = rows.len() / W::LANES;
    for (at, block) in rows.as_chunks::<ROWS>().0.iter().enumerate() {
        // SAFETY: the caller's promise.
        let block = unsafe {
            let block = swapped_blocks::<W, 4>(swapped_blocks::<W, 2>(swapped_blocks::<W, 1>(*block)));
            if W::LANES == 16 { swapped_blocks::<W, 8>(block) } else { block }
        };
        for (row, column) in block.into_iter().enumerate() {
            sorted[row % W::LANES * vectors + (at * ROWS + row) / W::LANES] = column;
        }
    }
}

/// Transposes squares of two by two squares with `N` rows.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn swapped_blocks<W: Lanes, const N: usize>(mut rows: [__m512i; ROWS]) -> [__m512i; ROWS] {
    for at in 0..ROWS {
        if at & N == 0 {
            let (a, b) = (rows[at], rows[at + N]);
            // SAFETY: the caller's promise.
            unsafe {
                rows[at] = W::choose::<N>(a, W::swapped::<N>(b));
                rows[at + N] = W::choose::<N>(W::swapped::<N>(a), b);
            }
        }
    }
    rows
}

/// Sorts columns of [`ROWS`] words by 60 comparisons, the fewest that are known. (Knuth, *The Art of Computer
/// Programming*, volume 3, section 5.3.4, for the network by M. W. Green.)
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn sorted_columns<W: Lanes>(mut rows: [__m512i; ROWS]) -> [__m512i; ROWS] {
    // Without a loop, which would keep the rows in memory.
    macro_rules! exchange {
        ($($low:literal $high:literal)*) => {
            // SAFETY: the caller's promise.
            $(unsafe { exchange::<W>(&mut rows, $low, $high) };)*
        };
    }
    exchange!(0 13 1 12 2 15 3 14 4 8 5 6 7 11 9 10);
    exchange!(0 5 1 7 2 9 3 4 6 13 8 14 10 15 11 12);
    exchange!(0 1 2 3 4 5 6 8 7 9 10 11 12 13 14 15);
    exchange!(0 2 1 3 4 10 5 11 6 7 8 9 12 14 13 15);
    exchange!(1 2 3 12 4 6 5 7 8 10 9 11 13 14);
    exchange!(1 4 2 6 5 8 7 10 9 13 11 14);
    exchange!(2 4 3 6 9 12 11 13);
    exchange!(3 5 6 8 7 9 10 12);
    exchange!(3 4 5 6 7 8 9 10 11 12);
    exchange!(6 7 8 9);
    rows
}

/// Puts the lesser words of two rows into the first one.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn exchange<W: Lanes>(rows: &mut [__m512i; ROWS], low: usize, high: usize) {
    let (a, b) = (rows[low], rows[high]);
    // SAFETY: the caller's promise.
    (rows[low], rows[high]) = unsafe { (W::least(a, b), W::most(a, b)) };
}

#[cfg(test)]
mod tests {
    use super::super::tests::scrambled;
    use super::*;

    #[repr(align(64))]
    struct Aligned<T>([T; 8192]);

    #[test]
    fn words_are_sorted_in_every_number_of_rows() {
        if simd_level() < SimdLevel::Avx512 {
            return;
        }
        let few: Vec<u32> = scrambled(8192).iter().map(|word| word % 5).collect();
        for x in [scrambled(8192), few, (0..8192).collect(), (0..8192).rev().collect()] {
            let (mut words, mut sorted) =
                (Box::new(Aligned([0_u32; 8192])), Box::new(Aligned([0_u32; 8192])));
            let (mut wide, mut wide_sorted) =
                (Box::new(Aligned([0_u64; 8192])), Box::new(Aligned([0_u64; 8192])));
            for len in [256, 512, 1024, 2048, 4096, 8192] {
                let mut expected = x[..len].to_vec();
                expected.sort_unstable();
                words.0[..len].copy_from_slice(&x[..len]);
                assert!(sort(&mut words.0[..len], &mut sorted.0[..len]));
                assert_eq!(sorted.0[..len], expected);
                wide.0.iter_mut().zip(&x[..len]).for_each(|(wide, word)| *wide = u64::from(*word) << 20);
                assert!(sort(&mut wide.0[..len], &mut wide_sorted.0[..len]));
                assert!(
                    wide_sorted.0[..len].iter().eq(expected
                        .iter()
                        .map(|word| u64::from(*word) << 20)
                        .collect::<Vec<_>>()
                        .iter())
                );
            }
        }
    }

    #[test]
    fn other_lengths_are_left_as_they_are() {
        let (mut words, mut sorted) = (Box::new(Aligned([7_u32; 8192])), Box::new(Aligned([0_u32; 8192])));
        for len in [0, 1, 128, 255, 257, 768] {
            assert!(!sort(&mut words.0[..len], &mut sorted.0[..len]));
        }
        assert!(!sort(&mut words.0[1..257], &mut sorted.0[..256]), "not aligned");
        assert!(!sort(&mut words.0[..256], &mut sorted.0[..512]), "of different lengths");
        assert!(sorted.0.iter().all(|word| *word == 0));
    }
}
