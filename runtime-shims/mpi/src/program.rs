//! Whose code is running: the program's, or the runtime's and MPI's under it.
//!
//! Memory that program code allocates is shared; what MPI, the runtime, the fault handler and foreign
//! threads allocate is private to the process. Program code is recognised by its stack: it runs on
//! rank 0's shared stack or on a rank's private area, and nothing else does.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::{
    cell::ProgramCell,
    heap::{Arenas, Heap},
    scopes, stack,
};
use okl_coherence::Layout;

static STACK_FIRST: AtomicUsize = AtomicUsize::new(0);
static STACK_END: AtomicUsize = AtomicUsize::new(0);
static REGION_STACK_FIRST: AtomicUsize = AtomicUsize::new(0);
static REGION_STACK_END: AtomicUsize = AtomicUsize::new(0);
static ADDED_FIRST: AtomicUsize = AtomicUsize::new(0);
static ADDED_END: AtomicUsize = AtomicUsize::new(0);
static RUNNING: AtomicBool = AtomicBool::new(false);
static HEAP: ProgramCell<Option<Heap>> = ProgramCell::new(None);

/// The program's own thread.
static THREAD: AtomicI32 = AtomicI32::new(0);

/// The calling thread is the program's own.
pub(crate) fn note_thread() {
    // SAFETY: asks for a number.
    THREAD.store(unsafe { libc::gettid() }, Relaxed);
}

/// The number of the thread that runs the program.
pub(crate) fn thread() -> i32 {
    THREAD.load(Relaxed)
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
    let first = layout.arena(0);
    let arenas = Arenas {
        first: first.address,
        others: first.end(),
        size: layout.other_arenas(),
    };
    // SAFETY: the arena is mapped, zeroed, and allocated from by this rank only.
    let own = unsafe { Heap::new(arena.address, arena.end() - arena.address, arenas) };
    HEAP.with(|heap| *heap = Some(own));
    RUNNING.store(true, Relaxed);
}

/// Program code runs on these `bytes` bytes, too, from `first` on.
pub(crate) fn runs_too_on(first: usize, bytes: usize) {
    ADDED_FIRST.store(first, Relaxed);
    ADDED_END.store(first + bytes, Relaxed);
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

/// Whether the caller is program code, whose memory is shared.
pub(crate) fn allocates_shared() -> bool {
    RUNNING.load(Relaxed) && on_program_stack() && !scopes::is_private()
}

/// Whether the caller runs on a stack of the program's threads.
pub(crate) fn on_program_stack() -> bool {
    let stack_pointer = stack::pointer();
    let is_in = |first: &AtomicUsize, end: &AtomicUsize| {
        (first.load(Relaxed)..end.load(Relaxed)).contains(&stack_pointer)
    };
    on_shared_stack(stack_pointer)
        || is_in(&REGION_STACK_FIRST, &REGION_STACK_END)
        || is_in(&ADDED_FIRST, &ADDED_END)
}

/// Whether `address` lies on the stack that ranks share.
pub(crate) fn on_shared_stack(address: usize) -> bool {
    (STACK_FIRST.load(Relaxed)..STACK_END.load(Relaxed)).contains(&address)
}

/// This rank's shared heap, once program code has started.
pub(crate) fn heap<R>(body: impl FnOnce(&mut Heap) -> R) -> R {
    HEAP.with(|heap| body(heap.as_mut().expect("program code has started")))
}
