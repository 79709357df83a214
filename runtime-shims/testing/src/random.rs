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

/// Of each so many seeds one is in a sample.
const PARTS: u64 = 3;

/// The seeds from 1 to `end`, which is none. Where `OKL_TEST_SAMPLE` is set, as it is in gates, they are a third of those,
/// which one its value says: any three numbers in a row have them all.
pub fn seeds(end: u64) -> impl Iterator<Item = u64> {
    let sample = std::env::var("OKL_TEST_SAMPLE").ok();
    let sample = sample.map(|number| number.parse::<u64>().expect("OKL_TEST_SAMPLE is a number"));
    (1..end).filter(move |&seed| sample.is_none_or(|sample| part(seed) == sample % PARTS))
}

/// The part of a seed: neighbours differ in what they say by their remainders.
fn part(seed: u64) -> u64 {
    Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).below(PARTS as usize) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_seeds_of_all_remainders() {
        for parts in 0..PARTS {
            for divisor in 2..=4 {
                for remainder in 0..divisor {
                    let is_there = |seed: &u64| part(*seed) == parts && seed % divisor == remainder;
                    assert!((1..60).filter(is_there).count() > 1);
                }
            }
        }
    }
}
