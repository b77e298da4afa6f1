//! The most multiply-adds that a core does: from registers, in as many chains as hide the latency.
//!
//! `unsafe`: what is compiled for a level may be called only where the processor has it.

use std::hint::black_box;

use mind_rt::private::Arithmetic;
use mind_rt::{SimdLevel, simd_level};

use crate::clock::Clock;

/// Seconds a floating-point operation, a multiply-add being two, at the SIMD level in use.
pub fn seconds_per_flop<T: Arithmetic>() -> f64 {
    const ROUNDS: u32 = 100_000;
    let start = Clock::Thread.now();
    let lanes = match simd_level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is one the processor has.
        SimdLevel::Avx512 => unsafe { x86::avx512(ROUNDS) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        SimdLevel::Avx2 => unsafe { x86::avx2(ROUNDS) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above; SSE2 is what every one of them has.
        SimdLevel::Portable => unsafe { x86::sse2(ROUNDS) },
        _ => return 0.0,
    };
    let flops = f64::from(ROUNDS) * f64::from(lanes) / size_of::<T>() as f64 * 4.0 * 2.0;
    Clock::Thread.seconds_since(start) / flops
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128, _mm_add_ps, _mm_mul_ps, _mm_set1_ps, _mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps,
        _mm512_set1_ps,
    };

    use super::black_box;

    macro_rules! peak {
        ($name:ident, $features:literal, $chains:literal, $lanes:literal, $splat:ident, $fma:ident) => {
            /// Lanes of 4 bytes that each round multiplies and adds.
            #[target_feature(enable = $features)]
            pub fn $name(rounds: u32) -> u32 {
                let factor = black_box($splat(0.5));
                let mut sums = black_box([$splat(1.0); $chains]);
                for _ in 0..rounds {
                    for sum in &mut sums {
                        *sum = $fma(factor, *sum, factor);
                    }
                }
                black_box(sums);
                $chains * $lanes
            }
        };
    }

    #[target_feature(enable = "sse2")]
    fn multiply_add(x: __m128, y: __m128, z: __m128) -> __m128 {
        _mm_add_ps(_mm_mul_ps(x, y), z)
    }

    peak!(sse2, "sse2", 12, 4, _mm_set1_ps, multiply_add);
    peak!(avx512, "avx512f", 16, 16, _mm512_set1_ps, _mm512_fmadd_ps);
    peak!(avx2, "avx2,fma", 12, 8, _mm256_set1_ps, _mm256_fmadd_ps);
}
