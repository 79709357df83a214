//! Whether a version is faster than the code as it was compiled ahead of time: both run in turns for a while, on calls of the
//! program's, and the one with the shortest call of both goes on.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Calls of each.
const CALLS: u32 = 12;

/// A version may seem to be so much slower by chance.
const NOISE: f64 = 1.01;

/// What is known of the times of a version.
pub(crate) struct Trial {
    /// Calls so far, of both.
    calls: AtomicU32,
    /// The shortest call of each: bits of numbers, which are positive.
    best: [AtomicU64; 2],
}

impl Trial {
    pub(crate) fn new() -> Self {
        Self {
            calls: AtomicU32::new(0),
            best: [f64::INFINITY; 2].map(|one| AtomicU64::new(one.to_bits())),
        }
    }

    /// Whether the version runs next. Not before it is known the calls are counted.
    pub(crate) fn runs_version(&self) -> bool {
        match self.is_faster() {
            Some(is_faster) => is_faster,
            // One of two calls, in an order that no program follows: work may differ from one call to the next.
            None => {
                let ones = self.calls.fetch_add(1, Relaxed).count_ones();
                ones.is_multiple_of(2)
            }
        }
    }

    /// A call took so long for each element.
    pub(crate) fn took(&self, of_version: bool, seconds: f64) {
        if self.calls.load(Relaxed) <= 2 * CALLS {
            self.best[usize::from(of_version)].fetch_min(seconds.to_bits(), Relaxed);
        }
    }

    /// The verdict, when there is one.
    pub(crate) fn is_faster(&self) -> Option<bool> {
        let [before, version] = self
            .best
            .each_ref()
            .map(|one| f64::from_bits(one.load(Relaxed)));
        (self.calls.load(Relaxed) >= 2 * CALLS).then_some(version <= before * NOISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(before: f64, version: f64) -> Vec<bool> {
        let trial = Trial::new();
        let calls = (0..2 * CALLS + 4).map(|_| {
            let of_version = trial.runs_version();
            trial.took(of_version, if of_version { version } else { before });
            of_version
        });
        calls.collect()
    }

    #[test]
    fn the_faster_one_goes_on() {
        for (before, version, is_faster) in [(2.0, 1.0, true), (1.0, 2.0, false), (1.0, 1.0, true)]
        {
            let calls = verdict(before, version);
            let (first, rest) = calls.split_at(2 * CALLS as usize);
            assert_eq!(first.iter().filter(|one| **one).count(), CALLS as usize);
            assert!(
                rest.iter().all(|one| *one == is_faster),
                "{before} {version}"
            );
        }
    }
}
