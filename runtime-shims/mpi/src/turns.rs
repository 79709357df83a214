//! The threads of this rank: which the caller is, and whose turn it is to change the rank's state.

use std::cell::Cell;

use crate::{
    primitives::{AtomicBool, AtomicU32, Mutex, Relaxed, own, statics},
    scopes,
};

statics! {
    /// Threads of this rank in the region that runs.
    static ACTIVE: AtomicU32 = AtomicU32::new(1);

    /// Whether several threads may use the state of the rank: such, or threads that libraries have created.
    static MUST_TAKE_TURNS: AtomicBool = AtomicBool::new(false);

    /// Whether libraries have created threads.
    static HAS_FOREIGN: AtomicBool = AtomicBool::new(false);

    /// Held by the thread that changes the rank's part of the protocol.
    static TURN: Mutex<()> = Mutex::new(());
}

own! {
    /// Number of the calling thread in its rank; of a thread that runs no program code 0, too.
    static INDEX: Cell<u32> = Cell::new(0);
    /// How often the calling thread has entered [`alone`].
    static DEPTH: Cell<u32> = Cell::new(0);
}

/// The caller's number in its rank.
pub(crate) fn index() -> usize {
    INDEX.with(Cell::get) as usize
}

/// Gives the caller a number in its rank.
pub(crate) fn set_index(index: u32) {
    INDEX.with(|own| own.set(index));
}

/// So many threads of this rank run the region.
pub(crate) fn set_active(threads: u32) {
    ACTIVE.store(threads, Relaxed);
    MUST_TAKE_TURNS.store(threads > 1 || has_foreign(), Relaxed);
}

/// Threads of this rank that run the region.
pub(crate) fn active() -> u32 {
    ACTIVE.load(Relaxed)
}

/// Whether the caller is a thread of the team other than its rank's first.
pub(crate) fn is_other() -> bool {
    INDEX.with(Cell::get) != 0
}

/// Whether several threads of this rank run the region.
#[inline]
pub(crate) fn are_several() -> bool {
    ACTIVE.load(Relaxed) > 1
}

/// A library creates a thread, on which there may be page faults from now on.
pub(crate) fn expect_foreign_threads() {
    HAS_FOREIGN.store(true, Relaxed);
    MUST_TAKE_TURNS.store(true, Relaxed);
}

/// Whether a library has created a thread.
pub(crate) fn has_foreign() -> bool {
    HAS_FOREIGN.load(Relaxed)
}

/// Whether who uses the state of the rank has to do so [`alone`].
#[inline]
pub(crate) fn must_be_taken() -> bool {
    MUST_TAKE_TURNS.load(Relaxed)
}

/// Runs `body`, which uses the state of the rank, while no other thread of the rank does so. Within it the same thread may
/// do so again.
///
/// `body` must not wait for what another thread of this rank does.
#[inline]
pub(crate) fn alone<R>(body: impl FnOnce() -> R) -> R {
    if must_be_taken() {
        take_turn(body)
    } else {
        body()
    }
}

fn take_turn<R>(body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.with(|depth| depth.set(depth.get() - 1));
        }
    }
    // A signal handler, which may cause a fault, does not run meanwhile.
    scopes::undisturbed(|| {
        let turn = (DEPTH.with(Cell::get) == 0).then(|| TURN.lock().expect("a panic ends the job"));
        DEPTH.with(|depth| depth.set(depth.get() + 1));
        let leave = Leave;
        let result = body();
        drop((leave, turn));
        result
    })
}
