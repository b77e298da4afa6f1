//! What the machine is.

use std::{env::consts, fs, thread};

use super::limits::simd_name;

/// The machine, as far as it can be told.
#[derive(Debug)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// The processor's name, family, model and stepping.
    pub processor: String,
    /// Threads that the process may use.
    pub processors: usize,
    /// Caches of the first processor.
    pub caches: Caches,
    /// The SIMD level in use.
    pub simd: String,
    /// How many programs wanted to run in the last minute, before this one did.
    pub load: Option<f64>,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        Self {
            system: format!("{} {}", consts::OS, consts::ARCH),
            processor: processor(),
            processors: thread::available_parallelism().map_or(1, usize::from),
            caches: Caches::here(),
            simd: simd_name(mind::simd_level()),
            load: load(),
        }
    }
}

/// Bytes of the caches that a thread reads data through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The first level's, of a core.
    pub l1: usize,
    /// The second level's, of a core or shared.
    pub l2: usize,
    /// The third level's, shared, where there is one.
    pub l3: Option<usize>,
    /// Whether the processor told them; else they are a guess.
    pub told: bool,
}

impl Caches {
    /// What most processors have at least.
    const GUESS: Self = Self { l1: 32 << 10, l2: 512 << 10, l3: Some(8 << 20), told: false };

    #[cfg(not(target_arch = "x86_64"))]
    fn here() -> Self {
        Self::GUESS
    }

    #[cfg(target_arch = "x86_64")]
    fn here() -> Self {
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

    /// Those that were found, 0 for none.
    #[cfg(target_arch = "x86_64")]
    fn of([l1, l2, l3]: [usize; 3]) -> Self {
        // Where a host hides them, or tells what cannot be, sizes of buffers are not to follow.
        let is_possible = l1 >= 4 << 10 && l2 > l1 && (l3 == 0 || l3 > l2) && l2.max(l3) <= 4 << 30;
        if is_possible { Self { l1, l2, l3: (l3 > 0).then_some(l3), told: true } } else { Self::GUESS }
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
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &&str| line.starts_with("model name") || line.starts_with("Model");
    let name = told.lines().find(named).and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.map_or_else(|| format!("unknown {}", consts::ARCH), str::to_owned)
}

/// Where the system tells it as Linux does.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn caches_that_cannot_be_are_not_believed() {
        let told = |l3| Caches { l1: 32 << 10, l2: 1 << 20, l3, told: true };
        assert_eq!(Caches::of([32 << 10, 1 << 20, 0]), told(None));
        assert_eq!(Caches::of([32 << 10, 1 << 20, 32 << 20]), told(Some(32 << 20)));
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
