//! Numbers for tests that look random and are the same in every run.

/// A sequence that its first number, which is not 0, determines.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number, less than `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// True in so many of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
