//! What has been worked out once serves wherever it is the same again.

use super::{
    nests::{nest, section, within},
    *,
};
use crate::coherence::declared::{Accesses, Mode};

/// What a rank has yet to learn when serial code has written some of what a program works on anew.
#[derive(Debug, Default, PartialEq, Eq)]
struct New {
    /// Synchronisations at which declarations were exchanged.
    exchanges: u64,
    /// Bytes that ranks asked other nodes for, in the region.
    asked: usize,
}

/// Two regions go down and up through arrays of a page each, as a multigrid solver through its levels, `cycles` times. Before
/// each of the last `regions` serial code has written the first two anew. What is new in each of these.
fn cycles_after_serial_writes(per_node: usize, regions: usize, cycles: usize) -> Vec<New> {
    const HALF: usize = PAGE / 2;
    const HALO: usize = 64;
    let mut job = Job::new(2, false, None);
    job.cluster.borrow_mut().per_node = per_node;
    let mut random = Random(41);
    let heap = job.layout.arena(0).page as usize;
    let arrays: Vec<usize> = (heap..job.used as usize).map(|page| page * PAGE).collect();
    assert!(arrays.len() >= 8);
    let down = arrays.windows(2).map(|pair| (pair[0], pair[1]));
    let up = arrays.windows(2).rev().map(|pair| (pair[1], pair[0]));
    let steps: Vec<(usize, usize)> = down.chain(up).collect();
    let count = |job: &Job| (job.counts(1).transitions, job.cluster().asked_bytes);
    let mut seen = Vec::new();
    for region in 0..=regions {
        if region != 0 {
            for &array in &arrays[..2] {
                job.write(0, (array / PAGE) as Page, 5, region as u8);
            }
        }
        let before = count(&job);
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            contributions: false,
        });
        for _ in 0..cycles {
            for &(from, to) in &steps {
                for rank in 0..2 {
                    let first = from + rank * (HALF - HALO);
                    let sections = [
                        within(
                            (from, from + PAGE),
                            vec![section(Mode::Read, first, HALF + HALO, &[])],
                        ),
                        within(
                            (to, to + PAGE),
                            vec![section(Mode::Write, to + rank * HALF, HALF, &[])],
                        ),
                    ];
                    job.run(rank, &nest(sections.concat()), &mut random);
                }
                job.barrier();
            }
        }
        job.leave_region();
        let after = count(&job);
        seen.push(New {
            exchanges: after.0 - before.0,
            asked: after.1 - before.1,
        });
    }
    seen
}

/// What ranks have declared once they need not tell each other again, and an owner need not be asked for what others are
/// about to read, however much of memory has got another owner meanwhile.
#[test]
fn serial_writes_make_nothing_new_of_what_was_declared() {
    for per_node in [1, 2] {
        let seen = cycles_after_serial_writes(per_node, 3, 1);
        assert!(seen[0].exchanges > 10, "{seen:?}");
        for later in &seen[1..] {
            assert_eq!(later.exchanges, 0, "{seen:?}");
        }
        if per_node == 1 {
            assert!(seen[0].asked > 0, "{seen:?}");
            // Of the first serial writes nobody knew that they would be read.
            for later in &seen[2..] {
                assert_eq!(later.asked, 0, "{seen:?}");
            }
            assert!(seen[1].asked < PAGE, "{seen:?}");
        }
    }
}

/// What ranks have worked out serves them wherever there is the same in the memory that they declare something of: an array
/// beside is dealt out as it never was before each time that they do the same.
#[test]
fn what_there_is_elsewhere_makes_nothing_new() {
    const HALF: usize = PAGE / 2;
    const ROUNDS: usize = 8;
    for per_node in [1, 2] {
        let mut job = Job::new(2, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        let mut random = Random(43);
        let heap = job.layout.arena(0).page as usize;
        let mut arrays = (heap..job.used as usize).map(|page| page * PAGE);
        let beside = arrays.next().expect("there are arrays");
        let arrays: Vec<usize> = arrays.collect();
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            contributions: false,
        });
        let mut interval = |job: &mut Job, read: Option<usize>, written: usize, border: usize| {
            for rank in 0..2 {
                let parts = [(0, border), (border, PAGE - border)];
                let (first, bytes) = parts[rank];
                let write = section(Mode::Write, written + first, bytes, &[]);
                let mut sections = vec![within((written, written + PAGE), vec![write])];
                // Half of what it reads is the other one's.
                sections.extend(read.map(|read| {
                    let first = read + HALF / 2;
                    within(
                        (read, read + PAGE),
                        vec![section(Mode::Read, first, HALF, &[])],
                    )
                }));
                job.run(rank, &nest(sections.concat()), &mut random);
            }
            job.barrier();
        };
        for round in 0..ROUNDS {
            interval(&mut job, None, beside, 64 * (1 + round));
            let before = job.counts(1);
            for pair in arrays.windows(2) {
                interval(&mut job, Some(pair[0]), pair[1], HALF);
            }
            let new = job.counts(1).plans - before.plans;
            match round {
                0 => assert_eq!(new as usize, arrays.len() - 1),
                1 | 2 => {}
                _ => assert_eq!(new, 0, "round {round}"),
            }
        }
        job.leave_region();
    }
}
