//! How the threads of a rank wait for each other, and what they do meanwhile: they help one that copies many bytes.
//!
//! Guarantee: [`copy`] returns when all is copied. Who copies what does not matter: no two parts have bytes in common that
//! are written.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use crate::primitives::{
    AcqRel, Acquire, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Condvar, Mutex, Relaxed,
    Release, SeqCst, spin_loop, statics, yield_now,
};

/// Bytes that a thread copies at a time, and of which so many are worth to be shared.
const PIECE: usize = 64 << 10;
const LEAST: usize = 4 * PIECE;

/// A part of an item that is to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) item: usize,
    /// Bytes of the item in front of it.
    pub(crate) skip: usize,
    pub(crate) bytes: usize,
    /// Bytes of all items in front of it.
    pub(crate) before: usize,
}

/// What is to be done, in so many pieces.
struct Job<'a> {
    piece: &'a (dyn Fn(usize) + Sync),
    pieces: usize,
    next: AtomicUsize,
}

impl Job<'_> {
    /// Does pieces until none is left.
    fn work(&self) {
        loop {
            let next = self.next.fetch_add(1, Relaxed);
            if next >= self.pieces {
                return;
            }
            (self.piece)(next);
        }
    }
}

statics! {
    /// The job that is open, where [`DOOR`] says that one is.
    static JOB: AtomicPtr<Job<'static>> = AtomicPtr::new(std::ptr::null_mut());
    /// Threads that are at the job, and whether more may come.
    static DOOR: AtomicU32 = AtomicU32::new(0);

    /// Threads that wait.
    static WAITING: AtomicU32 = AtomicU32::new(0);
    /// Counts what those that wait may be interested in.
    static NEWS: AtomicU64 = AtomicU64::new(0);
    static SLEEPING: AtomicU32 = AtomicU32::new(0);
    static SLEEP: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}
const OPEN: u32 = 1 << 31;

/// Has those that wait look whether they may go on.
pub(crate) fn tell() {
    NEWS.fetch_add(1, SeqCst);
    if SLEEPING.load(SeqCst) > 0 {
        drop(SLEEP.0.lock().expect("a panic ends the job"));
        SLEEP.1.notify_all();
    }
}

/// Waits until `done`, which [`tell`] announces, and helps meanwhile. Without `patience` the processor is left to others at
/// once.
pub(crate) fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) {
    WAITING.fetch_add(1, SeqCst);
    loop {
        let seen = NEWS.load(SeqCst);
        if done() {
            break;
        }
        help();
        let since = Instant::now();
        while NEWS.load(Relaxed) == seen && since.elapsed() < patience {
            spin_loop();
        }
        if NEWS.load(SeqCst) == seen {
            sleep(seen);
        }
    }
    WAITING.fetch_sub(1, SeqCst);
}

fn sleep(seen: u64) {
    let mut guard = SLEEP.0.lock().expect("a panic ends the job");
    SLEEPING.fetch_add(1, SeqCst);
    while NEWS.load(SeqCst) == seen {
        guard = SLEEP.1.wait(guard).expect("a panic ends the job");
    }
    SLEEPING.fetch_sub(1, SeqCst);
}

/// Works on the job, if one is open.
fn help() {
    let enter = |door: u32| (door & OPEN != 0).then_some(door + 1);
    if DOOR.fetch_update(AcqRel, Acquire, enter).is_err() {
        return;
    }
    // SAFETY: the job stays where it is until all that have entered have left.
    unsafe { &*JOB.load(Acquire) }.work();
    DOOR.fetch_sub(1, Release);
}

/// Does `pieces` pieces, with the threads that wait.
pub(crate) fn share(pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
    let job = Job {
        piece,
        pieces,
        next: AtomicUsize::new(0),
    };
    JOB.store((&raw const job).cast_mut().cast(), Release);
    DOOR.store(OPEN, Release);
    tell();
    job.work();
    DOOR.fetch_and(!OPEN, AcqRel);
    while DOOR.load(Acquire) != 0 {
        yield_now();
    }
}

/// Copies `items` items, of which `length` says how many bytes they have, with `part`, which must not write the same bytes
/// for two parts. By the thread whose turn it is ([`crate::turns::alone`]).
pub(crate) fn copy(
    items: usize,
    length: impl Fn(usize) -> usize + Sync,
    part: impl Fn(Part) + Sync,
) {
    if WAITING.load(Relaxed) == 0 {
        return copy_parts(0..items, 0, 0, usize::MAX, &length, &part);
    }
    // Where each piece begins: an item, what of it is in front, and what of all.
    let mut cuts: Vec<(usize, usize, usize)> = Vec::new();
    let mut before = 0;
    for item in 0..items {
        let end = before + length(item);
        while cuts.len() * PIECE < end {
            let at = cuts.len() * PIECE;
            cuts.push((item, at - before, at));
        }
        before = end;
    }
    if before < LEAST {
        return copy_parts(0..items, 0, 0, usize::MAX, &length, &part);
    }
    share(cuts.len(), &|piece| {
        let (item, skip, at) = cuts[piece];
        copy_parts(item..items, skip, at, PIECE, &length, &part);
    });
}

/// Copies at most `most` bytes of items, but for the first `skip` of the first one; `before` are in front of them.
fn copy_parts(
    items: Range<usize>,
    mut skip: usize,
    mut before: usize,
    most: usize,
    length: impl Fn(usize) -> usize,
    copy: impl Fn(Part),
) {
    let mut left = most;
    for item in items {
        let bytes = (length(item) - skip).min(left);
        if bytes > 0 {
            copy(Part {
                item,
                skip,
                bytes,
                before,
            });
        }
        (skip, before, left) = (0, before + bytes, left - bytes);
        if left == 0 {
            return;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicBool;

    use okl_testing::Random;

    use super::*;

    /// Every byte is copied once, to where it belongs, whoever waits meanwhile, and however long they sleep.
    #[test]
    fn each_byte_is_copied_once() {
        let end = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let end = &end;
                let patience = Duration::from_micros(20 * thread);
                scope.spawn(move || wait_until(patience, || end.load(SeqCst)));
            }
            let mut random = Random(7);
            for round in 0..60 {
                let lengths: Vec<usize> = (0..random.below(50) + 1)
                    .map(|_| match random.below(4) {
                        0 => 0,
                        1 => random.below(100),
                        2 => random.below(3 * PIECE),
                        _ => PIECE,
                    })
                    .collect();
                let total: usize = lengths.iter().sum();
                let copied: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
                let starts: Vec<usize> = lengths
                    .iter()
                    .scan(0, |next, length| {
                        Some(std::mem::replace(next, *next + length))
                    })
                    .collect();
                copy(
                    lengths.len(),
                    |item| lengths[item],
                    |part| {
                        assert_eq!(part.before, starts[part.item] + part.skip);
                        assert!(part.skip + part.bytes <= lengths[part.item]);
                        for byte in &copied[part.before..part.before + part.bytes] {
                            byte.fetch_add(1, Relaxed);
                        }
                    },
                );
                let once = copied.iter().all(|byte| byte.load(Relaxed) == 1);
                assert!(once, "round {round}: not every byte is copied once");
            }
            end.store(true, SeqCst);
            tell();
        });
    }
}
