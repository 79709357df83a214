//! Scopes of the program's threads: in which what is allocated is private to the process, and in which no handler of the
//! program's may interrupt what runs.

use std::{
    cell::Cell,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed},
};

static PRIVATE_SCOPES: AtomicU32 = AtomicU32::new(0);

/// What to call when the runtime is no longer busy; null: nothing.
static DELIVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// How many steps of the runtime the thread is in that a signal handler must not see half done.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Runs `body`, whose allocations (in MPI, in the C library) are private to this process. No handler of
/// the program's interrupts it.
pub(crate) fn private<R>(body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            PRIVATE_SCOPES.fetch_sub(1, Relaxed);
            let_handlers_run();
        }
    }
    PRIVATE_SCOPES.fetch_add(1, Relaxed);
    let _leave = Leave;
    body()
}

/// Runs `body`, a step that changes the runtime's state or the C library's, and that no handler of the
/// program's interrupts: the page faults of a handler use the same state.
#[inline]
pub(crate) fn undisturbed<R>(body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        #[inline]
        fn drop(&mut self) {
            STEPS.set(STEPS.get() - 1);
            let_handlers_run();
        }
    }
    STEPS.set(STEPS.get() + 1);
    let _leave = Leave;
    body()
}

/// Runs the handlers of signals that came meanwhile, unless the thread is still in such a scope.
#[inline]
fn let_handlers_run() {
    let deliver = DELIVER.load(Relaxed);
    if !deliver.is_null() && !is_in_runtime() {
        // SAFETY: `call_soon` stored a function.
        let deliver = unsafe { std::mem::transmute::<*mut (), fn()>(deliver) };
        deliver();
    }
}

/// Signals have come that the program has handlers for: has `deliver` called, again and again, when the runtime is
/// no longer busy, until [`call_no_longer`].
pub(crate) fn call_soon(deliver: fn()) {
    DELIVER.store(deliver as *mut (), Relaxed);
}

/// None is waiting any more.
pub(crate) fn call_no_longer() {
    DELIVER.store(std::ptr::null_mut(), Relaxed);
}

/// Whether the calling thread, one of the program's, runs what no handler may interrupt.
pub(crate) fn is_in_runtime() -> bool {
    PRIVATE_SCOPES.load(Relaxed) != 0 || STEPS.get() != 0
}

/// Whether what is allocated now is private.
pub(crate) fn is_private() -> bool {
    PRIVATE_SCOPES.load(Relaxed) != 0
}
