//! Whose code is running: the program's, or the runtime's and MPI's under it.
//!
//! Memory that program code allocates is shared; what MPI, the runtime, the fault handler and foreign
//! threads allocate is private to the process. Program code is recognised by its stack: it runs on
//! rank 0's shared stack or on a rank's private area, and nothing else does.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed},
};

use crate::{cell::ProgramCell, heap::Heap, stack};
use okl_coherence::Layout;

static STACK_FIRST: AtomicUsize = AtomicUsize::new(0);
static STACK_END: AtomicUsize = AtomicUsize::new(0);
static REGION_STACK_FIRST: AtomicUsize = AtomicUsize::new(0);
static REGION_STACK_END: AtomicUsize = AtomicUsize::new(0);
static RUNNING: AtomicBool = AtomicBool::new(false);
static PRIVATE_SCOPES: AtomicU32 = AtomicU32::new(0);
static HEAP: ProgramCell<Option<Heap>> = ProgramCell::new(None);

/// What to call when the runtime is no longer busy; null: nothing.
static DELIVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// How many steps of the runtime the thread is in that a signal handler must not see half done.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Lets program code start: from now on what it allocates is shared.
pub(crate) fn start(layout: &Layout, rank: u32) {
    let (stack, private, arena) = (
        layout.stack(),
        layout.private_area(rank),
        layout.arena(rank),
    );
    STACK_FIRST.store(stack.address, Relaxed);
    STACK_END.store(stack.end(), Relaxed);
    REGION_STACK_FIRST.store(private.address, Relaxed);
    REGION_STACK_END.store(private.end(), Relaxed);
    // SAFETY: the arena is mapped, zeroed, and allocated from by this rank only.
    let own = unsafe { Heap::new(arena.address, arena.end() - arena.address) };
    HEAP.with(|heap| *heap = Some(own));
    RUNNING.store(true, Relaxed);
}

/// The program has ended: what destructors of libraries still allocate is private, and pages of other
/// ranks can no longer be fetched.
pub(crate) fn stop() {
    RUNNING.store(false, Relaxed);
}

/// Whether program code has started and not ended.
pub(crate) fn is_running() -> bool {
    RUNNING.load(Relaxed)
}

/// Whether the caller is program code. Regions in which a rank has several threads do not allocate.
pub(crate) fn allocates_shared() -> bool {
    RUNNING.load(Relaxed) && on_program_stack() && PRIVATE_SCOPES.load(Relaxed) == 0
}

/// Whether the caller runs on a stack of the program's thread.
pub(crate) fn on_program_stack() -> bool {
    let stack_pointer = stack::pointer();
    on_shared_stack(stack_pointer)
        || (REGION_STACK_FIRST.load(Relaxed)..REGION_STACK_END.load(Relaxed))
            .contains(&stack_pointer)
}

/// Whether `address` lies on the stack that ranks share.
pub(crate) fn on_shared_stack(address: usize) -> bool {
    (STACK_FIRST.load(Relaxed)..STACK_END.load(Relaxed)).contains(&address)
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

/// This rank's shared heap, once program code has started.
pub(crate) fn heap<R>(body: impl FnOnce(&mut Heap) -> R) -> R {
    HEAP.with(|heap| body(heap.as_mut().expect("program code has started")))
}
