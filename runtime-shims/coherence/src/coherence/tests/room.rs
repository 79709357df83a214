//! Memory that goes back to the machine.

use super::{
    nests::{nest, section},
    *,
};
use crate::coherence::declared::Mode;

/// Pages of rank 0's heap and of the other rank's.
const PAGES: usize = 8;

/// Two ranks with heaps of which nothing takes memory.
fn job() -> Job {
    let mut job = Job::new(2, false, None);
    let first = job.layout.arena(0).page;
    assert_eq!(
        first as usize + PAGES,
        job.layout.private_area(0).page as usize
    );
    for rank in 0..2 {
        job.ranks[rank].machine.discard(first, PAGES as u32);
    }
    job
}

/// Rank 1 writes all pages of both heaps, declared or not. The first of them.
fn write_all(job: &mut Job, is_declared: bool) -> Page {
    let first = job.layout.arena(0).page;
    job.fork(&[]);
    job.enter_region(&match is_declared {
        true => Accesses::Declared {
            direct: Vec::new(),
            contributions: false,
        },
        false => Accesses::Tracked { atomics: false },
    });
    if is_declared {
        let sections = section(Mode::Write, first as usize * PAGE, PAGES * PAGE, &[]);
        job.run(1, &nest(vec![sections]), &mut Random(5));
    }
    for page in first..first + PAGES as Page {
        if !is_declared {
            job.write(1, page, 7, page as u8 + 1);
        }
    }
    job.leave_region();
    first
}

#[test]
fn a_rank_reads_more_than_it_may_hold() {
    for is_declared in [false, true] {
        let mut job = job();
        // Then rank 1 is the home.
        write_all(&mut job, is_declared);
        let first = write_all(&mut job, is_declared);
        job.ranks[0].machine.discard(first, PAGES as u32);
        let before = job.cluster().held(0);
        job.ranks[0].machine.shortage = Some(Shortage::Beyond(before + 1));
        for _ in 0..3 {
            for page in first..first + PAGES as Page {
                job.check(0, page, 7, "in serial code");
            }
        }
        assert!(job.ranks[0].counts.given_up > 0);
        // What rank 1 wrote stays with it.
        job.ranks[1].machine.shortage = Some(Shortage::Beyond(0));
        job.ranks[1].make_room(0);
        for page in first..first + PAGES as Page {
            job.check(1, page, 7, "its own");
        }
    }
}

#[test]
fn what_is_not_current_goes_first() {
    let mut job = job();
    let first = job.layout.arena(0).page;
    for page in first..first + PAGES as Page {
        job.write(0, page, 7, 1);
    }
    let before = job.cluster().held(0);
    assert_eq!(write_all(&mut job, true), first);
    job.ranks[0].machine.shortage = Some(Shortage::Beyond(0));
    job.ranks[0].make_room(0);
    assert!(job.cluster().held(0) <= before - PAGES);
    assert_eq!(job.ranks[0].counts.read_faults, 0);
    job.check(0, first, 7, "in serial code");
}

#[test]
fn what_was_freed_takes_no_memory_on_any_rank() {
    for is_declared in [false, true] {
        let mut job = job();
        let before: Vec<usize> = (0..2).map(|rank| job.cluster().held(rank)).collect();
        for value in 1..5 {
            let first = write_all(&mut job, is_declared);
            for page in first..first + PAGES as Page {
                job.check(0, page, 7, "in serial code");
            }
            assert!(job.cluster().held(0) >= before[0] + PAGES);
            for (rank, first) in [(0, first), (1, first + PAGES as Page / 2)] {
                let count = PAGES as u32 / 2;
                job.ranks[rank].free(Run { first, count });
                if rank == 0 {
                    job.fork(&[]);
                    job.enter_region(&Accesses::Tracked { atomics: false });
                }
            }
            job.barrier();
            for (rank, before) in before.iter().enumerate() {
                assert_eq!(job.cluster().held(rank), *before);
            }
            // It is as at the start: whose heap it is writes it without faults, and others read what that wrote.
            let faults = job.ranks[1].counts.write_faults;
            let last = first + PAGES as Page - 1;
            job.write(1, last, 7, value);
            job.write(0, first, 7, value);
            assert_eq!(job.ranks[1].counts.write_faults, faults);
            assert_eq!(job.ranks[1].pages().home(first), 0);
            job.barrier();
            job.check(0, last, 7, "after it was used again");
            job.check(1, first, 7, "after it was used again");
            job.leave_region();
        }
    }
}
