//! The description of the machine.

use std::{env::consts, fs, thread};

use super::limits::simd_name;
use crate::prediction::machine;

/// The properties of the machine, as far as they are known.
#[derive(Debug)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// The processor's name, family, model and stepping.
    pub processor: String,
    /// The number of threads that the process may use.
    pub processors: usize,
    /// The caches of the first processor.
    pub caches: Caches,
    /// The SIMD level in use.
    pub simd: String,
    /// The load average of the last minute before this program ran.
    pub load: Option<f64>,
}

impl Machine {
    /// The properties of this machine.
    pub fn detect() -> Self {
        Self {
            system: format!("{} {}", consts::OS, consts::ARCH),
            processor: processor(),
            processors: thread::available_parallelism().map_or(1, usize::from),
            caches: Caches::detect(),
            simd: simd_name(mind::simd_level()),
            load: load(),
        }
    }
}

/// The sizes in bytes of the caches through which a thread reads data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The first level, per core.
    pub l1: usize,
    /// The second level, per core or shared.
    pub l2: usize,
    /// The third level, which is shared, if there is one.
    pub l3: Option<usize>,
    /// Whether the processor reports the sizes. Otherwise they are a guess.
    pub is_reported: bool,
}

impl Caches {
    /// The sizes for predictions.
    pub const fn sizes(&self) -> machine::Caches {
        machine::Caches { l1: self.l1, l2: self.l2, l3: self.l3 }
    }

    /// Sizes that most processors have at least.
    const GUESS: Self = Self { l1: 32 << 10, l2: 512 << 10, l3: Some(8 << 20), is_reported: false };

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Self {
        Self::GUESS
    }

    #[cfg(target_arch = "x86_64")]
    fn detect() -> Self {
        use raw_cpuid::{CacheType, CpuId};

        let mut found = [0; 3];
        for cache in CpuId::new().get_cache_parameters().into_iter().flatten() {
            let holds_data = matches!(cache.cache_type(), CacheType::Data | CacheType::Unified);
            let level = usize::from(cache.level()).wrapping_sub(1);
            if let Some(bytes) = found.get_mut(level).filter(|_| holds_data) {
                *bytes = cache.associativity()
                    * cache.physical_line_partitions()
                    * cache.coherency_line_size()
                    * cache.sets();
            }
        }
        Self::of(found)
    }

    /// The caches from the reported sizes, where 0 means none.
    #[cfg(target_arch = "x86_64")]
    fn of([l1, l2, l3]: [usize; 3]) -> Self {
        // A host may hide the sizes or report impossible ones. Sizes of buffers must not depend on these.
        let is_possible = l1 >= 4 << 10 && l2 > l1 && (l3 == 0 || l3 > l2) && l2.max(l3) <= 4 << 30;
        if is_possible { Self { l1, l2, l3: (l3 > 0).then_some(l3), is_reported: true } } else { Self::GUESS }
    }
}

#[cfg(target_arch = "x86_64")]
fn processor() -> String {
    let id = raw_cpuid::CpuId::new();
    let brand = id.get_processor_brand_string();
    let name = brand.as_ref().map_or("unknown x86-64", |brand| brand.as_str().trim());
    let numbers = id.get_feature_info().map(|info| {
        format!(", family {}, model {}, stepping {}", info.family_id(), info.model_id(), info.stepping_id())
    });
    format!("{name}{}", numbers.unwrap_or_default())
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &&str| line.starts_with("model name") || line.starts_with("Model");
    let name = text.lines().find(named).and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.map_or_else(|| format!("unknown {}", consts::ARCH), str::to_owned)
}

/// The load average, if the system reports it like Linux.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn caches_that_cannot_be_are_not_believed() {
        let reported = |l3| Caches { l1: 32 << 10, l2: 1 << 20, l3, is_reported: true };
        assert_eq!(Caches::of([32 << 10, 1 << 20, 0]), reported(None));
        assert_eq!(Caches::of([32 << 10, 1 << 20, 32 << 20]), reported(Some(32 << 20)));
        for wrong in [
            [0; 3],
            [32 << 10, 0, 0],
            [32 << 10, 16 << 10, 0],
            [32 << 10, 1 << 20, 1 << 19],
            [4096, 8192, 1 << 40],
        ] {
            assert_eq!(Caches::of(wrong), Caches::GUESS, "{wrong:?}");
        }
    }
}
