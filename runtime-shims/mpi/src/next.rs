//! The functions that this library stands in for: those of the C library, or of whatever library comes after this one.

use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use crate::report;

/// A function of the C library, or of whatever library comes after this one.
pub(crate) struct Next {
    /// NUL-terminated.
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function `name`, which ends with NUL.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address; null if there is none.
    pub(crate) fn find(&self) -> *mut c_void {
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
    pub(crate) fn address(&self) -> *mut c_void {
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
            report::fatal(&format!("the C library has no function {name}"));
        }
        found
    }
}
