//! C library functions that this library stands in for, in the whole process.
//!
//! Guarantee: program code allocates shared memory, everybody else private memory, and each block goes
//! back to where it came from; system calls find the shared memory they are given present. For foreign
//! threads and outside program code the functions are the C library's own, a few compares later.
//!
//! The executable and its libraries find these symbols before the C library's because this library
//! stands before it in the order of loading.

mod allocation;
pub(crate) mod exit;
pub(crate) mod io;
pub(crate) mod mapping;
pub(crate) mod process;
pub(crate) mod signals;
pub(crate) mod variables;

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

/// Looks up all that the functions of this module need, so that none of them has to later. Called once,
/// before program code starts. (Until then each finds what it needs at its first call.)
pub(crate) fn resolve() {
    allocation::find_private_callers();
    exit::resolve();
    io::resolve();
    io::resolve_variadic();
    process::resolve();
    signals::resolve();
    variables::resolve();
}

/// Has `malloc` and its family be those of whatever library comes after this one, in a program on one rank.
pub(crate) fn hand_on() {
    allocation::hand_on();
    resolve();
}

/// A function of the C library, or of whatever library comes after this one.
struct Next {
    /// NUL-terminated.
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function `name`, which ends with NUL.
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address; null if there is none.
    fn find(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with NUL.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        self.address.store(found, Relaxed);
        found
    }

    /// Its address.
    #[inline]
    fn address(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if known.is_null() {
            self.find_or_stop()
        } else {
            known
        }
    }

    #[cold]
    fn find_or_stop(&self) -> *mut c_void {
        let found = self.find();
        if found.is_null() {
            let name = self.name.trim_end_matches('\0');
            crate::report::fatal(&format!("the C library has no function {name}"));
        }
        found
    }
}

/// Length of the text at `address` with its NUL.
fn text_length(address: usize) -> usize {
    // SAFETY: callers pass what the C library takes as a text.
    unsafe { CStr::from_ptr(address as *const c_char) }.count_bytes() + 1
}
