//! Folds of short rows in the registers of AVX2 and AVX-512.
//!
//! Loads and tree steps treat registers as 32-bit words; only combinations depend on the element type.

use std::arch::x86_64::*;
use std::mem;

use mind_shape::loops::LANE_BYTES;

use super::WORD;
use crate::kernels::monoid::{Max, Min, Monoid, Sum};
use crate::kernels::prefetch::prefetch;
use crate::simd::{SimdLevel, simd_level};

/// Folds rows of `len` elements, `stride` apart. Returns `false` if it did nothing. The caller has checked that the
/// rows are short and inside `elements`.
pub(super) fn fold<M: InRegisters<T>, T: Copy>(
    elements: &[T],
    len: usize,
    stride: usize,
    folds: &mut [T],
) -> bool {
    let words = M::WORDS;
    if words == 0 {
        return false;
    }
    let fill = |bytes: usize| folds.len() >= bytes / size_of::<T>();
    let rows = WordRows { from: elements.as_ptr().cast(), len: len * words, stride: stride * words };
    match simd_level() {
        // SAFETY: the processor has the level, the rows are inside `elements`, and their folds fill a register.
        SimdLevel::Avx512 if fill(64) => unsafe { fold_avx512::<M, T>(rows, folds) },
        // SAFETY: as above.
        SimdLevel::Avx512 | SimdLevel::Avx2 if fill(32) => unsafe { fold_avx2::<M, T>(rows, folds) },
        SimdLevel::Avx512 | SimdLevel::Avx2 | SimdLevel::Portable => return false,
    }
    true
}

/// Rows of a matrix. Lengths and strides are counted in words.
#[derive(Clone, Copy)]
struct WordRows {
    from: *const f32,
    len: usize,
    stride: usize,
}

/// # Safety
/// As [`fold_by_width`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn fold_avx512<M: InRegisters<T>, T: Copy>(rows: WordRows, folds: &mut [T]) {
    // SAFETY: the caller's promise.
    unsafe { fold_by_width::<__m512, M, T>(rows, folds) }
}

/// # Safety
/// As [`fold_by_width`].
#[target_feature(enable = "avx2,fma")]
unsafe fn fold_avx2<M: InRegisters<T>, T: Copy>(rows: WordRows, folds: &mut [T]) {
    // SAFETY: the caller's promise.
    unsafe { fold_by_width::<__m256, M, T>(rows, folds) }
}

/// # Safety
/// The processor must have the registers, the rows must be readable, and `folds` must fill a register.
#[inline(always)]
unsafe fn fold_by_width<R: Register, M: InRegisters<T>, T: Copy>(rows: WordRows, folds: &mut [T]) {
    // SAFETY: the caller's promise; the width is the smallest one that a row fits into.
    unsafe {
        match rows.len * size_of::<f32>() {
            0..=16 => fold_of_width::<R, M, T, 16>(rows, folds),
            17..=32 => fold_of_width::<R, M, T, 32>(rows, folds),
            33..=64 => fold_of_width::<R, M, T, 64>(rows, folds),
            _ => fold_of_width::<R, M, T, LANE_BYTES>(rows, folds),
        }
    }
}

/// Folds rows of up to `WIDTH` bytes, as many at a time as a register has lanes. Some of the last rows may be folded
/// twice.
///
/// # Safety
/// As [`fold_by_width`], and rows must be no longer than `WIDTH`.
#[inline(always)]
unsafe fn fold_of_width<R: Register, M: InRegisters<T>, T: Copy, const WIDTH: usize>(
    rows: WordRows,
    folds: &mut [T],
) {
    let lanes = const { R::BYTES / size_of::<T>() };
    // SAFETY: the caller's promise.
    let mut masks = [unsafe { R::mask(rows.len) }; 4];
    for (part, mask) in masks.iter_mut().enumerate().skip(1) {
        // SAFETY: the caller's promise.
        *mask = unsafe { R::mask(rows.len.saturating_sub(part * (R::BYTES / 4))) };
    }
    let mut first = 0;
    while first < folds.len() {
        first = first.min(folds.len() - lanes);
        // SAFETY: `lanes` rows from `first` on are readable, and as many folds are writable.
        unsafe {
            let from = rows.from.add(first * rows.stride);
            let all = fold_register::<R, M, T, WIDTH>(from, rows.stride, masks);
            all.store(folds[first..].as_mut_ptr().cast());
        }
        first += lanes;
    }
}

/// The folds of as many rows as a register has lanes. A row is read in parts that are a register long each. `masks` has
/// one mask per part, which selects the words that belong to the row.
///
/// # Safety
/// The processor must have the registers, and the rows must be readable.
#[inline(always)]
unsafe fn fold_register<R: Register, M: InRegisters<T>, T: Copy, const WIDTH: usize>(
    from: *const f32,
    stride: usize,
    masks: [R::Mask; 4],
) -> R {
    /// The prefetch distance in words. The processor does not predict the addresses of rows that begin anywhere in a
    /// cache line.
    const AHEAD: usize = 2048;

    // SAFETY: the caller's promise. Pointers outside of the rows are used only for words that the masks leave out, and
    // to prefetch.
    unsafe {
        let neutral = R::filled(M::NEUTRAL);
        let mut registers = [neutral; 16];
        let mut width = const { if WIDTH < R::BYTES { WIDTH } else { R::BYTES } };
        for (i, register) in registers.iter_mut().enumerate().take(width / size_of::<T>()) {
            let from = from.wrapping_add(i * (R::BYTES / width) * stride);
            prefetch(from.wrapping_add(AHEAD));
            let parts = PartialRegisters { from, stride, masks, neutral };
            *register = match WIDTH / width {
                1 => parts.load(0, width),
                2 => R::combine::<M, T>(parts.load(0, width), parts.load(1, width)),
                _ => R::combine::<M, T>(
                    R::combine::<M, T>(parts.load(0, width), parts.load(2, width)),
                    R::combine::<M, T>(parts.load(1, width), parts.load(3, width)),
                ),
            };
        }
        while width > size_of::<T>() {
            for i in 0..width / size_of::<T>() / 2 {
                let (lower, upper) = R::halves(registers[2 * i], registers[2 * i + 1], width);
                registers[i] = R::combine::<M, T>(lower, upper);
            }
            width /= 2;
        }
        // Lanes start as the neutral element: 0 + -0 is 0.
        R::combine::<M, T>(registers[0].permute(M::ORDER[R::BYTES / 64]), neutral)
    }
}

/// Parts of rows, each at most as long as a register.
struct PartialRegisters<R: Register> {
    from: *const f32,
    stride: usize,
    masks: [R::Mask; 4],
    neutral: R,
}

// Not a closure: code that a closure calls is compiled for the base level unless it is inlined.
impl<R: Register> PartialRegisters<R> {
    /// # Safety
    /// The processor must have the register, and the rows must be readable.
    #[inline(always)]
    unsafe fn load(&self, part: usize, width: usize) -> R {
        let from = self.from.wrapping_add(part * (R::BYTES / 4));
        // SAFETY: the caller's promise.
        unsafe { R::rows(from, self.stride, (self.masks[part], self.neutral), width) }
    }
}

/// A register of 32-bit words.
trait Register: Copy {
    /// Selects the words that are loaded.
    type Mask: Copy;
    /// The register's length in bytes.
    const BYTES: usize;

    /// # Safety
    /// The processor must have the register. This holds for every function of the trait.
    unsafe fn filled<T: Copy>(element: T) -> Self;

    /// Selects the first `words` words, at most all of the register.
    unsafe fn mask(words: usize) -> Self::Mask;

    /// Loads as many rows of `width` bytes as the register has room for, `stride` words apart. Words that the mask
    /// leaves out are not read. They are those of the neutral element.
    ///
    /// # Safety
    /// The words that the mask selects must be readable.
    unsafe fn rows(from: *const f32, stride: usize, masked: (Self::Mask, Self), width: usize) -> Self;

    /// The lower halves of the rows of `width` bytes in two registers, and the upper halves. Rows keep their order,
    /// except that rows of at most 16 bytes stay in the 16-byte piece that they were in.
    unsafe fn halves(a: Self, b: Self, width: usize) -> (Self, Self);

    unsafe fn combine<M: InRegisters<T>, T: Copy>(a: Self, b: Self) -> Self;

    /// Word `i` of the result is word `order[i]` of the register.
    unsafe fn permute(self, order: [i32; 16]) -> Self;

    /// # Safety
    /// The memory must have room for the register.
    unsafe fn store(self, to: *mut f32);
}

impl Register for __m512 {
    type Mask = u16;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn filled<T: Copy>(element: T) -> Self {
        // SAFETY: the caller's promise; an element is as long as the integer.
        unsafe {
            _mm512_castsi512_ps(match size_of::<T>() {
                8 => _mm512_set1_epi64(mem::transmute_copy(&element)),
                4 => _mm512_set1_epi32(mem::transmute_copy(&element)),
                _ => unreachable!("`fold` does not fold narrower elements"),
            })
        }
    }

    #[inline(always)]
    unsafe fn mask(words: usize) -> u16 {
        if words < 16 { (1 << words) - 1 } else { u16::MAX }
    }

    #[inline(always)]
    unsafe fn rows(from: *const f32, stride: usize, (mask, rest): (u16, Self), width: usize) -> Self {
        // Not `map` of an array: a closure is compiled for the base level unless it is inlined.
        let second = from.wrapping_add(stride);
        let third = second.wrapping_add(stride);
        let fourth = third.wrapping_add(stride);
        let low = mask as u8;
        // SAFETY: the caller's promise.
        unsafe {
            match width {
                16 => {
                    let rest = _mm512_castps512_ps128(rest);
                    let a = _mm_mask_loadu_ps(rest, low, from);
                    let b = _mm_mask_loadu_ps(rest, low, second);
                    let c = _mm_mask_loadu_ps(rest, low, third);
                    let d = _mm_mask_loadu_ps(rest, low, fourth);
                    let ab = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a), b);
                    let cd = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(c), d);
                    _mm512_insertf32x8::<1>(_mm512_castps256_ps512(ab), cd)
                }
                32 => {
                    let rest = _mm512_castps512_ps256(rest);
                    let a = _mm256_mask_loadu_ps(rest, low, from);
                    let b = _mm256_mask_loadu_ps(rest, low, second);
                    _mm512_insertf32x8::<1>(_mm512_castps256_ps512(a), b)
                }
                _ => _mm512_mask_loadu_ps(rest, mask, from),
            }
        }
    }

    #[inline(always)]
    unsafe fn halves(a: Self, b: Self, width: usize) -> (Self, Self) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a_pairs, b_pairs) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
            match width {
                64 => (_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0xee>(a, b)),
                32 => (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b)),
                16 => (
                    _mm512_castpd_ps(_mm512_unpacklo_pd(a_pairs, b_pairs)),
                    _mm512_castpd_ps(_mm512_unpackhi_pd(a_pairs, b_pairs)),
                ),
                _ => (_mm512_shuffle_ps::<0x88>(a, b), _mm512_shuffle_ps::<0xdd>(a, b)),
            }
        }
    }

    #[inline(always)]
    unsafe fn combine<M: InRegisters<T>, T: Copy>(a: Self, b: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { M::combine_512(a, b) }
    }

    #[inline(always)]
    unsafe fn permute(self, order: [i32; 16]) -> Self {
        // SAFETY: the caller's promise; the array is as long as the register.
        unsafe { _mm512_permutexvar_ps(_mm512_loadu_si512(order.as_ptr().cast()), self) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, self) }
    }
}

impl Register for __m256 {
    type Mask = __m256i;
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn filled<T: Copy>(element: T) -> Self {
        // SAFETY: the caller's promise; an element is as long as the integer.
        unsafe {
            _mm256_castsi256_ps(match size_of::<T>() {
                8 => _mm256_set1_epi64x(mem::transmute_copy(&element)),
                4 => _mm256_set1_epi32(mem::transmute_copy(&element)),
                _ => unreachable!("`fold` does not fold narrower elements"),
            })
        }
    }

    #[inline(always)]
    unsafe fn mask(words: usize) -> __m256i {
        let words = words.min(8) as i32;
        // SAFETY: the caller's promise.
        unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(words), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
    }

    #[inline(always)]
    unsafe fn rows(from: *const f32, stride: usize, (mask, rest): (__m256i, Self), width: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let (read, mask) = match width {
                16 => {
                    let low = _mm256_castsi256_si128(mask);
                    let (a, b) =
                        (_mm_maskload_ps(from, low), _mm_maskload_ps(from.wrapping_add(stride), low));
                    let read = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a), b);
                    (read, _mm256_inserti128_si256::<1>(mask, low))
                }
                _ => (_mm256_maskload_ps(from, mask), mask),
            };
            // A masked load leaves zeros there, so a bitwise or inserts the elements of the rest.
            _mm256_or_ps(read, _mm256_andnot_ps(_mm256_castsi256_ps(mask), rest))
        }
    }

    #[inline(always)]
    unsafe fn halves(a: Self, b: Self, width: usize) -> (Self, Self) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a_pairs, b_pairs) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
            match width {
                32 => (_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b)),
                16 => (
                    _mm256_castpd_ps(_mm256_unpacklo_pd(a_pairs, b_pairs)),
                    _mm256_castpd_ps(_mm256_unpackhi_pd(a_pairs, b_pairs)),
                ),
                _ => (_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xdd>(a, b)),
            }
        }
    }

    #[inline(always)]
    unsafe fn combine<M: InRegisters<T>, T: Copy>(a: Self, b: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { M::combine_256(a, b) }
    }

    #[inline(always)]
    unsafe fn permute(self, order: [i32; 16]) -> Self {
        // SAFETY: the caller's promise; the array is longer than the register.
        unsafe { _mm256_permutevar8x32_ps(self, _mm256_loadu_si256(order.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, self) }
    }
}

/// Combinations of registers of elements.
///
/// # Safety
/// The processor must have the registers.
pub(super) trait InRegisters<T: Copy>: Monoid<T> {
    /// Words of an element.
    const WORDS: usize = size_of::<T>() / WORD;

    /// The positions of the words of the folds after the last step, for registers of 32 and of 64 bytes: row `i` is in
    /// the 16-byte piece `i % pieces`.
    const ORDER: [[i32; 16]; 2] = [order(2, Self::WORDS), order(4, Self::WORDS)];

    unsafe fn combine_256(a: __m256, b: __m256) -> __m256;
    unsafe fn combine_512(a: __m512, b: __m512) -> __m512;
}

const fn order(pieces: usize, words: usize) -> [i32; 16] {
    let mut order = [0; 16];
    let mut word = 0;
    // `fold` does not fold elements that are narrower than a word.
    while words > 0 && word < 4 * pieces {
        let row = word / words;
        order[word] = (row % pieces * 4 + row / pieces * words + word % words) as i32;
        word += 1;
    }
    order
}

macro_rules! combine {
    ($monoid:ty, $ty:ty, |$a:ident, $b:ident| $combine_256:expr, $combine_512:expr) => {
        impl InRegisters<$ty> for $monoid {
            #[inline(always)]
            unsafe fn combine_256($a: __m256, $b: __m256) -> __m256 {
                // SAFETY: the caller's promise.
                unsafe { $combine_256 }
            }

            #[inline(always)]
            unsafe fn combine_512($a: __m512, $b: __m512) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe { $combine_512 }
            }
        }
    };
}

combine!(Sum, f32, |a, b| _mm256_add_ps(a, b), _mm512_add_ps(a, b));
combine!(
    Sum,
    f64,
    |a, b| _mm256_castpd_ps(_mm256_add_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))),
    _mm512_castpd_ps(_mm512_add_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
);

/// The larger or smaller elements. `vmaxps` returns its second operand if both are zeros or one is NaN. With the
/// operands in both orders, the bitwise combination of the results is the zero of the right sign; where an operand is
/// NaN, a sum replaces it. `vrangeps` orders zeros by itself.
macro_rules! extremes {
    ($monoid:ty, $max_ps:ident, $max_pd:ident, $join_ps:ident, $join_pd:ident, $range:literal) => {
        combine!(
            $monoid,
            f32,
            |a, b| {
                let chosen = $join_ps($max_ps(a, b), $max_ps(b, a));
                _mm256_blendv_ps(chosen, _mm256_add_ps(a, b), _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b))
            },
            {
                let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b);
                _mm512_mask_add_ps(_mm512_range_ps::<$range>(a, b), is_nan, a, b)
            }
        );
        combine!(
            $monoid,
            f64,
            |a, b| {
                let (a, b) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
                let chosen = $join_pd($max_pd(a, b), $max_pd(b, a));
                let is_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(a, b);
                _mm256_castpd_ps(_mm256_blendv_pd(chosen, _mm256_add_pd(a, b), is_nan))
            },
            {
                let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
                let is_nan = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, b);
                _mm512_castpd_ps(_mm512_mask_add_pd(_mm512_range_pd::<$range>(a, b), is_nan, a, b))
            }
        );
    };
}

extremes!(Max, _mm256_max_ps, _mm256_max_pd, _mm256_and_ps, _mm256_and_pd, 0b0101);
extremes!(Min, _mm256_min_ps, _mm256_min_pd, _mm256_or_ps, _mm256_or_pd, 0b0100);

macro_rules! add_integers {
    ($($integer:ident $variant:ident;)*) => {
        $(combine!(
            Sum,
            $integer,
            |a, b| {
                let (a, b) = (_mm256_castps_si256(a), _mm256_castps_si256(b));
                _mm256_castsi256_ps(match size_of::<$integer>() {
                    8 => _mm256_add_epi64(a, b),
                    4 => _mm256_add_epi32(a, b),
                    _ => unreachable!("`fold` does not fold narrower elements"),
                })
            },
            {
                let (a, b) = (_mm512_castps_si512(a), _mm512_castps_si512(b));
                _mm512_castsi512_ps(match size_of::<$integer>() {
                    8 => _mm512_add_epi64(a, b),
                    4 => _mm512_add_epi32(a, b),
                    _ => unreachable!("`fold` does not fold narrower elements"),
                })
            }
        );)*
    };
}

mind_shape::element_types!(integers => add_integers!);
