//! `malloc` and its family.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::allocator::{
    __libc_calloc, __libc_free, __libc_malloc, __libc_memalign, __libc_realloc,
};
use crate::arena::{Arena, SMALLEST};
use crate::next::Next;
use crate::pages::PAGE;
use crate::program;

static USABLE: Next = Next::new(c"malloc_usable_size");

/// A large block; `None`: it is the C library's matter.
fn large(length: usize, alignment: usize) -> Option<*mut c_void> {
    if length < SMALLEST {
        return None;
    }
    let block = program::make_arena()?.allocate(length, alignment)?;
    Some(ptr::with_exposed_provenance_mut(block))
}

fn set_errno(value: c_int) {
    // SAFETY: this thread's `errno`.
    unsafe { *libc::__errno_location() = value };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(length: usize) -> *mut c_void {
    // SAFETY: any length is fine.
    large(length, 1).unwrap_or_else(|| unsafe { __libc_malloc(length) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, length: usize) -> *mut c_void {
    let bytes = count.checked_mul(length).filter(|bytes| *bytes >= SMALLEST);
    let block = bytes.and_then(|bytes| program::make_arena()?.allocate_zeroed(bytes));
    match block {
        Some(block) => ptr::with_exposed_provenance_mut(block),
        // SAFETY: any numbers are fine.
        None => unsafe { __libc_calloc(count, length) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, length: usize) -> *mut c_void {
    if let Some(arena) = program::arena_of(block.addr()) {
        return move_block(arena, block, length);
    }
    if !block.is_null()
        && let Some(new) = large(length, 1)
    {
        // SAFETY: two blocks, of which the old one has so many bytes; it is the C library's.
        unsafe {
            let bytes = usable_size(block).min(length);
            ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), bytes);
            __libc_free(block);
        }
        return new;
    }
    if block.is_null() {
        // SAFETY: any length is fine.
        return unsafe { malloc(length) };
    }
    // SAFETY: a block of the C library's.
    unsafe { __libc_realloc(block, length) }
}

/// `realloc` of a large block.
fn move_block(arena: &Arena, block: *mut c_void, length: usize) -> *mut c_void {
    let start = block.expose_provenance();
    let Some(known) = arena.block_at(start) else {
        program::fatal(&format!("realloc of {start:#x}, where no block begins"));
    };
    if length == 0 {
        give_back(arena, start);
        return ptr::null_mut();
    }
    let capacity = known.len();
    if length >= SMALLEST && length <= capacity && length >= capacity / 2 {
        return block;
    }
    // SAFETY: any length is fine.
    let new = unsafe { malloc(length) };
    if !new.is_null() {
        let bytes = capacity.min(length);
        program::touch_all(start..start + bytes, false);
        // SAFETY: two blocks, the new one of which nobody watches yet.
        unsafe { ptr::copy_nonoverlapping(arena.view(start), new.cast(), bytes) };
        give_back(arena, start);
    }
    new
}

/// Takes back a large block.
fn give_back(arena: &Arena, start: usize) {
    if arena.is_watched(start) {
        program::forget_block(start);
    }
    if !arena.free(start) {
        program::fatal(&format!("free of {start:#x}, where no block begins"));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, length: usize) -> *mut c_void {
    match count.checked_mul(length) {
        // SAFETY: the caller's promises are the same.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            set_errno(libc::ENOMEM);
            ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    match program::arena_of(block.addr()) {
        // POSIX: `errno` stays as it is.
        Some(arena) => {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            give_back(arena, block.addr());
            set_errno(errno);
        }
        // SAFETY: null, or a block of the C library's.
        None => unsafe { __libc_free(block) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, length: usize) -> *mut c_void {
    // As in glibc, an alignment that is no power of two is rounded up to one.
    let rounded = alignment.max(1).checked_next_power_of_two();
    let block = rounded.and_then(|alignment| large(length, alignment));
    // SAFETY: any numbers are fine.
    block.unwrap_or_else(|| unsafe { __libc_memalign(alignment, length) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, length: usize) -> *mut c_void {
    // SAFETY: any numbers are fine.
    unsafe { memalign(alignment, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    length: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: any numbers are fine; then the caller's variable.
    unsafe {
        let block = memalign(alignment, length);
        set_errno(errno);
        if block.is_null() {
            return libc::ENOMEM;
        }
        *result = block;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn valloc(length: usize) -> *mut c_void {
    // SAFETY: any length is fine.
    unsafe { memalign(PAGE, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pvalloc(length: usize) -> *mut c_void {
    match length.checked_next_multiple_of(PAGE) {
        // SAFETY: any length is fine.
        Some(length) => unsafe { memalign(PAGE, length) },
        None => {
            set_errno(libc::ENOMEM);
            ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    match program::arena_of(block.addr()) {
        Some(arena) => arena.block_at(block.addr()).map_or(0, |block| block.len()),
        // SAFETY: null, or a block of the C library's.
        None => unsafe { usable_size(block) },
    }
}

/// # Safety
/// Null, or a block of the C library's.
unsafe fn usable_size(block: *mut c_void) -> usize {
    type Size = unsafe extern "C" fn(*mut c_void) -> usize;
    // SAFETY: the C library's function has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, Size>(USABLE.address()) };
    // SAFETY: the caller's promise.
    unsafe { next(block) }
}
