//! What owners send before they are asked, and what is passed on: it changes nothing that ranks see.

use super::{
    nests::{Nest, Words, nest, positions, random_nests, section, steps},
    *,
};
use crate::coherence::declared::{Accesses, Mode};

#[derive(Default)]
struct Seen {
    /// How many bytes were pushed, and taken.
    pushed: usize,
    taken: usize,
    /// How many messages passed on, and how many bytes pushed within a node.
    relayed: usize,
    near: usize,
    /// How many messages went through the tree, and how many synchronisations were all-gathers.
    in_tree: usize,
    gathers: usize,
    /// How far a rank fell behind another one.
    behind: usize,
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.pushed += other.pushed;
        self.taken += other.taken;
        self.relayed += other.relayed;
        self.near += other.near;
        self.in_tree += other.in_tree;
        self.gathers += other.gathers;
        self.behind = self.behind.max(other.behind);
    }
}

/// A program of regions and serial code that does nearly the same again and again, on several nodes.
fn repeated_program(seed: u64, ranks: usize, surprises: usize) -> Seen {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % 2 * (ranks - 2).min(1);
    job.announces = !seed.is_multiple_of(3);
    let with_contributions = random.chance(50);
    let nests_of = |job: &Job, random: &mut Random| {
        let mut nests = random_nests(job, ranks, random);
        if with_contributions {
            nests.iter_mut().for_each(|(_, nest)| nest.keep_nothing());
        }
        nests
    };
    let regions: Vec<Vec<Vec<(usize, Nest)>>> = (0..1 + random.below(3))
        .map(|_| {
            (0..1 + random.below(3))
                .map(|_| nests_of(&job, &mut random))
                .collect()
        })
        .collect();
    // What serial code accesses each time.
    let places: Vec<Vec<(Page, usize, bool)>> = regions
        .iter()
        .map(|_| {
            (0..random.below(6))
                .map(|_| {
                    let page = random.below(job.used as usize) as Page;
                    (page, random.below(PAGE), random.chance(50))
                })
                .collect()
        })
        .collect();
    // What ranks contribute to in each interval: mostly what others read in the next one.
    let mut contributions: Vec<Vec<(usize, Page, usize)>> = Vec::new();
    for intervals in &regions {
        for index in 0..intervals.len() {
            let next = &intervals[(index + 1) % intervals.len()];
            let sections = next.iter().flat_map(|(_, nest)| &nest.sections);
            let read: Vec<usize> = sections
                .filter(|one| matches!(one.mode, Mode::Read | Mode::MayRead))
                .flat_map(|one| positions(&one.shape.ranges()))
                .collect();
            let count = if with_contributions {
                random.below(30)
            } else {
                0
            };
            let places = (0..count).map(|_| match read.is_empty() || random.chance(20) {
                true => random.below(job.used as usize * PAGE),
                false => read[random.below(read.len())],
            });
            let places: Vec<usize> = places.collect();
            let places = places.into_iter().map(|at| {
                let place = ((at / PAGE) as Page, (at % PAGE) & !7);
                (random.below(ranks), place.0, place.1)
            });
            contributions.push(places.collect());
        }
    }
    for _ in 0..10 {
        let mut contributions = contributions.iter().enumerate();
        for (intervals, places) in regions.iter().zip(&places) {
            for &(page, offset, writes) in places {
                match writes {
                    true => job.write(0, page, offset, random.below(256) as u8),
                    false => job.check(0, page, offset, "in serial code"),
                }
            }
            if random.below(100) < surprises {
                serial(&mut job, &mut random);
            } else {
                job.fork(&[]);
            }
            if random.below(400) < surprises {
                let atomics = random.chance(20);
                job.enter_region(&Accesses::Tracked { atomics });
                let pages = some_pages(&job, &mut random);
                interval(&mut job, &mut random, &pages, true, atomics);
                job.leave_region();
                job.fork(&[]);
            }
            job.enter_region(&Accesses::Declared {
                direct: vec![],
                contributions: with_contributions,
            });
            for (index, usual) in intervals.iter().enumerate() {
                if index != 0 {
                    job.barrier();
                }
                let unusual = (random.below(100) < surprises).then(|| nests_of(&job, &mut random));
                let nests = unusual.as_ref().unwrap_or(usual);
                for (rank, nest, part) in steps(nests, &mut random) {
                    job.run_part(rank, &nests[nest].1, part, &mut random);
                }
                let words = Words::of(nests, &[], ranks);
                let (interval, contributions) =
                    contributions.next().expect("one for each interval");
                for &(rank, page, word) in contributions {
                    if let Some(owner) = words.owner(page, word) {
                        let place = (page, word);
                        let of = (rank, owner);
                        collected::contribute_to_word(&mut job, &mut random, of, place, interval);
                    }
                }
            }
            job.leave_region();
        }
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
    job.end();
    let cluster = job.cluster();
    Seen {
        pushed: cluster.pushed_bytes,
        taken: cluster.taken_bytes,
        relayed: cluster.relayed,
        near: cluster.near_bytes,
        in_tree: cluster.in_tree,
        gathers: cluster.gathers,
        behind: job.ranks.furthest_behind(),
    }
}

#[test]
fn what_is_sent_early_changes_nothing() {
    let mut all = Seen::default();
    for seed in seeds(120) {
        for ranks in 2..=4 {
            for surprises in [0, 10] {
                all.add(&repeated_program(seed, ranks, surprises));
            }
        }
    }
    let (pushed, taken) = (all.pushed, all.taken);
    assert!(taken > 0);
    assert!(pushed < 2 * taken, "{pushed} bytes pushed, {taken} taken");
    assert!(all.in_tree > all.gathers && all.gathers > 0 && all.behind > 2);
}

/// The same with more ranks, which pass on what many of them read.
#[test]
fn what_is_passed_on_changes_nothing() {
    let mut all = Seen::default();
    for seed in seeds(40) {
        for ranks in 5..=9 {
            for surprises in [0, 10] {
                all.add(&repeated_program(seed, ranks, surprises));
            }
        }
    }
    assert!(all.relayed > 0 && all.near > 0 && all.in_tree > 0);
}

/// A block that rank 0 writes and all ranks read is passed on along with the messages of synchronisations.
#[test]
fn what_rank_0_writes_goes_down_with_synchronisations() {
    for (ranks, per_node) in [(5, 1), (8, 1), (8, 2)] {
        let mut job = Job::new(ranks, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        let mut random = Random(9);
        let block = |mode| nest(vec![section(mode, PAGE, 2 * PAGE, &[])]);
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            contributions: false,
        });
        for _ in 0..24 {
            job.run(0, &block(Mode::Write), &mut random);
            job.barrier();
            for rank in 0..ranks {
                job.run(rank, &block(Mode::Read), &mut random);
            }
            job.barrier();
        }
        job.leave_region();
        job.end();
        assert!(job.cluster().in_tree > 0);
    }
}

/// What was sent ahead and written again before its time is not passed on.
#[test]
fn what_is_passed_on_is_not_older_than_the_synchronisation() {
    const RANKS: usize = 5;
    const BLOCK: usize = 200;
    let mut job = Job::new(RANKS, false, None);
    job.cluster.borrow_mut().per_node = 1;
    let mut random = Random(9);
    let block = |mode, page: usize, rank: usize| {
        nest(vec![section(mode, page * PAGE + rank * BLOCK, BLOCK, &[])])
    };
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    for round in 0..36 {
        let is_unusual = round % 6 == 5;
        for rank in 0..RANKS {
            job.run(rank, &block(Mode::Write, 1, rank), &mut random);
        }
        job.barrier();
        for rank in 0..RANKS {
            job.run(rank, &block(Mode::Write, 2, rank), &mut random);
            if is_unusual {
                job.run(rank, &block(Mode::Write, 1, rank), &mut random);
            }
        }
        job.barrier();
        for rank in 0..RANKS {
            for owner in 0..RANKS {
                if is_unusual || owner == (rank + RANKS - 2) % RANKS {
                    job.run(rank, &block(Mode::Read, 1, owner), &mut random);
                }
            }
        }
        job.barrier();
    }
    job.leave_region();
    job.end();
    assert!(job.cluster().relayed > 0);
}

/// What rank 0 wrote and others read after the next fork is sent when it arrives at the end of the region, where serial code
/// in between usually writes nothing; and is not taken where it does, at once or behind what announces it.
#[test]
fn what_serial_code_leaves_alone_is_sent_before_it() {
    for ranks in 2..=3 {
        let mut job = Job::new(ranks, false, None);
        job.cluster.borrow_mut().per_node = 1;
        job.announces = true;
        let mut random = Random(3);
        let block = |mode| nest(vec![section(mode, PAGE, 2 * PAGE, &[])]);
        let region = |job: &mut Job| {
            job.fork(&[]);
            job.enter_region(&Accesses::Declared {
                direct: vec![],
                contributions: false,
            });
        };
        // What has been pushed when rank 0 has left a region, and what then comes with the next fork.
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for round in 0..40 {
            region(&mut job);
            job.run(0, &block(Mode::Write), &mut random);
            let pushed = job.cluster().pushed_bytes;
            job.leave_region();
            before.push(job.cluster().pushed_bytes - pushed);
            if round % 13 == 12 {
                job.write(0, 1, 7 * round, 200);
            }
            let pushed = job.cluster().pushed_bytes;
            region(&mut job);
            behind.push(job.cluster().pushed_bytes - pushed);
            for rank in 0..ranks {
                job.run(rank, &block(Mode::Read), &mut random);
            }
            job.leave_region();
        }
        job.end();
        let all = (ranks - 1) * 2 * PAGE;
        // Usually before; after a surprise once more, and then behind the fork until it is usual again.
        assert_eq!((before[11], behind[11]), (all, 0), "{before:?} {behind:?}");
        assert_eq!(
            (before[12], behind[12]),
            (all, all),
            "{before:?} {behind:?}"
        );
        assert_eq!((before[14], behind[14]), (0, all), "{before:?} {behind:?}");
        assert_eq!((before[24], behind[24]), (all, 0), "{before:?} {behind:?}");
    }
}
