//! What memory the system leaves to the process.
//!
//! Read from where Linux tells it; elsewhere nothing is known, and nothing is limited.

use std::sync::OnceLock;

/// Resident bytes beyond which work ends where the address space of the process is limited (`ulimit -v`): half of what was
/// left of it at the first call. Tables that grow take twice as much address space as they hold, and an allocation that the
/// system refuses would abort the process.
pub(super) fn allowed() -> Option<usize> {
    static ALLOWED: OnceLock<Option<usize>> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
        let stats = memory_stats::memory_stats()?;
        let left = address_space(&limits)?.saturating_sub(stats.virtual_mem);
        Some(stats.physical_mem + left / 2)
    })
}

/// Resident bytes that could be taken now without others having to give theirs back: what the machine and the process's
/// control group have left. `None` where the system does not tell.
pub(super) fn available() -> Option<usize> {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"));
    [machine, left_of_group()].into_iter().flatten().min()
}

/// What the control group (version 2) of the process has left, if it has a limit.
fn left_of_group() -> Option<usize> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups
        .lines()
        .find_map(|line| line.strip_prefix("0::"))?
        .trim_matches('/');
    let folder = std::path::Path::new("/sys/fs/cgroup").join(group);
    let number = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse::<usize>()
            .ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// The soft limit of the address space in bytes, from a process's table of limits; none if it is `unlimited`.
fn address_space(limits: &str) -> Option<usize> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A number of kilobytes behind a word, in bytes.
fn field(text: &str, word: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace()
        .next()?
        .parse::<usize>()
        .ok()?
        .checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_system_are_understood() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max cpu time              unlimited            unlimited            seconds   \n\
                      Max address space         4096000000           unlimited            bytes     \n";
        assert_eq!(address_space(limits), Some(4_096_000_000));
        assert_eq!(
            address_space(
                "Max address space         unlimited            unlimited            bytes"
            ),
            None
        );
        assert_eq!(
            field(
                "MemTotal: 9 kB\nMemAvailable:    8000 kB\n",
                "MemAvailable:"
            ),
            Some(8_192_000)
        );
        assert_eq!(field("MemTotal: 9 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn what_the_system_tells_is_plausible() {
        if let Some(bytes) = available() {
            assert!(bytes > 1 << 20, "{bytes}");
        }
    }
}
