//! What a thread remembers of tasks: how long they take, and at which barriers threads waited for some in vain.
//!
//! Guarantee: what is remembered of barriers all threads of a team remember alike.

use std::collections::HashMap;

/// Tasks around one from which on it is not asked how many there are.
const DEEPEST: u32 = 31;
/// So many kinds of tasks are remembered: others take the places of some.
const KINDS: usize = 1 << 10;
/// After so many runs it is known what a task takes.
const ENOUGH: u32 = 4;
/// After so many runs one in some is timed.
const MANY: u32 = 64;
const SOME: u32 = 16;
/// Barriers at which threads waited for tasks in vain are tried in one execution of this power of two.
const MOST_QUIET: u32 = 7;

/// What tasks of a kind take: the compiled code, at a depth.
#[derive(Clone, Copy, Default)]
struct Kind {
    routine: usize,
    depth: u32,
    runs: u32,
    /// Runs that were timed, and what each took in nanoseconds.
    timed: u32,
    each: u64,
}

#[derive(Clone, Copy, Default)]
struct Barrier {
    executions: u64,
    quiet: u32,
}

/// A barrier: its place in the program, and how many threads the team has.
pub(super) type Meeting = (usize, i32);

#[derive(Default)]
pub(super) struct History {
    kinds: Vec<Kind>,
    barriers: HashMap<Meeting, Barrier>,
}

impl History {
    fn kind(&mut self, routine: usize, depth: u32) -> &mut Kind {
        let depth = depth.min(DEEPEST);
        if self.kinds.is_empty() {
            self.kinds = vec![Kind::default(); KINDS];
        }
        let at = (routine >> 4) ^ (routine >> 13) ^ (depth as usize * 73);
        let kind = &mut self.kinds[at % KINDS];
        if (kind.routine, kind.depth) != (routine, depth) {
            *kind = Kind {
                routine,
                depth,
                ..Kind::default()
            };
        }
        kind
    }

    /// A task of this code, inside so many others, begins. Whether it is timed.
    pub(super) fn begin(&mut self, routine: usize, depth: u32) -> bool {
        let kind = self.kind(routine, depth);
        kind.runs = kind.runs.wrapping_add(1);
        kind.runs < MANY || kind.runs.is_multiple_of(SOME)
    }

    /// It took so many nanoseconds.
    pub(super) fn note(&mut self, routine: usize, depth: u32, took: u64) {
        const MOST_WEIGHT: u32 = 16;
        let kind = self.kind(routine, depth);
        kind.timed = kind.timed.saturating_add(1);
        let weight = u64::from(kind.timed.min(MOST_WEIGHT));
        kind.each = (kind.each * (weight - 1) + took) / weight;
    }

    /// What such a task takes, in microseconds.
    #[inline]
    pub(super) fn takes(&mut self, routine: usize, depth: u32) -> Option<u32> {
        let kind = self.kind(routine, depth);
        (kind.timed >= ENOUGH).then(|| u32::try_from(kind.each / 1000).unwrap_or(u32::MAX))
    }

    /// Whether threads wait for tasks in the next execution of a barrier.
    pub(super) fn is_tried(&mut self, meeting: Meeting) -> bool {
        let barrier = self.barriers.entry(meeting).or_default();
        barrier.executions += 1;
        (barrier.executions - 1).is_multiple_of(1 << barrier.quiet)
    }

    /// Whether anybody had created tasks before an execution of a barrier that was tried.
    pub(super) fn learn(&mut self, meeting: Meeting, some: bool) {
        let barrier = self.barriers.entry(meeting).or_default();
        barrier.quiet = match some {
            true => 0,
            false => (barrier.quiet + 1).min(MOST_QUIET),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_without_tasks_are_tried_less_often() {
        let mut history = History::default();
        let mut tried = Vec::new();
        for execution in 0..260 {
            if history.is_tried((7, 2)) {
                tried.push(execution);
                history.learn((7, 2), false);
            }
        }
        assert_eq!(tried, [0, 2, 4, 8, 16, 32, 64, 128, 256]);
        assert!(history.is_tried((7, 3)));
        history.learn((7, 2), true);
        assert!((0..5).all(|_| history.is_tried((7, 2))));
    }

    #[test]
    fn what_a_task_takes_is_known_after_some_runs() {
        let mut history = History::default();
        for run in 0..100 {
            assert_eq!(history.takes(1, 2).is_some(), run >= ENOUGH);
            history.note(1, 2, 700_000);
        }
        assert_eq!(history.takes(1, 2), Some(700));
        assert_eq!((history.takes(1, 3), history.takes(2, 2)), (None, None));
        (0..200).for_each(|_| history.note(1, 2, 100_000));
        assert!(history.takes(1, 2).is_some_and(|takes| takes < 110));
        let timed = (0..1600).filter(|_| history.begin(5, 0)).count();
        assert!((150..200).contains(&timed));
    }
}
