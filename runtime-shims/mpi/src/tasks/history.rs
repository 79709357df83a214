//! What a thread remembers of tasks: how long they take, and at which barriers threads waited for some in vain.
//!
//! Guarantee: what is remembered of barriers all threads of a team remember alike.

use std::collections::HashMap;

/// Tasks around one from which on it is not asked how many there are.
const DEEPEST: u32 = 31;
/// So many kinds of tasks, or barriers, are remembered.
const MOST: usize = 4096;
/// After so many runs it is known what a task takes.
const ENOUGH: u32 = 4;
/// Barriers at which threads waited for tasks in vain are tried in one execution of this power of two.
const MOST_QUIET: u32 = 6;

/// What tasks of a kind take: the compiled code, at a depth.
#[derive(Clone, Copy, Default)]
struct Kind {
    runs: u32,
    /// In nanoseconds.
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
    kinds: HashMap<(usize, u32), Kind>,
    barriers: HashMap<Meeting, Barrier>,
}

impl History {
    /// A task of this code, inside so many others, took so many nanoseconds.
    pub(super) fn note(&mut self, routine: usize, depth: u32, took: u64) {
        if self.kinds.len() >= MOST {
            self.kinds.clear();
        }
        let kind = self
            .kinds
            .entry((routine, depth.min(DEEPEST)))
            .or_default();
        kind.runs = kind.runs.saturating_add(1);
        kind.each = match kind.runs {
            1 => took,
            runs => {
                let weight = u64::from(runs.min(16));
                (kind.each * (weight - 1) + took) / weight
            }
        };
    }

    /// What such a task takes, in microseconds.
    pub(super) fn takes(&self, routine: usize, depth: u32) -> Option<u32> {
        let kind = self.kinds.get(&(routine, depth.min(DEEPEST)))?;
        (kind.runs >= ENOUGH).then(|| u32::try_from(kind.each / 1000).unwrap_or(u32::MAX))
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
        for execution in 0..140 {
            if history.is_tried((7, 2)) {
                tried.push(execution);
                history.learn((7, 2), false);
            }
        }
        assert_eq!(tried, [0, 2, 4, 8, 16, 32, 64, 128]);
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
    }
}
