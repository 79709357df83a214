//! The stacks program code runs on, and where they end.
//!
//! Each thread of a rank has an equal part of the rank's private area: its `threadprivate` variables, a guard that
//! nobody can access, and its stack for region frames. What one thread has lies as far behind what the thread before
//! it has as the parts do: [`offset`]. Threads that only rank 0 sees have stacks behind each other elsewhere: [`add`].

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::{kernel, layout, mpi_job, program, report, stack, turns};
use okl_coherence::PAGE;

/// Bytes of a guard: a large frame must not skip it.
pub(crate) const GUARD_BYTES: usize = 16 << 20;

/// Bytes of a thread's part.
static PART: AtomicUsize = AtomicUsize::new(0);
/// Where the guard is in each part.
static GUARD: AtomicUsize = AtomicUsize::new(0);

/// Threads that have a part.
static PARTS: AtomicUsize = AtomicUsize::new(1);
/// Where the stacks of other threads begin, each with its guard below, and the bytes of one.
static ADDED: AtomicUsize = AtomicUsize::new(0);
static ADDED_BYTES: AtomicUsize = AtomicUsize::new(0);
static ADDED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Divides this rank's private area among `threads` threads.
pub(crate) fn divide(threads: usize) {
    PARTS.store(threads, Relaxed);
    let area = layout::layout().private_area(mpi_job::rank());
    PART.store((area.end() - area.address) / threads / PAGE * PAGE, Relaxed);
}

/// Bytes from what this rank's first thread has to what thread `index` has.
pub(crate) fn offset(index: usize) -> usize {
    index * PART.load(Relaxed)
}

/// Where the first thread's part begins.
pub(crate) fn first_part() -> usize {
    layout::layout().private_area(mpi_job::rank()).address
}

/// The top of the calling thread's stack for region frames.
pub(crate) fn region_stack_top() -> usize {
    match (turns::index() + 1).checked_sub(PARTS.load(Relaxed)) {
        Some(added @ 1..) => ADDED.load(Relaxed) + added * ADDED_BYTES.load(Relaxed),
        _ => first_part() + offset(turns::index() + 1),
    }
}

/// Makes stacks of `bytes` bytes for `threads` more threads, once, before the program starts.
pub(crate) fn add(threads: usize, bytes: usize) {
    let each = GUARD_BYTES + bytes.next_multiple_of(PAGE);
    // SAFETY: new memory; the guards are parts of it.
    let (stacks, protected) = unsafe {
        let stacks = kernel::mmap(
            std::ptr::null_mut(),
            threads * each,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
            -1,
            0,
        );
        let mut guards = (0..threads).map(|index| stacks.wrapping_byte_add(index * each));
        let protect = |guard| kernel::mprotect(guard, GUARD_BYTES, libc::PROT_NONE) == 0;
        (stacks, stacks != libc::MAP_FAILED && guards.all(protect))
    };
    if !protected {
        let error = std::io::Error::last_os_error();
        report::fatal(&format!("no stacks for {threads} more threads: {error}"));
    }
    ADDED.store(stacks as usize, Relaxed);
    ADDED_BYTES.store(each, Relaxed);
    ADDED_THREADS.store(threads, Relaxed);
    program::runs_too_on(stacks as usize, threads * each);
}

/// The top of rank 0's stack for serial code.
pub(crate) fn serial_stack_top() -> usize {
    layout::layout().stack().end()
}

/// Makes the memory behind the `threadprivate` variables of each of `threads` threads inaccessible: a stack that
/// grows too far faults there. Those of the first thread end at `thread_privates_end`.
pub(crate) fn install_guards(threads: usize, thread_privates_end: usize) {
    let guard = thread_privates_end.next_multiple_of(PAGE);
    for index in 0..threads {
        let page = (guard + offset(index)) as *mut _;
        // SAFETY: pages of this rank's private area that nothing uses.
        let failed = unsafe { kernel::mprotect(page, GUARD_BYTES, libc::PROT_NONE) } != 0;
        assert!(!failed, "mprotect: {}", std::io::Error::last_os_error());
    }
    GUARD.store(guard - first_part(), Relaxed);
}

/// What overflowed and how to enlarge it, if a fault at `address` is a stack overflow.
pub(crate) fn overflow_at(address: usize) -> Option<&'static str> {
    const REGION: &str = "the stack of a region is exhausted; raise OMP_STACKSIZE";
    /// A frame may skip the pages right below the stack.
    const REACH: usize = 1 << 20;
    let in_added = || {
        let at = address.checked_sub(ADDED.load(Relaxed))?;
        let each = ADDED_BYTES.load(Relaxed);
        (at < ADDED_THREADS.load(Relaxed) * each).then(|| at % each)
    };
    if in_added().is_some_and(|at| at < GUARD_BYTES) {
        return Some(REGION);
    }
    let layout = layout::get()?;
    let (serial, own) = (layout.stack(), layout.private_area(mpi_job::rank()));
    let guard = GUARD.load(Relaxed);
    let is_in_part = || (address - own.address) % PART.load(Relaxed);
    if (own.address..own.end()).contains(&address)
        && (guard..guard + GUARD_BYTES).contains(&is_in_part())
    {
        Some(REGION)
    } else if (serial.address - REACH..serial.address).contains(&address) {
        Some("the stack of the initial thread is exhausted; raise ulimit -s")
    } else {
        None
    }
}

/// Serves the faults that the protocol's own frames would raise: on rank 0 serial code and the runtime
/// under it run on the shared stack, and a fault inside the protocol cannot be served.
#[inline(never)]
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
