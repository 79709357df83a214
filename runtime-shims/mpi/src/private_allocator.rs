//! The allocator of the runtime's own Rust code: the C library's, under the names that this library does
//! not stand in for. Its memory is private to the process.
//!
//! A signal handler of the program never comes inside it: the handler's page faults allocate here, too.

use std::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_void,
};

use crate::scopes::undisturbed;

unsafe extern "C" {
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Alignment of every block of the C library.
const NATURAL: usize = 16;

/// See the module's text.
pub(crate) struct PrivateAllocator;

// SAFETY: the C library's allocator fulfils the contract; larger alignments go through `memalign`.
unsafe impl GlobalAlloc for PrivateAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls of the C library.
        undisturbed(|| unsafe {
            if layout.align() <= NATURAL {
                __libc_malloc(layout.size()).cast()
            } else {
                __libc_memalign(layout.align(), layout.size()).cast()
            }
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls of the C library; the block has `size` bytes.
        unsafe {
            if layout.align() <= NATURAL {
                return undisturbed(|| __libc_calloc(1, layout.size())).cast();
            }
            let block: *mut u8 = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from `alloc`.
        undisturbed(|| unsafe { __libc_free(block.cast()) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block came from `alloc` with `layout`; `realloc` keeps natural alignment only.
        unsafe {
            if layout.align() <= NATURAL {
                return undisturbed(|| __libc_realloc(block.cast(), size)).cast();
            }
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}
