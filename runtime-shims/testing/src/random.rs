//! Numbers for tests that look random and are the same in every run.

/// A sequence that its first number, which is not 0, determines.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number, of 64 bits, but never 0.
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The next number, less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() >> 11) as usize % bound
    }

    /// True in so many of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
