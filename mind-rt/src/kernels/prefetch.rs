//! Asking for memory before it is needed.

/// Has the line of a cache fetched that holds what is there, where the processor can be asked to. That need not be memory.
#[inline(always)]
pub fn prefetch<T>(from: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is harmless wherever it points, and part of every processor of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) };
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = from;
}
