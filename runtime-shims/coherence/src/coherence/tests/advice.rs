//! Regions that learn at a synchronisation that they had better declare otherwise, or nothing.

use super::{
    nests::{nest, random_nests, section, steps},
    *,
};
use crate::coherence::declared::Mode;

const DECLARED: Accesses = Accesses::Declared {
    direct: Vec::new(),
    contributions: false,
};

impl Job {
    /// How often the ranks have got advice, when they have done what they can; all have got the same.
    fn advised(&self) -> usize {
        let advised = &self.cluster().advised;
        assert!(advised.iter().all(|one| *one == advised[0]), "{advised:?}");
        advised[0]
    }

    /// Whether the region that runs tells nothing any more.
    fn has_stopped(&self) -> bool {
        let stopped = &self.cluster().has_stopped;
        assert!(stopped.iter().all(|one| *one == stopped[0]), "{stopped:?}");
        stopped[0]
    }

    fn check_all(&mut self) {
        for page in 0..self.used {
            for offset in (0..PAGE).step_by(61) {
                self.check(0, page, offset, "at the end");
            }
        }
    }
}

/// Executes a region whose ranks access sections that lie apart, now and then, and heeds what it is told.
fn advised_region(seed: u64, ranks: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % ranks;
    let mut accesses = DECLARED;
    for _ in 0..8 {
        serial(&mut job, &mut random);
        let before = job.advised();
        job.enter_region(&accesses);
        let mut is_apart = false;
        if accesses == DECLARED {
            for index in 0..1 + random.below(4) {
                if index != 0 {
                    job.barrier();
                }
                if random.chance(20) {
                    is_apart = true;
                    let which = random.below(ranks);
                    job.ranks
                        .each(move |rank, node| node.side.is_apart |= rank == which);
                }
                let nests = random_nests(&job, ranks, &mut random);
                for (rank, nest, part) in steps(&nests, &mut random) {
                    job.run_part(rank, &nests[nest].1, part, &mut random);
                }
            }
        } else {
            let pages = some_pages(&job, &mut random);
            interval(&mut job, &mut random, &pages, true, false);
            job.barrier();
            job.begin_next_interval();
            interval(&mut job, &mut random, &pages, true, false);
        }
        job.leave_region();
        let is_advised = job.advised() > before;
        assert!(is_advised || !is_apart, "nobody was told");
        accesses = match is_advised {
            true => Accesses::Tracked { atomics: false },
            false => DECLARED,
        };
    }
    job.check_all();
}

#[test]
fn what_a_region_is_advised_holds_from_its_next_execution_on() {
    for seed in 1..20 {
        for ranks in 2..=4 {
            advised_region(seed, ranks);
        }
    }
}

/// Ever new small pieces: from some synchronisation on the region tells nothing; it is another one the next time.
#[test]
fn a_region_that_deals_out_pieces_stops_in_the_middle() {
    for (ranks, per_node) in [(2, 1), (2, 2)] {
        let mut random = Random(11);
        let mut job = Job::new(ranks, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        serial(&mut job, &mut random);
        job.enter_region(&DECLARED);
        let mut turn = 0;
        while job.advised() == 0 {
            assert!(turn < 500, "it is never too much");
            for rank in 0..ranks {
                // Each piece is another rank's neighbour, and was another rank's.
                let start = PAGE + (rank + turn) % ranks + ranks * turn;
                let pieces = 8 * PAGE / ranks - turn;
                let dealt = section(Mode::Write, start, 1, &[(ranks, pieces)]);
                job.run(rank, &nest(vec![dealt]), &mut random);
            }
            job.barrier();
            turn += 1;
        }
        assert!(job.has_stopped());
        let pages = [1, 2, 3, 4];
        for _ in 0..3 {
            interval(&mut job, &mut random, &pages, true, true);
            job.barrier();
            job.begin_next_interval();
        }
        job.leave_region();
        serial(&mut job, &mut random);
        job.enter_region(&Accesses::Tracked { atomics: false });
        interval(&mut job, &mut random, &pages, true, false);
        job.leave_region();
        job.check_all();
        job.end();
    }
}

/// Also where nothing else is new, so that only a summary goes round.
#[test]
fn sections_that_lie_apart_are_news() {
    for per_node in [1, 3] {
        let mut random = Random(5);
        let mut job = Job::new(3, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        job.fork(&[]);
        job.enter_region(&DECLARED);
        for turn in 0..20 {
            for rank in 0..3 {
                let own = section(Mode::Write, PAGE + 200 * rank, 200, &[]);
                job.run(rank, &nest(vec![own]), &mut random);
            }
            if turn == 18 {
                job.ranks.each(|rank, node| node.side.is_apart = rank == 1);
            }
            job.barrier();
            assert_eq!(job.advised(), usize::from(turn >= 18));
        }
        job.leave_region();
        job.end();
    }
}
