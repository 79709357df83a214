//! The stacks program code runs on, and where they end.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::{kernel, layout, mpi_job, program, stack};
use okl_coherence::PAGE;

/// The top of this rank's stack for region frames.
pub(crate) fn region_stack_top() -> usize {
    layout::layout().private_area(mpi_job::rank()).end()
}

/// The top of rank 0's stack for serial code.
pub(crate) fn serial_stack_top() -> usize {
    layout::layout().stack().end()
}

/// The page between this rank's `threadprivate` variables and its stack for region frames.
static GUARD: AtomicUsize = AtomicUsize::new(0);

/// Makes the first page behind `thread_privates_end` inaccessible: a stack that grows too far faults there.
pub(crate) fn install_guard(thread_privates_end: usize) {
    let guard = thread_privates_end.next_multiple_of(PAGE);
    // SAFETY: a page of this rank's private area that nothing uses.
    let failed = unsafe { kernel::mprotect(guard as *mut _, PAGE, libc::PROT_NONE) } != 0;
    assert!(!failed, "mprotect: {}", std::io::Error::last_os_error());
    GUARD.store(guard, Relaxed);
}

thread_local! {
    /// Start and end of the guard of the calling thread's own stack, where it is not the program's thread.
    static OWN_GUARD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Notes where the stack of the calling thread, which is not the program's, ends.
pub(crate) fn note_thread() {
    // SAFETY: asks the C library about the calling thread; the attributes are ours.
    let (lowest, guard) = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let (mut lowest, mut bytes, mut guard) = (std::ptr::null_mut(), 0, 0);
        libc::pthread_getattr_np(libc::pthread_self(), &mut attributes);
        libc::pthread_attr_getstack(&attributes, &mut lowest, &mut bytes);
        libc::pthread_attr_getguardsize(&attributes, &mut guard);
        libc::pthread_attr_destroy(&mut attributes);
        (lowest as usize, guard)
    };
    OWN_GUARD.set((lowest - guard, lowest));
}

/// What overflowed and how to enlarge it, if a fault at `address` is a stack overflow.
pub(crate) fn overflow_at(address: usize) -> Option<&'static str> {
    /// A frame may skip the pages right below the stack.
    const REACH: usize = 1 << 20;
    let serial = layout::get()?.stack();
    let guard = GUARD.load(Relaxed);
    let (own, own_end) = OWN_GUARD.get();
    if (guard..guard + PAGE).contains(&address) || (own..own_end).contains(&address) {
        Some("the stack of a region is exhausted; raise OMP_STACKSIZE")
    } else if (serial.address - REACH..serial.address).contains(&address) {
        Some("the stack of the initial thread is exhausted; raise ulimit -s")
    } else {
        None
    }
}

/// Serves the faults that the protocol's own frames would raise: on rank 0 serial code and the runtime
/// under it run on the shared stack, and a fault inside the protocol cannot be served.
pub(crate) fn make_next_frames_writable() {
    const PAGES: usize = 16;
    let top = stack::pointer();
    if !program::on_shared_stack(top) {
        return;
    }
    for page in 0..PAGES {
        // Behind the red zone of the frames in use.
        let dead = (top - 512 - page * PAGE) as *mut u8;
        // SAFETY: unused stack below all frames; it keeps its value.
        unsafe { dead.write_volatile(dead.read_volatile()) };
    }
}
