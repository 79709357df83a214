//! The functions that this library stands in for: those of the C library, or of whatever library comes after this one.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of the C library, or of whatever library comes after this one.
pub(crate) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function of that name.
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if known.is_null() { self.find() } else { known }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a look-up by name.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            // Whoever called found it: there is a C library that has it.
            std::process::abort();
        }
        self.address.store(found, Relaxed);
        found
    }
}
