//! Arrays of numbers that cost memory only where they are not zero.
//!
//! They are anonymous mappings that read as zero, of which the kernel reserves nothing: an array may be larger than
//! the machine's memory. The system calls are made directly, because the C library's functions of these names may
//! be the program's.

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
        // SAFETY: a new anonymous mapping; the result is checked.
        let first = unsafe {
            libc::syscall(
                libc::SYS_mmap,
                std::ptr::null_mut::<c_void>(),
                bytes,
                c_long::from(libc::PROT_READ | libc::PROT_WRITE),
                c_long::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE),
                -1 as c_long,
                0 as c_long,
            )
        } as *mut c_void;
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
        unsafe {
            libc::syscall(
                libc::SYS_munmap,
                self.first,
                (self.len * size_of::<T>()).max(PAGE),
            )
        };
    }
}
