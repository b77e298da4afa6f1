//! Prefetching memory.

/// Prefetches the cache line at this address, if the processor has an instruction for that. The address need not be
/// valid.
#[inline(always)]
pub fn prefetch<T>(from: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is harmless for any address, and every processor of the architecture has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) };
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = from;
}
