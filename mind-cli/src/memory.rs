//! The memory limit of a run: from the command line, otherwise a share of the machine's memory.

use std::fs;

use mind_core::memory::DEFAULT;

use crate::args::Memory;

impl Memory {
    /// The maximum number of bytes of a run.
    pub fn most_bytes(self) -> u64 {
        self.bytes.unwrap_or_else(share)
    }
}

/// Parses `512M`, `4G` or a number of bytes. Units are powers of 1024.
pub fn parse(text: &str) -> Result<u64, String> {
    let refused = || format!("needed a number of bytes above 0, such as 512M or 4G, found `{text}`");
    let trimmed = text.trim();
    let trimmed = trimmed.strip_suffix("iB").or(trimmed.strip_suffix(['B', 'b'])).unwrap_or(trimmed);
    let (digits, unit) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&trimmed[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&trimmed[..at], 1 << 30),
        Some((at, 't' | 'T')) => (&trimmed[..at], 1 << 40),
        Some(_) | None => (trimmed, 1u64),
    };
    let count: u64 = digits.trim().parse().map_err(|_| refused())?;
    count.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(refused)
}

/// Half of the least of the machine's memory, the limit of the control group and the limit of the process, but at most
/// three quarters of the free memory. [`DEFAULT`] if the system reports none of these.
fn share() -> u64 {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let machine = read("/proc/meminfo");
    let field = |name: &str| -> Option<u64> {
        let rest = machine.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
    };
    // Version 2 of control groups, then version 1. Neither file contains a number if there is no limit.
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = groups.iter().find_map(|file| read(file).trim().parse::<u64>().ok());
    let limits = read("/proc/self/limits");
    let process = limits.lines().find_map(|line| {
        line.strip_prefix("Max address space")?.split_whitespace().next()?.parse::<u64>().ok()
    });
    let halves = [field("MemTotal"), group, process].into_iter().flatten().map(|bytes| bytes / 2);
    let free = field("MemAvailable").map(|bytes| bytes / 4 * 3);
    halves.chain(free).min().unwrap_or(DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        assert_eq!(parse("1000"), Ok(1000));
        assert_eq!(parse("512M"), Ok(512 << 20));
        assert_eq!(parse("4GiB"), Ok(4 << 30));
        assert_eq!(parse("2 kb"), Ok(2 << 10));
        for wrong in ["", "0", "G", "-1", "4X", "1.5G", "99999999999G"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_of_the_machine_is_some_memory() {
        assert!(share() > 1 << 20);
    }
}
