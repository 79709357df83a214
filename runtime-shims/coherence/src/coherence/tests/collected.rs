//! Contributions that are collected: among other accesses, and in regions that declare theirs.

use super::*;
use crate::atomics_values::commuting;

/// Operations that commute.
const OPERATIONS: [AtomicOp; 8] = [
    AtomicOp::Add,
    AtomicOp::Xor,
    AtomicOp::Or,
    AtomicOp::And,
    AtomicOp::Max,
    AtomicOp::Min,
    AtomicOp::UMax,
    AtomicOp::UMin,
];

impl Job {
    pub(super) fn contribute(
        &mut self,
        rank: usize,
        object: Object,
        operation: AtomicOp,
        value: u64,
    ) {
        object.contribute(&mut self.truth[object.page as usize], operation, value);
        if !self.ranks[rank].collect(object, operation, value) {
            // Nobody else does, under a lock.
            self.ranks[rank].contribute_in_parts(object, operation, value);
        }
    }

    pub(super) fn check_object(&mut self, rank: usize, object: Object, when: &str) {
        for offset in object.offset..object.offset + object.size {
            self.check(rank, object.page, offset, when);
        }
    }
}

/// An object in the 8 bytes from `word` on.
pub(super) fn object_in(random: &mut Random, page: Page, word: usize) -> Object {
    let size = 1 << random.below(4);
    Object {
        page,
        offset: word + random.below(8 / size) * size,
        size,
    }
}

pub(super) fn some_operation(random: &mut Random) -> (AtomicOp, u64) {
    let value = random.below(1 << 20) as u64 * 0x1_0001_0001;
    (OPERATIONS[random.below(OPERATIONS.len())], value)
}

/// The object in these 8 bytes that all ranks may contribute to in `interval`, and the operation.
pub(super) fn common(page: Page, word: usize, interval: usize) -> (Object, AtomicOp) {
    let mut random = Random((page as usize * PAGE + word + 7919 * interval) as u64 | 1);
    random.below(2);
    let object = object_in(&mut random, page, word);
    (object, some_operation(&mut random).0)
}

/// A contribution by `rank` in the 8 bytes from `word` on, if it may.
pub(super) fn contribute_to_word(
    job: &mut Job,
    random: &mut Random,
    (rank, owner): (usize, usize),
    (page, word): (Page, usize),
    interval: usize,
) -> Option<Object> {
    let value = some_operation(random).1;
    if owner != job.ranks.len() && owner != rank {
        return None;
    }
    let (object, operation) = match owner == rank {
        true => (object_in(random, page, word), some_operation(random).0),
        false => common(page, word, interval),
    };
    job.contribute(rank, object, operation, value);
    Some(object)
}

/// One access of `rank` to the 8 bytes from `word` on: its own in this interval, or for all to contribute to.
pub(super) fn access_word(
    job: &mut Job,
    random: &mut Random,
    (rank, owner): (usize, usize),
    (page, word): (Page, usize),
    interval: usize,
    atomics: bool,
) {
    if owner == rank {
        let object = object_in(random, page, word);
        match random.below(6) {
            0 => job.check_object(rank, object, "its own object"),
            1 => job.write(rank, page, object.offset, random.below(256) as u8),
            2 if atomics => atomic(job, rank, page, object.offset, random.below(256) as u8),
            _ => {}
        }
    }
    contribute_to_word(job, random, (rank, owner), (page, word), interval);
}

#[test]
fn sums_travel_once() {
    let mut job = Job::new(3, false, None);
    job.fork(&[]);
    let object = |offset| Object {
        page: 0,
        offset,
        size: 8,
    };
    for round in 0..100 {
        for rank in 0..3 {
            job.contribute(rank, object(round % 10 * 8), AtomicOp::Add, 1);
        }
    }
    assert_eq!(job.cluster().under_way.len(), 0);
    for rank in 1..3 {
        job.ranks[rank].send_collected();
        assert_eq!(job.cluster().under_way.len(), 10 * rank);
    }
    for rank in 1..3 {
        job.ranks[rank].machine.settle();
    }
    job.barrier();
    for rank in 0..3 {
        for word in 0..10 {
            job.check_object(rank, object(8 * word), "a sum");
        }
    }
    assert_eq!(job.truth[0][0], 30);
}

#[test]
fn differences_are_sums() {
    let (operation, value) = commuting(AtomicOp::Sub, 3, 4).expect("it commutes");
    let mut job = Job::new(2, false, None);
    job.fork(&[]);
    let object = Object {
        page: 0,
        offset: 4,
        size: 4,
    };
    job.contribute(1, object, operation, value);
    job.barrier();
    job.check_object(0, object, "a difference");
    assert_eq!(job.truth[0][4..8], (-3i32).to_le_bytes());
}
