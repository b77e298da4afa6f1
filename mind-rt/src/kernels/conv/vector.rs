//! Vectors of the SIMD levels.

use crate::element::Element;

/// A vector of a level. All methods are to be inlined into code compiled for it.
///
/// # Safety
/// Of all methods: the caller is compiled for the level's instructions, and what is read or written may be.
pub trait Vector: Copy {
    type Element: Element;
    const LANES: usize;

    /// All 0.
    unsafe fn zero() -> Self;

    /// All the same.
    unsafe fn splat(x: Self::Element) -> Self;

    /// From memory, unaligned.
    unsafe fn load(from: *const Self::Element) -> Self;

    /// The first `lanes`, at least one, from memory; the others are 0, and not read.
    unsafe fn load_part(from: *const Self::Element, lanes: usize) -> Self;

    /// To memory, unaligned.
    unsafe fn store(self, to: *mut Self::Element);

    /// `self + x * y`, rounded once where the level has fused multiply-adds.
    unsafe fn plus_product(self, x: Self, y: Self) -> Self;

    /// The sum of the lanes as a tree: those half a vector apart first.
    unsafe fn sum(self) -> Self::Element;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    use std::arch::x86_64::*;

    /// A window of as many lanes as a vector has, into ones followed by zeros.
    #[inline(always)]
    unsafe fn mask<I: Copy>(ones: &[I], lanes: usize) -> __m256i {
        // SAFETY: a window of half the length that begins in the first half is inside; the caller is compiled for AVX2.
        unsafe { _mm256_loadu_si256(ones.as_ptr().add(ones.len() / 2 - lanes).cast()) }
    }

    static ONES_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    static ONES_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

    #[inline(always)]
    unsafe fn sum_512_f32(x: __m512) -> f32 {
        // SAFETY: the caller is compiled for AVX-512.
        unsafe {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x)));
            sum_256_f32(_mm256_add_ps(_mm512_castps512_ps256(x), high))
        }
    }

    #[inline(always)]
    unsafe fn sum_512_f64(x: __m512d) -> f64 {
        // SAFETY: the caller is compiled for AVX-512.
        unsafe { sum_256_f64(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x))) }
    }

    #[inline(always)]
    unsafe fn sum_256_f32(x: __m256) -> f32 {
        // SAFETY: the caller is compiled for AVX2.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }

    #[inline(always)]
    unsafe fn sum_256_f64(x: __m256d) -> f64 {
        // SAFETY: the caller is compiled for AVX2.
        unsafe {
            let two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }

    macro_rules! vector {
        (
            $vector:ident of $lanes:literal $element:ident: $zero:ident, $splat:ident, $load:ident, $store:ident, $fma:ident,
            $sum:ident,
            |$from:ident, $part:ident| $load_part:expr
        ) => {
            impl Vector for $vector {
                type Element = $element;
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn zero() -> Self {
                    // SAFETY: the caller is compiled for the level.
                    unsafe { $zero() }
                }

                #[inline(always)]
                unsafe fn splat(x: $element) -> Self {
                    // SAFETY: as above.
                    unsafe { $splat(x) }
                }

                #[inline(always)]
                unsafe fn load(from: *const $element) -> Self {
                    // SAFETY: as above, and the caller vouches for the memory.
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn load_part($from: *const $element, $part: usize) -> Self {
                    // SAFETY: as above; no lane beyond the first ones is read.
                    unsafe { $load_part }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut $element) {
                    // SAFETY: as above.
                    unsafe { $store(to, self) }
                }

                #[inline(always)]
                unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fma(x, y, self) }
                }

                #[inline(always)]
                unsafe fn sum(self) -> $element {
                    // SAFETY: as above.
                    unsafe { $sum(self) }
                }
            }
        };
    }

    vector!(
        __m512 of 16 f32: _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps, sum_512_f32,
        |from, lanes| _mm512_maskz_loadu_ps(u16::MAX >> (16 - lanes), from)
    );
    vector!(
        __m512d of 8 f64: _mm512_setzero_pd, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_fmadd_pd, sum_512_f64,
        |from, lanes| _mm512_maskz_loadu_pd(u8::MAX >> (8 - lanes), from)
    );
    vector!(
        __m256 of 8 f32: _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps, sum_256_f32,
        |from, lanes| _mm256_maskload_ps(from, mask(&ONES_32, lanes))
    );
    vector!(
        __m256d of 4 f64: _mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_fmadd_pd, sum_256_f64,
        |from, lanes| _mm256_maskload_pd(from, mask(&ONES_64, lanes))
    );
}

/// Four elements, which every processor has vectors for.
macro_rules! portable {
    ($($element:ident),*) => {
        $(impl Vector for [$element; 4] {
            type Element = $element;
            const LANES: usize = 4;

            #[inline(always)]
            unsafe fn zero() -> Self {
                [0.0; 4]
            }

            #[inline(always)]
            unsafe fn splat(x: $element) -> Self {
                [x; 4]
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller vouches for the memory.
                unsafe { from.cast::<Self>().read_unaligned() }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                // SAFETY: as above; no lane beyond the first ones is read.
                std::array::from_fn(|i| if i < lanes { unsafe { *from.add(i) } } else { 0.0 })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { to.cast::<Self>().write_unaligned(self) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                std::array::from_fn(|i| self[i] + x[i] * y[i])
            }

            #[inline(always)]
            unsafe fn sum(self) -> $element {
                (self[0] + self[2]) + (self[1] + self[3])
            }
        })*
    };
}

portable!(f32, f64);
