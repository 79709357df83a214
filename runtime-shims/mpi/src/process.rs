//! The number of the process.
//!
//! Guarantee: to the program all ranks are one process, rank 0's. A signal that program code sends to that
//! process reaches the rank that sends it; MPI and the runtime know the real numbers.

use std::{
    ffi::{c_int, c_void},
    mem,
    sync::atomic::{AtomicI32, Ordering::Relaxed},
};

use crate::{next::Next, program};

type Ask = unsafe extern "C" fn() -> c_int;
type Send = unsafe extern "C" fn(c_int, c_int) -> c_int;

static GETPID: Next = Next::new("getpid\0");
static GETPPID: Next = Next::new("getppid\0");
static KILL: Next = Next::new("kill\0");

/// The numbers of rank 0's process and its parent; 0 before they are known.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static PARENT: AtomicI32 = AtomicI32::new(0);

/// Looks up the real functions.
pub(crate) fn resolve() {
    for next in [&GETPID, &GETPPID, &KILL] {
        next.find();
    }
}

/// The numbers of this process and its parent.
pub(crate) fn own() -> (i32, i32) {
    (ask(&GETPID), ask(&GETPPID))
}

/// Notes what [`own`] is on rank 0.
pub(crate) fn adopt(process: i32, parent: i32) {
    PROCESS.store(process, Relaxed);
    PARENT.store(parent, Relaxed);
}

/// The number of rank 0's process.
pub(crate) fn of_root() -> i32 {
    PROCESS.load(Relaxed)
}

fn ask(next: &Next) -> i32 {
    // SAFETY: the C library's functions have this signature.
    unsafe { mem::transmute::<*mut c_void, Ask>(next.address())() }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
extern "C" fn getpid() -> c_int {
    if program::allocates_shared() {
        PROCESS.load(Relaxed)
    } else {
        ask(&GETPID)
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
extern "C" fn getppid() -> c_int {
    if program::allocates_shared() {
        PARENT.load(Relaxed)
    } else {
        ask(&GETPPID)
    }
}

#[cfg_attr(not(okl_thread_sanitizer), unsafe(no_mangle))]
unsafe extern "C" fn kill(process: c_int, signal: c_int) -> c_int {
    let itself = program::allocates_shared() && process == PROCESS.load(Relaxed);
    let process = if itself { ask(&GETPID) } else { process };
    // SAFETY: the C library's function has this signature, and the caller's promises are the same.
    unsafe { mem::transmute::<*mut c_void, Send>(KILL.address())(process, signal) }
}
