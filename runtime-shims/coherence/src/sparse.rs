//! Arrays of numbers that cost memory only where they are not zero.
//!
//! They are anonymous mappings that read as zero, of which the kernel reserves nothing: an array may be larger than
//! the machine's memory. The system calls are made directly, because the C library's functions of these names may
//! be the program's; under the thread sanitizer by these functions, which tell it that memory is new.

use std::ffi::{c_long, c_void};

use crate::layout::{PAGE, Page};

/// An array of `T` that takes memory only where it is written.
pub(crate) struct Sparse<T: Copy> {
    first: *mut T,
    len: usize,
}

// SAFETY: a `Sparse` owns its mapping, like a `Vec`.
unsafe impl<T: Copy + Send> Send for Sparse<T> {}

impl<T: Copy> Sparse<T> {
    /// `T` must be an integer type: all bytes zero is a value of it.
    pub(crate) fn zeroed(len: usize) -> Self {
        let bytes = (len * size_of::<T>()).max(PAGE);
        let first = map(bytes);
        assert!(
            first != libc::MAP_FAILED,
            "no address space for the page table ({bytes} bytes)"
        );
        Self {
            first: first.cast(),
            len,
        }
    }

    #[inline]
    pub(crate) fn get(&self, page: Page) -> T {
        assert!((page as usize) < self.len);
        // SAFETY: in bounds; the mapping is zeroed, a value of the integer type `T`.
        unsafe { *self.first.add(page as usize) }
    }

    #[inline]
    pub(crate) fn set(&mut self, page: Page, value: T) {
        assert!((page as usize) < self.len);
        // SAFETY: in bounds and uniquely borrowed.
        unsafe { *self.first.add(page as usize) = value }
    }
}

impl<T: Copy> Drop for Sparse<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `zeroed`.
        unsafe { unmap(self.first.cast(), (self.len * size_of::<T>()).max(PAGE)) };
    }
}

/// A new anonymous mapping, or `MAP_FAILED`.
fn map(bytes: usize) -> *mut c_void {
    let anywhere = std::ptr::null_mut::<c_void>();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    unsafe {
        if cfg!(okl_thread_sanitizer) {
            return libc::mmap(anywhere, bytes, protection, flags, -1, 0);
        }
        let [protection, flags, file, offset] = [protection, flags, -1, 0].map(c_long::from);
        libc::syscall(
            libc::SYS_mmap,
            anywhere,
            bytes,
            protection,
            flags,
            file,
            offset,
        ) as *mut c_void
    }
}

/// # Safety
/// A mapping that is not used any more.
unsafe fn unmap(first: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match cfg!(okl_thread_sanitizer) {
            true => c_long::from(libc::munmap(first, bytes)),
            false => libc::syscall(libc::SYS_munmap, first, bytes),
        }
    };
}
