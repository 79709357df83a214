//! What rank 0 remembers of a region: what it costs on the ranks, and what by itself.
//!
//! Guarantee: to try the other place takes a small part of the time that the region takes, however it turns out. Executions
//! for which the program has captured the same values are compared with each other: a region of a multigrid solver is short
//! on coarse grids and long on fine ones. Where executions differ all the same the large ones count for more: what is won
//! with small ones is less than what is lost with those.

use std::{collections::HashMap, time::Duration};

use okl_coherence::geometry::signature::Signature;

use super::{FIRST, MOST_FAILED, Place, SHARE};

/// So many are looked at together. The least cost of them counts: what else the machine does makes others larger.
const SAMPLE: u32 = 8;
/// A region of which a rank's share takes longer is not short: it has memory to move, and no message takes as long.
const LONGEST: Duration = Duration::from_micros(50);
/// So often a region may outgrow what is won by itself before the ranks are tried, and so often it may be slow in a trial.
const OUTGROWN: u32 = 3;
/// An execution of a trial that takes so many times as long as others is slow.
const SLOW: u32 = 4;
/// A region with more values has other values each time.
const MOST_VALUES: usize = 64;

/// The histories of a region.
#[derive(Debug, Default)]
pub(super) struct Histories {
    of_values: HashMap<Signature, History>,
    /// Of all executions, where there are too many values.
    of_all: Option<History>,
}

impl Histories {
    /// That of executions with `values`.
    pub(super) fn of(&mut self, values: Signature) -> &mut History {
        if self.of_values.len() >= MOST_VALUES && !self.of_values.contains_key(&values) {
            self.of_values = HashMap::new();
            self.of_all = Some(History::default());
        }
        match &mut self.of_all {
            Some(history) => history,
            None => self.of_values.entry(values).or_default(),
        }
    }
}

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

    /// Whether the other place may be better for the region, as far as is known here. Large executions count for more, and
    /// what else the machine does is no reason.
    fn may_be_worse(&self, place: Place, longer: u32) -> bool {
        let is_short = |body: Duration, cost: Duration| body * longer * 5 / 4 < cost;
        match place {
            Place::Ranks => {
                self.bodies < LONGEST * self.number
                    && is_short(self.bodies, self.costs)
                    && is_short(self.least_body, self.least_cost)
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
    /// What an execution cost there on average.
    usual: Duration,
    is_trial: bool,
    /// So long the place is kept before the other one is tried.
    rest: Duration,
    /// Trials that failed since one did not.
    failed: u32,
    outgrown: u32,
    slow: u32,
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
    /// several on the ranks, and for all by itself, which takes `longer` times as long.
    pub(super) fn learn(&mut self, place: Place, longer: u32, body: Duration, cost: Duration) {
        if place != self.place {
            return;
        }
        self.executions += 1;
        self.took += cost;
        if self.executions > FIRST {
            self.sample.add(body, cost);
        }
        if place == Place::Alone && self.has_outgrown(longer, body) || self.is_hopeless(cost) {
            return self.fail();
        }
        if self.executions < FIRST + SAMPLE || !(self.executions - FIRST).is_multiple_of(SAMPLE) {
            return;
        }
        let sample = std::mem::take(&mut self.sample);
        let cost = sample.least_cost;
        if self.rest.is_zero() {
            // The first trial, too, is paid for.
            self.rest = SHARE * (FIRST + SAMPLE) * cost;
        }
        let other = match place {
            Place::Ranks => {
                self.on_ranks = cost;
                self.share = sample.least_body;
                self.usual = sample.costs / sample.number;
                self.alone
            }
            Place::Alone => {
                self.alone = cost;
                self.on_ranks
            }
        };
        if self.is_trial {
            self.end_trial(cost, other);
        } else if self.took >= self.rest && sample.may_be_worse(place, longer) {
            self.go_to(place.other(), true);
        }
    }

    /// Whether this execution, alone, took so much longer than it would have on the ranks that they are faster.
    fn has_outgrown(&mut self, longer: u32, body: Duration) -> bool {
        let saved = self.on_ranks.saturating_sub(self.share);
        let lost = body - body / longer;
        if lost > 4 * saved && self.executions > FIRST {
            return true;
        }
        self.outgrown = match lost > saved + saved / 2 {
            true => self.outgrown + 1,
            false => 0,
        };
        self.outgrown > OUTGROWN && self.executions > FIRST
    }

    /// Whether a trial by itself cannot win, after an execution that has cost so much: each brings memory here again.
    fn is_hopeless(&mut self, cost: Duration) -> bool {
        if self.is_trial && self.place == Place::Alone {
            self.slow += u32::from(cost > SLOW * self.usual);
        }
        self.slow > OUTGROWN
    }

    fn end_trial(&mut self, cost: Duration, other: Duration) {
        if cost + cost / 10 < other {
            self.failed = 0;
            self.is_trial = false;
            self.took = Duration::ZERO;
            self.rest = SHARE * (FIRST + SAMPLE) * other;
            return;
        }
        self.fail();
    }

    /// The other place is better. A trial is paid for before there is another.
    fn fail(&mut self) {
        let trial = if self.is_trial {
            self.took
        } else {
            Duration::ZERO
        };
        self.failed = (self.failed + 1).min(MOST_FAILED);
        self.go_to(self.place.other(), false);
        self.rest = self.rest.max(SHARE * trial * (1 << self.failed));
    }

    fn go_to(&mut self, place: Place, is_trial: bool) {
        if !is_trial {
            let before = SHARE * (FIRST + SAMPLE) * self.on_ranks;
            self.rest = before * (1 << self.failed);
        }
        self.place = place;
        self.executions = 0;
        self.took = Duration::ZERO;
        self.sample = Sample::default();
        self.is_trial = is_trial;
        self.outgrown = 0;
        self.slow = 0;
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
        assert!(alone > 9_300, "{alone}");
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
        run(&mut history, 1_000, |_| 2, [20, 1]);
        assert_eq!(history.place(), Place::Alone);
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

    /// What else the machine does makes a region of any size look as if it cost much on the ranks.
    #[test]
    fn long_regions_stay_on_the_ranks_of_a_busy_machine() {
        let mut history = History::default();
        let mut alone = 0;
        for execution in 0..10_000 {
            let place = history.place();
            alone += u64::from(place == Place::Alone);
            let others = if execution % 4 == 0 { 4_000 } else { 0 };
            history.learn(place, 2, micros(500), micros(520 + others));
        }
        assert_eq!(alone, 0);
    }

    /// As where a multigrid solver captures its grid by reference. Large grids alone bring memory here.
    #[test]
    fn a_trial_that_large_executions_end_is_paid_for() {
        let work = |at: u64| if at.is_multiple_of(20) { 600 } else { 2 };
        let mut history = History::default();
        let (mut took, mut trials) = (0, 0);
        for execution in 0..20_000 {
            let place = history.place();
            let (body, cost) = match place {
                Place::Ranks => (work(execution) / 2, work(execution) / 2 + 40),
                Place::Alone => {
                    trials += 1;
                    (work(execution) * 10, work(execution) * 10 + 1)
                }
            };
            took += cost;
            history.learn(place, 2, micros(body), micros(cost));
        }
        let best: u64 = (0..20_000).map(|at| work(at) / 2 + 40).sum();
        assert!(trials > 0);
        assert!(took < best + best / 20, "{took} {best}");
    }

    /// Each execution alone brings memory here that the ranks have: that is seen before the trial is over.
    #[test]
    fn a_hopeless_trial_ends_early() {
        let (alone, _) = run(&mut History::default(), 1_000, |_| 2, [20, 4_000]);
        assert_eq!(alone, u64::from(OUTGROWN) + 1);
    }

    /// Where the threads run at the same time, by itself too, a region may grow.
    #[test]
    fn what_takes_no_longer_alone_is_not_outgrown() {
        let mut history = History::default();
        let mut alone = 0;
        for execution in 0..10_000 {
            let place = history.place();
            alone += u64::from(place == Place::Alone);
            let body = if execution < 5_000 { 20 } else { 5_000 };
            let beside = if place == Place::Alone { 20 } else { 300 };
            history.learn(place, 1, micros(body), micros(body + beside));
        }
        assert!(alone > 9_000, "{alone}");
    }

    #[test]
    fn each_size_has_a_place_of_its_own() {
        let mut histories = Histories::default();
        let mut places = [Place::Ranks; 2];
        for execution in 0..2_000 {
            let size = execution % 2;
            let history = histories.of(Signature::START.with(size));
            let place = history.place();
            places[size as usize] = place;
            let work = if size == 0 { 2 } else { 400 };
            let (body, beside) = match place {
                Place::Ranks => (work / 2, 20),
                Place::Alone => (work, 1),
            };
            history.learn(place, 2, micros(body), micros(body + beside));
        }
        assert_eq!(places, [Place::Alone, Place::Ranks]);
    }

    #[test]
    fn values_that_never_come_again_are_not_kept() {
        let mut histories = Histories::default();
        for value in 0..10_000 {
            let history = histories.of(Signature::START.with(value));
            let place = history.place();
            let cost = if place == Place::Alone { 2 } else { 20 };
            history.learn(place, 2, micros(1), micros(cost));
            assert!(histories.of_values.len() <= MOST_VALUES);
        }
        let last = histories.of(Signature::START).place();
        assert_eq!(last, Place::Alone, "short, whatever they are");
    }

    #[test]
    fn places_alternate_for_tests() {
        let mut history = History::default();
        let places: Vec<Place> = (0..6).map(|_| history.alternate()).collect();
        let (ranks, alone) = (Place::Ranks, Place::Alone);
        assert_eq!(places, [ranks, alone, alone, ranks, ranks, alone]);
    }
}
