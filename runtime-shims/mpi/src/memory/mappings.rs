//! How many mappings this process has: each range of pages with a protection of its own is one.

/// Watches this process's number of mappings, so that the kernel's limit leaves room for MPI's own.
pub(super) struct Mappings {
    most: usize,
    calls: u32,
}

impl Mappings {
    /// Protections between two looks.
    const INTERVAL: u32 = 8192;

    pub(super) fn new() -> Self {
        let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
        let limit = limit
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(65530);
        Self {
            most: limit / 4 * 3,
            calls: 0,
        }
    }

    /// Whether, on one of the occasional looks, there are too many.
    pub(super) fn are_too_many(&mut self) -> bool {
        self.calls += 1;
        if self.calls < Self::INTERVAL {
            return false;
        }
        self.calls = 0;
        let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
        maps.iter().filter(|&&byte| byte == b'\n').count() > self.most
    }
}
