//! What rank 0 remembers of a region: what it costs on the ranks, and what by itself.
//!
//! Guarantee: to try the other place takes a small part of the time that the region takes, however it turns out. Of a
//! region whose executions differ the large ones count for more: what is won with small ones is less than what is lost
//! with those.

use std::time::Duration;

/// Where a region runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Ranks,
    Alone,
}

impl Place {
    fn other(self) -> Self {
        match self {
            Self::Ranks => Self::Alone,
            Self::Alone => Self::Ranks,
        }
    }
}

/// The first executions at a place bring memory there, and make plans.
const FIRST: u32 = 4;
/// So many are looked at together. The least cost of them counts: what else the machine does makes others larger.
const SAMPLE: u32 = 8;
/// A trial is worth one part in so many of the time since the last one.
const SHARE: u32 = 50;
/// A region of which a rank's share takes longer is not short: it may have much memory to move.
const LONGEST: Duration = Duration::from_millis(1);
/// A trial that failed so often waits no longer than before.
const MOST_FAILED: u32 = 10;
/// So often a region may outgrow what is won by itself before the ranks are tried.
const OUTGROWN: u32 = 3;

/// Some executions in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    number: u32,
    least_body: Duration,
    least_cost: Duration,
    /// Of all.
    bodies: Duration,
    costs: Duration,
}

impl Sample {
    fn add(&mut self, body: Duration, cost: Duration) {
        let least = |so_far: Duration, one: Duration| match self.number {
            0 => one,
            _ => so_far.min(one),
        };
        self.least_body = least(self.least_body, body);
        self.least_cost = least(self.least_cost, cost);
        self.number += 1;
        self.bodies += body;
        self.costs += cost;
    }

    /// Whether the other place may be better for the region, as far as is known here. Large executions count for more.
    fn may_be_worse(&self, place: Place, threads: u32) -> bool {
        match place {
            Place::Ranks => {
                let alone = self.bodies * threads;
                self.bodies < LONGEST * self.number && alone + alone / 4 < self.costs
            }
            Place::Alone => true,
        }
    }
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    place: Place,
    /// Executions there.
    executions: u32,
    /// What they took; of the trial, if this is one.
    took: Duration,
    sample: Sample,
    /// What an execution cost at least, in the last samples.
    on_ranks: Duration,
    alone: Duration,
    /// What rank 0's share on the ranks took then.
    share: Duration,
    is_trial: bool,
    /// So long the place is kept before the other one is tried.
    rest: Duration,
    /// Trials that failed since one did not.
    failed: u32,
    outgrown: u32,
    alternation: u32,
}

impl History {
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// For tests: the places in turn, each twice, so that memory goes from each to each.
    pub(super) fn alternate(&mut self) -> Place {
        self.alternation += 1;
        match self.alternation % 4 {
            2 | 3 => Place::Alone,
            _ => Place::Ranks,
        }
    }

    /// An execution at `place` has cost so much, of which rank 0 spent `body` in the region's body, for one thread of
    /// several on the ranks, and for all by itself.
    pub(super) fn learn(&mut self, place: Place, threads: u32, body: Duration, cost: Duration) {
        if place != self.place {
            return;
        }
        self.executions += 1;
        self.took += cost;
        if self.executions > FIRST {
            self.sample.add(body, cost);
        }
        if place == Place::Alone && self.has_outgrown(threads, body) {
            self.failed += 1;
            return self.go_to(Place::Ranks, false);
        }
        if self.executions < FIRST + SAMPLE || !(self.executions - FIRST).is_multiple_of(SAMPLE) {
            return;
        }
        let sample = std::mem::take(&mut self.sample);
        let cost = sample.least_cost;
        let other = match place {
            Place::Ranks => {
                self.on_ranks = cost;
                self.share = sample.least_body;
                self.alone
            }
            Place::Alone => {
                self.alone = cost;
                self.on_ranks
            }
        };
        if self.is_trial {
            self.end_trial(cost, other);
        } else if self.took >= self.rest && sample.may_be_worse(place, threads) {
            self.go_to(place.other(), true);
        }
    }

    /// Whether this execution, alone, took so much longer than it would have on the ranks that they are faster.
    fn has_outgrown(&mut self, threads: u32, body: Duration) -> bool {
        let saved = self.on_ranks.saturating_sub(self.share);
        let lost = body - body / threads;
        if lost > 4 * saved && self.executions > FIRST {
            return true;
        }
        self.outgrown = match lost > saved + saved / 2 {
            true => self.outgrown + 1,
            false => 0,
        };
        self.outgrown > OUTGROWN && self.executions > FIRST
    }

    fn end_trial(&mut self, cost: Duration, other: Duration) {
        let trial = self.took;
        if cost + cost / 10 < other {
            self.failed = 0;
            self.is_trial = false;
            self.took = Duration::ZERO;
            self.rest = SHARE * (FIRST + SAMPLE) * other;
            return;
        }
        self.failed = (self.failed + 1).min(MOST_FAILED);
        self.go_to(self.place.other(), false);
        self.rest = SHARE * trial * (1 << self.failed.min(MOST_FAILED));
    }

    fn go_to(&mut self, place: Place, is_trial: bool) {
        if !is_trial {
            let before = SHARE * (FIRST + SAMPLE) * self.on_ranks;
            self.rest = before * (1 << self.failed.min(MOST_FAILED));
        }
        self.place = place;
        self.executions = 0;
        self.took = Duration::ZERO;
        self.sample = Sample::default();
        self.is_trial = is_trial;
        self.outgrown = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Runs a region so often: `work` is what all of it takes one thread, at each execution, and `beside` what it costs on
    /// the ranks, or alone, beside that. How often it ran alone, and all that it took.
    fn run(
        history: &mut History,
        times: u64,
        work: impl Fn(u64) -> u64,
        beside: [u64; 2],
    ) -> (u64, u64) {
        const THREADS: u32 = 2;
        let (mut alone, mut took) = (0, 0);
        for execution in 0..times {
            let place = history.place();
            let body = match place {
                Place::Ranks => work(execution) / u64::from(THREADS),
                Place::Alone => {
                    alone += 1;
                    work(execution)
                }
            };
            let cost = body + beside[usize::from(place == Place::Alone)];
            took += cost;
            history.learn(place, THREADS, micros(body), micros(cost));
        }
        (alone, took)
    }

    #[test]
    fn short_regions_run_alone() {
        let (alone, _) = run(&mut History::default(), 10_000, |_| 2, [20, 1]);
        assert!(alone > 9_500, "{alone}");
    }

    #[test]
    fn long_ones_do_not() {
        let (alone, _) = run(&mut History::default(), 10_000, |_| 200, [20, 1]);
        assert_eq!(alone, 0);
        let (alone, _) = run(&mut History::default(), 10_000, |_| 7_000, [9_000, 1]);
        assert_eq!(alone, 0, "these are not short");
    }

    /// Alone it has to fetch what the ranks have: it is tried, and seldom again.
    #[test]
    fn what_does_not_pay_is_tried_seldom() {
        let mut history = History::default();
        let (alone, took) = run(&mut history, 100_000, |_| 2, [20, 400]);
        assert!((12..100).contains(&alone), "{alone}");
        let best = 100_000 * 21;
        assert!(took < best + best / 20, "{took} {best}");
    }

    #[test]
    fn a_region_that_grows_goes_back_to_the_ranks() {
        let mut history = History::default();
        let (alone, took) = run(&mut history, 2_000, |at| at / 8, [20, 1]);
        assert!((250..450).contains(&alone), "{alone}");
        let best: u64 = (0..2_000).map(|at| (at / 8 + 1).min(at / 16 + 20)).sum();
        assert!(took < best + best / 10, "{took} {best}");
        assert_eq!(history.place(), Place::Ranks);
        // And comes again when it is short again.
        let (alone, _) = run(&mut history, 100_000, |_| 2, [20, 1]);
        assert!(alone > 50_000, "{alone}");
    }

    /// As at the levels of a multigrid solver.
    #[test]
    fn a_region_of_many_sizes_goes_by_the_largest() {
        let work = |at: u64| if at.is_multiple_of(8) { 4_000 } else { 2 };
        let (alone, took) = run(&mut History::default(), 10_000, work, [20, 1]);
        assert!(alone < 100, "{alone}");
        let best: u64 = (0..10_000).map(|at| work(at) / 2 + 20).sum();
        assert!(took < best + best / 20, "{took} {best}");
    }

    #[test]
    fn places_alternate_for_tests() {
        let mut history = History::default();
        let places: Vec<Place> = (0..6).map(|_| history.alternate()).collect();
        let (ranks, alone) = (Place::Ranks, Place::Alone);
        assert_eq!(places, [ranks, alone, alone, ranks, ranks, alone]);
    }
}
