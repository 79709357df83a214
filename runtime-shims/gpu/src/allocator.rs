//! The allocator of this library's own code: the C library's, under names that this library does not stand in for. So nothing
//! of ours lies in the heap that is watched.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

unsafe extern "C" {
    pub(crate) fn __libc_malloc(size: usize) -> *mut c_void;
    pub(crate) fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    pub(crate) fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_free(block: *mut c_void);
}

/// Alignment of every block of the C library.
const NATURAL: usize = 16;

/// See the module's text.
pub(crate) struct OwnAllocator;

// SAFETY: the C library's allocator fulfils the contract; larger alignments go through `memalign`.
unsafe impl GlobalAlloc for OwnAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls of the C library.
        unsafe {
            match layout.align() <= NATURAL {
                true => __libc_malloc(layout.size()).cast(),
                false => __libc_memalign(layout.align(), layout.size()).cast(),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: plain calls of the C library; the block has `size` bytes.
        unsafe {
            if layout.align() <= NATURAL {
                return __libc_calloc(1, layout.size()).cast();
            }
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block came from `alloc`.
        unsafe { __libc_free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block came from `alloc` with `layout`; `realloc` keeps natural alignment only.
        unsafe {
            if layout.align() <= NATURAL {
                return __libc_realloc(block.cast(), size).cast();
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
