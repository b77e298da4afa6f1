//! The limits of a machine, as loops to be timed: multiply-adds in registers, bytes from and to memory, and an empty
//! fork. `mind bench`, `benches/gemm` and `benches/conv.rs` time these loops, so that all of them mean the same limits.
//!
//! Loops over memory run on the calling thread alone, and are compiled for the SIMD level in use.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::parallel::{join, threads};
use crate::simd::{Kernel, SimdLevel, dispatch, simd_level};

/// Multiply-adds of floats in registers.
pub trait Chains {
    /// Runs multiply-adds in registers, in as many chains as hide the latency. Returns the number of floating-point
    /// operations, two for each multiply-add. If the processor does not have the level, the highest level below it is
    /// used.
    fn multiply_adds(level: SimdLevel, rounds: u32) -> u64;
}

/// SIMD levels from the lowest to the one in use.
pub fn levels() -> impl Iterator<Item = SimdLevel> {
    SimdLevel::ALL.into_iter().filter(|level| *level <= simd_level())
}

/// The bytes of a vector at the SIMD level in use.
#[must_use]
pub fn vector_bytes() -> usize {
    match simd_level() {
        SimdLevel::Portable => 16,
        SimdLevel::Avx2 => 32,
        SimdLevel::Avx512 => 64,
    }
}

/// The bytes that [`read`] and [`write`] move for a slice of `len` numbers, and [`copy`] for each of its two slices.
#[must_use]
pub const fn bytes(len: usize) -> usize {
    len * size_of::<f32>()
}

/// Reads every number and returns the sum, in the order of lanes.
#[must_use]
pub fn read(from: &[f32]) -> f32 {
    dispatch(ReadKernel(black_box(from)))
}

/// Writes every number.
pub fn write(to: &mut [f32], value: f32) {
    dispatch(WriteKernel(black_box(to), value));
}

/// Reads every number of one slice and writes its product with 1 to the other, as a loop over elements does. The C
/// library's copy is no substitute, because its writes may bypass the caches.
///
/// # Panics
/// If the lengths differ.
pub fn copy(from: &[f32], to: &mut [f32]) {
    super::check(from.len() == to.len(), "slices of unequal length are copied");
    dispatch(Copy(black_box(from), black_box(to), black_box(1.0)));
}

/// Runs one part on each of the [`threads`], which waits until all parts have begun. Returns the time until all have
/// ended, or nothing if a thread did not begin within 10 ms, for example because there are fewer processors than
/// threads.
#[must_use]
pub fn fork() -> Option<Duration> {
    const PATIENCE: Duration = Duration::from_millis(10);

    let (all, begun, start) = (threads(), AtomicUsize::new(0), Instant::now());
    let waits_for_all = || {
        begun.fetch_add(1, Ordering::Relaxed);
        while begun.load(Ordering::Relaxed) < all {
            if start.elapsed() > PATIENCE {
                return false;
            }
            spin_loop();
        }
        true
    };
    each(all, &waits_for_all).then(|| start.elapsed())
}

/// Runs all parts in parallel, and returns whether all of them returned true.
fn each(parts: usize, part: &(impl Fn() -> bool + Sync)) -> bool {
    if parts == 1 {
        return part();
    }
    let half = parts / 2;
    let (first, later) = join(|| each(parts - half, part), || each(half, part));
    first && later
}

struct ReadKernel<'a>(&'a [f32]);

impl Kernel for ReadKernel<'_> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        /// Four vectors of AVX-512 or eight of AVX2: enough chains to hide the latency of an addition, without spills.
        const LANES: usize = 64;

        let (blocks, rest) = self.0.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for block in blocks {
            for (sum, x) in sums.iter_mut().zip(block) {
                *sum += x;
            }
        }
        sums.iter().chain(rest).sum()
    }
}

struct WriteKernel<'a>(&'a mut [f32], f32);

impl Kernel for WriteKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.fill(self.1);
    }
}

struct Copy<'a>(&'a [f32], &'a mut [f32], f32);

impl Kernel for Copy<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.1.iter_mut().zip(self.0) {
            *to = from * self.2;
        }
    }
}

/// Chains at the width of the architecture's base level, for architectures other than x86-64.
#[cfg(not(target_arch = "x86_64"))]
fn portable<T: super::math::Float>(rounds: u32, half: T, one: T) -> u64 {
    use super::math::{Fused, MultiplyAdd, Separate};

    /// As many 16-byte vectors as hide the latency, with registers to spare.
    const CHAINS: usize = 16;

    let factor = black_box(half);
    let mut sums = black_box([[one; 4]; CHAINS]);
    for _ in 0..rounds {
        for sum in sums.as_flattened_mut() {
            *sum = if cfg!(target_arch = "aarch64") {
                Fused::multiply_add(factor, *sum, factor)
            } else {
                Separate::multiply_add(factor, *sum, factor)
            };
        }
    }
    black_box(sums);
    u64::from(rounds) * 2 * 4 * CHAINS as u64
}

#[cfg(not(target_arch = "x86_64"))]
impl Chains for f32 {
    fn multiply_adds(_: SimdLevel, rounds: u32) -> u64 {
        portable(rounds, 0.5, 1.0)
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Chains for f64 {
    fn multiply_adds(_: SimdLevel, rounds: u32) -> u64 {
        portable(rounds, 0.5, 1.0)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128, __m128d, _mm_add_pd, _mm_add_ps, _mm_mul_pd, _mm_mul_ps, _mm_set1_pd, _mm_set1_ps,
        _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_set1_pd, _mm256_set1_ps, _mm512_fmadd_pd, _mm512_fmadd_ps,
        _mm512_set1_pd, _mm512_set1_ps,
    };

    use super::{Chains, SimdLevel, black_box};
    use crate::simd::detect;

    macro_rules! chains {
        ($name:ident, $features:literal, $chains:literal, $lanes:literal, $splat:ident, $multiply_add:ident) => {
            #[target_feature(enable = $features)]
            fn $name(rounds: u32) -> u64 {
                let factor = black_box($splat(0.5));
                let mut sums = black_box([$splat(1.0); $chains]);
                for _ in 0..rounds {
                    for sum in &mut sums {
                        *sum = $multiply_add(factor, *sum, factor);
                    }
                }
                black_box(sums);
                u64::from(rounds) * 2 * $chains * $lanes
            }
        };
    }

    chains!(sse2_f32, "sse2", 14, 4, _mm_set1_ps, separate_f32);
    chains!(sse2_f64, "sse2", 14, 2, _mm_set1_pd, separate_f64);
    chains!(avx2_f32, "avx2,fma", 12, 8, _mm256_set1_ps, _mm256_fmadd_ps);
    chains!(avx2_f64, "avx2,fma", 12, 4, _mm256_set1_pd, _mm256_fmadd_pd);
    chains!(avx512_f32, "avx512f", 16, 16, _mm512_set1_ps, _mm512_fmadd_ps);
    chains!(avx512_f64, "avx512f", 16, 8, _mm512_set1_pd, _mm512_fmadd_pd);

    #[target_feature(enable = "sse2")]
    fn separate_f32(x: __m128, y: __m128, z: __m128) -> __m128 {
        _mm_add_ps(_mm_mul_ps(x, y), z)
    }

    #[target_feature(enable = "sse2")]
    fn separate_f64(x: __m128d, y: __m128d, z: __m128d) -> __m128d {
        _mm_add_pd(_mm_mul_pd(x, y), z)
    }

    macro_rules! of_levels {
        ($type:ty, $sse2:ident, $avx2:ident, $avx512:ident) => {
            impl Chains for $type {
                fn multiply_adds(level: SimdLevel, rounds: u32) -> u64 {
                    match level.min(detect()) {
                        // SAFETY: every x86-64 has SSE2.
                        SimdLevel::Portable => unsafe { $sse2(rounds) },
                        // SAFETY: the processor has every level that is not above the detected one.
                        SimdLevel::Avx2 => unsafe { $avx2(rounds) },
                        // SAFETY: as above.
                        SimdLevel::Avx512 => unsafe { $avx512(rounds) },
                    }
                }
            }
        };
    }

    of_levels!(f32, sse2_f32, avx2_f32, avx512_f32);
    of_levels!(f64, sse2_f64, avx2_f64, avx512_f64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::tests::Threads;

    #[test]
    fn operations_are_counted_by_rounds_and_lanes_at_every_level() {
        for level in levels() {
            let [single, double] = [f32::multiply_adds(level, 100), f64::multiply_adds(level, 100)];
            assert!(single > 0 && single % 200 == 0, "{single}");
            assert!(double > 0 && double <= single);
            assert_eq!(f32::multiply_adds(level, 300), 3 * single);
            assert_eq!(f64::multiply_adds(level, 300), 3 * double);
            assert_eq!(f32::multiply_adds(level, 0), 0);
        }
    }

    #[test]
    fn a_level_that_the_processor_does_not_have_is_the_highest_that_it_has() {
        let highest = f32::multiply_adds(SimdLevel::Avx512, 10);
        assert_eq!(highest, f32::multiply_adds(crate::simd::detect(), 10));
    }

    #[test]
    fn levels_end_with_the_one_in_use() {
        assert_eq!(levels().next(), Some(SimdLevel::Portable));
        assert_eq!(levels().last(), Some(simd_level()));
    }

    #[test]
    fn all_that_is_given_is_read_written_and_copied() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let from: Vec<f32> = (0..len).map(|i| i as f32).collect();
            assert_eq!(read(&from), from.iter().sum::<f32>());
            let mut to = vec![-1.0; len];
            write(&mut to, 2.5);
            assert_eq!(to, vec![2.5; len]);
            copy(&from, &mut to);
            assert_eq!(to, from);
            assert_eq!(bytes(len), 4 * len);
        }
    }

    #[test]
    #[should_panic(expected = "slices of unequal length are copied")]
    fn a_copy_is_between_equal_lengths() {
        copy(&[1.0], &mut [1.0, 2.0]);
    }

    #[test]
    fn a_fork_ends_with_more_threads_than_processors_too() {
        for threads in [1, 2, 16] {
            let _threads = Threads::set(threads);
            let ended = (0..5).filter_map(|_| fork()).count();
            assert!(threads > 1 || ended == 5);
        }
    }

    #[test]
    fn every_part_of_a_fork_runs_once() {
        for parts in 1..20 {
            let ran = AtomicUsize::new(0);
            assert!(each(parts, &|| ran.fetch_add(1, Ordering::Relaxed) < parts));
            assert_eq!(ran.into_inner(), parts);
        }
        assert!(!each(3, &|| false));
    }
}
