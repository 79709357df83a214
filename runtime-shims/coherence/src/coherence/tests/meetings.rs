//! What ranks tell each other at a synchronisation besides the protocol: payloads, kinds, and the program's lists.

use super::*;
use crate::driver::Enclosed;

fn enclosed(rank: usize, words: usize) -> Enclosed {
    std::array::from_fn(|list| {
        (0..words)
            .map(|at| (rank * 1000 + list * 100 + at) as u64)
            .collect()
    })
}

#[test]
fn payloads_are_handed_round_in_rank_order() {
    for per_node in [1, 3] {
        let mut job = Job::new(3, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        job.fork(&[]);
        for turn in 0..5 {
            job.ranks.each(move |rank, node| {
                let payload = 10 * turn + rank as u64;
                let met = (node.driver).synchronise(&mut node.side, Kind::Exchange, payload);
                assert!(!met.joined);
                assert_eq!(met.payloads, [0, 1, 2].map(|rank| 10 * turn + rank));
            });
        }
        job.leave_region();
        job.end();
    }
}

/// However long the lists are: in the header, and in an exchange of their own.
#[test]
fn enclosed_lists_come_to_all_ranks() {
    for words in [0, 1, 4, 5, 30] {
        let job = Job::new(3, false, None);
        job.ranks.each(move |rank, node| {
            node.side.enclosed = enclosed(rank, words);
            node.driver.synchronise(&mut node.side, Kind::Barrier, 0);
            let all = [0, 1, 2].map(|rank| enclosed(rank, words));
            assert_eq!(node.side.opened, all);
        });
        assert!(job.ranks.catch_all_up());
    }
}

/// A fork carries rank 0's lists, and the contents of pages, to ranks that have long waited.
#[test]
fn a_fork_carries_lists_and_pages() {
    for per_node in [1, 2] {
        let mut job = Job::new(2, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        for turn in 0..5 {
            job.write(0, 0, 0, turn);
            job.ranks.each(move |rank, node| {
                let side = &mut node.side;
                let fork = if rank == 0 {
                    side.enclosed = enclosed(7, 3);
                    let fork = node.driver.prepare_fork(side, vec![0]);
                    node.driver.send_fork(side, &fork, &[5, 6]);
                    fork
                } else {
                    let (fork, words) = node.driver.receive_fork(side).expect("there are more");
                    assert_eq!(words, [5, 6]);
                    fork
                };
                assert_eq!(fork.enclosed(), &enclosed(7, 3));
                assert_eq!(fork.carried(), [0]);
                node.driver.apply_fork(side, &fork);
            });
            let faults = job.counts(1).read_faults;
            job.check(1, 0, 0, "a page that travelled");
            assert_eq!(job.counts(1).read_faults, faults);
            job.leave_region();
        }
        job.end();
    }
}

/// Ranks outside of the team take part until it has joined.
#[test]
fn passive_ranks_wait_for_the_team() {
    for per_node in [1, 3] {
        let mut job = Job::new(3, false, None);
        job.cluster.borrow_mut().per_node = per_node;
        for _ in 0..6 {
            job.fork(&[]);
            job.ranks.each(|rank, node| {
                let mut met = 0;
                if rank < 2 {
                    for _ in 0..3 {
                        let barrier = (node.driver).synchronise(&mut node.side, Kind::Barrier, 0);
                        assert!(!barrier.joined);
                    }
                }
                let kind = [Kind::Join, Kind::Passive][rank / 2];
                while !node.driver.synchronise(&mut node.side, kind, 0).joined {
                    met += 1;
                }
                assert_eq!(met, [0, 3][rank / 2]);
                node.side.coherence.leave_region();
            });
        }
        job.end();
    }
}

#[test]
fn threads_at_different_places_are_found() {
    let job = Job::new(2, false, None);
    let met = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        job.ranks.each(|rank, node| {
            let kind = [Kind::Barrier, Kind::Join][rank];
            node.driver.synchronise(&mut node.side, kind, 0);
        });
        job.ranks.catch_all_up();
    }));
    assert!(met.is_err());
}
