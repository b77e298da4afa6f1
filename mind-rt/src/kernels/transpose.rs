//! Transposes a matrix in tiles that go through registers, so that source and destination are read and written by rows.

use std::mem::MaybeUninit;

use crate::simd::{Kernel, SimdLevel, dispatch, simd_level};

/// The layout of a matrix and its transpose: `dst[i * to + j] = src[i + j * from]` for `i` below `columns` and `j`
/// below `rows`.
#[derive(Clone, Copy)]
pub struct Transpose {
    /// The number of rows of the source.
    pub rows: usize,
    /// The number of columns of the source.
    pub columns: usize,
    /// The distance from one row of the source to the next.
    pub from: usize,
    /// The distance from one row of the destination to the next.
    pub to: usize,
}

impl Transpose {
    /// Transposes `src` into `dst`.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn run<T: Copy>(self, src: &[T], dst: &mut [T]) {
        // Lines are gathered in an array of this alignment.
        const { assert!(align_of::<T>() <= 16 && size_of::<T>() <= 16) };
        let Self { rows, columns, from, to } = self;
        if rows == 0 || columns == 0 {
            return;
        }
        let end = |outer: usize, stride: usize, inner: usize| {
            (outer - 1).checked_mul(stride).and_then(|last| last.checked_add(inner))
        };
        let fits = |end: Option<usize>, len: usize| end.is_some_and(|end| end <= len);
        assert!(
            fits(end(rows, from, columns), src.len()) && fits(end(columns, to, rows), dst.len()),
            "the caller checked the bounds"
        );
        dispatch(TransposeKernel { shape: self, src, dst });
    }
}

/// A transpose whose matrices are inside their slices.
struct TransposeKernel<'a, T> {
    shape: Transpose,
    src: &'a [T],
    dst: &'a mut [T],
}

impl<T: Copy> Kernel for TransposeKernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Transpose { from, .. } = self.shape;
        match side::<T>() {
            // SAFETY: the processor has AVX2, and a tile's rows are inside the matrices.
            #[cfg(target_arch = "x86_64")]
            8 => self
                .each::<8>(|src, dst, to| unsafe { x86::tile_of_4_bytes(src.cast(), from, dst.cast(), to) }),
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            4 => self
                .each::<4>(|src, dst, to| unsafe { x86::tile_of_8_bytes(src.cast(), from, dst.cast(), to) }),
            // SAFETY: a tile's rows are inside the matrices.
            _ => self.each::<8>(|src, dst, to| unsafe { tile::<T, 8>(src, from, dst, to) }),
        }
    }
}

impl<T: Copy> TransposeKernel<'_, T> {
    /// Transposes whole tiles of `SIDE` by `SIDE` elements by `tile`, and the elements left over one by one. `tile`
    /// takes the address of the tile in the source, the address of its transpose, and the distance between the rows of
    /// the transpose.
    ///
    /// Tiles are processed in blocks whose rows and columns are both as long as a cache line. A block goes through a
    /// buffer, so that each cache line of source and destination is touched once: lines that are a power of two apart
    /// evict each other from the cache.
    #[inline(always)]
    fn each<const SIDE: usize>(self, tile: impl Fn(*const T, *mut T, usize)) {
        let Self { shape: Transpose { rows, columns, from, to }, src, dst } = self;
        let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());
        let side = const { (LINE / size_of::<T>()).next_multiple_of(SIDE) };
        let mut buffer = MaybeUninit::<[u128; LINE * LINE / size_of::<u64>()]>::uninit();
        let buffer: *mut T = buffer.as_mut_ptr().cast();
        let (whole_rows, whole_columns) = (rows / side * side, columns / side * side);
        for j in (0..whole_rows).step_by(side) {
            for i in (0..whole_columns).step_by(side) {
                // SAFETY: the block is inside both matrices, which are inside their slices, and no larger than the
                // buffer.
                unsafe {
                    let (src, dst) = (src.add(i + j * from), dst.add(i * to + j));
                    for j in (0..side).step_by(SIDE) {
                        for i in (0..side).step_by(SIDE) {
                            tile(src.add(i + j * from), buffer.add(i * side + j), side);
                        }
                    }
                    for i in 0..side {
                        buffer.add(i * side).copy_to_nonoverlapping(dst.add(i * to), side);
                    }
                }
            }
        }
        for (left, above) in [(whole_columns..columns, 0..rows), (0..whole_columns, whole_rows..rows)] {
            let (i_tiles, j_tiles) = (left.len() / SIDE * SIDE, above.len() / SIDE * SIDE);
            for i in (0..left.len()).step_by(SIDE) {
                for j in (0..above.len()).step_by(SIDE) {
                    // SAFETY: `left` and `above` are parts of the matrices, which are inside their slices.
                    unsafe {
                        let (i_first, j_first) = (left.start + i, above.start + j);
                        let (src, dst) = (src.add(i_first + j_first * from), dst.add(i_first * to + j_first));
                        if i < i_tiles && j < j_tiles {
                            tile(src, dst, to);
                            continue;
                        }
                        for i in 0..SIDE.min(left.len() - i) {
                            for j in 0..SIDE.min(above.len() - j) {
                                *dst.add(i * to + j) = *src.add(i + j * from);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Bytes in a cache line.
const LINE: usize = 64;

/// The side of a tile for which the processor has instructions; 0 if it has none.
fn side<T>() -> usize {
    let wide = cfg!(target_arch = "x86_64") && simd_level() >= SimdLevel::Avx2;
    match size_of::<T>() {
        4 if wide => 8,
        8 if wide => 4,
        _ => 0,
    }
}

/// # Safety
/// `SIDE` rows of `SIDE` elements must be readable at `src`, `from` apart, and as many writable at `dst`, `to` apart.
#[inline(always)]
unsafe fn tile<T: Copy, const SIDE: usize>(src: *const T, from: usize, dst: *mut T, to: usize) {
    for i in 0..SIDE {
        for j in 0..SIDE {
            // SAFETY: the caller's promise.
            unsafe { *dst.add(i * to + j) = *src.add(i + j * from) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// # Safety
    /// As [`tile`](super::tile), with a side of 8.
    #[target_feature(enable = "avx2")]
    pub unsafe fn tile_of_4_bytes(src: *const f32, from: usize, dst: *mut f32, to: usize) {
        // SAFETY: the caller's promise. Loads and stores keep the bits of elements of any type.
        let row = |j: usize| unsafe { _mm256_loadu_ps(src.add(j * from)) };
        // Rows `j` and `j + 4` are the halves of a register, so that six of eight steps stay within the halves.
        let both = |j: usize| {
            let (low, high) = (row(j), row(j + 4));
            (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
        };
        let (a, b, c, d) = (both(0), both(1), both(2), both(3));
        let four = |a: __m256, b: __m256, c: __m256, d: __m256, i: usize| {
            let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            let columns = [
                _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
                _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
                _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
            ];
            for (offset, column) in columns.into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { _mm256_storeu_ps(dst.add((i + offset) * to), column) };
            }
        };
        four(a.0, b.0, c.0, d.0, 0);
        four(a.1, b.1, c.1, d.1, 4);
    }

    /// # Safety
    /// As [`tile`](super::tile), with a side of 4.
    #[target_feature(enable = "avx2")]
    pub unsafe fn tile_of_8_bytes(src: *const f64, from: usize, dst: *mut f64, to: usize) {
        // SAFETY: the caller's promise. Loads and stores keep the bits of elements of any type.
        let row = |j: usize| unsafe { _mm256_loadu_pd(src.add(j * from)) };
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        let columns = [
            _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
            _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
            _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
            _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
        ];
        for (i, column) in columns.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { _mm256_storeu_pd(dst.add(i * to), column) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transposes<T: Copy + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        for rows in (0..=40).chain([67]) {
            for columns in (0..=40).chain([67]) {
                let (from, to) = (columns + rows % 3, rows + columns % 4);
                // Exactly as long as needed.
                let len = |outer: usize, stride, inner| {
                    if outer * inner == 0 { 0 } else { (outer - 1) * stride + inner }
                };
                let src: Vec<T> = (0..len(rows, from, columns)).map(&element).collect();
                let untouched = element(1_000_000);
                let mut dst = vec![untouched; len(columns, to, rows)];
                Transpose { rows, columns, from, to }.run(&src, &mut dst);
                for (position, found) in dst.iter().enumerate() {
                    let (i, j) = (position / to, position % to);
                    let expected = if j < rows { src[i + j * from] } else { untouched };
                    assert_eq!(*found, expected, "{rows}×{columns}");
                }
            }
        }
    }

    #[test]
    fn matrices_of_all_small_sizes_and_strides_are_transposed() {
        transposes(|i| i as f32);
        transposes(|i| i as i32);
        transposes(|i| i as f64);
        transposes(|i| i as i64);
        transposes(|i| i as u16);
    }

    #[test]
    #[should_panic(expected = "the caller checked the bounds")]
    fn a_source_too_short_panics() {
        Transpose { rows: 9, columns: 9, from: 9, to: 9 }.run(&[0_i32; 80], &mut [0; 81]);
    }

    #[test]
    #[should_panic(expected = "the caller checked the bounds")]
    fn strides_that_overflow_panic() {
        Transpose { rows: 3, columns: 1, from: usize::MAX / 2 + 1, to: 3 }.run(&[0_i32; 3], &mut [0; 3]);
    }
}
