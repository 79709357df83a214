//! Scopes of the program's threads: in which what is allocated is private to the process, and in which no handler of the
//! program's may interrupt what runs.

use std::cell::Cell;

use crate::primitives::{AtomicPtr, Relaxed, own, statics};

statics! {
    /// What to call when the runtime is no longer busy; null: nothing.
    static DELIVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
}

own! {
    /// How many steps of the runtime the thread is in that a signal handler must not see half done.
    static STEPS: Cell<u32> = Cell::new(0);
    /// How many scopes the thread is in whose allocations are private.
    static PRIVATE: Cell<u32> = Cell::new(0);
}

/// Counts one scope more, or less.
#[inline]
fn count(scopes: &Cell<u32>, change: i32) {
    scopes.set(scopes.get().wrapping_add_signed(change));
}

// What enters and leaves scopes is not put into each of the many places that do: when ranks meet, the loops before have
// driven the run time out of the caches, and each line of code that differs from place to place is one more to wait for.

/// A scope whose allocations are private.
struct Private;

impl Private {
    #[inline(never)]
    fn enter() -> Self {
        PRIVATE.with(|scopes| count(scopes, 1));
        Self
    }
}

impl Drop for Private {
    #[inline(never)]
    fn drop(&mut self) {
        PRIVATE.with(|scopes| count(scopes, -1));
        let_handlers_run();
    }
}

/// A scope that a signal handler must not see half done.
struct Step;

impl Step {
    #[inline(never)]
    fn enter() -> Self {
        STEPS.with(|steps| count(steps, 1));
        Self
    }
}

impl Drop for Step {
    #[inline(never)]
    fn drop(&mut self) {
        STEPS.with(|steps| count(steps, -1));
        let_handlers_run();
    }
}

/// Runs `body`, whose allocations (in MPI, in the C library) on this thread are private to this process. No handler of
/// the program's interrupts it.
#[inline]
pub(crate) fn private<R>(body: impl FnOnce() -> R) -> R {
    let _scope = Private::enter();
    body()
}

/// As [`private`], from now on, for code that is not this library's.
pub(crate) fn begin_private() {
    std::mem::forget(Private::enter());
}

/// Until now.
pub(crate) fn end_private() {
    drop(Private);
}

/// Runs `body`, a step that changes the runtime's state or the C library's, and that no handler of the
/// program's interrupts: the page faults of a handler use the same state.
#[inline]
pub(crate) fn undisturbed<R>(body: impl FnOnce() -> R) -> R {
    let _step = Step::enter();
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
    is_private() || STEPS.with(Cell::get) != 0
}

/// Whether what the calling thread allocates now is private.
pub(crate) fn is_private() -> bool {
    PRIVATE.with(Cell::get) != 0
}
