//! The choice of one SIMD level per process, and the dispatcher that runs loops at this level.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

use crate::kernels::math::{Fused, MultiplyAdd, Separate};

/// A loop to run at the chosen SIMD level.
///
/// Write `run` with `#[inline(always)]`, and likewise every function that it calls in its loops: the dispatcher
/// compiles inlined code for the level, and other code stays portable.
pub trait Kernel {
    /// The result of the loop.
    type Output;

    /// Runs the loop. A kernel implements this method or [`run_by`](Self::run_by): each calls the other.
    #[inline(always)]
    fn run(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run_by::<Separate>()
    }

    /// Runs the loop. `A` decides whether functions such as `exp` and `ln` use fused multiply-adds, as the level does.
    /// Write this method with `#[inline(always)]` too.
    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run()
    }
}

/// The instructions that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SimdLevel {
    /// The base level of the architecture: SSE2 on x86-64, NEON on 64-bit Arm.
    Portable,
    /// AVX2 and FMA: 256 bits.
    Avx2,
    /// AVX-512 F, BW, DQ and VL: 512 bits.
    Avx512,
}

impl SimdLevel {
    pub(crate) const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];
}

/// The SIMD level in use: the highest that the processor has, or a lower one that the environment variable `MIND_SIMD`
/// (`portable`, `avx2`, `avx512`) named when a kernel first ran.
///
/// ```
/// println!("{:?}", mind_rt::simd_level());
/// ```
#[inline]
#[must_use]
pub fn simd_level() -> SimdLevel {
    match LEVEL.load(Ordering::Relaxed) {
        1 => SimdLevel::Portable,
        2 => SimdLevel::Avx2,
        3 => SimdLevel::Avx512,
        _ => choose(),
    }
}

/// Runs `kernel` at the level in use. The dispatch costs a load and a branch.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: a level is chosen only if the processor has it.
    unsafe { run_at(simd_level(), kernel) }
}

/// Runs `kernel` at `level`, or at the highest level of the processor if that is lower.
#[cfg(test)]
pub(crate) fn run_at_most<K: Kernel>(level: SimdLevel, kernel: K) -> K::Output {
    // SAFETY: the processor has the level.
    unsafe { run_at(level.min(detect()), kernel) }
}

/// # Safety
/// The processor must have the level's features.
#[inline(always)]
unsafe fn run_at<K: Kernel>(level: SimdLevel, kernel: K) -> K::Output {
    match level {
        SimdLevel::Portable => run_portable(kernel),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's promise.
        SimdLevel::Avx2 => unsafe { run_avx2(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's promise.
        SimdLevel::Avx512 => unsafe { run_avx512(kernel) },
        #[cfg(not(target_arch = "x86_64"))]
        SimdLevel::Avx2 | SimdLevel::Avx512 => run_portable(kernel),
    }
}

/// Runs `kernel` as if the processor had only the portable level. Only 64-bit Arm has a fused multiply-add at its base
/// level.
#[inline(always)]
pub(crate) fn run_portable<K: Kernel>(kernel: K) -> K::Output {
    if cfg!(target_arch = "aarch64") { kernel.run_by::<Fused>() } else { kernel.run_by::<Separate>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run_by::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run_by::<Fused>()
}

/// 0 until a level is chosen, then one more than the level. Threads that choose at the same time choose the same level.
static LEVEL: AtomicU8 = AtomicU8::new(0);

#[cold]
fn choose() -> SimdLevel {
    let asked = std::env::var("MIND_SIMD").ok().and_then(|name| parse(&name));
    let level = asked.unwrap_or(SimdLevel::Avx512).min(detect());
    LEVEL.store(level as u8 + 1, Ordering::Relaxed);
    level
}

fn parse(name: &str) -> Option<SimdLevel> {
    SimdLevel::ALL.into_iter().find(|level| name.eq_ignore_ascii_case(&format!("{level:?}")))
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn detect() -> SimdLevel {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        // Every processor with AVX-512 has it. The sort by vectors is compiled with it, to count lanes.
        && is_x86_feature_detected!("popcnt");
    match (avx2, avx512) {
        (true, true) => SimdLevel::Avx512,
        (true, false) => SimdLevel::Avx2,
        (false, _) => SimdLevel::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn detect() -> SimdLevel {
    SimdLevel::Portable
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Double<'a>(&'a mut [f32]);

    impl Kernel for Double<'_> {
        type Output = usize;

        #[inline(always)]
        fn run(self) -> usize {
            self.0.iter_mut().for_each(|x| *x *= 2.0);
            self.0.len()
        }
    }

    #[test]
    fn a_kernel_runs_once_at_every_level() {
        let mut data: Vec<f32> = (0..1000_u16).map(f32::from).collect();
        assert_eq!(dispatch(Double(&mut data)), 1000);
        assert_eq!(run_portable(Double(&mut data)), 1000);
        assert!(data.iter().enumerate().all(|(i, x)| *x == 4.0 * i as f32));
    }

    #[test]
    fn levels_have_names() {
        assert_eq!(parse("avx2"), Some(SimdLevel::Avx2));
        assert_eq!(parse("AVX512"), Some(SimdLevel::Avx512));
        assert_eq!(parse("portable"), Some(SimdLevel::Portable));
        assert_eq!(parse("best"), None);
    }

    #[test]
    fn the_level_is_one_the_processor_has() {
        assert!(simd_level() <= detect());
        assert_eq!(simd_level(), simd_level());
    }
}
