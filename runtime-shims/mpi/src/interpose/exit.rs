//! Destructors of objects that live until the program or a thread ends.
//!
//! Guarantee: the destructor of a function-local static runs once, when the program exits on rank 0,
//! whichever rank initialised the object. Those of a thread's `thread_local` objects run on that thread, last
//! object first: the initial thread's as it exits, the others' after all else of the program, one thread after the
//! other. What a function registered for the exit reads is current, although a region that knows nothing of
//! it may be running.

use std::{
    ffi::{c_int, c_void},
    mem::ManuallyDrop,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{cell::ProgramCell, mpi_job, next::Next, program, region, sections, turns};

/// Words of one registration: function, argument, and the library it belongs to.
const WORDS: usize = 3;

type Register = unsafe extern "C" fn(usize, usize, usize) -> c_int;

static NEXT: Next = Next::new("__cxa_atexit\0");
/// Of the C++ library, which not every program has.
static NEXT_OF_THREAD: Next = Next::new("__cxa_thread_atexit\0");
/// What this rank, which is not rank 0, registered since the last synchronisation.
static REGISTERED: ProgramCell<Vec<u64>> = ProgramCell::new(Vec::new());

/// A registration that tells rank 0 that another thread has destructors of `thread_local` objects.
const OF_THREAD: [u64; WORDS] = [0; WORDS];
thread_local! {
    /// Function and argument of these, on other threads than the initial one.
    static OF_THIS_THREAD: ProgramCell<ManuallyDrop<Vec<(usize, usize)>>> =
        const { ProgramCell::new(ManuallyDrop::new(Vec::new())) };
}
/// Rank 0: whether another thread has some.
static OTHER_THREADS: AtomicBool = AtomicBool::new(false);

/// Looks up the real functions.
pub(super) fn resolve() {
    NEXT.find();
    NEXT_OF_THREAD.find();
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn __cxa_thread_atexit(
    function: usize,
    argument: usize,
    library: usize,
) -> c_int {
    if program::allocates_shared() && (mpi_job::rank() != 0 || turns::is_other()) {
        let first = of_this_thread(|registered| {
            registered.push((function, argument));
            registered.len() == 1
        });
        if mpi_job::rank() == 0 {
            OTHER_THREADS.store(true, Relaxed);
        } else if first {
            REGISTERED.with(|registered| registered.extend(OF_THREAD));
        }
        return 0;
    }
    // SAFETY: the C++ library's function has this signature, and the caller's promises are the same.
    unsafe {
        std::mem::transmute::<*mut c_void, Register>(NEXT_OF_THREAD.address())(
            function, argument, library,
        )
    }
}

/// Rank 0: whether a rank has destructors that [`end_thread`] must run.
pub(crate) fn other_threads_have_destructors() -> bool {
    OTHER_THREADS.load(Relaxed)
}

fn of_this_thread<R>(body: impl FnOnce(&mut Vec<(usize, usize)>) -> R) -> R {
    OF_THIS_THREAD.with(|cell| cell.with_own(|registered| body(registered)))
}

/// Runs the destructors of the calling thread's `thread_local` objects, which may make new ones.
pub(crate) fn end_thread() {
    while let Some((function, argument)) = of_this_thread(Vec::pop) {
        // SAFETY: the program registered a destructor and its object.
        unsafe {
            let destructor: extern "C" fn(usize) = std::mem::transmute(function);
            destructor(argument);
        }
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn __cxa_atexit(function: usize, argument: usize, library: usize) -> c_int {
    if program::allocates_shared() && region::is_distributed() && mpi_job::rank() != 0 {
        let words = [function, argument, library].map(|word| word as u64);
        REGISTERED.with(|registered| registered.extend(words));
        return 0;
    }
    // SAFETY: the caller's promises are the same.
    unsafe { register(function, argument, library) }
}

/// # Safety
/// As for `__cxa_atexit`.
unsafe fn register(function: usize, argument: usize, library: usize) -> c_int {
    // SAFETY: the C library's function has this signature, and what is registered last runs first.
    unsafe {
        let register = std::mem::transmute::<*mut c_void, Register>(NEXT.address());
        let status = register(function, argument, library);
        let prepare: extern "C" fn(usize) = prepare_for_exit;
        match status {
            0 if program::allocates_shared() => register(prepare as usize, 0, 0),
            _ => status,
        }
    }
}

/// Runs before a function that the program registered.
extern "C" fn prepare_for_exit(_: usize) {
    if region::is_distributed() {
        sections::prepare_for_exit();
    }
}

/// What this rank registered since it was asked last.
pub(crate) fn take_registered() -> Vec<u64> {
    REGISTERED.with(std::mem::take)
}

/// Rank 0: registers what another rank did.
pub(crate) fn register_for_others(words: &[u64]) {
    for words in words.chunks_exact(WORDS) {
        if words == OF_THREAD {
            OTHER_THREADS.store(true, Relaxed);
            continue;
        }
        let [function, argument, library] = [0, 1, 2].map(|index| words[index] as usize);
        // SAFETY: the program has the same addresses on every rank, and called `__cxa_atexit` with these.
        unsafe { register(function, argument, library) };
    }
}
