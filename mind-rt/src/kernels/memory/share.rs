//! The share of the machine's memory that is kept for later results.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The share of the machine's memory, or of the limit of the control group, that is kept at most.
const SHARE: usize = 8;

/// The bytes that may be kept on every machine.
const LEAST: usize = 32 << 20;

/// The bytes of the machine where the system does not report them.
const UNKNOWN: usize = 2 << 30;

static MOST: AtomicUsize = AtomicUsize::new(LEAST);

/// The most bytes that the process keeps: [`LEAST`] until [`ask`] has been called.
#[inline]
pub(super) fn most_kept() -> usize {
    MOST.load(Ordering::Relaxed)
}

/// Asks the system for the size of the memory, the first time only.
#[cold]
pub(super) fn ask() {
    if most_kept() == LEAST {
        let bytes = if cfg!(miri) { None } else { machine() };
        // One more than the least, so that a small machine is asked once too.
        MOST.store((bytes.unwrap_or(UNKNOWN) / SHARE).max(LEAST + 1), Ordering::Relaxed);
    }
}

/// The bytes of the machine's memory, or of the limit of the control group if that is less.
#[cfg(target_os = "linux")]
fn machine() -> Option<usize> {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let total = in_meminfo(&read("/proc/meminfo"));
    // Version 2 of control groups, then version 1. Neither file contains a number if there is no limit.
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = groups.iter().find_map(|file| read(file).trim().parse::<u64>().ok());
    total.into_iter().chain(group).min().and_then(|bytes| usize::try_from(bytes).ok())
}

#[cfg(not(target_os = "linux"))]
fn machine() -> Option<usize> {
    None
}

/// The total memory in bytes that the text of `/proc/meminfo` reports.
#[cfg(any(target_os = "linux", test))]
fn in_meminfo(text: &str) -> Option<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_counts_kibibytes() {
        let text = "MemTotal:        1024 kB\nMemFree:          100 kB\n";
        assert_eq!(in_meminfo(text), Some(1 << 20));
        assert_eq!(in_meminfo("MemFree: 100 kB"), None);
        assert_eq!(in_meminfo("MemTotal: 18446744073709551615 kB"), None);
    }

    #[test]
    fn a_share_of_the_machine_is_kept() {
        ask();
        assert!(most_kept() > LEAST);
        #[cfg(all(target_os = "linux", not(miri)))]
        assert!(machine().is_some_and(|bytes| most_kept() <= (bytes / SHARE).max(LEAST + 1)));
    }
}
