//! Loops that only another thread can end.
//!
//! Guarantee: where a team has one thread, and those around it have, such a loop ends the job with a message
//! instead of turning for ever. Not so where something besides the program's threads may write the memory it
//! looks at: a signal handler of the program's, a thread that a library has started, another process.

use std::{
    ffi::{CStr, c_char, c_void},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use crate::{interpose::signals, owed, region, report, team};

/// After so many turns a loop that turns on is in the state in which it stays.
const ENOUGH: u64 = 4096;

/// So many turns a loop takes before it gives the processor to others in each.
const EAGER: u64 = 64;
/// And so many before it sleeps.
const SLEEPLESS: u64 = 4096;

/// The threads of the process when the program started.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The program is about to start; the threads there are now belong to the run time and MPI.
pub(crate) fn note_threads() {
    THREADS.store(threads(), Relaxed);
}

/// The threads that `create` starts are the run time's, too.
pub(crate) fn note_created(create: impl FnOnce()) {
    let before = threads();
    create();
    THREADS.fetch_add(threads() - before, Relaxed);
}

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task");
    tasks.map_or(0, Iterator::count)
}

/// `okl_mpi_waits_here`.
///
/// # Safety
/// `place` is a text, `turns` a counter that the loop's entry sets to 0.
pub(crate) unsafe fn okl_mpi_waits_here(place: *mut c_void, turns: *mut c_void) {
    // SAFETY: the caller's counter.
    let turns = unsafe { &mut *turns.cast::<u64>() };
    *turns += 1;
    if *turns >= EAGER {
        give_time(*turns);
    }
    if turns.is_multiple_of(ENOUGH)
        && team::level() > 0
        && team::active_level() == 0
        && !region::is_distributed()
    {
        // SAFETY: the caller's text.
        let place = unsafe { CStr::from_ptr(place.cast::<c_char>()) };
        nobody_comes(&place.to_string_lossy());
    }
}

/// Whom the loop waits for may need the processor.
#[cold]
fn give_time(turns: u64) {
    let is_distributed = region::is_distributed();
    if is_distributed {
        owed::answer();
    }
    match is_distributed && turns >= SLEEPLESS {
        false => std::thread::yield_now(),
        true => std::thread::sleep(Duration::from_micros(20)),
    }
}

#[cold]
fn nobody_comes(place: &str) {
    let somebody = crate::scopes::private(|| {
        signals::handles_any() || threads() > THREADS.load(Relaxed).max(1)
    });
    if !somebody {
        report::fatal(&format!(
            "{} waits for another thread to change a variable ({place}), but its team has one thread: \
             nobody can end the wait",
            region::name()
        ));
    }
}
