//! Ranks with threads of the operating system, which access their rank's memory whenever they like.
//!
//! As in the run time for MPI one thread at a time uses what its rank knows of the protocol: it serves its own faults,
//! releases, acquires, contributes, and declares when it is its turn, and not while others mark what they write where it would
//! copy. What the others do to memory they do meanwhile. At a synchronisation they wait while it goes on for the rank. (One rank
//! goes on at a time here, so one lock is for all.)
//!
//! Guarantee: race-free programs see one memory. And the thread sanitizer finds no race between the protocol and them.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use super::{
    nests::{Nest, Part, Single, What, page_of, random_nests},
    *,
};
use crate::coherence::declared::Mode;

/// What a thread does as often as nothing changes, where another one has served its fault.
const MOST_REPETITIONS: u32 = 1000;
/// Locks that threads take, each for some of the guarded bytes.
const LOCKS: usize = 4;

/// A job that threads use one at a time.
struct Lent<'job> {
    job: Mutex<&'job mut Job>,
    locks: [Mutex<()>; LOCKS],
    /// A thread has panicked.
    has_failed: AtomicBool,
}

// SAFETY: who holds the lock alone reaches what is in the job, counts of references among it: its ranks have nothing to do,
// and memory is reached otherwise.
unsafe impl Sync for Lent<'_> {}

impl Lent<'_> {
    fn alone<R>(&self, body: impl FnOnce(&mut Job) -> R) -> R {
        body(&mut self.job.lock().expect("no thread has panicked"))
    }
}

/// A thread of a rank.
struct Thread<'a, 'job> {
    lent: &'a Lent<'job>,
    rank: usize,
    memory: &'a Memory,
    /// What a single memory would hold, but for atomic objects.
    truth: &'a [Contents],
    random: Random,
    /// The last page whose fault was served by another thread, the changes of protection by then, and how often in a row.
    repeated: (Page, u64, u32),
}

impl Drop for Thread<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.lent.has_failed.store(true, SeqCst);
        }
    }
}

impl Thread<'_, '_> {
    /// Uses what the rank knows of the protocol.
    fn protocol<R>(&self, body: impl FnOnce(&mut Coherence<Simulated>) -> R) -> R {
        self.lent.alone(|job| body(&mut job.ranks[self.rank]))
    }

    fn fault(&mut self, page: Page, write: bool) {
        let (served, changes) =
            self.protocol(|coherence| (coherence.fault(page, write), coherence.counts.protections));
        match served {
            Ok(()) => {}
            // Another thread was faster.
            Err(Violation::Unexplained) => {
                let (last, last_changes, times) = self.repeated;
                let is_same = (page, changes) == (last, last_changes);
                self.repeated = (page, changes, if is_same { times + 1 } else { 1 });
                assert!(
                    self.repeated.2 < MOST_REPETITIONS,
                    "page {page} stays closed"
                );
            }
            Err(other) => panic!("page {page}: {other:?}"),
        }
    }

    fn read(&mut self, page: Page, offset: usize) -> u8 {
        loop {
            match self.memory.load(page, offset) {
                Some(byte) => return byte,
                None => self.fault(page, false),
            }
        }
    }

    fn store(&mut self, page: Page, offset: usize, value: u8) {
        while !self.memory.store(page, offset, value) {
            self.fault(page, true);
        }
    }

    fn write(&mut self, page: Page, offset: usize) {
        let value = self.random.below(256) as u8;
        self.store(page, offset, value);
        self.truth[page as usize].write(offset, &[value]);
    }

    fn check(&mut self, page: Page, offset: usize, when: &str) {
        let seen = self.read(page, offset);
        let mut expected = [0];
        self.truth[page as usize].read(offset, &mut expected);
        let rank = self.rank;
        assert_eq!(
            seen, expected[0],
            "rank {rank}, page {page}, byte {offset}, {when}"
        );
    }

    /// A critical section.
    fn lock(&mut self, page: Page) {
        let lent = self.lent;
        let lock = self.random.below(LOCKS);
        let guard = lent.locks[lock].lock().expect("no thread has panicked");
        self.protocol(Coherence::acquire);
        let each = (PAGE - GUARDED) / LOCKS;
        for _ in 0..1 + self.random.below(5) {
            let offset = GUARDED + lock * each + self.random.below(each);
            self.check(page, offset, "under a lock");
            self.write(page, offset);
        }
        let rank = self.rank;
        lent.alone(|job| job.release(rank));
        drop(guard);
    }

    /// One step of an interval in which `owner` says which thread of `threads` a byte belongs to.
    fn step(&mut self, pages: &[Page], what: Steps, owner: impl Fn(Page, usize) -> usize) {
        let page = pages[self.random.below(pages.len())];
        let offset = self.random.below(UPDATED);
        let rank = self.rank;
        match self.random.below(20) {
            0 => self.lock(page),
            1 if what.atomics => {
                let (offset, value) = (self.random.below(64), self.random.below(256) as u8);
                self.lent
                    .alone(|job| atomic(job, rank, page, ATOMIC + offset, value));
            }
            2 => {
                let write = self.random.chance(50);
                self.protocol(|coherence| coherence.touch(page, page, write));
            }
            3 if what.gives_up => self.protocol(|coherence| coherence.make_room(0)),
            4 | 5 => {
                let word = UPDATED + 8 * self.random.below((ATOMIC - UPDATED) / 8);
                let random = &mut self.random;
                self.lent.alone(|job| {
                    let of = (rank, job.ranks.len());
                    collected::contribute_to_word(job, random, of, (page, word), what.interval);
                });
            }
            _ if owner(page, offset) == what.thread => {
                self.check(page, offset, "its own byte");
                self.write(page, offset);
            }
            _ if owner(page, offset) == what.threads => {
                self.check(page, offset, "a byte nobody writes");
            }
            _ => {}
        }
    }

    fn perform(&mut self, one: &Single) {
        let (page, offset) = (page_of(one.at), one.at % PAGE);
        match one.what {
            What::Read(value) => {
                let seen = self.read(page, offset);
                assert_eq!(
                    seen, value,
                    "rank {}, byte {}, a declared read",
                    self.rank, one.at
                );
            }
            What::Write { value, marked } => {
                self.store(page, offset, value);
                if marked {
                    let bytes = (one.at as u64, one.at as u64 + 1);
                    let rank = self.rank;
                    self.lent
                        .alone(|job| job.cluster.borrow_mut().marked[rank].push(bytes));
                }
            }
        }
    }
}

/// What a thread does in an interval.
#[derive(Clone, Copy)]
struct Steps {
    /// Number of the thread, among so many.
    thread: usize,
    threads: usize,
    interval: usize,
    atomics: bool,
    gives_up: bool,
}

impl Job {
    /// Runs `body` on `per_rank` threads of each rank at the same time. Each gets its number in the team.
    fn run_threads(
        &mut self,
        per_rank: usize,
        random: &mut Random,
        body: impl Fn(usize, Thread) + Sync,
    ) {
        assert!(self.ranks.catch_all_up(), "all ranks run the region");
        let memories = self.memories();
        let truth: Vec<Contents> = self.truth.iter().map(copy_of).collect();
        let threads = self.ranks.len() * per_rank;
        self.cluster.borrow_mut().has_threads = true;
        let lent = Lent {
            job: Mutex::new(self),
            locks: Default::default(),
            has_failed: AtomicBool::new(false),
        };
        thread::scope(|scope| {
            for thread in 0..threads {
                let rank = thread / per_rank;
                let thread_of_rank = Thread {
                    lent: &lent,
                    rank,
                    memory: &memories[rank],
                    truth: &truth,
                    random: Random(2 * random.below(1 << 30) as u64 + 1),
                    repeated: (0, 0, 0),
                };
                let body = &body;
                scope.spawn(move || body(thread, thread_of_rank));
            }
        });
        let job = lent.job.into_inner().expect("no thread has panicked");
        job.cluster.borrow_mut().has_threads = false;
        for (page, contents) in job.truth.iter_mut().zip(truth) {
            contents.read(0, &mut page[..UPDATED]);
            contents.read(GUARDED, &mut page[GUARDED..]);
        }
    }
}

fn copy_of(page: &[u8; PAGE]) -> Contents {
    let copy = Contents::zeros();
    copy.write(0, page);
    copy
}

/// An interval of a region whose accesses nobody has declared.
fn tracked_interval(
    job: &mut Job,
    random: &mut Random,
    per_rank: usize,
    pages: &[Page],
    atomics: bool,
) {
    let grain = [PAGE, 1 + random.below(40)][random.below(3).min(1)];
    let threads = job.ranks.len() * per_rank;
    let shift = random.below(threads + 1);
    let owner =
        |page: Page, offset: usize| (offset / grain + page as usize + shift) % (threads + 1);
    let all = Steps {
        thread: 0,
        threads,
        interval: random.below(1 << 20),
        atomics,
        gives_up: job.frees.is_some(),
    };
    job.run_threads(per_rank, random, |thread, mut this| {
        for _ in 0..60 {
            this.step(pages, Steps { thread, ..all }, owner);
        }
    });
}

/// An interval whose nests declare what they access.
fn declared_interval(job: &mut Job, random: &mut Random, per_rank: usize, nests: &[(usize, Nest)]) {
    let threads = job.ranks.len() * per_rank;
    let mut programs: Vec<Vec<(&Nest, Vec<Single>)>> = (0..threads).map(|_| Vec::new()).collect();
    for (thread, nest) in nests {
        let rank = thread / per_rank;
        let mut all = job.accesses_of(rank, nest, Part::First, random);
        all.extend(job.accesses_of(rank, nest, Part::Second, random));
        programs[*thread].push((nest, all));
    }
    // Declarations that each thread has made; so many, if it makes no more.
    const MET: usize = usize::MAX;
    let made: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
    // So many threads of a rank mark what they write.
    let marking: Vec<AtomicUsize> = (0..job.ranks.len()).map(|_| AtomicUsize::new(0)).collect();
    // What they access is all in the truth already.
    let truth = job.truth.clone();
    job.run_threads(per_rank, random, |thread, mut this| {
        let first = this.rank * per_rank;
        let others = (first..first + per_rank).filter(|&other| other != thread);
        for (mine, (nest, accesses)) in programs[thread].iter().enumerate() {
            let is_first =
                |other: usize| made[other].load(SeqCst) >= mine + usize::from(other < thread);
            let wait = || {
                assert!(
                    !this.lent.has_failed.load(SeqCst),
                    "another thread panicked"
                );
                thread::yield_now();
            };
            while !others.clone().all(is_first) {
                wait();
            }
            let marking = &marking[this.rank];
            let marks = usize::from(!nest.bytes(Mode::Marked).is_empty());
            let declares = || {
                this.protocol(|coherence| {
                    let sections = || nest.sections.clone();
                    let must_wait =
                        marking.load(SeqCst) != 0 && coherence.copies_beside_marks(sections());
                    if !must_wait {
                        coherence.declare(nest.signature(), sections);
                        marking.fetch_add(marks, SeqCst);
                    }
                    !must_wait
                })
            };
            while !declares() {
                wait();
            }
            made[thread].store(mine + 1, SeqCst);
            accesses.iter().for_each(|one| this.perform(one));
            marking.fetch_sub(marks, SeqCst);
        }
        made[thread].store(MET, SeqCst);
    });
    job.truth = truth;
}

fn declaring_region(job: &mut Job, random: &mut Random, per_rank: usize) {
    job.enter_region(&Accesses::Declared {
        direct: Vec::new(),
        contributions: false,
    });
    let threads = job.ranks.len() * per_rank;
    let usual: Vec<_> = (0..1 + random.below(2))
        .map(|_| random_nests(job, threads, random))
        .collect();
    for round in 0..1 + random.below(4) {
        for (index, usual) in usual.iter().enumerate() {
            if (round, index) != (0, 0) {
                job.barrier();
            }
            let unusual = (random.below(10) == 0).then(|| random_nests(job, threads, random));
            declared_interval(job, random, per_rank, unusual.as_ref().unwrap_or(usual));
        }
    }
    job.leave_region();
}

fn tracked_region(job: &mut Job, random: &mut Random, per_rank: usize) {
    let atomics = random.chance(50);
    job.enter_region(&Accesses::Tracked { atomics });
    let pages = some_pages(job, random);
    for _ in 0..1 + random.below(4) {
        tracked_interval(job, random, per_rank, &pages, atomics);
        job.barrier();
        job.begin_next_interval();
    }
    job.barrier();
    job.leave_region();
}

fn random_program_with_threads(seed: u64, ranks: usize, per_rank: usize) {
    let mappings = seed.is_multiple_of(5).then_some(20);
    let (mut job, mut random) = random_job(seed, ranks, mappings);
    for _ in 0..4 {
        serial(&mut job, &mut random);
        match random.chance(50) {
            true => declaring_region(&mut job, &mut random, per_rank),
            false => tracked_region(&mut job, &mut random, per_rank),
        }
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
}

#[test]
fn threads_of_ranks_see_one_memory() {
    for seed in seeds(12) {
        for ranks in 1..=3 {
            for per_rank in 1..=3 {
                random_program_with_threads(seed, ranks, per_rank);
            }
        }
    }
}
