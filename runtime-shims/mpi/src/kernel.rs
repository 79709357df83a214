//! System calls on address space, for the runtime itself: the C library's functions of these names are for the
//! program ([`crate::interpose`]). Under the thread sanitizer they are not, and tell it that memory is new.

use std::ffi::{c_int, c_long, c_void};

/// Bytes of memory that the kernel maps as one where it can: a large page.
pub(crate) const LARGE: usize = 2 << 20;

/// `mmap`.
///
/// # Safety
/// As for the system call.
pub(crate) unsafe fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    if cfg!(okl_thread_sanitizer) {
        // SAFETY: the caller's promise.
        return unsafe { libc::mmap(address, length, protection, flags, file, offset) };
    }
    let (protection, flags) = (c_long::from(protection), c_long::from(flags));
    // SAFETY: the caller's promise.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            address,
            length,
            protection,
            flags,
            c_long::from(file),
            offset,
        )
    };
    mapped as *mut c_void
}

/// `munmap`.
///
/// # Safety
/// As for the system call.
pub(crate) unsafe fn munmap(address: *mut c_void, length: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match cfg!(okl_thread_sanitizer) {
            true => libc::munmap(address, length),
            false => libc::syscall(libc::SYS_munmap, address, length) as c_int,
        }
    }
}

/// `mprotect`.
///
/// # Safety
/// As for the system call.
pub(crate) unsafe fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        libc::syscall(
            libc::SYS_mprotect,
            address,
            length,
            c_long::from(protection),
        ) as c_int
    }
}

/// `madvise`.
///
/// # Safety
/// As for the system call.
pub(crate) unsafe fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_madvise, address, length, c_long::from(advice)) as c_int }
}
