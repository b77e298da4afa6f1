//! Sorts words as a matrix of vectors of 512 bits. Each column is sorted first. Then groups of columns are merged: the
//! order goes down a column, then to the next one. All comparisons are between whole vectors. (Batcher, *Sorting Networks
//! and Their Applications*, 1968; Blacher, Giesen, Wassenberg and others, *Vectorized and Performance-portable
//! Quicksort*, 2022, for the merges of columns.)

use std::arch::x86_64::{
    __m512i, _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask, _mm512_mask_blend_epi32,
    _mm512_mask_blend_epi64, _mm512_mask_loadu_epi32, _mm512_mask_loadu_epi64, _mm512_mask_storeu_epi32,
    _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64, _mm512_max_epu32,
    _mm512_max_epu64, _mm512_min_epu32, _mm512_min_epu64, _mm512_permutexvar_epi32, _mm512_permutexvar_epi64,
    _mm512_set1_epi32, _mm512_set1_epi64,
};

use std::mem::MaybeUninit;

use super::keys::Word;

/// The rows that are in registers at the same time.
pub(super) const ROWS: usize = 16;

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

    /// A vector of this word.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn splat(self) -> __m512i;

    /// The lanes, as bits, whose word is less than that of the other vector.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn less(a: __m512i, b: __m512i) -> u16;

    /// The words of these lanes, in their order, in the first lanes.
    ///
    /// # Safety
    /// As [`Lanes::least`].
    unsafe fn packed(lanes: u16, a: __m512i) -> __m512i;

    /// Reads the words of the first `count` lanes. The others are `rest`.
    ///
    /// # Safety
    /// As [`Lanes::least`], and the words must be readable.
    unsafe fn read(count: usize, from: *const Self, rest: Self) -> __m512i;

    /// Writes the words of the first `count` lanes.
    ///
    /// # Safety
    /// As [`Lanes::least`], and the words must be writable.
    unsafe fn write(count: usize, to: *mut Self, a: __m512i);
}

macro_rules! lanes {
    ($($word:ident as $signed:ident, $mask:ident: $least:ident, $most:ident, $permute:ident, $blend:ident,
        $splat:ident, $less:ident, $pack:ident, $read:ident, $write:ident;)*) => {
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

            #[inline(always)]
            unsafe fn splat(self) -> __m512i {
                // SAFETY: as above.
                unsafe { $splat(self as $signed) }
            }

            #[inline(always)]
            unsafe fn less(a: __m512i, b: __m512i) -> u16 {
                // SAFETY: as above.
                u16::from(unsafe { $less(a, b) })
            }

            #[inline(always)]
            unsafe fn packed(lanes: u16, a: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $pack(lanes as $mask, a) }
            }

            #[inline(always)]
            unsafe fn read(count: usize, from: *const Self, rest: Self) -> __m512i {
                let lanes = ((1_u32 << count) - 1) as $mask;
                // SAFETY: as above; the caller promises that the words are readable.
                unsafe { $read(rest.splat(), lanes, from.cast()) }
            }

            #[inline(always)]
            unsafe fn write(count: usize, to: *mut Self, a: __m512i) {
                let lanes = ((1_u32 << count) - 1) as $mask;
                // SAFETY: as above; the caller promises that the words are writable.
                unsafe { $write(to.cast(), lanes, a) }
            }
        })*
    };
}

lanes! {
    u32 as i32, u16: _mm512_min_epu32, _mm512_max_epu32, _mm512_permutexvar_epi32, _mm512_mask_blend_epi32,
        _mm512_set1_epi32, _mm512_cmplt_epu32_mask, _mm512_maskz_compress_epi32, _mm512_mask_loadu_epi32,
        _mm512_mask_storeu_epi32;
    u64 as i64, u8: _mm512_min_epu64, _mm512_max_epu64, _mm512_permutexvar_epi64, _mm512_mask_blend_epi64,
        _mm512_set1_epi64, _mm512_cmplt_epu64_mask, _mm512_maskz_compress_epi64, _mm512_mask_loadu_epi64,
        _mm512_mask_storeu_epi64;
}

/// Sorts `count` words to memory of the same length, which may be their own. The matrix has [`ROWS`] rows, or a power of
/// two times as many, and holds at least as many words.
///
/// # Safety
/// As [`Lanes::least`]. So many words must be readable from `words` on, and writable from `sorted` on.
#[inline(always)]
pub(super) unsafe fn sort_rows<W: Lanes>(
    words: *const W,
    count: usize,
    matrix: &mut [MaybeUninit<__m512i>],
    sorted: *mut W,
) {
    assert!(matrix.len().is_multiple_of(ROWS) && count <= matrix.len() * W::LANES, "the words fit");
    for (at, block) in matrix.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
        let row = |row: usize| {
            let first = ((at * ROWS + row) * W::LANES).min(count);
            // SAFETY: these words are among the first `count`, which the caller promises to be readable.
            unsafe { W::read((count - first).min(W::LANES), words.add(first), W::MAX) }
        };
        // SAFETY: the caller's promise.
        let sorted = unsafe { sorted_columns::<W>(std::array::from_fn(row)) };
        block.iter_mut().zip(sorted).for_each(|(to, row)| _ = to.write(row));
    }
    // SAFETY: all rows were written. The rest is the caller's promise.
    unsafe {
        let rows = std::slice::from_raw_parts_mut(matrix.as_mut_ptr().cast::<__m512i>(), matrix.len());
        merge_blocks::<W>(rows);
        merge_columns::<W, 1, 1>(rows);
        merge_columns::<W, 2, 3>(rows);
        merge_columns::<W, 4, 7>(rows);
        if W::LANES == 16 {
            merge_columns::<W, 8, 15>(rows);
        }
        write_columns::<W>(rows, sorted, count);
    }
}

/// Sorts the columns, which are sorted in blocks of [`ROWS`] rows.
///
/// # Safety
/// As [`Lanes::least`].
#[inline(always)]
unsafe fn merge_blocks<W: Lanes>(rows: &mut [__m512i]) {
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

/// Writes the first words in their order, which goes down the columns.
///
/// # Safety
/// As [`Lanes::least`], and the words must be writable.
#[inline(always)]
unsafe fn write_columns<W: Lanes>(rows: &[__m512i], sorted: *mut W, count: usize) {
    let vectors = rows.len() / W::LANES;
    for (at, block) in rows.as_chunks::<ROWS>().0.iter().enumerate() {
        // SAFETY: the caller's promise.
        let block = unsafe {
            let block = swapped_blocks::<W, 4>(swapped_blocks::<W, 2>(swapped_blocks::<W, 1>(*block)));
            if W::LANES == 16 { swapped_blocks::<W, 8>(block) } else { block }
        };
        for (row, column) in block.into_iter().enumerate() {
            let vector = row % W::LANES * vectors + (at * ROWS + row) / W::LANES;
            let first = (vector * W::LANES).min(count);
            // SAFETY: these words are among the first `count`. The rest is the caller's promise.
            unsafe { W::write((count - first).min(W::LANES), sorted.add(first), column) };
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
