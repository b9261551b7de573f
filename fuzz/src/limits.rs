//! How long a case may take and how much memory it may hold.

use std::time::Duration;

/// What a case may take.
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// Bytes.
    pub(crate) memory: u64,
}

/// The limits that the project promises.
pub(crate) const LIMITS: Limits = Limits { time: Duration::from_secs(20), memory: 2 << 30 };

/// Bytes of memory that process `id` holds now; 0 where the system does not tell.
pub(crate) fn resident(id: u32) -> u64 {
    status(id, "VmRSS:")
}

/// The most that it ever held.
pub(crate) fn peak(id: u32) -> u64 {
    status(id, "VmHWM:")
}

fn status(id: u32, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes: Option<u64> = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(0) << 10
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_measured() {
        let id = std::process::id();
        let before = resident(id);
        let held = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(resident(id) >= before + (32 << 20), "{before} and then {}", resident(id));
        assert!(peak(id) >= resident(id) && held[1] == 1);
    }
}
