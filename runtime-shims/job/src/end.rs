//! How a job ends in an error: one rank tells why, and all end. MPI ends it while it is there; afterwards the launcher does,
//! when a process ends in an error.
//!
//! Guarantee: of the program nothing runs any more, neither what it registered for its end nor destructors; and of ranks that
//! find the same thing wrong at the same time one tells it, as long as it takes them no longer than [`fatal`] waits.

use std::{
    sync::OnceLock,
    sync::atomic::{
        AtomicI64, AtomicPtr, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use crate::{
    launcher,
    object::{functions::Comm, mpi},
    own_environment, report,
};

/// Exit status of a program, or a whole job, that okl ends (`EX_SOFTWARE` of `sysexits.h`).
const FAILED: i32 = 70;

/// This process's rank; -1 before it is known.
static RANK: AtomicI64 = AtomicI64::new(-1);

/// The communicator of the job, once MPI has started.
static JOB: OnceLock<Comm> = OnceLock::new();

/// What a run time does before its last words, and begins them with.
static INTRODUCTION: OnceLock<fn() -> String> = OnceLock::new();

/// The word of this node that says which of its ranks has told why the job ends; null before there is one.
static LAST_WORDS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// Whose a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The program's, which every rank runs: rank 0 is not named.
    Program,
    /// One rank's, which is named.
    Rank,
}

/// What the launcher says of the rank is what counts before MPI does: a rank that MPI starts alone is told to be number 0.
pub(crate) fn note_launcher() {
    if let Some(rank) = launcher::rank(own_environment) {
        // What MPI has said counts more.
        let _ = RANK.compare_exchange(-1, i64::from(rank), Relaxed, Relaxed);
    }
}

/// MPI has started: what ends are the ranks of `world`, and this process is called `rank` until [`rank_is`] is called.
pub(crate) fn job_is(rank: u32, world: Comm) {
    rank_is(rank);
    let _ = JOB.set(world);
}

/// The communicator of the job, while MPI is there, and while it ends: ranks wait for each other then, too. The program may
/// end it as well.
pub(crate) fn job() -> Option<Comm> {
    let &job = JOB.get()?;
    // SAFETY: may be called at any time.
    let has_ended = unsafe { (mpi().has_ended)() } != 0;
    (!has_ended).then_some(job)
}

/// From now on this process is called `rank`, where the program runs on other ranks than all.
pub fn rank_is(rank: u32) {
    RANK.store(i64::from(rank), Relaxed);
}

/// From now on one rank of this node speaks last, the first that sets `word`.
///
/// # Safety
/// `word` is mapped as long as the process lives, aligned, and 0 at first.
pub unsafe fn share_last_words(word: *mut AtomicU64) {
    LAST_WORDS.store(word, Relaxed);
}

/// This process's rank: in the job, or as the launcher says; 0 where nobody does.
pub fn rank() -> u32 {
    let known = u32::try_from(RANK.load(Relaxed)).ok();
    let known = known.or_else(|| launcher::rank(own_environment));
    known.unwrap_or(0)
}

/// From now on each message of [`fatal`] begins with what `introduction` returns. It is called first, on all ranks.
pub fn introduce(introduction: fn() -> String) {
    let _ = INTRODUCTION.set(introduction);
}

/// Ends the job with `message`. Where ranks of a node share a word, the first that comes here tells its own; before that
/// rank 0 does at once, and others if the job has not ended soon.
pub fn fatal(message: &str, of: Speaker) -> ! {
    // Enough for another rank to write its message and to end the job.
    const PATIENCE: Duration = Duration::from_millis(300);
    // Ranks reach the place of a mistake of all of them one after the other, and launchers take their time to end them: Open
    // MPI's more than a second on a busy machine, and where it has to notice by itself.
    const PATIENCE_WITH_FIRST: Duration = Duration::from_secs(3);
    let introduced = INTRODUCTION
        .get()
        .map(|introduction| format!("{}{message}", introduction()));
    let message = introduced.as_deref().unwrap_or(message);
    let rank = rank();
    // SAFETY: the promise of `share_last_words`.
    let word = unsafe { LAST_WORDS.load(Relaxed).as_ref() };
    if word.is_some_and(|word| word.swap(1, SeqCst) != 0) {
        std::thread::sleep(PATIENCE);
        abort(FAILED)
    }
    if word.is_none() && rank != 0 {
        std::thread::sleep(PATIENCE_WITH_FIRST);
    }
    match (of, rank) {
        (Speaker::Program, 0) => report::say(message),
        _ => report::say_of(rank, message),
    }
    abort(FAILED)
}

/// Ends the whole job at once with exit status `status`.
pub fn abort(status: i32) -> ! {
    if let Some(job) = job() {
        // SAFETY: a communicator.
        unsafe { (mpi().abort)(job, status) };
    }
    // SAFETY: ends the process without running anything else of it.
    unsafe { libc::_exit(status) }
}
