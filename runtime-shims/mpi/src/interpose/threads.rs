//! Threads that libraries of the program create: those of a BLAS, say.
//!
//! Guarantee: such a thread may access what ranks share, as code does of which nothing is known: page faults are served
//! on it, one thread at a time, on a stack of their own. What it does beside a region that declares its accesses is
//! not known of; it ends the job where it writes what the region may have written.

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{alternate_stack, next::Next, scopes, turns};

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Start,
    *mut c_void,
) -> c_int;

static PTHREAD_CREATE: Next = Next::new("pthread_create\0");

/// The program runs on one rank: threads may do what they like.
static IS_HANDED_ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The fault handler's stack of such a thread.
    static STACK: Cell<Option<alternate_stack::Stack>> = const { Cell::new(None) };
    /// Whether the calling thread is one of these.
    static IS_ONE: Cell<bool> = const { Cell::new(false) };
    /// Whether the threads that the calling thread creates are the run time's.
    static CREATES_OWN: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn resolve() {
    PTHREAD_CREATE.find();
}

/// From now on threads are created by whatever library comes after this one.
pub(super) fn hand_on() {
    IS_HANDED_ON.store(true, Relaxed);
}

/// Whether the caller is a thread that a library created.
pub(crate) fn is_foreign() -> bool {
    IS_ONE.get()
}

/// The threads that `create` starts are the run time's.
pub(crate) fn create_own(create: impl FnOnce()) {
    CREATES_OWN.set(true);
    create();
    CREATES_OWN.set(false);
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the C library's function has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, Create>(PTHREAD_CREATE.address()) };
    if IS_HANDED_ON.load(Relaxed) || CREATES_OWN.get() || scopes::is_in_runtime() {
        // SAFETY: the caller's promises are the same.
        return unsafe { next(thread, attributes, start, argument) };
    }
    turns::expect_foreign_threads();
    let begin = scopes::private(|| Box::into_raw(Box::new((start, argument))));
    // SAFETY: the caller's promises, and `run` takes what it is handed.
    let status = unsafe { next(thread, attributes, run, begin.cast()) };
    if status != 0 {
        // SAFETY: there is no thread that takes it.
        scopes::private(|| drop(unsafe { Box::from_raw(begin) }));
    }
    status
}

/// Such a thread. It may end in `pthread_exit`, which unwinds: nothing is to be dropped here then.
unsafe extern "C-unwind" fn run(begin: *mut c_void) -> *mut c_void {
    // SAFETY: made by `pthread_create` for this thread.
    let begin = unsafe { Box::from_raw(begin.cast::<(Start, *mut c_void)>()) };
    let (start, argument) = *begin;
    IS_ONE.set(true);
    STACK.set(Some(alternate_stack::Stack::install()));
    // SAFETY: the function and the argument that the thread was created with.
    unsafe { start(argument) }
}
