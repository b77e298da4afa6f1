//! The caches of the processor. Kernels choose by their sizes how to read operands from memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The cache sizes that kernels use. No result depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Bytes of the second-level cache, which belongs to one core or to a few, from [`LEAST`](Self::LEAST) to
    /// [`MOST`](Self::MOST).
    second: usize,
}

impl Caches {
    /// Bytes of the second-level cache that are assumed if the processor does not report it: a common size.
    const UNKNOWN: usize = 512 << 10;

    /// The bounds of the second-level cache that kernels calculate with, in bytes. Other sizes are clamped to them.
    const LEAST: usize = 1 << 10;
    const MOST: usize = 256 << 20;

    /// The caches of this processor, which is queried once.
    #[inline]
    pub fn of_this_processor() -> Self {
        /// 0 until queried. Threads that query at the same time get the same answer.
        static SECOND: AtomicUsize = AtomicUsize::new(0);

        #[cold]
        fn ask() -> usize {
            // With `__small_blocks`, the cache is so small that even tiny operands do not fit.
            let second =
                if cfg!(feature = "__small_blocks") { 1536 } else { second().unwrap_or(Caches::UNKNOWN) };
            SECOND.store(second, Ordering::Relaxed);
            second
        }

        let known = SECOND.load(Ordering::Relaxed);
        Self::new(if known == 0 { ask() } else { known })
    }

    /// The caches of a processor whose second-level cache has `second` bytes.
    #[inline]
    pub fn new(second: usize) -> Self {
        Self { second: second.clamp(Self::LEAST, Self::MOST) }
    }

    /// Bytes of the second-level cache.
    #[inline]
    pub fn level_2(self) -> usize {
        self.second
    }
}

/// Bytes of the second-level cache for data, if the processor reports it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn second() -> Option<usize> {
    use std::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};

    /// Leaf 4 of Intel, and AMD's leaf of the same format. Each is empty on processors of the other maker.
    const LEAVES: [u32; 2] = [4, 0x8000_001d];
    /// The mask of the first leaf of the range that a leaf belongs to. That first leaf reports the last leaf of the
    /// range.
    const AMONG: u32 = 0x8000_0000;
    /// More caches than any processor has. It ends the loop, because a hypervisor may answer anything.
    const MOST: u32 = 16;

    #[allow(unused_unsafe, reason = "newer versions of Rust have it as a safe function")]
    // SAFETY: every processor of the architecture has the instruction.
    let cpuid = |leaf, part| unsafe { __cpuid_count(leaf, part) };
    #[allow(unused_unsafe, reason = "as above")]
    // SAFETY: as above.
    let last = |leaf| unsafe { __cpuid(leaf & AMONG) }.eax;
    let known = LEAVES.into_iter().filter(|leaf| last(*leaf) >= *leaf);
    let parts = known.flat_map(|leaf| {
        let kind = |part: &CpuidResult| part.eax & 0x1f;
        (0..MOST).map(move |part| cpuid(leaf, part)).take_while(move |part| kind(part) != 0)
    });
    parts.filter_map(|part| second_of([part.eax, part.ebx, part.ecx])).next()
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn second() -> Option<usize> {
    None
}

/// Bytes of the cache that registers describe in the format of CPUID's leaf 4, if it is a second-level cache and holds
/// data.
#[cfg(any(test, all(target_arch = "x86_64", not(miri))))]
fn second_of([eax, ebx, ecx]: [u32; 3]) -> Option<usize> {
    /// The sizes that a second-level cache can have, in bytes.
    const PLAUSIBLE: std::ops::RangeInclusive<u64> = 64 << 10..=Caches::MOST as u64;
    const DATA: u32 = 1;
    const UNIFIED: u32 = 3;
    let (kind, level) = (eax & 0x1f, eax >> 5 & 7);
    let field = |shift: u32, bits: u32| u64::from(ebx >> shift & ((1 << bits) - 1)) + 1;
    let (line, partitions, ways) = (field(0, 12), field(12, 10), field(22, 10));
    let bytes = (line * partitions * ways).saturating_mul(u64::from(ecx) + 1);
    let is_second = matches!(kind, DATA | UNIFIED) && level == 2;
    (is_second && PLAUSIBLE.contains(&bytes)).then(|| usize::try_from(bytes).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The registers that describe a cache of this kind, level, number of ways, bytes per line, and number of sets.
    fn registers(kind: u32, level: u32, [ways, line, sets]: [u32; 3]) -> [u32; 3] {
        [kind | level << 5, (ways - 1) << 22 | (line - 1), sets - 1]
    }

    #[test]
    fn the_second_cache_is_found_by_its_level_and_kind() {
        // An EPYC of family 25, model 1.
        assert_eq!(second_of(registers(3, 2, [8, 64, 1024])), Some(512 << 10));
        // A Xeon with 2 MiB.
        assert_eq!(second_of(registers(3, 2, [16, 64, 2048])), Some(2 << 20));
        assert_eq!(second_of(registers(1, 1, [8, 64, 64])), None, "the first");
        assert_eq!(second_of(registers(3, 3, [16, 64, 32768])), None, "the third");
        assert_eq!(second_of(registers(2, 2, [8, 64, 1024])), None, "of instructions");
    }

    #[test]
    fn sizes_that_no_cache_has_are_no_answer() {
        assert_eq!(second_of(registers(3, 2, [1, 1, 1])), None);
        assert_eq!(second_of([3 | 2 << 5, u32::MAX, u32::MAX]), None);
    }

    #[test]
    fn there_is_always_an_answer_and_always_the_same() {
        let caches = Caches::of_this_processor();
        assert!(caches.level_2() >= Caches::LEAST);
        assert_eq!(caches, Caches::of_this_processor());
        assert_eq!([0, usize::MAX].map(|bytes| Caches::new(bytes).level_2()), [Caches::LEAST, Caches::MOST]);
    }
}
