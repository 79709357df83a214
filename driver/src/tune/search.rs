//! The search: one chain after the other, while the others run as fast as is known.
//!
//! What is known from an earlier search comes first. Of a chain all schedules without tiles are tried, then each kind of tiles, whose sizes are doubled and halved while that
//! helps; at last the sizes of the best tiles in each dimension. Where there are several chains the best three of each are
//! tried again when the others have found theirs. Which schedules are tried depends on nothing but what was measured.

use super::candidates::{Form, SIZES, plain, tiled};
use super::schedules::AS_WRITTEN;
use super::state::{Outcome, State};
use super::told::Seen;

/// What is faster by less is not.
pub(crate) const BETTER: f64 = 1.01;
/// Tiles that are slower than that part of the best are not tried in other sizes.
const HOPELESS: f64 = 0.7;
/// How many schedules of a chain are tried again.
const AGAIN: usize = 3;
/// How many sizes are tried of tiles, for how much is told to be left.
const SOME_SIZES: usize = 2;

/// Why a search has ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A signal has come.
    Interrupted,
    /// There is no time left.
    Limit,
    /// It makes no sense to go on.
    Failed(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Failed(why)
    }
}

/// What is measured.
pub(crate) trait Subject {
    /// Measures the program with a schedule for each chain; may give up on what is surely slower than `to_beat`.
    fn measure(&mut self, schedules: &[String], to_beat: f64) -> Result<Outcome, Stop>;
    /// Some schedules are the best that are known: of the program that was measured last, or of one that an earlier search has
    /// measured, which is not there.
    fn is_best(&mut self, is_there: bool) -> Result<(), Stop>;
    /// Tells the user.
    fn tell(&mut self, text: &str);
}

/// A search, and what it has found.
pub(crate) struct Search<'a, S: Subject> {
    pub(crate) chains: &'a [Seen],
    pub(crate) subject: S,
    pub(crate) state: State,
    /// What was the best of each in an earlier search.
    pub(crate) earlier: Vec<Option<String>>,
    /// The best schedules, and how many times as fast the program is as it is written.
    pub(crate) best: Vec<String>,
    pub(crate) ratio: f64,
    /// The part that each chain has in that.
    pub(crate) gains: Vec<f64>,
    /// What is known of each chain's schedules, the others being what they were then.
    ranking: Vec<Vec<(f64, String)>>,
    done: usize,
    left: usize,
}

impl<'a, S: Subject> Search<'a, S> {
    pub(crate) fn new(
        chains: &'a [Seen],
        earlier: Vec<Option<String>>,
        subject: S,
        state: State,
    ) -> Self {
        Search {
            chains,
            subject,
            state,
            earlier,
            best: vec![AS_WRITTEN.to_string(); chains.len()],
            ratio: 1.0,
            gains: vec![1.0; chains.len()],
            ranking: vec![Vec::new(); chains.len()],
            done: 0,
            left: chains.iter().map(candidates).sum(),
        }
    }

    /// Searches. Where it ends before its end, what it has found so far counts.
    pub(crate) fn run(&mut self) -> Result<(), Stop> {
        for (chain, schedule) in self.earlier.clone().into_iter().enumerate() {
            if let Some(schedule) = schedule {
                let before = self.ratio;
                let measured = self.measure(chain, &schedule);
                self.gains[chain] *= self.ratio / before;
                measured?;
            }
        }
        for chain in 0..self.chains.len() {
            let before = self.ratio;
            let found = self.one_chain(chain);
            self.gains[chain] *= self.ratio / before;
            found?;
        }
        if self.chains.len() > 1 {
            self.left = AGAIN * self.chains.len();
            for chain in 0..self.chains.len() {
                let mut ranking = std::mem::take(&mut self.ranking[chain]);
                ranking.sort_by(|one, other| other.0.total_cmp(&one.0));
                for (_, schedule) in ranking.into_iter().take(AGAIN) {
                    let before = self.ratio;
                    let measured = self.measure(chain, &schedule);
                    self.gains[chain] *= self.ratio / before;
                    measured?;
                }
            }
        }
        Ok(())
    }

    fn one_chain(&mut self, chain: usize) -> Result<(), Stop> {
        for schedule in plain(&self.chains[chain]) {
            self.measure(chain, &schedule)?;
        }
        let mut best: Option<(f64, Form, Vec<i64>)> = None;
        for form in tiled(&self.chains[chain]) {
            let first = form.first();
            let left = self.left.saturating_sub(SOME_SIZES);
            if let Some(ratio) = self.measure(chain, &form.with(&first))? {
                let mut at = (ratio, first);
                if ratio >= self.ratio * HOPELESS {
                    let all: Vec<_> = (0..form.dimensions()).collect();
                    self.climb(chain, &form, &all, &mut at)?;
                }
                if best.as_ref().is_none_or(|best| best.0 < at.0) {
                    best = Some((at.0, form, at.1));
                }
            }
            self.left = left;
        }
        if let Some((ratio, form, sizes)) = best
            && form.dimensions() > 1
            && ratio >= self.ratio
        {
            let mut at = (ratio, sizes);
            for dimension in 0..form.dimensions() {
                self.climb(chain, &form, &[dimension], &mut at)?;
            }
        }
        Ok(())
    }

    /// Doubles, or else halves, sizes while that helps.
    fn climb(
        &mut self,
        chain: usize,
        form: &Form,
        dimensions: &[usize],
        at: &mut (f64, Vec<i64>),
    ) -> Result<(), Stop> {
        let begins = at.1.clone();
        for double in [true, false] {
            loop {
                let mut sizes = at.1.clone();
                for dimension in dimensions {
                    let size = sizes[*dimension];
                    sizes[*dimension] = if double { size * 2 } else { size / 2 };
                }
                if sizes.iter().any(|size| !SIZES.contains(size)) {
                    break;
                }
                match self.measure(chain, &form.with(&sizes))? {
                    Some(ratio) if ratio > at.0 => *at = (ratio, sizes),
                    _ => break,
                }
            }
            if at.1 != begins {
                break;
            }
        }
        Ok(())
    }

    /// What a schedule of one chain brings, if it is one.
    fn measure(&mut self, chain: usize, schedule: &str) -> Result<Option<f64>, Stop> {
        let mut schedules = self.best.clone();
        schedules[chain] = schedule.to_string();
        self.left = self.left.saturating_sub(1);
        if schedules.iter().all(|one| one == AS_WRITTEN) {
            return Ok(Some(1.0));
        }
        if schedules == self.best {
            return Ok(Some(self.ratio));
        }
        let known = self.state.get(&schedules).cloned();
        let is_known = known.is_some();
        let outcome = match known {
            Some(outcome) => outcome,
            None => {
                let outcome = self.subject.measure(&schedules, self.ratio)?;
                self.state.put(&schedules, outcome.clone())?;
                outcome
            }
        };
        self.done += 1;
        let what = match &outcome {
            Outcome::Ratio(ratio) => format!("{ratio:.2} x"),
            Outcome::Refused(why) => format!("refused: {why}"),
            Outcome::Dropped(why) => format!("dropped: {why}"),
        };
        let mut ratio = None;
        if let Outcome::Ratio(number) = outcome {
            ratio = Some(number);
            self.ranking[chain].push((number, schedule.to_string()));
            if number > self.ratio * BETTER {
                self.best = schedules;
                self.ratio = number;
                self.subject.is_best(!is_known)?;
            }
        }
        self.subject.tell(&format!(
            "{} of some {}, best {:.2} x: {}: {what}{}",
            self.done,
            self.done + self.left,
            self.ratio,
            written(&self.chains[chain], schedule),
            if is_known { " (known)" } else { "" },
        ));
        Ok(ratio)
    }
}

/// A chain and what it runs as.
pub(crate) fn written(chain: &Seen, schedule: &str) -> String {
    match schedule {
        AS_WRITTEN => format!("{} as written", chain.place),
        schedule => format!("{} schedule({schedule})", chain.place),
    }
}

/// How many schedules of a chain are tried, more or less.
fn candidates(chain: &Seen) -> usize {
    plain(chain).len() + tiled(chain).len() * SOME_SIZES
}
