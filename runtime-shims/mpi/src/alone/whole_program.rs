//! Whether rank 0 runs all regions by itself that it can, on threads of its own, because page faults and what they move cost
//! more than the ranks save.
//!
//! Guarantee: to try the other place takes a small part of the program's time, however it turns out. What counts is all
//! regions together, and what serial code waits for: memory that one of them brings to a rank, others bring back, so that
//! none of them alone can tell. Without page faults nothing is decided here: where ranks wait for each other, the
//! machine may have been busy with something else.

use std::{collections::HashMap, time::Duration};

use super::{FIRST, MOST_FAILED, Place, SHARE};

/// So much is looked at together.
const SAMPLE: u32 = 16;
const SAMPLE_TOOK: Duration = Duration::from_millis(20);
/// Faults that take less than one part in so many of what the ranks compute are none.
const FEW_FAULTS: u32 = 8;
/// After so many regions alone it is seen whether memory has become short.
const LOOK: u32 = 256;

/// What an execution on the ranks cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// What rank 0's share took of its body.
    pub body: Duration,
    /// From the fork to the join.
    pub whole: Duration,
    /// Faults of rank 0, those of the serial code before included.
    pub faults: Duration,
    /// The part of them in serial code.
    pub serial: Duration,
}

/// See the module's text.
#[derive(Debug, Default)]
pub(super) struct WholeProgram {
    place: Place,
    /// Executions on the ranks since regions are there, by the address of the region's descriptor.
    executions: HashMap<usize, u32>,
    number: u32,
    sum: Cost,
    /// All that regions have taken since they are where they are, and that was found out to be better.
    took: Duration,
    /// So long they stay alone.
    rest: Duration,
    failed: u32,
}

impl WholeProgram {
    pub(super) fn is_alone(&self) -> bool {
        self.place == Place::Alone
    }

    /// A region was run on the ranks, which are on so many machines. All memory may be on rank 0 if that `has_room`.
    pub(super) fn learn_on_ranks(
        &mut self,
        region: usize,
        machines: u32,
        cost: Cost,
        has_room: impl FnOnce() -> bool,
    ) {
        if self.place == Place::Alone {
            return;
        }
        self.took += cost.whole + cost.serial;
        let executions = self.executions.entry(region).or_default();
        *executions += 1;
        if *executions <= FIRST {
            return;
        }
        self.number += 1;
        self.sum.body += cost.body;
        self.sum.whole += cost.whole + cost.serial;
        self.sum.faults += cost.faults;
        if self.number < SAMPLE || self.sum.whole < SAMPLE_TOOK {
            return;
        }
        let sum = std::mem::take(&mut self.sum);
        self.number = 0;
        // By itself rank 0 takes about so long.
        let alone = sum.body * machines;
        let is_slow = sum.faults * FEW_FAULTS > sum.body && sum.whole > alone + alone / 4;
        if is_slow && has_room() {
            self.failed = (self.failed + 1).min(MOST_FAILED);
            self.rest = SHARE * self.took * (1 << (self.failed - 1));
            self.go_to(Place::Alone);
        } else {
            self.failed = 0;
            self.took = Duration::ZERO;
        }
    }

    /// Rank 0 has run a region by itself. What it has written stays with it, so that it is to stop while it `has_room`.
    pub(super) fn learn_alone(&mut self, took: Duration, has_room: impl FnOnce() -> bool) {
        if self.place == Place::Alone {
            self.took += took;
            self.number += 1;
            let is_short = self.number.is_multiple_of(LOOK) && !has_room();
            if self.took >= self.rest || is_short {
                self.go_to(Place::Ranks);
            }
        }
    }

    fn go_to(&mut self, place: Place) {
        self.place = place;
        self.took = Duration::ZERO;
        self.executions = HashMap::new();
        self.number = 0;
        self.sum = Cost::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Runs a program whose regions take a thread `body`, and the ranks `faults` and `waiting` besides. The number of those
    /// that rank 0 ran, and all that it took.
    fn run(
        program: &mut WholeProgram,
        times: usize,
        machines: u32,
        [body, faults, waiting]: [u64; 3],
    ) -> (usize, Duration) {
        let (mut alone, mut took) = (0, Duration::ZERO);
        for execution in 0..times {
            if program.is_alone() {
                alone += 1;
                program.learn_alone(micros(body) * machines, || true);
                took += micros(body) * machines;
            } else {
                let cost = Cost {
                    body: micros(body),
                    whole: micros(body + faults + waiting),
                    faults: micros(faults),
                    serial: Duration::ZERO,
                };
                program.learn_on_ranks(execution % 5, machines, cost, || true);
                took += cost.whole;
            }
        }
        (alone, took)
    }

    #[test]
    fn a_program_that_moves_more_than_it_computes_runs_alone() {
        for machines in [1, 2] {
            let mut program = WholeProgram::default();
            let (alone, took) = run(&mut program, 10_000, machines, [500, 3_000, 500]);
            assert!(alone > 9_800, "{alone}");
            assert!(took < micros(500) * machines * 10_000 * 6 / 5);
        }
    }

    #[test]
    fn others_do_not() {
        // Few faults on a busy machine; and faults that cost less than one machine more saves.
        for (machines, costs) in [
            (1, [500, 20, 4_000]),
            (2, [500, 300, 100]),
            (1, [500, 70, 0]),
        ] {
            let (alone, _) = run(&mut WholeProgram::default(), 10_000, machines, costs);
            assert_eq!(alone, 0, "{costs:?}");
        }
    }

    #[test]
    fn what_does_not_fit_stays_on_the_ranks() {
        let mut program = WholeProgram::default();
        let cost = Cost {
            body: micros(500),
            whole: micros(4_000),
            faults: micros(3_000),
            serial: Duration::ZERO,
        };
        for execution in 0..1_000 {
            program.learn_on_ranks(execution % 5, 1, cost, || false);
        }
        assert!(!program.is_alone());
    }

    #[test]
    fn where_memory_becomes_short_the_ranks_go_on() {
        let mut program = WholeProgram::default();
        run(&mut program, 1_000, 1, [500, 3_000, 500]);
        assert!(program.is_alone());
        let mut alone = 0;
        while program.is_alone() {
            program.learn_alone(micros(500), || false);
            alone += 1;
        }
        assert!(alone <= LOOK, "{alone}");
    }

    /// Each region brings memory to the ranks when it first runs there.
    #[test]
    fn first_faults_do_not_count() {
        let mut program = WholeProgram::default();
        for execution in 0..1_000 {
            let faults = micros(if execution < 20 { 50_000 } else { 5 });
            let cost = Cost {
                body: micros(500),
                whole: micros(500) + faults,
                faults,
                serial: Duration::ZERO,
            };
            program.learn_on_ranks(execution % 5, 1, cost, || true);
        }
        assert!(!program.is_alone());
    }

    #[test]
    fn a_program_that_changes_goes_back() {
        let mut program = WholeProgram::default();
        run(&mut program, 1_000, 1, [500, 3_000, 500]);
        assert!(program.is_alone());
        let (alone, _) = run(&mut program, 100_000, 1, [500, 5, 5]);
        assert!(alone < 50_000, "{alone}");
        assert!(!program.is_alone());
    }

    #[test]
    fn trials_take_little() {
        let mut program = WholeProgram::default();
        let (alone, took) = run(&mut program, 200_000, 1, [500, 3_000, 500]);
        assert!(alone < 200_000 - 40, "it is tried");
        assert!(took < micros(500) * 200_000 * 21 / 20, "{took:?}");
    }
}
