//! What a rank remembers of dynamic loops: in pieces of how many units they are run, and whether chunks moved.
//!
//! Guarantee: all threads of a rank run a loop in the same way, unless others have begun it for one of them, and a loop of
//! which nothing moves is run in whole blocks in most of its executions. In which not is known from their number, so that
//! ranks try again at the same time.

use std::{collections::BTreeMap, time::Duration};

use super::super::share::MOST_UNITS;
use crate::{cell::ProgramCell, scopes};

/// About so long a piece takes, or this part of the time that the loop takes a thread.
const PIECE: Duration = Duration::from_micros(200);
const PIECES: u32 = 64;
/// In a loop that takes a thread less, nothing is worth moving.
const SHORT: Duration = Duration::from_micros(400);
/// What it costs to try is little beside a loop that takes a thread longer.
const LONG: Duration = Duration::from_millis(10);
/// Others are tried at least in one execution of this power of two; short ones, of which each has new declarations then, in
/// fewer.
const MOST_QUIET: u32 = 5;
const MOST_QUIET_IF_SHORT: u32 = 8;
/// So many loops are remembered.
const MOST_RECORDS: usize = 1024;

/// A loop in the program's text: the compiler's description of its place, bounds, increment, and chunk.
pub(crate) type Key = (usize, i128, i128, i128, i128);

/// An execution of a loop, for one of its threads.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    key: Key,
    is_new: bool,
}

impl Loop {
    /// Whether nothing is known of how long its units take.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }
}

/// What a thread, or all of a rank, found out in a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// Units that it ran, and how long.
    pub(super) units: u32,
    pub(super) busy: Duration,
    /// Those of the block that it was dealt.
    pub(super) of_block: u32,
    /// Those that it took from others, and others took from it.
    pub(super) taken: u32,
    pub(super) lost: u32,
    /// How long its declarations took.
    pub(super) declaring: Duration,
    /// From its beginning to its end.
    pub(super) took: Duration,
}

/// A loop that has been run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Record {
    executions: u64,
    /// Units of a piece; 0: not known.
    at_a_time: u32,
    /// The logarithm of the number of executions of which one is tried.
    quiet: u32,
}

impl Record {
    /// Whether the next execution is run in blocks as they are dealt out: nothing moves from this rank or to it.
    fn next(&mut self) -> bool {
        let execution = self.executions;
        self.executions += 1;
        !execution.is_multiple_of(1 << self.quiet)
    }

    /// Learns from what the threads of this rank found out together.
    fn learn(&mut self, outcome: &Outcome) {
        let each = outcome.busy / outcome.units.max(1);
        let moved = outcome.taken + outcome.lost;
        self.quiet = match outcome {
            Outcome { took, .. } if moved == 0 && *took < SHORT => MOST_QUIET_IF_SHORT,
            Outcome { took, .. } if moved == 0 && *took > LONG => 0,
            _ if moved == 0 => (self.quiet + 1).min(MOST_QUIET),
            // Declarations that are new each time take longer than what is waited otherwise.
            Outcome { declaring, .. } if *declaring > each * moved / 2 => MOST_QUIET,
            _ => 0,
        };
        if outcome.units == 0 {
            return;
        }
        let (piece, each) = (piece(outcome.took).as_nanos(), each.as_nanos().max(1));
        let fit = (piece / each).clamp(1, MOST_UNITS.into()) as u32;
        let fit = 1 << fit.ilog2();
        // Pieces that stay the same are declared as they were the last time.
        if self.at_a_time == 0 || fit >= 4 * self.at_a_time || 4 * fit <= self.at_a_time {
            self.at_a_time = fit;
        }
    }
}

/// How long a piece should take of a loop that takes so long.
fn piece(so_far: Duration) -> Duration {
    PIECE.max(so_far / PIECES)
}

/// The size of the next piece of a loop of which nothing is known but how long the last one took, and all so far.
pub(super) fn next_size(units: u32, took: Duration, so_far: Duration) -> u32 {
    match took {
        took if took < piece(so_far) / 2 => (2 * units).min(MOST_UNITS),
        took if took > 2 * piece(so_far) => (units / 2).max(1),
        _ => units,
    }
}

/// A loop that threads of this rank are in.
struct Current {
    number: u32,
    is_whole: bool,
    /// Units of a piece; 0: not known.
    at_a_time: u32,
    /// Threads that have begun it, and that are done.
    begun: u32,
    ended: u32,
    outcome: Outcome,
    threads: u32,
}

struct State {
    records: BTreeMap<Key, Record>,
    current: Vec<Current>,
}

static STATE: ProgramCell<State> = ProgramCell::new(State {
    records: BTreeMap::new(),
    current: Vec::new(),
});

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    scopes::private(|| STATE.with(body))
}

/// On the rank's first thread, before its threads run a region: they are in no loop, whatever became of those of the last
/// one.
pub(crate) fn begin_region() {
    state(|state| state.current.clear());
}

/// A thread, one of `threads` that this rank has in the team, begins the loop with this number in its region. Whether it
/// runs its block whole, and in pieces of how many units otherwise.
pub(super) fn begin(number: u32, key: Key, threads: u32) -> (Loop, bool, u32) {
    state(|state| {
        let at = state.current.iter().position(|one| one.number == number);
        let at = at.unwrap_or_else(|| {
            if state.records.len() >= MOST_RECORDS {
                state.records.clear();
            }
            let record = state.records.entry(key).or_default();
            state.current.push(Current {
                number,
                is_whole: record.next(),
                at_a_time: record.at_a_time,
                begun: 0,
                ended: 0,
                outcome: Outcome::default(),
                threads,
            });
            state.current.len() - 1
        });
        let current = &mut state.current[at];
        current.begun += 1;
        let (is_whole, at_a_time) = (current.is_whole, current.at_a_time);
        if is_whole && current.begun == current.threads {
            state.current.swap_remove(at);
        }
        let is_new = at_a_time == 0;
        (Loop { key, is_new }, is_whole, at_a_time.max(1))
    })
}

/// A thread is done with a loop that it did not run whole.
pub(super) fn end(number: u32, this: &Loop, outcome: &Outcome) {
    state(|state| {
        let Some(at) = state.current.iter().position(|one| one.number == number) else {
            return;
        };
        let current = &mut state.current[at];
        current.ended += 1;
        let all = &mut current.outcome;
        all.units += outcome.units;
        all.busy += outcome.busy;
        all.taken += outcome.taken;
        all.lost += outcome.lost;
        all.declaring += outcome.declaring;
        all.took = all.took.max(outcome.took);
        if current.ended == current.threads {
            let current = state.current.swap_remove(at);
            let record = state.records.entry(this.key).or_default();
            record.learn(&current.outcome);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(units: u32, each: Duration) -> Outcome {
        Outcome {
            units,
            busy: each * units,
            took: each * units,
            ..Outcome::default()
        }
    }

    /// In which of the first `executions` chunks may move, where nothing does.
    fn tried(executions: usize, outcome: &Outcome) -> Vec<usize> {
        let mut record = Record::default();
        let mut tried = Vec::new();
        for execution in 0..executions {
            if !record.next() {
                tried.push(execution);
                record.learn(outcome);
            }
        }
        tried
    }

    #[test]
    fn loops_of_which_nothing_moves_are_tried_less_often() {
        let short = outcome(10, Duration::from_micros(3));
        assert_eq!(tried(600, &short), [0, 256, 512]);
        let usual = outcome(10, Duration::from_micros(300));
        assert_eq!(tried(100, &usual), [0, 2, 4, 8, 16, 32, 64, 96]);
        let long = outcome(10, Duration::from_millis(30));
        assert_eq!(tried(4, &long), [0, 1, 2, 3]);
    }

    #[test]
    fn loops_of_which_something_moves_are_tried_again_at_once() {
        let quiet = outcome(10, Duration::from_micros(300));
        let mut record = Record::default();
        for _ in 0..5 {
            record.next();
            record.learn(&quiet);
        }
        assert!(record.quiet > 0);
        for moved in [Outcome { taken: 1, ..quiet }, Outcome { lost: 2, ..quiet }] {
            record.quiet = 3;
            record.learn(&moved);
            assert_eq!(record.quiet, 0);
            assert!(!record.next());
        }
    }

    #[test]
    fn loops_whose_declarations_cost_more_than_moving_saves_are_tried_seldom() {
        let moved = Outcome {
            taken: 4,
            ..outcome(10, Duration::from_micros(300))
        };
        for (declaring, quiet) in [(500, 0), (700, MOST_QUIET)] {
            let mut record = Record::default();
            record.learn(&Outcome {
                declaring: Duration::from_micros(declaring),
                ..moved
            });
            assert_eq!(record.quiet, quiet);
        }
    }

    #[test]
    fn pieces_stay_the_same_while_they_nearly_fit() {
        let mut record = Record::default();
        let learned = |record: &mut Record, each| {
            record.learn(&outcome(100, Duration::from_micros(each)));
            record.at_a_time
        };
        assert_eq!(learned(&mut record, 10), 16);
        assert_eq!(learned(&mut record, 6), 16);
        assert_eq!(learned(&mut record, 20), 16);
        assert_eq!(learned(&mut record, 1), 128);
        assert_eq!(learned(&mut record, 500), 1);
        let soon = Duration::from_millis(3);
        assert_eq!(next_size(4, Duration::from_micros(10), soon), 8);
        assert_eq!(next_size(4, Duration::from_micros(150), soon), 4);
        assert_eq!(next_size(4, Duration::from_millis(1), soon), 2);
        assert_eq!(next_size(1, Duration::from_millis(1), soon), 1);
        assert_eq!(next_size(4, Duration::from_millis(1), 100 * soon), 8);
    }
}
