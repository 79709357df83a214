//! Which is the fastest of several candidates: the code as it was compiled ahead of time, and what was made of it. The one that
//! leads and a new one run in turns for a while, on calls of the program's.
//!
//! Only calls of the same length are compared, as far as that is known: those in which also the values are the same that are not
//! put in. The candidate with the shortest call goes on. Where such calls do not come back, many calls are compared: the candidate
//! goes on whose calls are shorter in the geometric mean.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use crate::lock::Lock;

/// Calls of each.
const CALLS: u32 = 12;

/// Of each, where they may differ in length.
const MANY: u32 = 4 * CALLS;

/// So many calls of other lengths are waited for one of the same.
const PATIENCE: u32 = 2 * CALLS;

/// What leads may seem to be so much faster by chance.
const NOISE: f64 = 1.01;

/// The code as it was compiled ahead of time.
pub(crate) const COMPILED: u8 = 0;

/// What runs in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// [`COMPILED`], or the number of what was made, from 1.
    pub(crate) candidate: u8,
    /// What tells lengths apart, where times are compared.
    class: Option<u32>,
}

impl Turn {
    /// Where nothing is compared.
    pub(crate) fn of(candidate: u8) -> Self {
        Self {
            candidate,
            class: None,
        }
    }

    /// Whether it is still to be found out what is faster.
    pub fn is_compared(self) -> bool {
        self.class.is_some()
    }

    /// As one number.
    pub fn to_bits(self) -> i64 {
        let class = self
            .class
            .map_or(0, |class| i64::from(class) << 16 | 1 << 8);
        class | i64::from(self.candidate)
    }

    /// From such a number.
    pub fn from_bits(bits: i64) -> Self {
        Self {
            candidate: bits as u8,
            class: (bits >> 8 & 1 != 0).then_some((bits >> 16) as u32),
        }
    }
}

/// What a run has found: advice for later ones, whose calls may be of other lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The fastest candidate of those that were compared.
    pub(crate) fastest: u8,
    /// So many of what was made were compared, from the first one on.
    pub(crate) compared: u8,
}

impl Verdict {
    /// What the machine had to do besides may have decided: it is found out anew then.
    const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

    /// As bytes, with the time.
    pub(crate) fn write(self, now: SystemTime) -> Vec<u8> {
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |one| one.as_secs()).to_le_bytes();
        [&seconds[..], &[self.fastest, self.compared]].concat()
    }

    /// Of such bytes; none where they are something else, or old.
    pub(crate) fn read(bytes: &[u8], now: SystemTime) -> Option<Self> {
        let (seconds, rest) = bytes.split_first_chunk()?;
        let &[fastest, compared] = rest else {
            return None;
        };
        let seconds = Duration::from_secs(u64::from_le_bytes(*seconds));
        let then = SystemTime::UNIX_EPOCH.checked_add(seconds)?;
        let is_new = now.duration_since(then).is_ok_and(|age| age < Self::KEPT);
        (is_new && fastest <= compared).then_some(Self { fastest, compared })
    }
}

/// What is known of the times of the versions of some code for some values.
pub(crate) struct Trial {
    /// The candidate that runs, and whether another one is compared with it: [`COMPARES`].
    leads: AtomicU8,
    duel: Lock<Duel>,
}

const COMPARES: u8 = 1 << 7;

struct Duel {
    challenger: u8,
    /// Of the calls that are compared; none where all are.
    class: Option<u32>,
    /// Calls of other classes since one of this.
    others: u32,
    begun: u32,
    /// Of the one that leads, and of the other.
    times: [Times; 2],
}

#[derive(Clone, Copy)]
struct Times {
    calls: u32,
    shortest: f64,
    /// The sum of the logarithms.
    logarithms: f64,
}

const NO_TIMES: Times = Times {
    calls: 0,
    shortest: f64::INFINITY,
    logarithms: 0.0,
};

impl Trial {
    pub(crate) fn new() -> Self {
        let duel = Duel {
            challenger: COMPILED,
            class: Some(0),
            others: 0,
            begun: 0,
            times: [NO_TIMES; 2],
        };
        Self {
            leads: AtomicU8::new(COMPILED),
            duel: Lock::new(duel),
        }
    }

    /// There is another candidate. No other one is being compared.
    pub(crate) fn begin(&self, challenger: u8) {
        if let Some(mut duel) = self.duel.hold() {
            *duel = Duel {
                challenger,
                class: Some(0),
                others: 0,
                begun: 0,
                times: [NO_TIMES; 2],
            };
            self.leads.fetch_or(COMPARES, Relaxed);
        }
    }

    /// What runs next, in a call whose length is told apart by `class`.
    pub(crate) fn next(&self, class: u32) -> Turn {
        let leads = self.leads.load(Relaxed);
        if leads & COMPARES == 0 {
            return Turn::of(leads);
        }
        let leads = leads & !COMPARES;
        let Some(mut duel) = self.duel.hold() else {
            return Turn::of(COMPILED);
        };
        if duel.class.is_some_and(|one| one != class) {
            duel.others += 1;
            if duel.begun == 0 {
                duel.class = Some(class);
            } else if duel.others > PATIENCE {
                (duel.class, duel.begun, duel.times) = (None, 0, [NO_TIMES; 2]);
            } else {
                return Turn::of(leads);
            }
        }
        duel.others = 0;
        // One of two calls, in an order that no program follows: work may differ from one call to the next.
        let of_challenger = duel.begun.count_ones().is_multiple_of(2);
        duel.begun += 1;
        Turn {
            candidate: if of_challenger {
                duel.challenger
            } else {
                leads
            },
            class: Some(duel.class.unwrap_or(class)),
        }
    }

    /// A call took so long for each element. True where there is a verdict now.
    pub(crate) fn took(&self, turn: Turn, seconds: f64) -> bool {
        let Some(class) = turn.class else {
            return false;
        };
        let Some(mut duel) = self.duel.hold() else {
            return false;
        };
        let leads = self.leads.load(Relaxed);
        if leads & COMPARES == 0 || duel.class.is_some_and(|one| one != class) {
            return false;
        }
        let leads = leads & !COMPARES;
        let which = [leads, duel.challenger];
        let Some(which) = which.iter().position(|one| *one == turn.candidate) else {
            return false;
        };
        let times = &mut duel.times[which];
        times.calls += 1;
        times.shortest = times.shortest.min(seconds);
        times.logarithms += seconds.max(1e-12).ln();
        let enough = if duel.class.is_some() { CALLS } else { MANY };
        if duel.times.iter().any(|one| one.calls < enough) {
            return false;
        }
        let [before, new] = match duel.class {
            Some(_) => duel.times.map(|one| one.shortest),
            None => duel
                .times
                .map(|one| (one.logarithms / f64::from(one.calls)).exp()),
        };
        // What was made first is for this processor; what is made then has to be better.
        let noise = if leads == COMPILED {
            NOISE
        } else {
            1.0 / NOISE
        };
        let winner = if new <= before * noise {
            duel.challenger
        } else {
            leads
        };
        self.leads.store(winner, Relaxed);
        true
    }

    /// The fastest one so far.
    pub(crate) fn fastest(&self) -> u8 {
        self.leads.load(Relaxed) & !COMPARES
    }

    /// Whether something is being compared.
    pub(crate) fn compares(&self) -> bool {
        self.leads.load(Relaxed) & COMPARES != 0
    }

    /// What is faster than a candidate that was compared, if anything is.
    pub(crate) fn verdict_on(&self, candidate: u8) -> Option<Option<u8>> {
        let duel = self.duel.hold()?;
        let leads = self.leads.load(Relaxed);
        let is_open = leads & COMPARES != 0 && duel.challenger == candidate;
        let was_compared = !is_open && candidate <= duel.challenger;
        let leads = leads & !COMPARES;
        was_compared.then_some((leads != candidate).then_some(leads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which candidates run in so many calls, whose lengths are these, if `times` are those of the candidates.
    fn calls(trial: &Trial, times: &[f64], lengths: impl Iterator<Item = (u32, f64)>) -> Vec<u8> {
        let calls = lengths.map(|(class, length)| {
            let turn = Turn::from_bits(trial.next(class).to_bits());
            trial.took(turn, length * times[usize::from(turn.candidate)]);
            turn.candidate
        });
        calls.collect()
    }

    fn same(count: u32) -> impl Iterator<Item = (u32, f64)> {
        (0..count).map(|_| (0, 1.0))
    }

    #[test]
    fn the_fastest_one_goes_on() {
        let cases = [
            ([2.0, 1.0, 3.0], [1, 1]),
            ([1.0, 2.0, 3.0], [0, 0]),
            ([1.0, 1.0, 1.0], [1, 1]),
            ([1.0, 2.0, 0.5], [0, 2]),
            ([2.0, 1.0, 0.5], [1, 2]),
        ];
        for (times, winners) in cases {
            let trial = Trial::new();
            assert_eq!(calls(&trial, &times, same(3)), [COMPILED; 3]);
            for (challenger, winner) in [1, 2].into_iter().zip(winners) {
                let before = trial.leads.load(Relaxed);
                trial.begin(challenger);
                let all = calls(&trial, &times, same(2 * CALLS + 4));
                let (first, rest) = all.split_at(2 * CALLS as usize);
                let of = |which| first.iter().filter(|one| **one == which).count() as u32;
                assert_eq!((of(before), of(challenger)), (CALLS, CALLS));
                assert!(rest.iter().all(|one| *one == winner), "{times:?} {all:?}");
                assert!(!trial.compares());
            }
        }
    }

    #[test]
    fn calls_of_different_lengths_are_not_compared() {
        // Each length comes back now and then: whatever happens to run the short calls does not win by that.
        for times in [[1.0, 2.0], [2.0, 1.0]] {
            let trial = Trial::new();
            trial.begin(1);
            let lengths = (0..400u32).map(|n| (n * n % 7, f64::from(1 + n * n % 7)));
            let all = calls(&trial, &times, lengths);
            let winner = u8::from(times[1] < times[0]);
            assert!(!trial.compares());
            assert!(all[300..].iter().all(|one| *one == winner), "{times:?}");
        }
        // None comes back.
        for times in [[1.0, 1.5], [1.5, 1.0]] {
            for grows in [true, false] {
                let trial = Trial::new();
                trial.begin(1);
                let length = |n: u32| f64::from(if grows { n + 1 } else { 400 - n });
                let all = calls(&trial, &times, (0..400).map(|n| (n + 1, length(n))));
                let winner = u8::from(times[1] < times[0]);
                assert!(!trial.compares());
                assert!(all[300..].iter().all(|one| *one == winner), "{times:?}");
            }
        }
    }

    #[test]
    fn a_verdict_is_read_while_it_is_new() {
        let verdict = Verdict {
            fastest: 1,
            compared: 3,
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        let bytes = verdict.write(now);
        assert_eq!(Verdict::read(&bytes, now), Some(verdict));
        let later = now + Verdict::KEPT;
        assert_eq!(
            Verdict::read(&bytes, later - Duration::from_secs(1)),
            Some(verdict)
        );
        assert_eq!(Verdict::read(&bytes, later), None);
        // The clock was set back.
        assert_eq!(Verdict::read(&bytes, now - Duration::from_secs(9)), None);
        for length in 0..bytes.len() {
            assert_eq!(Verdict::read(&bytes[..length], now), None);
        }
        let none = Verdict {
            fastest: 2,
            compared: 1,
        };
        assert_eq!(Verdict::read(&none.write(now), now), None);
        assert_eq!(Verdict::read(&[0xff; 10], now), None);
    }

    #[test]
    fn a_turn_is_a_number() {
        for (candidate, class) in [(0, None), (3, None), (2, Some(0)), (1, Some(u32::MAX))] {
            let turn = Turn { candidate, class };
            assert_eq!(Turn::from_bits(turn.to_bits()), turn);
        }
    }
}
