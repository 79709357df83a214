//! C library functions that this library stands in for, in the whole process.
//!
//! Guarantee: program code allocates shared memory, everybody else private memory, and each block goes
//! back to where it came from; system calls find the shared memory they are given present. For foreign
//! threads and outside program code the functions are the C library's own, a few compares later; the threads that libraries
//! create are made ready for page faults ([`threads`]).
//!
//! The executable and its libraries find these symbols before the C library's because this library
//! stands before it in the order of loading.

mod allocation;
pub(crate) mod exit;
pub(crate) mod io;
pub(crate) mod mapping;
pub(crate) mod signals;
pub(crate) mod threads;
pub(crate) mod variables;

use std::ffi::{CStr, c_char};

use crate::process;

/// Looks up all that the functions of this module need, so that none of them has to later. Called once,
/// before program code starts. (Until then each finds what it needs at its first call.)
pub(crate) fn resolve() {
    allocation::find_private_callers();
    exit::resolve();
    io::resolve();
    io::resolve_variadic();
    process::resolve();
    signals::resolve();
    threads::resolve();
    variables::resolve();
}

/// Has `malloc` and its family be those of whatever library comes after this one, in a program on one rank.
pub(crate) fn hand_on() {
    allocation::hand_on();
    threads::hand_on();
    resolve();
}

/// Length of the text at `address` with its NUL.
fn text_length(address: usize) -> usize {
    // SAFETY: callers pass what the C library takes as a text.
    unsafe { CStr::from_ptr(address as *const c_char) }.count_bytes() + 1
}
