//! Memory, by OP2's names.

use std::ffi::c_void;

use crate::report::fatal;

/// `size` bytes at a multiple of 64, which `free` takes back. Works before `op_init`.
#[unsafe(no_mangle)]
pub extern "C" fn op_malloc(size: usize) -> *mut c_void {
    let mut memory = std::ptr::null_mut();
    // SAFETY: writes the address of new memory.
    if unsafe { libc::posix_memalign(&mut memory, 64, size) } != 0 {
        fatal(&format!("there is no memory for {size} bytes"));
    }
    memory
}

/// The same, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn op_calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        fatal(&format!(
            "there is no memory for {count} times {size} bytes"
        ));
    };
    let memory = op_malloc(size);
    // SAFETY: new memory of that size.
    unsafe { libc::memset(memory, 0, size) }
}

/// The same with what `memory` holds, which is freed.
///
/// # Safety
/// `memory` is null or comes from one of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    let new = op_malloc(size);
    if !memory.is_null() {
        // SAFETY: the caller's promise; no more is copied than both hold.
        unsafe {
            let held = libc::malloc_usable_size(memory);
            libc::memcpy(new, memory, held.min(size));
            libc::free(memory);
        }
    }
    new
}

/// The same as `op_malloc`; null for 0 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn xmalloc(size: usize) -> *mut c_void {
    match size {
        0 => std::ptr::null_mut(),
        _ => op_malloc(size),
    }
}

/// The same as `op_calloc`; null for elements of 0 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn xcalloc(count: usize, size: usize) -> *mut c_void {
    match size {
        0 => std::ptr::null_mut(),
        _ => op_calloc(count, size),
    }
}

/// The same as `op_realloc`; with 0 bytes it frees.
///
/// # Safety
/// See [`op_realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xrealloc(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        if size == 0 {
            op_free(memory);
            return std::ptr::null_mut();
        }
        op_realloc(memory, size)
    }
}

/// Frees it.
///
/// # Safety
/// As for `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory) };
}
