//! What the runtime tells the user: one readable message, then the end of the job.

use std::{
    sync::atomic::{
        AtomicPtr, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use okl_job::{launcher, own_environment, report};

use crate::mpi_job;

/// The word of this node that says which of its ranks has told why the job ends; null before there is
/// one.
static LAST_WORDS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// From now on one rank of this node speaks last, the first that sets `word`.
///
/// # Safety
/// `word` is mapped as long as the process lives, aligned, and 0 at first.
pub(crate) unsafe fn share_last_words(word: *mut AtomicU64) {
    LAST_WORDS.store(word, Relaxed);
}

/// Ends the job with `message`, which names the rank. Of several ranks of a node that do so at once, one
/// tells its message.
pub(crate) fn fatal(message: &str) -> ! {
    // Enough for the other rank to write its message and to end the job.
    const PATIENCE: Duration = Duration::from_millis(300);
    // SAFETY: the promise of `share_last_words`.
    let word = unsafe { LAST_WORDS.load(Relaxed).as_ref() };
    if word.is_none_or(|word| word.swap(1, SeqCst) == 0) {
        warn(message);
    } else {
        std::thread::sleep(PATIENCE);
    }
    mpi_job::abort_failed()
}

/// A source place as the continuation of a phrase. Without debug information a place is a function.
pub(crate) fn at(place: &str) -> String {
    if place.starts_with("in ") {
        place.to_owned()
    } else {
        format!("at {place}")
    }
}

/// Tells `message`, which names the rank.
pub(crate) fn warn(message: &str) {
    let rank = match mpi_job::has_started() {
        true => mpi_job::rank(),
        false => launcher::rank(own_environment).unwrap_or(0),
    };
    report::say_of(rank, message);
}
