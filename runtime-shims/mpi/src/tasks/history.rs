//! What a thread remembers of tasks: how long they take, and in which regions threads waited for some in vain.
//!
//! Guarantee: what is remembered of barriers all threads of a team remember alike. It depends on how many there were and on
//! what was learned there, and not on where they stand: threads that meet may be at different places of the program.

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
/// After so many barriers of a region at which threads waited for tasks in vain they wait at one in some, and later in fewer.
const DRY: u32 = 64;
const PROBED: u64 = 16;
const VERY_DRY: u32 = 256;
const SELDOM_PROBED: u64 = 128;

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
struct Region {
    barriers: u64,
    /// In how many of those where threads waited there was nothing to wait for, since there was something.
    dry: u32,
}

/// A region, and how many threads the team has.
pub(super) type Team = (usize, i32);

#[derive(Default)]
pub(super) struct History {
    kinds: Vec<Kind>,
    regions: HashMap<Team, Region>,
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

    /// Whether threads wait for tasks at the next barrier of a region.
    pub(super) fn is_tried(&mut self, team: Team) -> bool {
        let region = self.regions.entry(team).or_default();
        region.barriers += 1;
        let probed = match region.dry {
            ..DRY => 1,
            DRY..VERY_DRY => PROBED,
            _ => SELDOM_PROBED,
        };
        region.barriers.is_multiple_of(probed)
    }

    /// Whether anybody had created tasks before such a barrier, since the last one.
    pub(super) fn learn(&mut self, team: Team, some: bool) {
        let region = self.regions.entry(team).or_default();
        region.dry = if some {
            0
        } else {
            region.dry.saturating_add(1)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At how many of so many barriers threads wait, if there never are tasks.
    fn tried(history: &mut History, team: Team, barriers: usize) -> usize {
        let mut tried = 0;
        for _ in 0..barriers {
            if history.is_tried(team) {
                tried += 1;
                history.learn(team, false);
            }
        }
        tried
    }

    #[test]
    fn barriers_of_regions_without_tasks_are_tried_less_often() {
        let mut history = History::default();
        assert_eq!(tried(&mut history, (7, 2), 64), 64);
        assert_eq!(tried(&mut history, (7, 2), 160), 10);
        tried(&mut history, (7, 2), 10_000);
        assert!(tried(&mut history, (7, 2), 12_800) <= 101);
        assert_eq!(tried(&mut history, (7, 3), 10), 10);
        history.learn((7, 2), true);
        assert_eq!(tried(&mut history, (7, 2), 64), 64);
    }

    #[test]
    fn barriers_with_tasks_among_others_are_tried() {
        let mut history = History::default();
        tried(&mut history, (7, 2), 5000);
        let (mut has_created, mut found) = (false, 0);
        for barrier in 0..4000 {
            let has_tasks = barrier % 32 == 21;
            has_created |= has_tasks;
            if history.is_tried((7, 2)) {
                found += usize::from(has_tasks);
                history.learn((7, 2), std::mem::take(&mut has_created));
            }
        }
        assert!(found >= 120, "{found} of 125");
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
